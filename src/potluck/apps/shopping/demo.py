"""Demo families: a household with most of what it needs, and a club's kitchen with little."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from potluck.apps.shopping.families import families
from potluck.apps.shopping.fields import Role
from potluck.apps.shopping.inventory import InventoryItemView, NewInventoryItem, add_inventory_item
from potluck.apps.shopping.locations import NewLocation, add_location
from potluck.apps.shopping.restocking import Restock, restock
from potluck.apps.shopping.shopping_list import (
    NewShoppingItem,
    PastedLines,
    StatusChange,
    add_lines,
    add_to_list,
    check_off,
)
from potluck.apps.shopping.stores import NewStore, add_store
from potluck.people import Principal
from potluck.web import Demo, InvitationMade

# Everything below is made up.

GROCER, ASIA, BAKERY, DRUGSTORE = "Green Corner", "Asia Market", "Linde’s Bakery", "Drop & Daughters"
STORES = {GROCER: "Lund Street 12", ASIA: "Harbour Road 3", BAKERY: "Lund Street 2", DRUGSTORE: None}

PANTRY, FRIDGE, FREEZER, BATHROOM, SINK = "Pantry", "Fridge", "Freezer", "Bathroom", "Under the sink"
LOCATIONS = {
    PANTRY: "The shelf behind the kitchen door",
    FRIDGE: None,
    FREEZER: "In the cellar, the key hangs by the stairs",
    BATHROOM: "The tall cupboard",
    SINK: None,
}


class AtHome(NamedTuple):
    """An inventory item; at or below the threshold it counts as running low."""

    name: str
    quantity: int
    threshold: int
    unit: str | None
    location: str
    store: str | None
    others: Sequence[str] = ()


COFFEE, TABS, CAT_FOOD, OAT_MILK, BUTTER = "Coffee beans", "Dishwasher tabs", "Cat food", "Oat milk", "Butter"
AT_HOME = (
    AtHome(COFFEE, 2, 4, "bags", PANTRY, GROCER, (ASIA,)),
    AtHome("Basmati rice", 4, 1, "kg", PANTRY, ASIA),
    AtHome("Chickpeas", 6, 2, "tins", PANTRY, GROCER, (ASIA,)),
    AtHome("Spaghetti", 5, 2, "packs", PANTRY, GROCER),
    AtHome("Chopped tomatoes", 9, 4, "tins", PANTRY, GROCER),
    AtHome("Olive oil", 2, 1, "bottles", PANTRY, GROCER),
    AtHome("Flour", 3, 1, "kg", PANTRY, GROCER),
    AtHome("Soy sauce", 1, 1, "bottle", PANTRY, ASIA),
    AtHome(CAT_FOOD, 2, 6, "tins", PANTRY, DRUGSTORE),
    AtHome("Eggs", 8, 4, None, FRIDGE, GROCER),
    AtHome(OAT_MILK, 2, 2, "cartons", FRIDGE, GROCER),
    AtHome(BUTTER, 1, 1, "packs", FRIDGE, GROCER),
    AtHome("Miso", 1, 0, "tub", FRIDGE, ASIA),
    AtHome("Peas", 3, 1, "bags", FREEZER, GROCER),
    AtHome("Dumplings", 2, 0, "bags", FREEZER, ASIA),
    AtHome("Toothpaste", 2, 1, "tubes", BATHROOM, DRUGSTORE),
    AtHome("Toilet paper", 14, 6, "rolls", BATHROOM, DRUGSTORE),
    AtHome(TABS, 4, 20, None, SINK, DRUGSTORE, (GROCER,)),
    AtHome("Bin bags", 0, 1, None, SINK, DRUGSTORE),
)


class ToBuy(NamedTuple):
    """An item of the list, linked to the inventory item with the same name if there is one."""

    by: str
    name: str
    store: str | None
    quantity: int | None = None
    unit: str | None = None
    notes: str | None = None
    bought_by: str = ""


ON_THE_LIST = (
    ToBuy("mara", "Sourdough", BAKERY, 1, None, "sliced", bought_by="mara"),
    ToBuy("leo", BUTTER, GROCER, 2, "packs", bought_by="leo"),
    ToBuy("noor", OAT_MILK, GROCER, 4, "cartons", bought_by="leo"),
    ToBuy("noor", "Birthday candles", None, bought_by="noor"),
    ToBuy("leo", COFFEE, GROCER, 2, "bags"),
    ToBuy("leo", "Tomatoes", GROCER, 6, None, "on the vine"),
    ToBuy("mara", "Flat parsley", GROCER, 1, "bunch"),
    ToBuy("mara", "Lemons", GROCER, 4),
    ToBuy("noor", CAT_FOOD, DRUGSTORE, 12, "tins", "the one she actually eats"),
    ToBuy("mara", TABS, DRUGSTORE, 1, "box"),
    ToBuy("noor", "Rice paper", ASIA, 2, "packs", "for summer rolls on Sunday"),
    ToBuy("noor", "Thai basil", ASIA),
    ToBuy("leo", "Bulb for the hall lamp", None, 1, None, "E14, warm"),
)
AND_LATELY = "6 Poppy seed buns\nRye bread"

CLUB_LIST = "Bananas\nElectrolyte powder\nMat cleaner\n100 Paper cups"


async def fill(demo: Demo) -> None:
    await _household(demo)
    await _club(demo)


async def _household(demo: Demo) -> None:
    demo.ago(days=18)
    mara, leo, noor = demo.mara, demo.leo, demo.noor
    family = await _made_by(demo, mara, "Lund Street 7")
    # Expired rows are deleted by real time, so the invitation must be younger than its lifetime.
    demo.ago(days=6)
    await _joined(demo, leo, await _invited(demo, mara, family, "admin"))
    await _joined(demo, noor, await _invited(demo, leo, family, "member"))
    demo.ago(days=17)
    bought_at = {
        name: (await demo.do(add_store, mara, NewStore(name=name, address=address), family_id=family)).store_id
        for name, address in STORES.items()
    }
    kept_in = {
        name: (
            await demo.do(add_location, leo, NewLocation(name=name, description=description), family_id=family)
        ).location_id
        for name, description in LOCATIONS.items()
    }
    demo.ago(days=16)
    at_home = {thing.name: await _kept(demo, leo, family, thing, bought_at, kept_in) for thing in AT_HOME}
    people = {"mara": mara, "leo": leo, "noor": noor}
    for place, wanted in enumerate(ON_THE_LIST):
        # Purchases happened two days ago; the last item was added last night.
        demo.ago(hours=60 - 4 * place)
        await _listed(demo, people, family, wanted, bought_at, at_home)
    demo.ago(minutes=25)
    await demo.do(add_lines, noor, PastedLines(lines=AND_LATELY), family_id=family)
    open_one = await _invited(demo, mara, family, "member", "ida@potluck.example")
    demo.point_out(
        "Lund Street 7: Mara and Leo are its admins, Noor is a member, Ida is invited",
        f"/invitation#{open_one.token}",
        "It lets one person in, once: Ida, or an account of your own.",
    )


async def _made_by(demo: Demo, person: Principal, name: str) -> UUID:
    family_id: UUID = (await demo.do(families.create, person, families.new(name=name))).family_id
    return family_id


async def _invited(demo: Demo, by: Principal, family: UUID, role: Role, email: str | None = None) -> InvitationMade:
    new = families.new_invitation(role=role, email=email)
    invitation: InvitationMade = await demo.do(families.invite, by, new, family_id=family)
    return invitation


async def _joined(demo: Demo, person: Principal, by: InvitationMade) -> None:
    await demo.join(person, by.token, families.app, families.join)


async def _kept(
    demo: Demo, by: Principal, family: UUID, thing: AtHome, bought_at: Mapping[str, UUID], kept_in: Mapping[str, UUID]
) -> UUID:
    new = NewInventoryItem(
        name=thing.name,
        quantity=thing.quantity,
        threshold=thing.threshold,
        unit=thing.unit,
        location_id=kept_in[thing.location],
        preferred_store_id=None if thing.store is None else bought_at[thing.store],
        alternate_store_ids=tuple(bought_at[name] for name in thing.others),
    )
    item: InventoryItemView = await demo.do(add_inventory_item, by, new, family_id=family)
    return item.item_id


async def _listed(
    demo: Demo,
    people: Mapping[str, Principal],
    family: UUID,
    wanted: ToBuy,
    bought_at: Mapping[str, UUID],
    at_home: Mapping[str, UUID],
) -> None:
    new = NewShoppingItem(
        name=wanted.name,
        item_id=at_home.get(wanted.name),
        store_id=None if wanted.store is None else bought_at[wanted.store],
        quantity=wanted.quantity,
        unit=wanted.unit,
        notes=wanted.notes,
    )
    added = await demo.do(add_to_list, people[wanted.by], new, family_id=family)
    if not wanted.bought_by:
        return
    buyer, ids = people[wanted.bought_by], {"family_id": family, "shopping_item_id": added.shopping_item_id}
    await demo.do(check_off, buyer, StatusChange(status="purchased"), version=added.version, **ids)
    if wanted.name == BUTTER:
        # Only the butter has been put away; the other purchases are still in a bag.
        await demo.do(restock, buyer, Restock(), **ids)


async def _club(demo: Demo) -> None:
    demo.ago(days=9)
    family = await _made_by(demo, demo.renzo, "Mat club kitchen")
    demo.ago(days=6)
    for caller in (demo.mara, demo.ida):
        await _joined(demo, caller, await _invited(demo, demo.renzo, family, "member"))
    demo.ago(days=1)
    await demo.do(add_lines, demo.ida, PastedLines(lines=CLUB_LIST), family_id=family)
    demo.point_out("Mat club kitchen: Renzo is its admin, Mara and Ida are members", f"/shopping/{family}")
