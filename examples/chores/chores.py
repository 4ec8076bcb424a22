"""What has to be done in a home."""

from datetime import datetime
from typing import Any
from uuid import UUID

from chores.entities import Chore, Details, Home, Minutes, Status, Title
from chores.homes import HomeAdmin, InHome, homes
from potluck.table import Query, absent, delete, present, put, the
from potluck.web import UNSET, Edit, New, PageForm, Show, Unset, Versioned, View, Writes


class ChoreView(View[Chore]):
    chore_id: UUID
    title: str
    details: str | None
    minutes: int | None
    status: Status
    done_by: UUID | None
    version: int
    updated_at: datetime


class NewChore(New[Chore]):
    title: Title
    details: Details | None = None
    minutes: Minutes | None = None


class ChoreEdit(Edit[Chore]):
    title: Title | Unset = UNSET
    details: Details | Unset | None = UNSET
    minutes: Minutes | Unset | None = UNSET


class StatusEdit(Versioned):
    status: Status


chores = homes.subject("/chores", Chore.by_id, ChoreView)


@homes.actions.page("", "chores/home.html")
async def home_page(at: InHome, home: Home, show: Show) -> dict[str, Any]:
    position = await at.position(all_chores(at))
    rows = await at.show(ChoreView, await at.store.all(all_chores(at)))
    return {"home": home, "chores": rows, "position": position, "form": show.form(NewChore)}


@chores.list(live=True, row="chores/row.html")
def all_chores(at: InHome) -> Query[Chore]:
    """The chores of a home, in the order of their ids."""
    return Chore.of_home(at.home_id)


@chores.read()
async def one_chore(at: InHome, chore: Chore) -> Chore:
    """One chore."""
    return chore


@chores.create(form=PageForm(then="/chores/{home_id}", on=home_page))
async def add_chore(at: InHome, new: NewChore) -> Writes[Chore]:
    """Add a chore."""
    chore = at.make(new, home_id=at.home_id, chore_id=at.new_id())
    return Writes(chore, put(chore, when=absent))


@chores.change()
async def edit_chore(at: InHome, chore: Chore, edit: ChoreEdit) -> Writes[Chore]:
    """Edit a chore."""
    return at.apply(chore, edit)


@chores.action(
    "PATCH",
    "/status",
    form=PageForm(then="/chores/{home_id}", flash="{title} is {status}.", versioned=False),
)
async def check_off(at: InHome, chore: Chore, wanted: StatusEdit) -> Writes[Chore]:
    """Check a chore off, or open it again."""
    by = at.principal.user_id if wanted.status == "done" else None
    after, write = at.edit(chore, the(Chore.status).becomes(wanted.status), the(Chore.done_by).becomes(by))
    return Writes(after, write)


@chores.delete()
async def delete_chore(at: HomeAdmin, chore: Chore) -> Writes[None]:
    """Delete a chore. Admins only."""
    return Writes(None, delete(chore, when=present))
