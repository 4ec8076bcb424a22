"""Declarations as plain data: actions, reads, lists and pages, for the runner, the endpoints and the API document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from msgspec import Struct
from starlette.datastructures import QueryParams
from starlette.responses import Response

from potluck.people.throttling import RateLimit
from potluck.table import Entity, Query
from potluck.table.entity import plan_of
from potluck.web.access import Access
from potluck.web.cookies import BrowserCookie, Sets
from potluck.web.errors import THROTTLED, Problem
from potluck.web.flash import Flash, Flashes
from potluck.web.inputs import FormOf, Input, Versioned
from potluck.web.rate_limits import DEFAULT_LIMIT
from potluck.web.redirects import PATH_PARAMETER
from potluck.web.unit_of_work import UnitOfWork

if TYPE_CHECKING:
    from potluck.web.actions import Actions

# The default, in bytes.
LARGEST_BODY = 1_000_000

# What these annotate is no parameter of a path.
OWN_MODULES = frozenset({Access.__module__, UnitOfWork.__module__})

Method = Literal["POST", "PUT", "PATCH", "DELETE"]
Then = str | Callable[[Any, Any], str | Response]


class Redirect(NamedTuple):
    """Another page, and what it says once."""

    address: str
    flash: str = ""


Instead = Mapping[type[Exception], str | Redirect | Callable[..., Any]]
"""Where refusals lead: the rule of a page, which is then shown in place with the status of the refusal; an address with
path parameters in braces; a Redirect; or a function of the refusal that returns one of those two."""


class Show(Protocol):
    """Why a page is shown: a first look, or a form that was posted. A page's rule may take one."""

    @property
    def clash(self) -> Any:
        """The thing as it is now, shown by its view, if a form was refused because of its older version; else None."""

    @property
    def refusal(self) -> Exception | None:
        """Why a form was refused, if that is why the page is shown."""

    @property
    def query(self) -> QueryParams:
        """The query parameters."""

    @property
    def done(self) -> Any:
        """The answer to a form that does not redirect, because it holds a secret that no URL may have; else None."""

    def form(self, kind: type[Input], values: Mapping[str, Any] | Struct | None = None) -> Any:
        """The form of this input: as it was filled in, if it was refused; else blank, or with these values."""

    @property
    def path(self) -> str:
        """The path of this page's address, as it was asked for."""

    def set(self, cookie: BrowserCookie, value: Any) -> None:
        """Set a cookie with this page, whatever it answers."""

    def drop(self, cookie: BrowserCookie) -> None:
        """Drop a cookie with this page."""

    def offline_until(self, moment: datetime | None) -> None:
        """Let browsers show a page that is declared `offline` until then and no longer; None: do not save it now."""

    def template(self, name: str, context: Mapping[str, Any], status: int | None = None) -> Mapping[str, Any]:
        """The answer of the rule, where it shows another template: `return show.template("polls/voted.html", …)`."""

    def page(self, rule: Callable[..., Any]) -> Any:
        """The answer of the rule, where another page of the app is shown in place: by its rule, with its own access."""

    def render(self, name: str, context: Mapping[str, Any]) -> str:
        """A fragment of a page from this template, for a stream."""

    def redirect(self, address: str, flash: str | Flash = "") -> Response:
        """The answer of the rule, where another page is to be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageForm:
    """How a page posts an action: to which path, where it redirects, and which page shows a refused form again."""

    path: str | None = None
    """After the address of the subject, or of the thing; None for the action's own path."""
    then: Then = ""
    """Where an accepted form redirects: an address with path parameters and fields of the answer in braces, or a
    function of the access and the answer. A name in braces that neither has is a DeclarationError. If empty, the page
    of `on` is shown with the answer, as `show.done`; without `on`, that is a DeclarationError too."""
    on: Callable[..., Any] | None = None
    """The rule of the page that shows a refused form again; without one, the refusal is a page of its own."""
    versioned: bool = True
    """False: the change is right whatever else has changed, so that an outdated version is no conflict."""
    takes: type[FormOf[Any]] | None = None
    """How the page asks for the input of the rule, if not by its own fields."""
    flash: Flashes = ""
    """What the page after the redirect says, once: path parameters and fields of the answer in braces, or a function
    of the access and the answer. Never a secret."""
    sets: Sets = field(default_factory=dict, hash=False)
    drops: Sequence[BrowserCookie] = ()
    drops_anonymous: bool = False
    """True: the browser forgets everything that it holds for anonymous visitors, in every app."""
    instead: Instead = field(default_factory=dict, hash=False)
    """Where a refusal leads, if not to the page of `on`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A rule and its address."""

    subject: Actions[Any]
    rule: Callable[..., Any]
    access: type[Access]
    path: str | None
    """Under /api/v1; None for what only pages do."""
    input: type[Input] | None = None
    on_thing: bool = False
    problems: tuple[Problem, ...] = ()

    @property
    def name(self) -> str:
        return self.rule.__name__

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The path parameters that the rule may be given, with their annotated types."""
        return parameters_of(self.access, self.subject.entity)


@dataclass(frozen=True, slots=True, kw_only=True)
class Action(Declared):
    """A rule that writes."""

    method: Method
    status: int
    secret: bool | Literal["sometimes"] = False
    """The answer holds a secret: it is given once, and never kept for replays. If "sometimes", `Writes` says so."""
    answer: Any = None
    """The type of the answer, for the API document."""
    form: PageForm | None = None
    form_path: str | None = None
    input_optional: bool = False
    idempotent: bool = True
    """False: no answer is kept under the Idempotency-Key, and a repeated request is performed again."""
    serialized: bool = False
    """Within a process, calls with the same path parameters take turns, instead of conflicting."""
    largest_body: int | None = None
    """The limit on the body in bytes, where it is more than usual: an import."""
    rate_limit: RateLimit = DEFAULT_LIMIT
    """How much of this one caller may do."""
    frees_room: bool = False
    """Allowed however full the store is: it deletes something, or is needed for that."""

    @property
    def path_names(self) -> list[str]:
        """The names of the parameters in its address."""
        return PATH_PARAMETER.findall(self.path or self.form_path or "")

    @property
    def input_in_query(self) -> bool:
        """Whether the input comes from the query string: a DELETE has no body."""
        return self.method == "DELETE" and self.input is not None

    @property
    def counts(self) -> bool:
        """Whether the rate limit applies; people who are signed in may always free room."""
        return not (self.access.needs_principal and self.frees_room)

    @property
    def counts_attempts(self) -> bool:
        """Whether the rule itself limits attempts: it then declares the problem THROTTLED."""
        return THROTTLED in self.problems

    @property
    def versioned(self) -> bool:
        return self.input is not None and issubclass(self.input, Versioned)

    @property
    def takes_if_match(self) -> bool:
        """Whether If-Match may name a version: of a versioned input, or of a thing to delete that has versions."""
        entity = self.subject.entity
        has_version = self.on_thing and entity is not None and plan_of(entity).version is not None
        return self.versioned or (self.method == "DELETE" and has_version)


@dataclass(frozen=True, slots=True, kw_only=True)
class Read(Declared):
    """A rule that only reads, and answers with one thing."""

    answer: Any = None
    media_type: str = "application/json"
    tagged: bool = True
    """Whether the answer carries an ETag."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Declared):
    """A rule that lists things."""

    order: Callable[[Any], tuple[Any, ...]] | None = None
    also: Callable[[Sequence[Any]], Struct] | None = None
    shows: type[Struct] | None = None
    live: Callable[[Any], Query[Any]] | None = None
    row: str | None = None
    row_events: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Declared):
    """A rule that makes the context of a page."""

    address: str | None
    """None for a page that is only shown in place of others."""
    template: str
    """Empty for a file or a stream: the rule answers with a Response."""
    takes_show: bool = False
    offline: bool = False
    """Whether browsers save it for visits without a network."""
    instead: Instead = field(default_factory=dict, hash=False)
    headers: Mapping[str, str] = field(default_factory=dict)


def parameters_of(access: type[Access], entity: type[Entity] | None = None) -> dict[str, Any]:
    """The types of path parameters: those that the access annotates, and the fields of the entity."""
    types: dict[str, Any] = {}
    if entity is not None:
        types |= {name: plan.annotation for name, plan in plan_of(entity).fields.items()}
    for base in reversed(access.__mro__):
        if issubclass(base, Access) and base.__module__ not in OWN_MODULES:
            types |= get_annotations(base, eval_str=True)
    return types
