"""Refusals of invalid input, and the base of all other refusals."""

from dataclasses import dataclass


class Refusal(Exception):
    """A refused request; its text may be shown to the caller, next to `field` of a form."""

    def __init__(self, message: str = "", field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class FieldError:
    """A field, by its name for callers, and its message; in a check, names are relative to the value, which is ""."""

    field: str
    message: str


class ValidationError(Refusal):
    """All invalid fields; nothing was written."""

    def __init__(self, *errors: FieldError) -> None:
        super().__init__("; ".join(error.message for error in errors))
        self.errors = errors


class BodyNotJson(Exception):
    """The body is not JSON, so no field can be named."""
