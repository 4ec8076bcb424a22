"""The table of people: its rows to the byte, every access pattern, and what the rows are there for."""

import asyncio
from datetime import UTC, datetime
from uuid import UUID

import pytest
from msgspec.structs import replace

from potluck.people.email_normal_form import normal_email
from potluck.people.entities import (
    Account,
    Administration,
    AnswerOfUser,
    ApiToken,
    ApiTokenOfUser,
    Departure,
    EmailAddress,
    EverythingOfUser,
    IdempotentAnswer,
    Identity,
    IdentityOfUser,
    Invitation,
    InvitationOfPlace,
    InvitationOfUser,
    InvitationToAddress,
    PasswordReset,
    PasswordResetOfUser,
    SecretCheck,
    Session,
    SessionOfUser,
    Throttle,
    accounts,
)
from potluck.people.identities import hash_of_issuer
from potluck.table import (
    AlreadyExists,
    ConditionFailed,
    InvalidValue,
    NotFound,
    StartsWith,
    absent,
    check,
    delete,
    present,
    put,
    the,
    update,
)
from potluck.table.entity import plan_of
from tests.access_cases import AccessPatterns, Case, Requests
from tests.golden_rows import Golden, GoldenRows, unswept_store
from tests.store_fixtures import Opened, filled_store, new_store
from tests.stores import NOW

ADA = UUID("550e8400-e29b-41d4-a716-446655440000")
BEN = UUID("550e8400-e29b-41d4-a716-446655440001")
CLEO = UUID("550e8400-e29b-41d4-a716-446655440002")
ELSEWHERE = "d" * 64
SCRIPT = UUID("650e8400-e29b-41d4-a716-446655440000")
WELCOME = UUID("750e8400-e29b-41d4-a716-446655440000")
FAMILY = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
PHONE, LAPTOP, TOKEN, RESET, INVITED, ASKED = ("0123456789abcdef"[n : n + 1] * 64 for n in range(6))
ISSUER = "https://auth.example.org"
ISSUER_HASH = hash_of_issuer(ISSUER)
MINUTE = datetime(2025, 12, 10, 12, 34, tzinfo=UTC)
SOON = int(NOW.timestamp()) + 3600

ada = Account(
    user_id=ADA,
    email="Ada.Lovelace@Example.org",
    name="Ada",
    password_hash="$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA",
    created_at=NOW,
    updated_at=NOW,
)
adas_address = EmailAddress(folded="ada.lovelace@example.org", user_id=ADA)
cleo = Account(user_id=CLEO, email="cleo@example.org", email_verified=True, name="Cleo", created_at=NOW, updated_at=NOW)
cleos_phone = Session(hash=ELSEWHERE, user_id=CLEO, session_epoch=1, by_provider=True, created_at=NOW, ttl=SOON)
on_phone = Session(hash=PHONE, user_id=ADA, session_epoch=1, created_at=NOW, ttl=SOON)
adas_phone = SessionOfUser(user_id=ADA, hash=PHONE, program="Chrome", system="Android", created_at=NOW, ttl=SOON)
on_laptop = replace(on_phone, hash=LAPTOP)
# From before sessions had a device.
adas_laptop = replace(adas_phone, hash=LAPTOP, program=None, system=None)
script = ApiToken(hash=TOKEN, user_id=ADA, token_id=SCRIPT)
adas_script = ApiTokenOfUser(user_id=ADA, token_id=SCRIPT, hash=TOKEN, name="Backup script", created_at=NOW)
# Whatever a provider may call someone.
at_provider = Identity(issuer_hash=ISSUER_HASH, subject='ada#1 "x"', user_id=ADA)
adas_identity = IdentityOfUser(user_id=ADA, issuer_hash=ISSUER_HASH, issuer=ISSUER, subject='ada#1 "x"', created_at=NOW)
reset = PasswordReset(hash=RESET, user_id=ADA, created_at=NOW, ttl=SOON)
adas_reset = PasswordResetOfUser(user_id=ADA, hash=RESET, ttl=SOON)
welcome = Invitation(
    hash=INVITED,
    invitation_id=WELCOME,
    app="shopping",
    place=FAMILY,
    role="member",
    invited_by=ADA,
    created_at=NOW,
    ttl=SOON,
)
familys_welcome = InvitationOfPlace(
    invitation_id=WELCOME,
    hash=INVITED,
    app="shopping",
    place=FAMILY,
    role="member",
    email="ben@example.org",
    invited_by=ADA,
    created_at=NOW,
    ttl=SOON,
)
adas_welcome = InvitationOfUser(
    user_id=ADA, invitation_id=WELCOME, hash=INVITED, app="shopping", place=FAMILY, email="ben@example.org", ttl=SOON
)
bens_welcome = InvitationToAddress(
    folded="ben@example.org", invitation_id=WELCOME, hash=INVITED, created_at=NOW, ttl=SOON
)
attempts = Throttle(who="sign-in from 192.0.2.1", window=MINUTE, attempts=3, ttl=SOON)
answer = IdempotentAnswer(
    caller=str(ADA),
    key="a#key",
    request_hash=ASKED,
    status=201,
    headers={"Location": "/api/v1/families/1"},
    body=b'{"familyId":"1"}',
    made="1",
    ttl=SOON,
)
adas_answer = AnswerOfUser(user_id=ADA, caller=str(ADA), key="a#key", ttl=SOON)
bens_departure = Departure(user_id=BEN)
made_by = SecretCheck(check="c" * 64)
two_admins = Administration(admins=2)

