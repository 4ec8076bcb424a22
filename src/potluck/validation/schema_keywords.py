"""Keywords of JSON Schema that inputs and responses share, and the components that their schemas refer to."""

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, Protocol

import msgspec

Schema = dict[str, Any]


class Components(Protocol):
    """The schemas of structs, each once and under a unique name."""

    def reference(self, kind: Any, schema: Callable[[], Schema], *, variant: str = "") -> Schema:
        """A reference to the schema of a struct, which is made for the first one."""
        ...


def present(**keywords: Any) -> Schema:
    """The keywords that have a value."""
    return {name: value for name, value in keywords.items() if value is not None}


def enum(values: Iterable[Any]) -> Schema:
    members = list(values)
    kinds = {type(member) for member in members}
    if kinds in ({str}, {int}):
        return {"type": "string" if kinds == {str} else "integer", "enum": members}
    return {"enum": members}


def text_of_form(pattern: re.Pattern[str], **keywords: Any) -> Schema:
    return {"type": "string", **keywords, "pattern": f"^{pattern.pattern}$"}


def description_of(kind: type[Any]) -> str | None:
    return kind.__doc__.strip() if "__doc__" in vars(kind) and kind.__doc__ else None


def default_value(value: Any) -> Any:
    """A default as JSON."""
    return plain_number(value) if isinstance(value, Decimal) else msgspec.to_builtins(value)


def plain_number(number: Decimal | None) -> int | float | None:
    if number is None:
        return None
    return int(number) if number == number.to_integral_value() else float(number)
