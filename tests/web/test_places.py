"""Places in an app of other names than any we have: a garden, its gardeners, and who may dig."""

from collections.abc import Awaitable, Sequence
from types import SimpleNamespace
from typing import Any, Literal
from uuid import UUID

import pytest
from msgspec import Struct

from potluck.people.entities import Account, accounts
from potluck.people.errors import AccountGone, InvitationInvalid, StillNeeded, TooMany
from potluck.store import Store
from potluck.table import Condition, Counter, Table, get, query, the, update
from potluck.web import Actions, App, InPlace, MemberRow, Place, PlaceRow, View, Writes, computed
from potluck.web.direct_calls import Direct
from potluck.web.entity_fields import DeclarationError
from potluck.web.errors import Forbidden, NotFound, ProblemError
from potluck.web.places.in_suite import PlacesInSuite
from potluck.web.places.membership import LastManager
from tests.apps.worlds import registered
from tests.people.assembly import Clock
from tests.stores import recorded_store
from tests.web.cores import core_on

gardens_table = Table(
    "Gardens", "PK", "SK", indexes={"GSI1": ("GSI1PK", "GSI1SK")}, type_attribute="kind", names="camel"
)


class Garden(PlaceRow, table=gardens_table, type="Garden", key=("GARDEN#{garden_id}", "GARDEN")):
    garden_id: UUID

    @get(consistent=True)
    def by_id(garden_id: UUID) -> None:
        """What is this garden called?"""


class Gardener(
    MemberRow,
    table=gardens_table,
    type="Gardener",
    key=("GARDEN#{garden_id}", "GARDENER#{user_id}"),
    GSI1=("USER#{user_id}", "GARDEN#{garden_id}"),
):
    garden_id: UUID
    user_id: UUID
    role: Literal["head", "deputy", "gardener", "guest"]
    tools: Counter = 0

    @get(consistent=True)
    def by_id(garden_id: UUID, user_id: UUID) -> None:
        """May this person dig here?"""

    @query(consistent=True)
    def all_of_garden(garden_id: UUID) -> None:
        """Who digs here?"""

    @query("GSI1")
    def gardens_of(user_id: UUID) -> None:
        """Where does this person dig?"""


class ToolsOut(ProblemError, slug="tools-out", status=409, title="Bring back the tools first"):
    """Whoever leaves takes no spade along."""


class InGarden(InPlace[Gardener]):
    garden_id: UUID


class GardenHead(InGarden, role=("head", "deputy")):
    pass


meanwhile: list[Awaitable[Any]] = []
"""What others do after the rule has read the member's row, and before it is written."""


async def tools_are_back(at: InGarden, gardener: Gardener) -> Condition:
    if gardener.tools:
        raise ToolsOut
    while meanwhile:
        await meanwhile.pop()
    return the(Gardener.tools) == 0


def place(**options: Any) -> Place[Garden, Gardener]:
    known = {"members": Gardener.all_of_garden, "places": Gardener.gardens_of, "api": "/gardens", "page": "/gardens"}
    return Place("gardens", Garden, InGarden, GardenHead, **{**known, **options})


gardens = place(most_members=3, leaving=tools_are_back)


@pytest.fixture
async def world(tmp_path):
    async with recorded_store("embedded", tmp_path, accounts, gardens_table) as (wrapped, _):
        clock = Clock()
        store = Store(wrapped.engine, clock)
        core = core_on(store, clock)
        suite = PlacesInSuite(gardens, core, ())
        yield SimpleNamespace(core=core, store=store, direct=Direct(core, gardens.subjects), suite=suite)


async def invited(world, by, garden_id, role="gardener"):
    return await world.direct.do(gardens.invite, by, gardens.new_invitation(role=role), garden_id=garden_id)


async def joined(world, person, invitation):
    return await world.direct.join(person, invitation.token, "gardens", gardens.join)


async def laid_out(world, by, name="Roof"):
    return (await world.direct.do(gardens.create, by, gardens.new(name=name))).garden_id


