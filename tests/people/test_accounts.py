"""Accounts: one per address, changed by their owners only, gone without a trace."""

import asyncio
from datetime import timedelta
from types import SimpleNamespace
from uuid import UUID

import pytest
from msgspec.structs import replace

from potluck.people.entities import Account, Departure, EmailAddress, Session
from potluck.people.errors import (
    AccountGone,
    EmailTaken,
    InvitationInvalid,
    RegistrationClosed,
    SessionOver,
    StillNeeded,
    Throttled,
    WrongCredentials,
    WrongPassword,
)
from potluck.people.idempotency import IdempotencyKey, StoredAnswer
from potluck.people.sessions import tidy_sessions
from potluck.people.throttling import PASSWORD_CHECKS, REGISTRATIONS
from potluck.settings import Settings
from potluck.table import OutcomeUnknown, Unavailable, WriteRefused
from potluck.validation.errors import Refusal, ValidationError
from potluck.web.errors import Conflict
from tests.engine_targets import BOTH, EMBEDDED
from tests.patience import PATIENCE_SECONDS
from tests.people.assembly import PASSWORD, WRITERS, assembled, outcomes
from tests.stores import NOW

# --- registering -----------------------------------------------------------------------------------------------------


async def test_whoever_registers_is_signed_in_by_one_transaction(people):
    with people.recording.scope() as calls:
        made = await people.register(" Ada@Example.org ", PASSWORD, "  Ada Lovelace ")
    # Whether anyone was here before, then everything at once.
    assert calls.operations == ["GetItem", "TransactWriteItems"]
    assert (made.email, made.name, made.token_expires_at) == (
        "Ada@Example.org",
        "Ada Lovelace",
        NOW + timedelta(days=30),
    )
    caller = await people.known(made.token)
    assert (caller.user_id, caller.name, caller.kind) == (made.user_id, "Ada Lovelace", "session")
    account = await people.account(caller.user_id)
    assert (account.email, account.version, account.created_at) == (made.email, 1, NOW)
    assert await people.signed_in("ADA@example.ORG")


async def test_every_wrong_field_is_named_at_once_and_nothing_is_written(embedded_people):
    people = embedded_people
    with people.recording.scope() as calls, pytest.raises(ValidationError) as refused:
        await people.register("nobody", "too short", " ")
    assert [error.field for error in refused.value.errors] == ["email", "password", "name"]
    assert (calls.operations, people.hasher.computed) == ([], [])


@pytest.mark.parametrize(
    ("email", "good"),
    [
        ("a@b", True),
        ("jo#se+list@exämple.org", True),
        ("a" * 242 + "@example.org", True),
        ("a" * 243 + "@example.org", False),
        ("ß" * 200 + "@example.org", False),
        # In a list of members it would be ada@example.org.
        ("ada\ufe0f@example.org", False),
        ("ada\u034f@example.org", False),
        ("ada\u3164@example.org", False),
        *(
            (each, False)
            for each in ("", "@", "a@", "@b", "a b@c", "a@b@c", "a@b\n@c", "a\x00@b", "a@\ud800b", "a@b\u200b")
        ),
    ],
)
async def test_an_address_looks_like_one(embedded_people, email, good):
    registered = embedded_people.register(email, PASSWORD, "Ada")
    if good:
        assert (await registered).email == email
        assert await embedded_people.signed_in(email.upper())
    else:
        with pytest.raises(ValidationError):
            await registered


@pytest.mark.parametrize(("length", "good"), [(9, False), (10, True), (128, True), (129, False)])
async def test_a_password_has_10_to_128_characters(embedded_people, length, good):
    registered = embedded_people.register("ada@example.org", "é" * length, "Ada")
    if good:
        await registered
        assert await embedded_people.signed_in(password="é" * length)
    else:
        with pytest.raises(ValidationError, match="Password must have 10 to 128 characters"):
            await registered


@pytest.mark.parametrize(
    ("name", "good"),
    [("A", True), ("👩‍🚀", True), ("a" * 100, True), ("a" * 101, False), ("a\nb", False), ("\ud800", False)],
)
async def test_a_name_is_a_line_of_text(embedded_people, name, good):
    registered = embedded_people.register("ada@example.org", PASSWORD, name)
    if good:
        assert (await registered).name == name
    else:
        with pytest.raises(ValidationError):
            await registered


