"""What is refused to a caller because of what they sent, and the base of everything else that is refused to them."""

from dataclasses import dataclass


class Refusal(Exception):
    """A request that is refused; its text may be shown to the person who made it."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """A field, as callers name it, and what it should be; from a check, relative to the value, "" being the value."""

    field: str
    message: str


class ValidationError(Refusal):
    """Every invalid field, all at once; nothing was written."""

    def __init__(self, *errors: FieldError) -> None:
        super().__init__("; ".join(error.message for error in errors))
        self.errors = errors


class BodyNotJson(Exception):
    """The body is not JSON at all, so no field can be named."""
