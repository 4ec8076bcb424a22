"""Cookies that forms and pages declare: each is named once, with the pages that it is sent to and how long it lasts.

    edit_key = SealedCookie("potluck-poll-vote", path="/polls/{poll_id}", days=400)

    @votes.form("/vote", on=ballot, then="/polls/{poll_id}/thanks", sets={edit_key: "edit_key"})
    async def cast_by_form(at: Voter, new: NewVote) -> Writes[VoteCast]: ...

A form sets one from a field of the answer, or from a function of the access and the answer; None leaves it as it was.
The rule of a page sets one with `show.set(edit_key, value)`. An access reads it with `edit_key.value(self.visitor)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from potluck.people.sessions import OpenedSession
from potluck.web.http.responses import Cookie
from potluck.web.http.sealed_cookies import SealedCookies
from potluck.web.redirects import PATH_PARAMETER, address_after, must_be_there

if TYPE_CHECKING:
    from potluck.web.access import Visitor


class BrowserCookie(Protocol):
    """What a form may set or drop."""

    @property
    def path(self) -> str:
        """Where browsers send it, with path parameters in braces."""

    def set(self, cookies: SealedCookies, value: Any, path: str) -> Sequence[Cookie]:
        """The cookies that hold this value."""

    def drop(self, cookies: SealedCookies, path: str) -> Sequence[Cookie]:
        """The cookies that delete it."""


Sets = Mapping[BrowserCookie, str | Callable[[Any, Any], Any]]
"""What a form sets: each cookie from the field of this name in the answer, or from a function of access and answer."""


@dataclass(frozen=True, slots=True)
class SealedCookie:
    """A text that a browser holds for the person who uses it now: encrypted, and of no use to anyone else."""

    name: str
    path: str = "/"
    days: float = 400  # Browsers keep no cookie longer.
    shown: bool = False
    """Whether a page shows what it holds. One that has read it is neither compressed nor saved for offline."""

    def value(self, visitor: Visitor) -> str:
        """What the browser holds for this person; empty without it, and for a program."""
        text = visitor.cookie(self.name)
        if self.shown and text:
            visitor.shows_secret = True
        return text

    def set(self, cookies: SealedCookies, value: str, path: str) -> Sequence[Cookie]:
        return cookies.keep(self.name, value, int(timedelta(days=self.days).total_seconds()), path)

    def drop(self, cookies: SealedCookies, path: str) -> Sequence[Cookie]:
        return cookies.keep(self.name, "", 0, path)


class _SessionCookie:
    path = "/"

    def set(self, cookies: SealedCookies, value: OpenedSession, path: str) -> Sequence[Cookie]:
        return cookies.begin_session(value.secret, value.user_id)

    def drop(self, cookies: SealedCookies, path: str) -> Sequence[Cookie]:
        return cookies.end_session()


SESSION: BrowserCookie = _SessionCookie()
"""The session of a browser, set from an OpenedSession; what it held for an anonymous visitor becomes that person's."""


def cookies_after(
    sets: Sets, drops: Sequence[BrowserCookie], cookies: SealedCookies, at: Any, answer: Any, ids: Mapping[str, Any]
) -> Iterator[Cookie]:
    """The cookies of a form with this answer."""
    for cookie, source in sets.items():
        value = source(at, answer) if callable(source) else getattr(answer, source)
        if value is not None:
            yield from cookie.set(cookies, value, _path(cookie, answer, ids))
    for cookie in drops:
        yield from cookie.drop(cookies, _path(cookie, answer, ids))


def _path(cookie: BrowserCookie, answer: Any, ids: Mapping[str, Any]) -> str:
    """Where browsers send the cookie: to what the answer is about, which a copy of the thing in the path may be."""
    named = {name: getattr(answer, name) for name in PATH_PARAMETER.findall(cookie.path) if hasattr(answer, name)}
    return address_after(cookie.path, None, {**ids, **named})


def must_be_settable(
    rule: str, sets: Sets, drops: Sequence[BrowserCookie], parameters: Sequence[str], answer: Any
) -> None:
    """A DeclarationError unless each path names parameters or fields, and each value is in every answer."""
    for cookie in (*sets, *drops):
        must_be_there(rule, cookie.path, parameters, answer, "the path of a cookie")
    for source in sets.values():
        if isinstance(source, str):
            must_be_there(rule, f"/{{{source}}}", (), answer, "sets")