async def role_given(world, by, member, role, version, **at):
    edit = gardens.role_edit(role=role)
    await world.direct.do(gardens.change_role, by, edit, version=version, **at, user_id=member.user_id)


async def test_people_come_change_roles_and_leave_and_one_manager_stays(world):
    ada = await registered(world.store, "Ada", "ada@example.org")
    ben = await registered(world.store, "Ben", "ben@example.org")
    do, suite = world.direct.do, world.suite
    garden = await laid_out(world, ada)
    at = {"garden_id": garden}
    invitation = await invited(world, ada, garden)
    assert [each.id for each in await world.direct.list(gardens.open_invitations, ada, **at)] == [invitation.id]
    assert (await joined(world, ben, invitation)).garden_id == garden
    assert [each.name for each in await world.direct.list(gardens.all, ben)] == ["Roof"]
    with pytest.raises(Forbidden, match="Only a head or a deputy of the garden may do this"):
        await do(gardens.remove_member, ben, **at, user_id=ada.user_id)
    with pytest.raises(LastManager):
        await do(gardens.remove_member, ada, **at, user_id=ada.user_id)
    assert await suite.still_needed(ada.user_id) == ["Roof"]
    assert await suite.place_name(str(garden)) == "Roof"
    await role_given(world, ada, ben, "deputy", 1, **at)
    unused = await invited(world, ada, garden, "head")
    await do(gardens.remove_member, ada, **at, user_id=ada.user_id)
    assert [each.name for each in await world.direct.list(gardens.all_members, ben, **at)] == ["Ben"]
    with pytest.raises(NotFound):
        await world.direct.list(gardens.all_members, ada, **at)
    with pytest.raises(InvitationInvalid):
        await joined(world, await registered(world.store, "Cat", "cat@example.org"), unused)


async def test_a_place_counts_whoever_manages_it_by_any_role(world):
    ada = await registered(world.store, "Ada", "ada@example.org")
    garden = await laid_out(world, ada)
    at, people = {"garden_id": garden}, []
    for name, role in (("Ben", "deputy"), ("Cat", "guest")):
        people.append(await registered(world.store, name, f"{name}@example.org"))
        await joined(world, people[-1], await invited(world, ada, garden, role))
    ben, cat = people

    async def managers():
        return (await world.store.one(Garden.by_id(garden))).manager_count

    assert await managers() == 2
    await role_given(world, ada, cat, "gardener", 1, **at)
    assert await managers() == 2
    await role_given(world, ada, ben, "head", 1, **at)
    assert await managers() == 2
    await role_given(world, ben, ada, "guest", 1, **at)
    assert await managers() == 1
    with pytest.raises(LastManager):
        await role_given(world, ben, ben, "guest", 2, **at)


async def test_what_must_hold_of_a_member_who_leaves_holds_when_they_are_written(world):
    ada = await registered(world.store, "Ada", "ada@example.org")
    ben = await registered(world.store, "Ben", "ben@example.org")
    at = {"garden_id": await laid_out(world, ada)}
    await joined(world, ben, await invited(world, ada, **at))
    his = Gardener.by_id(*at.values(), ben.user_id)
    # A counter raises no version, so only the condition can tell.
    meanwhile.append(world.store.update(his, the(Gardener.tools).add(1)))
    with pytest.raises(ToolsOut):
        await world.direct.do(gardens.remove_member, ben, **at, user_id=ben.user_id)
    await world.store.update(his, the(Gardener.tools).add(-1))
    await world.direct.do(gardens.remove_member, ben, **at, user_id=ben.user_id)
    assert (await world.store.one(his)).status == "removed"


class Signed(Struct):
    name: str


signs: Actions[Garden] = Actions(InGarden, Garden.by_id, api="/gardens", tag="Gardens")


@signs.action("POST", "/sign")
async def sign(at: InGarden, garden: Garden) -> Writes[Signed]:
    """Name the garden after the caller."""
    account = await at.own_account()
    while meanwhile:
        await meanwhile.pop()
    return Writes(Signed(account.name), update(garden, the(Garden.name).becomes(account.name)))