ADAS = [ada, adas_phone, adas_laptop, adas_script, adas_identity, adas_reset, adas_welcome, adas_answer]
BY_SECRET = [adas_address, on_phone, on_laptop, script, at_provider, reset, welcome, familys_welcome, answer]
# Rows that no answer may hold: another person's, and one that expires now.
bens_script = replace(adas_script, user_id=BEN)
expired = replace(adas_phone, hash="e" * 64, ttl=int(NOW.timestamp()))
ROWS = [*ADAS, *BY_SECRET, bens_welcome, attempts, bens_script, bens_departure, made_by, two_admins, expired]

OF_ADA = f"USER#{ADA}"
OF_PLACE = f"PLACE#shopping#{FAMILY}"

filled = filled_store(accounts, rows=ROWS)
new = new_store(accounts)
unswept = unswept_store(accounts)


# --- rows to the byte ------------------------------------------------------------------------------------------------

NOON = "2040-01-01T12:00:00Z"
OF_WELCOME = {"app": "shopping", "place": FAMILY, "role": "member"}

RECORDS = {
    "an account": Golden(
        ada,
        Account.by_id(ADA),
        {
            "PK": OF_ADA,
            "SK": "PROFILE",
            "entityType": "Account",
            "userId": str(ADA),
            "email": "Ada.Lovelace@Example.org",
            "name": "Ada",
            "passwordHash": "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA",
            "sessionEpoch": 1,
            "version": 1,
            "createdAt": NOON,
            "updatedAt": NOON,
            "GSI1PK": "PEOPLE#active",
            "GSI1SK": "NAME#ada",
        },
    ),
    "an admin who has been disabled": Golden(
        replace(ada, user_id=BEN, status="disabled", admin=True, signed_in_at=NOW),
        Account.by_id(BEN),
        {
            "PK": f"USER#{BEN}",
            "SK": "PROFILE",
            "entityType": "Account",
            "userId": str(BEN),
            "email": "Ada.Lovelace@Example.org",
            "name": "Ada",
            "passwordHash": "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA",
            "sessionEpoch": 1,
            "status": "disabled",
            "admin": True,
            "signedInAt": NOON,
            "version": 1,
            "createdAt": NOON,
            "updatedAt": NOON,
            "GSI1PK": "PEOPLE#disabled",
            "GSI1SK": "NAME#ada",
        },
    ),
    "an address that is taken": Golden(
        adas_address,
        EmailAddress.by_folded("ada.lovelace@example.org"),
        {"PK": "EMAIL#ada.lovelace@example.org", "SK": "EMAIL", "entityType": "EmailAddress", "userId": str(ADA)},
    ),
    "a session": Golden(
        on_phone,
        Session.by_hash(PHONE),
        {
            "PK": f"SESSION#{PHONE}",
            "SK": "SESSION",
            "entityType": "Session",
            "userId": str(ADA),
            "sessionEpoch": 1,
            "createdAt": NOON,
            "ttl": SOON,
        },
    ),
    "a session of a person": Golden(
        adas_phone,
        SessionOfUser.by_hash(ADA, PHONE),
        {
            "PK": OF_ADA,
            "SK": f"SESSION#{PHONE}",
            "entityType": "SessionOfUser",
            "userId": str(ADA),
            "program": "Chrome",
            "system": "Android",
            "createdAt": NOON,
            "ttl": SOON,
        },
    ),
    "a session of a person from before it had a device": Golden(
        adas_laptop,
        SessionOfUser.by_hash(ADA, LAPTOP),
        {
            "PK": OF_ADA,
            "SK": f"SESSION#{LAPTOP}",
            "entityType": "SessionOfUser",
            "userId": str(ADA),
            "createdAt": NOON,
            "ttl": SOON,
        },
    ),
    "an API token": Golden(
        script,
        ApiToken.by_hash(TOKEN),
        {
            "PK": f"TOKEN#{TOKEN}",
            "SK": "TOKEN",
            "entityType": "ApiToken",
            "userId": str(ADA),
            "tokenId": str(SCRIPT),
        },
    ),
    "an API token of a person": Golden(
        adas_script,
        ApiTokenOfUser.by_id(ADA, SCRIPT),
        {
            "PK": OF_ADA,
            "SK": f"TOKEN#{SCRIPT}",
            "entityType": "ApiTokenOfUser",
            "userId": str(ADA),
            "tokenId": str(SCRIPT),
            "hash": TOKEN,
            "name": "Backup script",
            "createdAt": NOON,
        },
    ),
    "an identity": Golden(
        at_provider,
        Identity.by_subject(ISSUER_HASH, 'ada#1 "x"'),
        {
            "PK": f'IDENTITY#{ISSUER_HASH}#ada"~1 "!x"!',
            "SK": "IDENTITY",
            "entityType": "Identity",
            "userId": str(ADA),
        },
    ),
    "an identity of a person": Golden(
        adas_identity,
        IdentityOfUser.by_issuer(ADA, ISSUER_HASH),
        {
            "PK": OF_ADA,
            "SK": f"IDENTITY#{ISSUER_HASH}",
            "entityType": "IdentityOfUser",
            "userId": str(ADA),
            "issuerHash": ISSUER_HASH,
            "issuer": ISSUER,
            "subject": 'ada#1 "x"',
            "createdAt": NOON,
        },
    ),
    "an account of someone who signs in at a provider": Golden(
        cleo,
        Account.by_id(CLEO),
        {
            "PK": f"USER#{CLEO}",
            "SK": "PROFILE",
            "GSI1PK": "PEOPLE#active",
            "GSI1SK": "NAME#cleo",
            "entityType": "Account",
            "userId": str(CLEO),
            "email": "cleo@example.org",
            "emailVerified": True,
            "name": "Cleo",
            "sessionEpoch": 1,
            "version": 1,
            "createdAt": NOON,
            "updatedAt": NOON,
        },
    ),
    "a session by a provider": Golden(
        cleos_phone,
        Session.by_hash(ELSEWHERE),
        {
            "PK": f"SESSION#{ELSEWHERE}",
            "SK": "SESSION",
            "entityType": "Session",
            "userId": str(CLEO),
            "sessionEpoch": 1,
            "byProvider": True,
            "createdAt": NOON,
            "ttl": SOON,
        },
    ),
    "a password reset": Golden(
        reset,
        PasswordReset.by_hash(RESET),
        {
            "PK": f"RESET#{RESET}",
            "SK": "RESET",
            "entityType": "PasswordReset",
            "userId": str(ADA),
            "createdAt": NOON,
            "ttl": SOON,
        },
    ),
    "a password reset of a person": Golden(
        adas_reset,
        PasswordResetOfUser.by_hash(ADA, RESET),
        {
            "PK": OF_ADA,
            "SK": f"RESET#{RESET}",
            "entityType": "PasswordResetOfUser",
            "userId": str(ADA),
            "ttl": SOON,
        },
    ),
    "an invitation": Golden(
        welcome,
        Invitation.by_hash(INVITED),
        {
            "PK": f"INVITATION#{INVITED}",
            "SK": "INVITATION",
            "entityType": "Invitation",
            "invitationId": str(WELCOME),
            **OF_WELCOME,
            "invitedBy": str(ADA),
            "createdAt": NOON,
            "ttl": SOON,
        },
    ),
    "an invitation to a place": Golden(
        familys_welcome,
        InvitationOfPlace.by_id("shopping", FAMILY, WELCOME),
        {
            "PK": OF_PLACE,
            "SK": f"INVITATION#{WELCOME}",
            "entityType": "InvitationOfPlace",
            "invitationId": str(WELCOME),
            "hash": INVITED,
            **OF_WELCOME,
            "email": "ben@example.org",
            "invitedBy": str(ADA),
            "createdAt": NOON,
            "ttl": SOON,
        },
    ),
    "an invitation by a person": Golden(
        adas_welcome,
        InvitationOfUser.by_id(ADA, WELCOME),
        {
            "PK": OF_ADA,
            "SK": f"INVITATION#{WELCOME}",
            "entityType": "InvitationOfUser",
            "userId": str(ADA),
            "invitationId": str(WELCOME),
            "hash": INVITED,
            "app": "shopping",
            "place": FAMILY,
            "email": "ben@example.org",
            "ttl": SOON,
        },
    ),
    "an invitation to an address": Golden(
        bens_welcome,
        InvitationToAddress.by_id("ben@example.org", WELCOME),
        {
            "PK": "EMAIL#ben@example.org",
            "SK": f"INVITATION#{WELCOME}",
            "entityType": "InvitationToAddress",
            "invitationId": str(WELCOME),
            "hash": INVITED,
            "createdAt": NOON,
            "ttl": SOON,
        },
    ),
    "attempts": Golden(
        attempts,
        Throttle.by_window("sign-in from 192.0.2.1", MINUTE),
        {
            "PK": "THROTTLE#sign-in from 192.0.2.1#2025-12-10T12:34:00Z",
            "SK": "THROTTLE",
            "entityType": "Throttle",
            "attempts": 3,
            "ttl": SOON,
        },
    ),
    "a kept answer": Golden(
        answer,
        IdempotentAnswer.by_key(str(ADA), "a#key"),
        {
            "PK": f'IDEMPOTENCY#{ADA}#a"~key',
            "SK": "IDEMPOTENCY",
            "entityType": "IdempotentAnswer",
            "requestHash": ASKED,
            "status": 201,
            "headers": {"Location": "/api/v1/families/1"},
            "body": b'{"familyId":"1"}',
            "made": "1",
            "ttl": SOON,
        },
    ),
    "a kept answer of a person": Golden(
        adas_answer,
        EverythingOfUser.of(ADA),
        {
            "PK": OF_ADA,
            "SK": f'IDEMPOTENCY#{ADA}#a"~key',
            "entityType": "AnswerOfUser",
            "userId": str(ADA),
            "ttl": SOON,
        },
    ),
    "somebody who is leaving": Golden(
        bens_departure,
        Departure.all_unfinished(),
        {"PK": "DEPARTURES", "SK": f"USER#{BEN}", "entityType": "Departure", "userId": str(BEN)},
    ),
    "the secret's check": Golden(
        made_by,
        SecretCheck.of_store(),
        {"PK": "STORE", "SK": "SECRET", "entityType": "SecretCheck", "check": "c" * 64},
    ),
    "how many admins there are": Golden(
        two_admins,
        Administration.of_store(),
        {"PK": "STORE", "SK": "ADMINS", "entityType": "Administration", "admins": 2},
    ),
}


