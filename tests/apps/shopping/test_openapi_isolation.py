"""Two families and every call that the API's own document knows: another family's ids are as good as made-up ones.

A call that is added is walked without being named here; one that needs a field nobody knows here fails.
"""

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest

from tests.apps.shopping.calls import Calls, Home, data
from tests.web.suites import API

FAMILY = "{familyId}"

# What a call needs to be said besides ids, by field.
SAID: dict[str, Any] = {
    "name": "Something",
    "version": 1,
    "role": "member",
    "by": 1,
    "lines": "2 milk",
    "status": "purchased",
}
# An id that is chosen for something new is nobody's; it may be anyone's elsewhere.
CHOSEN = {
    ("post", "/inventory", "itemId"),
    ("post", "/stores", "storeId"),
    ("post", "/locations", "locationId"),
    ("post", "/shopping-list", "shoppingItemId"),
}


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    in_path: tuple[str, ...]
    in_query: tuple[str, ...]
    query_needs: tuple[str, ...]
    in_body: tuple[str, ...]
    body_needs: tuple[str, ...]
    has_body: bool

    @property
    def below(self) -> str:
        """The path below the family."""
        return self.path.partition(FAMILY)[2]

    def body(self, ids: dict[str, Any], optional: str | None = None) -> dict[str, Any] | None:
        """What the call needs to be said, and one of the ids that may be."""
        if not self.has_body:
            return None
        wanted = [*self.body_needs, *([optional] if optional else [])]
        said = {name: ids[name] if name in self.in_body else SAID[name] for name in wanted}
        if (self.method, self.below) == ("post", "/shopping-list"):
            said |= {"name": "Tea"}
        if self.method == "patch":
            said |= {"version": 1}
        return said


def is_id(schema: dict[str, Any]) -> bool:
    """Whether a field holds ids: one, one or none, or several."""
    inner = [schema, *schema.get("anyOf", ()), schema.get("items", {})]
    return any(each.get("format") == "uuid" for each in inner)


def calls_in(document: dict[str, Any]) -> list[Call]:
    found = []
    for path, methods in document["paths"].items():
        if FAMILY not in path:
            continue
        for method, operation in methods.items():
            parameters = operation.get("parameters", [])
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            schema = document["components"]["schemas"][body["$ref"].rpartition("/")[2]] if body else {}
            properties = schema.get("properties", {})
            query = [each for each in parameters if each["in"] == "query"]
            found.append(
                Call(
                    method,
                    path.removeprefix(API),
                    tuple(each["name"] for each in parameters if each["in"] == "path"),
                    tuple(each["name"] for each in query if each["name"].endswith("Id")),
                    tuple(each["name"] for each in query if each["required"]),
                    tuple(name for name, each in properties.items() if is_id(each)),
                    tuple(schema.get("required", ())),
                    bool(body),
                )
            )
    return found


async def furnished(calls: Calls, name: str, admin: str) -> tuple[Home, dict[str, Any]]:
    """A family with one of everything, and the ids of all of it."""
    home = await calls.home(admin, name)
    ben = await home.joined(f"{admin}sfriend")
    store, cellar = await home.make("/stores", name="Grocer"), await home.make("/locations", name="Cellar")
    milk = await home.make("/inventory", name="Milk", locationId=cellar["locationId"])
    cake = await home.make("/shopping-list", name="Cake")
    bought = {"status": "purchased", "version": 1}
    data(await home.ask("PATCH", f"/shopping-list/{cake['shoppingItemId']}/status", bought))
    cleared = data(await home.ask("POST", "/shopping-list/clear-purchased"))
    tea = await home.make("/shopping-list", name="Tea", storeId=store["storeId"])
    invited = await home.make("/invitations", role="member")
    return home, {
        "familyId": home.family_id,
        "memberId": ben["userId"],
        "invitationId": invited["id"],
        "itemId": milk["itemId"],
        "storeId": store["storeId"],
        "preferredStoreId": store["storeId"],
        "alternateStoreIds": [store["storeId"]],
        "locationId": cellar["locationId"],
        "shoppingItemId": tea["shoppingItemId"],
        "undoToken": cleared["undoToken"],
        "since": (await home.listed())["position"],
    }


def made_up(ids: dict[str, Any], *names: str) -> dict[str, Any]:
    """The same with ids that nothing has."""
    never = {name: [str(uuid4())] if isinstance(ids[name], list) else str(uuid4()) for name in names}
    return ids | never


