"""Invitations: one mechanism for every place, good once, for a week, for whoever holds the secret."""

from datetime import timedelta
from uuid import UUID

import pytest

from potluck.people.entities import EmailAddress
from potluck.people.errors import (
    InvitationInvalid,
    NoSuchInvitation,
    TooMany,
)
from potluck.people.invitations import INVITATIONS_OF_PLACE
from potluck.table import AlreadyExists, WriteRefused, absent, put
from tests.people.assembly import PASSWORD, WRITERS, outcomes
from tests.stores import NOW

FAMILY = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
BEN = UUID(int=2)


def membership(user_id=BEN):
    """Some row that an app would write when a person comes in."""
    return put(EmailAddress(folded=f"member-{user_id}", user_id=user_id), when=absent)


async def test_an_invitation_says_what_it_opens_and_looking_uses_nothing_up(people):
    ada = await people.registered()
    with people.recording.scope() as calls:
        made = await people.invite("shopping", FAMILY, "member", ada.user_id)
    assert calls.operations == ["Query", "TransactWriteItems"]
    assert made.expires_at == NOW + timedelta(days=7)
    with people.recording.scope() as calls:
        seen = await people.invitations.look(made.secret)
        assert await people.invitations.look(made.secret) == seen
    assert calls.operations == ["GetItem", "GetItem"]
    assert (seen.app, seen.place, seen.role, seen.invited_by) == ("shopping", FAMILY, "member", ada.user_id)


async def test_whoever_accepts_comes_in_by_the_transaction_that_uses_it_up(people):
    ada = await people.registered()
    made = await people.invite("shopping", FAMILY, "member", ada.user_id)
    with people.recording.scope() as calls:
        opened = await people.accept(made.secret, BEN, membership())
    assert calls.operations == ["GetItem", "GetItem", "TransactWriteItems"]
    assert (opened.place, opened.role) == (FAMILY, "member")
    assert await people.store.get(EmailAddress.by_folded(f"member-{BEN}"))
    with pytest.raises(InvitationInvalid):
        await people.accept(made.secret, BEN)
    with pytest.raises(InvitationInvalid):
        await people.invitations.look(made.secret)
    assert not [kind for kind in await people.kinds() if kind.startswith("Invitation")]


async def test_who_cannot_come_in_has_used_nothing_up(embedded_people):
    people = embedded_people
    ada = await people.registered()
    made = await people.invite("shopping", FAMILY, "member", ada.user_id)
    await people.store.transact(membership())
    with pytest.raises(AlreadyExists):
        await people.accept(made.secret, BEN, membership())
    assert await people.invitations.look(made.secret)


async def test_an_app_puts_the_writes_into_a_transaction_of_its_own(embedded_people):
    people = embedded_people
    ada = await people.registered()
    made = await people.invite("journal", "athlete", "coach", ada.user_id)
    first, second = [await people.invitations.open(made.secret, BEN) for _ in range(2)]
    await people.store.transact(membership(), *first.operations)
    with pytest.raises(WriteRefused) as refused:
        await people.store.transact(membership(UUID(int=3)), *second.operations)
    assert second.refused(refused.value)
    assert await people.store.get(EmailAddress.by_folded(f"member-{UUID(int=3)}")) is None


async def test_of_fifty_who_accept_one_invitation_one_comes_in(busy_people):
    people = busy_people
    ada = await people.registered()
    made = await people.invite("shopping", FAMILY, "member", ada.user_id)
    comers = [UUID(int=100 + each) for each in range(WRITERS)]
    ended = await outcomes(*(people.accept(made.secret, each, membership(each)) for each in comers))
    assert ended == {"done": 1, InvitationInvalid: WRITERS - 1}
    assert await people.kinds() == ["Account", "EmailAddress", "EmailAddress", "Session", "SessionOfUser"]


async def test_an_invitation_is_withdrawn_or_accepted_never_both(busy_people):
    people = busy_people
    ada = await people.registered()
    made = await people.invite("shopping", FAMILY, "member", ada.user_id)
    ended = await outcomes(
        people.accept(made.secret, BEN, membership()),
        people.withdraw("shopping", FAMILY, made.invitation_id),
    )
    came_in = await people.store.get(EmailAddress.by_folded(f"member-{BEN}")) is not None
    assert ended == {"done": 1, NoSuchInvitation if came_in else InvitationInvalid: 1}
    assert await people.invitations.of_place("shopping", FAMILY) == []


async def test_an_invitation_is_over_after_a_week_to_the_second(people):
    ada = await people.registered()
    made = await people.invite("shopping", FAMILY, "member", ada.user_id)
    people.clock.forward(days=7)
    with pytest.raises(InvitationInvalid):
        await people.accept(made.secret, BEN)
    assert await people.invitations.of_place("shopping", FAMILY) == []
    people.clock.forward(seconds=-1)
    await people.accept(made.secret, BEN)