async def test_of_fifty_who_register_one_address_one_gets_it(busy_people):
    people = busy_people
    spellings = ("ada@example.org", "ADA@example.org", " Ada@Example.ORG ")
    ended = await outcomes(*(people.register(spellings[each % 3], PASSWORD, f"Ada {each}") for each in range(WRITERS)))
    assert ended == {"done": 1, EmailTaken: WRITERS - 1}
    assert await people.kinds() == ["Account", "EmailAddress", "Session", "SessionOfUser"]
    assert await people.signed_in()


async def test_registering_is_throttled_per_client(embedded_people):
    people = embedded_people
    for _ in range(REGISTRATIONS.amount):
        await people.throttles.attempt(REGISTRATIONS, "192.0.2.1")
    with pytest.raises(Throttled) as refused:
        await people.register("ada@example.org", PASSWORD, "Ada", client="192.0.2.1")
    assert refused.value.retry_after == 600
    assert people.hasher.computed == []
    await people.register("ada@example.org", PASSWORD, "Ada", client="192.0.2.2")


async def test_where_registration_is_closed_nobody_registers(tmp_path):
    async with assembled(EMBEDDED, tmp_path, registration="closed") as people:
        with pytest.raises(RegistrationClosed) as refused:
            await people.register("ada@example.org", PASSWORD, "Ada", invitation="pli_00")
        assert not refused.value.invitation_needed
        assert await people.rows() == []


@pytest.mark.parametrize("engine", BOTH)
async def test_where_only_invited_people_register_an_invitation_makes_one_account_and_is_theirs_to_accept(
    engine, tmp_path
):
    async with assembled(engine, tmp_path) as people:
        ada, cyd = await people.registered(), await people.registered("cyd@example.org")
        invited = await people.invite("shopping", "family", "member", ada.user_id)
        people.settle("invited")
        too_late = await people.invitations.open(invited.secret, cyd.user_id)
        with pytest.raises(RegistrationClosed):
            await people.register("ben@example.org", PASSWORD, "Ben")
        with pytest.raises(InvitationInvalid):
            await people.register("ben@example.org", PASSWORD, "Ben", invitation="pli_" + "0" * 64)
        ended = await outcomes(
            *(
                people.register(f"ben{each}@example.org", PASSWORD, "Ben", invitation=invited.secret)
                for each in range(10)
            )
        )
        assert ended == {"done": 1, InvitationInvalid: 9}
        (ben,) = [row for row in await people.rows() if row.get("name") == {"S": "Ben"}]
        with pytest.raises(InvitationInvalid):
            await people.accept(invited.secret, cyd.user_id)
        with pytest.raises(WriteRefused) as refused:
            await people.store.transact(*too_late.operations)
        assert too_late.refused(refused.value)
        opened = await people.accept(invited.secret, UUID(ben["userId"]["S"]))
        assert (opened.place, opened.role) == ("family", "member")


# --- changing --------------------------------------------------------------------------------------------------------


async def test_a_new_name_raises_the_version_and_the_same_name_does_not(people):
    caller = await people.registered()
    people.clock.forward(seconds=5)
    renamed = await people.rename(caller, " Countess ", 1)
    assert (renamed.name, renamed.version, renamed.updated_at) == ("Countess", 2, NOW + timedelta(seconds=5))
    assert await people.account(caller.user_id) == renamed
    assert await people.rename(caller, "Countess", 2) == renamed
    with pytest.raises(Conflict) as refused:
        await people.rename(caller, "Ada", 1)
    assert (refused.value.current.name, refused.value.current.version) == ("Countess", 2)


async def test_of_fifty_new_names_for_one_version_one_is_taken(busy_people):
    people = busy_people
    caller = await people.registered()
    ended = await outcomes(*(people.rename(caller, f"Ada {each}", 1) for each in range(WRITERS)))
    assert ended == {"done": 1, Conflict: WRITERS - 1}
    assert (await people.account(caller.user_id)).version == 2


