"""What Shopping's pages have in common: what stands around them, and a form that is shown again with what is wrong."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple
from uuid import UUID

from litestar import Request
from litestar.response import Redirect, Template
from msgspec import Meta

from potluck.apps.shopping.entities import MOST
from potluck.apps.shopping.errors import NothingThere, ShoppingError
from potluck.apps.shopping.pages.files import file_address
from potluck.apps.shopping.problems import ERRORS as SHOPPING_ERRORS
from potluck.apps.shopping.views import FamilyShown
from potluck.people.callers import Caller
from potluck.people.errors import InvalidFields, PeopleError, WrongField
from potluck.web.bodies import Says
from potluck.web.errors import ERRORS, INVALID_FIELDS
from potluck.web.forms import Form
from potluck.web.layout import page
from potluck.web.people.showing import led_on

__all__ = [
    "APP",
    "FAMILY",
    "HOME",
    "Amount",
    "AnyRequest",
    "Line",
    "Quantity",
    "Refusal",
    "Seen",
    "back_to",
    "by_htmx",
    "family_page",
    "refused",
]

AnyRequest = Request[Any, Any, Any]
Refusal = PeopleError | ShoppingError

APP = "shopping"
HOME = "/shopping"
FAMILY = f"{HOME}/{{family_id:str}}"

# What is too long or too short for its field, the services say; this is only where reading stops.
Line = Annotated[str, Meta(max_length=2000)]
Seen = Annotated[int, Meta(ge=1, le=10**15)]
Quantity = Annotated[int, Meta(ge=1, le=MOST), Says("Quantity must be a positive integer")]
Amount = Annotated[int, Meta(ge=0, le=MOST), Says(f"It must be a whole number from 0 to {MOST:,}")]


class Section(NamedTuple):
    """A part of the app, for the bar under the thumb."""

    address: str
    icon: str
    name: str
    current: bool


SECTIONS = (
    ("list", "shopping-basket", "List", ""),
    ("inventory", "package", "Inventory", "/inventory"),
    ("stores", "store", "Stores", "/stores"),
    ("members", "users", "Members", "/members"),
)


def sections(family_id: UUID | str, current: str) -> Sequence[Section]:
    return [Section(f"{HOME}/{family_id}{path}", icon, title, name == current) for name, icon, title, path in SECTIONS]


def family_page(
    name: str, caller: Caller, family: FamilyShown, section: str, *, status: int = 200, **context: Any
) -> Template:
    """A page of a family, with the way to its other parts."""
    return page(
        f"shopping/{name}.html",
        caller,
        status=status,
        app=APP,
        here="Shopping",
        sections=sections(family.family_id, section),
        family=family,
        home=f"{HOME}/{family.family_id}",
        admin=family.role == "admin",
        file=file_address,
        **context,
    )


def by_htmx(request: AnyRequest) -> bool:
    return "hx-request" in request.headers


def back_to(family_id: UUID, path: str = "", **said: Any) -> Redirect:
    """To a page of the family, after something was done there; what was done is told in its address."""
    asked = "&".join(f"{name}={value}" for name, value in said.items() if value not in (None, ""))
    return led_on(f"{HOME}/{family_id}{path}{'?' if asked else ''}{asked}")


class Again(NamedTuple):
    """A form that was refused: itself, with what is wrong, and how a program would have been answered."""

    form: Form[Any]
    status: int


def refused(
    filled: Form[Any], refusal: Refusal | None = None, beside: Mapping[type[Exception], str] | None = None
) -> Again:
    """The form with a refusal beside its field, if it has one; else above all of them."""
    if refusal is None:
        return Again(filled, INVALID_FIELDS.status)
    if isinstance(refusal, NothingThere):
        # Of a page that is not theirs, or not any more, nothing is shown again.
        raise refusal
    kind = SHOPPING_ERRORS.get(type(refusal)) or ERRORS[type(refusal)]
    if isinstance(refusal, InvalidFields):
        return Again(filled.refused(refusal), kind.problem.status)
    field = (beside or {}).get(type(refusal))
    wrong = str(refusal) if field is None else InvalidFields(WrongField(field, str(refusal)))
    return Again(filled.refused(wrong), kind.problem.status)
