"""The scalar shapes of parameters, and the service's errors for values that do not fit them.

A shape answers three questions, from the cheapest to the most expensive:
`fits`        is the value clearly valid? (attribute values are left to `potluck.dynamo.values`)
`understood`  what does the service read from it? Raises its SerializationException if it cannot be read.
`faults`      which constraints does a readable value break?
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, ClassVar, NoReturn

from potluck.dynamo.errors import DynamoError

MODEL = "com.amazonaws.dynamodb.v20120810."
STRUCTURE_UNEXPECTED = "Start of structure or map found where not expected"
NAMES_REMEMBERED = 4096

Fits = Callable[[Any], bool]


def unreadable(message: str) -> NoReturn:
    raise DynamoError("SerializationException", message)


def token(value: Any) -> str:
    """The service's name for a scalar JSON value."""
    if value is True:
        return "TRUE_VALUE"
    if value is False:
        return "FALSE_VALUE"
    if isinstance(value, str):
        return "STRING_VALUE"
    return "NUMBER_VALUE" if isinstance(value, int) else "DECIMAL_VALUE"


def fault(written: str | None, place: str, constraint: str) -> str:
    """The message for a value that breaks a constraint."""
    if written is None:
        # The service's newer checks do not show the value, and spell member names as in the request.
        first, dot, last = place.rpartition(".")
        place = first[:1].upper() + first[1:] + dot + last[:1].upper() + last[1:]
        return f"Value at '{place}' failed to satisfy constraint: {constraint}"
    return f"Value {written} at '{place}' failed to satisfy constraint: {constraint}"


def not_null(place: str) -> str:
    return fault("null", place, "Member must not be null")


def at_least(length: int) -> str:
    return f"Member must have length greater than or equal to {length}"


def at_most(length: int) -> str:
    return f"Member must have length less than or equal to {length}"


class Shape:
    java: str
    fits: Fits

    def understood(self, value: Any, in_collection: bool) -> Any:
        """The value as the service reads it; the same object if nothing had to be converted."""
        raise NotImplementedError

    def faults(self, value: Any, place: str) -> Iterator[str]:
        """The constraints broken by a value that was understood."""
        return iter(())

    def written(self, value: Any) -> str:
        """The value as an error message shows it."""
        return str(value)


class Anything(Shape):
    """A parameter that is refused whatever its value, so the value is not examined."""

    java = "java.lang.Object"

    def __init__(self) -> None:
        self.fits = lambda value: True

    def understood(self, value: Any, in_collection: bool) -> Any:
        return value


class Text(Shape):
    java = "java.lang.String"

    def __init__(
        self,
        *options: str,
        least: int = 0,
        most: int | None = None,
        pattern: str | None = None,
        otherwise: str | None = None,
    ) -> None:
        """`otherwise` is a pattern whose matches are accepted whatever the other constraints say."""
        self.options = options
        self.least = least
        self.most = most
        self.pattern = pattern
        self.compiled = re.compile(pattern) if pattern else None
        self.otherwise = re.compile(otherwise) if otherwise else None
        if options:
            self.fits = frozenset(options).__contains__
        elif pattern:
            self.fits = lru_cache(NAMES_REMEMBERED)(self.satisfied)
        elif least or most:
            self.fits = self.satisfied
        else:
            self.fits = str.__instancecheck__

    def satisfied(self, value: Any) -> bool:
        return isinstance(value, str) and next(self.faults(value, ""), None) is None

    def understood(self, value: Any, in_collection: bool) -> Any:
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            unreadable("Unrecognized collection type class java.lang.String")
        if isinstance(value, dict):
            unreadable(STRUCTURE_UNEXPECTED)
        unreadable(f"{token(value)} cannot be converted to String")

    def faults(self, value: str, place: str) -> Iterator[str]:
        if self.otherwise and self.otherwise.fullmatch(value):
            return
        if self.options and value not in self.options:
            allowed = ", ".join(self.options)
            yield fault(f"'{value}'", place, f"Member must satisfy enum value set: [{allowed}]")
        if self.compiled and not self.compiled.fullmatch(value):
            yield fault(f"'{value}'", place, f"Member must satisfy regular expression pattern: {self.pattern}")
        if len(value) < self.least:
            yield fault(f"'{value}'", place, at_least(self.least))
        if self.most is not None and len(value) > self.most:
            yield fault(f"'{value}'", place, at_most(self.most))

    def constraints(self) -> list[str]:
        """All constraints, in the order in which the service lists them for the keys of a map."""
        listed = [at_most(self.most)] if self.most is not None else []
        listed += [at_least(self.least)] if self.least else []
        return listed + ([f"Member must satisfy regular expression pattern: {self.pattern}"] if self.pattern else [])


class Number(Shape):
    def __init__(self, name: str, least: int | None = None, most: int | None = None, *, is_shown: bool = True) -> None:
        """`is_shown`: whether error messages show a value that breaks a constraint."""
        self.name = name
        self.is_shown = is_shown
        self.java = f"java.lang.{name}"
        self.least = least
        self.most = most
        self.fits = self.satisfied

    def satisfied(self, value: Any) -> bool:
        return (
            type(value) is int
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
        )

    def understood(self, value: Any, in_collection: bool) -> Any:
        if isinstance(value, list):
            unreadable(f"Unrecognized collection type class {self.java}")
        if isinstance(value, dict):
            unreadable(STRUCTURE_UNEXPECTED)
        if isinstance(value, bool) or not isinstance(value, int | float):
            unreadable(f"{token(value)} cannot be converted to {self.name}")
        return value if isinstance(value, int) or self.name == "Double" else int(value // 1)

    def faults(self, value: int | float, place: str) -> Iterator[str]:
        written = f"'{value}'" if self.is_shown else None
        if self.least is not None and value < self.least:
            yield fault(written, place, f"Member must have value greater than or equal to {self.least}")
        if self.most is not None and value > self.most:
            yield fault(written, place, f"Member must have value less than or equal to {self.most}")


class Truth(Shape):
    java = "java.lang.Boolean"
    fits = bool.__instancecheck__
    words: ClassVar = {"TRUE": True, "1": True, "YES": True, "FALSE": False, "0": False, "NO": False}

    def understood(self, value: Any, in_collection: bool) -> Any:
        if isinstance(value, bool):
            return value
        if isinstance(value, str):
            if value.upper() in self.words:
                return self.words[value.upper()]
            unreadable("Unexpected token received from parser")
        if isinstance(value, list):
            unreadable("Unrecognized collection type class java.lang.Boolean")
        if isinstance(value, dict):
            unreadable(STRUCTURE_UNEXPECTED)
        unreadable(f"{token(value)} cannot be converted to Boolean")


class Blob(Shape):
    java = "java.nio.ByteBuffer"
    fits = str.__instancecheck__

    def understood(self, value: Any, in_collection: bool) -> Any:
        if isinstance(value, list):
            unreadable("Unrecognized collection type class java.nio.ByteBuffer")
        if isinstance(value, dict):
            unreadable(STRUCTURE_UNEXPECTED)
        if not isinstance(value, str):
            unreadable("only base-64-encoded strings are convertible to bytes")
        if len(value) % 4:
            unreadable(f"Base64 encoded length is expected a multiple of 4 bytes but found: {len(value)}")
        try:
            canonical = b64encode(b64decode(value, validate=True)).decode() == value
        except ValueError:
            canonical = False
        if not canonical:
            unreadable("Invalid last non-pad Base64 character dectected")
        return value
