"""The promise that the journal stands on: private words are for their athlete alone, in every byte that anyone can get.

A word that is nowhere else is in every private field. Then everything that the API's own document knows, and every
page, form and stream that the app declares, is asked for by everybody who is not the athlete. Every byte that comes
back is looked at, and every line that was logged; and what templates are given has nothing in it by which they could
get at a private word. A call or a page that is added is walked without being named here.
"""

import contextlib
import io
import json
import logging
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, get_args
from uuid import UUID

import httpx
import msgspec
import pytest

from potluck.apps.journal.access import Athlete, CoachOf
from potluck.apps.journal.aggregation import Statistics
from potluck.apps.journal.app import JournalApp
from potluck.apps.journal.comments import CommentView
from potluck.apps.journal.entities import AthleteCoachLink, CoachAthleteLink, Entry, PrivateKeywordIndex, Sections
from potluck.apps.journal.entries import EntryView, SharedEntryView
from potluck.apps.journal.journals import SharedEntry, SharedJournal, WholeEntry, WholeJournal
from potluck.apps.journal.links import AthleteSummary
from potluck.apps.journal.pages.assistant import Cited
from potluck.apps.journal.pages.timeline import OwnTimelineRow, SharedRow
from potluck.apps.journal.search import SearchHit
from potluck.store import Store
from potluck.table import put
from potluck.web.access import Access
from potluck.web.api_page import example
from potluck.web.app import Core
from potluck.web.layout import Templates
from tests.apps.journal.gym import Gym, Person, data, gym_on, problem
from tests.engine_targets import EMBEDDED, LOCAL
from tests.patience import until
from tests.web.access_worlds import Address, addresses_of
from tests.web.contract.wire import listening
from tests.web.reading import BROWSER
from tests.web.suites import API, bearer

CANARY = "quetzalcoatl"
"""In every private field: with a number behind it, each is told from the others."""
JOURNAL = f"{API}/journal"


def field(number: int) -> str:
    return f"{CANARY}{number}"


@dataclass
class World:
    gym: Gym
    mara: Person
    ids: dict[str, str]
    """Of what is Mara's, by the name of the path parameter."""
    document: dict[str, Any]
    shared: Any
    """An entry that has both kinds of words."""

    def found(self, *texts: Any) -> None:
        for text in texts:
            raw = text if isinstance(text, bytes) else str(text).encode()
            assert CANARY.encode() not in raw.lower(), text


async def world_on(gym: Gym) -> World:
    mara = await gym.person("Mara")
    ana = await gym.person("Ana")
    await gym.link(mara, ana)
    secret = {"private": f"Knee, {field(1)}. Shared word too: armbar.", "shared": "Armbar from guard."}
    entry = data(
        await gym.ask("POST", "/entries", {"sections": secret, "sessionMetrics": METRICS_WITH_TAG}, by=mara), 201
    )
    only = await gym.add_entry(mara, private=f"Only {field(2)} here", date="2039-12-01T10:00:00Z")
    moved = await gym.add_entry(
        mara, shared=f"{field(3)} was shared by mistake. Half guard.", date="2039-12-02T10:00:00Z"
    )
    await gym.change_entry(
        moved, mara, sections={"shared": "Half guard.", "private": f"{field(3)} was shared by mistake."}
    )
    gone = await gym.add_entry(mara, shared=f"{field(4)} is deleted", date="2039-12-03T10:00:00Z")
    data(await gym.ask("DELETE", f"/entries/{gone['entryId']}", by=mara), 204)
    hidden = await gym.add_comment(entry, ana, f"{field(5)}: everything all right at home?")
    path = f"/entries/{entry['entryId']}/comments/{hidden['commentId']}"
    data(await gym.ask("PATCH", path, {"visibility": "hiddenByAthlete", "version": 1}, by=mara))
    thread = data(await gym.ask("POST", "/ai/threads", {"scope": "private", "title": field(6)}, by=mara), 201)
    await gym.ask("POST", f"/ai/threads/{thread['threadId']}/messages", {"content": f"armbar {field(7)}"}, by=mara)
    own = data(await gym.ask("POST", "/ai/threads", {"scope": "shared"}, by=mara), 201)
    await gym.ask("POST", f"/ai/threads/{own['threadId']}/messages", {"content": f"armbar {field(8)}"}, by=mara)
    invited = data(await gym.ask("POST", "/links", {"coachEmail": f"{field(9)}@example.org"}, by=mara), 201)
    return World(
        gym,
        mara,
        {
            "entryId": entry["entryId"],
            "athleteId": mara["userId"],
            "userId": mara["userId"],
            "commentId": hidden["commentId"],
            "threadId": thread["threadId"],
            "invitationId": invited["id"],
            "onlyId": only["entryId"],
            "movedId": moved["entryId"],
            "goneId": gone["entryId"],
        },
        (await gym.client.get("/schema/openapi.json")).json(),
        entry,
    )


