"""Families: their creator is the first admin, members see them, and deleting one deletes everything in it."""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.responses import Response

from potluck.apps.shopping.access import FamilyAdmin, InFamily
from potluck.apps.shopping.cascade import APP
from potluck.apps.shopping.entities import Deletion, Family, Member
from potluck.apps.shopping.fields import MOST_FAMILIES
from potluck.apps.shopping.first_items import FirstItems, household_name
from potluck.apps.shopping.suggestions import STAPLES
from potluck.table import put
from potluck.web import (
    NotFound,
    Place,
    ProblemError,
    SealedCookie,
    Section,
    Show,
    SignedIn,
    _,
)

TAG = "Shopping"
HOME = "/shopping"
FAMILY = f"{HOME}/{{family_id}}"
# The cookie with the family this browser showed last. It grants no access: the family is checked like any other.
LAST_FAMILY = SealedCookie("potluck-shopping-family", path=HOME)


class LastAdmin(
    ProblemError,
    slug="last-admin",
    status=409,
    title=_("A household needs an admin"),
    remedy=_("Make another member an admin first, or delete the household."),
):
    """A family always has an admin. This would have removed the last one, so nothing was changed."""

    def __init__(self) -> None:
        super().__init__(_("A household needs an admin. Make someone else an admin first, or delete the household."))


# --- the navigation around the pages of a family -------------------------------------------------------------------

SECTIONS = (
    ("list", "shopping-basket", _("List"), ""),
    ("inventory", "package", _("Inventory"), "/inventory"),
    ("stores", "store", _("Stores"), "/stores"),
    ("members", "users", _("Members"), "/members"),
)


def sections(home: str, current: str) -> list[Section]:
    """Navigation links to a family's sections, whose pages are below `home`."""
    return [Section(f"{home}{path}", icon, title, name == current) for name, icon, title, path in SECTIONS]


def frame_of(section: str) -> Callable[[Any], Awaitable[dict[str, Any]]]:
    """Template values that all pages of a section share: the family, and links to the other sections."""

    async def frame(at: SignedIn) -> dict[str, Any]:
        shared: dict[str, Any] = {"app": APP, "here": _("Shopping")}
        if not isinstance(at, InFamily):
            return shared
        family = await at.store.get(Family.by_id(at.family_id))
        if family is None:
            raise NotFound
        (shown,) = await at.show(families.view, [family])
        home = f"{HOME}/{at.family_id}"
        admin = at.row.role == "admin"
        return {**shared, "sections": sections(home, section), "family": shown, "home": home, "admin": admin}

    return frame


async def first_page(at: SignedIn, show: Show) -> dict[str, Any] | Response:
    """Redirects to the family shown last; a person without one gets a form for the first items of a new one."""
    own = await families.own_views(at)
    if not own or show.refusal is not None:
        new = {"familyId": str(at.new_id()), "name": household_name(at.principal.name)}
        return {"form": show.form(FirstItems, new), "naming": show.form(families.new), "staples": STAPLES}
    last = LAST_FAMILY.value(at.visitor)
    first, *_ = sorted(own, key=lambda family: str(family.family_id) != last)
    return show.redirect(f"{HOME}/{first.family_id}")


async def other_families(at: InFamily) -> dict[str, Any]:
    """Additional values for the members page: the families to switch to."""
    return {"families": await families.own_views(at)}


families = Place(
    APP,
    Family,
    InFamily,
    FamilyAdmin,
    members=Member.all_of_family,
    places=Member.every_family_of,
    own=lambda user_id: Member.families_of(user_id, "active"),
    api="/families",
    page=HOME,
    tag=TAG,
    frame=frame_of("members"),
    start=("", "shopping/first.html", first_page),
    settings=("/members", "shopping/members.html", other_families),
    create_path="/families",
    last_manager=LastAdmin,
    # The consumer deletes the rest of the family's rows.
    ended=lambda family, by, now: [
        put(
            Deletion(family_id=family.family_id, what="family", gone_id=family.family_id, deleted_by=by, created_at=now)
        )
    ],
    most_places=MOST_FAMILIES,
    word=_("household"),
)
