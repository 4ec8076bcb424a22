"""Every address that the apps declare, asked by everybody who may not: nobody learns anything, nothing is written.

An action, read, list, page or form that is added is walked without being named here. A new app needs a world.
ACCESS_APP=toolshed.app:toolshed_app also walks an app from elsewhere; its world is in an access_world.py next to it.
"""

import json
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
import pytest_asyncio
from chores.app import ChoresApp

from potluck.apps.journal.app import JournalApp
from potluck.apps.library.app import LibraryApp
from potluck.apps.polls.app import PollsApp
from potluck.apps.shareables.app import ShareablesApp
from potluck.apps.shopping.app import ShoppingApp
from potluck.suite import APPS
from potluck.web.access import ByRow
from potluck.web.app import AppMaker
from potluck.web.declarations import Action
from tests.apps.journal import access_world as journal
from tests.apps.library import access_world as library
from tests.apps.polls import access_world as polls
from tests.apps.shareables import access_world as shareables
from tests.apps.shopping import access_world as shopping
from tests.toy import NotesApp
from tests.web import toy_access_world as toy
from tests.web.access_worlds import (
    AccessWorld,
    Address,
    Answer,
    Members,
    Person,
    Suite,
    addresses_of,
    example_body,
    suite_with,
)
from tests.web.people import access_world as people_world
from tests.web.people.access_world import people
from tests.web.place_world import Furnish, app_from_elsewhere, furnish_place
from tests.web.suites import API, suite_on

# All apps are walked. One with a place, whose things the API document's examples can make, needs no line here.
WORLDS: dict[AppMaker, Furnish] = {
    NotesApp: toy.furnish,
    ShoppingApp: shopping.furnish,
    JournalApp: journal.furnish,
    PollsApp: polls.furnish,
    LibraryApp: library.furnish,
    ShareablesApp: shareables.furnish,
    people: people_world.furnish,
}
# Apps from outside of the suite.
GUESTS: dict[AppMaker, Furnish] = {ChoresApp: furnish_place, **app_from_elsewhere(os.environ.get("ACCESS_APP", ""))}
WALKED = tuple(dict.fromkeys((*APPS, NotesApp, *GUESTS, people)))
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
        bodies = self.world.bodies
        return bodies[str(address)] if str(address) in bodies else example_body(self.document, address)

    @property
    def actions(self) -> list[Address]:
        """What people of the place do through the API."""
        return [
            each
            for each in self.guarded
            if each.kind == "api" and isinstance(each.declared, Action) and each.needs_principal
        ]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=WALKED, ids=lambda app: app.__name__)
async def walk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Walk]:
    make = request.param
    furnish = (WORLDS | GUESTS).get(make, furnish_place)
    async with suite_with(tmp_path_factory.mktemp("access"), make, built_in=make is people) as suite:
        world = await furnish(suite)
        if make is not people:
            # Who looks after people sees nothing of theirs.
            world = replace(world, outsiders={**world.outsiders, "an admin": await suite.admin()})
        yield Walk(suite, world, await suite.document(), furnish)


class Findings:
    """Everything that a walk finds wrong, told at once when it ends."""

    def __init__(self) -> None:
        self._wrong: list[str] = []

    def __enter__(self) -> "Findings":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._wrong:
            # Also when something failed meanwhile: what was found before may be why.
            found = "\n".join(self._wrong)
            raise AssertionError(f"{len(self._wrong)} found:\n{found}")

    def expect(self, holds: bool, address: object, *said: object) -> None:
        if not holds:
            self._wrong.append(": ".join(map(str, (address, *said))))


class Unwritten:
    """Notices whatever is written, and who asked for it."""

    def __init__(self, suite: Suite, before: Mapping[str, Sequence[str]], findings: Findings) -> None:
        self._suite, self._before, self._findings = suite, before, findings

    async def after(self, address: object) -> None:
        if not await self._suite.unchanged(self._before):
            self._findings.expect(False, address, "something was written")
            self._before = await self._suite.rows()


