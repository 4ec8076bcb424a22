"""A password reset is good once, for a day, and ends every session."""

import pytest

from potluck.people.errors import (
    AccountGone,
    ResetInvalid,
    WrongCredentials,
)
from potluck.validation.errors import ValidationError
from tests.people.assembly import PASSWORD, WRITERS, outcomes


async def test_a_reset_sets_the_password_once_and_ends_every_session(people):
    caller = await people.registered()
    phone = await people.signed_in()
    program = (await people.make_token(caller, "Backup")).token
    issued = await people.issue_reset(" ADA@example.org")
    assert await people.known(phone)
    await people.redeem(issued, "battery staple")
    assert await people.authenticator.authenticate(phone) is None
    assert await people.authenticator.authenticate(program) is None
    with pytest.raises(WrongCredentials):
        await people.signed_in()
    assert await people.signed_in(password="battery staple")
    with pytest.raises(ResetInvalid):
        await people.redeem(issued, "battery staple 2")
    assert await people.kinds() == ["Account", "EmailAddress", "Session", "SessionOfUser"]


async def test_a_reset_is_over_after_a_day_to_the_second(embedded_people):
    people = embedded_people
    await people.registered()
    issued = await people.issue_reset("ada@example.org")
    people.clock.forward(hours=24)
    with pytest.raises(ResetInvalid):
        await people.redeem(issued, "battery staple")
    people.clock.forward(seconds=-1)
    await people.redeem(issued, "battery staple")


async def test_a_newer_reset_or_a_new_password_ends_the_earlier_ones(embedded_people):
    people = embedded_people
    caller = await people.registered()
    first = await people.issue_reset("ada@example.org")
    second = await people.issue_reset("ada@example.org")
    with pytest.raises(ResetInvalid):
        await people.redeem(first, "battery staple")
    await people.change_password(caller, PASSWORD, "battery staple")
    with pytest.raises(ResetInvalid):
        await people.redeem(second, "mallory was here")
    assert await people.signed_in(password="battery staple")


async def test_a_password_that_cannot_be_taken_uses_nothing_up(embedded_people):
    people = embedded_people
    await people.registered()
    issued = await people.issue_reset("ada@example.org")
    with pytest.raises(ValidationError) as refused:
        await people.redeem(issued, "short")
    assert refused.value.errors[0].field == "new"
    await people.redeem(issued, "battery staple")


async def test_a_guess_computes_no_hash(embedded_people):
    people = embedded_people
    for secret in ("", "pls_" + "0" * 64, "plr_" + "0" * 64):
        with pytest.raises(ResetInvalid):
            await people.redeem(secret, "battery staple")
    assert people.hasher.computed == []


async def test_the_operator_is_told_that_nobody_has_the_address(embedded_people):
    with pytest.raises(AccountGone):
        await embedded_people.issue_reset("nobody@example.org")
    with pytest.raises(ValidationError):
        await embedded_people.issue_reset("nobody")


async def test_of_fifty_who_redeem_a_reset_one_does(busy_people):
    people = busy_people
    caller = await people.registered()
    issued = await people.issue_reset("ada@example.org")
    ended = await outcomes(
        *(people.redeem(issued, f"battery staple {each}") for each in range(WRITERS)),
        people.rename(caller, "Countess", 1),
    )
    assert ended == {"done": 2, ResetInvalid: WRITERS - 1}
    assert (await people.account(caller.user_id)).session_epoch == 2
