"""The rows of people, and every access pattern: its request, its answer, its cost."""

from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import pytest

from potluck.people.entities import (
    Account,
    AnswerOfUser,
    ApiToken,
    ApiTokenOfUser,
    EmailAddress,
    EverythingOfUser,
    IdempotentAnswer,
    Invitation,
    InvitationOfPlace,
    InvitationOfUser,
    PasswordReset,
    PasswordResetOfUser,
    Session,
    SessionOfUser,
    Throttle,
    accounts,
    folded_email,
)
from potluck.table import (
    AlreadyExists,
    ConditionFailed,
    Gather,
    InvalidValue,
    NotFound,
    Query,
    Ref,
    Request,
    absent,
    check,
    delete,
    present,
    put,
    the,
    update,
)
from potluck.table.entity import plan_of
from tests.engine_targets import BOTH, EMBEDDED, LOCAL
from tests.stores import NOW, recorded_store

ADA = UUID("550e8400-e29b-41d4-a716-446655440000")
BEN = UUID("550e8400-e29b-41d4-a716-446655440001")
SCRIPT = UUID("650e8400-e29b-41d4-a716-446655440000")
WELCOME = UUID("750e8400-e29b-41d4-a716-446655440000")
FAMILY = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
PHONE, LAPTOP, TOKEN, RESET, INVITED, ASKED = ("0123456789abcdef"[n : n + 1] * 64 for n in range(6))
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
on_phone = Session(hash=PHONE, user_id=ADA, session_epoch=1, created_at=NOW, ttl=SOON)
adas_phone = SessionOfUser(user_id=ADA, hash=PHONE, created_at=NOW, ttl=SOON)
on_laptop = msgspec.structs.replace(on_phone, hash=LAPTOP)
adas_laptop = msgspec.structs.replace(adas_phone, hash=LAPTOP)
script = ApiToken(hash=TOKEN, user_id=ADA, token_id=SCRIPT)
adas_script = ApiTokenOfUser(user_id=ADA, token_id=SCRIPT, hash=TOKEN, name="Backup script", created_at=NOW)
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
    user_id=ADA, invitation_id=WELCOME, hash=INVITED, app="shopping", place=FAMILY, ttl=SOON
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
adas_answer = AnswerOfUser(user_id=ADA, key="a#key", ttl=SOON)

ADAS = [ada, adas_phone, adas_laptop, adas_script, adas_reset, adas_welcome, adas_answer]
BY_SECRET = [adas_address, on_phone, on_laptop, script, reset, welcome, familys_welcome, answer]
# Rows that no answer may hold: another person's, and one that expires now.
bens_script = msgspec.structs.replace(adas_script, user_id=BEN)
expired = msgspec.structs.replace(adas_phone, hash="e" * 64, ttl=int(NOW.timestamp()))
ROWS = [*ADAS, *BY_SECRET, attempts, bens_script, expired]


# --- access patterns -------------------------------------------------------------------------------------------------


class Case(NamedTuple):
    """A question, the keys it asks for, what comes back, and the read units it takes."""

    asked: Ref[Any] | Query[Any] | Gather[Any]
    partition: str
    sort: str | tuple[str, str]
    found: Any
    units: float

    @property
    def pattern(self) -> str:
        if isinstance(self.asked, Ref):
            return self.asked.pattern
        return (self.asked.query if isinstance(self.asked, Gather) else self.asked).pattern.name

    @property
    def request(self) -> Request:
        """One item by its key; the rows of a partition that begin so; or those from here to there. Never an index."""
        if isinstance(self.asked, Ref):
            key = {"PK": {"S": self.partition}, "SK": {"S": self.sort}}
            return Request("GetItem", {"TableName": "Accounts", "Key": key, "ConsistentRead": True})
        begins = isinstance(self.sort, str)
        values = [self.sort] if begins else self.sort
        return Request(
            "Query",
            {
                "TableName": "Accounts",
                "KeyConditionExpression": "#PK = :PK AND begins_with(#SK, :SK)"
                if begins
                else "#PK = :PK AND #SK BETWEEN :SK AND :SK_2",
                "ExpressionAttributeNames": {"#PK": "PK", "#SK": "SK"},
                "ExpressionAttributeValues": {
                    ":PK": {"S": self.partition},
                    **{name: {"S": value} for name, value in zip((":SK", ":SK_2"), values, strict=False)},
                },
                "ConsistentRead": True,
            },
        )


OF_ADA = f"USER#{ADA}"
OF_PLACE = f"PLACE#shopping#{FAMILY}"

