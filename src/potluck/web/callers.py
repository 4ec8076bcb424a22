"""Who is calling, from what a request carries: a token, or the cookie of a browser that signed in."""

from datetime import timedelta
from typing import Any

from litestar import Request
from litestar.connection import ASGIConnection
from litestar.datastructures import Cookie

from potluck.people.authentication import Authenticator, Principal
from potluck.web.errors import CrossSite, NotSignedIn
from potluck.web.http.clients import Clients, values_of

__all__ = ["Door", "known"]

SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
BEARER = "bearer "
# A browser keeps a cookie with this name only if it came over https, for this host alone and for all of its paths.
SECURE_COOKIE = "__Host-potluck"
PLAIN_COOKIE = "potluck"
# As long as browsers keep any. When it is over, the session says, which is extended by every use; a cookie is not.
COOKIE_KEPT = timedelta(days=400)

Connection = ASGIConnection[Any, Any, Any, Any]


# Not a dataclass: Litestar takes those apart to look into each of their fields, whenever a handler is given one.
class Door:
    """Knows callers by what they carry."""

    def __init__(self, authenticator: Authenticator, clients: Clients) -> None:
        self.authenticator = authenticator
        self.clients = clients

    async def visitor(self, request: Request[Any, Any, Any]) -> Principal | None:
        """Who is calling, if anybody is known by what the request carries."""
        secret = self.secret(request)
        return None if secret is None else await self.authenticator.authenticate(secret)

    async def still(self, request: Request[Any, Any, Any], caller: Principal) -> bool:
        """Whether what an open stream was opened with still names the same person, with the same password."""
        now = await self.visitor(request)
        return now is not None and (now.hash, now.session_epoch) == (caller.hash, caller.session_epoch)

    def secret(self, connection: Connection) -> str | None:
        """The token, if one is given; else what the cookie holds."""
        given = values_of(connection.scope, b"authorization")
        if given:
            # Of two, a proxy and we might each take another for who is calling.
            named = len(given) == 1 and given[0][: len(BEARER)].lower() == BEARER
            return given[0][len(BEARER) :].strip() if named else ""
        return connection.cookies.get(self.cookie_name(connection))

    def cookie_name(self, connection: Connection) -> str:
        return SECURE_COOKIE if self.secure(connection) else PLAIN_COOKIE

    def secure(self, connection: Connection) -> bool:
        """Whether the person's browser has come over https."""
        return self.clients.scheme_of(connection.scope) == "https"

    def signed_in(self, connection: Connection, secret: str) -> Cookie:
        """The cookie by which a browser is known from now on, for as long as its session is used."""
        return self._cookie(connection, secret, int(COOKIE_KEPT.total_seconds()))

    def signed_out(self, connection: Connection) -> Cookie:
        """The cookie that takes the other away."""
        return self._cookie(connection, "", 0)

    def _cookie(self, connection: Connection, value: str, max_age: int) -> Cookie:
        return Cookie(
            key=self.cookie_name(connection),
            value=value,
            max_age=max_age,
            path="/",
            httponly=True,
            secure=self.secure(connection),
            samesite="lax",
        )

    def must_be_same_origin(self, connection: Connection) -> None:
        """CrossSite, if another site's page may have made a browser send this.

        A browser says where a request comes from, in one header or the other. A program with a token, or with nothing,
        says neither, and carries nothing that a browser would add by itself.
        """
        if connection.scope.get("method", "GET") in SAFE or "authorization" in connection.headers:
            return
        sites = connection.headers.getall("sec-fetch-site", ())
        origins = connection.headers.getall("origin", ())
        if sites:
            allowed = set(sites) == {"same-origin"}
        elif origins:
            allowed = set(origins) == {self.clients.origin_of(connection.scope)}
        else:
            allowed = not any(name in connection.cookies for name in (SECURE_COOKIE, PLAIN_COOKIE))
        if not allowed:
            raise CrossSite


def known(visitor: Principal | None) -> Principal:
    """Who is calling; NotSignedIn if nobody is known."""
    if visitor is None:
        raise NotSignedIn
    return visitor
