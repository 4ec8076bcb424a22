"""What an attack on the layer found: each of these once answered wrongly."""

from decimal import Decimal
from types import SimpleNamespace
from typing import Annotated, Any
from uuid import UUID

import pytest

from potluck.apps.shopping.access import FamilyAdmin, InFamily, LeavingOrAdmin
from potluck.apps.shopping.entities import Member
from potluck.field_types import Amount
from potluck.table import Unavailable
from potluck.web.access import SignedIn, Visitor
from potluck.web.actions import Actions
from potluck.web.inputs import DeclarationError, Input
from potluck.web.writes import Writes
from tests.people.assembly import Clock

FAMILY, ADA, BEN = UUID(int=1), UUID(int=2), UUID(int=3)


# --- who may ----------------------------------------------------------------------------------------------------------


def right_by(access: Any, **ids: Any) -> Any:
    core: Any = SimpleNamespace(store=None)
    caller: Any = SimpleNamespace(user_id=ADA)
    return access(core, None, Visitor(principal=caller), {"family_id": FAMILY, **ids}).right()


def member(**given: Any) -> Member:
    now = Clock()()
    known = {"name": "Ada", "email": "ada@example.org", "created_at": now, "updated_at": now}
    return Member(**{"family_id": FAMILY, "member_id": ADA, "role": "admin", **known, **given})


def test_the_right_to_follow_a_list_is_all_that_its_access_asks_for():
    """Whoever is no admin for a while is not told afterwards what only admins were shown meanwhile."""
    admin, demoted, removed = member(), member(role="member"), member(status="removed")
    held = {
        access: [right_by(access, **ids).held(row) for row in (admin, demoted, removed)]
        for access, ids in ((InFamily, {}), (FamilyAdmin, {}))
    }
    assert held == {InFamily: [True, True, False], FamilyAdmin: [True, False, False]}
    own, others = right_by(LeavingOrAdmin, member_id=ADA), right_by(LeavingOrAdmin, member_id=BEN)
    assert (own.held(demoted), others.held(demoted)) == (True, False)


def test_no_part_of_a_path_takes_the_place_of_what_a_rule_is_given():
    class Odd(SignedIn):
        rows: UUID  # type: ignore[assignment]

    odd: Actions[Any] = Actions(Odd, api="/odd/{rows}")

    async def touch(at: Odd) -> Writes[None]:
        """Touch it."""
        return Writes(None)

    touch.__annotations__ = {"at": Odd, "return": Writes[None]}
    with pytest.raises(DeclarationError, match="rows"):
        odd.action("POST")(touch)


# --- what was done ----------------------------------------------------------------------------------------------------


async def unavailable(*_: Any, **__: Any) -> None:
    raise Unavailable("the engine is too busy")


# --- what is remembered -----------------------------------------------------------------------------------------------


# --- garbage ----------------------------------------------------------------------------------------------------------


class Priced(Input):
    price: Annotated[Decimal, Amount(0, 100, places=2)]
