"""Query strings and paths are taken as strictly as bodies."""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any
from uuid import UUID

import pytest
from msgspec import Meta

from potluck.validation import decode_query, path_value, schema_of
from potluck.validation.errors import FieldError, ValidationError
from potluck.validation.field_types import Message, Text
from potluck.web.inputs import UNSET, Input, Unset

ID = "3f2b8c1e-5d4a-4c6b-9e7f-0a1b2c3d4e5f"


class Filter(Input):
    limit: Annotated[int, Meta(ge=1, le=100)] = 50
    due_before: date | None = None
    store_id: Annotated[UUID, Message("Invalid store ID format")] | Unset = UNSET
    tags: list[Annotated[str, Meta(max_length=3)]] | Unset = UNSET
    words: Annotated[str, Text(0, 9, kind="raw")] | None = None
    share: float | Unset = UNSET

    @staticmethod
    def check(sent: "Filter") -> Iterable[FieldError]:
        if sent.words and sent.due_before:
            yield FieldError("words", "Look for words or for a day")


class Since(Input):
    since: Annotated[str, Meta(max_length=100)]


def refused(*pairs: tuple[str, str], kind: type[Input] = Filter, strict: bool = True) -> dict[str, str]:
    with pytest.raises(ValidationError) as refusal:
        decode_query(kind, pairs, strict=strict)
    return {each.field: each.message for each in refusal.value.errors}


def test_parameters_become_what_was_declared():
    pairs = [("limit", "100"), ("dueBefore", "2026-05-17"), ("storeId", ID), ("tags", "a"), ("tags", "b")]
    assert decode_query(Filter, [*pairs, ("share", "0.5")], strict=True) == Filter(
        limit=100, due_before=date(2026, 5, 17), store_id=UUID(ID), tags=["a", "b"], share=0.5
    )
    assert decode_query(Filter, [], strict=True) == Filter()
    assert decode_query(Filter, [("words", " a b ")], strict=True).words == "a b"
    assert decode_query(Filter, [("words", " ")], strict=True).words is None


@pytest.mark.parametrize("wrong", ["0", "101", "", "007", "+5", "-1", "5.0", "5e0", "1_0", " 5", "٥", "9" * 5000])
def test_a_limit_is_a_whole_number_within_its_bounds(wrong):
    assert refused(("limit", wrong)) == {"limit": "limit must be a whole number from 1 to 100"}


def test_an_unknown_parameter_is_refused_in_the_api_and_let_be_on_pages():
    assert refused(("curser", "x")) == {"curser": "There is no such parameter"}
    assert len(*refused(("x" * 5000, "1"))) == 100
    assert decode_query(Filter, [("utm_source", "x")], strict=False) == Filter()


def test_all_that_is_wrong_is_told_at_once():
    pairs = [("limit", "1"), ("limit", "2"), ("dueBefore", "tomorrow"), ("storeId", ID.upper()), ("tags", "long")]
    assert refused(*pairs, ("due", "x")) == {
        "limit": "limit is given more than once",
        "dueBefore": "dueBefore must be a date such as 2026-05-17",
        "storeId": "Invalid store ID format",
        "tags": "Each entry of tags must have at most 3 characters",
        "due": "There is no such parameter",
    }
    assert refused(kind=Since) == {"since": "since is missing"}


def test_a_rule_about_several_parameters_is_held():
    assert refused(("words", "a"), ("dueBefore", "2026-05-17")) == {"words": "Look for words or for a day"}


class Colour(Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (UUID, ID, UUID(ID)),
        (Annotated[int, Meta(ge=1, le=9)], "7", 7),
        (Annotated[str, Meta(max_length=5)], "soup", "soup"),
        (date, "2026-05-17", date(2026, 5, 17)),
        (Colour, "red", Colour.RED),
        (Decimal, "1.50", Decimal("1.50")),
    ],
)
def test_a_part_of_a_path_becomes_what_was_declared(kind, text, value):
    found = path_value(schema_of(kind), "part", text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("wrong", [ID.upper(), ID.replace("-", ""), ID[:-1], "soup", f"{{{ID}}}", ""])
def test_a_wrong_part_of_a_path_is_named(wrong: str):
    says: Any = f"noteId must be a UUID in lower case, such as {ID}"
    assert path_value(schema_of(UUID), "noteId", wrong) == FieldError("noteId", says)
    with_message = schema_of(Annotated[UUID, Message("Invalid store ID format")])
    assert path_value(with_message, "storeId", wrong) == FieldError("storeId", "Invalid store ID format")


def test_a_text_in_a_path_may_be_spelled_in_several_ways():
    kind = Annotated[str, Text(3, 3, "Three letters, please", kind="raw", pattern="^[a-z]{3}$", spelled=str.lower)]
    assert path_value(schema_of(kind), "code", "ABC") == "abc"
    assert path_value(schema_of(kind), "code", "ABCD") == FieldError("code", "Three letters, please")