async def test_a_new_password_ends_the_other_sessions_and_keeps_the_callers(people):
    caller = await people.registered()
    laptop, phone = await people.signed_in(), await people.signed_in()
    caller, elsewhere = await people.known(laptop), await people.known(phone)
    await people.change_password(caller, PASSWORD, "battery staple")
    assert await people.authenticator.authenticate(phone) is None
    assert (await people.known(laptop)).user_id == caller.user_id
    assert (await people.kinds()).count("Session") == (await people.kinds()).count("SessionOfUser") == 1
    with pytest.raises(WrongCredentials):
        await people.signed_in()
    assert await people.signed_in(password="battery staple")
    # What the other session asked for before it was over is not done any more.
    with pytest.raises(SessionOver):
        await people.change_password(elsewhere, "battery staple", PASSWORD)


async def test_a_new_password_needs_the_current_one(embedded_people):
    people = embedded_people
    caller = await people.registered()
    with pytest.raises(WrongPassword):
        await people.change_password(caller, "wrong horse!", "battery staple")
    with pytest.raises(ValidationError) as refused:
        await people.change_password(caller, PASSWORD, "short")
    assert refused.value.errors[0].field == "new"
    assert await people.signed_in()


async def test_of_fifty_new_passwords_at_once_one_is_taken(busy_people, monkeypatch):
    people = busy_people
    caller = await people.registered()

    async def unthrottled(*_):
        return None

    monkeypatch.setattr(people.throttles, "attempt", unthrottled)
    ended = await outcomes(
        *(people.change_password(caller, PASSWORD, f"battery staple {each}") for each in range(WRITERS))
    )
    # The session goes on, but what was the password is not it any more.
    assert ended == {"done": 1, WrongPassword: WRITERS - 1}
    assert (await people.account(caller.user_id)).session_epoch == 2


async def test_guessing_the_password_is_throttled_for_someone_signed_in_too(embedded_people):
    people = embedded_people
    caller = await people.registered()
    for _ in range(PASSWORD_CHECKS.amount):
        with pytest.raises(WrongPassword):
            await people.delete(caller, "wrong horse!")
    for attempt in (
        people.delete(caller, PASSWORD),
        people.change_email(caller, "new@example.org", PASSWORD),
        people.change_password(caller, PASSWORD, "battery staple"),
    ):
        with pytest.raises(Throttled):
            await attempt
    # Signing in elsewhere is counted apart.
    assert (await people.sign_in("ada@example.org", PASSWORD, "192.0.2.1")).token


async def test_a_new_address_is_unique_and_frees_the_old_one(people):
    caller = await people.registered()
    await people.registered("ben@example.org", "Ben")
    with pytest.raises(EmailTaken):
        await people.change_email(caller, "BEN@example.org", PASSWORD)
    with pytest.raises(WrongPassword):
        await people.change_email(caller, "countess@example.org", "wrong horse!")
    moved = await people.change_email(caller, "Countess@example.org", PASSWORD)
    caller = replace(caller, session_epoch=2)
    assert (moved.email, moved.version) == ("Countess@example.org", 2)
    assert await people.account(caller.user_id) == moved
    with pytest.raises(WrongCredentials):
        await people.signed_in()
    assert await people.signed_in("countess@example.org")
    await people.registered("ada@example.org", "Another Ada")
    # Another spelling of one's own address is no other address; the same spelling is no change.
    respelled = await people.change_email(caller, "COUNTESS@example.org", PASSWORD)
    caller = replace(caller, session_epoch=3)
    assert (respelled.email, respelled.version) == ("COUNTESS@example.org", 3)
    assert await people.change_email(caller, "COUNTESS@example.org", PASSWORD) == respelled


async def test_a_new_address_ends_the_other_sessions_and_leaves_no_row_of_them(busy_people):
    people = busy_people
    here = (await people.register("ada@example.org", PASSWORD, "Ada")).token
    there = await people.signed_in()
    caller, elsewhere = await people.known(here), await people.known(there)
    await people.change_email(caller, "countess@example.org", PASSWORD)
    assert await people.authenticator.authenticate(there) is None
    assert (await people.known(here)).session_epoch == 2
    await tidy_sessions(people.store, caller.user_id, 2)
    assert (await people.kinds()).count("Session") == (await people.kinds()).count("SessionOfUser") == 1
    # Who was signed in elsewhere cannot take the address back.
    with pytest.raises(SessionOver):
        await people.change_email(elsewhere, "ada@example.org", PASSWORD)
    # The same address once more changes nothing, and ends nothing.
    there = await people.signed_in("countess@example.org")
    await people.change_email(await people.known(here), "countess@example.org", PASSWORD)
    assert await people.authenticator.authenticate(there)


