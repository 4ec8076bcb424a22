"""Signing in tells nothing to guessers, a session slides, and ends when it should."""

from dataclasses import replace
from datetime import timedelta

import pytest

from potluck.people.entities import Account, Session, SessionOfUser
from potluck.people.errors import SessionOver, SignInNeeded, Throttled, WrongCredentials
from potluck.people.passwords import Passwords
from potluck.people.throttling import SIGN_INS_FROM, SIGN_INS_FROM_TO, SIGN_INS_TO
from potluck.table import the, update
from potluck.web.people.sessions import where_signed_in
from tests.people.assembly import PASSWORD, WRITERS, CountingHasher, outcomes
from tests.stores import NOW

HERE, ELSEWHERE = "192.0.2.1", "198.51.100.7"


async def guess(people, client, times, email="ada@example.org"):
    for _ in range(times):
        with pytest.raises(WrongCredentials):
            await people.sign_in(email, "wrong horse!", client)


# --- signing in ------------------------------------------------------------------------------------------------------


async def test_signing_in_is_two_counts_two_reads_and_a_transaction(people):
    await people.registered()
    with people.recording.scope() as calls:
        opened = await people.sign_in(" ADA@example.org", PASSWORD, HERE)
    assert calls.operations == ["UpdateItem", "UpdateItem", "GetItem", "GetItem", "TransactWriteItems"]
    assert opened.expires_at == NOW + timedelta(days=30)
    assert (await people.known(opened.token)).name == "Ada"


async def test_a_wrong_address_and_a_wrong_password_are_refused_alike_after_the_same_work(people):
    await people.registered()
    told = []
    for email in ("ada@example.org", "nobody@example.org", "not an address", "", "x" * 300, "\ud800@example.org"):
        people.hasher.computed.clear()
        with people.recording.scope() as calls, pytest.raises(WrongCredentials) as refused:
            await people.sign_in(email, "wrong horse!", HERE)
        consistent = [call.request.get("ConsistentRead") for call in calls]
        told.append((str(refused.value), tuple(people.hasher.computed), tuple(calls.operations), tuple(consistent)))
    assert len(set(told)) == 1
    assert told[0][1:3] == (("verify",), ("UpdateItem", "UpdateItem", "GetItem", "GetItem"))


async def test_an_outdated_hash_is_made_anew_when_its_owner_signs_in(embedded_people):
    people = embedded_people
    caller = await people.registered()
    old = (await people.account(caller.user_id)).password_hash
    costlier = Passwords(CountingHasher(passes=2))
    object.__setattr__(people.core, "people", replace(people.core.people, passwords=costlier))
    opened = await people.sign_in("ada@example.org", PASSWORD)
    account = await people.account(caller.user_id)
    assert account.password_hash != old
    assert not costlier.outdated(account.password_hash)
    assert account.version == 1
    assert await people.known(opened.token)
    assert (await people.known(await people.signed_in())).user_id == caller.user_id
    costlier.close()


async def test_fifty_who_sign_in_at_once_all_get_in(busy_people):
    people = busy_people
    await people.registered()
    assert await outcomes(*(people.signed_in() for _ in range(WRITERS))) == {"done": WRITERS}
    assert (await people.kinds()).count("Session") == WRITERS + 1


async def test_signing_in_with_the_old_password_while_it_is_changed_opens_nothing_that_lasts(busy_people):
    people = busy_people
    caller = await people.registered()
    secrets = []

    async def sign_in():
        secrets.append(await people.signed_in())

    await outcomes(
        *(sign_in() for _ in range(10)),
        people.change_password(caller, PASSWORD, "battery staple"),
        *(sign_in() for _ in range(10)),
    )
    assert [await people.authenticator.authenticate(secret) for secret in secrets] == [None] * len(secrets)
    assert (await people.kinds()).count("Session") == 1


async def test_a_password_that_changes_after_it_was_verified_opens_nothing(embedded_people, monkeypatch):
    people = embedded_people
    caller = await people.registered()
    verify = people.passwords.verify

    async def verify_slowly(password, hash, client=None):
        right = await verify(password, hash)
        monkeypatch.setattr(people.passwords, "verify", verify)
        await people.change_password(caller, PASSWORD, "battery staple")
        return right

    monkeypatch.setattr(people.passwords, "verify", verify_slowly)
    with pytest.raises(WrongCredentials):
        await people.signed_in()
    assert (await people.kinds()).count("Session") == 1


# --- guessing --------------------------------------------------------------------------------------------------------


async def test_a_client_that_guesses_is_refused_until_its_minute_ends_and_nobody_else_is(people):
    await people.registered()
    people.clock.forward(seconds=15)
    await guess(people, HERE, SIGN_INS_FROM.amount)
    people.hasher.computed.clear()
    with people.recording.scope() as calls, pytest.raises(Throttled) as refused:
        await people.sign_in("ada@example.org", PASSWORD, HERE)
    assert refused.value.retry_after == 45
    assert (calls.operations, people.hasher.computed) == (["UpdateItem"], [])
    assert await people.sign_in("ada@example.org", PASSWORD, ELSEWHERE)
    people.clock.forward(seconds=44)
    with pytest.raises(Throttled) as refused:
        await people.sign_in("ada@example.org", PASSWORD, HERE)
    assert refused.value.retry_after == 1
    people.clock.forward(seconds=1)
    assert await people.sign_in("ada@example.org", PASSWORD, HERE)


