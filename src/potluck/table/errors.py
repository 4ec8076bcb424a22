"""The errors of this library: refused declarations, values and writes."""

from collections.abc import Iterable
from typing import Any

import msgspec


class TableError(Exception):
    """The base class of this library's errors."""


class DesignError(TableError):
    """An invalid declaration, raised when its module is imported; the message says what to write instead."""


class InvalidValue(TableError, ValueError):
    """A value that its field does not allow; nothing was sent."""

    def __init__(self, entity: str, field: str, why: str, value: Any = msgspec.UNSET) -> None:
        super().__init__(f"{entity}.{field}: {why}")
        self.entity = entity
        self.field = field
        self.why = why
        self.value = value
        """The value itself; UNSET where it is not known."""


class ComponentsNeeded(TableError, ValueError):
    """An update that would leave an index key stale; nothing was sent."""

    def __init__(self, entity: str, index: str, missing: Iterable[str]) -> None:
        self.entity = entity
        self.index = index
        self.missing = tuple(missing)
        supply = ", ".join(f"the({entity}.{name}).still(...)" for name in self.missing)
        super().__init__(f"the update changes a part of {entity}'s key in {index}, so it must also know: {supply}")


class UnreadableItem(TableError):
    """A stored row that cannot be decoded as its entity."""

    def __init__(self, entity: str, key: dict[str, Any], field: str | None, why: str) -> None:
        super().__init__(f"{entity} at {key}{f', field {field}' if field else ''}: {why}")
        self.entity = entity
        self.key = key
        self.field = field
        self.why = why


class TransactionRefused(TableError, ValueError):
    """A transaction that DynamoDB would not accept; nothing was sent."""


class WriteRefused(TableError):
    """A write that the stored item did not allow; `current` is the item now, None if there is none.

    `operation` is the refused operation, `position` its place in the transaction; `value` is the unique value that
    another item has, None if that is not the reason.
    """

    value: Any = None

    def __init__(self, message: str, operation: Any = None, current: Any = None, position: int | None = None) -> None:
        super().__init__(message)
        self.operation = operation
        self.current = current
        self.position = position


class NotFound(WriteRefused):
    """The item does not exist, or has expired."""


class AlreadyExists(WriteRefused):
    """An item with this key already exists."""


class VersionConflict(WriteRefused):
    """The item was changed by someone else since it was read."""


class Changed(WriteRefused):
    """A value that the update relied on has changed; read the item again and retry."""


class ConditionFailed(WriteRefused):
    """A condition of the write does not hold."""


class NotUnique(WriteRefused):
    """Another item already has this value."""

    def __init__(self, field: str, value: Any, operation: Any = None) -> None:
        super().__init__(f"{field} {value!r} is taken", operation)
        self.field = field
        self.value = value


class Contended(TableError):
    """Another transaction held items of this one; nothing was written. `operations` are those that may go elsewhere."""

    def __init__(self, operations: Iterable[Any]) -> None:
        self.operations = tuple(operations)
        super().__init__(f"others were writing the items of {', '.join(map(str, self.operations))}")


class OutcomeUnknown(TableError):
    """The response was lost and the write cannot safely be retried: it was applied once or not at all."""


class Unavailable(TableError):
    """The engine throttled or was unreachable until the retries ran out; nothing was written."""


class NoSpace(Unavailable):
    """The disk of the engine is full; nothing was written."""