STATES = ("linked", "revoked", "pending", "never linked")
METRICS_WITH_TAG = {"durationMinutes": 90, "intensity": 7, "rounds": 6, "giOrNoGi": "gi", "tags": ["mount"]}


async def pending_with(gym: Gym, athlete: Person, coach: Person) -> None:
    ids = {"athlete_id": UUID(athlete["userId"]), "coach_id": UUID(coach["userId"])}
    said = {"requested_by": "coach", "created_at": gym.clock(), "updated_at": gym.clock()}
    await gym.core.store.transact(*(put(kind(**ids, **said)) for kind in (CoachAthleteLink, AthleteCoachLink)))


async def coach_who_is(state: str, world: World) -> Person:
    coach = await world.gym.person("Renzo")
    if state in ("linked", "revoked"):
        await world.gym.link(world.mara, coach)
    if state == "revoked":
        data(await world.gym.ask("DELETE", f"/links/{coach['userId']}", by=world.mara), 204)
    if state == "pending":
        await pending_with(world.gym, world.mara, coach)
    return coach


def filled(world: World, path: str, ids: dict[str, str]) -> str | None:
    try:
        return path.format_map(ids)
    except KeyError:
        return None


def queries(operation: dict[str, Any], world: World, positions: dict[str, str], path: str) -> list[str]:
    """What may be said after `?`: what is needed, and each of the private words where words are looked for."""
    names = {each["name"] for each in operation.get("parameters", []) if each["in"] == "query"}
    said = {"athleteId": world.mara["userId"], "since": positions.get(path.rpartition("/")[0], "x"), "tag": "mount"}
    base = [f"{name}={value}" for name, value in said.items() if name in names]
    if "q" not in names:
        return ["&".join(base)] + ([""] if base else [])
    words = ["armbar", *(field(number) for number in range(1, 10)), "knee", "mistake", "deleted", "home"]
    return ["&".join([*base, f"q={word}"]) for word in words]


def body_for(operation: dict[str, Any], document: dict[str, Any], world: World, path: str) -> Any:
    if "requestBody" not in operation:
        return None
    if path.endswith("/messages"):
        return {"content": f"armbar {field(1)[:0]}knee mistake deleted home"}
    if path.endswith("/ai/threads"):
        return {"scope": "private", "athleteId": world.mara["userId"]}
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    return example(schema, document["components"]["schemas"])