class TestRows(GoldenRows):
    tables = (accounts,)
    records = RECORDS


def test_addresses_are_the_same_whatever_their_case_and_space_and_no_more():
    assert normal_email(" Ada.Lovelace@EXAMPLE.org\n") == "ada.lovelace@example.org"
    assert normal_email("jose\u0301@example.org") == normal_email("JOS\u00c9@example.org") == "jos\u00e9@example.org"
    assert len({normal_email(each) for each in ("jose@x.org", "josé@x.org", "jo!se@x.org", "jo#se@x.org")}) == 4


def test_only_what_looks_like_a_hash_is_stored_as_one():
    for secret in ("s" * 64, "0" * 63, "0" * 65, "A" * 64):
        with pytest.raises(InvalidValue) as refused:
            plan_of(script).coding.encode(replace(script, hash=secret))
        assert refused.value.field == "hash"


# --- access patterns -------------------------------------------------------------------------------------------------

sent = Requests("Accounts")

CASES = [
    Case(Account.by_id(ADA), sent.get_item(OF_ADA, "PROFILE"), ada, 1.0),
    Case(
        Account.all_with_status("active"),
        sent.query("PEOPLE#active", begins_with="NAME#", index="GSI1", consistent=False),
        [ada],
        0.5,
    ),
    Case(
        Account.named("active", StartsWith("Ad")),
        sent.query("PEOPLE#active", begins_with="NAME#ad", index="GSI1", consistent=False),
        [ada],
        0.5,
    ),
    Case(Administration.of_store(), sent.get_item("STORE", "ADMINS"), two_admins, 1.0),
    Case(
        EmailAddress.by_folded("ada.lovelace@example.org"),
        sent.get_item("EMAIL#ada.lovelace@example.org", "EMAIL"),
        adas_address,
        1.0,
    ),
    Case(Departure.all_unfinished(), sent.query("DEPARTURES", begins_with="USER#"), [bens_departure], 1.0),
    Case(SecretCheck.of_store(), sent.get_item("STORE", "SECRET"), made_by, 1.0),
    Case(Session.by_hash(PHONE), sent.get_item(f"SESSION#{PHONE}", "SESSION"), on_phone, 1.0),
    Case(SessionOfUser.by_hash(ADA, PHONE), sent.get_item(OF_ADA, f"SESSION#{PHONE}"), adas_phone, 1.0),
    Case(
        SessionOfUser.all_of_user(ADA),
        sent.query(OF_ADA, begins_with="SESSION#"),
        [adas_phone, adas_laptop],
        1.0,
        in_vain=1,
    ),
    Case(ApiToken.by_hash(TOKEN), sent.get_item(f"TOKEN#{TOKEN}", "TOKEN"), script, 1.0),
    Case(ApiTokenOfUser.by_id(ADA, SCRIPT), sent.get_item(OF_ADA, f"TOKEN#{SCRIPT}"), adas_script, 1.0),
    Case(ApiTokenOfUser.all_of_user(ADA), sent.query(OF_ADA, begins_with="TOKEN#"), [adas_script], 1.0),
    Case(
        Identity.by_subject(ISSUER_HASH, 'ada#1 "x"'),
        sent.get_item(f'IDENTITY#{ISSUER_HASH}#ada"~1 "!x"!', "IDENTITY"),
        at_provider,
        1.0,
    ),
    Case(
        IdentityOfUser.by_issuer(ADA, ISSUER_HASH),
        sent.get_item(OF_ADA, f"IDENTITY#{ISSUER_HASH}"),
        adas_identity,
        1.0,
    ),
    Case(IdentityOfUser.all_of_user(ADA), sent.query(OF_ADA, begins_with="IDENTITY#"), [adas_identity], 1.0),
    Case(PasswordReset.by_hash(RESET), sent.get_item(f"RESET#{RESET}", "RESET"), reset, 1.0),
    Case(PasswordResetOfUser.by_hash(ADA, RESET), sent.get_item(OF_ADA, f"RESET#{RESET}"), adas_reset, 1.0),
    Case(PasswordResetOfUser.all_of_user(ADA), sent.query(OF_ADA, begins_with="RESET#"), [adas_reset], 1.0),
    Case(Invitation.by_hash(INVITED), sent.get_item(f"INVITATION#{INVITED}", "INVITATION"), welcome, 1.0),
    Case(
        InvitationOfPlace.by_id("shopping", FAMILY, WELCOME),
        sent.get_item(OF_PLACE, f"INVITATION#{WELCOME}"),
        familys_welcome,
        1.0,
    ),
    Case(
        InvitationOfPlace.all_of_place("shopping", FAMILY),
        sent.query(OF_PLACE, begins_with="INVITATION#"),
        [familys_welcome],
        1.0,
    ),
    Case(InvitationOfUser.by_id(ADA, WELCOME), sent.get_item(OF_ADA, f"INVITATION#{WELCOME}"), adas_welcome, 1.0),
    Case(
        InvitationToAddress.by_id("ben@example.org", WELCOME),
        sent.get_item("EMAIL#ben@example.org", f"INVITATION#{WELCOME}"),
        bens_welcome,
        1.0,
    ),
    Case(
        InvitationToAddress.all_to("ben@example.org"),
        sent.query("EMAIL#ben@example.org", begins_with="INVITATION#"),
        [bens_welcome],
        1.0,
    ),
    Case(
        Throttle.by_window("sign-in from 192.0.2.1", MINUTE),
        sent.get_item("THROTTLE#sign-in from 192.0.2.1#2025-12-10T12:34:00Z", "THROTTLE"),
        attempts,
        1.0,
    ),
    Case(
        IdempotentAnswer.by_key(str(ADA), "a#key"),
        # The separator inside what a client sent is escaped, so that it cannot reach another caller's answers.
        sent.get_item(f'IDEMPOTENCY#{ADA}#a"~key', "IDEMPOTENCY"),
        answer,
        1.0,
    ),
    Case(
        EverythingOfUser.of(ADA),
        sent.query(OF_ADA, between=("IDEMPOTENCY#", "TOKEN$")),
        EverythingOfUser(
            account=ada,
            sessions=[adas_phone, adas_laptop],
            api_tokens=[adas_script],
            identities=[adas_identity],
            password_resets=[adas_reset],
            invitations=[adas_welcome],
            answers=[adas_answer],
        ),
        1.0,
        in_vain=1,
    ),
]


