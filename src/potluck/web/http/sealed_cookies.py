"""Encrypted cookies for the person who uses a browser: the key of a vote, a pending invitation.

Several people may use one browser, one after the other, so each cookie opens only for the person it was given to. One
set for a person who is signed in belongs to their account. One set for an anonymous visitor belongs to the browser's
number, which is in another cookie; a person who signs in takes that number over, and everything it opens is theirs from
then on. So nothing has to be deleted when people sign out, nor when a session expires or is ended elsewhere, which no
response of ours would reach.

They are encrypted because anyone at the device can read its cookies, and a key found there would work elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from uuid import UUID

from potluck.web.http.responses import Cookie
from potluck.web.sealing import NotSealed, Seal

# How cookies of ours are recognised.
PREFIX = "potluck"
# It is only a message, and grants nothing.
FLASH = f"{PREFIX}-flash"
NUMBER_BYTES = 16
NUMBER = "browser number"
# As long as browsers keep any cookie. A session says itself when it is over: use extends it, but not its cookie.
LONGEST = timedelta(days=400)
# A browser keeps a cookie with this name only if it came over https, for this host alone and for all of its paths.
SECURE_COOKIE = f"__Host-{PREFIX}"


def session_cookie_name(secure: bool) -> str:
    return SECURE_COOKIE if secure else PREFIX


def session_cookie(secret: str, *, secure: bool) -> Cookie:
    """The cookie that holds a session's secret; with an empty secret, the one that deletes it."""
    lasts = int(LONGEST.total_seconds()) if secret else 0
    return Cookie(name=session_cookie_name(secure), value=secret, max_age=lasts, secure=secure)


class SealedCookies:
    """What one browser keeps for its current user."""

    def __init__(self, seal: Seal, cookies: Mapping[str, str], *, secure: bool, user_id: UUID | None) -> None:
        self._seal = seal
        self._cookies = cookies
        self._number_cookie = f"{session_cookie_name(secure)}-browser"
        self._secure = secure
        self._user_id = user_id
        self._number: str | None = None

    def get(self, name: str) -> str:
        """What is kept under this name for the current user; empty if there is nothing."""
        sealed = self._cookies.get(name)
        if sealed is None:
            return ""
        own = "" if self._user_id is None else self._opened(sealed, name, str(self._user_id))
        return own or self._opened(sealed, name, self._number_here())

    def keep(self, name: str, value: str, max_age: int, path: str = "/") -> tuple[Cookie, ...]:
        """The cookies that keep this for the current user; an empty value deletes what there was."""
        assert name.startswith(PREFIX), name
        if not value:
            return (Cookie(name=name, value="", max_age=0, path=path, secure=self._secure),)
        if self._user_id is not None:
            return (self._kept(name, value, max_age, path, str(self._user_id)),)
        self._number = self._number_here() or os.urandom(NUMBER_BYTES).hex()
        # The number is set again each time, so that it lasts as long as what it opens.
        return self._numbered(), self._kept(name, value, max_age, path, self._number)

    def note(self, name: str, value: str, max_age: int) -> Cookie:
        """A cookie for the next page alone: of this account, or of any anonymous visitor, who gets no number for it."""
        if not value:
            return Cookie(name=name, value="", max_age=0, secure=self._secure)
        return self._kept(name, value, max_age, "/", str(self._user_id))

    def noted(self, name: str) -> str:
        """What the page before noted under this name; empty if there is nothing."""
        return self._opened(self._cookies.get(name, ""), name, str(self._user_id))

    def begin_session(self, secret: str, user_id: UUID) -> tuple[Cookie, ...]:
        """The cookies that begin a session; what this browser held for an anonymous visitor becomes this person's."""
        return session_cookie(secret, secure=self._secure), *self.signed_in(user_id)

    def end_session(self) -> tuple[Cookie, ...]:
        """The cookie that ends the session in this browser; what it is given from now on is an anonymous visitor's."""
        if self._user_id is not None:
            self._user_id, self._number = None, ""
        return (session_cookie("", secure=self._secure),)

    def signed_in(self, user_id: UUID) -> tuple[Cookie, ...]:
        """The cookies that pass an anonymous visitor's cookies on to this person, but no other person's."""
        self._number = self._number_here() if self._user_id is None else ""
        self._user_id = user_id
        return (self._numbered(),) if self._number else ()

    def forgotten(self) -> tuple[Cookie, ...]:
        """The cookies that lock whatever anonymous visitors were given in this browser, under any path."""
        self._number = ""
        return (Cookie(name=self._number_cookie, value="", max_age=0, secure=self._secure),)

    def _number_here(self) -> str:
        """The browser's number, if it is theirs."""
        if self._number is None:
            self._number = self._opened(self._cookies.get(self._number_cookie, ""), NUMBER, str(self._user_id))
        return self._number

    def _numbered(self) -> Cookie:
        max_age = int(LONGEST.total_seconds())
        sealed = self._seal.seal((self._number or "").encode(), f"{NUMBER} {self._user_id}")
        return Cookie(name=self._number_cookie, value=sealed, max_age=max_age, secure=self._secure)

    def _kept(self, name: str, value: str, max_age: int, path: str, owner: str) -> Cookie:
        sealed = self._seal.seal(value.encode(), f"{name} {owner}")
        return Cookie(name=name, value=sealed, max_age=max_age, path=path, secure=self._secure)

    def _opened(self, sealed: str, name: str, owner: str) -> str:
        if not sealed:
            return ""
        try:
            return self._seal.unseal(sealed, f"{name} {owner}").decode()
        except NotSealed:
            return ""