CASES = [
    Case(Account.by_id(ADA), OF_ADA, "PROFILE", ada, 1.0),
    Case(
        EmailAddress.by_folded("ada.lovelace@example.org"),
        "EMAIL#ada.lovelace@example.org",
        "EMAIL",
        adas_address,
        1.0,
    ),
    Case(Session.by_hash(PHONE), f"SESSION#{PHONE}", "SESSION", on_phone, 1.0),
    Case(SessionOfUser.by_hash(ADA, PHONE), OF_ADA, f"SESSION#{PHONE}", adas_phone, 1.0),
    Case(SessionOfUser.all_of_user(ADA), OF_ADA, "SESSION#", [adas_phone, adas_laptop], 1.0),
    Case(ApiToken.by_hash(TOKEN), f"TOKEN#{TOKEN}", "TOKEN", script, 1.0),
    Case(ApiTokenOfUser.by_id(ADA, SCRIPT), OF_ADA, f"TOKEN#{SCRIPT}", adas_script, 1.0),
    Case(ApiTokenOfUser.all_of_user(ADA), OF_ADA, "TOKEN#", [adas_script], 1.0),
    Case(PasswordReset.by_hash(RESET), f"RESET#{RESET}", "RESET", reset, 1.0),
    Case(PasswordResetOfUser.by_hash(ADA, RESET), OF_ADA, f"RESET#{RESET}", adas_reset, 1.0),
    Case(PasswordResetOfUser.all_of_user(ADA), OF_ADA, "RESET#", [adas_reset], 1.0),
    Case(Invitation.by_hash(INVITED), f"INVITATION#{INVITED}", "INVITATION", welcome, 1.0),
    Case(InvitationOfPlace.by_id("shopping", FAMILY, WELCOME), OF_PLACE, f"INVITATION#{WELCOME}", familys_welcome, 1.0),
    Case(InvitationOfPlace.all_of_place("shopping", FAMILY), OF_PLACE, "INVITATION#", [familys_welcome], 1.0),
    Case(InvitationOfUser.by_id(ADA, WELCOME), OF_ADA, f"INVITATION#{WELCOME}", adas_welcome, 1.0),
    Case(InvitationOfUser.all_of_user(ADA), OF_ADA, "INVITATION#", [adas_welcome], 1.0),
    Case(
        Throttle.by_window("sign-in from 192.0.2.1", MINUTE),
        "THROTTLE#sign-in from 192.0.2.1#2025-12-10T12:34:00Z",
        "THROTTLE",
        attempts,
        1.0,
    ),
    Case(
        IdempotentAnswer.by_key(str(ADA), "a#key"),
        # The separator inside what a client sent is escaped, so that it cannot reach another caller's answers.
        f'IDEMPOTENCY#{ADA}#a"~key',
        "IDEMPOTENCY",
        answer,
        1.0,
    ),
    Case(AnswerOfUser.by_key(ADA, "a#key"), OF_ADA, 'IDEMPOTENCY#a"~key', adas_answer, 1.0),
    Case(AnswerOfUser.all_of_user(ADA), OF_ADA, "IDEMPOTENCY#", [adas_answer], 1.0),
    Case(
        EverythingOfUser.of(ADA),
        OF_ADA,
        ("IDEMPOTENCY#", "TOKEN$"),
        EverythingOfUser(
            account=ada,
            sessions=[adas_phone, adas_laptop],
            api_tokens=[adas_script],
            password_resets=[adas_reset],
            invitations=[adas_welcome],
            answers=[adas_answer],
        ),
        1.0,
    ),
]


def test_every_access_pattern_is_asked_here():
    assert {case.pattern for case in CASES} == {pattern.name for pattern in accounts.patterns}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.pattern)
def test_each_question_is_one_exact_request(case):
    assert case.asked.request() == case.request


@pytest.mark.parametrize("engine", BOTH)
async def test_each_question_is_answered_by_one_call_at_its_cost(engine, tmp_path):
    async with recorded_store(engine, tmp_path, accounts) as (store, recording):
        for row in ROWS:
            await store.put(row, when=absent)
        for case in CASES:
            ask = {Ref: store.get, Query: store.all, Gather: store.gather}[type(case.asked)]
            with recording.scope() as calls:
                found = await ask(case.asked)
            assert found == case.found, case.pattern
            assert (calls.operations, calls.read_units) == ([case.request.operation], case.units), case.pattern


@pytest.mark.parametrize("entity", ROWS, ids=lambda entity: type(entity).__name__)
def test_what_is_written_is_read_back(entity):
    coding = plan_of(entity).coding
    assert coding.decode(coding.encode(entity)) == entity


# --- what the rows are there for -------------------------------------------------------------------------------------

# A transaction costs double; DynamoDB Local does not count it so.
UNITS_OF_TWO_ROWS = {EMBEDDED: 4.0, LOCAL: 2.0}


