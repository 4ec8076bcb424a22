"""What was made or opened in this browser, in a cookie for the person who did; and the list of it on the home page.

Two people are never mixed up: those who are not signed in share one list, and everyone who signs in has their own.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Any, NamedTuple

from potluck.apps.shareables.access import ToShareable
from potluck.apps.shareables.entities import Shareable, ShareSession
from potluck.apps.shareables.fields import spelled, without_dashes
from potluck.apps.shareables.pages.frame import days_left
from potluck.apps.shareables.shareables import HOME
from potluck.web import Call, Cookie, Visitor, read_together

ANYONES_COOKIE = "potluck-share-opened"
OWN_COOKIE = "potluck-share-opened-own"
# Together the two cookies fit into the 8 KB that proxies allow all of them.
MOST_OPENED = 30
# Browsers keep no cookie longer than 400 days.
KEPT_SECONDS = 400 * 24 * 3600
ID_LENGTH = 11


class Opened(NamedTuple):
    """A shareable that was opened here."""

    short_id: str
    token_hash: str | None
    """Of the session it was opened with. The session's own cookie is not sent to the home page."""


class Listed(NamedTuple):
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


def keep_opened(call: Call, short_id: str, token_hash: str | None) -> Sequence[Cookie]:
    """The cookies that put a shareable at the top of the list; none if it is there already."""
    opened = opened_here(call.visitor)
    new = Opened(short_id, token_hash)
    if opened[:1] == [new]:
        return ()
    return _kept(call, _cookie(call.visitor), [new, *(each for each in opened if each.short_id != short_id)])


def forget_opened(call: Call, *short_ids: str) -> list[Cookie]:
    """The cookies that take shareables off the list."""
    cookies: list[Cookie] = []
    for name in {_cookie(call.visitor), ANYONES_COOKIE}:
        opened = _read(call.visitor, name)
        rest = [each for each in opened if each.short_id not in short_ids]
        if rest != opened:
            cookies += _kept(call, name, rest)
    return cookies


def adopt_opened(call: Call) -> list[Cookie]:
    """The cookies that add what was opened here before this person signed in to their own list."""
    before = opened_before_sign_in(call.visitor)
    if not before:
        return []
    own = opened_here(call.visitor)
    known = {each.short_id for each in own}
    together = [*own, *(each for each in before if each.short_id not in known)]
    return [*_kept(call, OWN_COOKIE, together), *call.drop(ANYONES_COOKIE, HOME)]


async def listed_here(call: Call) -> tuple[list[Listed], list[Cookie]]:
    """The list, without what this person made signed in; and the cookies that drop from it what no longer exists."""
    opened = opened_here(call.visitor)
    shareables: Any = [Shareable.one(each.short_id) for each in opened]
    sessions: Any = [ShareSession.one(id, hash) for id, hash in opened if hash is not None]
    rows = await read_together(call.core.store, [*shareables, *sessions]) if opened else []
    session_rows = iter(rows[len(opened) :])
    listed, gone = [], []
    for each, shareable in zip(opened, rows[: len(opened)], strict=True):
        session = None if each.token_hash is None else next(session_rows)
        if shareable is None:
            gone.append(each.short_id)
        elif call.principal is None or shareable.creator_id != call.principal.user_id:
            listed.append(await _listed(call, shareable, session))
    return listed, forget_opened(call, *gone) if gone else []


async def _listed(call: Call, shareable: Shareable, session: ShareSession | None) -> Listed:
    at = ToShareable(call.core, call.context, call.visitor, {"short_id": shareable.short_id})
    await at.admit(shareable, session)
    expired = shareable.expired(at.now)
    shown = at.role == "admin" or (at.role == "view" and not expired)
    return Listed(
        short_id=shareable.short_id,
        poll=shareable.entity == "poll",
        name=shareable.name if shown else "",
        locked=at.role is None,
        left="" if expired else days_left(shareable.expires_at, at.now),
    )


# --- the cookies ------------------------------------------------------------------------------------------------------


def _cookie(visitor: Visitor) -> str:
    return ANYONES_COOKIE if visitor.principal is None else OWN_COOKIE


def _kept(call: Call, name: str, opened: Sequence[Opened]) -> Sequence[Cookie]:
    return call.keep(name, " ".join(map(_written, opened[:MOST_OPENED])), KEPT_SECONDS, HOME)


def _written(opened: Opened) -> str:
    session = b"" if opened.token_hash is None else urlsafe_b64encode(bytes.fromhex(opened.token_hash))
    return without_dashes(opened.short_id) + session.decode().rstrip("=")


def _read(visitor: Visitor, name: str) -> list[Opened]:
    found = []
    for text in (visitor.cookie(name) or "").split():
        letters, session = text[:ID_LENGTH], text[ID_LENGTH:]
        found.append(Opened(spelled(letters), urlsafe_b64decode(session + "=").hex() if session else None))
    return found
