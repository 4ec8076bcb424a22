"""Refusals of invalid input, and the base of all other refusals."""

import re
from dataclasses import dataclass


class Refusal(Exception):
    """A refused request; its text may be shown to the caller, next to `field` of a form."""

    def __init__(self, message: str = "", field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


def camel(name: str) -> str:
    """A name in camelCase, as callers write it: `store_id` is `storeId`."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


@dataclass(frozen=True, slots=True)
class FieldError:
    """A field, by its name for callers, and its message; in a check, names are relative to the value, which is ""."""

    field: str
    message: str

    @classmethod
    def of(cls, attribute: str, message: str) -> "FieldError":
        """The error of an attribute in Python, or of a path to one, under its name for callers."""
        return cls(camel(attribute), message)

    @property
    def label(self) -> str:
        """The field as the start of a sentence: "items[3].dueDate" is "Due date"."""
        return label_of(re.sub(r"\[[0-9]+\]$", "", self.field.rpartition(".")[2]))


def label_of(name: str) -> str:
    """A field's name as the start of a sentence: "dueDate" is "Due date"."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ")
    return spaced[:1].upper() + spaced[1:].lower()


class ValidationError(Refusal):
    """All invalid fields; nothing was written."""

    def __init__(self, *errors: FieldError) -> None:
        super().__init__("; ".join(error.message for error in errors))
        self.errors = errors


class BodyNotJson(Exception):
    """The body is not JSON, so no field can be named."""
