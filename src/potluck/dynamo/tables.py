"""A table's definition, and its compiled form: which attributes are keys and how they are encoded."""

from typing import Any

import msgspec

from potluck.dynamo.errors import DynamoError, invalid
from potluck.dynamo.keys import COMPONENT_BYTES, ENCODERS, ESCAPED, TERMINATOR, ZERO, encode_string, hashed
from potluck.dynamo.limits import PARTITION_KEY_BYTES, SORT_KEY_BYTES
from potluck.dynamo.namespaces import name_of, namespace_of
from potluck.dynamo.values import Item, checked_value

KEY_MISMATCH = "The provided key element does not match the schema"
EMPTY_KEY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
)

SURELY_SHORT = 255
"""No key value with this many characters or fewer can exceed a limit."""


class Throughput(msgspec.Struct, frozen=True):
    read: int = 0
    write: int = 0
    increased: float | None = None
    decreased: float | None = None
    decreases: int = 0

    def changed(self, to: "Throughput", now: float) -> "Throughput":
        """The new units, with the times they last increased and decreased."""
        rises = to.read > self.read or to.write > self.write
        falls = to.read < self.read or to.write < self.write
        return Throughput(
            to.read,
            to.write,
            now if rises else self.increased,
            now if falls else self.decreased,
            self.decreases + falls,
        )


class IndexDefinition(msgspec.Struct, frozen=True):
    name: str
    number: int
    is_global: bool
    partition: tuple[str, ...]
    sort: tuple[str, ...]
    projection: str
    included: tuple[str, ...] = ()
    throughput: Throughput = Throughput()
    status: str = "ACTIVE"
    on_demand: dict[str, Any] | None = None
    warm: dict[str, Any] | None = None


class StreamDefinition(msgspec.Struct, frozen=True):
    number: int
    label: str
    view: str
    created: float
    ended: float | None = None


class Recovery(msgspec.Struct, frozen=True):
    """Point-in-time recovery: since when it is on, and for how many days."""

    since: float
    days: int


class TableDefinition(msgspec.Struct, frozen=True):
    """The stored result of CreateTable and UpdateTable. `name` is the table's key."""

    name: str
    number: int
    unique_id: str
    created: float
    attributes: dict[str, str]
    key: tuple[str, ...]
    indexes: tuple[IndexDefinition, ...] = ()
    billing: str = "PROVISIONED"
    billing_changed: float | None = None
    throughput: Throughput = Throughput()
    streams: tuple[StreamDefinition, ...] = ()
    ttl: str | None = None
    ttl_changed: float | None = None
    protected: bool = False
    table_class: str | None = None
    encryption: dict[str, Any] | None = None
    on_demand: dict[str, Any] | None = None
    tags: dict[str, str] = {}
    next_number: int = 1
    warm: dict[str, Any] | None = None
    recovery: Recovery | None = None


