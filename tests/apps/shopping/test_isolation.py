"""Two families, every verb, every id of the other: the same answer as for a made-up one, and nothing is changed."""

import inspect
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from potluck.apps.shopping.clearing import NothingToUndo
from potluck.people.errors import NoSuchInvitation
from potluck.validation.errors import Refusal
from potluck.web.errors import NotFound, ProblemError
from tests.apps.shopping.services import Shopping

SERVICES = (
    "families",
    "members",
    "inventory",
    "stores",
    "locations",
    "shopping_list",
    "clearing",
    "restocking",
)

# What a call says, by the name of the parameter; ids come from the family that is asked about.
SAID: dict[str, Any] = {
    "name": "Something",
    "version": 1,
    "role": "member",
    "by": 1,
    "lines": "2 milk",
    "status": "purchased",
}
IDS = {
    *("family_id", "member_id", "invitation_id", "item_id", "store_id", "location_id", "shopping_item_id"),
    *("undo_token", "preferred_store_id", "alternate_store_ids"),
}
# An id that is chosen for something new is nobody's.
CHOSEN = {
    ("inventory", "add"): {"item_id"},
    ("stores", "add"): {"store_id"},
    ("locations", "add"): {"location_id"},
    ("shopping_list", "add"): {"shopping_item_id"},
}
# Verbs that are about no family that exists already.
ABOUT_NONE = {
    *(("families", "create"), ("families", "all"), ("members", "accept")),
}


def verbs() -> list[tuple[str, str]]:
    """Every public verb of every service, by introspection: a new one is tested without being named here."""
    annotations = inspect.get_annotations(Shopping, eval_str=True)
    found = []
    for service in SERVICES:
        for name, verb in inspect.getmembers(annotations[service], inspect.iscoroutinefunction):
            if not name.startswith("_") and (service, name) not in ABOUT_NONE:
                assert "family_id" in inspect.signature(verb).parameters, f"{service}.{name} is about no family"
                found.append((service, name))
    return found


VERBS = verbs()


async def furnished(shop: Any, name: str, admin: str) -> tuple[Any, dict[str, Any]]:
    """A family with one of everything, and the ids of all of it."""
    ada, family = await shop.family(name, admin)
    ben = await shop.joined(ada, family, f"{admin}-friend")
    shopping = shop.shopping
    store = await shopping.stores.add(ada, family, "Grocer")
    cellar = await shopping.locations.add(ada, family, "Cellar")
    milk = await shopping.inventory.add(ada, family, "Milk", location_id=cellar.location_id)
    cake = await shopping.shopping_list.add(ada, family, name="Cake")
    await shopping.shopping_list.set_status(ada, family, cake.shopping_item_id, 1, status="purchased")
    cleared = await shopping.clearing.clear_purchased(ada, family)
    added = await shopping.shopping_list.add(ada, family, name="Tea", store_id=store.store_id)
    invited = await shopping.members.invite(ada, family, "member")
    return ada, {
        "family_id": family,
        "member_id": ben.user_id,
        "invitation_id": invited.invitation_id,
        "item_id": milk.item_id,
        "store_id": store.store_id,
        "preferred_store_id": store.store_id,
        "alternate_store_ids": (store.store_id,),
        "location_id": cellar.location_id,
        "shopping_item_id": added.shopping_item_id,
        "undo_token": cleared.undo_token,
    }


def arguments(verb: Callable[..., Any], ids: dict[str, Any], optional: str | None = None) -> dict[str, Any]:
    """What the verb needs to be said, and one of what may be."""
    said = {}
    for name, parameter in inspect.signature(verb).parameters.items():
        if name in ("self", "caller", "asked"):
            continue
        if parameter.default is inspect.Parameter.empty or name == optional:
            said[name] = ids[name] if name in IDS else SAID[name]
    return said


async def told(verb: Callable[..., Any], caller: Any, said: dict[str, Any]) -> tuple[type, str]:
    with pytest.raises((ProblemError, Refusal)) as refused:
        await verb(caller, **said)
    assert isinstance(refused.value, NotFound | NothingToUndo | NoSuchInvitation)
    return type(refused.value), str(refused.value)


def made_up(value: Any) -> Any:
    return (uuid4(),) if isinstance(value, tuple) else uuid4()


def test_every_verb_is_walked():
    assert len(VERBS) >= 35
    assert ("shopping_list", "set_status") in VERBS
    assert ("clearing", "undo") in VERBS


async def test_who_is_not_in_a_family_is_told_of_it_as_of_one_that_never_was(embedded_shop):
    shop = embedded_shop
    _, ids = await furnished(shop, "Lovelace", "Ada")
    eve, _ = await furnished(shop, "Byron", "Eve")
    before = await shop.dump()
    for service, name in VERBS:
        verb = getattr(getattr(shop.shopping, service), name)
        said = arguments(verb, ids)
        if (service, name) == ("shopping_list", "add"):
            said["name"] = "Tea"
        never = {key: made_up(value) if key in IDS else value for key, value in said.items()}
        answer = await told(verb, eve, said)
        assert answer == await told(verb, eve, never), (service, name)
        assert answer[0] is NotFound, (service, name)
        assert await shop.dump() == before, (service, name)


async def test_every_id_of_another_family_is_as_good_as_a_made_up_one(embedded_shop):
    shop = embedded_shop
    _, others = await furnished(shop, "Lovelace", "Ada")
    eve, own = await furnished(shop, "Byron", "Eve")
    before = await shop.dump()
    tried = 0
    for service, name in VERBS:
        verb = getattr(getattr(shop.shopping, service), name)
        parameters = set(inspect.signature(verb).parameters) & IDS - {"family_id"}
        for parameter in sorted(parameters - CHOSEN.get((service, name), set())):
            said = arguments(verb, own, optional=parameter)
            if (service, name) == ("shopping_list", "add"):
                said["name"] = "Tea"
            answers = [
                await told(verb, eve, said | {parameter: value})
                for value in (others[parameter], made_up(others[parameter]))
            ]
            assert answers[0] == answers[1], (service, name, parameter)
            assert await shop.dump() == before, (service, name, parameter)
            tried += 1
    assert tried >= 25


async def test_someone_who_was_removed_is_told_the_same_by_every_verb(embedded_shop):
    shop = embedded_shop
    ada, ids = await furnished(shop, "Lovelace", "Ada")
    ben = await shop.joined(ada, ids["family_id"], "Ben", "admin")
    await shop.shopping.members.remove(ada, ids["family_id"], ben.user_id)
    before = await shop.dump()
    for service, name in VERBS:
        verb = getattr(getattr(shop.shopping, service), name)
        said = arguments(verb, ids)
        if (service, name) == ("shopping_list", "add"):
            said["name"] = "Tea"
        assert (await told(verb, ben, said))[0] is NotFound, (service, name)
    assert await shop.dump() == before
