"""The write of one item, as PutItem, UpdateItem, DeleteItem and the actions of a transaction request it."""

from typing import Any

from potluck.dynamo.errors import DynamoError, invalid
from potluck.dynamo.expressions import (
    Condition,
    Placeholders,
    Update,
    condition,
    legacy,
    refuse_key_updates,
    refuse_mixed_parameters,
    refuse_nested_keys,
    repeated_condition,
    update,
)
from potluck.dynamo.limits import ITEM_BYTES
from potluck.dynamo.storage.rows import ItemRow, Rows, pack
from potluck.dynamo.tables import Table
from potluck.dynamo.values import Item, checked_item, checked_value, item_size, utf8_length, value_size

PLAIN_PUT = 2
"""A put with nothing but a table and an item has no expressions to check."""


class Write:
    """The new state of one item, and its condition. Read from the request first, then bound to its table."""

    __slots__ = ("condition", "key", "key_item", "table", "tells_failed")

    table: Table
    key: bytes
    key_item: Item

    def __init__(self, request: dict[str, Any], condition: Condition | None) -> None:
        self.condition = condition
        self.tells_failed = request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"

    def bind(self, table: Table) -> None:
        """Check the request against the table's schema, and compute the key of its row."""
        self.table = table
        if self.condition is not None and self.condition.nested:
            refuse_nested_keys(self.condition.nested, table.key_names, table.index_key_names)

    def become(self, old: ItemRow | None) -> ItemRow | None:
        """The new row; None to have none."""
        raise NotImplementedError

    @property
    def touched(self) -> tuple[str, ...] | None:
        """The only attributes it may change, if they are known."""
        return None

    def returned(self, wanted: str, old: ItemRow | None, new: ItemRow | None) -> Item | None:
        """The attributes that ReturnValues asks for."""
        return old.item if old else None

    def evaluate(self, rows: Rows) -> tuple[ItemRow | None, ItemRow | None]:
        """The old row and the new one, if the condition holds; nothing is written yet."""
        rows.check_current(self.table)
        row = rows.get(self.table, self.key)
        old = None if row is None else ItemRow(*row)
        if self.condition is not None and not self.condition.matches(old.item if old else {}):
            raise DynamoError(
                "ConditionalCheckFailedException",
                "The conditional request failed",
                old.item if old and self.tells_failed else None,
            )
        return old, self.become(old)


class Put(Write):
    __slots__ = ("item", "mismatch", "new", "size")

    new: ItemRow

    def __init__(self, request: dict[str, Any], item: Item, mismatch: str | None = None) -> None:
        self.mismatch = mismatch  # the message for a wrong key, if it differs from PutItem's
        # With a ConditionExpression and no Expected, nothing can be mixed.
        if "Expected" in request or (len(request) > PLAIN_PUT and request.get("ConditionExpression") is None):
            refuse_mixed_parameters(request, ("ConditionExpression",), ("Expected",))
        self.item, self.size = checked_item(item)
        if request.get("ReturnValues") not in (None, "NONE", "ALL_OLD"):
            invalid("ReturnValues can only be ALL_OLD or NONE")
        if self.size > ITEM_BYTES:
            invalid("Item size has exceeded the maximum allowed size")
        super().__init__(request, condition_of(request))

    def bind(self, table: Table) -> None:
        super().bind(table)
        item = self.item
        self.key_item = item
        self.key, places = table.places(item, self.mismatch)
        self.new = ItemRow(self.size, pack(item), item, places)

    def become(self, old: ItemRow | None) -> ItemRow | None:
        return self.new


class Keyed(Write):
    """A write of the item with a given key."""

    __slots__ = ("given_key",)

    def __init__(self, request: dict[str, Any], condition: Condition | None) -> None:
        self.given_key: Item = request["Key"]
        super().__init__(request, condition)

    def bind(self, table: Table) -> None:
        super().bind(table)
        self.key_item, self.key = table.checked_key(self.given_key)


class Delete(Keyed):
    def __init__(self, request: dict[str, Any]) -> None:
        refuse_mixed_parameters(request, ("ConditionExpression",), ("Expected",))
        check_key_values(request["Key"])
        if request.get("ReturnValues") not in (None, "NONE", "ALL_OLD"):
            invalid("ReturnValues can only be ALL_OLD or NONE")
        super().__init__(request, condition_of(request))

    def become(self, old: ItemRow | None) -> ItemRow | None:
        return None


