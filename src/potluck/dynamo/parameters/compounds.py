"""Lists, maps and structures of parameters, and the attribute values among them."""

from collections.abc import Iterator
from typing import Any, ClassVar

from potluck.dynamo.errors import invalid
from potluck.dynamo.parameters.scalars import (
    MODEL,
    STRUCTURE_UNEXPECTED,
    Blob,
    Shape,
    Text,
    Truth,
    at_least,
    at_most,
    fault,
    not_null,
    unreadable,
)

GENERIC_CAST = (
    "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class "
    "(sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class "
    "are in module java.base of loader 'bootstrap')"
)
# `values` refuses documents nested more than 32 levels deep, so anything below this depth need not be read.
DEPTH_READ = 64


class ListOf(Shape):
    def __init__(self, member: Shape, least: int = 0, most: int | None = None, *, is_shown: bool = True) -> None:
        """`is_shown`: whether error messages show a list that breaks a constraint."""
        self.member = member
        self.is_shown = is_shown
        self.least = least
        self.most = most
        self.java = f"java.util.List<{member.java}>"
        member_fits, longest = member.fits, most if most is not None else float("inf")
        self.fits = lambda value: (
            type(value) is list and least <= len(value) <= longest and all(map(member_fits, value))
        )

    def understood(self, value: Any, in_collection: bool) -> Any:
        if isinstance(value, dict):
            unreadable(STRUCTURE_UNEXPECTED)
        if not isinstance(value, list):
            unreadable(GENERIC_CAST if in_collection else "Unexpected field type")
        read = [None if member is None else self.member.understood(member, True) for member in value]
        return value if all(map(is_same, read, value)) else read

    def faults(self, value: list[Any], place: str) -> Iterator[str]:
        if len(value) < self.least:
            yield fault(self.shown(value), place, at_least(self.least))
        if self.most is not None and len(value) > self.most:
            yield fault(self.shown(value), place, at_most(self.most))
        yield from self.faults_of_members(value, place)

    def shown(self, value: list[Any]) -> str | None:
        return f"'{self.written(value)}'" if self.is_shown else None

    def faults_of_members(self, value: list[Any], place: str) -> Iterator[str]:
        for position, member in enumerate(value, 1):
            below = f"{place}.{position}.member"
            yield from (not_null(below),) if member is None else self.member.faults(member, below)

    def written(self, value: list[Any]) -> str:
        return "[" + ", ".join(map(self.member.written, value)) + "]"


class MapOf(Shape):
    def __init__(self, value: Shape, keys: Text | None = None, least: int = 0, most: int | None = None) -> None:
        self.value = value
        self.keys = keys
        self.least = least
        self.most = most
        self.java = f"java.util.Map<java.lang.String, {value.java}>"
        value_fits, longest = value.fits, most if most is not None else float("inf")
        if isinstance(value, AttributeValue):
            self.fits = dict.__instancecheck__
        elif keys is None:
            self.fits = lambda value: (
                type(value) is dict and least <= len(value) <= longest and all(map(value_fits, value.values()))
            )
        else:
            key_fits = keys.fits
            self.fits = lambda value: (
                type(value) is dict
                and least <= len(value) <= longest
                and all(map(key_fits, value))
                and all(map(value_fits, value.values()))
            )

    def understood(self, value: Any, in_collection: bool) -> Any:
        if isinstance(value, list):
            unreadable(f"Unrecognized collection type {self.java}")
        if not isinstance(value, dict):
            unreadable(GENERIC_CAST if in_collection else "Unexpected field type")
        read = {
            key: self.value.understood(member, True)
            if member is not None or isinstance(self.value, AttributeValue)
            else None
            for key, member in value.items()
        }
        return value if all(map(is_same, read.values(), value.values())) else read

    def faults(self, value: dict[str, Any], place: str) -> Iterator[str]:
        written = f"'{self.written(value)}'"
        if len(value) < self.least:
            yield fault(written, place, at_least(self.least))
        if self.most is not None and len(value) > self.most:
            yield fault(written, place, at_most(self.most))
        if self.keys:
            for key in value:
                if next(self.keys.faults(key, place), None):
                    listed = ", ".join(self.keys.constraints())
                    yield fault(written, place, f"Map keys must satisfy constraint: [{listed}]")
        if not isinstance(self.value, ListOf):
            for key, member in value.items():
                below = f"{place}.{key}.member"
                yield from (not_null(below),) if member is None else self.value.faults(member, below)
            return
        # The length of a list inside a map is reported as a constraint of the map.
        for member in value.values():
            longest = self.value.most
            if member is not None and (
                len(member) < self.value.least or (longest is not None and len(member) > longest)
            ):
                listed = ", ".join(([at_most(longest)] if longest is not None else []) + [at_least(self.value.least)])
                yield fault(written, place, f"Map value must satisfy constraint: [{listed}]")
        for key, member in value.items():
            below = f"{place}.{key}.member"
            yield from (not_null(below),) if member is None else self.value.faults_of_members(member, below)

    def written(self, value: dict[str, Any]) -> str:
        members = (f"{key}={'null' if member is None else self.value.written(member)}" for key, member in value.items())
        return "{" + ", ".join(members) + "}"