async def unwritten(suite: Suite, findings: Findings) -> Unwritten:
    return Unwritten(suite, await suite.rows(), findings)


async def test_every_address_is_walked_and_the_world_has_an_id_for_every_parameter(walk, tmp_path):
    async with suite_on(tmp_path) as (_, without_apps):
        built_in = {f"{method} {path}" for method, path in without_apps.router.addresses()}
    served = {f"{method} {path}" for method, path in walk.suite.application.router.addresses()} - built_in
    known = {str(each) for each in addresses_of(walk.suite.app)}
    assert served == known - built_in
    with Findings() as findings:
        for each in walk.addresses:
            for of, ids in (("ids", walk.world.ids), ("ids_elsewhere", walk.world.ids_elsewhere)):
                missing = sorted(set(each.names) - set(ids))
                findings.expect(not missing, each, f"the world has no {', '.join(missing)} among its {of}")
        for open_to_anyone in walk.world.open_to_anyone - known:
            findings.expect(False, open_to_anyone, "open to anyone in the world, and no address of the app")
        for body in walk.world.bodies.keys() - known:
            findings.expect(False, body, "a body in the world, and no address of the app")
        for other_ids in walk.world.ids_for.keys() - known:
            findings.expect(False, other_ids, "ids for it in the world, and no address of the app")
    assert walk.guarded
    assert walk.actions or walk.world.members is None


@pytest.mark.parametrize("walk", [NotesApp], indirect=True)
async def test_the_toy_has_every_kind_of_address(walk):
    assert {each.kind for each in walk.guarded} == {"api", "page", "form", "rows", "endpoint"}
    assert len(walk.guarded) >= 17
    assert len([each for each in walk.guarded if each.thing_id is not None]) >= 6
    assert len(walk.actions) >= 6


async def test_nobody_has_to_sign_in(walk):
    with Findings() as findings:
        rows = await unwritten(walk.suite, findings)
        for each in walk.addresses:
            if not each.needs_principal:
                continue
            answer = await walk.ask(each, walk.world.ids, {})
            if each.kind == "page":
                to_sign_in = f"/sign-in?next={quote(each.to(walk.world.ids))}"
                findings.expect((answer.status, answer.location) == (303, to_sign_in), each, answer)
            else:
                findings.expect(answer.status == 401, each, answer)
                never = await walk.ask(each, walk.world.never(each.path), {})
                findings.expect(answer == never, each, "answered unlike what does not exist", answer, never)
            await rows.after(each)


async def test_whoever_has_no_business_there_is_answered_as_if_it_did_not_exist(walk):
    with Findings() as findings:
        rows = await unwritten(walk.suite, findings)
        for each in walk.guarded:
            for who, outsider in {
                **walk.world.outsiders,
                "somebody of another place": walk.world.elsewhere,
            }.items():
                answer = await walk.ask(each, walk.world.ids, outsider)
                if each.needs_principal:
                    never = await walk.ask(each, walk.world.never(each.path), outsider)
                    findings.expect(answer.status == 404, each, who, answer)
                    findings.expect(answer == never, each, who, "answered unlike what does not exist", answer, never)
                else:
                    findings.expect(answer.status in REFUSED, each, who, answer)
            await rows.after(each)


async def test_a_thing_of_another_place_is_as_good_as_one_that_does_not_exist(walk):
    with Findings() as findings:
        rows = await unwritten(walk.suite, findings)
        for each in walk.guarded:
            name = each.thing_id
            if name is None:
                continue
            body = walk.body(each) if each.kind == "api" and each.method != "GET" else None
            foreign = {**walk.world.ids_elsewhere, name: walk.world.ids[name]}
            never = {**walk.world.ids_elsewhere, name: walk.world.never(each.path)[name]}
            answer = await walk.ask(each, foreign, walk.world.elsewhere, body)
            unknown = await walk.ask(each, never, walk.world.elsewhere, body)
            findings.expect(answer == unknown, each, "answered unlike what does not exist", answer, unknown)
            # A form is read before the thing is looked for, and these are blank.
            not_found = answer.status == 404 or each.kind == "form" or not each.needs_principal
            findings.expect(not_found and answer.status >= 400, each, answer)
            await rows.after(each)


