"""Lists in parts: where the next one begins is told as a sealed text that only the same caller can use, here."""

import os
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, TypeVar, cast

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from potluck.people.errors import InvalidFields, WrongField
from potluck.store import Page

__all__ = ["LONGEST_PART", "USUAL_PART", "Cursors", "Listed", "Part", "View"]

USUAL_PART = 50
LONGEST_PART = 100

NONCE_BYTES = 12
LONGEST_CURSOR = 4000
# How many views of one page are kept: of a family's list, one for each of the family.
MOST_VIEWS = 16

encode = msgspec.json.Encoder().encode

T = TypeVar("T")
V = TypeVar("V")


class Listed(msgspec.Struct, Generic[V], rename="camel", kw_only=True, frozen=True):
    """A part of a list."""

    items: list[V]
    next_cursor: str | None
    """What to ask for the next part with; null if this is the last."""
    position: str | None = None
    """Where live updates of this list go on from."""


class Cursors:
    """Seals where a list goes on. A key in it may name what its reader must not see, so it is not merely signed."""

    def __init__(self, key: bytes) -> None:
        self._sealing = AESGCM(key)

    def seal(self, after: Mapping[str, Any], of: str) -> str:
        """The place, as only whoever asks for the same list can use it."""
        nonce = os.urandom(NONCE_BYTES)
        sealed = self._sealing.encrypt(nonce, msgspec.msgpack.encode(after), of.encode())
        return _text(nonce + sealed)

    def unseal(self, cursor: str, of: str) -> dict[str, Any]:
        """The place; InvalidFields for what was not sealed here for this list and this caller."""
        try:
            if len(cursor) > LONGEST_CURSOR or not cursor.isascii():
                raise ValueError
            raw = b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
            if _text(raw) != cursor:
                # One place is one text: not also one with bits at its end that nobody looks at.
                raise ValueError
            sealed = self._sealing.decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], of.encode())
        except (ValueError, InvalidTag) as error:
            raise InvalidFields(WrongField("cursor", "cursor must be a nextCursor of this list")) from error
        place: dict[str, Any] = msgspec.msgpack.decode(sealed)
        return place


def _text(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode().rstrip("=")


class View(Generic[T, V]):
    """What is seen of an item by nothing but the item and these values: `View(shown, caller.user_id)`.

    Two of the same function with the same values are equal, so what one saw of a page another need not make again.
    """

    __slots__ = ("_of", "_show")

    def __init__(self, show: Callable[..., V], *of: Hashable) -> None:
        self._show = show
        self._of = of

    def __call__(self, item: T) -> V:
        return self._show(item, *self._of)

    def __eq__(self, other: object) -> bool:
        return type(other) is View and self._show == other._show and self._of == other._of

    def __hash__(self) -> int:
        return hash((self._show, self._of))


class Part(msgspec.Struct, frozen=True):
    """Which part of a list is asked for, and by whom."""

    limit: int
    after: Mapping[str, Any] | None
    of: str
    cursors: Cursors

    def answer(self, page: Page[T], see: Callable[[T], V], position: str | None = None) -> Listed[V]:
        """The page as the caller may see it, with a cursor if there is more; by a View, written already."""
        return Listed(
            items=_written(page, see) if type(see) is View else [see(each) for each in page.items],
            next_cursor=None if page.next is None else self.cursors.seal(page.next, self.of),
            position=position,
        )


def _written(page: Page[T], see: View[T, V]) -> list[V]:
    """The items as JSON has them. The same page is given to many, and to each person again and again."""
    written = page.made_of_it.get(see)
    if written is None:
        if len(page.made_of_it) >= MOST_VIEWS:
            page.made_of_it.clear()
        written = page.made_of_it[see] = msgspec.Raw(encode([see(each) for each in page.items]))
    # To whatever encodes it, it is such a list.
    return cast("list[V]", written)
