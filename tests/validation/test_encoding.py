"""Times in answers always look the same, wherever they stand; a text that looks like one is somebody's text."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Annotated, Any, Generic, TypeVar

import pytest
from msgspec import UNSET, Meta, Struct, UnsetType, json

from potluck.validation.encoding import encode

TEN = datetime(2026, 11, 16, 10, tzinfo=UTC)
WRITTEN = "2026-11-16T10:00:00.000Z"
T = TypeVar("T")


class Told(Struct, rename="camel", frozen=True, kw_only=True):
    created_at: Annotated[datetime, Meta(tz=True)]
    done_at: datetime | UnsetType | None = None
    name: str = "2026-11-16T10:00:00Z"


class Listed(Struct, Generic[T], tag="listed", omit_defaults=True):
    items: list[T]
    latest: Told | None = None
    anything: Any = None
    others: "list[Listed[T]] | None" = None


class Untimed(Struct):
    name: str
    parts: "list[Untimed]"


@pytest.mark.parametrize(
    ("time", "written"),
    [
        (TEN, WRITTEN),
        (TEN.replace(microsecond=500_000), "2026-11-16T10:00:00.500Z"),
        (TEN.replace(microsecond=999_999), "2026-11-16T10:00:00.999Z"),
        (TEN.astimezone(timezone(timedelta(hours=-9))), WRITTEN),
        (TEN.replace(year=987), "0987-11-16T10:00:00.000Z"),
    ],
)
def test_a_time_is_in_utc_and_has_three_digits(time, written):
    assert json.decode(encode(Told(created_at=time)))["createdAt"] == written
    assert json.decode(encode({"at": [time]})) == {"at": [written]}


def test_times_are_written_wherever_they_stand_and_texts_are_left_alone():
    told = Told(created_at=TEN, done_at=UNSET)
    as_json = {"createdAt": WRITTEN, "name": "2026-11-16T10:00:00Z"}
    assert json.decode(encode(told)) == as_json
    whole = Listed([told], latest=told, anything={"at": (TEN, "2026-11-16T10:00:00Z")}, others=[Listed([TEN])])
    assert json.decode(encode(whole)) == {
        "type": "listed",
        "items": [as_json],
        "latest": as_json,
        "anything": {"at": [WRITTEN, "2026-11-16T10:00:00Z"]},
        "others": [{"type": "listed", "items": [WRITTEN]}],
    }
    # What was told is as it was.
    assert told.created_at is TEN


def test_what_holds_no_time_is_encoded_as_it_is():
    untimed = Untimed("a", [Untimed("b", [])])
    assert encode(untimed) == json.encode(untimed)
