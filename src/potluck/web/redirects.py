"""What follows a form, an address or a sentence: it names path parameters and fields of the answer in braces."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from string import Formatter
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin
from urllib.parse import quote
from uuid import UUID

from msgspec import Struct

from potluck.table import Entity
from potluck.web.entity_fields import DeclarationError

WITHOUT_FIELDS = (NoneType, str, bytes, bool, int, float, UUID, dict, list, tuple)
PATH_PARAMETER = re.compile(r"{(\w+)}")
HERE = re.compile(r"/(?![/\\])")
"""How an address of this site begins: what begins with two slashes is another host's."""
# "//host" and "/\\host" are other sites to a browser.
PATH_HERE = re.compile(r"/(?![/\\])[!-\[\]-~]{0,2000}")


def address_here(address: str, otherwise: str = "/") -> str:
    """The address, if it is a path on this site; prevents open redirects."""
    return address if PATH_HERE.fullmatch(address) else otherwise


def address_after(then: str, answer: Any, ids: Mapping[str, Any]) -> str:
    """The address, with its braces filled in; no value can add a part to the path or the query, or name a host."""
    return then.format_map(_Names(answer, {name: _quoted(value) for name, value in ids.items()}, _quoted))


def text_after(text: str, answer: Any, ids: Mapping[str, Any]) -> str:
    """The sentence, with its braces filled in; the layout escapes it."""
    return str(text).format_map(_Names(answer, ids, str))


def must_be_there(rule: str, then: str, parameters: Sequence[str], answer: Any, option: str = "then") -> None:
    """A DeclarationError unless this is an address here, and each name in braces is a path parameter or in every
    answer of this type."""
    if then and not HERE.match(then):
        raise DeclarationError(f"{rule}: {option}: {then} is not an address of this site: begin it with one slash")
    must_be_named(rule, then, parameters, answer, option)


def must_be_named(rule: str, text: str, parameters: Sequence[str], answer: Any, option: str) -> list[str]:
    """The names in braces; a DeclarationError unless each is a path parameter or in every answer of this type."""
    try:
        named = [name for _, name, _, _ in Formatter().parse(text) if name is not None]
    except ValueError as error:
        raise DeclarationError(f"{rule}: {option}: {text} cannot be read: {error}") from error
    kinds = get_args(answer) if get_origin(answer) in (Union, UnionType) else (answer,)
    for name in named:
        if name not in parameters and not all(_may_have(kind, name) for kind in kinds):
            raise DeclarationError(f"{rule}: {option}: there is no {{{name}}}; {_there_are(parameters, kinds)}")
    return named


def _may_have(kind: Any, name: str) -> bool:
    """Whether answers of this type have this field, or it is not known which fields they have."""
    kind = get_origin(kind) or kind
    if not isinstance(kind, type):
        return True
    if kind in WITHOUT_FIELDS:
        # What a text or a list can do, such as `title`, is no field of an answer.
        return False
    # A struct without fields, such as Entity itself, is the base of others that have some.
    has_known_fields = issubclass(kind, Struct) and kind.__struct_fields__ != ()
    # Not only fields: the class has its properties as well.
    return not has_known_fields or hasattr(kind, name)


def _there_are(parameters: Sequence[str], kinds: Sequence[Any]) -> str:
    structs = [kind.__name__ for kind in kinds if isinstance(kind, type) and issubclass(kind, Struct)]
    there = [*parameters, *([f"the fields of {' and '.join(structs)}"] if structs else [])]
    if not there:
        return "the path has no parameters, and the answer no fields"
    *others, last = there
    return f"there are {', '.join(others)} and {last}" if others else f"there are only {last}"


class _Names(dict[str, Any]):
    """What may be named: path parameters, and fields of the answer."""

    def __init__(self, answer: Any, ids: Mapping[str, Any], written: Callable[[Any], str]) -> None:
        super().__init__(ids)
        self._answer = answer
        self._written = written

    def __missing__(self, name: str) -> Any:
        if isinstance(self._answer, Entity) or hasattr(self._answer, name):
            return self._written(getattr(self._answer, name))
        raise KeyError(name)


def _quoted(value: Any) -> str:
    return quote(str(value), safe="")