async def test_success_gives_a_guesser_nothing_back(embedded_people):
    people = embedded_people
    await people.registered()
    await people.registered("mallory@example.org", "Mallory")
    for _ in range(SIGN_INS_FROM.amount // 2):
        await guess(people, HERE, 1)
        await people.sign_in("mallory@example.org", PASSWORD, HERE)
    with pytest.raises(Throttled):
        await people.sign_in("mallory@example.org", PASSWORD, HERE)


async def test_guessing_from_many_clients_is_slowed_down_and_the_owner_still_gets_in(embedded_people):
    people = embedded_people
    await people.registered()
    clients = [f"203.0.113.{each}" for each in range(10)]
    for client in clients:
        await guess(people, client, SIGN_INS_TO.amount // len(clients))
    # From here on each client has few attempts, whether or not there is such an account.
    await guess(people, clients[0], SIGN_INS_FROM_TO.amount)
    with pytest.raises(Throttled) as refused:
        await people.sign_in("ADA@example.org", PASSWORD, clients[0])
    assert refused.value.retry_after == 300
    assert await people.sign_in("ada@example.org", PASSWORD, ELSEWHERE)
    # Even one who mistyped as often as was possible waits no longer than told, however long the others go on.
    await guess(people, ELSEWHERE, SIGN_INS_FROM_TO.amount - 1)
    with pytest.raises(Throttled) as refused:
        await people.sign_in("ada@example.org", PASSWORD, ELSEWHERE)
    people.clock.forward(seconds=refused.value.retry_after)
    await guess(people, clients[1], SIGN_INS_FROM_TO.amount)
    assert await people.sign_in("ada@example.org", PASSWORD, ELSEWHERE)
    await people.registered("ben@example.org", "Ben")
    assert await people.sign_in("ben@example.org", PASSWORD, clients[0])


async def test_an_address_without_account_is_throttled_alike(embedded_people):
    people = embedded_people
    for client in range(SIGN_INS_TO.amount):
        await guess(people, f"client {client}", 1, "nobody@example.org")
    await guess(people, HERE, SIGN_INS_FROM_TO.amount, "nobody@example.org")
    with pytest.raises(Throttled):
        await people.sign_in("nobody@example.org", PASSWORD, HERE)


async def test_a_refused_client_uses_up_nothing_of_the_account_it_is_after(embedded_people):
    people = embedded_people
    await people.registered()
    await guess(people, HERE, SIGN_INS_FROM.amount)
    for _ in range(SIGN_INS_TO.amount):
        with pytest.raises(Throttled):
            await people.sign_in("ada@example.org", PASSWORD, HERE)
    for _ in range(SIGN_INS_FROM_TO.amount + 1):
        assert await people.sign_in("ada@example.org", PASSWORD, ELSEWHERE)


# --- being known -----------------------------------------------------------------------------------------------------


async def test_a_session_is_known_by_two_consistent_reads(people):
    await people.registered()
    secret = await people.signed_in()
    with people.recording.scope() as calls:
        caller = await people.known(secret)
    assert [(call.operation, call.request["ConsistentRead"], call.index) for call in calls] == [
        ("GetItem", True, None),
        ("GetItem", True, None),
    ]
    assert (caller.kind, caller.name) == ("session", "Ada")


async def test_what_is_no_secret_costs_nothing_and_an_unknown_one_a_read(embedded_people):
    people = embedded_people
    with people.recording.scope() as calls:
        for text in ("", "pls", "nonsense", "pli_" + "0" * 64, "plr_" + "0" * 64, "pls_" + "0" * 1000):
            assert await people.authenticator.authenticate(text) is None
    assert calls.operations == []
    with people.recording.scope() as calls:
        assert await people.authenticator.authenticate("pls_" + "0" * 64) is None
        assert await people.authenticator.authenticate("plt_" + "0" * 64) is None
    assert calls.operations == ["GetItem", "GetItem"]


async def test_a_session_that_is_not_used_is_over_after_thirty_days_to_the_second(people):
    await people.registered()
    secret = await people.signed_in()
    people.clock.forward(days=30)
    assert await people.authenticator.authenticate(secret) is None
    people.clock.forward(seconds=-1)
    assert await people.known(secret)


async def test_a_session_slides_when_it_is_used_but_is_written_once_a_day_at_most(people):
    await people.registered()
    secret = await people.signed_in()
    people.clock.forward(days=1, seconds=-1)
    with people.recording.scope() as calls:
        caller = await people.known(secret)
    assert (calls.operations, caller.expires_at) == (["GetItem", "GetItem"], NOW + timedelta(days=30))
    people.clock.forward(seconds=1)
    with people.recording.scope() as calls:
        caller = await people.known(secret)
        assert await people.known(secret) == caller
    assert calls.operations == ["GetItem", "GetItem", "TransactWriteItems", "GetItem", "GetItem"]
    assert caller.expires_at == NOW + timedelta(days=31)
    listed = await people.store.one(SessionOfUser.by_hash(caller.user_id, caller.hash))
    assert listed.ttl == int(caller.expires_at.timestamp())
    people.clock.forward(days=29)
    assert await people.known(secret)
    people.clock.forward(days=29)
    assert await people.known(secret)


async def test_fifty_uses_at_once_of_a_session_that_slides_are_all_known(busy_people):
    people = busy_people
    await people.registered()
    secret = await people.signed_in()
    people.clock.forward(days=20)
    assert await outcomes(*(people.known(secret) for _ in range(WRITERS))) == {"done": WRITERS}
    people.clock.forward(days=29)
    assert await people.known(secret)


# --- signing out -----------------------------------------------------------------------------------------------------


async def test_a_session_that_was_ended_is_dead_and_the_others_live(people):
    await people.registered()
    phone, laptop = await people.signed_in(), await people.signed_in()
    caller = await people.known(phone)
    await people.sign_out(caller)
    assert await people.authenticator.authenticate(phone) is None
    assert await people.known(laptop)
    await people.sign_out(caller)


async def test_a_session_that_was_ended_does_not_come_back_by_being_used(embedded_people):
    people = embedded_people
    await people.registered()
    caller = await people.known(await people.signed_in())
    session = await people.store.one(Session.by_hash(caller.hash))
    people.clock.forward(days=2)
    await people.sign_out(caller)
    assert await people.authenticator._extended(session) == session.ttl
    assert await people.store.get(Session.by_hash(caller.hash)) is None


async def test_all_other_sessions_end_by_one_transaction_however_many_there_are(people):
    await people.registered()
    others = [await people.signed_in() for _ in range(5)]
    mine = await people.signed_in()
    with people.recording.scope() as calls:
        await people.end_others(await people.known(mine))
    assert [call.operation for call in calls if call.operation == "TransactWriteItems"] == ["TransactWriteItems"]
    assert [await people.authenticator.authenticate(secret) for secret in others] == [None] * 5
    assert (await people.kinds()).count("Session") == (await people.kinds()).count("SessionOfUser") == 1
    # The password is still the same.
    await people.end_others(await people.known(mine))
    assert await people.signed_in()


async def test_of_two_who_end_the_other_one_stays(busy_people):
    people = busy_people
    await people.registered()
    callers = [await people.known(await people.signed_in()) for _ in range(10)]
    ended = await outcomes(*(people.end_others(caller) for caller in callers))
    assert ended == {"done": 1, SessionOver: 9}


async def test_the_list_shows_what_counts_and_which_one_is_asking(embedded_people):
    people = embedded_people
    await people.registered()
    people.clock.forward(hours=1)
    phone = await people.known(await people.signed_in())
    listed = await people.listed(where_signed_in, phone)
    assert [(each.created_at, each.current) for each in listed] == [
        (NOW + timedelta(hours=1), True),
        (NOW, False),
    ]
    # Rows that nobody has tidied up yet are not shown.
    epoch = the(Account.session_epoch)
    await people.store.transact(
        update(Account.by_id(phone.user_id), epoch.becomes(2), keep_version=True),
        update(Session.by_hash(phone.hash), the(Session.session_epoch).becomes(2)),
    )
    assert [each.current for each in await people.listed(where_signed_in, phone)] == [True]


async def test_who_changes_the_account_while_the_list_is_read_is_still_on_it(embedded_people, monkeypatch):
    people = embedded_people
    caller = await people.registered()
    get_many = people.store.get_many

    async def between(refs):
        found = await get_many(refs)
        monkeypatch.undo()
        await people.end_others(caller)
        return found

    monkeypatch.setattr(people.store, "get_many", between)
    assert [each.current for each in await people.listed(where_signed_in, caller)] == [True]


async def test_a_session_of_an_earlier_epoch_is_over_even_while_its_row_is_there(embedded_people):
    people = embedded_people
    caller = await people.registered()
    secret = await people.signed_in()
    await people.store.update(Account.by_id(caller.user_id), the(Account.session_epoch).becomes(2), keep_version=True)
    assert await people.authenticator.authenticate(secret) is None
    assert (await people.kinds()).count("Session") == 2


async def test_secrets_are_stored_nowhere(people):
    caller = await people.registered()
    secrets = [
        PASSWORD,
        await people.signed_in(),
        (await people.make_token(caller, "Backup")).token,
        (await people.invite("shopping", "family", "member", caller.user_id)).secret,
        await people.issue_reset("ada@example.org"),
    ]
    stored = repr(await people.rows())
    for secret in secrets:
        assert secret.rpartition("_")[2][:16] not in stored


async def test_an_api_token_ends_no_session(embedded_people):
    people = embedded_people
    caller = await people.registered()
    program = await people.known((await people.make_token(caller, "Backup")).token)
    for attempt in (people.sign_out(program), people.end_others(program), people.listed(where_signed_in, program)):
        with pytest.raises(SignInNeeded):
            await attempt