# Who is not let in is told nothing by the same lines on any engine.
@pytest.mark.parametrize(
    ("engine", "state"),
    [
        *((EMBEDDED, state) for state in STATES),
        (LOCAL, "linked"),
        *(pytest.param(LOCAL, state, marks=pytest.mark.soak) for state in STATES if state != "linked"),
    ],
)
async def test_no_byte_of_what_is_private_is_told_to_anybody_else(tmp_path: Path, caplog, capfd, engine, state):
    async with gym_on(engine, tmp_path, log="requests") as gym:
        world = await world_on(gym)
        coach = await coach_who_is(state, world)
        with caplog.at_level(logging.DEBUG):
            asked, welcome, pages_welcome = await walked(world, coach)
        assert asked >= 200
        # A walk on which nobody is admitted to anything would find nothing.
        assert (welcome > 20) == (state == "linked"), welcome
        assert (pages_welcome > 20) == (state == "linked"), pages_welcome
        for record in caplog.records:
            if "httpx" not in record.name:
                world.found(record.getMessage())
        world.found(*capfd.readouterr())


async def walked(world: World, coach: Person) -> tuple[int, int, int]:
    """Ask for everything, and look at every byte: how often, and how often it was about Mara and answered, by door."""
    gym, document = world.gym, world.document
    positions = {}
    own_thread = data(await gym.ask("POST", "/ai/threads", {"scope": "shared"}, by=coach), 201)["threadId"]
    about = await gym.ask("POST", "/ai/threads", {"scope": "private", "athleteId": world.mara["userId"]}, by=coach)
    world.found(about.content)
    everything = [world.ids | {"entryId": each} for each in (world.ids["entryId"], world.ids["onlyId"])]
    everything += [world.ids | {"entryId": each} for each in (world.ids["movedId"], world.ids["goneId"])]
    everything += [world.ids | {"threadId": own_thread}]
    if about.status_code == 201:
        everything.append(world.ids | {"threadId": about.json()["threadId"]})
    operations = [
        (method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if path.startswith(JOURNAL) or path in (f"{API}/me", f"{API}/me/tokens")
    ]
    # What takes something away comes last, and lists before what follows them.
    operations.sort(key=lambda each: (each[0] == "delete", each[1].endswith("/changes"), each[1]))
    asked = welcome = 0
    for method, path, operation in operations:
        if method == "delete" and path.endswith("/links/{userId}"):
            continue
        targets = {filled(world, path, ids) for ids in everything}
        for target in sorted(each for each in targets if each is not None):
            for query in queries(operation, world, positions, target):
                address = f"{target}?{query}" if query else target
                if path.endswith("/events"):
                    if positions.get(target.rpartition("/")[0]) is not None:
                        await followed(world, coach, target, positions[target.rpartition("/")[0]])
                    continue
                sent = body_for(operation, document, world, path)
                headers = bearer(coach)
                answer = await gym.client.request(
                    method.upper(), address, headers=headers, **({} if sent is None else {"json": sent})
                )
                asked += 1
                welcome += answer.is_success and "{" in path
                said = answer.content
                if CANARY in address:
                    # What was asked for is not told by being repeated.
                    said = said.lower().replace(address.lower().encode(), b"")
                world.found(said, dict(answer.headers))
                if method == "get" and answer.is_success and isinstance(found := answer.json(), dict):
                    positions[target] = found.get("position") or positions.get(target)
    pages = PageWalk(world, coach, everything, positions)
    own = await own_ids(gym, coach)
    with templates_given() as given:
        await pages.all()
    own |= await own_ids(gym, coach)
    assert {"journal/write.html", "journal/coaches.html"} < {name for name, _ in given}
    for name, context in given:
        for each in reachable(context, set(), own):
            assert not isinstance(each, HOLDS_PRIVATE + LEADS_ON), (name, type(each))
    archive = await gym.client.get(f"{API}/me/export", headers=bearer(coach))
    with zipfile.ZipFile(io.BytesIO(archive.content)) as files:
        world.found(*(files.read(name) for name in files.namelist()))
    return asked + pages.asked, welcome, pages.welcome


async def own_ids(gym: Gym, by: Person) -> set[str]:
    return {each["entryId"] for each in (await gym.get("/entries", by))["items"]}


# --- pages ------------------------------------------------------------------------------------------------------------

# Nobody has ever written it: what is found by it is what is found by nothing.
NOWHERE = "unobtainiumcoatl"
# Sealed, and another one each time.
POSITION = re.compile(r"(?<=\?since=)[^\"]+")
SNAKE = re.compile(r"(?<=[a-z])(?=[A-Z])")
# What a form is filled in with, where a name says what it is for.
TYPED = {"content": "armbar knee mistake deleted home", "body": "Hips first.", "visibility": "hiddenByAthlete"}
TAKES_AWAY = ("/delete", "/end", "/withdraw", "/edit", "/visibility", "/invitation")


@dataclass
class PageWalk:
    """Everything that the app declares to browsers, asked for by a coach."""

    world: World
    coach: Person
    ids: list[dict[str, str]]
    positions: dict[str, str]
    asked: int = 0
    welcome: int = 0

    async def all(self) -> None:
        found = addresses_of(JournalApp(self.world.gym.core))
        pages = [each for each in found if each.method == "GET" and each.kind in ("page", "endpoint")]
        forms = [each for each in found if each.method == "POST" and each.kind in ("form", "endpoint")]
        assert len(pages) > 12
        assert len(forms) > 15
        for path in ("/", "/account"):
            await self.look(path)
        for each in pages:
            for target in self.targets(each.path):
                await self.look(target)
                await self.look(f"{target}?athlete={self.world.mara['userId']}&draft=new")
                for name in self.fields(each) & {"q", "tag"}:
                    await self.is_found_by_nothing_more(target, name)
        for each in found:
            if each.kind == "rows":
                for target in self.targets(each.path):
                    position = self.positions.get(API + target.removesuffix("/events"))
                    if position is not None:
                        await followed(self.world, self.coach, target, position)
        for each in sorted(forms, key=lambda each: (each.path.endswith(TAKES_AWAY), each.path)):
            if each.path.endswith(("{user_id}/end", "{user_id}/accept")):
                # What they are linked by stays as it is on this walk.
                continue
            for target in self.targets(each.path):
                for body in ({"version": ""}, dict.fromkeys(self.fields(each), "1") | TYPED | self.mara):
                    await self.send(target, body)

    @property
    def mara(self) -> dict[str, str]:
        return {"athleteId": self.world.mara["userId"], "scope": "private", "version": "1"}

    def targets(self, path: str) -> list[str]:
        """The address about everything that is Mara's; a page about something that the world has none of fails."""
        found = set()
        for ids in self.ids:
            snake = {SNAKE.sub("_", name).lower(): value for name, value in ids.items()}
            found.add(path.format_map({**snake, "number": "1", "name": "journal.css"}))
        return sorted(found)

    def fields(self, address: Address) -> set[str]:
        kind = None if address.declared is None else address.declared.input
        return set() if kind is None else set(kind.__struct_encode_fields__)

    async def look(self, target: str) -> bytes:
        answer = await self.world.gym.client.get(target, headers=bearer(self.coach) | BROWSER)
        self.count(answer, target)
        self.world.found(answer.content, dict(answer.headers))
        return answer.content

    async def send(self, target: str, fields: dict[str, str]) -> None:
        answer = await self.world.gym.client.post(target, data=fields, headers=bearer(self.coach) | BROWSER)
        self.count(answer, target)
        self.world.found(answer.content, dict(answer.headers))

    async def is_found_by_nothing_more(self, target: str, name: str) -> None:
        """A private word finds, byte for byte, what a word finds that is nowhere."""
        nothing = await self.world.gym.client.get(f"{target}?{name}={NOWHERE}", headers=bearer(self.coach) | BROWSER)
        for number in range(1, 10):
            word = field(number)
            answer = await self.world.gym.client.get(f"{target}?{name}={word}", headers=bearer(self.coach) | BROWSER)
            self.count(answer, target)
            said, control = (
                POSITION.sub("", text.replace(asked, "").replace(found.headers["x-request-id"], ""))
                for found, text, asked in ((answer, answer.text, word), (nothing, nothing.text, NOWHERE))
            )
            assert (answer.status_code, said) == (nothing.status_code, control)

    def count(self, answer: httpx.Response, target: str) -> None:
        self.asked += 1
        about_mara = any(each in target for ids in self.ids for each in ids.values())
        self.welcome += about_mara and answer.status_code < 400
        assert answer.status_code < 500, (target, answer.text)


HOLDS_PRIVATE = (Entry, EntryView, Sections, WholeEntry, WholeJournal, OwnTimelineRow)
LEADS_ON = (Access, Store, Core)
PLAIN = (str, bytes, int, float, type, ModuleType, type(None))


def reachable(value: Any, known: set[int], own: set[str]) -> Iterator[Any]:
    """Everything that a template could get at from what it is given, but for the reader's own entries."""
    if isinstance(value, PLAIN) or id(value) in known or str(getattr(value, "entry_id", "")) in own:
        return
    known.add(id(value))
    yield value
    if isinstance(value, msgspec.Struct):
        inside: Iterable[Any] = (getattr(value, name) for name in value.__struct_fields__)
    elif isinstance(value, Mapping):
        inside = value.values()
    elif isinstance(value, list | tuple | set | frozenset):
        inside = value
    else:
        inside = [*vars(value).values()] if hasattr(value, "__dict__") and not callable(value) else []
        inside = [*inside, *(getattr(value, name, None) for name in getattr(value, "__slots__", ()))]
    for each in inside:
        yield from reachable(each, known, own)


@contextlib.contextmanager
def templates_given() -> Iterator[list[tuple[str, Any]]]:
    """What templates are given meanwhile, and their names."""
    given: list[tuple[str, Any]] = []
    render = Templates.render

    def recording(self: Templates, request: Any, name: str, context: Any) -> str:
        given.append((name, context))
        return render(self, request, name, context)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Templates, "render", recording)
        yield given


