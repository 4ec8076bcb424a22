"""Families to look around in: a household with most of what it needs, and a club's kitchen with little."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from potluck.apps.shopping.service import Shopping
from potluck.people.authentication import Principal
from potluck.web.app import Demo, Guests, WorthALook

__all__ = ["demo_of"]

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
    """A thing of which there should be more than the threshold."""

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
    """Something on the list; of what is kept at home if that has its name."""

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


def demo_of(shopping: Shopping) -> Demo:
    """What fills these families."""

    async def demo(guests: Guests) -> Sequence[WorthALook]:
        return [await _household(shopping, guests), await _club(shopping, guests)]

    return demo


async def _household(shopping: Shopping, guests: Guests) -> WorthALook:
    guests.ago(days=18)
    mara = guests.mara
    family = (await shopping.families.create(mara, "Lund Street 7")).family_id
    guests.ago(days=17)
    await shopping.members.accept(guests.leo, (await shopping.members.invite(mara, family, "admin")).secret)
    await shopping.members.accept(guests.noor, (await shopping.members.invite(guests.leo, family, "member")).secret)
    stores = {
        name: (await shopping.stores.add(mara, family, name, address=address)).store_id
        for name, address in STORES.items()
    }
    locations = {
        name: (await shopping.locations.add(guests.leo, family, name, description=description)).location_id
        for name, description in LOCATIONS.items()
    }
    guests.ago(days=16)
    at_home = {each.name: await _kept(shopping, guests.leo, family, each, stores, locations) for each in AT_HOME}
    for place, wanted in enumerate(ON_THE_LIST):
        # What is bought was, two days ago; the last of them was wanted last night.
        guests.ago(hours=60 - 4 * place)
        await _listed(shopping, guests, family, wanted, stores, at_home)
    guests.ago(minutes=25)
    await shopping.shopping_list.add_lines(guests.noor, family, AND_LATELY)
    open_one = await shopping.members.invite(mara, family, "member", "ida@potluck.example")
    return WorthALook(
        "Lund Street 7: Mara and Leo are its admins, Noor is a member, Ida is invited",
        f"/invitation#{open_one.secret}",
        "It lets one person in, once: Ida, or an account of your own.",
    )


async def _kept(
    shopping: Shopping,
    by: Principal,
    family: UUID,
    thing: AtHome,
    stores: Mapping[str, UUID],
    locations: Mapping[str, UUID],
) -> UUID:
    made = await shopping.inventory.add(
        by,
        family,
        thing.name,
        quantity=thing.quantity,
        threshold=thing.threshold,
        unit=thing.unit,
        location_id=locations[thing.location],
        preferred_store_id=None if thing.store is None else stores[thing.store],
        alternate_store_ids=tuple(stores[each] for each in thing.others),
    )
    return made.item_id


async def _listed(
    shopping: Shopping,
    guests: Guests,
    family: UUID,
    wanted: ToBuy,
    stores: Mapping[str, UUID],
    at_home: Mapping[str, UUID],
) -> None:
    people: Mapping[str, Principal] = {"mara": guests.mara, "leo": guests.leo, "noor": guests.noor}
    linked = at_home.get(wanted.name)
    added = await shopping.shopping_list.add(
        people[wanted.by],
        family,
        name=wanted.name,
        item_id=linked,
        store_id=None if wanted.store is None else stores[wanted.store],
        quantity=wanted.quantity,
        unit=wanted.unit,
        notes=wanted.notes,
    )
    if not wanted.bought_by:
        return
    buyer, which = people[wanted.bought_by], added.shopping_item_id
    await shopping.shopping_list.set_status(buyer, family, which, added.version, status="purchased")
    if wanted.name == BUTTER:
        # It came home; the others are still in somebody's bag.
        await shopping.restocking.restock(buyer, family, which)


async def _club(shopping: Shopping, guests: Guests) -> WorthALook:
    guests.ago(days=9)
    family = (await shopping.families.create(guests.renzo, "Mat club kitchen")).family_id
    for caller in (guests.mara, guests.ida):
        invitation = await shopping.members.invite(guests.renzo, family, "member")
        await shopping.members.accept(caller, invitation.secret)
    guests.ago(days=1)
    await shopping.shopping_list.add_lines(guests.ida, family, CLUB_LIST)
    return WorthALook("Mat club kitchen: Renzo is its admin, Mara and Ida are members", f"/shopping/{family}")