async def test_an_address_that_is_wanted_by_many_at_once_goes_to_one(busy_people):
    people = busy_people
    movers = [await people.registered(f"ada{each}@example.org") for each in range(5)]
    ended = await outcomes(
        *(people.change_email(each, "wanted@example.org", PASSWORD) for each in movers),
        *(people.register(" WANTED@example.org", PASSWORD, "Ben") for _ in range(10)),
    )
    assert ended == {"done": 1, EmailTaken: 14}
    rows = await people.rows()
    addresses = {row["PK"]["S"]: row["userId"]["S"] for row in rows if row["entityType"]["S"] == "EmailAddress"}
    owners = {f"EMAIL#{row['email']['S'].lower()}": row["userId"]["S"] for row in rows if "email" in row}
    assert addresses == owners


async def test_changes_of_one_account_at_once_by_one_session_throw_nobody_out(busy_people):
    people = busy_people
    secret = (await people.register("ada@example.org", PASSWORD, "Ada")).token
    caller = await people.known(secret)
    moved, renamed, opened, token, ended_others = await asyncio.gather(
        people.change_email(caller, "countess@example.org", PASSWORD),
        people.rename(caller, "Countess", 1),
        people.sign_in("ada@example.org", PASSWORD),
        people.make_token(caller, "Backup"),
        people.end_others(caller),
        return_exceptions=True,
    )
    # Whatever came first has changed the account for the others, but it has not ended the session of them all.
    assert isinstance(moved, Account)
    assert ended_others is None
    assert await people.authenticator.authenticate(token.token)
    # Which version was seen, and who has the address, is another question: they are told what is so.
    assert isinstance(renamed, Account | Conflict)
    assert not isinstance(opened, BaseException) or isinstance(opened, WrongCredentials)
    account = await people.account(caller.user_id)
    assert (account.email, account.name) == (
        "countess@example.org",
        "Ada" if isinstance(renamed, Conflict) else "Countess",
    )
    address = await people.store.one(EmailAddress.by_folded("countess@example.org"))
    assert address.user_id == caller.user_id
    assert (await people.known(secret)).session_epoch == account.session_epoch == 3


async def test_a_change_begun_before_another_of_the_same_session_goes_on_from_there(embedded_people):
    people = embedded_people
    secret = (await people.register("ada@example.org", PASSWORD, "Ada")).token
    seen = await people.known(secret)
    await people.change_email(seen, "countess@example.org", PASSWORD)
    # All of these were known before, as by another tab of the same browser.
    assert (await people.make_token(seen, "Backup")).token
    await people.end_others(seen)
    await people.change_password(seen, PASSWORD, "battery staple")
    # The password that was typed there is asked for again: it is another one by now.
    with pytest.raises(WrongPassword):
        await people.change_email(seen, "ada@example.org", PASSWORD)
    await people.change_email(seen, "ada@example.org", "battery staple")
    assert (await people.known(secret)).session_epoch == 5


async def test_a_change_begun_before_another_session_ended_this_one_is_refused(embedded_people):
    people = embedded_people
    await people.registered()
    here, there = [await people.known(await people.signed_in()) for _ in range(2)]
    await people.change_email(here, "countess@example.org", PASSWORD)
    for late in (
        people.change_email(there, "ada@example.org", PASSWORD),
        people.change_password(there, PASSWORD, "battery staple"),
        people.end_others(there),
        people.make_token(there, "Backup"),
    ):
        with pytest.raises(SessionOver):
            await late
    assert (await people.kinds()).count("ApiToken") == 0
    assert (await people.account(here.user_id)).email == "countess@example.org"
    assert await people.signed_in("countess@example.org")


async def test_who_is_looked_up_while_their_own_session_changes_the_account_is_known(embedded_people, monkeypatch):
    people = embedded_people
    secret = (await people.register("ada@example.org", PASSWORD, "Ada")).token
    caller = await people.known(secret)
    get = people.store.get

    async def between(ref, *rest):
        found = await get(ref, *rest)
        if isinstance(found, Session):
            monkeypatch.undo()
            await people.change_email(caller, "countess@example.org", PASSWORD)
        return found

    people.clock.forward(hours=1)
    await people.rename(caller, "Countess", 1)
    monkeypatch.setattr(people.store, "get", between)
    assert (await people.known(secret)).session_epoch == 2


