"""The HTML endpoints: pages, the forms they post, and rows that update live."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import quote

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from potluck.people.errors import NotNow
from potluck.validation import decode_query
from potluck.validation.errors import ValidationError
from potluck.web.access import Access, Visitor
from potluck.web.actions import Actions
from potluck.web.api import Api
from potluck.web.commits import ActionResult
from potluck.web.cookies import BrowserCookie, cookies_after
from potluck.web.declarations import Action, Declared, Instead, Listing, Page, PageForm, Redirect
from potluck.web.entity_fields import DeclarationError
from potluck.web.errors import Conflict, VersionNeeded
from potluck.web.flash import Flash, flash_after, flash_set
from potluck.web.forms import Form, decode_form
from potluck.web.http.authentication import Authentication
from potluck.web.http.previews import is_preview
from potluck.web.http.problems import Problems
from potluck.web.http.responses import NOT_TRANSFORMED, Cookie, redirect, with_cookies
from potluck.web.http.router import Endpoint, Router
from potluck.web.http.sealed_cookies import SealedCookies
from potluck.web.inputs import UNSET, Input
from potluck.web.large_bodies import decoded
from potluck.web.layout import SAVED_SECONDS, Templates
from potluck.web.page_checks import must_have_pages, must_have_templates
from potluck.web.redirects import address_after, address_here
from potluck.web.requests import LARGEST_BODY, Ids, body_of, must_be_form, visitor_of
from potluck.web.runner import Runner, Sent
from potluck.web.updates import MaybeSince

# With these the page of the form cannot be shown either: the caller is not signed in, or may not see the thing.
NOT_SHOWN_AGAIN = frozenset({401, 404})


class _EditFirst(Exception):
    """The form is not to be saved yet, but shown with the values that were chosen in a conflict."""


class _PageRequest(NamedTuple):
    """A request, who sent it, and the parameters in its path."""

    request: Request
    visitor: Visitor
    ids: Mapping[str, Any]
    anonymous: bool
    """Whether no session was looked up, so that the visitor may be signed in."""

    @property
    def browser(self) -> SealedCookies:
        assert self.visitor.cookies is not None
        return self.visitor.cookies


class _OtherPage(NamedTuple):
    """The answer of a rule that shows another page in place."""

    rule: Callable[..., Any]


class Shown:
    """Why a page is shown: what `Show` in declarations.py promises."""

    def __init__(
        self,
        templates: Templates,
        page_request: _PageRequest,
        filled: Form[Any] | None = None,
        refusal: Exception | None = None,
        done: Any = None,
    ) -> None:
        self.query = page_request.request.query_params
        self.path: str = page_request.request.scope["path"]
        self.done = done
        self.cookies: list[Cookie] = []
        self.other_template = ""
        self.other_status: int | None = None
        self.saved_until: datetime | None = datetime.max.replace(tzinfo=UTC)
        self._templates = templates
        self._page_request = page_request
        self.is_told = refusal is None
        """Whether the page itself reports the refusal; if not, the layout does."""
        self._refusal = refusal
        self._filled = filled

    @property
    def refusal(self) -> Exception | None:
        self.is_told = True
        return self._refusal

    @property
    def clash(self) -> Any:
        if not isinstance(self._refusal, Conflict):
            return None
        self.is_told = True
        return self._refusal.members.get("current")

    def form(self, kind: type[Input], values: Mapping[str, Any] | Struct | None = None) -> Form[Any]:
        filled = self._filled
        if filled is None or filled.kind is not kind:
            return Form.blank(kind, values)
        self.is_told = True
        if not filled.editing:
            return filled
        # A conflict is about the fields that were sent, which need not be all that the page has.
        return filled.filled_up(Form.blank(kind, values).values)

    def set(self, cookie: BrowserCookie, value: Any) -> None:
        self.cookies += cookie.set(
            self._page_request.browser, value, address_after(cookie.path, None, self._page_request.ids)
        )

    def drop(self, cookie: BrowserCookie) -> None:
        self.cookies += cookie.drop(
            self._page_request.browser, address_after(cookie.path, None, self._page_request.ids)
        )

    def offline_until(self, moment: datetime | None) -> None:
        self.saved_until = moment

    def saved_for(self, page: Page, now: datetime) -> float:
        """For how many seconds browsers may save the page."""
        is_first_look = self._page_request.request.method == "GET" and self._refusal is None
        if not page.offline or not is_first_look or self.saved_until is None:
            return 0
        return min(SAVED_SECONDS, (self.saved_until - now).total_seconds())

    def template(self, name: str, context: Mapping[str, Any], status: int | None = None) -> Mapping[str, Any]:
        self.other_template, self.other_status = name, status
        return context

    def page(self, rule: Callable[..., Any]) -> Any:
        return _OtherPage(rule)

    def render(self, name: str, context: Mapping[str, Any]) -> str:
        return self._templates.render(self._page_request.request, name, context)

    def redirect(self, address: str, flash: str | Flash = "") -> Response:
        return redirect(address, *flash_set(self._page_request.browser, flash))


class Pages:
    """Serves the pages and forms that the subjects of one app declare."""

    def __init__(
        self, runner: Runner, api: Api, authentication: Authentication, templates: Templates, problems: Problems
    ) -> None:
        self._runner = runner
        self._api = api
        self._authentication = authentication
        self._templates = templates
        self._problems = problems
        self._by_rule: dict[Any, Page] = {}

    def add_to(self, router: Router, subjects: Sequence[Actions[Any]]) -> None:
        everything = [declared for subject in subjects for declared in subject.declared]
        self._by_rule |= {declared.rule: declared for declared in everything if isinstance(declared, Page)}
        for declared in everything:
            must_have_templates(declared, self._templates.names)
            must_have_pages(declared, self._by_rule)
            for method, address, endpoint in self._endpoints(declared):
                router.add(method, address, endpoint)

    def _endpoints(self, declared: Declared) -> Iterator[tuple[str, str, Endpoint]]:
        if isinstance(declared, Page):
            if declared.address is not None:
                yield "GET", declared.address, self.page(declared)
        elif isinstance(declared, Action) and declared.form_path is not None:
            yield "POST", declared.form_path, self.form(declared)
        elif isinstance(declared, Listing) and declared.row_events is not None:
            yield "GET", declared.row_events, self.row_events(declared)

    # --- pages --------------------------------------------------------------------------------------------------------

    def page(self, page: Page) -> Endpoint:
        ids_of = Ids(page.parameters)

        async def answer(request: Request) -> ASGIApp:
            page_request = await self._page_request(request, ids_of, page)
            if page_request.visitor.principal is None and page.access.needs_principal:
                return to_sign_in(request)
            try:
                return await self._show(page_request, page, Shown(self._templates, page_request))
            except Exception as refusal:
                elsewhere = await self._instead(page_request, page.instead, None, refusal)
                if elsewhere is None:
                    raise
                return elsewhere

        return answer

    async def _page_request(self, request: Request, ids_of: Ids, declared: Declared) -> _PageRequest:
        anonymous = declared.access.anonymous
        visitor = await visitor_of(request, self._authentication, anonymous=anonymous)
        return _PageRequest(request, visitor, ids_of(request), anonymous)

    async def _show(
        self,
        page_request: _PageRequest,
        page: Page,
        shown: Shown,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        detail: str = "",
    ) -> Response:
        request, visitor, ids, _ = page_request
        of_access = {"x-robots-tag": "noindex"} if page.access.unlisted else {}
        if page.access.preview and is_preview(request):
            return self._templates.page(request, page.access.preview, visitor, {}, headers=of_access)
        at, thing = await self._runner.admit(page, visitor, ids)
        arguments: list[Any] = [] if thing is None else [thing]
        if page.input is not None:
            # Other sites append tracking parameters to links, so a page ignores parameters that it does not know; and
            # a form that was sent as a query has its empty fields in it.
            filled = [pair for pair in request.query_params.multi_items() if pair[1]]
            arguments.append(decode_query(page.input, filled, strict=False))
        if page.takes_show:
            arguments.append(shown)
        context = await page.rule(at, *arguments)
        if isinstance(context, _OtherPage):
            return await self._show(page_request, self._by_rule[context.rule], shown, status, headers, detail)
        if isinstance(context, Response):
            for name, value in (of_access | dict(page.headers)).items():
                context.headers.setdefault(name, value)
            return with_cookies(context, shown.cookies)
        if taken := self._templates.reserved & context.keys():
            raise DeclarationError(f"{page.name}: {', '.join(sorted(taken))} is for the layout; call it something else")
        around = {"refused": "" if shown.is_told else detail, **await self._frame(page, at)}
        return self._templates.page(
            request,
            shown.other_template or page.template,
            visitor,
            {**around, **context},
            shown.other_status or status,
            {**of_access, **page.headers, **(NOT_TRANSFORMED if visitor.shows_secret else {}), **(headers or {})},
            shown.cookies,
            saved_for=0 if shown.other_template or visitor.shows_secret else shown.saved_for(page, at.core.clock()),
        )

    async def _instead(
        self, page_request: _PageRequest, instead: Instead, filled: Form[Any] | None, refusal: Exception
    ) -> Response | None:
        """What is answered in place of this refusal; None if nothing is named for it."""
        where = next((instead[kind] for kind in type(refusal).__mro__ if kind in instead), None)
        if where is None:
            return None
        page = self._by_rule.get(where)
        if page is not None:
            return await self._show_refused(page_request, page, filled, refusal, explained=True)
        if callable(where):
            where = where(refusal)
        to = Redirect(where) if isinstance(where, str) else where
        return redirect(address_after(to.address, None, page_request.ids), *flash_set(page_request.browser, to.flash))

    async def _frame(self, declared: Declared, at: Access) -> Mapping[str, Any]:
        frame = declared.subject.frame
        return {} if frame is None else await frame(at)

    # --- forms --------------------------------------------------------------------------------------------------------

    def form(self, action: Action) -> Endpoint:
        ids_of = Ids(action.parameters)
        posted = action.form
        assert posted is not None

        async def answer(request: Request) -> ASGIApp:
            page_request = await self._page_request(request, ids_of, action)
            body = await body_of(request, action.largest_body or LARGEST_BODY)
            filled: Form[Any] | None = None

            async def sent() -> Sent:
                nonlocal filled
                if action.input is None:
                    return Sent()
                must_be_form(request)
                form: Form[Any] = await decoded(partial(decode_form, posted.takes or action.input), body)
                filled = form
                if form.editing:
                    raise _EditFirst
                change = form.value
                if not action.versioned or not posted.versioned:
                    return Sent(change)
                if change.version is UNSET:
                    raise VersionNeeded
                return Sent(change, change.version)

            try:
                done = await self._runner.perform(action, page_request.visitor, page_request.ids, sent)
            except _EditFirst:
                shown = Shown(self._templates, page_request, filled)
                return await self._show(page_request, self._by_rule[posted.on], shown)
            except Exception as refusal:
                if _asks_for_json(request):
                    raise
                elsewhere = await self._instead(page_request, posted.instead, filled, refusal)
                again = elsewhere or await self._again(page_request, action, filled, refusal)
                if again is None:
                    raise
                return again
            return await self._accepted(page_request, action, posted, done)

        return answer

    async def _accepted(
        self, page_request: _PageRequest, action: Action, posted: PageForm, done: ActionResult
    ) -> Response:
        """The response to an accepted form, with the cookies that it sets."""
        cookies = [
            *cookies_after(posted.sets, posted.drops, page_request.browser, done.caller, done.answer, page_request.ids),
            *(page_request.browser.forgotten() if posted.drops_anonymous else ()),
        ]
        if posted.then == "":
            shown = Shown(self._templates, page_request, done=done.view)
            shown.cookies += cookies
            return await self._show(page_request, self._by_rule[posted.on], shown)
        if not _asks_for_json(page_request.request):
            cookies += flash_set(
                page_request.browser, await flash_after(posted.flash, done.caller, done.answer, page_request.ids)
            )
        next = page_request.request.query_params.get("next")
        answer = _then(posted.then, done, page_request.ids, next)
        return with_cookies(_accepted(answer) if _asks_for_json(page_request.request) else answer, cookies)

    async def _again(
        self, page_request: _PageRequest, action: Action, filled: Form[Any] | None, refusal: Exception
    ) -> Response | None:
        """The form again, with the errors next to its fields; None where there is no page to show it on."""
        answer = self._problems.refusal(refusal)
        assert action.form is not None
        if answer is None or answer.problem.status in NOT_SHOWN_AGAIN:
            return None
        if answer.problem.status >= 500 and not isinstance(refusal, NotNow):
            return None
        page = self._by_rule.get(action.form.on)
        return None if page is None else await self._show_refused(page_request, page, filled, refusal)

    async def _show_refused(
        self,
        page_request: _PageRequest,
        page: Page,
        filled: Form[Any] | None,
        refusal: Exception,
        *,
        explained: bool = False,
    ) -> Response:
        """A page because of a refusal, with its status, and the errors at the fields of the form.

        `explained`: the page is there for this refusal, and says so itself.
        """
        answer = self._problems.refusal(refusal)
        if answer is None:
            raise refusal
        page_request = await self._identified(page_request, page)
        if filled is not None:
            # The form has its validation errors already, and the page itself shows a conflict.
            has_it = isinstance(refusal, Conflict) or (isinstance(refusal, ValidationError) and not filled.is_valid)
            filled = filled if has_it else filled.refused_with(refusal, answer.detail)
        shown = Shown(self._templates, page_request, filled, refusal)
        detail = "" if explained else answer.detail
        return await self._show(page_request, page, shown, answer.problem.status, answer.headers, detail)

    async def _identified(self, page_request: _PageRequest, page: Page) -> _PageRequest:
        """The same request for this page, which may look up the session that the form ignored."""
        if not page_request.anonymous or page.access.anonymous:
            return page_request
        visitor = await visitor_of(page_request.request, self._authentication)
        return page_request._replace(visitor=visitor, anonymous=False)

    # --- live rows ----------------------------------------------------------------------------------------------------

    def row_events(self, listing: Listing) -> Endpoint:
        ids_of = Ids(listing.parameters)

        async def answer(request: Request) -> ASGIApp:
            assert listing.row is not None
            template = listing.row
            ids = ids_of(request)
            visitor = await visitor_of(request, self._authentication)
            at, _ = await self._runner.admit(listing, visitor, ids)
            since = decode_query(MaybeSince, request.query_params.multi_items(), strict=False).since

            def render(event: Any) -> str:
                return self._templates.render(request, template, {**ids, "item": event.item})

            return await self._api.stream(listing, visitor, ids, at, None if since is UNSET else since, render=render)

        return answer


def _asks_for_json(request: Request) -> bool:
    """Whether a script sent the form, which says by itself what happened, and shows no page."""
    return bool(request.headers.get("accept", "").startswith("application/json"))


def _accepted(answer: Response) -> Response:
    """204 in place of a redirect, which a script could not tell from that of a proxy that asks people to sign in."""
    if not 300 <= answer.status_code < 400:
        return answer
    headers = {name: value for name, value in answer.headers.items() if name not in ("location", "content-length")}
    return Response(status_code=204, headers=headers)


def to_sign_in(request: Request) -> Response:
    """A redirect to the sign-in page, which leads back here."""
    query = request.scope["query_string"].decode("latin-1")
    return redirect(f"/sign-in?next={quote(request.scope['path'] + (f'?{query}' if query else ''))}")


def _then(then: Any, done: ActionResult, ids: Mapping[str, Any], next: str | None) -> Response:
    """The response to an accepted form: a redirect, or what `then` makes.

    A form on a page of another app names that page as `next`: what it sent is done there.
    """
    led = then(done.caller, done.answer) if callable(then) else address_after(then, done.answer, ids)
    if isinstance(led, Response):
        return led
    return redirect(led if next is None else address_here(next, led))