class Index:
    """One index of a table: its key attributes, and which attributes of an item it projects."""

    def __init__(self, definition: IndexDefinition, table: TableDefinition) -> None:
        self.definition = definition
        self.name = definition.name
        self.is_global = definition.is_global
        self.is_filling = definition.status == "CREATING"
        self.partition = definition.partition
        self.sort = definition.sort
        self.rows = f"index_{table.number}_{definition.number}"
        self.key_names = definition.partition + definition.sort
        self.components = [(name, table.attributes[name], ENCODERS[table.attributes[name]]) for name in self.key_names]
        self.partition_length = len(definition.partition)
        # The limits apply to all attributes of the partition key, or of the sort key, together.
        self.surely_short = SURELY_SHORT // max(len(definition.partition), len(definition.sort))
        self.shows_all = definition.projection == "ALL"
        names = {*table.key, *self.key_names, *definition.included}
        self.shown = None if self.shows_all else frozenset(names)

    def place(self, item: Item, *, strict: bool = False) -> bytes | None:
        """The item's encoded key in this index, without its own key appended; None if it is not in the index.

        An item older than the index may have a value that cannot be a key; only a strict call refuses it.
        """
        encoded = []
        for name, kind, encode in self.components:
            value = item.get(name)
            content = value.get(kind) if value is not None else None
            if content is None or not 0 < len(content) <= self.surely_short:
                # Missing, of the wrong type, empty, or so long that it must be measured.
                taken = self._can_take(item, strict)
                if content is None or not taken:
                    return None
            encoded.append(encode(content))
        return self._joined(encoded)

    def place_encoded(self, encoded: dict[str, bytes]) -> bytes | None:
        """The same as `place`, from key values that are already validated and encoded."""
        parts = []
        for name in self.key_names:
            part = encoded.get(name)
            if part is None:
                return None
            parts.append(part)
        return self._joined(parts)

    def _joined(self, parts: list[bytes]) -> bytes:
        if self.partition_length == 1:
            return hashed(parts[0]) + (parts[1] if len(parts) == 2 else b"".join(parts[1:]))
        return hashed(b"".join(parts[: self.partition_length])) + b"".join(parts[self.partition_length :])

    def _can_take(self, item: Item, strict: bool) -> bool:
        try:
            self.check_key(item)
        except DynamoError:
            if strict:
                raise
            return False
        return True

    def show(self, item: Item) -> Item:
        """The attributes of an item that the index projects."""
        shown = self.shown
        return item if shown is None else {name: value for name, value in item.items() if name in shown}

    def check_key(self, item: Item) -> None:
        """Refuse an item whose value for this index's key has the wrong type, is empty or is too long."""
        sizes = []
        for name, kind, _ in self.components:
            value = item.get(name)
            if value is None:
                sizes.append(0)
                continue
            ((actual, content),) = value.items()
            if actual != kind:
                invalid(
                    f"One or more parameter values were invalid: Type mismatch for Index Key {name} "
                    f"Expected: {kind} Actual: {actual} IndexName: {self.name}"
                )
            if not content:
                noun = "string" if kind == "S" else "binary"
                invalid(
                    "One or more parameter values are not valid. A value specified for a secondary index key is not "
                    f"supported. The AttributeValue for a key attribute cannot contain an empty {noun} value. "
                    f"IndexName: {self.name}, IndexKey: {name}"
                )
            sizes.append(COMPONENT_BYTES[kind](content))
        self._check_bytes("HASH", self.partition, sum(sizes[: self.partition_length]), PARTITION_KEY_BYTES)
        self._check_bytes("RANGE", self.sort, sum(sizes[self.partition_length :]), SORT_KEY_BYTES)

    def _check_bytes(self, role: str, names: tuple[str, ...], size: int, limit: int) -> None:
        if size > limit and len(names) > 1:
            invalid(
                f"Aggregate size for {role} key attributes {', '.join(names)} of index {self.name} has exceeded limit "
                f"{limit} bytes, with actual size {size} bytes"
            )
        (check_partition_bytes if role == "HASH" else check_sort_bytes)(size)