# --- taking along ----------------------------------------------------------------------------------------------------


async def test_the_export_tells_everything_but_secrets_and_their_hashes(embedded_people):
    people = embedded_people
    caller = await people.registered()
    token = await people.make_token(caller, "Backup")
    invitation = await people.invite("shopping", "family", "member", caller.user_id, "ben@example.org")
    with people.recording.scope() as calls:
        exported = await people.exported(caller.user_id)
    assert calls.operations == ["Query"]
    (account,) = exported["account"]
    assert (account.user_id, account.email, account.name) == (caller.user_id, "ada@example.org", "Ada")
    assert [each.expires_at for each in exported["sessions"]] == [caller.expires_at]
    assert [(each.token_id, each.name) for each in exported["apiTokens"]] == [(token.id, "Backup")]
    assert [each.invitation_id for each in exported["invitations"]] == [invitation.invitation_id]
    assert "argon2" not in repr(exported)
    assert caller.hash not in repr(exported)
    with pytest.raises(AccountGone):
        await people.exported(UUID(int=1))


# --- leaving ---------------------------------------------------------------------------------------------------------


async def furnish(people, caller):
    """Give a person one of everything that can be theirs."""
    await people.signed_in()
    token = await people.make_token(caller, "Backup")
    await people.invite("shopping", "family", "member", caller.user_id, "ben@example.org")
    await people.issue_reset("ada@example.org")
    key = IdempotencyKey(caller.user_id, "a#key", "0" * 64)
    await people.store.transact(*people.answers.storing(key, StoredAnswer(status=200, body=b"{}")))
    return token


async def test_a_deleted_account_leaves_no_row(people):
    caller = await people.registered()
    await people.sign_in("ada@example.org", PASSWORD, "192.0.2.1")
    token = await furnish(people, caller)
    ben = await people.registered("ben@example.org", "Ben")
    bens = [row for row in await people.rows() if str(ben.user_id) in repr(row)]
    with pytest.raises(WrongPassword):
        await people.delete(caller, "wrong horse!")
    await people.delete(caller, PASSWORD)
    # All that is left is how often that client has signed in, under a hash, for a minute.
    assert sorted(map(repr, await people.rows())) == sorted(
        [*map(repr, bens), *(repr(row) for row in await people.rows() if row["entityType"]["S"] == "Throttle")]
    )
    assert (await people.kinds()).count("Throttle") == 1
    assert await people.authenticator.authenticate(token.token) is None
    with pytest.raises(WrongCredentials):
        await people.signed_in()
    again = await people.registered()
    assert again.user_id != caller.user_id


async def test_a_busy_engine_leaves_no_row_of_a_deleted_account_either(busy_people):
    people = busy_people
    caller = await people.registered()
    await furnish(people, caller)

    async def meanwhile(each):
        try:
            if each % 3 == 0:
                await people.signed_in()
            elif each % 3 == 1:
                await people.make_token(caller, f"Backup {each}")
            else:
                await people.invite("shopping", f"family {each}", "member", caller.user_id)
        except (Refusal, Unavailable):
            pass

    await asyncio.gather(people.delete(caller, PASSWORD), *(meanwhile(each) for each in range(30)))
    assert await people.rows() == []


async def test_someone_who_is_needed_stays_and_nothing_is_forgotten(tmp_path):
    places, forgotten = ["The Lovelaces"], []

    async def still_needed(user_id):
        return places

    async def forget(user_id):
        forgotten.append(user_id)

    async with assembled(EMBEDDED, tmp_path, still_needed=still_needed, forget=forget) as people:
        caller = await people.registered()
        before = await people.rows()
        with pytest.raises(StillNeeded) as refused:
            await people.delete(caller, PASSWORD)
        assert refused.value.places == ["The Lovelaces"]
        assert [row for row in await people.rows() if row["entityType"]["S"] != "Throttle"] == before
        assert forgotten == []
        places.clear()
        await people.delete(caller, PASSWORD)
        # Before the account goes, so that who is interrupted can ask again; and after it, when nothing can follow.
        assert forgotten == [caller.user_id] * 2


