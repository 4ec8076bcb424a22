"""The way of every write: what is read again, what a refusal means, and what is kept."""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID, uuid4

import pytest

from potluck.people.authentication import Principal
from potluck.people.errors import KeyReused
from potluck.people.idempotency import IdempotencyKey
from potluck.settings import Settings
from potluck.store import retries
from potluck.suite import opened
from potluck.table import (
    Counter,
    Entity,
    Table,
    Unavailable,
    Version,
    WriteRefused,
    absent,
    check,
    delete,
    get,
    present,
    put,
    the,
    update,
)
from potluck.validation.field_types import Integer, Text
from potluck.web.access import ByRow, Visitor
from potluck.web.actions import Actions
from potluck.web.app import App, Core
from potluck.web.declarations import Action
from potluck.web.errors import Conflict, Forbidden, NotFound, ProblemError
from potluck.web.inputs import UNSET, Edit, Input, New, Unset
from potluck.web.runner import ActionResult, Runner, Sent
from potluck.web.views import View
from potluck.web.writes import Step, Writes, or_raise, or_retry
from tests.apps.worlds import Meanwhile, meanwhile, registered
from tests.people.assembly import Clock
from tests.web.suites import app_with

Name = Annotated[str, Text(1, 50, kind="raw")]

pantry = Table("Pantry", "PK", "SK", type_attribute="kind", names="camel")


class Keeper(Entity, table=pantry, type="Keeper", key=("SHELF#{shelf_id}", "KEEPER#{user_id}")):
    shelf_id: UUID
    user_id: UUID
    head: bool = False
    opened: Counter = 0

    @get(consistent=True)
    def by_id(shelf_id: UUID, user_id: UUID) -> None:
        """Does this person keep the shelf?"""


class Jar(Entity, table=pantry, type="Jar", key=("SHELF#{shelf_id}", "JAR#{jar_id}")):
    shelf_id: UUID
    jar_id: UUID
    name: Name
    spoons: int = 0
    seal: str = "secret"
    version: Version = 1

    @get(consistent=True)
    def by_id(shelf_id: UUID, jar_id: UUID) -> None:
        """What is in the jar?"""


class AtShelf(ByRow[Keeper]):
    shelf_id: UUID


class Head(AtShelf, needs=the(Keeper.head) == True):  # noqa: E712 - a condition, not a truth value
    """Who says what is on the shelf."""


class JarView(View[Jar]):
    jar_id: UUID
    name: str
    spoons: int
    version: int


class NewJar(New[Jar]):
    name: Name
    jar_id: UUID


class JarChange(Edit[Jar]):
    name: Name | Unset = UNSET


class Pour(Input):
    into: UUID
    spoons: Annotated[int, Integer(1, 10)] = 1


class Taken(ProblemError, slug="taken", status=409, title="It is taken"):
    """There is a jar with this id."""


class TooOften(ProblemError, slug="too-often", status=409, title="Too often"):
    """Nobody opens so many."""


@dataclass
class Happened:
    """What rules did besides what they returned."""

    asked: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    explain: Callable[[WriteRefused], ProblemError | None] = lambda refusal: None


jars = Actions(AtShelf, Jar.by_id, JarView, api="/shelves/{shelf_id}/jars", tag="Jars")


@jars.create(Taken)
async def fill(at: AtShelf, new: NewJar) -> Writes[Jar]:
    """Fill a jar."""
    at.context.asked.append("fill")
    jar = at.make(new, shelf_id=at.shelf_id)
    found = await at.store.get(Jar.by_id(at.shelf_id, new.jar_id))

    async def after() -> None:
        at.context.after.append("filled")

    if found is not None:
        keeper = await at.store.get(Keeper.by_id(at.shelf_id, at.principal.user_id))
        raise Taken(existing=found, keeper=keeper)
    return Writes(jar, or_raise(put(jar, when=absent), Taken), after=after)


@jars.change()
async def rename(at: AtShelf, jar: Jar, change: JarChange) -> Writes[Jar]:
    """Give a jar another name."""
    at.context.asked.append("rename")
    return at.apply(jar, change)


@jars.action("POST", "/pour")
async def pour(at: AtShelf, jar: Jar, wanted: Pour) -> Writes[Jar]:
    """Pour from one jar into another, which must stay as it was read."""
    at.context.asked.append("pour")
    other = await at.store.one(Jar.by_id(at.shelf_id, wanted.into))
    poured, take = at.edit(jar, the(Jar.spoons).becomes(jar.spoons - wanted.spoons))
    _, give = at.edit(other, the(Jar.spoons).becomes(other.spoons + wanted.spoons))
    return Writes(poured, or_retry(take), or_retry(give))


