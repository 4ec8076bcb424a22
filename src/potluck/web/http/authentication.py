"""Who is calling, from what a request carries: a token, or the cookie of a browser that signed in."""

from __future__ import annotations

import re
from hashlib import sha256

from starlette.requests import HTTPConnection

from potluck.people.authentication import Authenticator, Principal
from potluck.people.secrets import hash_of
from potluck.web.errors import CrossSite
from potluck.web.http.clients import Clients, header_value, header_values
from potluck.web.http.responses import Cookie
from potluck.web.http.sealed_cookies import FLASH, SealedCookies, session_cookie, session_cookie_name
from potluck.web.sealing import Seal

SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
BEARER = "bearer "
TOKEN = re.compile(r"bearer +[\w.~+/-]+=* *", re.IGNORECASE | re.ASCII)
OUR_COOKIES = (session_cookie_name(secure=True), session_cookie_name(secure=False))

Credential = str | bytes
"""The credentials of a request, hashed because they are kept: str for a cookie, bytes for a token."""


def by_cookie(request: HTTPConnection) -> bool:
    """Whether the caller is a browser, authenticated by its cookie; a program sends a token, or nothing."""
    return header_value(request.scope, b"authorization") is None


class Authentication:
    """Finds the principal by the credentials that a request carries."""

    def __init__(self, authenticator: Authenticator, clients: Clients, cookie_key: bytes) -> None:
        """`cookie_key` encrypts the cookies that browsers keep for people."""
        self.authenticator = authenticator
        self.clients = clients
        self._cookie_seal = Seal(cookie_key)

    async def principal(self, request: HTTPConnection) -> Principal | None:
        """The principal behind the request's credentials; None without valid ones."""
        secret = self.secret(request)
        return None if secret is None else await self.authenticator.authenticate(secret)

    async def still(self, request: HTTPConnection, principal: Principal) -> bool:
        """Whether the credentials of an open stream still identify the same principal, in the same session epoch."""
        now = await self.principal(request)
        return now is not None and (now.hash, now.session_epoch) == (principal.hash, principal.session_epoch)

    def secret(self, request: HTTPConnection) -> str | None:
        """The bearer token if there is an Authorization header, else the value of the session cookie."""
        headers = header_values(request.scope, b"authorization")
        if headers:
            # Of two headers, a proxy and we might each trust a different one.
            named = len(headers) == 1 and headers[0][: len(BEARER)].lower() == BEARER
            return headers[0][len(BEARER) :].strip() if named else ""
        return request.cookies.get(self.cookie_name(request))

    def credential(self, request: HTTPConnection) -> Credential | None:
        """A hash of the caller's credentials, without looking up the account; None if they send none.

        Two callers share one only if they are the same to `principal`, and both a browser or both a program.
        """
        # Every read comes through here, so what a program sends is hashed unparsed.
        headers = [value for name, value in request.scope["headers"] if name == b"authorization"]
        if headers:
            return sha256(b"\n".join(headers)).digest()
        secret = request.cookies.get(self.cookie_name(request))
        return None if secret is None else hash_of(secret)

    def cookie_name(self, request: HTTPConnection) -> str:
        return session_cookie_name(self.secure(request))

    def secure(self, request: HTTPConnection) -> bool:
        """Whether the browser is using https."""
        return self.clients.scheme_of(request.scope) == "https"

    def signed_in(self, request: HTTPConnection, secret: str) -> Cookie:
        """The cookie that keeps a browser signed in, for as long as its session is used."""
        return session_cookie(secret, secure=self.secure(request))

    def sealed_cookies(self, request: HTTPConnection, principal: Principal | None) -> SealedCookies:
        """What this browser keeps for the caller."""
        user_id = None if principal is None else principal.user_id
        return SealedCookies(self._cookie_seal, request.cookies, secure=self.secure(request), user_id=user_id)

    def must_be_same_origin(self, request: HTTPConnection) -> None:
        """CrossSite if another site's page may have made a browser send this (CSRF).

        A browser states where a request comes from, in Sec-Fetch-Site or Origin. A program with a token, or with
        nothing, sends neither, nor what a browser would add by itself: a cookie of ours.
        """
        if request.scope.get("method", "GET") in SAFE:
            return
        has_cookies = header_value(request.scope, b"cookie") is not None
        carries_cookie = has_cookies and any(name.startswith(OUR_COOKIES) and name != FLASH for name in request.cookies)
        headers = header_values(request.scope, b"authorization")
        if not carries_cookie and len(headers) == 1 and TOKEN.fullmatch(headers[0]):
            return
        sites = request.headers.getlist("sec-fetch-site")
        origins = request.headers.getlist("origin")
        if sites:
            allowed = set(sites) == {"same-origin"}
        elif origins:
            allowed = set(origins) == {self.clients.origin_of(request.scope)}
        else:
            allowed = not carries_cookie
        if not allowed:
            raise CrossSite
