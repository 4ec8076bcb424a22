"""The HTML endpoints: pages, the forms they post, and rows that update live."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
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
from potluck.web.declarations import PATH_PARAMETER, Action, Declared, Listing, Page, PageForm
from potluck.web.entity_fields import DeclarationError
from potluck.web.errors import Conflict, VersionNeeded
from potluck.web.forms import Form, blank, decode_form
from potluck.web.http.authentication import Authentication
from potluck.web.http.problems import Problems
from potluck.web.http.responses import html, redirect, with_cookies
from potluck.web.http.router import Endpoint, Router
from potluck.web.inputs import UNSET, Input
from potluck.web.layout import Templates
from potluck.web.redirects import address_after
from potluck.web.requests import LARGEST_BODY, Ids, body_of, decoded, must_be_form, visitor_of
from potluck.web.runner import Done, Runner, Sent

__all__ = ["Pages", "to_sign_in"]

HTMX = "hx-request"
# With these the page of the form cannot be shown either: nobody is signed in, or they may not see the thing.
NOT_SHOWN_AGAIN = frozenset({401, 404})


class _EditFirst(Exception):
    """The form is not to be saved yet, but shown with the values that were chosen in a conflict."""


class Shown:
    """Why a page is shown: what `Show` in declarations.py promises."""

    def __init__(
        self,
        request: Request,
        filled: Form[Any] | None = None,
        refusal: Exception | None = None,
        done: Any = None,
    ) -> None:
        self.query: Mapping[str, str] = request.query_params
        self.done = done
        self.kept: list[tuple[str, str, int, str]] = []
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

    def keep(self, name: str, value: str, max_age: int, path: str = "/") -> None:
        self.kept.append((name, value, max_age, path))


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
                if isinstance(declared, Action) and declared.form is not None:
                    self._must_have_page(declared, declared.form)
                for method, address, endpoint in self._endpoints(declared):
                    router.add(method, address, endpoint)

    def _must_have_template(self, declared: Declared) -> None:
        name: str | None = None
        if isinstance(declared, Page):
            name = declared.template
        elif isinstance(declared, Listing):
            name = declared.row
        elif isinstance(declared, Action) and declared.form is not None:
            name = declared.form.row
        if name and name not in self._templates.names:
            raise DeclarationError(f"{declared.name}: there is no template {name}")

    def _must_have_page(self, action: Action, form: PageForm) -> None:
        """A DeclarationError if the page of `on` could not be shown at the form's address."""
        if form.on is None:
            return
        page = self._by_rule.get(form.on)
        if page is None:
            raise DeclarationError(f"{action.name}: on: {form.on.__name__} is the rule of no page of this app")
        known = PATH_PARAMETER.findall(action.form_path or "")
        missing = [name for name in PATH_PARAMETER.findall(page.address) if name not in known]
        if missing:
            raise DeclarationError(f"{action.name}: on: {page.name} needs {missing}, which {action.form_path} has not")
        if page.input is not None and any(field.required for field in fields(page.input)):
            raise DeclarationError(f"{action.name}: on: give every field of {page.input.__name__} a default")
        if form.then == "" and not page.takes_show:
            raise DeclarationError(f"{action.name}: then: {page.name} must take a Show, which has the answer as `done`")

    def _endpoints(self, declared: Declared) -> Iterator[tuple[str, str, Endpoint]]:
        if isinstance(declared, Page):
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
            visitor = await visitor_of(request, self._authentication)
            if visitor.principal is None and page.access.needs_principal:
                return to_sign_in(request)
            return await self._show(request, page, visitor, ids, Shown(request))

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
        at, thing = await self._runner.admit(page, visitor, ids)
        given: list[Any] = [] if thing is None else [thing]
        if page.input is not None:
            # Other sites append tracking parameters to links, so a page ignores parameters that it does not know.
            given.append(decode_query(page.input, request.query_params.multi_items(), strict=False))
        if page.takes_show:
            given.append(shown)
        context = await page.rule(at, *given)
        if isinstance(context, Response):
            return context
        if taken := self._templates.reserved & context.keys():
            raise DeclarationError(f"{page.name}: {', '.join(sorted(taken))} is for the layout; call it something else")
        around = {"refused": "" if shown.is_told else detail, **await self._frame(page, at)}
        said = {**page.headers, **(headers or {})}
        response = self._templates.page(request, page.template, visitor.principal, {**around, **context}, status, said)
        assert visitor.keeps is not None
        return with_cookies(response, [cookie for each in shown.kept for cookie in visitor.keeps.keep(*each)])

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
            visitor = await visitor_of(request, self._authentication)
            body = await body_of(request, action.largest_body or LARGEST_BODY)
            filled: Form[Any] | None = None

            async def sent() -> Sent:
                nonlocal filled
                if action.input is None:
                    return Sent()
                must_be_form(request)
                filled = await decoded(decode_form, action.input, body)
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
                return await self._show(request, self._by_rule[posted.on], visitor, ids, Shown(request, filled))
            except Exception as refusal:
                again = await self._again(request, action, visitor, ids, filled, refusal)
                if again is None:
                    raise
                return again
            if posted.row is not None and HTMX in request.headers:
                return self._row(request, action, done.shown, ids)
            if posted.then == "":
                return await self._show(
                    request, self._by_rule[posted.on], visitor, ids, Shown(request, done=done.shown)
                )
            return _then(posted.then, done, ids)

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
        if page is None:
            return None
        if filled is not None:
            # The form has its validation errors already, and the page itself shows a conflict.
            told = isinstance(refusal, Conflict) or (isinstance(refusal, ValidationError) and not filled.good)
            filled = filled if told else filled.refused_with(refusal, answer.detail)
        shown = Shown(request, filled, refusal)
        return await self._show(
            request, page, visitor, ids, shown, answer.problem.status, answer.headers, answer.detail
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


def _then(then: Any, done: Done, ids: Mapping[str, Any]) -> Response:
    """The response to an accepted form: a redirect, or what `then` makes."""
    if callable(then):
        led = then(done.at, done.answer)
        return led if isinstance(led, Response) else redirect(led)
    return redirect(address_after(then, done.answer, ids))
