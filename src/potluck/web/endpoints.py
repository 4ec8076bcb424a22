"""Plain endpoints, for what is no page of an app: a file, health, a service worker.

pages = Endpoints()

@pages.get("/sign-in")
async def sign_in(call: Call) -> Response:
    return call.page("people/sign_in.html", form=Form.blank(SignIn))
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from potluck.people.authentication import Principal
from potluck.people.errors import Throttled
from potluck.validation.errors import ValidationError
from potluck.web.access import Access, Visitor, read_together
from potluck.web.errors import NotSignedIn, is_guess
from potluck.web.forms import Form, decode_form
from potluck.web.http.authentication import Authentication
from potluck.web.http.problems import Problems
from potluck.web.http.responses import Cookie, html
from potluck.web.http.router import Router
from potluck.web.inputs import Input
from potluck.web.large_bodies import decoded
from potluck.web.layout import SAVED_SECONDS, Templates
from potluck.web.rate_limits import FORMS, GUESSES
from potluck.web.requests import body_of, ids_of, must_be_form, visitor_of

if TYPE_CHECKING:
    from potluck.web.app import Core

A = TypeVar("A", bound=Access)
In = TypeVar("In", bound=Input)
Answering = Callable[["Call"], Awaitable[Any]]
T = TypeVar("T", bound=Answering)


class Site:
    """What every endpoint of the suite shares."""

    def __init__(self, core: Core, authentication: Authentication, templates: Templates, problems: Problems) -> None:
        self.core = core
        self.authentication = authentication
        self.templates = templates
        self.problems = problems


class RefusedForm(NamedTuple):
    """A refused form, with the status and headers of its problem."""

    form: Form[Any]
    status: int
    headers: Mapping[str, str]


class Call:
    """A request to a plain endpoint, with what the suite knows about it and the responses it can be given."""

    def __init__(self, site: Site, context: Any, request: Request, visitor: Visitor) -> None:
        self.site = site
        self.core = site.core
        self.authentication = site.authentication
        self.context = context
        self.request = request
        self.visitor = visitor

    @property
    def principal(self) -> Principal | None:
        return self.visitor.principal

    def signed_in(self) -> Principal:
        """The caller's principal; NotSignedIn without one."""
        if self.visitor.principal is None:
            raise NotSignedIn
        return self.visitor.principal

    @property
    def query(self) -> Mapping[str, str]:
        """The query parameters."""
        return self.request.query_params

    def text(self, name: str) -> str:
        """A path parameter, as text."""
        value: str = self.request.path_params[name]
        return value

    async def admit(self, access: type[A]) -> A:
        """Admit the caller by this access, with the path parameters; what it raises becomes the response."""
        if access.needs_principal:
            self.signed_in()
        at = access(self.core, self.context, self.visitor, ids_of(access, self.request))
        await at.admit_or_count(*await read_together(self.core.store, at.reads()))
        return at

    async def form(self, kind: type[In]) -> Form[In]:
        """The posted form; whatever was typed, it can be shown again."""
        must_be_form(self.request)
        return await decoded(partial(decode_form, kind), await body_of(self.request))

    def page(
        self,
        name: str,
        *cookies: Cookie,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        offline: bool = False,
        **context: Any,
    ) -> Response:
        """A page as this person sees it; `offline`: browsers save it for when there is no network."""
        seconds = SAVED_SECONDS if offline else 0
        return self.site.templates.page(
            self.request, name, self.visitor, context, status, headers, cookies, saved_for=seconds
        )

    def public_page(self, name: str, headers: Mapping[str, str] | None = None, **context: Any) -> Response:
        """A page that is the same for all callers, signed in or not."""
        return html(self.site.templates.render(self.request, name, context), headers=headers)

    def again(
        self,
        name: str,
        filled: Form[Any],
        refusal: Exception | None = None,
        field: str | None = None,
        form_name: str = "form",
        **context: Any,
    ) -> Response:
        """The page of a form again, with the errors next to its fields; `field` is where a refusal is shown.

        `form_name` is what the template calls the form, where the page has several.
        """
        refused = self.refused(filled, refusal, field)
        return self.page(name, status=refused.status, headers=refused.headers, **{**context, form_name: refused.form})

    def refuse(self, error: Exception) -> Response:
        """The response that the application gives to this error, for an endpoint that adds something to it."""
        answer = self.site.problems.answer(self.request, error)
        assert isinstance(answer, Response)
        return answer

    def refused(self, filled: Form[Any], refusal: Exception | None = None, field: str | None = None) -> RefusedForm:
        """The form with the errors next to its fields, and the status and headers of the problem."""
        if refusal is not None and is_guess(refusal):
            try:
                self.core.rate_limiter.take(GUESSES, self.visitor)
            except Throttled as too_many:
                refusal = too_many
        error = refusal if refusal is not None else ValidationError(*filled.all_errors)
        answer = self.site.problems.refusal(error)
        if answer is None:
            raise error
        if refusal is not None:
            filled = filled.refused_with(refusal, answer.detail, field)
        return RefusedForm(filled, answer.problem.status, answer.headers)


class DeclaredEndpoint(NamedTuple):
    """An endpoint and its address."""

    method: str
    path: str
    answering: Answering
    public: bool = False


class Endpoints:
    """Endpoints with their addresses, for an app to hand over."""

    def __init__(self) -> None:
        self.declared: list[DeclaredEndpoint] = []

    def get(self, path: str, *, public: bool = False) -> Callable[[T], T]:
        """`public`: the response is the same for all callers, so that no session is looked up."""
        return self._declare("GET", path, public)

    def post(self, path: str) -> Callable[[T], T]:
        return self._declare("POST", path)

    def add_to(self, router: Router, site: Site, context: Any = None) -> None:
        for endpoint in self.declared:
            router.add(endpoint.method, endpoint.path, endpoint_of(site, context, endpoint))

    def _declare(self, method: str, path: str, public: bool = False) -> Callable[[T], T]:
        def declare(answering: T) -> T:
            self.declared.append(DeclaredEndpoint(method, path, answering, public))
            return answering

        return declare


def endpoint_of(site: Site, context: Any, declared: DeclaredEndpoint) -> Callable[[Request], Awaitable[Any]]:
    """The endpoint as the router takes it."""

    async def answer(request: Request) -> Any:
        visitor = await visitor_of(request, site.authentication, anonymous=declared.public)
        if declared.method == "POST":
            # Any form counts here; a rule that it performs also counts against its own rate limit.
            site.core.rate_limiter.take(FORMS, visitor)
        return await declared.answering(Call(site, context, request, visitor))

    return answer