class Check(Keyed):
    """A transaction's condition on an item that it does not change."""

    def __init__(self, request: dict[str, Any]) -> None:
        check_key_values(request["Key"])
        super().__init__(request, condition_of(request))

    def become(self, old: ItemRow | None) -> ItemRow | None:
        return old


class UpdateWrite(Keyed):
    __slots__ = ("update",)

    def __init__(self, request: dict[str, Any]) -> None:
        if "UpdateExpression" not in request or "AttributeUpdates" in request or "Expected" in request:
            refuse_mixed_parameters(
                request, ("UpdateExpression", "ConditionExpression"), ("AttributeUpdates", "Expected")
            )
        check_key_values(request["Key"])
        self.update: Update | None = None
        placeholders = Placeholders(request)
        if "UpdateExpression" in request:
            self.update = update(request["UpdateExpression"], placeholders)
        elif "AttributeUpdates" in request:
            self.update = legacy.attribute_updates(request["AttributeUpdates"])
        super().__init__(request, condition_of(request, placeholders))

    def bind(self, table: Table) -> None:
        super().bind(table)
        if self.update is not None:
            refuse_key_updates(self.update.attributes, table.key_names)
            refuse_nested_keys(self.update.nested, table.key_names, table.index_key_names)

    def become(self, old: ItemRow | None) -> ItemRow | None:
        before = old.item if old else self.key_item
        if self.update is None:
            return old or ItemRow(item_size(before), pack(before), before)
        item = self.update.apply(before, is_new=old is None)
        if old is None and self.update.attributes and len(item) == len(before):
            return None  # removing attributes of a missing item does not create it
        touched = self.update.attributes
        size = old.size if old else item_size(before)
        for name in touched:
            # Only touched attributes can have changed in size.
            size += attribute_size(item, name) - attribute_size(before, name)
        if size > ITEM_BYTES:
            invalid("Item size to update has exceeded the maximum allowed size")
        if old is not None and self.table.index_key_names.isdisjoint(touched):
            return ItemRow(size, pack(item), item)
        return ItemRow(size, pack(item), item, self._places(item))

    def _places(self, item: Item) -> list[bytes | None]:
        try:
            return [index.place(item, strict=True) for index in self.table.indexes]
        except DynamoError:
            kinds = self.table.definition.attributes
            sent = self.update.values if self.update else ()
            wrong = [
                item[name] for name in self.table.index_key_names if name in item and kinds[name] not in item[name]
            ]
            if wrong and all(value not in sent for value in wrong):
                # The value is not in the request, so it was computed from the item.
                invalid("The update expression attempted to update the secondary index key to unsupported type")
            raise

    @property
    def touched(self) -> tuple[str, ...]:
        return self.update.attributes if self.update else ()

    def returned(self, wanted: str, old: ItemRow | None, new: ItemRow | None) -> Item | None:
        row = old if wanted.endswith("OLD") else new
        if row is None or wanted.startswith("ALL"):
            return row.item if row else None
        return self.update.touched(row.item) if self.update else None


def condition_of(request: dict[str, Any], placeholders: Placeholders | None = None) -> Condition | None:
    """The request's condition, in either dialect; refuses placeholders that are still unused."""
    text = request.get("ConditionExpression")
    if placeholders is None:
        if text is None and "Expected" not in request and "ConditionalOperator" not in request:
            return None
        if text is not None:
            return repeated_condition(
                text, request.get("ExpressionAttributeNames"), request.get("ExpressionAttributeValues")
            )
        placeholders = Placeholders(request)
    parsed = None
    if text is not None:
        parsed = condition("ConditionExpression", text, placeholders)
    elif "Expected" in request or "ConditionalOperator" in request:
        parsed = legacy.expected(request.get("Expected") or {}, request.get("ConditionalOperator"))
    placeholders.check_all_used()
    return parsed


def attribute_size(item: Item, name: str) -> int:
    value = item.get(name)
    return 0 if value is None else utf8_length(name) + value_size(value)


def check_key_values(key: Item) -> None:
    for value in key.values():
        if "S" not in value or len(value) != 1 or type(value["S"]) is not str:
            checked_value(value)
