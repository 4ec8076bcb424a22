"""API tokens: shown once, dead when revoked, and unable to manage what they come from."""

import asyncio
from uuid import UUID

import pytest

from potluck.people.errors import (
    NoSuchToken,
    SessionOver,
    SignInNeeded,
    TooMany,
)
from potluck.people.tokens import TOKENS_OF_USER
from potluck.table import Unavailable
from potluck.validation.errors import ValidationError
from tests.people.assembly import PASSWORD, WRITERS, outcomes
from tests.stores import NOW


async def test_a_token_is_made_by_one_transaction_and_known_by_two_consistent_reads(people):
    caller = await people.registered()
    with people.recording.scope() as calls:
        made = await people.tokens.make(caller, " Backup script ")
    assert calls.operations == ["Query", "TransactWriteItems"]
    assert (made.name, made.created_at) == ("Backup script", NOW)
    with people.recording.scope() as calls:
        program = await people.known(made.secret)
    assert [(call.operation, call.request["ConsistentRead"]) for call in calls] == [("GetItem", True)] * 2
    assert (program.kind, program.user_id, program.expires_at) == ("api-token", caller.user_id, None)
    (listed,) = await people.tokens.all(caller)
    assert (listed.token_id, listed.name) == (made.token_id, "Backup script")


async def test_a_revoked_token_is_dead_and_can_be_revoked_only_by_its_owner(people):
    caller, ben = await people.registered(), await people.registered("ben@example.org")
    made = await people.tokens.make(caller, "Backup")
    with pytest.raises(NoSuchToken):
        await people.tokens.revoke(ben, made.token_id)
    assert await people.known(made.secret)
    await people.tokens.revoke(caller, made.token_id)
    assert await people.authenticator.authenticate(made.secret) is None
    assert await people.tokens.all(caller) == []
    for token_id in (made.token_id, UUID(int=1)):
        with pytest.raises(NoSuchToken):
            await people.tokens.revoke(caller, token_id)


async def test_a_token_cannot_manage_tokens_password_or_account(embedded_people):
    people = embedded_people
    caller = await people.registered()
    made = await people.tokens.make(caller, "Backup")
    program = await people.known(made.secret)
    assert not program.may_manage_account
    before = await people.rows()
    for attempt in (
        people.tokens.make(program, "Another"),
        people.tokens.all(program),
        people.tokens.revoke(program, made.token_id),
        people.accounts.rename(program, "Mallory", 1),
        people.accounts.change_password(program, PASSWORD, "battery staple"),
        people.accounts.change_email(program, "mallory@example.org", PASSWORD),
        people.accounts.delete(program, PASSWORD),
    ):
        with pytest.raises(SignInNeeded):
            await attempt
    assert await people.rows() == before
    assert (await people.accounts.export(program.user_id)).name == "Ada"


async def test_a_new_password_ends_every_token_unless_they_are_to_stay(people):
    secret = (await people.registered(), await people.signed_in())[1]
    made = await people.tokens.make(await people.known(secret), "Backup")
    await people.accounts.rename(await people.known(secret), "Countess", 1)
    stay = people.accounts.change_password(await people.known(secret), PASSWORD, "battery staple", end_tokens=False)
    assert await stay == 1
    assert (await people.known(made.secret)).name == "Countess"
    later = await people.tokens.make(await people.known(secret), "Display")
    assert await people.accounts.change_password(await people.known(secret), "battery staple", PASSWORD) == 0
    for each in (made, later):
        assert await people.authenticator.authenticate(each.secret) is None
    assert await people.tokens.all(await people.known(secret)) == []
    assert not {"ApiToken", "ApiTokenOfUser"} & set(await people.kinds())
    after = await people.tokens.make(await people.known(secret), "Backup")
    assert await people.known(after.secret)
    assert [each.name for each in await people.tokens.all(await people.known(secret))] == ["Backup"]


async def test_a_token_is_over_with_the_password_although_its_rows_are_there(embedded_people, monkeypatch):
    """However many there are, they end by the one write that sets the password."""
    people = embedded_people
    caller = await people.registered()
    made = [await people.tokens.make(caller, f"Backup {each}") for each in range(TOKENS_OF_USER)]
    issued = await people.resets.issue("ada@example.org")

    async def unavailable(*_):
        raise Unavailable("nothing is tidied")

    monkeypatch.setattr(people.store, "write_each", unavailable)
    await people.resets.redeem(issued.secret, "battery staple")
    assert (await people.kinds()).count("ApiToken") == TOKENS_OF_USER
    for each in made:
        assert await people.authenticator.authenticate(each.secret) is None
    caller = await people.known(await people.signed_in(password="battery staple"))
    assert await people.tokens.all(caller) == []
    assert (await people.accounts.export(caller.user_id)).api_tokens == []


async def test_a_token_survives_a_new_address(embedded_people):
    people = embedded_people
    caller = await people.registered()
    made = await people.tokens.make(caller, "Backup")
    await people.accounts.change_email(caller, "countess@example.org", PASSWORD)
    assert await people.known(made.secret)


async def test_a_session_that_is_over_makes_no_token(embedded_people):
    people = embedded_people
    caller = await people.registered()
    other = await people.known(await people.signed_in())
    await people.accounts.change_password(other, PASSWORD, "battery staple")
    with pytest.raises(SessionOver):
        await people.tokens.make(caller, "Backup")


async def test_a_token_has_a_name_and_there_are_not_too_many(embedded_people):
    people = embedded_people
    caller = await people.registered()
    with pytest.raises(ValidationError):
        await people.tokens.make(caller, " ")
    for each in range(TOKENS_OF_USER):
        await people.tokens.make(caller, f"Backup {each}")
    with pytest.raises(TooMany):
        await people.tokens.make(caller, "One more")


async def test_of_fifty_who_revoke_a_token_one_does(busy_people):
    people = busy_people
    caller = await people.registered()
    made, kept = await asyncio.gather(people.tokens.make(caller, "Backup"), people.tokens.make(caller, "Kept"))
    ended = await outcomes(*(people.tokens.revoke(caller, made.token_id) for _ in range(WRITERS)))
    assert ended == {"done": 1, NoSuchToken: WRITERS - 1}
    assert await people.known(kept.secret)
