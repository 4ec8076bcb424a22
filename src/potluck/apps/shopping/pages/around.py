"""What Shopping's pages have in common: what stands around them, and a form that is shown again with what is wrong."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, TypeVar
from uuid import UUID

from litestar import Request
from litestar.response import Redirect, Template
from msgspec import Meta

from potluck.apps.shopping.errors import NothingThere, ShoppingError
from potluck.apps.shopping.fields import MOST
from potluck.apps.shopping.pages.files import file_address
from potluck.apps.shopping.problems import ERRORS as SHOPPING_ERRORS
from potluck.apps.shopping.views import FamilyShown
from potluck.people.authentication import Principal
from potluck.people.errors import PeopleError, Stale
from potluck.web import forms
from potluck.web.bodies import Body, Says
from potluck.web.errors import ERRORS, VERSION_CONFLICT
from potluck.web.forms import Again, Beside, Form
from potluck.web.layout import Section, initials, page
from potluck.web.people.showing import led_on

__all__ = [
    "APP",
    "FAMILY",
    "HOME",
    "Amount",
    "AnyRequest",
    "Quantity",
    "Refusal",
    "back_to",
    "family_page",
    "person",
    "refused",
    "tried",
]

AnyRequest = Request[Any, Any, Any]
Refusal = PeopleError | ShoppingError
KINDS = ERRORS | SHOPPING_ERRORS

B = TypeVar("B", bound=Body)
T = TypeVar("T")

APP = "shopping"
HOME = "/shopping"
FAMILY = f"{HOME}/{{family_id:str}}"

Quantity = Annotated[int, Meta(ge=1, le=MOST), Says("Quantity must be a positive integer")]
Amount = Annotated[int, Meta(ge=0, le=MOST), Says(f"It must be a whole number from 0 to {MOST:,}")]


SECTIONS = (
    ("list", "shopping-basket", "List", ""),
    ("inventory", "package", "Inventory", "/inventory"),
    ("stores", "store", "Stores", "/stores"),
    ("members", "users", "Members", "/members"),
)


def sections(family_id: UUID | str, current: str) -> Sequence[Section]:
    return [Section(f"{HOME}/{family_id}{path}", icon, title, name == current) for name, icon, title, path in SECTIONS]


def family_page(
    name: str, caller: Principal, family: FamilyShown, section: str, *, status: int = 200, **context: Any
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


def person(caller: Principal) -> dict[str, str]:
    """Who they are, for a script that keeps something for them."""
    return {"id": str(caller.user_id), "name": caller.name, "initials": initials(caller.name)}


def back_to(family_id: UUID, path: str = "", **said: Any) -> Redirect:
    """To a page of the family, after something was done there; what was done is told in its address."""
    asked = "&".join(f"{name}={value}" for name, value in said.items() if value not in (None, ""))
    return led_on(f"{HOME}/{family_id}{path}{'?' if asked else ''}{asked}")


async def tried(filled: Form[B], do: Callable[[B], Awaitable[T]], beside: Beside | None = None) -> T | Again:
    """What came of doing as the form says; or the form, to be shown again."""
    if not filled.good:
        return refused(filled)
    try:
        return await do(filled.value)
    except Stale as changed:
        # Nothing is wrong with the form: which of the two stays is for the person to say.
        return Again(filled, VERSION_CONFLICT.status, {}, changed.current)
    except (PeopleError, ShoppingError) as refusal:
        return refused(filled, refusal, beside)


def refused(filled: Form[Any], refusal: Refusal | None = None, beside: Beside | None = None) -> Again:
    """The form with a refusal beside its field, if it has one; else above all of them."""
    if isinstance(refusal, NothingThere):
        # Of a page that is not theirs, or not any more, nothing is shown again.
        raise refusal
    return forms.refused(filled, refusal, beside, KINDS)