@jars.action("POST", "/inspect")
async def inspect(at: AtShelf, jar: Jar) -> Writes[Jar]:
    """Look at a jar that has its first name; what a refusal means is found out."""
    at.context.asked.append("inspect")

    async def explain(refusal: WriteRefused) -> ProblemError | None:
        found: ProblemError | None = at.context.explain(refusal)
        return found

    first_name = check(Jar.by_id(at.shelf_id, jar.jar_id), when=the(Jar.name) == "Plums")
    return Writes(jar, or_raise(first_name, explain))


@jars.action("POST", "/open", TooOften)
async def open_jar(at: AtShelf, jar: Jar) -> Writes[None]:
    """Open a jar, which is counted in the caller's own row."""
    at.context.asked.append("open")
    once_more = update(at.ref(), the(Keeper.opened).add(1), when=the(Keeper.opened) < 2)
    return Writes(None, or_raise(once_more, TooOften))


@jars.delete()
async def empty(at: Head, jar: Jar) -> Writes[None]:
    """Empty a jar. The head may."""
    at.context.asked.append("empty")
    return Writes(None, delete(jar, when=present))


@jars.action("POST", "/seal", secret=True)
async def seal(at: AtShelf, jar: Jar) -> Writes[Jar]:
    """Seal a jar."""
    at.context.asked.append("seal")
    after, write = at.edit(jar, the(Jar.seal).becomes("other"))
    return Writes(after, write, made=jar.jar_id)


@jars.action("POST", "/double")
async def double(at: AtShelf, jar: Jar) -> Writes[Jar]:
    """Put twice as much into it, a step after the other."""
    at.context.asked.append("double")
    half, first = at.edit(jar, the(Jar.spoons).becomes(jar.spoons + 1))
    assert await at.commit(Step(first))
    whole, second = at.edit(half, the(Jar.spoons).becomes(half.spoons + 1))
    writes = Writes(whole, second, made=whole.jar_id)
    assert await at.commit(writes)
    return writes


def pantry_app(core: Core) -> App:
    return app_with("pantry", tables=[pantry], subjects=[jars], context=Happened())(core)


@dataclass
class World:
    core: Core
    happened: Happened
    runner: Runner
    ada: Principal
    shelf_id: UUID

    async def perform(
        self,
        rule: Any,
        input: Input | None = None,
        *,
        by: Principal | None = None,
        version: int | None = None,
        **more: Any,
    ) -> ActionResult:
        (action,) = (each for each in jars.declared if each.rule is rule)
        assert isinstance(action, Action)
        key = more.pop("key", None)
        ids = {"shelf_id": self.shelf_id, **more}
        return await self.runner.perform(
            action, Visitor(principal=by or self.ada), ids, lambda: Sent(input, version), key
        )

    def key(self, what: str = "the same") -> IdempotencyKey:
        return IdempotencyKey(self.ada.user_id, "key", sha256(what.encode()).hexdigest())

    async def jar(self, name: str = "Plums", spoons: int = 5) -> UUID:
        jar = Jar(shelf_id=self.shelf_id, jar_id=uuid4(), name=name, spoons=spoons)
        await self.core.store.put(jar, when=absent)
        return jar.jar_id

    async def found(self, jar_id: UUID) -> Jar | None:
        return await self.core.store.get(Jar.by_id(self.shelf_id, jar_id))

    def keeper(self) -> Any:
        return Keeper.by_id(self.shelf_id, self.ada.user_id)

    def meanwhile(self, write: Any) -> None:
        """Somebody else writes this just before the next transaction."""

        async def first() -> None:
            await self.core.store.transact(write)

        meanwhile(self.core.store, first)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    settings = Settings(data=tmp_path / "data")
    async with opened(settings, [pantry_app], clock=Clock(), wrap=Meanwhile) as (core, (app,)):
        ada = await registered(core.store, "Ada", "ada@example.org")
        shelf_id = uuid4()
        await core.store.put(Keeper(shelf_id=shelf_id, user_id=ada.user_id, head=True))
        yield World(core, app.context, Runner(core, app.context), ada, shelf_id)


def shown(done: ActionResult) -> Any:
    return json.loads(done.response.body)


# --- what a refusal means ---------------------------------------------------------------------------------------------