async def test_who_was_interrupted_while_leaving_is_still_signed_in_and_asks_again(tmp_path):
    fails = [True]

    async def forget(user_id):
        if fails:
            fails.clear()
            raise Unavailable("busy")

    async with assembled(EMBEDDED, tmp_path, forget=forget) as people:
        made = await people.register("ada@example.org", PASSWORD, "Ada")
        caller = await people.known(made.token)
        await furnish(people, caller)
        with pytest.raises(Unavailable):
            await people.delete(caller, PASSWORD)
        await people.delete(await people.known(made.token), PASSWORD)
        assert await people.rows() == []


async def test_what_was_written_while_the_account_went_goes_with_the_next_deletion_or_the_next_start(tmp_path):
    forgotten, busy = [], [False, True]

    async def forget(user_id):
        forgotten.append(user_id)
        if busy and busy.pop(0):
            raise Unavailable("busy")

    async with assembled(EMBEDDED, tmp_path, forget=forget) as people:
        caller = await people.registered()
        # The account is gone, whatever is left to do: that is what was key.
        await people.delete(caller, PASSWORD)
        assert await people.kinds() == ["Departure"]
        await people.account_data.finish_departures()
        assert forgotten == [caller.user_id] * 3
        assert await people.rows() == []


async def test_one_who_cannot_be_forgotten_keeps_nobody_else_and_nothing_from_starting(tmp_path):
    stuck = UUID(int=7)

    async def forget(user_id):
        if user_id == stuck:
            raise RuntimeError("a defect of some app")

    async with assembled(EMBEDDED, tmp_path, forget=forget) as people:
        await people.store.put(Departure(user_id=stuck))
        await people.delete(await people.registered(), PASSWORD)
        await people.account_data.finish_departures()
        assert await people.store.all(Departure.all_unfinished()) == [Departure(user_id=stuck)]
        assert await people.kinds() == ["Departure"]


async def test_another_worker_that_is_too_early_leaves_nothing_behind(tmp_path, monkeypatch):
    """What an index does not show yet, a worker that starts meanwhile does not find; whoever waited for it does."""
    done, lag = [], timedelta(seconds=3)
    waiting, up_to_date = asyncio.Event(), asyncio.Event()

    async def forget(user_id):
        done.append("forgotten")

    async def until_up_to_date(seconds):
        assert seconds == lag.total_seconds()
        waiting.set()
        await up_to_date.wait()

    async with assembled(EMBEDDED, tmp_path, forget=forget) as people:
        caller = await people.registered()
        monkeypatch.setattr(Settings, "indexes_lag_seconds", lag.total_seconds())
        monkeypatch.setattr("potluck.web.people.account.asyncio", SimpleNamespace(sleep=until_up_to_date))
        leaving = asyncio.create_task(people.delete(caller, PASSWORD))
        async with asyncio.timeout(PATIENCE_SECONDS):
            await waiting.wait()
        await people.account_data.finish_departures()
        done.append("too early")
        up_to_date.set()
        await leaving
        assert done == ["forgotten", "forgotten", "too early", "forgotten"]
        assert await people.rows() == []


@pytest.mark.parametrize("lost", [Unavailable, OutcomeUnknown])
async def test_tidying_up_does_not_make_a_done_change_look_undone(embedded_people, monkeypatch, lost):
    people = embedded_people
    caller = await people.registered()
    await people.signed_in()

    async def failing(operations):
        raise lost("an answer was lost")

    monkeypatch.setattr(people.store, "write_each", failing)
    await people.change_password(caller, PASSWORD, "battery staple")
    assert await people.signed_in(password="battery staple")


async def test_what_is_gone_cannot_be_changed(embedded_people):
    people = embedded_people
    caller = await people.registered()
    await people.delete(caller, PASSWORD)
    for attempt in (
        people.rename(caller, "Ada", 1),
        people.delete(caller, PASSWORD),
        people.change_email(caller, "new@example.org", PASSWORD),
        people.change_password(caller, PASSWORD, "battery staple"),
        people.invite("shopping", "family", "member", caller.user_id),
    ):
        with pytest.raises(AccountGone):
            await attempt
    assert await people.store.get(Account.by_id(caller.user_id)) is None
