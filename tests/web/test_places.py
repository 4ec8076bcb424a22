"""Places in an app of other names than any we have: a garden, its gardeners, and who may dig."""

from collections.abc import Awaitable
from types import SimpleNamespace
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest

from potluck.people.entities import accounts
from potluck.people.errors import InvitationInvalid, StillNeeded, TooMany
from potluck.people.secrets import new_id
from potluck.store import Store
from potluck.table import Counter, Entity, Seconds, Table, Version, get, query, the
from potluck.validation.field_types import Message, Text
from potluck.web.access import ByRow
from potluck.web.actions import Actions
from potluck.web.direct_calls import Direct
from potluck.web.errors import Forbidden, NotFound, ProblemError
from potluck.web.inputs import Edit, Input, New
from potluck.web.places import InvitationMade, InvitationView, OwnPlaces, Place, latest_first
from potluck.web.views import View
from potluck.web.writes import Writes
from tests.apps.worlds import registered
from tests.people.assembly import Clock
from tests.stores import recorded_store
from tests.web.cores import core_on

gardens_table = Table("Gardens", "PK", "SK", indexes={"GSI1": ("GSI1PK", "GSI1SK")}, type_attribute="kind")
Name = Annotated[str, Text(1, 50)]
Role = Annotated[Literal["admin", "member"], Message("Role must be 'admin' or 'member'")]


class Garden(Entity, table=gardens_table, type="Garden", key=("GARDEN#{garden_id}", "GARDEN")):
    garden_id: UUID
    name: Name
    admin_count: Counter = 1
    member_count: Counter = 1
    version: Version = 1

    @get(consistent=True)
    def by_id(garden_id: UUID) -> None:
        """What is this garden called?"""


class Gardener(
    Entity,
    table=gardens_table,
    type="Gardener",
    key=("GARDEN#{garden_id}", "GARDENER#{user_id}"),
    GSI1=("USER#{user_id}", "GARDEN#{garden_id}"),
):
    garden_id: UUID
    user_id: UUID
    name: str
    email: str
    role: Role = "member"
    status: Literal["active", "removed"] = "active"
    tools: Counter = 0
    version: Version = 1
    created_at: Seconds
    updated_at: Seconds

    @get(consistent=True)
    def by_id(garden_id: UUID, user_id: UUID) -> None:
        """May this person dig here?"""

    @query(consistent=True)
    def all_of_garden(garden_id: UUID) -> None:
        """Who digs here?"""

    @query("GSI1")
    def gardens_of(user_id: UUID) -> None:
        """Where does this person dig?"""


class LastGardener(ProblemError, slug="last-gardener", status=409, title="Somebody has the key"):
    """A garden without an admin grows wild."""


class ToolsOut(ProblemError, slug="tools-out", status=409, title="Bring back the tools first"):
    """Whoever leaves takes no spade along."""


meanwhile: list[Awaitable[Any]] = []
"""What others do after the rule has read the member's row, and before it is written."""


class InGarden(ByRow[Gardener], admits=the(Gardener.status) == "active"):
    garden_id: UUID

    def sees(self, thing: Any) -> bool:
        return not isinstance(thing, Gardener) or thing.status == "active"


class GardenAdmin(InGarden, needs=the(Gardener.role) == "admin", otherwise=Forbidden):
    pass


class LeavingOrAdmin(InGarden):
    user_id: UUID

    def effective_access(self) -> type[InGarden]:
        return InGarden if self.user_id == self.principal.user_id else GardenAdmin


class GardenView(View[Garden]):
    garden_id: UUID
    name: str
    member_count: int


class GardenerView(View[Gardener]):
    user_id: UUID
    name: str
    role: Role
    version: int


class NewGarden(New[Garden]):
    name: Name


class RoleChange(Edit[Gardener]):
    role: Role


class NewInvitation(Input):
    role: Role


garden_place = Place(
    "gardens",
    Garden,
    Gardener,
    members=Gardener.all_of_garden,
    places=Gardener.gardens_of,
    last_admin=LastGardener,
    most_members=3,
)
gardens = Actions(InGarden, Garden.by_id, GardenView, api="/gardens")
gardeners = Actions(InGarden, Gardener.by_id, GardenerView, api="/gardens/{garden_id}/gardeners")
invitations = Actions(GardenAdmin, None, InvitationView, api="/gardens/{garden_id}/invitations")


@gardens.create()
async def lay_out(at: OwnPlaces, new: NewGarden) -> Writes[Garden]:
    """Lay out a garden."""
    return await garden_place.make(at, at.make(new, garden_id=new_id()))


@gardens.list(order=lambda garden: (garden.name, str(garden.garden_id)))
async def own_gardens(at: OwnPlaces) -> list[Garden]:
    """The caller's gardens."""
    return await garden_place.own(at)


@gardens.delete()
async def pave(at: GardenAdmin, garden: Garden) -> Writes[None]:
    """Pave it over."""
    return await garden_place.delete(at, garden)


@gardeners.list(order=lambda gardener: (gardener.name, str(gardener.user_id)))
async def all_gardeners(at: InGarden) -> list[Gardener]:
    """Who digs here."""
    return await at.store.all(Gardener.all_of_garden(at.garden_id))


@gardeners.change(LastGardener)
async def change_role(at: GardenAdmin, gardener: Gardener, change: RoleChange) -> Writes[Gardener]:
    """Hand over the key, or take it back."""
    return garden_place.change_role(at, gardener, change.role)


