"""The JSON endpoints: one under /api/v1 for every declared action, read and list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from potluck.people.idempotency import StoredAnswer
from potluck.table import Query
from potluck.validation import decode, decode_query
from potluck.validation.decoding import NOT_JSON
from potluck.validation.encoding import encode
from potluck.validation.errors import BodyNotJson, FieldError, ValidationError
from potluck.validation.field_types import Text
from potluck.web.access import Access, Visitor
from potluck.web.actions import Actions
from potluck.web.cached_answers import CachedEndpoint, CacheKey, Tagged
from potluck.web.commits import show, tag
from potluck.web.declarations import Action, Declared, Listing, Read
from potluck.web.http.authentication import Authentication
from potluck.web.http.responses import JsonResponse, not_modified
from potluck.web.http.router import Endpoint, Router
from potluck.web.inputs import UNSET, Input
from potluck.web.large_bodies import decoded
from potluck.web.live.event_stream import EventStreamResponse
from potluck.web.live.events import CurrentView
from potluck.web.live.positions import LONGEST_POSITION
from potluck.web.pagination import LONGEST_PAGE, OwnPages, PageRequest, References, list_input
from potluck.web.refused_values import named_by_field
from potluck.web.requests import (
    LARGEST_BODY,
    Ids,
    body_of,
    idempotency_key,
    must_be_json,
    visitor_of,
)
from potluck.web.runner import Runner, Sent
from potluck.web.updates import MaybeSince
from potluck.web.versions import etag_at, expected_version, if_match_version, matches_etag, tag_of

if TYPE_CHECKING:
    from potluck.web.app import Core

API = "/api/v1"
# A list carries the position that live updates resume from, which must not grow old in the cache.
LISTS_CACHED_SECONDS = 600.0


class NoQuery(Input):
    """A call that takes no query parameters."""


class Since(Input):
    since: Annotated[str, Text(0, LONGEST_POSITION, kind="raw", trim=False)]


class Api:
    """Serves the API that the subjects of one app declare."""

    def __init__(self, runner: Runner, authentication: Authentication, request_key: bytes) -> None:
        self._runner = runner
        self._core = runner.core
        self._authentication = authentication
        self._request_key = request_key

    def add_to(self, router: Router, subjects: Sequence[Actions[Any]]) -> None:
        for subject in subjects:
            for declared in subject.declared:
                if declared.path is not None:
                    for method, path, endpoint in self._endpoints(declared):
                        router.add(method, API + path, endpoint)

    def _endpoints(self, declared: Declared) -> Iterator[tuple[str, str, Endpoint]]:
        assert declared.path is not None
        if isinstance(declared, Action):
            yield declared.method, declared.path, self.action(declared)
        elif isinstance(declared, Read):
            yield "GET", declared.path, self.read(declared)
        elif isinstance(declared, Listing):
            yield "GET", declared.path, self.list(declared)
            if declared.live is not None:
                yield "GET", f"{declared.path}/events", self.events(declared)
                yield "GET", f"{declared.path}/changes", self.changes(declared)

    # --- writing ------------------------------------------------------------------------------------------------------

    def action(self, action: Action) -> Endpoint:
        ids_of = Ids(action.parameters)
        kind = action.input
        in_query, versioned, takes_if_match = action.input_in_query, action.versioned, action.takes_if_match

        async def answer(request: Request) -> ASGIApp:
            ids = ids_of(request)
            if not in_query:
                _no_query(request)
            visitor = await visitor_of(request, self._authentication, action.access)
            body = await body_of(request, action.largest_body or LARGEST_BODY)

            async def sent() -> Sent:
                value: Input | None = None
                if kind is not None and in_query:
                    if body:
                        raise ValidationError(FieldError("body", "A DELETE has none: its parameters go after the “?”"))
                    value = decode_query(kind, request.query_params.multi_items(), strict=True)
                elif kind is not None and (body or not action.input_optional):
                    if not body:
                        raise BodyNotJson(NOT_JSON)
                    must_be_json(request)
                    value = await decoded(partial(decode, kind), body)
                elif kind is not None:
                    value = kind()
                if versioned:
                    return Sent(value, expected_version(request, value.version))  # type: ignore[union-attr]
                return Sent(value, if_match_version(request) if takes_if_match else None)

            key = None
            # A caller who has to sign in first gets a 401, before their Idempotency-Key is validated.
            if action.idempotent and not (action.access.needs_principal and visitor.principal is None):
                headers = action.access.headers
                key = idempotency_key(request, visitor.principal, body, self._request_key, headers)
            done = await self._runner.perform(action, visitor, ids, sent, key)
            return _response(done.response)

        return answer

    # --- reading ------------------------------------------------------------------------------------------------------

    def read(self, read: Read) -> Endpoint:
        ids_of = Ids(read.parameters)
        query = read.input or NoQuery

        async def work(request: Request, key: CacheKey) -> tuple[ASGIApp, int | None]:
            visitor = await visitor_of(request, self._authentication, read.access)
            ids = _ids(ids_of, request, query)
            at, thing = await self._runner.admit(read, visitor, ids)
            filters = decode_query(query, request.query_params.multi_items(), strict=True)
            arguments = [
                argument for argument in (thing, None if read.input is None else filters) if argument is not None
            ]
            with named_by_field(read, None if read.input is None else filters):
                answer = await read.rule(at, *arguments)
            if isinstance(answer, Response):
                return _tagged_file(request, answer) if read.tagged else answer, None
            body = encode(await show(read, at, answer))
            if not read.tagged:
                return JsonResponse(body), None
            of_entity = type(answer) in read.subject.entities
            tagged = tag(read, answer, body) if of_entity else tag_of(body)
            if of_entity and not tagged.startswith("W/") and read.subject.view_for(type(at)).lookup is not None:
                # Computed fields may change as time passes, while the version stays.
                tagged = etag_at(tagged, body)
            return Tagged(tagged, body), key.cached_bytes(visitor, body)

        return CachedEndpoint(self._core.store, self._authentication, read.access, work)

    def list(self, listing: Listing) -> Endpoint:
        ids_of = Ids(listing.parameters)
        kind = list_input(listing.input)

        async def work(request: Request, key: CacheKey) -> tuple[ASGIApp, int | None]:
            visitor = await visitor_of(request, self._authentication, listing.access)
            ids = _ids(ids_of, request, kind)
            at, _ = await self._runner.admit(listing, visitor, ids)
            parameters = decode_query(kind, request.query_params.multi_items(), strict=True)
            page = PageRequest.read(
                request.scope["path"], request.query_params, visitor, parameters, self._core.cursors
            )
            filters = () if listing.input is None else (kind.filter_of(parameters),)
            with named_by_field(listing, filters[0] if filters else None):
                items, following, extra, position = await read_page(self._core, listing, at, filters, page)
            encoded = encode(items)
            tagged = tag_of(encoded + encode(extra) + (b"" if following is None else b"more"))
            cursor = page.cursor(following)
            body = encode({"items": msgspec.Raw(encoded), **extra, "nextCursor": cursor, "position": position})
            return Tagged(tagged, body), key.cached_bytes(visitor, body)

        return CachedEndpoint(self._core.store, self._authentication, listing.access, work, LISTS_CACHED_SECONDS)

    # --- live updates -------------------------------------------------------------------------------------------------

    def events(self, listing: Listing) -> Endpoint:
        ids_of = Ids(listing.parameters)

        async def answer(request: Request) -> ASGIApp:
            ids = ids_of(request)
            visitor = await visitor_of(request, self._authentication, listing.access)
            at, _ = await self._runner.admit(listing, visitor, ids)
            since = decode_query(MaybeSince, request.query_params.multi_items(), strict=True).since
            return await self.stream(listing, visitor, ids, at, None if since is UNSET else since)

        return answer

    async def stream(
        self,
        listing: Listing,
        visitor: Visitor,
        ids: dict[str, Any],
        at: Access,
        since: str | None,
        **options: Any,
    ) -> ASGIApp:
        """The changes of a list as they happen, for as long as the caller is admitted."""
        assert listing.live is not None

        async def allowed() -> bool:
            nonlocal at
            if not await visitor.still():
                return False
            at, _ = await self._runner.admit(listing, visitor, ids, again=True)
            return True

        source = self._core.live.open(
            since,
            visitor.last_event_id,
            of=listing.live(at),
            see=self._see(listing, lambda: at),
            allowed=allowed,
            by=visitor.listening,
            grant=at.grant(),
            caller=at.follower,
            **options,
        )
        return EventStreamResponse(source)

    def changes(self, listing: Listing) -> Endpoint:
        ids_of = Ids(listing.parameters)

        async def answer(request: Request) -> ASGIApp:
            assert listing.live is not None
            ids = ids_of(request)
            visitor = await visitor_of(request, self._authentication, listing.access)
            at, _ = await self._runner.admit(listing, visitor, ids)
            parameters = decode_query(Since, request.query_params.multi_items(), strict=True)
            changes = await self._core.live.changes(
                parameters.since,
                of=listing.live(at),
                see=self._see(listing, lambda: at),
                grant=at.grant(),
                caller=at.follower,
            )
            if changes.reset:
                # A reset tells them to read the list again from this position, so they must still be admitted.
                await self._runner.admit(listing, visitor, ids, again=True)
            return JsonResponse(encode(changes))

        return answer

    def _see(self, listing: Listing, caller: Callable[[], Access]) -> Any:
        """How an event is shown to the caller, by their latest admission."""
        plan = listing.subject.view_for(type(caller()))

        def see_alone(item: Any) -> Any:
            return plan.show(item) if caller().sees(item) else None

        async def see(item: Any) -> Any:
            at = caller()
            return (await plan.show_many(at, [item]))[0] if at.sees(item) else None

        shown = see_alone if plan.lookup is None else see
        if type(caller()).redact_event is Access.redact_event:
            return shown

        async def now(item: Any, gone: bool) -> Any:
            return await caller().redact_event(item, gone)

        return CurrentView(shown, now)


async def read_page(
    core: Core, listing: Listing, at: Access, filters: Sequence[Input], page: PageRequest
) -> tuple[list[Any], Mapping[str, Any] | None, dict[str, Any], str | None]:
    """A page of a list as the caller sees it, where the next begins, members computed from the whole, the position."""
    plan = listing.subject.view_for(type(at))
    follows = None if listing.live is None else listing.live(at)
    # The position is taken before the list is read, so that no change falls between the two.
    position = None if follows is None else await at.position(follows)
    result = listing.rule(at, *filters)
    if isawaitable(result):
        result = await result
    if isinstance(result, OwnPages):
        shown_already, next_page = await result.read(page.limit, page.after)
        return list(shown_already), next_page, {}, position
    if isinstance(result, References):
        refs = await core.store.page(result.query, page.limit, page.after)
        return await plan.show_many(at, await result.get(refs.items)), refs.next, {}, position
    if isinstance(result, Query) and follows is not None:
        position = await at.position(follows, read_by=result)
    if isinstance(result, Query) and listing.order is None:
        part = await core.store.page(result, page.limit, page.after)
        seen = [row for row in part.items if at.sees(row)]
        return await plan.show_many(at, seen), part.next, {}, position
    shown = await shown_whole(core, listing, at, result)
    extra = {} if listing.also is None else msgspec.to_builtins(listing.also(shown), builtin_types=[datetime, Decimal])
    items, following = page.part_of(shown, listing.order)
    return items, following, extra, position


async def shown_whole(core: Core, listing: Listing, at: Access, result: Any) -> list[Any]:
    """Everything that the rule of a list found, as the caller sees it and in the list's order."""
    plan = listing.subject.view_for(type(at))
    if isinstance(result, References):
        return await plan.show_many(at, await result.get(await core.store.all(result.query)))
    if isinstance(result, OwnPages):
        items, after = await result.read(LONGEST_PAGE, None)
        pages = list(items)
        while after is not None:
            items, after = await result.read(LONGEST_PAGE, after)
            pages += items
        return pages
    whole = await core.store.all(result) if isinstance(result, Query) else result
    shown = await plan.show_many(at, [row for row in whole if at.sees(row)])
    return shown if listing.order is None else sorted(shown, key=listing.order)


def _ids(ids_of: Ids, request: Request, query: type[Input]) -> dict[str, Any]:
    """The path parameters; if one is wrong, ValidationError also has the errors of the query string."""
    try:
        return ids_of(request)
    except ValidationError as error:
        wrong = error.errors
        try:
            decode_query(query, request.query_params.multi_items(), strict=True)
        except ValidationError as more:
            wrong += more.errors
        raise ValidationError(*wrong) from None


def _tagged_file(request: Request, file: Response) -> ASGIApp:
    """A file that is in memory, with its ETag; a 304 if the caller has it already."""
    body = getattr(file, "body", None)
    if not isinstance(body, bytes) or file.status_code != 200:
        return file
    tag = file.headers["etag"] = tag_of(body)
    return not_modified(tag) if matches_etag(request, tag) else file


def _no_query(request: Request) -> None:
    if request.scope["query_string"]:
        decode_query(NoQuery, request.query_params.multi_items(), strict=True)


def _response(answer: StoredAnswer) -> JsonResponse:
    return JsonResponse(answer.body, answer.status, answer.headers)