# --- what was done before they were out -------------------------------------------------------------------------------


class DoneOnce(NamedTuple):
    """An action that somebody did with a key, in a place where nothing else was done."""

    address: Address
    walk: Walk
    members: Members
    person: Person
    body: Any
    key: str

    async def again(self) -> Answer:
        world = self.walk.world
        ids = {**world.ids, **world.ids_for.get(str(self.address), {})}
        return await self.walk.ask(self.address, ids, self.person, self.body, idempotency_key=self.key)


async def each_done_once(walk: Walk, findings: Findings) -> list[DoneOnce]:
    """Every action of a place, each with a place, things and a member of its own: none depends on another."""
    done = []
    for each in walk.actions:
        if ends_the_place(each):
            # Without the place there is nothing left to be refused.
            continue
        own, members = await with_members(walk)
        person = await members.join()
        once = DoneOnce(each, own, members, person, own.body(each), f"key-{person['userId']}")
        answer = await once.again()
        if answer.status == 409 and "version-conflict" in answer.body:
            # The example names the first version, and joining may have raised it.
            once = once._replace(body={**once.body, "version": _current_version(answer)})
            answer = await once.again()
        succeeded = 200 <= answer.status < 300
        findings.expect(succeeded, each, _advice(answer.status), f"it was sent {once.body}", answer)
        if succeeded:
            done.append(once)
    return done


def _advice(status: int) -> str:
    """What the author of a world can do about an action that a member was refused."""
    match status:
        case 400 | 422:
            return "the example of the API document is refused; give the world a body for it, in `bodies`"
        case 401 | 403:
            return "`members.join` of the world returns somebody who may do everything there is; this they may not"
        case 404:
            return "the world names something in `ids`, or in a body, that its place does not have"
        case 409 | 410 | 428:
            return (
                "the thing in `ids` is not in a state that allows it; have `furnish` make one that is, "
                "and name it in `ids_for` if other actions need the state of the first"
            )
        case 429:
            return "too much for one caller at once; have `furnish` do less of it by the same person"
    return "the app fails"


def _current_version(answer: Answer) -> int:
    return int(json.loads(answer.body)["current"]["version"])


def says_nothing(answer: Answer) -> bool:
    """Whoever left, and did not hear that it was done, may ask again; they learn nothing but that."""
    return (answer.status, answer.body) == (204, "")


# Nobody is a member there who may do everything and can be removed: a coach, or who was shown a library, never may.
WITHOUT_MEMBERS = (JournalApp, PollsApp, ShareablesApp, people, LibraryApp)

of_members = pytest.mark.parametrize(
    "walk",
    [app for app in WALKED if app not in WITHOUT_MEMBERS],
    indirect=True,
    ids=lambda app: app.__name__,
)


async def with_members(walk: Walk) -> tuple[Walk, Members]:
    """The same app with another place, which can be emptied."""
    again = await walk.renewed()
    advice = "give the world `members`, which says how people come and go, or list the app in WITHOUT_MEMBERS"
    assert again.world.members is not None, advice
    return again, again.world.members


@pytest.mark.parametrize("walk", WITHOUT_MEMBERS, indirect=True, ids=lambda app: app.__name__)
async def test_an_app_without_members_has_none(walk):
    assert walk.world.members is None, "its world has `members`; take the app out of WITHOUT_MEMBERS"


@of_members
async def test_what_a_removed_member_did_is_not_answered_again(walk):
    with Findings() as findings:
        done = await each_done_once(walk, findings)
        for once in done:
            await once.members.remove(once.person)
        rows = await unwritten(walk.suite, findings)
        for once in done:
            answer = await once.again()
            findings.expect(answer.status == 404 or says_nothing(answer), once.address, answer)
            await rows.after(once.address)