async def test_a_rule_is_asked_again_when_what_it_read_has_changed(world):
    plums, pears = await world.jar("Plums", 5), await world.jar("Pears", 1)
    world.meanwhile(update(await world.found(pears), the(Jar.spoons).becomes(7)))
    done = await world.perform(pour, Pour(into=pears, spoons=2), jar_id=plums)
    assert world.happened.asked == ["pour", "pour"]
    assert (await world.found(pears)).spoons == 9
    assert (done.answer.spoons, (await world.found(plums)).spoons) == (3, 3)


async def test_a_rule_is_not_asked_for_ever(world, monkeypatch):
    monkeypatch.setattr(retries, "MOST_ATTEMPTS", 3)
    jar_id = await world.jar("Pears")
    with pytest.raises(Unavailable):
        await world.perform(inspect, jar_id=jar_id)
    assert world.happened.asked == ["inspect"] * 3


async def test_a_refused_write_is_the_problem_that_it_was_given(world):
    jar_id = uuid4()
    world.meanwhile(put(Jar(shelf_id=world.shelf_id, jar_id=jar_id, name="Pears"), when=absent))
    with pytest.raises(Taken):
        await world.perform(fill, NewJar(name="Plums", jar_id=jar_id))
    assert (await world.found(jar_id)).name == "Pears"


async def test_what_a_refusal_means_can_be_found_out(world):
    jar_id = await world.jar("Pears")
    met: list[str] = []

    def explain(refusal: WriteRefused) -> ProblemError | None:
        met.append(refusal.current.name)
        return TooOften() if len(met) == 3 else None

    world.happened.explain = explain
    with pytest.raises(TooOften):
        await world.perform(inspect, jar_id=jar_id)
    assert met == ["Pears"] * 3


async def test_a_thing_that_changed_is_a_conflict_only_for_whoever_named_a_version(world):
    jar_id = await world.jar("Plums")
    world.meanwhile(update(await world.found(jar_id), the(Jar.spoons).becomes(9)))
    with pytest.raises(Conflict) as refused:
        await world.perform(rename, JarChange(name="Prunes"), version=1, jar_id=jar_id)
    assert refused.value.members["current"] == JarView(jar_id=jar_id, name="Plums", spoons=9, version=2)
    world.meanwhile(update(await world.found(jar_id), the(Jar.spoons).becomes(10)))
    await world.perform(rename, JarChange(name="Prunes"), jar_id=jar_id)
    now = await world.found(jar_id)
    assert (now.name, now.spoons, now.version) == ("Prunes", 10, 4)


async def test_a_thing_that_was_changed_before_is_a_conflict_and_the_rule_is_not_asked(world):
    jar_id = await world.jar("Plums")
    with pytest.raises(Conflict):
        await world.perform(rename, JarChange(name="Prunes"), version=2, jar_id=jar_id)
    assert world.happened.asked == []


async def test_a_thing_that_is_gone_meanwhile_is_not_found(world):
    jar_id = await world.jar()
    world.meanwhile(delete(Jar.by_id(world.shelf_id, jar_id)))
    with pytest.raises(NotFound):
        await world.perform(rename, JarChange(name="Prunes"), version=1, jar_id=jar_id)


async def test_entities_in_a_refusal_are_shown_by_the_subject_s_view_or_not_at_all(world):
    jar_id = await world.jar("Plums")
    with pytest.raises(Taken) as refused:
        await world.perform(fill, NewJar(name="Pears", jar_id=jar_id))
    assert refused.value.members == {"existing": JarView(jar_id=jar_id, name="Plums", spoons=5, version=1)}


async def test_what_follows_a_write_is_done_before_the_answer_and_only_if_it_was_written(world):
    jar_id = uuid4()
    await world.perform(fill, NewJar(name="Plums", jar_id=jar_id))
    assert world.happened.after == ["filled"]
    world.meanwhile(put(Jar(shelf_id=world.shelf_id, jar_id=(other := uuid4()), name="Pears"), when=absent))
    with pytest.raises(Taken):
        await world.perform(fill, NewJar(name="Plums", jar_id=other))
    assert world.happened.after == ["filled"]


# --- who may, until it is written -------------------------------------------------------------------------------------


async def test_whoever_is_put_out_meanwhile_is_a_stranger_and_writes_nothing(world):
    jar_id = await world.jar()
    world.meanwhile(delete(world.keeper()))
    with pytest.raises(NotFound):
        await world.perform(rename, JarChange(name="Prunes"), version=1, jar_id=jar_id)
    assert (await world.found(jar_id)).name == "Plums"


async def test_whoever_loses_the_right_meanwhile_is_told_so(world):
    jar_id = await world.jar()
    world.meanwhile(update(world.keeper(), the(Keeper.head).becomes(False)))
    with pytest.raises(Forbidden):
        await world.perform(empty, jar_id=jar_id)
    assert await world.found(jar_id) is not None


