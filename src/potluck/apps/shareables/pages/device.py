"""What was created or opened in this browser, in a cookie for that person; and the list of it on the home page.

People who are not signed in share one list; each person who signs in has their own.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from potluck.apps.shareables.access import ShareMaker, ToShareable
from potluck.apps.shareables.entities import Shareable, ShareSession
from potluck.apps.shareables.fields import spelled, without_dashes
from potluck.apps.shareables.pages.frame import days_left
from potluck.apps.shareables.shareables import HOME
from potluck.web import SealedCookie

ANYONES_COOKIE = SealedCookie("potluck-share-opened", path=HOME)
OWN_COOKIE = SealedCookie("potluck-share-opened-own", path=HOME)
# With this many, the two cookies fit into the 8 KB that proxies allow for all cookies.
MOST_OPENED = 30
ID_LENGTH = 11


class OpenedHere(NamedTuple):
    """A shareable that was opened here."""

    short_id: str
    token_hash: str | None
    """The hash of the token it was opened with. The session's own cookie is not sent to the home page."""


class DeviceRow(NamedTuple):
    """A row of the list."""

    short_id: str
    poll: bool
    name: str
    """Empty if this browser may not see it now."""
    locked: bool
    """Whether it asks for a passcode first; then its name is not shown, nor whether it is open."""
    left: str
    """How long it stays open; empty if it has expired."""


def opened_here(at: ShareMaker) -> list[OpenedHere]:
    """What this person has opened in this browser, latest first."""
    return _read(at, _cookie(at))


def opened_before_sign_in(at: ShareMaker) -> list[OpenedHere]:
    """What was opened here without an account, by this person before they signed in, or by someone else."""
    return [] if at.principal is None else _read(at, ANYONES_COOKIE)


def listed_first(at: ShareMaker, short_id: str, token_hash: str | None) -> tuple[SealedCookie, str | None]:
    """The cookie with a shareable at the top of the list; None for its value if it is there already."""
    opened = opened_here(at)
    new = OpenedHere(short_id, token_hash)
    others = [entry for entry in opened if entry.short_id != short_id]
    return _cookie(at), None if opened[:1] == [new] else _written([new, *others])


def unlisted(at: ShareMaker, cookie: SealedCookie, short_ids: Collection[str]) -> str | None:
    """The value of this cookie without these shareables; None if none of them is in it."""
    opened = _read(at, cookie)
    rest = [entry for entry in opened if entry.short_id not in short_ids]
    return None if rest == opened else _written(rest)


def adopted(at: ShareMaker) -> str | None:
    """The person's own list, with what was opened here before they signed in; None if that is nothing."""
    before = opened_before_sign_in(at)
    own = opened_here(at)
    known = {entry.short_id for entry in own}
    return _written([*own, *(entry for entry in before if entry.short_id not in known)]) if before else None


async def listed_here(at: ShareMaker) -> tuple[list[DeviceRow], list[str]]:
    """The list, without what this person created while signed in; and the ids in it that no longer exist."""
    opened = opened_here(at)
    shareables: Any = [Shareable.one(entry.short_id) for entry in opened]
    sessions: Any = [ShareSession.one(id, hash) for id, hash in opened if hash is not None]
    rows = await at.store.get_many([*shareables, *sessions])
    session_rows = iter(rows[len(opened) :])
    listed, gone = [], []
    for entry, shareable in zip(opened, rows[: len(opened)], strict=True):
        session = None if entry.token_hash is None else next(session_rows)
        if shareable is None:
            gone.append(entry.short_id)
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


def _cookie(at: ShareMaker) -> SealedCookie:
    return ANYONES_COOKIE if at.principal is None else OWN_COOKIE


def _written(opened: Sequence[OpenedHere]) -> str:
    return " ".join(map(_as_text, opened[:MOST_OPENED]))


def _as_text(opened: OpenedHere) -> str:
    session = b"" if opened.token_hash is None else urlsafe_b64encode(bytes.fromhex(opened.token_hash))
    return without_dashes(opened.short_id) + session.decode().rstrip("=")


def _read(at: ShareMaker, cookie: SealedCookie) -> list[OpenedHere]:
    opened = []
    for text in cookie.value(at.visitor).split():
        letters, session = text[:ID_LENGTH], text[ID_LENGTH:]
        opened.append(OpenedHere(spelled(letters), urlsafe_b64decode(session + "=").hex() if session else None))
    return opened