def test_addresses_are_the_same_whatever_their_case_and_space_and_no_more():
    assert folded_email(" Ada.Lovelace@EXAMPLE.org\n") == "ada.lovelace@example.org"
    assert folded_email("jose\u0301@example.org") == folded_email("JOS\u00c9@example.org") == "jos\u00e9@example.org"
    assert len({folded_email(each) for each in ("jose@x.org", "josé@x.org", "jo!se@x.org", "jo#se@x.org")}) == 4


def test_only_what_looks_like_a_hash_is_stored_as_one():
    for secret in ("s" * 64, "0" * 63, "0" * 65, "A" * 64):
        with pytest.raises(InvalidValue) as refused:
            put(msgspec.structs.replace(script, hash=secret), when=absent).request()
        assert refused.value.field == "hash"


@pytest.mark.parametrize("engine", BOTH)
async def test_an_address_is_taken_once_and_leads_to_its_owner(engine, tmp_path):
    async with recorded_store(engine, tmp_path, accounts) as (store, recording):
        with recording.scope() as calls:
            await store.transact(put(ada, when=absent), put(adas_address, when=absent))
        assert (calls.operations, calls.write_units) == (["TransactWriteItems"], UNITS_OF_TWO_ROWS[engine])
        ben = msgspec.structs.replace(ada, user_id=BEN)
        with pytest.raises(AlreadyExists) as refused:
            await store.transact(
                put(ben, when=absent),
                put(EmailAddress(folded=folded_email(" ADA.lovelace@example.org"), user_id=BEN), when=absent),
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


@pytest.mark.parametrize("engine", BOTH)
async def test_a_new_password_ends_every_session_but_the_one_that_chose_it(engine, tmp_path):
    async with recorded_store(engine, tmp_path, accounts) as (store, recording):
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
        signed_in = msgspec.structs.replace(on_laptop, hash=TOKEN)
        with pytest.raises(ConditionFailed) as refused:
            await store.transact(check(Account.by_id(ADA), when=epoch == 1), put(signed_in, when=absent))
        assert refused.value.position == 0


@pytest.mark.parametrize("engine", BOTH)
async def test_an_invitation_opens_once(engine, tmp_path):
    async with recorded_store(engine, tmp_path, accounts) as (store, _):
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
        assert await store.all(InvitationOfUser.all_of_user(ADA)) == []


@pytest.mark.parametrize("engine", BOTH)
async def test_attempts_are_counted_without_being_read(engine, tmp_path):
    async with recorded_store(engine, tmp_path, accounts) as (store, recording):
        await store.put(attempts, when=absent)
        with recording.scope() as calls:
            counted = await store.update(
                Throttle.by_window("sign-in from 192.0.2.1", MINUTE), the(Throttle.attempts).add(1)
            )
        assert counted.attempts == 4
        assert (calls.operations, calls.write_units) == (["UpdateItem"], 1.0)


@pytest.mark.parametrize("engine", BOTH)
async def test_an_account_is_forgotten_to_the_last_row(engine, tmp_path):
    async with recorded_store(engine, tmp_path, accounts) as (store, recording):
        await store.write_each(put(row) for row in (*BY_SECRET, *ADAS[1:]))
        await store.put(ada, when=absent)
        with recording.scope() as calls:
            found = await store.gather(EverythingOfUser.of(ADA))
            assert found is not None
            assert found.account is not None
            await store.write_each(
                [
                    delete(EmailAddress.by_folded(folded_email(found.account.email))),
                    *(delete(Session.by_hash(each.hash)) for each in found.sessions),
                    *(delete(ApiToken.by_hash(each.hash)) for each in found.api_tokens),
                    *(delete(PasswordReset.by_hash(each.hash)) for each in found.password_resets),
                    *(delete(Invitation.by_hash(each.hash)) for each in found.invitations),
                    *(
                        delete(InvitationOfPlace.by_id(each.app, each.place, each.invitation_id))
                        for each in found.invitations
                    ),
                    *(delete(IdempotentAnswer.by_key(str(ADA), each.key)) for each in found.answers),
                    delete(Account.by_id(ADA)),
                    *(delete(SessionOfUser.by_hash(ADA, each.hash)) for each in found.sessions),
                    *(delete(ApiTokenOfUser.by_id(ADA, each.token_id)) for each in found.api_tokens),
                    *(delete(PasswordResetOfUser.by_hash(ADA, each.hash)) for each in found.password_resets),
                    *(delete(InvitationOfUser.by_id(ADA, each.invitation_id)) for each in found.invitations),
                    *(delete(AnswerOfUser.by_key(ADA, each.key)) for each in found.answers),
                ]
            )
        assert calls.operations == ["Query", "BatchWriteItem"]
        scanned = await recording.call("Scan", {"TableName": "Accounts"})
        assert scanned["Items"] == []
