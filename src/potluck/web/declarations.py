"""What was declared: actions, reads, lists and pages, as the runner, the endpoints and the API document read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct
from starlette.responses import Response

from potluck.table import Entity, Query
from potluck.table.entity import plan_of
from potluck.web.access import Access
from potluck.web.errors import THROTTLED, Problem
from potluck.web.inputs import Input, Versioned
from potluck.web.rate_limits import DEFAULT_LIMIT, RateLimit

if TYPE_CHECKING:
    from potluck.web.actions import Actions

__all__ = [
    "LARGEST_BODY",
    "Action",
    "Declared",
    "Listing",
    "Method",
    "Page",
    "PageForm",
    "Read",
    "Show",
    "Then",
    "parameters_of",
]

# Of a call that says nothing else.
LARGEST_BODY = 1_000_000

Method = Literal["POST", "PUT", "PATCH", "DELETE"]
Then = str | Callable[[Any, Any], str | Response]


class Show(Protocol):
    """What a page is shown for: a first look, or a form that was refused. A page's rule may take it."""

    @property
    def clash(self) -> Any:
        """How the thing is now, as its view shows it, where a form was about an older version; else None."""

    @property
    def refusal(self) -> Exception | None:
        """Why a form was refused, if that is why the page is shown."""

    @property
    def query(self) -> Mapping[str, str]:
        """What stands in the address after `?`."""

    @property
    def done(self) -> Any:
        """The answer to a form that leads nowhere else, because a secret in it may stand in no address; else None."""

    def form(self, kind: type[Input], values: Mapping[str, Any] | Struct | None = None) -> Any:
        """The form of this input: as it was filled in, if it was refused, else blank or with the values of a thing."""

    def keep(self, name: str, value: str, max_age: int, path: str = "/") -> None:
        """Have the browser keep something for this person alone, in a cookie; `max_age` is in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageForm:
    """How a page posts an action: where to, where that leads, and which page shows a refused form again."""

    path: str | None = None
    """After the address of the subject, or of the thing; None for the action's own path."""
    then: Then = ""
    """Where a form that was taken leads: an address with names of the path and of the answer in braces, or a function
    of the access and the answer. Nowhere: the page of `on` is shown with the answer, as `show.done`."""
    on: Callable[..., Any] | None = None
    """The rule of the page that shows the form again; without one, a refusal is a page of its own."""
    row: str | None = None
    """The template that answers htmx: the thing as it is now, or with what clashed."""
    versioned: bool = True
    """False: what is said stays true whatever else was changed, so that a version that is behind is no clash."""


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
    secret: bool = False
    """The answer holds a secret: it is given once, and never kept."""
    answer: Any = None
    """The type of the answer, for the API document."""
    form: PageForm | None = None
    form_path: str | None = None
    input_optional: bool = False
    kept: bool = True
    """False: nothing is kept under an Idempotency-Key, and a repeat is done anew."""
    serialized: bool = False
    """Those of one process who do this to one thing wait for each other, instead of refusing each other's writes."""
    largest_body: int | None = None
    """How many bytes may be sent, where that is more than usual: an import."""
    rate_limit: RateLimit = DEFAULT_LIMIT
    """How much of it one caller may do."""
    frees_room: bool = False
    """It is done however full the store is: it deletes, or is the way there."""

    @property
    def input_in_query(self) -> bool:
        """Whether the input stands after `?`: a DELETE has no body."""
        return self.method == "DELETE" and self.input is not None

    @property
    def counts(self) -> bool:
        """Whether it is counted how much a caller does of this; people who are signed in may always free room."""
        return not (self.access.needs_principal and self.frees_room)

    @property
    def counts_attempts(self) -> bool:
        """Whether the rule counts how often it is tried: it says that it may refuse more."""
        return THROTTLED in self.problems

    @property
    def versioned(self) -> bool:
        return self.input is not None and issubclass(self.input, Versioned)

    @property
    def takes_if_match(self) -> bool:
        """Whether a version can be named in a header: of a change, or of a thing that is deleted and has one."""
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
    """A rule that finds things."""

    order: Callable[[Any], tuple[Any, ...]] | None = None
    also: Callable[[Sequence[Any]], Struct] | None = None
    shows: type[Struct] | None = None
    live: Callable[[Any], Query[Any]] | None = None
    row: str | None = None
    row_events: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Declared):
    """A rule that says what a page shows."""

    address: str
    template: str
    takes_show: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)


def parameters_of(access: type[Access], entity: type[Entity] | None = None) -> dict[str, Any]:
    """The types of path parameters: those that the access annotates, and the fields of the entity."""
    found: dict[str, Any] = {}
    if entity is not None:
        found |= {name: each.annotation for name, each in plan_of(entity).fields.items()}
    for base in reversed(access.__mro__):
        if issubclass(base, Access) and base.__module__ != Access.__module__:
            found |= get_annotations(base, eval_str=True)
    return found
