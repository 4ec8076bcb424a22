"""Every address that the apps declare, asked by everybody who may not: nobody learns anything, nothing is written.

An action, read, list, page or form that is added is walked without being named here. A new app needs a world.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio

from potluck.apps.journal.app import journal_app
from potluck.apps.library.app import library_app
from potluck.apps.polls.app import polls_app
from potluck.apps.shareables.app import shareables_app
from potluck.apps.shopping.app import shopping_app
from potluck.suite import APPS
from potluck.web.access import ByRow
from potluck.web.api_page import example
from potluck.web.app import AppMaker
from potluck.web.declarations import Action
from potluck.web.requests import camel
from tests.apps.journal import access_world as journal
from tests.apps.library import access_world as library
from tests.apps.polls import access_world as polls
from tests.apps.shareables import access_world as shareables
from tests.apps.shopping import access_world as shopping
from tests.toy import notes_app
from tests.web import toy_access_world as toy
from tests.web.access_worlds import AccessWorld, Address, Answer, Members, Person, Suite, addresses_of, suite_with
from tests.web.people import access_world as people_world
from tests.web.people.access_world import people
from tests.web.suites import suite_on

Furnish = Callable[[Suite], Awaitable[AccessWorld]]

WORLDS: dict[AppMaker, Furnish] = {
    notes_app: toy.furnish,
    shopping_app: shopping.furnish,
    journal_app: journal.furnish,
    polls_app: polls.furnish,
    library_app: library.furnish,
    shareables_app: shareables.furnish,
    people: people_world.furnish,
}
# What those get who are refused by a key, or on a page.
REFUSED = {303, 401, 403, 404}

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Walk:
    """One app, its world and its addresses."""

    def __init__(self, suite: Suite, world: AccessWorld, document: dict[str, Any], furnish: Furnish) -> None:
        self.suite, self.world, self.document, self.furnish = suite, world, document, furnish
        everything = addresses_of(suite.app)
        self.addresses = [each for each in everything if each.access is not None or set(each.names) & set(world.ids)]
        # Those about a place, which not everybody may.
        self.guarded = [each for each in self.addresses if each.names and str(each) not in world.open_to_anyone]

    async def renewed(self) -> "Walk":
        """The same app with a world of its own."""
        return Walk(self.suite, await self.furnish(self.suite), self.document, self.furnish)

    async def ask(self, address: Address, ids: Any, by: Any, body: Any = None, **headers: str) -> Answer:
        if address.kind == "endpoint" and address.method == "POST":
            # A plain endpoint may read its form before it admits anybody.
            headers["content_type"] = "application/x-www-form-urlencoded"
        return await self.suite.ask(address.method, address.to(ids), by, body, **headers)

    def body(self, address: Address) -> Any:
        """What the call can be sent, by its example in the API document."""
        if str(address) in self.world.bodies:
            return self.world.bodies[str(address)]
        operation = self.document["paths"][address.to(_Camel())][address.method.lower()]
        if "requestBody" not in operation:
            return None
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        return example(schema, self.document["components"]["schemas"])

    @property
    def actions(self) -> list[Address]:
        """What people of the place do through the API: with its things, which go last, then with the place itself."""
        found = [
            each
            for each in self.guarded
            if each.kind == "api" and isinstance(each.declared, Action) and each.needs_principal
        ]
        return sorted(found, key=lambda each: (-len(each.names), each.method == "DELETE"))


class _Camel(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return f"{{{camel(name)}}}"


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=[*APPS, notes_app, people], ids=lambda app: app.__name__
)
async def walk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Walk]:
    make = request.param
    assert make in WORLDS, f"{make.__name__} needs an AccessWorld: who has no business where"
    async with suite_with(tmp_path_factory.mktemp("access"), make, built_in=make is people) as suite:
        document = (await suite.client.get("/schema/openapi.json")).json()
        yield Walk(suite, await WORLDS[make](suite), document, WORLDS[make])


async def test_every_address_is_walked_and_the_world_has_an_id_for_every_parameter(walk, tmp_path):
    async with suite_on(tmp_path) as (_, without_apps):
        built_in = {f"{method} {path}" for method, path in without_apps.router.addresses()}
    served = {f"{method} {path}" for method, path in walk.suite.application.router.addresses()} - built_in
    known = {str(each) for each in addresses_of(walk.suite.app)}
    assert served == known - built_in
    for each in walk.addresses:
        missing = set(each.names) - set(walk.world.ids)
        who = each.access.__name__ if each.access else "a plain endpoint"
        assert not missing, f"the world of {who} has no {missing} for {each}"
        assert set(each.names) <= set(walk.world.ids_elsewhere)
    assert walk.world.open_to_anyone <= known
    assert walk.guarded
    assert walk.actions or walk.world.members is None


@pytest.mark.parametrize("walk", [notes_app], indirect=True)
async def test_the_toy_has_every_kind_of_address(walk):
    assert {each.kind for each in walk.guarded} == {"api", "page", "form", "rows", "endpoint"}
    assert len(walk.guarded) >= 17
    assert len([each for each in walk.guarded if each.thing_id is not None]) >= 6
    assert len(walk.actions) >= 6


async def test_nobody_has_to_sign_in(walk):
    before = await walk.suite.rows()
    for each in walk.addresses:
        if not each.needs_principal:
            continue
        answer = await walk.ask(each, walk.world.ids, {})
        if each.kind == "page":
            to_sign_in = f"/sign-in?next={quote(each.to(walk.world.ids))}"
            assert (answer.status, answer.location) == (303, to_sign_in), each
        else:
            assert answer.status == 401, (each, answer)
            assert answer == await walk.ask(each, walk.world.never(each.path), {}), each
        assert await walk.suite.unchanged(before), each


async def test_whoever_has_no_business_there_is_answered_as_if_it_did_not_exist(walk):
    before = await walk.suite.rows()
    for each in walk.guarded:
        for who, outsider in {**walk.world.outsiders, "somebody of another place": walk.world.elsewhere}.items():
            answer = await walk.ask(each, walk.world.ids, outsider)
            if each.needs_principal:
                never = await walk.ask(each, walk.world.never(each.path), outsider)
                assert (answer.status, answer) == (404, never), (each, who)
            else:
                assert answer.status in REFUSED, (each, who, answer)
        assert await walk.suite.unchanged(before), each


async def test_a_thing_of_another_place_is_as_good_as_one_that_does_not_exist(walk):
    before = await walk.suite.rows()
    for each in walk.guarded:
        name = each.thing_id
        if name is None:
            continue
        body = walk.body(each) if each.kind == "api" and each.method != "GET" else None
        foreign = {**walk.world.ids_elsewhere, name: walk.world.ids[name]}
        never = {**walk.world.ids_elsewhere, name: walk.world.never(each.path)[name]}
        answer = await walk.ask(each, foreign, walk.world.elsewhere, body)
        assert answer == await walk.ask(each, never, walk.world.elsewhere, body), each
        # A form is read before the thing is looked for, and these are blank.
        assert answer.status == 404 or each.kind == "form" or not each.needs_principal, (each, answer)
        assert answer.status >= 400, (each, answer)
        assert await walk.suite.unchanged(before), each


# --- what was done before they were out -------------------------------------------------------------------------------


async def done_once(walk: Walk, person: Person) -> list[tuple[Address, Any, str]]:
    """Every action of the place, done by this person with a key: the address, the body, the key."""
    done = []
    for number, each in enumerate(walk.actions):
        assert isinstance(each.declared, Action)
        if each.method == "DELETE" and each.declared.on_thing and each.thing_id is None:
            # Without the place there is nothing left to be refused.
            continue
        body, key = walk.body(each), f"key-{person['userId']}-{number}"
        answer = await walk.ask(each, walk.world.ids, person, body, idempotency_key=key)
        if answer.status == 409 and "version-conflict" in answer.body:
            body = {**body, "version": _current_version(answer)}
            answer = await walk.ask(each, walk.world.ids, person, body, idempotency_key=key)
        assert 200 <= answer.status < 300, f"give the world a body for {each}: {answer}"
        done.append((each, body, key))
    return done


def _current_version(answer: Answer) -> int:
    return int(json.loads(answer.body)["current"]["version"])


def says_nothing(answer: Answer) -> bool:
    """Whoever left, and did not hear that it was done, may ask again; they learn nothing but that."""
    return (answer.status, answer.body) == (204, "")


# Nobody is a member there who may do everything and can be removed: a coach, or who was shown a library, never may.
WITHOUT_MEMBERS = (journal_app, polls_app, shareables_app, people, library_app)

of_members = pytest.mark.parametrize(
    "walk", [app for app in WORLDS if app not in WITHOUT_MEMBERS], indirect=True, ids=lambda app: app.__name__
)


async def with_members(walk: Walk) -> tuple[Walk, Members]:
    """The same app with another place, which can be emptied."""
    again = await walk.renewed()
    assert again.world.members is not None, "the world of an app with members says how they come and go"
    return again, again.world.members


@pytest.mark.parametrize("walk", WITHOUT_MEMBERS, indirect=True, ids=lambda app: app.__name__)
async def test_an_app_without_members_has_none(walk):
    assert walk.world.members is None


@of_members
async def test_what_a_removed_member_did_is_not_answered_again(walk):
    walk, members = await with_members(walk)
    person = await members.join()
    done = await done_once(walk, person)
    await members.remove(person)
    before = await walk.suite.rows()
    for each, body, key in done:
        answer = await walk.ask(each, walk.world.ids, person, body, idempotency_key=key)
        assert answer.status == 404 or says_nothing(answer), (each, answer)
        assert await walk.suite.unchanged(before), each


@of_members
async def test_what_was_done_by_a_right_that_is_lost_is_not_answered_again(walk):
    walk, members = await with_members(walk)
    person = await members.join()
    done = await done_once(walk, person)
    await members.demote(person)
    before = await walk.suite.rows()
    for each, body, key in done:
        if needs_right(each):
            answer = await walk.ask(each, walk.world.ids, person, body, idempotency_key=key)
            assert answer.status == 403 or says_nothing(answer), (each, answer)
    assert await walk.suite.unchanged(before)


@of_members
async def test_whoever_is_there_without_a_right_is_refused_what_it_allows(walk):
    walk, members = await with_members(walk)
    person = await members.join()
    await members.demote(person)
    before = await walk.suite.rows()
    for each in filter(needs_right, walk.guarded):
        answer = await walk.ask(each, walk.world.ids, person)
        assert answer.status == 403, (each, answer)
    assert await walk.suite.unchanged(before)


def needs_right(address: Address) -> bool:
    """Whether being in the place is not enough."""
    return address.access is not None and issubclass(address.access, ByRow) and bool(address.access.rights)
