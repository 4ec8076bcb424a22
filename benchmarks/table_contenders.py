"""One item of fifteen attributes and two key pairs, as our library and three others declare it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Annotated, Any, Literal
from uuid import UUID

import pydantic
import pydynantic
from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from msgspec import Meta
from pynamodb.attributes import Attribute, NumberAttribute, UnicodeAttribute, UTCDateTimeAttribute
from pynamodb.models import Model

from potluck.table import Entity, ExpiresAt, OrNull, Seconds, Table, Version, query
from potluck.table.entity import plan_of

inventory = Table(
    "InventoryManagement",
    "PK",
    "SK",
    indexes={"GSI2": ("GSI2PK", "GSI2SK")},
    ttl="ttl",
    type_attribute="entityType",
)

Status = Literal["pending", "purchased"]


class ShoppingListItem(
    Entity,
    table=inventory,
    type="ShoppingListItem",
    key=("FAMILY#{family_id}", "SHOPPING#{shopping_item_id}"),
    GSI2=("FAMILY#{family_id}#SHOPPING", "STORE#{store_id|UNASSIGNED}#STATUS#{status}"),
):
    """An item that needs to be bought."""

    shopping_item_id: UUID
    family_id: UUID
    item_id: OrNull[UUID] = None
    name: Annotated[str, Meta(min_length=1, max_length=100)]
    store_id: OrNull[UUID] = None
    status: Status = "pending"
    quantity: OrNull[Annotated[int, Meta(gt=0)]] = None
    unit: OrNull[Annotated[str, Meta(max_length=20)]] = None
    notes: OrNull[Annotated[str, Meta(max_length=500)]] = None
    version: Version = 1
    ttl: OrNull[ExpiresAt] = None
    added_by: UUID
    created_at: Seconds
    updated_at: Seconds

    @query()
    def on_the_list(family_id: UUID) -> None:
        """What is on the list."""


def shopping_list_item(number: int) -> ShoppingListItem:
    return ShoppingListItem(
        shopping_item_id=UUID(int=0x8F14E45FCEEA467A9B3634F6C3B3E7D1 + number),
        family_id=UUID("f47ac10b-58cc-4372-a567-0e02b2c3d479"),
        item_id=UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
        name=f"Paper Towels {number}",
        store_id=UUID("123e4567-e89b-12d3-a456-426614174000"),
        quantity=1 + number % 9,
        notes="Prefer double-roll",
        added_by=UUID("550e8400-e29b-41d4-a716-446655440000"),
        created_at=datetime(2025, 12, 10, 12, 0, number % 60, tzinfo=UTC),
        updated_at=datetime(2025, 12, 10, 13, 0, number % 60, tzinfo=UTC),
    )


# Nothing is sent, so any object will do for a client.
pydynantic_table = pydynantic.Table(
    "InventoryManagement", indexes={"GSI2": {"pk": "GSI2PK", "sk": "GSI2SK"}}, client=object()
)


class PydynanticItem(pydynantic.Entity, name="ShoppingListItem", table=pydynantic_table):
    shopping_item_id: UUID
    family_id: UUID
    item_id: UUID | None = None
    name: Annotated[str, pydantic.Field(min_length=1, max_length=100)]
    store_id: UUID | None = None
    status: Status = "pending"
    quantity: Annotated[int, pydantic.Field(gt=0)] | None = None
    unit: Annotated[str, pydantic.Field(max_length=20)] | None = None
    notes: Annotated[str, pydantic.Field(max_length=500)] | None = None
    version: int = pydynantic.version_attr(default=1)
    ttl: int | None = pydynantic.ttl_attr()
    added_by: UUID
    created_at: datetime
    updated_at: datetime

    class Meta:
        primary = pydynantic.key(pk="FAMILY#{family_id}", sk="SHOPPING#{shopping_item_id}")
        by_store = pydynantic.key(pk="FAMILY#{family_id}#SHOPPING", sk="STORE#{store_id}#STATUS#{status}", index="GSI2")


class UUIDAttribute(Attribute[UUID]):
    """PynamoDB itself has none; its documentation tells to write one like this."""

    attr_type = "S"

    def serialize(self, value: UUID) -> str:
        return str(value)

    def deserialize(self, value: str) -> UUID:
        return UUID(value)


class PynamoDBItem(Model):
    class Meta:
        table_name = "InventoryManagement"

    pk = UnicodeAttribute(hash_key=True, attr_name="PK")
    sk = UnicodeAttribute(range_key=True, attr_name="SK")
    gsi2pk = UnicodeAttribute(attr_name="GSI2PK")
    gsi2sk = UnicodeAttribute(attr_name="GSI2SK")
    entity_type = UnicodeAttribute(attr_name="entityType")
    shopping_item_id = UUIDAttribute(attr_name="shoppingItemId")
    family_id = UUIDAttribute(attr_name="familyId")
    item_id = UUIDAttribute(attr_name="itemId", null=True)
    name = UnicodeAttribute()
    store_id = UUIDAttribute(attr_name="storeId", null=True)
    status = UnicodeAttribute()
    quantity = NumberAttribute(null=True)
    unit = UnicodeAttribute(null=True)
    notes = UnicodeAttribute(null=True)
    version = NumberAttribute()
    ttl = NumberAttribute(null=True)
    added_by = UUIDAttribute(attr_name="addedBy")
    created_at = UTCDateTimeAttribute(attr_name="createdAt")
    updated_at = UTCDateTimeAttribute(attr_name="updatedAt")


@dataclass(frozen=True)
class Contender:
    """A library, an item in its form, and its way to the wire form and back."""

    name: str
    item: Any
    encode: Callable[[Any], dict[str, Any]]
    decode: Callable[[dict[str, Any]], Any]


def contenders() -> list[Contender]:
    """All of them with the same item; ours first, then boto3."""
    entity = shopping_list_item(0)
    coding = plan_of(ShoppingListItem).coding
    values = {name: getattr(entity, name) for name in ShoppingListItem.__struct_fields__}
    row = coding.encode(entity)
    keys = {name.lower(): row[name]["S"] for name in ("PK", "SK", "GSI2PK", "GSI2SK")}
    return [
        Contender("potluck.table", entity, coding.encode, coding.decode),
        Contender("boto3 " + version("boto3"), _plain(row), _serialized, deserialized),
        Contender(
            "PynamoDB " + version("pynamodb"),
            PynamoDBItem(entity_type="ShoppingListItem", **keys, **values),
            PynamoDBItem.serialize,
            PynamoDBItem.from_raw_data,
        ),
        Contender(
            "pydynantic " + version("pydynantic"),
            PydynanticItem(**values),
            PydynanticItem.to_dynamo,
            PydynanticItem.from_dynamo,
        ),
    ]


_serialize = TypeSerializer().serialize
_deserialize = TypeDeserializer().deserialize


def _serialized(plain: dict[str, Any]) -> dict[str, Any]:
    return {name: _serialize(value) for name, value in plain.items()}


def deserialized(row: dict[str, Any]) -> dict[str, Any]:
    return {name: _deserialize(value) for name, value in row.items()}


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """What a user of boto3 has: keys, times and UUIDs are texts already, and numbers are of Python."""
    plain = deserialized(row)
    return plain | {name: int(plain[name]) for name in ("quantity", "version")}