class Table:
    """A table as the actions use it; a changed definition makes a new instance."""

    def __init__(self, definition: TableDefinition) -> None:
        self.definition = definition
        self.key = definition.name
        self.name = name_of(self.key)
        self.namespace = namespace_of(self.key)
        self.number = definition.number
        self.rows = f"items_{definition.number}"
        self.select = f"SELECT size, item FROM {self.rows} WHERE key=?"
        self.select_item = f"SELECT item FROM {self.rows} WHERE key=?"
        self.expiries = f"expiries_{definition.number}"
        self.key_names = definition.key
        self.partition_name = definition.key[0]
        self.partition_kind = definition.attributes[definition.key[0]]
        self.encode_partition = ENCODERS[self.partition_kind]
        self.sort_name = definition.key[1] if len(definition.key) > 1 else None
        self.sort_kind = definition.attributes[self.sort_name] if self.sort_name else ""
        self.encode_sort = ENCODERS[self.sort_kind] if self.sort_name else None
        self.has_text_key = all(definition.attributes[name] == "S" for name in definition.key)
        self.indexes = [Index(index, definition) for index in definition.indexes]
        self.indexes_by_name = {index.name: index for index in self.indexes}
        self.readable_indexes = {index.name for index in self.indexes if not index.is_filling}
        self.surely_short = min([SURELY_SHORT, *(index.surely_short for index in self.indexes)])
        self.index_key_names = {name for index in self.indexes for name in index.key_names}
        self.key_components = [
            (name, definition.attributes[name], ENCODERS[definition.attributes[name]])
            for name in dict.fromkeys((*definition.key, *(name for index in self.indexes for name in index.key_names)))
        ]
        # In an index whose partition key has several attributes, partitions are not tracked separately.
        self.partition_attributes: list[tuple[str | None, str]] = [
            (None, self.partition_name),
            *((index.name, index.partition[0]) for index in self.indexes if len(index.partition) == 1),
        ]
        self.ttl = definition.ttl
        self.stream = definition.streams[-1] if definition.streams and definition.streams[-1].ended is None else None
        self.log = f"changes_{self.stream.number}" if self.stream else None
        view = self.stream.view if self.stream else ""
        self.logs_new = view in ("NEW_IMAGE", "NEW_AND_OLD_IMAGES")
        self.logs_old = view in ("OLD_IMAGE", "NEW_AND_OLD_IMAGES")
        self.arn = self.namespace.arn(self.name)

    def key_of(self, item: Item) -> Item:
        """The key attributes of an item."""
        return {name: item[name] for name in self.key_names}

    def row_key(self, item: Item) -> bytes:
        """The encoded key of an item whose key attributes are known to be valid."""
        key = hashed(self.encode_partition(item[self.partition_name][self.partition_kind]))
        if self.encode_sort is None:
            return key
        return key + self.encode_sort(item[self.sort_name][self.sort_kind])  # type: ignore[index]

    def places(self, item: Item, mismatch: str | None = None) -> tuple[bytes, list[bytes | None]]:
        """The item's encoded key in the table and in each index; refuses an item whose values cannot be keys."""
        encoded: dict[str, bytes] = {}
        for name, kind, encode in self.key_components:
            value = item.get(name)
            if value is not None:
                content = value.get(kind)
                if content is None or not 0 < len(content) <= self.surely_short:
                    break
                # Inlined for strings, the most common kind: the call would take longer than the work.
                encoded[name] = content.encode().replace(ZERO, ESCAPED) + TERMINATOR if kind == "S" else encode(content)
        else:
            key = encoded.get(self.partition_name)
            if key is not None and (self.sort_name is None or self.sort_name in encoded):
                key = hashed(key) if self.sort_name is None else hashed(key) + encoded[self.sort_name]
                return key, [index.place_encoded(encoded) for index in self.indexes]
        self.check_key_values(item, mismatch)
        return self.row_key(item), [index.place(item, strict=True) for index in self.indexes]

    def checked_key(self, key: Item) -> tuple[Item, bytes]:
        """A request's key, checked against the schema, and its encoded form."""
        place = self.plain_place(key)
        if place is not None:
            return key, place
        canonical = {name: checked_value(value)[0] for name, value in key.items()}
        if canonical.keys() != set(self.key_names):
            invalid(KEY_MISMATCH)
        self.check_key_values(canonical, KEY_MISMATCH)
        return canonical, self.row_key(canonical)

    def plain_place(self, key: Item) -> bytes | None:
        """The encoded form of a key of short ASCII strings, which need no further check; None for any other key."""
        if not self.has_text_key or len(key) != len(self.key_names):
            return None
        value = key.get(self.partition_name)
        text = value.get("S") if type(value) is dict and len(value) == 1 else None
        if type(text) is not str or not 0 < len(text) <= SURELY_SHORT or not text.isascii():
            return None
        if self.sort_name is None:
            return hashed(encode_string(text))
        value = key.get(self.sort_name)
        sort = value.get("S") if type(value) is dict and len(value) == 1 else None
        if type(sort) is not str or not 0 < len(sort) <= SURELY_SHORT or not sort.isascii():
            return None
        return hashed(encode_string(text)) + encode_string(sort)

    def check_key_values(self, item: Item, mismatch: str | None = None) -> None:
        """Refuse key values that are missing, empty, too long or of the wrong type."""
        for name in self.key_names:
            value = item.get(name)
            if value is None:
                invalid(mismatch or f"One or more parameter values were invalid: Missing the key {name} in the item")
            kind = self.partition_kind if name == self.partition_name else self.sort_kind
            content = value.get(kind)
            if content is None:
                actual = next(iter(value))
                invalid(
                    mismatch
                    or "One or more parameter values were invalid: "
                    f"Type mismatch for key {name} expected: {kind} actual: {actual}"
                )
            if not content:
                noun = "string" if kind == "S" else "binary"
                invalid(f"{EMPTY_KEY}{noun} value. Key: {name}")
            if len(content) > SURELY_SHORT:
                size = COMPONENT_BYTES[kind](content)
                if name == self.partition_name:
                    check_partition_bytes(size)
                else:
                    check_sort_bytes(size)

    def index(self, name: str) -> Index:
        """The index with this name; refuses one that does not exist or cannot be read yet."""
        index = self.indexes_by_name.get(name)
        if index is None:
            invalid(f"The table does not have the specified index: {name}")
        if name not in self.readable_indexes:
            invalid(f"Cannot read from backfilling global secondary index: {name}")
        return index

    def stream_arn(self, stream: StreamDefinition) -> str:
        return f"{self.arn}/stream/{stream.label}"


def check_partition_bytes(size: int) -> None:
    if size > PARTITION_KEY_BYTES:
        invalid(
            "One or more parameter values were invalid: "
            f"Size of hashkey has exceeded the maximum size limit of{PARTITION_KEY_BYTES} bytes"
        )


def check_sort_bytes(size: int) -> None:
    if size > SORT_KEY_BYTES:
        invalid(
            "One or more parameter values were invalid: "
            f"Aggregated size of all range keys has exceeded the size limit of {SORT_KEY_BYTES} bytes"
        )


def not_found(name: str | None = None) -> DynamoError:
    """The error for a table that does not exist; operations on tables name it, operations on items do not."""
    detail = f": Table: {name} not found" if name else ""
    return DynamoError("ResourceNotFoundException", f"Requested resource not found{detail}")
