"""What addresses and headers say, taken as strictly as bodies, and named as callers name it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin
from uuid import UUID

from litestar import Request, Response
from litestar.constants import RESERVED_KWARGS
from litestar.enums import ParamType
from litestar.handlers import BaseRouteHandler
from litestar.params import ParameterKwarg
from msgspec import Meta

from potluck.people.errors import InvalidFields, WrongField
from potluck.people.idempotency import LONGEST_KEY
from potluck.web.declarations import shape_of
from potluck.web.given import GIVEN
from potluck.web.shapes import Id, Many, Nullable, Record, Shape, Text
from potluck.web.texts import from_texts

__all__ = ["Parameter", "camel", "check_parameters", "checked_headers", "dependencies_of", "parameters_of"]

# Strangers hang their own parameters on links to pages; in the API, one that nobody knows is a misspelt one.
API = "/api/"

# What a text of the address is taken for as it stands.
PLAIN = frozenset({Id, Text})

MOST_HANDLERS = 4096
LONGEST_NAME = 100
LONGEST_POSITION = 1000
# Headers that HTTP has as lists: given twice, they are one.
LISTS = frozenset({"If-Match", "If-None-Match"})

SINCE = "The position after which to begin: the `position` of a list, or the id of an event."
LAST_EVENT_ID = "The id of the last event that was seen; browsers send it by themselves. It comes before `since`."
IDEMPOTENCY_KEY = (
    "The same key with the same request gives the first answer again and does nothing twice; kept for 24 hours."
    " From callers who are not signed in, a UUID."
)
IF_MATCH = 'The version that was seen, as its ETag: `"3"`.'
IF_NONE_MATCH = "The ETag of the answer one has; 304 if it is still so."


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """Something that a handler, or what it depends on, is given outside of the body."""

    name: str
    """As callers know it; in an address, where it has no name, in camelCase."""
    key: str
    """As the router or the request has it."""
    argument: str
    place: ParamType
    shape: Shape
    required: bool
    default: Any
    description: str | None

    @property
    def words(self) -> str:
        return self.shape.message or f"{self.name} {self.shape.requirement}"


async def check_parameters(request: Request[Any, Any, Any]) -> None:
    """InvalidFields with every parameter that is wrong: Litestar would take 007 for 7, and the last of two."""
    checks = _checks_of(request.route_handler)
    scope = request.scope
    wrong: list[WrongField] = []
    for each in checks.in_path:
        value = scope["path_params"].get(each.key)
        # Only for what is not plainly right is it worked out what is wrong.
        if type(value) is not str or type(each.shape) not in PLAIN or not each.shape.accepts(value):
            wrong += _wrong_in_path(request, (each,))
    # Most requests say nothing in these places, and then nothing of them has to be read.
    if scope.get("query_string") or checks.query_needed:
        wrong += _wrong_in_query(request, checks.in_query)
    if checks.header_needed or not checks.header_names.isdisjoint([name for name, _ in scope["headers"]]):
        wrong += _wrong_in_headers(request, checks.in_headers)
    if wrong:
        raise InvalidFields(*wrong)


@dataclass(frozen=True, slots=True)
class _Checks:
    """The parameters of a handler by where they are looked for."""

    in_path: tuple[Parameter, ...]
    in_query: tuple[Parameter, ...]
    in_headers: tuple[Parameter, ...]
    header_names: frozenset[bytes]
    query_needed: bool
    header_needed: bool


@lru_cache(MOST_HANDLERS)
def _checks_of(handler: BaseRouteHandler) -> _Checks:
    parameters = parameters_of(handler)
    in_path, in_query, in_headers = (
        tuple(each for each in parameters if each.place is place)
        for place in (ParamType.PATH, ParamType.QUERY, ParamType.HEADER)
    )
    return _Checks(
        in_path,
        in_query,
        in_headers,
        frozenset(each.name.lower().encode() for each in in_headers),
        any(each.required for each in in_query),
        any(each.required for each in in_headers),
    )


def checked_headers(handler: BaseRouteHandler) -> frozenset[bytes]:
    """The names of the headers of which something is checked, or given to the handler as an argument."""
    names = _checks_of(handler).header_names
    return names | {b"cookie"} if any(each.place is ParamType.COOKIE for each in parameters_of(handler)) else names


@lru_cache(MOST_HANDLERS)
def parameters_of(handler: BaseRouteHandler) -> tuple[Parameter, ...]:
    """Every parameter of a handler and of what it depends on, each once."""
    found = {(each.place, each.name): each for each in _found(handler)}
    return tuple(found.values())


def dependencies_of(handler: BaseRouteHandler) -> frozenset[str]:
    """The names of everything that a handler is given by the assembly, whether itself or by way of another."""
    given: frozenset[str] = handler.opt.get(GIVEN, frozenset())
    return given | _depends(handler, set(handler.parsed_fn_signature.parameters), set())


def _depends(handler: BaseRouteHandler, names: set[str], seen: set[str]) -> set[str]:
    providers = handler.resolve_dependencies()
    for name in names & providers.keys() - seen:
        seen.add(name)
        _depends(handler, set(providers[name].parsed_fn_signature.parameters), seen)
    return seen


def _found(handler: BaseRouteHandler) -> Iterator[Parameter]:
    providers = handler.resolve_dependencies()
    in_path = {name for path in handler.paths for name in re.findall(r"{([^:}]+)", path)}
    for layer in handler.ownership_layers:
        for path in getattr(layer, "paths", None) or [getattr(layer, "path", "")]:
            in_path |= set(re.findall(r"{([^:}]+)", str(path)))
    models = [handler.signature_model]
    models += [providers[name].signature_model for name in sorted(dependencies_of(handler) & providers.keys())]
    for model in models:
        for argument, field in model._fields.items():
            if argument in RESERVED_KWARGS or argument in providers or field.is_di_field:
                continue
            given = field.kwarg_definition if isinstance(field.kwarg_definition, ParameterKwarg) else None
            name = (given and given.name) or argument
            place = ParamType.PATH if name in in_path else given.param_type if given else ParamType.QUERY
            yield Parameter(
                name=camel(name) if place is ParamType.PATH else name,
                key=name,
                argument=argument,
                place=place,
                shape=_shape(_declared(field.raw) or model.__annotations__[argument]),
                required=place is ParamType.PATH or (field.is_required and not field.is_optional),
                default=field.default if field.has_default else None,
                description=given.description if given else None,
            )

    yield from _by_convention(handler)


def _by_convention(handler: BaseRouteHandler) -> Iterator[Parameter]:
    """What a handler reads from its request itself, as one sees by what it is: a stream, a change of a version."""
    if any(path.endswith("/events") for path in handler.paths):
        yield _taken("since", ParamType.QUERY, Text(most=LONGEST_POSITION), SINCE)
        yield _taken("Last-Event-ID", ParamType.HEADER, Text(most=LONGEST_POSITION), LAST_EVENT_ID)
    if "once" in dependencies_of(handler):
        yield _taken("Idempotency-Key", ParamType.HEADER, Text(least=1, most=LONGEST_KEY), IDEMPOTENCY_KEY)
    if handler.opt.get("if_match") or "version" in _body_fields(handler):
        yield _taken("If-Match", ParamType.HEADER, Text(), IF_MATCH)
    if handler.opt.get("if_none_match") or _can_be_unchanged(handler):
        yield _taken("If-None-Match", ParamType.HEADER, Text(), IF_NONE_MATCH)


def _taken(name: str, place: ParamType, shape: Shape, description: str) -> Parameter:
    return Parameter(
        name=name,
        key=name,
        argument="",
        place=place,
        shape=shape,
        required=False,
        default=None,
        description=description,
    )


def _body_fields(handler: BaseRouteHandler) -> frozenset[str]:
    declared = handler.parsed_data_field
    if declared is None:
        return frozenset()
    shape = _shape(declared.annotation)
    return frozenset(shape.fields) if isinstance(shape, Record) else frozenset()


def _can_be_unchanged(handler: BaseRouteHandler) -> bool:
    """Whether it reads one thing and may answer with nothing, which is how 304 is answered."""
    answered = handler.parsed_return_field
    return (
        "GET" in getattr(handler, "http_methods", ())
        and answered.is_subclass_of(Response)
        and any(inner.is_optional for inner in answered.inner_types)
    )


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


def _declared(raw: Any) -> Any:
    """The annotation as bodies have theirs, with bounds and sentences of our own; None where it has none.

    Litestar keeps only those of its own parameters.
    """
    parts = raw.__metadata__ if hasattr(raw, "__metadata__") else ()
    held = raw.__origin__ if parts else raw
    own = [each for each in parts if isinstance(each, Meta)]
    if own:
        return Annotated[(held, *own)]
    inner = get_args(held) if get_origin(held) in (Union, UnionType) else ()
    return held if any(_declared(each) is not None for each in inner) else None


def _shape(annotation: Any) -> Shape:
    try:
        return shape_of(annotation)
    except TypeError:
        # Paths and the like: what they must be is for their handler to say.
        return Text()


def _wrong_in_path(request: Request[Any, Any, Any], parameters: tuple[Parameter, ...]) -> Iterator[WrongField]:
    for each in parameters:
        if each.place is ParamType.PATH and each.key in request.path_params:
            value = request.path_params[each.key]
            if isinstance(value, UUID):
                # The router has made it one; whether it was one as it should be written, the address tells.
                good = str(value) in request.scope["path"].split("/")
            else:
                good = not isinstance(value, str) or _takes(each.shape, from_texts(each.shape, [value]))
            if not good:
                yield WrongField(each.name, each.words)


def _wrong_in_query(request: Request[Any, Any, Any], parameters: tuple[Parameter, ...]) -> Iterator[WrongField]:
    given = request.query_params.dict()
    declared = [each for each in parameters if each.place is ParamType.QUERY]
    for each in declared:
        texts = given.pop(each.name, [])
        if not texts:
            if each.required:
                yield WrongField(each.name, f"{each.name} is missing")
        elif len(texts) > 1 and not _is_list(each.shape):
            yield WrongField(each.name, f"{each.name} is given more than once")
        elif not _takes(each.shape, from_texts(each.shape, texts)):
            yield WrongField(each.name, each.words)
    if request.scope["path"].startswith(API):
        for name in given:
            yield WrongField(name[:LONGEST_NAME], "There is no such parameter")


def _wrong_in_headers(request: Request[Any, Any, Any], parameters: tuple[Parameter, ...]) -> Iterator[WrongField]:
    for each in parameters:
        if each.place is ParamType.HEADER:
            texts = request.headers.getall(each.name, [])
            if not texts:
                if each.required:
                    yield WrongField(each.name, f"{each.name} is missing")
            elif len(texts) > 1 and each.name not in LISTS and not _is_list(each.shape):
                yield WrongField(each.name, f"{each.name} is given more than once")
            elif not _takes(each.shape, from_texts(each.shape, texts[:1])):
                yield WrongField(each.name, each.words)


def _is_list(shape: Shape) -> bool:
    return isinstance(shape.inner if isinstance(shape, Nullable) else shape, Many)


def _takes(shape: Shape, value: Any) -> bool:
    if isinstance(shape, Nullable):
        shape = shape.inner
    if not shape.accepts(value):
        return False
    if isinstance(shape, Many) and shape.item is not None and isinstance(value, list):
        item = shape.item
        if not all(_takes(item, each) for each in value):
            return False
    return shape.check is None or not any(True for _ in shape.check(value))
