"""How the JSON door answers: one thing with its tag, a list in parts, nothing for what is gone."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from uuid import UUID

import msgspec
from litestar import Request, Response
from litestar.status_codes import HTTP_200_OK, HTTP_201_CREATED, HTTP_204_NO_CONTENT
from msgspec import Struct

from potluck.apps.shopping.ordering import Place, part_of
from potluck.apps.shopping.views import LocationShown, StoreShown
from potluck.web.cursors import Listed, Part
from potluck.web.once import Told
from potluck.web.versions import etag, tag_of, unchanged

__all__ = ["gone", "listed", "one", "told"]

V = TypeVar("V", bound=Struct)
AnyRequest = Request[Any, Any, Any]


def tag(shown: Struct) -> str:
    """A store or a location is one row, the same for all; with the rest come names and numbers of other rows."""
    if isinstance(shown, StoreShown | LocationShown):
        return etag(shown.version)
    return tag_of(msgspec.json.encode(shown))


def one(request: AnyRequest, shown: V) -> Response[V | None]:
    """What was asked for, or that it is as it was."""
    tagged = tag(shown)
    return unchanged(request, tagged) or Response(shown, headers={"etag": tagged})


def told(shown: V, *, made: UUID | None = None) -> Told[V]:
    """How it is now; `made`, if it is new, is its id."""
    return Told(
        body=shown,
        status=HTTP_200_OK if made is None else HTTP_201_CREATED,
        headers={"etag": tag(shown)},
        made=None if made is None else str(made),
    )


def gone(_: None) -> Told[None]:
    return Told(body=None, status=HTTP_204_NO_CONTENT)


def listed(items: Sequence[V], place: Callable[[V], Place], part: Part, position: str | None = None) -> Listed[V]:
    """A part of a list that is short enough to be read whole."""
    return part.answer(part_of(items, place, part.limit, part.after), lambda each: each, position)