class TestAccessPatterns(AccessPatterns):
    tables = (accounts,)
    cases = CASES


# --- what the rows are there for -------------------------------------------------------------------------------------


async def test_an_address_is_taken_once_and_leads_to_its_owner(new: Opened):
    store, recording, _ = new
    with recording.scope() as calls:
        await store.transact(put(ada, when=absent), put(adas_address, when=absent))
    # Two rows, and the account in its index.
    assert (calls.operations, calls.write_units) == (["TransactWriteItems"], 6.0)
    ben = replace(ada, user_id=BEN)
    with pytest.raises(AlreadyExists) as refused:
        await store.transact(
            put(ben, when=absent),
            put(EmailAddress(folded=normal_email(" ADA.lovelace@example.org"), user_id=BEN), when=absent),
        )
    assert (refused.value.position, refused.value.current) == (1, adas_address)
    assert await store.get(Account.by_id(BEN)) is None
    # Another address: the old one is free in the same moment.
    await store.transact(
        update(ada, the(Account.email).becomes("ada@example.org")),
        delete(adas_address, when=the(EmailAddress.user_id) == ADA),
        put(EmailAddress(folded="ada@example.org", user_id=ADA), when=absent),
    )
    assert await store.get(EmailAddress.by_folded("ada.lovelace@example.org")) is None
    assert (await store.one(EmailAddress.by_folded("ada@example.org"))).user_id == ADA