async def test_what_a_member_s_rule_copies_from_their_account_is_as_new_as_the_write(world):
    ada = await registered(world.store, "Ada", "ada@example.org")
    at = {"garden_id": await laid_out(world, ada)}
    account = Account.by_id(ada.user_id)
    meanwhile.append(world.store.update(await world.store.one(account), the(Account.name).becomes("Eda")))
    direct = Direct(world.core, [signs])
    assert (await direct.do(sign, ada, **at)).name == "Eda"
    meanwhile.append(world.store.delete(account))
    with pytest.raises(AccountGone):
        await direct.do(sign, ada, **at)
    assert (await world.store.one(Garden.by_id(*at.values()))).name == "Eda"


async def test_a_place_has_room_for_so_many(world):
    ada = await registered(world.store, "Ada", "ada@example.org")
    garden = await laid_out(world, ada)
    for name in ("Ben", "Cat"):
        person = await registered(world.store, name, f"{name}@example.org")
        await joined(world, person, await invited(world, ada, garden))
    dan, one_more = await registered(world.store, "Dan", "dan@example.org"), await invited(world, ada, garden)
    with pytest.raises(TooMany, match="3 members in a garden"):
        await joined(world, dan, one_more)


async def test_whoever_is_forgotten_takes_along_what_was_theirs_alone(world):
    ada = await registered(world.store, "Ada", "ada@example.org")
    ben = await registered(world.store, "Ben", "ben@example.org")
    alone, shared = await laid_out(world, ada, "Alone"), await laid_out(world, ada, "Shared")
    await joined(world, ben, await invited(world, ada, shared))
    exported = [(name, getattr(row, "name", None)) async for name, row in world.suite.export(ada.user_id)]
    assert sorted(exported) == [("gardens", "Alone"), ("gardens", "Shared"), *[("memberships", "Ada")] * 2]
    with pytest.raises(StillNeeded):
        await world.suite.forget(ada.user_id)
    await role_given(world, ada, ben, "head", 1, garden_id=shared)
    await world.suite.forget(ada.user_id)
    assert await world.store.get(Garden.by_id(alone)) is None
    assert await world.store.get(Gardener.by_id(shared, ada.user_id)) is None
    assert (await world.store.one(Garden.by_id(shared))).manager_count == 1
    await world.direct.do(gardens.delete, ben, garden_id=shared)
    assert await world.direct.list(gardens.all, ben) == []


def test_a_manager_without_a_role_is_refused():
    class Anybody(InGarden):
        pass

    with pytest.raises(DeclarationError, match="say which of head, deputy, gardener, guest manages"):
        Place(
            "gardens", Garden, InGarden, Anybody, members=Gardener.all_of_garden, places=Gardener.gardens_of,
            api="/gardens", page="/gardens",
        )  # fmt: skip


def test_an_unknown_role_is_refused():
    with pytest.raises(DeclarationError, match="'weeder' is no role of Gardener; it has head, deputy, gardener, guest"):

        class Weeder(InGarden, role=("head", "weeder")):
            pass


async def test_what_only_members_of_this_app_have_is_exported_with_them(world):
    ada = await registered(world.store, "Ada", "ada@example.org")
    garden = await laid_out(world, ada)
    await world.store.update(Gardener.by_id(garden, ada.user_id), the(Gardener.tools).add(2))
    (row,) = [row async for name, row in world.suite.export(ada.user_id) if name == "memberships"]
    assert (row.garden_id, row.role, row.tools) == (garden, "head", 2)
    assert "user_id" not in row.__struct_fields__


def test_what_is_exported_with_a_place_needs_no_lookup():
    class Greeting:
        @classmethod
        async def load(cls, at: InGarden, items: Sequence[Gardener]) -> "Greeting":
            return cls()

    class Greeted(View[Gardener]):
        name: str

        @computed
        def greeting(gardener: Gardener, greeting: Greeting) -> str:
            return f"Hello {gardener.name}"

    with pytest.raises(DeclarationError, match="contents, guests: Greeted needs the lookup Greeting"):

        class GardensApp(App):
            name = "gardens"
            place = gardens
            contents = (("guests", Gardener.all_of_garden, Greeted),)