@of_members
async def test_what_was_done_by_a_right_that_is_lost_is_not_answered_again(walk):
    with Findings() as findings:
        done = [each for each in await each_done_once(walk, findings) if needs_right(each.address)]
        for once in done:
            await once.members.demote(once.person)
        rows = await unwritten(walk.suite, findings)
        for once in done:
            answer = await once.again()
            findings.expect(answer.status == 403 or says_nothing(answer), once.address, answer)
            await rows.after(once.address)


@of_members
async def test_whoever_is_there_without_a_right_is_refused_what_it_allows(walk):
    walk, members = await with_members(walk)
    person = await members.join()
    await members.demote(person)
    with Findings() as findings:
        rows = await unwritten(walk.suite, findings)
        for each in filter(needs_right, walk.guarded):
            answer = await walk.ask(each, walk.world.ids, person)
            findings.expect(answer.status == 403, each, answer)
            await rows.after(each)


def needs_right(address: Address) -> bool:
    """Whether being in the place is not enough."""
    return address.access is not None and issubclass(address.access, ByRow) and bool(address.access.rights)


# --- the walk itself --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("walk", [NotesApp], indirect=True)
async def test_each_action_has_things_of_its_own_and_all_that_fails_is_told_with_advice(walk):
    class Mistaken(Walk):
        """A world whose author forgot things: a thing that is not there, and a body that is refused."""

        async def renewed(self) -> Walk:
            again = await super().renewed()
            wrong = {"note_id": "00000000-0000-4000-8000-000000000000"} if forgets else {}
            bodies = {f"POST {API}/books/{{book_id}}/notes": {"title": ""}} if forgets else {}
            world = replace(again.world, ids={**again.world.ids, **wrong}, bodies=bodies)
            return Walk(self.suite, world, self.document, self.furnish)

    forgets = False
    mistaken = Mistaken(walk.suite, walk.world, walk.document, walk.furnish)
    with Findings() as findings:
        done = await each_done_once(mistaken, findings)
    assert {str(each.address) for each in done} == {str(each) for each in walk.actions if not ends_the_place(each)}
    places = [once.walk.world.ids["book_id"] for once in done]
    assert len(set(places)) == len(done), "nobody else did anything in any of them"

    forgets = True
    with pytest.raises(AssertionError) as told, Findings() as findings:
        await each_done_once(mistaken, findings)
    said = str(told.value).splitlines()
    about_notes = [each for each in walk.actions if each.thing_id == "note_id"]
    assert said[0] == f"{len(about_notes) + 1} found:"
    assert sum(
        "the world names something in `ids`, or in a body, that its place does not have" in each for each in said
    ) == len(about_notes)
    assert sum("give the world a body for it, in `bodies`: it was sent {'title': ''}" in each for each in said) == 1


@pytest.mark.parametrize("walk", [NotesApp], indirect=True)
async def test_an_action_can_have_a_thing_of_its_own_in_the_world(walk):
    nowhere = {"note_id": "00000000-0000-4000-8000-000000000000"}
    apart = next(each for each in walk.actions if each.thing_id == "note_id")

    class Apart(Walk):
        """A world in which one action has another thing than the rest."""

        async def renewed(self) -> Walk:
            again = await super().renewed()
            return Walk(self.suite, replace(again.world, ids_for={str(apart): nowhere}), self.document, self.furnish)

    with pytest.raises(AssertionError) as told, Findings() as findings:
        await each_done_once(Apart(walk.suite, walk.world, walk.document, walk.furnish), findings)
    head, only = str(told.value).splitlines()
    assert head == "1 found:"
    assert only.startswith(f"{apart}: the world names something")


def ends_the_place(address: Address) -> bool:
    assert address.declared is not None
    return address.method == "DELETE" and address.declared.on_thing and address.thing_id is None