async def test_a_new_password_ends_every_session_but_the_one_that_chose_it(new: Opened):
    store, recording, _ = new
    for row in (ada, on_phone, adas_phone, on_laptop, adas_laptop):
        await store.put(row, when=absent)
    epoch = the(Account.session_epoch)
    with recording.scope() as calls:
        await store.transact(
            update(Account.by_id(ADA), epoch.becomes(2), when=epoch == 1, keep_version=True),
            update(Session.by_hash(PHONE), the(Session.session_epoch).becomes(2)),
        )
    assert calls.operations == ["TransactWriteItems"]
    now = (await store.one(Account.by_id(ADA))).session_epoch
    assert (await store.one(Session.by_hash(PHONE))).session_epoch == now
    assert (await store.one(Session.by_hash(LAPTOP))).session_epoch != now
    # Whoever signs in with the old password at this moment checked an epoch that is over.
    signed_in = replace(on_laptop, hash=TOKEN)
    with pytest.raises(ConditionFailed) as refused:
        await store.transact(check(Account.by_id(ADA), when=epoch == 1), put(signed_in, when=absent))
    assert refused.value.position == 0


async def test_an_invitation_opens_once(new: Opened):
    store, _, _ = new
    accept = [
        delete(Invitation.by_hash(INVITED), when=present),
        delete(InvitationOfPlace.by_id("shopping", FAMILY, WELCOME)),
        delete(InvitationOfUser.by_id(ADA, WELCOME)),
    ]
    await store.transact(*(put(row, when=absent) for row in (welcome, familys_welcome, adas_welcome)))
    await store.transact(*accept)
    with pytest.raises(NotFound):
        await store.transact(*accept)
    assert await store.all(InvitationOfPlace.all_of_place("shopping", FAMILY)) == []
    assert await store.get(InvitationOfUser.by_id(ADA, WELCOME)) is None


