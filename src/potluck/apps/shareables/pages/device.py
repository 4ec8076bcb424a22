"""What was made or opened in this browser, in a cookie for the person who did; and the list of it on the home page.

Two people are never mixed up: those who are not signed in share one list, and everyone who signs in has their own.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from potluck.apps.shareables.access import ShareMaker, ToShareable
from potluck.apps.shareables.entities import Shareable, ShareSession
from potluck.apps.shareables.fields import spelled, without_dashes
from potluck.apps.shareables.pages.frame import days_left
from potluck.apps.shareables.shareables import HOME
from potluck.web import SealedCookie, Visitor, read_together

ANYONES_COOKIE = SealedCookie("potluck-share-opened", path=HOME)
OWN_COOKIE = SealedCookie("potluck-share-opened-own", path=HOME)
# Together the two cookies fit into the 8 KB that proxies allow all of them.
MOST_OPENED = 30
ID_LENGTH = 11


class Opened(NamedTuple):
    """A shareable that was opened here."""

    short_id: str
    token_hash: str | None
    """Of the session it was opened with. The session's own cookie is not sent to the home page."""


class DeviceRow(NamedTuple):
    """A row of the list."""

    short_id: str
    poll: bool
    name: str
    """Empty if this browser may not see it now."""
    locked: bool
    """Whether it asks for a passcode first; then neither its name is shown nor whether it is open."""
    left: str
    """How long it stays open; empty if it has expired."""


def opened_here(visitor: Visitor) -> list[Opened]:
    """What this person has opened in this browser, latest first."""
    return _read(visitor, _cookie(visitor))


def opened_before_sign_in(visitor: Visitor) -> list[Opened]:
    """What was opened here without an account before this person signed in. It may be theirs, or someone else's."""
    return [] if visitor.principal is None else _read(visitor, ANYONES_COOKIE)


def listed_first(visitor: Visitor, short_id: str, token_hash: str | None) -> tuple[SealedCookie, str | None]:
    """The cookie with a shareable at the top of the list; None for its value if it is there already."""
    opened = opened_here(visitor)
    new = Opened(short_id, token_hash)
    others = [each for each in opened if each.short_id != short_id]
    return _cookie(visitor), None if opened[:1] == [new] else _written([new, *others])


def unlisted(visitor: Visitor, cookie: SealedCookie, short_ids: Collection[str]) -> str | None:
    """The value of this cookie without these shareables; None if it has none of them."""
    opened = _read(visitor, cookie)
    rest = [each for each in opened if each.short_id not in short_ids]
    return None if rest == opened else _written(rest)


def adopted(visitor: Visitor) -> str | None:
    """The person's own list, with what was opened here before they signed in; None if nothing was."""
    before = opened_before_sign_in(visitor)
    own = opened_here(visitor)
    known = {each.short_id for each in own}
    return _written([*own, *(each for each in before if each.short_id not in known)]) if before else None


async def listed_here(at: ShareMaker) -> tuple[list[DeviceRow], list[str]]:
    """The list, without what this person made signed in; and the ids in it that no longer exist."""
    opened = opened_here(at.visitor)
    shareables: Any = [Shareable.one(each.short_id) for each in opened]
    sessions: Any = [ShareSession.one(id, hash) for id, hash in opened if hash is not None]
    rows = await read_together(at.store, [*shareables, *sessions]) if opened else []
    session_rows = iter(rows[len(opened) :])
    listed, gone = [], []
    for each, shareable in zip(opened, rows[: len(opened)], strict=True):
        session = None if each.token_hash is None else next(session_rows)
        if shareable is None:
            gone.append(each.short_id)
        elif at.principal is None or shareable.creator_id != at.principal.user_id:
            listed.append(await _listed(at, shareable, session))
    return listed, gone


async def _listed(caller: ShareMaker, shareable: Shareable, session: ShareSession | None) -> DeviceRow:
    at = ToShareable(caller.core, caller.context, caller.visitor, {"short_id": shareable.short_id})
    await at.admit(shareable, session)
    expired = shareable.expired(at.now)
    shown = at.role == "admin" or (at.role == "view" and not expired)
    return DeviceRow(
        short_id=shareable.short_id,
        poll=shareable.entity == "poll",
        name=shareable.name if shown else "",
        locked=at.role is None,
        left="" if expired else days_left(shareable.expires_at, at.now),
    )


# --- the cookies ------------------------------------------------------------------------------------------------------


def _cookie(visitor: Visitor) -> SealedCookie:
    return ANYONES_COOKIE if visitor.principal is None else OWN_COOKIE


def _written(opened: Sequence[Opened]) -> str:
    return " ".join(map(_as_text, opened[:MOST_OPENED]))


def _as_text(opened: Opened) -> str:
    session = b"" if opened.token_hash is None else urlsafe_b64encode(bytes.fromhex(opened.token_hash))
    return without_dashes(opened.short_id) + session.decode().rstrip("=")


def _read(visitor: Visitor, cookie: SealedCookie) -> list[Opened]:
    opened = []
    for text in cookie.value(visitor).split():
        letters, session = text[:ID_LENGTH], text[ID_LENGTH:]
        opened.append(Opened(spelled(letters), urlsafe_b64decode(session + "=").hex() if session else None))
    return opened
