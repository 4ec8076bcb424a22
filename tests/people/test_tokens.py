"""API tokens: shown once, dead when revoked, and unable to manage what they come from."""

import asyncio
from uuid import UUID

import pytest

from potluck.people.errors import (
    NoSuchToken,
    SessionOver,
    TooMany,
)
from potluck.table import Unavailable
from potluck.validation.errors import ValidationError
from potluck.web.people.tokens import TOKENS_OF_USER, own_tokens
from tests.people.assembly import PASSWORD, WRITERS, outcomes
from tests.stores import NOW


async def test_a_token_is_made_by_one_transaction_and_known_by_two_consistent_reads(people):
    caller = await people.registered()
    with people.recording.scope() as calls:
        made = await people.make_token(caller, " Backup script ")
    assert calls.operations == ["Query", "TransactWriteItems"]
    assert (made.name, made.created_at) == ("Backup script", NOW)
    with people.recording.scope() as calls:
        program = await people.known(made.token)
    assert [(call.operation, call.request["ConsistentRead"]) for call in calls] == [("GetItem", True)] * 2
    assert (program.kind, program.user_id, program.expires_at) == ("api-token", caller.user_id, None)
    (listed,) = await people.listed(own_tokens, caller)
    assert (listed.id, listed.name) == (made.id, "Backup script")


async def test_a_revoked_token_is_dead_and_can_be_revoked_only_by_its_owner(people):
    caller, ben = await people.registered(), await people.registered("ben@example.org")
    made = await people.make_token(caller, "Backup")
    with pytest.raises(NoSuchToken):
        await people.revoke_token(ben, made.id)
    assert await people.known(made.token)
    await people.revoke_token(caller, made.id)
    assert await people.authenticator.authenticate(made.token) is None
    assert await people.listed(own_tokens, caller) == []
    for token_id in (made.id, UUID(int=1)):
        with pytest.raises(NoSuchToken):
            await people.revoke_token(caller, token_id)


async def test_a_new_password_ends_every_token_unless_they_are_to_stay(people):
    secret = (await people.registered(), await people.signed_in())[1]
    made = await people.make_token(await people.known(secret), "Backup")
    await people.rename(await people.known(secret), "Countess", 1)
    stay = people.change_password(await people.known(secret), PASSWORD, "battery staple", end_tokens=False)
    assert await stay == 1
    assert (await people.known(made.token)).name == "Countess"
    later = await people.make_token(await people.known(secret), "Display")
    assert await people.change_password(await people.known(secret), "battery staple", PASSWORD) == 0
    for each in (made, later):
        assert await people.authenticator.authenticate(each.token) is None
    assert await people.listed(own_tokens, await people.known(secret)) == []
    assert not {"ApiToken", "ApiTokenOfUser"} & set(await people.kinds())
    after = await people.make_token(await people.known(secret), "Backup")
    assert await people.known(after.token)
    assert [each.name for each in await people.listed(own_tokens, await people.known(secret))] == ["Backup"]


async def test_a_token_is_over_with_the_password_although_its_rows_are_there(embedded_people, monkeypatch):
    """However many there are, they end by the one write that sets the password."""
    people = embedded_people
    caller = await people.registered()
    made = [await people.make_token(caller, f"Backup {each}") for each in range(TOKENS_OF_USER)]
    issued = await people.issue_reset("ada@example.org")

    async def unavailable(*_):
        raise Unavailable("nothing is tidied")

    monkeypatch.setattr(people.store, "write_each", unavailable)
    await people.redeem(issued, "battery staple")
    assert (await people.kinds()).count("ApiToken") == TOKENS_OF_USER
    for each in made:
        assert await people.authenticator.authenticate(each.token) is None
    caller = await people.known(await people.signed_in(password="battery staple"))
    assert await people.listed(own_tokens, caller) == []
    assert "apiTokens" not in await people.exported(caller.user_id)


async def test_a_token_survives_a_new_address(embedded_people):
    people = embedded_people
    caller = await people.registered()
    made = await people.make_token(caller, "Backup")
    await people.change_email(caller, "countess@example.org", PASSWORD)
    assert await people.known(made.token)


async def test_a_session_that_is_over_makes_no_token(embedded_people):
    people = embedded_people
    caller = await people.registered()
    other = await people.known(await people.signed_in())
    await people.change_password(other, PASSWORD, "battery staple")
    with pytest.raises(SessionOver):
        await people.make_token(caller, "Backup")


async def test_a_token_has_a_name_and_there_are_not_too_many(embedded_people):
    people = embedded_people
    caller = await people.registered()
    with pytest.raises(ValidationError):
        await people.make_token(caller, " ")
    for each in range(TOKENS_OF_USER):
        await people.make_token(caller, f"Backup {each}")
    with pytest.raises(TooMany):
        await people.make_token(caller, "One more")


async def test_of_fifty_who_revoke_a_token_one_does(busy_people):
    people = busy_people
    caller = await people.registered()
    made, kept = await asyncio.gather(people.make_token(caller, "Backup"), people.make_token(caller, "Kept"))
    ended = await outcomes(*(people.revoke_token(caller, made.id) for _ in range(WRITERS)))
    assert ended == {"done": 1, NoSuchToken: WRITERS - 1}
    assert await people.known(kept.token)