class Required:
    """Marks a required field of a structure."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape


Fields = dict[str, Shape | Required]


class Structure(Shape):
    def __init__(self, name: str, fields: Fields) -> None:
        self.name = name
        self.java = MODEL + name
        self.fields = {key: shape.shape if isinstance(shape, Required) else shape for key, shape in fields.items()}
        self.required = frozenset(key for key, shape in fields.items() if isinstance(shape, Required))
        self.places = {key: key[0].lower() + key[1:] for key in fields}
        tests, required = {key: shape.fits for key, shape in self.fields.items()}, self.required

        def fits(value: Any) -> bool:
            if type(value) is not dict:
                return False
            for key, member in value.items():
                test = tests.get(key)
                if test is not None and not test(member):
                    return False
            return value.keys() >= required

        self.fits = fits

    def understood(self, value: Any, in_collection: bool) -> Any:
        if isinstance(value, list):
            unreadable(f"Unrecognized collection type class {self.java}")
        if not isinstance(value, dict):
            unreadable("Unexpected value type in payload" if in_collection else "Unexpected field type")
        read, changed = {}, False
        for key, member in value.items():
            shape = self.fields.get(key)
            if shape is None:
                continue
            if member is None:
                changed = True
                continue
            read[key] = shape.understood(member, False)
            changed = changed or read[key] is not member
        return read if changed else value

    def faults(self, value: dict[str, Any], place: str) -> Iterator[str]:
        for key, shape in self.fields.items():
            below = f"{place}.{self.places[key]}" if place else self.places[key]
            if key in value:
                yield from shape.faults(value[key], below)
            elif key in self.required:
                yield not_null(below)

    def written(self, value: Any) -> str:
        return f"{self.java}@{id(value) & 0xFFFFFFFF:x}"


class AttributeValue(Shape):
    """A wire-form value such as {"S": "x"}, read to any depth that the service could store."""

    java = MODEL + "AttributeValue"
    fits = dict.__instancecheck__
    scalars: ClassVar[dict[str, Shape]] = {
        "S": Text(),
        "N": Text(),
        "B": Blob(),
        "BOOL": Truth(),
        "NULL": Truth(),
    }
    sets: ClassVar[dict[str, tuple[Shape, str]]] = {
        "SS": (Text(), "An string set  may not have a null string as a member"),
        "NS": (Text(), "An number set  may not have a null string as a member"),
        "BS": (Blob(), "Binary sets may not contain null values"),
    }

    def understood(self, value: Any, in_collection: bool) -> Any:
        return self.read(value, in_collection, 0)

    def read(self, value: Any, in_collection: bool, depth: int) -> Any:
        if value is None:
            return {}  # The service treats a null value as empty.
        if isinstance(value, list):
            unreadable(f"Unrecognized collection type class {self.java}")
        if not isinstance(value, dict):
            unreadable("Unexpected value type in payload" if in_collection else "Unexpected field type")
        if depth > DEPTH_READ:
            return value
        known: dict[str, Any] = {}
        for kind, content in value.items():
            if content is None:
                continue
            if kind in self.scalars:
                known[kind] = self.scalars[kind].understood(content, False)
            elif kind in self.sets:
                known[kind] = self.read_set(content, *self.sets[kind])
            elif kind == "L":
                known[kind] = self.read_list(content, depth)
            elif kind == "M":
                known[kind] = self.read_map(content, depth)
        same = len(known) == len(value) and all(map(is_same, known.values(), value.values()))
        return value if same else known

    def read_set(self, members: Any, member: Shape, refusal: str) -> Any:
        if isinstance(members, dict):
            unreadable(STRUCTURE_UNEXPECTED)
        if not isinstance(members, list):
            unreadable("Unexpected field type")
        for element in members:
            if element is not None:
                member.understood(element, True)
        if None in members:
            invalid(f"One or more parameter values were invalid: {refusal}")
        return members

    def read_list(self, elements: Any, depth: int) -> Any:
        if isinstance(elements, dict):
            unreadable(STRUCTURE_UNEXPECTED)
        if not isinstance(elements, list):
            unreadable("Unexpected field type")
        read = [self.read(element, True, depth + 1) for element in elements]
        return elements if all(map(is_same, read, elements)) else read

    def read_map(self, members: Any, depth: int) -> Any:
        if isinstance(members, list):
            unreadable(f"Unrecognized collection type java.util.Map<java.lang.String, {self.java}>")
        if not isinstance(members, dict):
            unreadable("Unexpected field type")
        read = {key: self.read(element, True, depth + 1) for key, element in members.items()}
        return members if all(map(is_same, read.values(), members.values())) else read

    def written(self, value: Any) -> str:
        return f"{self.java}@{id(value) & 0xFFFFFFFF:x}"


def is_same(one: Any, other: Any) -> bool:
    return one is other
