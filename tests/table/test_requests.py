"""Every request can be sent with plain boto3, which makes the same message of it as the engines do."""

from typing import Annotated, Any
from uuid import UUID

import botocore.serialize
import botocore.session
import botocore.validate
import msgspec
import pytest
from msgspec import Meta, field

from potluck.table import (
    Counter,
    Entity,
    ExpiresAt,
    Request,
    Table,
    Unique,
    Version,
    absent,
    check,
    delete,
    get,
    present,
    put,
    query,
    the,
    update,
    upsert,
)

stones = Table("Stones", "PK", "SK", indexes={"GSI1": ("GSI1PK", "GSI1SK")}, ttl="ttl", type_attribute="entityType")
PLACE, OTHER = UUID(int=1), UUID(int=2)
NOW = 1_765_368_000


class Stone(
    Entity,
    table=stones,
    type="Stone",
    key=("PLACE#{place}", "STONE#{number:03}"),
    GSI1=("STONES", "B#{B}"),
):
    """Something with a picture of it."""

    place: UUID
    number: Annotated[int, Meta(ge=0)]
    picture: bytes = b""
    pieces: frozenset[bytes] = frozenset()
    layers: dict[str, list[bytes]] = field(default_factory=dict)
    B: Annotated[str, Meta(max_length=9)] = "b"
    weighed: Counter = 0
    ttl: ExpiresAt | None = None

    @get(consistent=True)
    def one(place: UUID, number: int) -> None:
        """Which stone is this?"""

    @query()
    def at(place: UUID) -> None:
        """Which stones are here?"""


class Finder(Entity, table=stones, type="Finder", key=("FINDER#{finder_id}", "FINDER")):
    """Who found them."""

    finder_id: UUID
    name: Annotated[str, Meta(max_length=40), Unique("FINDERS", "NAME#{name:folded}")]
    face: bytes = b""
    version: Version = 1


STONE = Stone(place=PLACE, number=7, picture=b"\x00\xff", pieces=frozenset([b"a", b"b"]), layers={"B": [b"x"], "S": []})
REF = Stone.one(PLACE, 7)
FINDER = Finder(finder_id=OTHER, name="Ada", face=b"\x01")

REQUESTS = [
    *stones.creation(),
    put(STONE).request(),
    put(STONE, when=(the(Stone.picture) == b"\x00") | the(Stone.pieces).contains(b"a")).request(NOW),
    put(FINDER, when=absent).request(),
    update(
        REF, the(Stone.picture).becomes(b"\xfe"), the(Stone.pieces).include(b"c"), the(Stone.weighed).add(1)
    ).request(NOW),
    update(FINDER, the(Finder.face).becomes(b"\x02")).request(),
    upsert(REF, the(Stone.picture).becomes(b"\x03"), the(Stone.B).becomes("c")).request(NOW),
    delete(STONE, when=present).request(NOW),
    delete(FINDER).request(),
    check(REF, when=the(Stone.picture) == b"\x04").request(NOW),
    REF.request(),
    Stone.at(PLACE).where(the(Stone.picture) > b"\x05").reversed().request(limit=3, after=REF.key),
    Stone.at(PLACE).request(recognisable=True),
]

service = botocore.session.get_session().get_service_model("dynamodb")
serializer = botocore.serialize.create_serializer(service.metadata["protocol"])


def said_by_boto3(operation: str, body: dict[str, Any]) -> Any:
    model = service.operation_model(operation)
    complaints = botocore.validate.ParamValidator().validate(body, model.input_shape)
    assert not complaints.has_errors(), complaints.generate_report()
    return msgspec.json.decode(serializer.serialize_to_request(body, model)["body"])


@pytest.mark.parametrize("asked", REQUESTS, ids=lambda request: request.operation)
def test_boto3_says_what_an_engine_is_told(asked: Request) -> None:
    assert said_by_boto3(asked.operation, asked.for_boto3()) == asked.body


@pytest.mark.parametrize("asked", REQUESTS, ids=lambda request: request.operation)
def test_a_request_without_bytes_is_taken_as_it_is(asked: Request) -> None:
    if asked.for_boto3() == asked.body:
        assert said_by_boto3(asked.operation, asked.body) == asked.body