async def test_one_that_expires_between_looking_and_coming_in_opens_nothing(embedded_people):
    people = embedded_people
    ada = await people.registered()
    made = await people.invite("shopping", FAMILY, "member", ada.user_id)
    people.clock.forward(days=7, seconds=-1)

    too_late = await people.invitations.open(made.secret, BEN)
    people.clock.forward(seconds=1)
    with pytest.raises(WriteRefused) as refused:
        await people.store.transact(*too_late.operations, membership())
    assert too_late.refused(refused.value)
    assert await people.store.get(EmailAddress.by_folded(f"member-{BEN}")) is None


async def test_a_place_lists_its_own_invitations_and_withdraws_them(people):
    ada = await people.registered()
    first = await people.invite("shopping", FAMILY, "member", ada.user_id, "ben@example.org")
    people.clock.forward(seconds=1)
    second = await people.invite("shopping", FAMILY, "admin", ada.user_id)
    elsewhere = await people.invite("library", FAMILY, "reader", ada.user_id)
    with people.recording.scope() as calls:
        listed = await people.invitations.of_place("shopping", FAMILY)
    assert calls.operations == ["Query"]
    assert [(each.invitation_id, each.role, each.email) for each in listed] == [
        (second.invitation_id, "admin", None),
        (first.invitation_id, "member", "ben@example.org"),
    ]
    await people.withdraw("shopping", FAMILY, first.invitation_id)
    with pytest.raises(InvitationInvalid):
        await people.invitations.look(first.secret)
    for place, invitation_id in ((FAMILY, first.invitation_id), (FAMILY, elsewhere.invitation_id), ("x", BEN)):
        with pytest.raises(NoSuchInvitation):
            await people.withdraw("shopping", place, invitation_id)
    await people.invitations.withdraw_all("shopping", FAMILY)
    assert await people.invitations.of_place("shopping", FAMILY) == []
    assert (await people.invitations.look(elsewhere.secret)).app == "library"


async def test_typing_an_address_does_the_same_whether_or_not_it_has_an_account(embedded_people):
    people = embedded_people
    ada = await people.registered()
    await people.registered("ben@example.org", "Ben")
    told = []
    for email in ("ben@example.org", "nobody@example.org"):
        with people.recording.scope() as calls:
            made = await people.invite("shopping", FAMILY, "member", ada.user_id, email)
        told.append([(call.operation, call.pattern, call.items, call.read_units, call.write_units) for call in calls])
        # It is a note and no key: whoever holds the secret comes in.
        await people.accept(made.secret, UUID(int=9))
    assert told[0] == told[1]


async def test_what_is_no_invitation_opens_nothing(embedded_people):
    for secret in ("", "pls_" + "0" * 64, "pli_" + "0" * 64, "pli_ä"):
        with pytest.raises(InvitationInvalid):
            await embedded_people.invitations.open(secret, BEN)


async def test_the_invitations_of_someone_who_leaves_open_nothing(embedded_people):
    people = embedded_people
    ada = await people.registered()
    made = await people.invite("shopping", FAMILY, "member", ada.user_id)
    await people.delete(ada, PASSWORD)
    with pytest.raises(InvitationInvalid):
        await people.invitations.look(made.secret)


async def test_a_place_has_not_too_many_open_invitations(embedded_people):
    people = embedded_people
    ada = await people.registered()
    for _ in range(INVITATIONS_OF_PLACE):
        await people.invite("shopping", FAMILY, "member", ada.user_id)
    with pytest.raises(TooMany):
        await people.invite("shopping", FAMILY, "member", ada.user_id)
    await people.invite("shopping", "another", "member", ada.user_id)


async def test_whom_the_operator_invites_registers_once_and_comes_into_no_place(people):
    people.settle("invited")
    with people.recording.scope() as calls:
        made = await people.invite_newcomer()
    assert calls.operations == ["Query", "TransactWriteItems"]
    assert (await people.invitations.look(made)).app == "potluck"
    # Somebody who has an account already has nothing to come into.
    with pytest.raises(InvitationInvalid):
        await people.accept(made, BEN)
    ended = await outcomes(
        *(people.register(f"ada{each}@example.org", PASSWORD, "Ada", invitation=made) for each in range(3))
    )
    assert ended == {"done": 1, InvitationInvalid: 2}
    assert (await people.kinds()).count("Account") == 1
    assert not [kind for kind in await people.kinds() if kind.startswith("Invitation")]
    with pytest.raises(InvitationInvalid):
        await people.register("eve@example.org", PASSWORD, "Eve", invitation=made)


async def test_the_operators_invitation_is_over_after_a_week_and_can_be_withdrawn(embedded_people):
    people = embedded_people
    people.settle("invited")
    over = await people.invite_newcomer()
    people.clock.forward(days=7)
    withdrawn = await people.invite_newcomer()
    (listed,) = await people.invitations.of_place("potluck", "potluck")
    await people.withdraw("potluck", "potluck", listed.invitation_id)
    for made in (over, withdrawn):
        with pytest.raises(InvitationInvalid):
            await people.register("ada@example.org", PASSWORD, "Ada", invitation=made)
