"""The form of the first page: the first items make the household that they are for."""

from uuid import UUID

from msgspec import Struct

from potluck.apps.shopping.conflicts import IdTaken
from potluck.apps.shopping.entities import Deletion, Family, ShoppingListItem
from potluck.apps.shopping.families import FAMILY, HOME, families, first_page, frame_of
from potluck.apps.shopping.first_items import FirstItems
from potluck.apps.shopping.line_parser import read_lines
from potluck.apps.shopping.pages.shopping_list import added_text
from potluck.table import absent, check, put
from potluck.web import Actions, OwnPlaces, Writes, or_raise, or_retry

first_list: Actions[Family] = Actions(OwnPlaces, page=f"{HOME}/first", frame=frame_of("list"))


class Started(Struct, frozen=True):
    """A new household, and what is on its list."""

    family_id: UUID
    names: list[str]


def _started(at: OwnPlaces, started: Started) -> str:
    return added_text(started.names) if started.names else ""


@first_list.form("", then=FAMILY, flash=_started, on=first_page)
async def start_list(at: OwnPlaces, first: FirstItems) -> Writes[Started]:
    """Create a household with the first items on its list."""
    if await at.store.get(Family.by_id(first.family_id)) is not None:
        return Writes(Started(first.family_id, []))
    person = at.principal.user_id
    await at.must_fit(families.own_places(person), families.most_places, "families of one person")
    family = Family(family_id=first.family_id, name=first.name, created_by=person, created_at=at.now, updated_at=at.now)
    items = [
        ShoppingListItem(
            shopping_item_id=at.new_id(),
            family_id=first.family_id,
            name=line.name,
            quantity=line.quantity,
            unit=line.unit,
            added_by=person,
            created_at=at.now,
            updated_at=at.now,
        )
        for line in read_lines(first.items)
    ]
    founded = await families.founding(at, family)
    added = (or_retry(put(item, when=absent)) for item in items)
    # What is left of a deleted household would be shown in a new one with its id, and the new one deleted with it.
    unused = check(Deletion.by_id(first.family_id, "family", first.family_id), when=absent)
    return founded.together_with(or_raise(unused, IdTaken), *added).answering(
        Started(first.family_id, [item.name for item in items])
    )
