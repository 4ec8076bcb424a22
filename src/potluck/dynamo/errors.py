"""The exceptions of the engine."""

from typing import Any, NoReturn

CLOSED = "EngineClosed"
"""The error code of a call made after close."""

DAMAGED = "StoreDamaged"
"""The error code of a call that met a damaged part of the file."""

FULL = "StoreFull"
"""The error code of a write that found the disk full; nothing was written."""


class DynamoError(Exception):
    """An error response of the service: its code, its message, and any item or cancellation reasons it carries."""

    def __init__(
        self,
        code: str,
        message: str,
        item: dict[str, Any] | None = None,
        reasons: list[dict[str, Any]] | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.item = item
        self.reasons = reasons

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.code, self.message, self.item, self.reasons)


class StoreDamaged(DynamoError):
    """A part of the file that this call needed is damaged; retrying does not help."""

    def __init__(self) -> None:
        super().__init__(DAMAGED, "The store is damaged: a part of it that this needs cannot be read")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()


class NotPlain(Exception):
    """The fast path cannot answer; the full call will, with a result or an error."""


class StoreUnusable(Exception):
    """The file cannot be used as a store; the message says why."""


def invalid(message: str) -> NoReturn:
    """Refuse a request with the service's ValidationException."""
    raise DynamoError("ValidationException", message)
