"""The HTML endpoints: pages, the forms they post, and rows that update live."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import fields
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from potluck.people.errors import NotNow
from potluck.validation import decode_query
from potluck.validation.errors import ValidationError
from potluck.web.access import Access, Visitor
from potluck.web.actions import Actions
from potluck.web.api import Api, MaybeSince
from potluck.web.cookies import BrowserCookie, cookies_after
from potluck.web.declarations import Action, Declared, Instead, Listing, Page, Redirect
from potluck.web.entity_fields import DeclarationError
from potluck.web.errors import Conflict, VersionNeeded
from potluck.web.flash import Flash, flash_after, flash_set
from potluck.web.forms import Form, blank, decode_form
from potluck.web.http.authentication import Authentication
from potluck.web.http.previews import is_preview
from potluck.web.http.problems import Problems
from potluck.web.http.responses import Cookie, html, redirect, with_cookies
from potluck.web.http.router import Endpoint, Router
from potluck.web.inputs import UNSET, Input
from potluck.web.layout import Templates
from potluck.web.redirects import PATH_PARAMETER, address_after, must_be_there
from potluck.web.requests import LARGEST_BODY, Ids, body_of, decoded, must_be_form, visitor_of
from potluck.web.runner import ActionResult, Runner, Sent

HTMX = "hx-request"
# With these the page of the form cannot be shown either: nobody is signed in, or they may not see the thing.
NOT_SHOWN_AGAIN = frozenset({401, 404})


class _EditFirst(Exception):
    """The form is not to be saved yet, but shown with the values that were chosen in a conflict."""


class _OtherPage(NamedTuple):
    """The answer of a rule that shows another page in place."""

    rule: Callable[..., Any]


class Shown:
    """Why a page is shown: what `Show` in declarations.py promises."""

    def __init__(
        self,
        templates: Templates,
        request: Request,
        visitor: Visitor,
        ids: Mapping[str, Any],
        filled: Form[Any] | None = None,
        refusal: Exception | None = None,
        done: Any = None,
    ) -> None:
        assert visitor.cookies is not None
        self.query = request.query_params
        self.path: str = request.scope["path"]
        self.done = done
        self.cookies: list[Cookie] = []
        self.other_template = ""
        self.other_status: int | None = None
        self._request = request
        self._templates = templates
        self._browser = visitor.cookies
        self._ids = ids
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
            return blank(kind, values)
        self.is_told = True
        if not filled.editing:
            return filled
        # A conflict is about the fields that were sent, which need not be all that the page has.
        return filled.filled_up(blank(kind, values).values)

    def set(self, cookie: BrowserCookie, value: Any) -> None:
        self.cookies += cookie.set(self._browser, value, address_after(cookie.path, None, self._ids))

    def drop(self, cookie: BrowserCookie) -> None:
        self.cookies += cookie.drop(self._browser, address_after(cookie.path, None, self._ids))

    def template(self, name: str, context: Mapping[str, Any], status: int | None = None) -> Mapping[str, Any]:
        self.other_template, self.other_status = name, status
        return context

    def page(self, rule: Callable[..., Any]) -> Any:
        return _OtherPage(rule)

    def render(self, name: str, context: Mapping[str, Any]) -> str:
        return self._templates.render(self._request, name, context)

    def redirect(self, address: str, flash: str | Flash = "") -> Response:
        return redirect(address, *flash_set(self._browser, flash))


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
        for subject in subjects:
            for declared in subject.declared:
                self._must_have_template(declared)
                if isinstance(declared, Page):
                    self._by_rule[declared.rule] = declared
        for subject in subjects:
            for declared in subject.declared:
                self._must_have_pages(declared)
                for method, address, endpoint in self._endpoints(declared):
                    router.add(method, address, endpoint)

    def _must_have_template(self, declared: Declared) -> None:
        name: str | None = None
        if isinstance(declared, Page):
            name = declared.template
            self._must_have_preview(declared)
        elif isinstance(declared, Listing):
            name = declared.row
        elif isinstance(declared, Action) and declared.form is not None:
            name = declared.form.row
        if name and name not in self._templates.names:
            raise DeclarationError(f"{declared.name}: there is no template {name}")

    def _must_have_preview(self, page: Page) -> None:
        name = page.access.preview
        if name and name not in self._templates.names:
            raise DeclarationError(f"{page.access.__name__}: there is no template {name}")

    def _must_have_pages(self, declared: Declared) -> None:
        """A DeclarationError if a page of `on` or `instead` could not be shown at this address."""
        if isinstance(declared, Page):
            self._must_lead(declared, declared.address, declared.instead)
        elif isinstance(declared, Action) and declared.form is not None:
            form = declared.form
            self._must_lead(declared, declared.form_path, form.instead)
            if form.on is None:
                return
            page = self._by_rule.get(form.on)
            if page is None:
                raise DeclarationError(f"{declared.name}: on: {form.on.__name__} is the rule of no page of this app")
            self._must_show(declared, declared.form_path, page, "on")
            if form.then == "" and not page.takes_show:
                raise DeclarationError(
                    f"{declared.name}: then: {page.name} must take a Show, which has the answer as `done`"
                )

    def _must_lead(self, declared: Declared, address: str | None, instead: Instead) -> None:
        for where in instead.values():
            if isinstance(where, str | Redirect):
                to = where if isinstance(where, str) else where.address
                must_be_there(declared.name, to, PATH_PARAMETER.findall(address or to), type(None), "instead")
            elif where in self._by_rule:
                self._must_show(declared, address, self._by_rule[where], "instead")

    def _must_show(self, declared: Declared, address: str | None, page: Page, option: str) -> None:
        # What a page without an address is shown at, and with, the declarations that name it know.
        known = PATH_PARAMETER.findall(address or page.address or "")
        missing = [name for name in PATH_PARAMETER.findall(page.address or "") if name not in known]
        if missing:
            raise DeclarationError(f"{declared.name}: {option}: {page.name} needs {missing}, which {address} has not")
        if page.input is not None and any(field.required for field in fields(page.input)):
            raise DeclarationError(f"{declared.name}: {option}: give every field of {page.input.__name__} a default")

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
            ids = ids_of(request)
            visitor = await visitor_of(request, self._authentication, anonymous=page.access.anonymous)
            if visitor.principal is None and page.access.needs_principal:
                return to_sign_in(request)
            try:
                return await self._show(request, page, visitor, ids, Shown(self._templates, request, visitor, ids))
            except Exception as refusal:
                elsewhere = await self._instead(request, page.instead, visitor, ids, None, refusal)
                if elsewhere is None:
                    raise
                return elsewhere

        return answer

    async def _show(
        self,
        request: Request,
        page: Page,
        visitor: Visitor,
        ids: Mapping[str, Any],
        shown: Shown,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        detail: str = "",
    ) -> Response:
        of_access = {"x-robots-tag": "noindex"} if page.access.unlisted else {}
        if page.access.preview and is_preview(request):
            return self._templates.page(request, page.access.preview, visitor, {}, headers=of_access)
        at, thing = await self._runner.admit(page, visitor, ids)
        given: list[Any] = [] if thing is None else [thing]
        if page.input is not None:
            # Other sites append tracking parameters to links, so a page ignores parameters that it does not know; and
            # a form that was sent as a query has its empty fields in it.
            filled = [each for each in request.query_params.multi_items() if each[1]]
            given.append(decode_query(page.input, filled, strict=False))
        if page.takes_show:
            given.append(shown)
        context = await page.rule(at, *given)
        if isinstance(context, _OtherPage):
            other = self._by_rule[context.rule]
            return await self._show(request, other, visitor, ids, shown, status, headers, detail)
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
            {**of_access, **page.headers, **(headers or {})},
            shown.cookies,
        )

    async def _instead(
        self,
        request: Request,
        instead: Instead,
        visitor: Visitor,
        ids: Mapping[str, Any],
        filled: Form[Any] | None,
        refusal: Exception,
    ) -> Response | None:
        """What is answered in place of this refusal; None if nothing is named for it."""
        where = next((instead[kind] for kind in type(refusal).__mro__ if kind in instead), None)
        if where is None:
            return None
        page = self._by_rule.get(where)
        if page is not None:
            return await self._show_refused(request, page, visitor, ids, filled, refusal, told=True)
        if callable(where):
            where = where(refusal)
        to = Redirect(where) if isinstance(where, str) else where
        assert visitor.cookies is not None
        return redirect(address_after(to.address, None, ids), *flash_set(visitor.cookies, to.flash))

    async def _frame(self, declared: Declared, at: Access) -> Mapping[str, Any]:
        frame = declared.subject.frame
        return {} if frame is None else await frame(at)

    # --- forms --------------------------------------------------------------------------------------------------------

    def form(self, action: Action) -> Endpoint:
        ids_of = Ids(action.parameters)
        posted = action.form
        assert posted is not None

        async def answer(request: Request) -> ASGIApp:
            ids = ids_of(request)
            visitor = await visitor_of(request, self._authentication, anonymous=action.access.anonymous)
            body = await body_of(request, action.largest_body or LARGEST_BODY)
            filled: Form[Any] | None = None

            async def sent() -> Sent:
                nonlocal filled
                if action.input is None:
                    return Sent()
                must_be_form(request)
                filled = await decoded(decode_form, posted.takes or action.input, body)
                if filled.editing:
                    raise _EditFirst
                given = filled.value
                if not action.versioned or not posted.versioned:
                    return Sent(given)
                if given.version is UNSET:
                    raise VersionNeeded
                return Sent(given, given.version)

            try:
                done = await self._runner.perform(action, visitor, ids, sent)
            except _EditFirst:
                shown = Shown(self._templates, request, visitor, ids, filled)
                return await self._show(request, self._by_rule[posted.on], visitor, ids, shown)
            except Exception as refusal:
                elsewhere = await self._instead(request, posted.instead, visitor, ids, filled, refusal)
                if elsewhere is not None:
                    return elsewhere
                again = await self._again(request, action, visitor, ids, filled, refusal)
                if again is None:
                    raise
                return again
            assert visitor.cookies is not None
            cookies = [*cookies_after(posted.sets, posted.drops, visitor.cookies, done.caller, done.answer, ids)]
            if posted.row is not None and HTMX in request.headers:
                return with_cookies(self._row(request, action, done.view, ids), cookies)
            if posted.then == "":
                shown = Shown(self._templates, request, visitor, ids, done=done.view)
                shown.cookies += cookies
                return await self._show(request, self._by_rule[posted.on], visitor, ids, shown)
            cookies += flash_set(visitor.cookies, await flash_after(posted.flash, done.caller, done.answer, ids))
            return with_cookies(_then(posted.then, done, ids), cookies)

        return answer

    async def _again(
        self,
        request: Request,
        action: Action,
        visitor: Visitor,
        ids: Mapping[str, Any],
        filled: Form[Any] | None,
        refusal: Exception,
    ) -> ASGIApp | None:
        """The form again, with the errors beside its fields; None where there is no page to show it on."""
        answer = self._problems.refusal(refusal)
        assert action.form is not None
        if answer is None or answer.problem.status in NOT_SHOWN_AGAIN:
            return None
        if answer.problem.status >= 500 and not isinstance(refusal, NotNow):
            return None
        if action.form.row is not None and HTMX in request.headers and isinstance(refusal, Conflict):
            return self._row(request, action, refusal.members["current"], ids, clash=filled, status=409)
        page = self._by_rule.get(action.form.on)
        return None if page is None else await self._show_refused(request, page, visitor, ids, filled, refusal)

    async def _show_refused(
        self,
        request: Request,
        page: Page,
        visitor: Visitor,
        ids: Mapping[str, Any],
        filled: Form[Any] | None,
        refusal: Exception,
        *,
        told: bool = False,
    ) -> Response:
        """A page because of a refusal, with its status, and the errors at the fields of the form.

        `told`: the page is there for this refusal, and says so itself.
        """
        answer = self._problems.refusal(refusal)
        if answer is None:
            raise refusal
        if filled is not None:
            # The form has its validation errors already, and the page itself shows a conflict.
            has_it = isinstance(refusal, Conflict) or (isinstance(refusal, ValidationError) and not filled.is_valid)
            filled = filled if has_it else filled.refused_with(refusal, answer.detail)
        shown = Shown(self._templates, request, visitor, ids, filled, refusal)
        return await self._show(
            request, page, visitor, ids, shown, answer.problem.status, answer.headers, "" if told else answer.detail
        )

    # --- live rows ----------------------------------------------------------------------------------------------------

    def _row(
        self,
        request: Request,
        action: Action,
        item: Any,
        ids: Mapping[str, Any],
        *,
        clash: Any = None,
        status: int = 200,
    ) -> Response:
        assert action.form is not None
        assert action.form.row is not None
        if item is None:
            return html("", status)
        return html(self._templates.render(request, action.form.row, {**ids, "item": item, "clash": clash}), status)

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
                return self._templates.render(request, template, {**ids, "item": event.item, "clash": None})

            return await self._api.stream(
                request, listing, visitor, ids, at, None if since is UNSET else since, render=render
            )

        return answer


def to_sign_in(request: Request) -> Response:
    """A redirect to the sign-in page, which leads back here."""
    query = request.scope["query_string"].decode("latin-1")
    return redirect(f"/sign-in?next={quote(request.scope['path'] + (f'?{query}' if query else ''))}")


def _then(then: Any, done: ActionResult, ids: Mapping[str, Any]) -> Response:
    """The response to an accepted form: a redirect, or what `then` makes."""
    if callable(then):
        led = then(done.caller, done.answer)
        return led if isinstance(led, Response) else redirect(led)
    return redirect(address_after(then, done.answer, ids))
