"""The JSON answers of reads and lists, cached whole: under which key, and how an endpoint finds them again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import msgspec
from starlette.requests import Request
from starlette.types import ASGIApp

from potluck.store import Store
from potluck.store.row_cache import NEVER
from potluck.web.access import Access, Visitor
from potluck.web.http.authentication import Authentication, Credential
from potluck.web.http.clients import header_value
from potluck.web.http.compression import BY_CODING, CODINGS, SMALLEST, Coding
from potluck.web.http.responses import JsonResponse, WholeResponse, not_modified
from potluck.web.requests import headers_of
from potluck.web.versions import matching_tag


class CacheKey(msgspec.Struct, frozen=True):
    """The cache key of an answer: all it depends on besides the store: address, credential, headers that decide access.

    The person behind a credential is read from the store with the rest of the answer, and becomes outdated with it. So
    a cached answer is found by one look-up, without authenticating the caller first.
    """

    path: str
    query: bytes
    credential: Credential | None
    headers: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, request: Request, authentication: Authentication, access: type[Access]) -> CacheKey:
        scope = request.scope
        credential = None if access.anonymous else authentication.credential(request)
        headers = tuple(headers_of(request, access).items()) if access.headers else ()
        return cls(scope["path"], scope["query_string"], credential, headers)

    def cached_bytes(self, visitor: Visitor, body: bytes) -> int | None:
        """The size of the key and the answer together; None if the answer may not be cached.

        That is one that depends on the client, or one to an invalid credential, since those can be made up without
        end. The key counts, because an address or a header can be made far longer than the answer.
        """
        if visitor.uses_client or (visitor.principal is None and self.credential is not None):
            return None
        # The compressed forms are kept too; each is at most as long as the body.
        forms = 1 if len(body) < SMALLEST else 1 + len(CODINGS)
        return len(self.path) + len(self.query) + sum(len(value) for _, value in self.headers) + forms * len(body)


class Tagged(JsonResponse):
    """A JSON answer with an ETag, which a caller may have already; its compressed forms are kept with it."""

    __slots__ = ("encodings", "tag")

    def __init__(self, tag: str, body: bytes) -> None:
        super().__init__(body, 200, {"etag": tag})
        if len(body) >= SMALLEST:
            self.headers.append(BY_CODING)
        self.tag = tag
        self.encodings: dict[Coding, WholeResponse] = {}


Work = Callable[[Request, CacheKey], Awaitable[tuple[ASGIApp, int | None]]]
"""Works an answer out, and says how many bytes it takes in the cache; None if it may not be cached."""


class CachedEndpoint:
    """The endpoint of a read or a list: answers from the cache, or works the answer out."""

    def __init__(
        self,
        store: Store,
        authentication: Authentication,
        access: type[Access],
        work: Work,
        seconds: float = NEVER,
    ) -> None:
        """`seconds` is how long an answer may be cached, even if nothing is written."""
        self._store = store
        self._authentication = authentication
        self._access = access
        self._work = work
        self._seconds = seconds

    async def __call__(self, request: Request) -> ASGIApp:
        key = CacheKey.of(request, self._authentication, self._access)
        response = await self._store.cache_answer(key, partial(self._work, request, key), self._seconds)
        # Most requests have no If-None-Match.
        if header_value(request.scope, b"if-none-match") is None or not isinstance(response, Tagged):
            return response
        held = matching_tag(request, response.tag)
        return response if held is None else not_modified(held)

    def cached(self, request: Request) -> Tagged | None:
        """The answer, if it is in the cache and the caller asks for all of it."""
        if header_value(request.scope, b"if-none-match") is not None:
            return None
        response: Tagged | None = self._store.cached_answer(CacheKey.of(request, self._authentication, self._access))
        return response