async def test_attempts_are_counted_without_being_read_and_the_first_makes_the_row(new: Opened):
    store, recording, _ = new
    by_window = Throttle.by_window("sign-in from 192.0.2.1", MINUTE)
    attempt = the(Throttle.attempts).add(1), the(Throttle.ttl).becomes(SOON)
    with recording.scope() as calls:
        counted = await store.upsert(by_window, *attempt)
    assert (counted.attempts, calls.operations, calls.write_units) == (1, ["UpdateItem"], 1.0)
    await asyncio.gather(*(store.upsert(by_window, *attempt) for _ in range(9)))
    assert await store.get(by_window) == replace(attempts, attempts=10)


async def test_an_account_is_forgotten_to_the_last_row(new: Opened):
    store, recording, _ = new
    await store.write_each(put(row) for row in (*BY_SECRET, *ADAS[1:]))
    await store.put(ada, when=absent)
    with recording.scope() as calls:
        found = await store.gather(EverythingOfUser.of(ADA))
        assert found is not None
        assert found.account is not None
        await store.write_each(
            [
                delete(EmailAddress.by_folded(normal_email(found.account.email))),
                *(delete(Session.by_hash(each.hash)) for each in found.sessions),
                *(delete(ApiToken.by_hash(each.hash)) for each in found.api_tokens),
                *(delete(Identity.by_subject(each.issuer_hash, each.subject)) for each in found.identities),
                *(delete(PasswordReset.by_hash(each.hash)) for each in found.password_resets),
                *(delete(Invitation.by_hash(each.hash)) for each in found.invitations),
                *(
                    delete(InvitationOfPlace.by_id(each.app, each.place, each.invitation_id))
                    for each in found.invitations
                ),
                *(delete(IdempotentAnswer.by_key(str(ADA), each.key)) for each in found.answers),
                *map(delete, [*found.sessions, *found.api_tokens, *found.identities, *found.password_resets]),
                *map(delete, [*found.invitations, *found.answers]),
                delete(Account.by_id(ADA)),
            ]
        )
    assert calls.operations == ["Query", "BatchWriteItem"]
    scanned = await recording.call("Scan", {"TableName": "Accounts"})
    assert scanned["Items"] == []