async def followed(world: World, coach: Person, target: str, since: str) -> None:
    """An open stream: something private is changed, then something that the caller sees; all of it is looked at."""
    gym, mara = world.gym, world.mara
    token = [("authorization", f"Bearer {coach['token']}")]
    async with listening(gym.application, f"{target}?since={since}", token) as stream:

        async def open() -> bool:
            return stream.status == 200

        await until(open)
        entry = await gym.get(f"/entries/{world.shared['entryId']}", mara)
        entry = await gym.change_entry(
            entry, mara, sections={"private": entry["sections"]["private"] + f" {field(10)}"}
        )
        comments = f"/entries/{entry['entryId']}/comments"
        said = await gym.add_comment(entry, mara, f"{field(11)} for a moment")
        hiding = {"visibility": "hiddenByAthlete", "version": 1}
        hidden = data(await gym.ask("PATCH", f"{comments}/{said['commentId']}", hiding, by=mara))
        assert hidden["visibility"] == "hiddenByAthlete"
        own = f"/athletes/{mara['userId']}/entries" in target
        visible = f"visible {len(stream.body)}"
        # A page is told which entry it is, and reads itself again.
        told_by = visible if target.startswith(API) or not own else f'id="entry-{entry["entryId"]}"'
        before = stream.body.count(told_by.encode())
        if own:
            await gym.change_entry(entry, mara, sections={"shared": f"Armbar from guard. {visible}"})
        else:
            await gym.add_comment(entry, mara, visible)
        if own or entry["entryId"] in target:

            async def heard() -> bool:
                return stream.body.count(told_by.encode()) > before

            await until(heard)
        # A comment that was visible for a moment was told in that moment, and then that it is gone.
        told = stream.body.replace(f"{field(11)} for a moment".encode(), b"")
        world.found(told)