@dataclass
class World:
    calls: Calls
    document: list[Call]
    ada: Home
    hers: dict[str, Any]
    eve: Home
    own: dict[str, Any]

    async def told(self, call: Call, ids: dict[str, Any], by: Any, optional: str | None = None) -> tuple[int, Any]:
        """How a call with these ids is answered, but for the number of the request."""
        path = call.path.format(**{name: ids[name] for name in call.in_path})
        asked = [*call.query_needs, *([optional] if optional in call.in_query else [])]
        query = "&".join(f"{name}={ids[name]}" for name in asked)
        in_body = optional if optional in call.in_body else None
        answer = await self.calls.ask(
            call.method.upper(), f"{path}?{query}" if query else path, call.body(ids, in_body), by=by
        )
        found = answer.json() if answer.content else {}
        found.pop("requestId", None)
        return answer.status_code, found


@pytest.fixture
async def world(calls: Calls) -> World:
    document = (await calls.client.get("/schema/openapi.json")).json()
    ada, hers = await furnished(calls, "Lovelace", "Ada")
    eve, own = await furnished(calls, "Byron", "Eve")
    return World(calls, calls_in(document), ada, hers, eve, own)


async def test_a_stranger_is_told_of_a_family_as_of_one_that_never_was_and_nobody_is_told_nothing(world):
    before = await world.calls.rows()
    for call in world.document:
        status, told = await world.told(call, world.hers, None)
        assert (status, told["type"]) == (401, "/problems/not-signed-in"), call
        answer = await world.told(call, world.hers, world.eve.admin)
        never = made_up(world.hers, *(set(call.in_path) | set(call.in_body)))
        assert answer == await world.told(call, never, world.eve.admin), call
        assert (answer[0], answer[1]["type"]) == (404, "/problems/not-found"), call
        assert await world.calls.rows() == before, call
    assert len(world.document) >= 45
    assert {call.method for call in world.document} == {"get", "post", "patch", "delete"}


async def test_every_id_of_another_family_is_as_good_as_a_made_up_one(world):
    before = await world.calls.rows()
    tried = []
    for call in world.document:
        for name in [*call.in_path[call.in_path.index("familyId") + 1 :], *call.in_query, *call.in_body]:
            if (call.method, call.below, name) in CHOSEN:
                continue
            optional = name if name in (*call.in_query, *call.in_body) and name not in call.in_path else None
            foreign = world.own | {name: world.hers[name]}
            answer = await world.told(call, foreign, world.eve.admin, optional)
            never = await world.told(call, made_up(foreign, name), world.eve.admin, optional)
            assert answer == never, (call, name)
            # Which of them an undo token is, is not told: never given, used up, or over.
            assert answer[0] == (410 if name == "undoToken" else 404), (call, name, answer)
            assert await world.calls.rows() == before, (call, name)
            tried.append((call.method, call.below, name))
    assert len(tried) >= 28
    assert ("post", "/inventory", "alternateStoreIds") in tried
    assert ("get", "/shopping-list", "storeId") in tried
    assert ("patch", "/shopping-list/{shoppingItemId}", "storeId") in tried


async def test_an_id_that_another_family_has_can_be_chosen_and_touches_nothing_of_theirs(world):
    def theirs(rows):
        return [row for row in rows["InventoryManagement"] if world.hers["familyId"] in row]

    before = theirs(await world.calls.rows())
    walked = [
        (call, name) for call in world.document for name in call.in_body if (call.method, call.below, name) in CHOSEN
    ]
    assert len(walked) == len(CHOSEN)
    for call, name in walked:
        status, made = await world.told(call, world.own | {name: world.hers[name]}, world.eve.admin, name)
        assert (status, made[name], made["familyId"]) == (201, world.hers[name], world.own["familyId"]), call
        assert theirs(await world.calls.rows()) == before, call


async def test_a_mere_member_does_not_do_what_admins_do_and_one_who_was_removed_nothing_at_all(world):
    ben, eli = await world.ada.joined("Ben"), await world.ada.joined("Eli", "admin")
    assert data(await world.ada.ask("GET", by=eli))["role"] == "admin"
    data(await world.ada.ask("DELETE", f"/members/{eli['userId']}"), 204)
    before = await world.calls.rows()
    refused = set()
    for call in world.document:
        status, told = await world.told(call, world.hers, eli)
        assert (status, told["type"]) == (404, "/problems/not-found"), call
        everyone = call.method == "get" or call.below.startswith(("/shopping-list", "/inventory", "/undo"))
        if not everyone or call.below == "/invitations":
            status, told = await world.told(call, world.hers, ben)
            assert (status, told["type"]) == (403, "/problems/forbidden"), call
            refused.add((call.method, call.below))
    assert await world.calls.rows() == before
    assert len(refused) == 13
