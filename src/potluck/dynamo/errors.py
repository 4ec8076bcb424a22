"""The one way an operation fails."""

from typing import Any, NoReturn

__all__ = ["CLOSED", "DynamoError", "NotPlain", "StoreUnusable", "invalid"]

CLOSED = "EngineClosed"
"""The code of a call that comes after close."""


class DynamoError(Exception):
    """An answer of the service that is not a success: its code, its message, and what it tells besides."""

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


class NotPlain(Exception):
    """More than a look is needed to answer; asked in full, it is answered or refused."""


class StoreUnusable(Exception):
    """The file cannot be used as a store; the message says why."""


def invalid(message: str) -> NoReturn:
    """Refuse a request that the service calls a ValidationException."""
    raise DynamoError("ValidationException", message)