def test_what_a_coach_is_given_has_no_private_field_by_its_type():
    def names(kind: Any) -> set[str]:
        fields = msgspec.structs.fields(kind)
        inner = [each for field in fields for each in (field.type, *get_args(field.type)) if is_struct(each)]
        return {field.name for field in fields}.union(*map(names, inner))

    def is_struct(kind: Any) -> bool:
        return isinstance(kind, type) and issubclass(kind, msgspec.Struct)

    assert "private" in names(EntryView)
    assert "private" in names(OwnTimelineRow)
    for kind in (SharedEntryView, SharedEntry, AthleteSummary, SearchHit, Statistics, CommentView, SharedRow, Cited):
        assert names(kind).isdisjoint({"private", "version"} - ({"version"} if kind is CommentView else set())), kind
    seen = {
        access: plan.cls
        for subject in JournalApp.subjects
        for access, plan in subject.views.items()
        if subject.entity is Entry
    }
    assert seen == {Athlete: EntryView, CoachOf: SharedEntryView}
    assert not issubclass(SharedJournal, WholeJournal)
    assert PrivateKeywordIndex not in SharedJournal.indexes


async def test_what_stops_being_shared_is_gone_at_the_next_request(gym: Gym):
    mara, renzo = await gym.coached()
    listed = f"/athletes/{mara['userId']}/entries"
    since = (await gym.get(listed, renzo))["position"]
    entry = await gym.add_entry(mara, shared=f"Armbar. {field(1)} told too much.")
    one = f"/entries/{entry['entryId']}"
    assert await gym.found(field(1), renzo, mara) == [entry["entryId"]]
    entry = await gym.change_entry(entry, mara, sections={"shared": "Armbar.", "private": f"{field(1)} told too much."})
    for path in (listed, one, f"/search?q={field(1)[:-1]}&athleteId={mara['userId']}"):
        assert CANARY not in json.dumps(await gym.get(path, renzo))
    assert await gym.found(field(1), renzo, mara) == []

    async def heard(event: str) -> bool:
        """What happened since, told late: not a word that is not shared any more, whatever the log has."""
        told = await gym.get(f"{listed}/changes?since={since}", renzo)
        assert CANARY not in json.dumps(told)
        return event in [each["event"] for each in told["changes"]]

    await until(lambda: heard("updated"))
    assert await gym.found(field(1), mara) == [entry["entryId"]]
    assert await gym.found("armbar", renzo, mara) == [entry["entryId"]]
    data(await gym.ask("DELETE", one, by=mara), 204)
    assert await gym.found("armbar", renzo, mara) == []
    assert (await gym.get(listed, renzo))["items"] == []
    problem(await gym.ask("GET", one, by=renzo), 404, "not-found")
    await until(lambda: heard("deleted"))
    assert "Armbar" not in json.dumps(await gym.get(f"{listed}/changes?since={since}", renzo))
    other = await gym.add_entry(mara, shared="Armbar.")
    data(await gym.ask("DELETE", f"/links/{renzo['userId']}", by=mara), 204)
    for path in (listed, f"/entries/{other['entryId']}", f"/search?q=armbar&athleteId={mara['userId']}"):
        problem(await gym.ask("GET", path, by=renzo), 404, "not-found")
    problem(await gym.ask("GET", f"/stats?athleteId={mara['userId']}", by=renzo), 404, "not-found")


async def test_a_stream_ends_with_the_link(embedded_gym: Gym):
    gym = embedded_gym
    mara, renzo = await gym.coached()
    listed = f"/athletes/{mara['userId']}/entries"
    since = (await gym.get(listed, renzo))["position"]
    token = [("authorization", f"Bearer {renzo['token']}")]
    async with listening(gym.application, f"{JOURNAL}{listed}/events?since={since}", token) as stream:
        await gym.add_entry(mara, shared="before")

        async def heard() -> bool:
            return b"before" in stream.body

        await until(heard)
        data(await gym.ask("DELETE", f"/links/{renzo['userId']}", by=mara), 204)
        await gym.add_entry(mara, shared="after")

        async def ended() -> bool:
            return stream.complete

        await until(ended)
        assert b"after" not in stream.body