@gardeners.delete("", LastGardener)
async def leave(at: LeavingOrAdmin, gardener: Gardener) -> Writes[None]:
    """Leave, or remove somebody; not with tools of the garden."""
    if gardener.tools:
        raise ToolsOut
    while meanwhile:
        await meanwhile.pop()
    return garden_place.remove(at, gardener, when=the(Gardener.tools) == 0)


@invitations.create(secret=True)
async def invite(at: GardenAdmin, new: NewInvitation) -> Writes[InvitationMade]:
    """Invite somebody."""
    return await garden_place.invite(at, new.role)


@invitations.list(order=latest_first)
async def open_invitations(at: GardenAdmin) -> Any:
    """Who is invited."""
    return await garden_place.invitations(at)


@pytest.fixture
async def world(tmp_path):
    async with recorded_store("embedded", tmp_path, accounts, gardens_table) as (wrapped, _):
        clock = Clock()
        rows = Store(wrapped.engine, clock)
        core = core_on(rows, clock)
        yield SimpleNamespace(
            store=rows, direct=Direct(core, [gardens, gardeners, invitations]), suite=garden_place.on(core)
        )


async def test_people_come_become_admins_and_leave_and_one_admin_stays(world):
    ada = await registered(world.store, "Ada", "ada@example.org")
    ben = await registered(world.store, "Ben", "ben@example.org")
    do, suite = world.direct.do, world.suite
    garden = (await do(lay_out, ada, NewGarden(name="Roof"))).garden_id
    at = {"garden_id": garden}
    made = await do(invite, ada, NewInvitation(role="member"), **at)
    assert [each.id for each in await world.direct.list(open_invitations, ada, **at)] == [made.id]
    assert (await suite.accept(ben, made.token)).garden_id == garden
    assert [each.name for each in await world.direct.list(own_gardens, ben)] == ["Roof"]
    with pytest.raises(Forbidden):
        await do(leave, ben, **at, user_id=ada.user_id)
    with pytest.raises(LastGardener):
        await do(leave, ada, **at, user_id=ada.user_id)
    assert await suite.still_needed(ada.user_id) == ["Roof"]
    assert await suite.place_name(str(garden)) == "Roof"
    await do(change_role, ada, RoleChange(role="admin"), version=1, **at, user_id=ben.user_id)
    kept = await do(invite, ada, NewInvitation(role="admin"), **at)
    await do(leave, ada, **at, user_id=ada.user_id)
    assert [each.name for each in await world.direct.list(all_gardeners, ben, **at)] == ["Ben"]
    with pytest.raises(NotFound):
        await world.direct.list(all_gardeners, ada, **at)
    with pytest.raises(InvitationInvalid):
        await suite.accept(ada, kept.token)


async def test_what_must_hold_of_a_member_who_leaves_holds_when_they_are_written(world):
    ada = await registered(world.store, "Ada", "ada@example.org")
    ben = await registered(world.store, "Ben", "ben@example.org")
    at = {"garden_id": (await world.direct.do(lay_out, ada, NewGarden(name="Roof"))).garden_id}
    made = await world.direct.do(invite, ada, NewInvitation(role="member"), **at)
    await world.suite.accept(ben, made.token)
    his = Gardener.by_id(*at.values(), ben.user_id)
    # A counter raises no version, so only the condition can tell.
    meanwhile.append(world.store.update(his, the(Gardener.tools).add(1)))
    with pytest.raises(ToolsOut):
        await world.direct.do(leave, ben, **at, user_id=ben.user_id)
    await world.store.update(his, the(Gardener.tools).add(-1))
    await world.direct.do(leave, ben, **at, user_id=ben.user_id)
    assert (await world.store.one(his)).status == "removed"


async def test_a_place_has_room_for_so_many(world):
    ada = await registered(world.store, "Ada", "ada@example.org")
    garden = (await world.direct.do(lay_out, ada, NewGarden(name="Roof"))).garden_id
    for name in ("Ben", "Cat"):
        made = await world.direct.do(invite, ada, NewInvitation(role="member"), garden_id=garden)
        await world.suite.accept(await registered(world.store, name, f"{name}@example.org"), made.token)
    made = await world.direct.do(invite, ada, NewInvitation(role="member"), garden_id=garden)
    with pytest.raises(TooMany, match="3 members in a garden"):
        await world.suite.accept(await registered(world.store, "Dan", "dan@example.org"), made.token)


async def test_whoever_is_forgotten_takes_along_what_was_theirs_alone(world):
    ada = await registered(world.store, "Ada", "ada@example.org")
    ben = await registered(world.store, "Ben", "ben@example.org")
    alone = (await world.direct.do(lay_out, ada, NewGarden(name="Alone"))).garden_id
    shared = (await world.direct.do(lay_out, ada, NewGarden(name="Shared"))).garden_id
    made = await world.direct.do(invite, ada, NewInvitation(role="member"), garden_id=shared)
    await world.suite.accept(ben, made.token)
    with pytest.raises(StillNeeded):
        await world.suite.forget(ada.user_id)
    await world.direct.do(change_role, ada, RoleChange(role="admin"), version=1, garden_id=shared, user_id=ben.user_id)
    await world.suite.forget(ada.user_id)
    assert await world.store.get(Garden.by_id(alone)) is None
    assert await world.store.get(Gardener.by_id(shared, ada.user_id)) is None
    assert (await world.store.one(Garden.by_id(shared))).admin_count == 1
    await world.direct.do(pave, ben, garden_id=shared)
    assert await world.direct.list(own_gardens, ben) == []
