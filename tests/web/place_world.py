"""The world of an app with a Place, for the access test: made from the app's declarations, by its own API.

An app whose things cannot all be made by the examples of the API document passes `things`: a function of the suite, a
manager and the id of a place that makes them and returns their ids by path parameter. Ids that are not random, such as
days, must differ between the two places.
"""

import pkgutil
from collections.abc import Awaitable, Callable, Mapping
from importlib.util import find_spec
from typing import Any

from potluck.validation.errors import camel
from potluck.web import Place
from potluck.web.app import AppMaker
from potluck.web.declarations import Action
from tests.web.access_worlds import AccessWorld, Address, Members, Person, Suite, example_body
from tests.web.suites import API

__all__ = ["Furnish", "app_from_elsewhere", "furnish_place"]

NO_EXAMPLE = (
    "the example of the API document is refused; write an access_world.py that passes `things` to furnish_place, "
    "as tests/apps/shopping/access_world.py does, and add a line to WORLDS in tests/web/test_every_action.py"
)

Furnish = Callable[[Suite], Awaitable[AccessWorld]]
Things = Callable[[Suite, Person, str], Awaitable[dict[str, str]]]


async def furnish_place(
    suite: Suite,
    things: Things | None = None,
    bodies: Callable[[dict[str, str]], Mapping[str, Any]] = lambda ids: {},
    ids_for: Callable[[dict[str, str]], Mapping[str, Mapping[str, str]]] = lambda ids: {},
) -> AccessWorld:
    """Two places of different people with one of everything.

    `bodies` are for examples that would not do, `ids_for` for actions that need a thing in another state.
    """
    assert suite.app.place is not None, f"{suite.app.name} has no world here: write its `furnish`, and a line in WORLDS"
    world = _PlaceWorld(suite, suite.app.place, things)
    ada, eve = await suite.person("Ada"), await suite.person("Eve")
    ids, ids_elsewhere = await world.furnished(ada), await world.furnished(eve)
    members = world.members(ada, ids[world.place.id])
    removed = await members.join()
    await members.remove(removed)
    own_bodies, own_ids_for = bodies(ids), ids_for(ids)
    return AccessWorld(
        ids=ids,
        ids_elsewhere=ids_elsewhere,
        elsewhere=eve,
        outsiders={"a stranger": await suite.person("Stranger"), "a removed member": removed},
        members=members,
        bodies=own_bodies,
        ids_for=own_ids_for,
    )


def app_from_elsewhere(named: str) -> dict[AppMaker, Furnish]:
    """The app of this name, with the world of the access_world.py next to it or one made from its declarations."""
    if not named:
        return {}
    make = pkgutil.resolve_name(named)
    world = f"{make.__module__.rpartition('.')[0]}.access_world"
    return {make: pkgutil.resolve_name(f"{world}:furnish") if find_spec(world) else furnish_place}


class _PlaceWorld:
    def __init__(self, suite: Suite, place: Place[Any, Any], things: Things | None) -> None:
        self.suite, self.place, self._things = suite, place, things or self._examples

    async def furnished(self, manager: Person) -> dict[str, str]:
        """The ids of a new place with one of everything."""
        place = self.place
        made = await self.suite.data("POST", place.api, {"name": "Lovelace"}, by=manager)
        place_id: str = made[camel(place.id)]
        friend = await self._joined(manager, place_id, place.roles[-1])
        invitation = await self._invited(manager, place_id, place.roles[-1])
        return {
            place.id: place_id,
            place.own_id: friend["userId"],
            "invitation_id": invitation["id"],
            **await self._things(self.suite, manager, place_id),
        }

    async def _examples(self, suite: Suite, manager: Person, place_id: str) -> dict[str, str]:
        """The ids of things made by the examples of the API document, one of each that can be created."""
        document, ids = await suite.document(), {}
        for subject in suite.app.subjects:
            for each in subject.declared if subject not in self.place.subjects else ():
                if isinstance(each, Action) and (each.method, each.path) == ("POST", subject.api) and subject.id:
                    address = Address("POST", API + each.path, "api", each.access, each)
                    path = each.path.format(**{self.place.id: place_id, **ids})
                    try:
                        made = await suite.data("POST", path, example_body(document, address), by=manager)
                    except AssertionError as refused:
                        raise AssertionError(f"{address}: {NO_EXAMPLE}") from refused
                    ids[subject.id] = made[camel(subject.id)]
        return ids

    def members(self, manager: Person, place_id: str) -> Members:
        place, at = self.place, f"{self.place.api}/{place_id}/members"

        async def join() -> Person:
            return await self._joined(manager, place_id, place.managing[0])

        async def remove(person: Person) -> None:
            await self.suite.data("DELETE", f"{at}/{person['userId']}", by=manager)

        async def demote(person: Person) -> None:
            people = await self.suite.data("GET", at, by=manager)
            own_id = camel(place.own_id)
            (version,) = (each["version"] for each in people["items"] if each[own_id] == person["userId"])
            change = {"role": place.roles[-1], "version": version}
            await self.suite.data("PATCH", f"{at}/{person['userId']}", change, by=manager)

        return Members(join=join, remove=remove, demote=demote)

    async def _invited(self, by: Person, place_id: str, role: str) -> Any:
        return await self.suite.data("POST", f"{self.place.api}/{place_id}/invitations", {"role": role}, by=by)

    async def _joined(self, by: Person, place_id: str, role: str) -> Person:
        invitation = await self._invited(by, place_id, role)
        person = await self.suite.person("Friend")
        await self.suite.data("POST", "/invitations/accept", {"token": invitation["token"]}, by=person)
        return person