async def test_a_rule_may_write_the_row_that_the_caller_is_admitted_by(world):
    jar_id = await world.jar()
    for _ in range(2):
        await world.perform(open_jar, jar_id=jar_id)
    with pytest.raises(TooOften):
        await world.perform(open_jar, jar_id=jar_id)
    assert (await world.core.store.one(world.keeper())).opened == 2


async def test_whoever_is_put_out_meanwhile_is_a_stranger_also_where_their_own_row_is_written(world):
    jar_id = await world.jar()
    world.meanwhile(delete(world.keeper()))
    with pytest.raises(NotFound):
        await world.perform(open_jar, jar_id=jar_id)
    assert await world.core.store.get(world.keeper()) is None


# --- doing it once ----------------------------------------------------------------------------------------------------


async def test_the_same_request_with_the_same_key_is_done_once(world):
    jar_id = await world.jar()
    first = await world.perform(rename, JarChange(name="Prunes"), version=1, jar_id=jar_id, key=world.key())
    again = await world.perform(rename, JarChange(name="Prunes"), version=1, jar_id=jar_id, key=world.key())
    assert world.happened.asked == ["rename"]
    assert shown(first) == shown(again) == {"jarId": str(jar_id), "name": "Prunes", "spoons": 5, "version": 2}
    assert (again.response.status, again.response.headers) == (200, {"etag": '"2"'})
    with pytest.raises(KeyReused):
        await world.perform(rename, JarChange(name="Pears"), version=2, jar_id=jar_id, key=world.key("another"))


async def test_the_kept_answer_is_looked_for_before_a_refusal_is_believed(world):
    """Two requests with one key at once: the second is refused by what the first did, and gets its answer."""
    jar_id = uuid4()
    new = NewJar(name="Plums", jar_id=jar_id)

    async def first() -> None:
        await world.perform(fill, new, key=world.key())

    meanwhile(world.core.store, first)
    done = await world.perform(fill, new, key=world.key())
    assert (done.response.status, shown(done)["jarId"]) == (201, str(jar_id))
    assert world.happened.after == ["filled"]


async def test_whoever_is_put_out_meanwhile_is_not_given_the_answer_of_before(world):
    jar_id = await world.jar()

    async def done_and_out() -> None:
        await world.perform(rename, JarChange(name="Prunes"), version=1, jar_id=jar_id, key=world.key())
        await world.core.store.delete(world.keeper())

    meanwhile(world.core.store, done_and_out)
    with pytest.raises(NotFound):
        await world.perform(rename, JarChange(name="Prunes"), version=1, jar_id=jar_id, key=world.key())


async def test_a_refusal_is_not_kept(world):
    jar_id = await world.jar("Plums")
    with pytest.raises(Taken):
        await world.perform(fill, NewJar(name="Pears", jar_id=jar_id), key=world.key())
    await world.core.store.delete(Jar.by_id(world.shelf_id, jar_id))
    done = await world.perform(fill, NewJar(name="Pears", jar_id=jar_id), key=world.key())
    assert done.response.status == 201


@pytest.mark.parametrize("rule", [rename, seal])
async def test_whoever_is_out_is_told_neither_the_kept_answer_nor_what_they_made(world, rule):
    jar_id = await world.jar()
    input = JarChange(name="Prunes") if rule is rename else None
    await world.perform(rule, input, jar_id=jar_id, key=world.key())
    await world.core.store.delete(world.keeper())
    for key in (world.key(), world.key("another request")):
        with pytest.raises(NotFound):
            await world.perform(rule, input, jar_id=jar_id, key=key)


async def test_whoever_lost_the_right_by_what_they_did_hears_that_it_was_done(world):
    jar_id = await world.jar()
    await world.perform(empty, jar_id=jar_id, key=world.key())
    await world.core.store.delete(world.keeper())
    again = await world.perform(empty, jar_id=jar_id, key=world.key())
    assert (again.response.status, again.response.body) == (204, b"")


async def test_a_rule_that_writes_in_several_steps_keeps_its_answer_with_the_last(world):
    jar_id = await world.jar("Plums", 5)
    first = await world.perform(double, jar_id=jar_id, key=world.key())
    again = await world.perform(double, jar_id=jar_id, key=world.key())
    assert world.happened.asked == ["double"]
    assert shown(first) == shown(again)
    assert (await world.found(jar_id)).spoons == 7
    await world.perform(double, jar_id=jar_id)
    assert (await world.found(jar_id)).spoons == 9
