"""Doing it once: the same request again is answered alike and writes nothing."""

import asyncio
from uuid import UUID, uuid4

import pytest
from msgspec.structs import replace

from potluck.people.entities import EmailAddress
from potluck.people.errors import (
    AlreadyDone,
    EmailTaken,
    KeyReused,
)
from potluck.people.idempotency import LONGEST_BODY_KEPT, IdempotencyKey, StoredAnswer, request_hash
from potluck.table import AlreadyExists, NotFound, WriteRefused, absent, put
from potluck.validation.errors import ValidationError
from tests.people.assembly import PASSWORD, WRITERS

REQUEST = request_hash("POST", "/api/v1/families", b'{"name":"Lovelace"}')
ANOTHER = request_hash("POST", "/api/v1/families", b'{"name":"Byron"}')


def row(made):
    """Some row that an app would write."""
    return EmailAddress(folded=f"made-{made}", user_id=made)


async def create(people, key, made=None, **answer):
    """What an app does: write its row, and keep the answer in the same transaction."""
    made = made or uuid4()

    async def do():
        answered = StoredAnswer(status=201, body=f'{{"id":"{made}"}}'.encode(), made=str(made), **answer)
        await people.store.transact(put(row(made), when=absent), *people.answers.keeping(key, answered))
        return answered

    return await people.answers.once(key, do)


async def made_rows(people):
    return [each for each in await people.rows() if each["PK"]["S"].startswith("EMAIL#made")]


async def test_the_same_request_again_is_answered_alike_by_one_read_and_writes_nothing(people):
    key = IdempotencyKey((await people.registered()).user_id, "a#key", REQUEST)
    with people.recording.scope() as calls:
        first = await create(people, key, headers={"Location": "/api/v1/families/1"})
    assert calls.operations == ["GetItem", "TransactWriteItems"]
    with people.recording.scope() as calls:
        again = await create(people, key)
    assert [(call.operation, call.request["ConsistentRead"]) for call in calls] == [("GetItem", True)]
    assert again == first
    assert len(await made_rows(people)) == 1


async def test_the_same_key_with_another_request_is_refused(people):
    ada = await people.registered()
    await create(people, IdempotencyKey(ada.user_id, "key", REQUEST))
    with pytest.raises(KeyReused):
        await create(people, IdempotencyKey(ada.user_id, "key", ANOTHER))
    assert len(await made_rows(people)) == 1


async def test_keys_of_different_callers_have_nothing_to_do_with_each_other(embedded_people):
    people = embedded_people
    ada, ben = await people.registered(), await people.registered("ben@example.org")
    answers = [
        await create(people, IdempotencyKey(caller, key, REQUEST))
        for caller, key in (
            (ada.user_id, "key"),
            (ben.user_id, "key"),
            ("link abc", "key"),
            ("link abc#key", "key"),
            ("link abc", "key#key"),
        )
    ]
    assert len({answer.made for answer in answers}) == 5


async def test_an_answer_is_kept_for_a_day_to_the_second(people):
    key = IdempotencyKey((await people.registered()).user_id, "key", REQUEST)
    first = await create(people, key)
    people.clock.forward(hours=24, seconds=-1)
    assert await create(people, key) == first
    people.clock.forward(seconds=1)
    assert (await create(people, key)).made != first.made


async def test_of_fifty_equal_writes_at_once_one_is_done_and_all_find_its_answer(busy_people):
    people = busy_people
    key = IdempotencyKey((await people.registered()).user_id, "key", REQUEST)
    answers = await asyncio.gather(*(create(people, key) for _ in range(WRITERS)))
    (made,) = await made_rows(people)
    assert {answer.body for answer in answers} == {f'{{"id":"{made["userId"]["S"]}"}}'.encode()}


async def test_the_loser_finds_the_answer_even_if_its_own_row_refused_it_first(busy_people):
    people = busy_people
    key = IdempotencyKey((await people.registered()).user_id, "key", REQUEST)
    answers = await asyncio.gather(*(create(people, key, made=UUID(int=7)) for _ in range(WRITERS)))
    assert len({answer.body for answer in answers}) == 1
    assert len(await made_rows(people)) == 1


async def test_only_successes_are_kept(embedded_people):
    people = embedded_people
    key = IdempotencyKey((await people.registered()).user_id, "key", REQUEST)
    await people.store.put(row(UUID(int=7)), when=absent)
    with pytest.raises(AlreadyExists):
        await create(people, key, made=UUID(int=7))
    assert "IdempotentAnswer" not in await people.kinds()
    assert (await create(people, key)).status == 201


async def test_an_answer_that_held_a_secret_is_not_kept_but_remembered_as_done(people):
    ada = await people.registered()
    key = IdempotencyKey(ada.user_id, "key", REQUEST)

    async def make():
        answered = []

        def keep(made):
            answered.append(
                StoredAnswer(
                    status=201,
                    body=made.secret.encode(),
                    made=str(made.token_id),
                    headers={"X": made.secret},
                    secret=True,
                )
            )
            return people.answers.keeping(key, answered[0], account_checked=True)

        await people.tokens.make(ada, "Backup", also=keep)
        return answered[0]

    first = await people.answers.once(key, make)
    assert await people.known(first.body.decode())
    with pytest.raises(AlreadyDone) as refused:
        await people.answers.once(key, make)
    assert refused.value.made == first.made
    assert len(await people.tokens.all(ada)) == 1
    kept = [each for each in await people.rows() if each["entityType"]["S"] == "IdempotentAnswer"]
    assert ("body" in kept[0], "headers" in kept[0] and kept[0]["headers"]["M"]) in ((False, False), (False, {}))


async def test_an_empty_answer_is_kept_as_such_and_one_too_long_as_done(people):
    ada = await people.registered()

    async def once(key, body):
        key = IdempotencyKey(ada.user_id, key, REQUEST)

        async def do():
            answered = StoredAnswer(status=200, body=body, made="7")
            await people.store.transact(*people.answers.keeping(key, answered))
            return answered

        return await people.answers.once(key, do)

    for key, body in (("empty", b""), ("bytes", bytes(range(256))), ("longest", b"x" * LONGEST_BODY_KEPT)):
        assert await once(key, body) == await once(key, body)
    await once("too long", b"x" * (LONGEST_BODY_KEPT + 1))
    with pytest.raises(AlreadyDone) as refused:
        await once("too long", b"x" * (LONGEST_BODY_KEPT + 1))
    assert refused.value.made == "7"


async def test_an_anonymous_caller_registers_once(busy_people):
    people = busy_people
    key = IdempotencyKey.by_nobody(str(UUID(int=5)), REQUEST)

    async def register():
        answered = []

        def keep(registered):
            answered.append(StoredAnswer(status=201, made=str(registered.account.user_id), secret=True))
            return people.answers.keeping(key, answered[0])

        await people.accounts.register("ada@example.org", PASSWORD, "Ada", also=keep)
        return answered[0]

    ended = await asyncio.gather(*(people.answers.once(key, register) for _ in range(WRITERS)), return_exceptions=True)
    (done,) = [each for each in ended if isinstance(each, StoredAnswer)]
    assert {each.made for each in ended if isinstance(each, AlreadyDone)} == {done.made}
    assert sum(isinstance(each, AlreadyDone) for each in ended) == WRITERS - 1
    assert (await people.kinds()).count("Account") == 1
    # Under another key it is another request, and refused for what it is.
    with pytest.raises(EmailTaken):
        await people.accounts.register("ada@example.org", PASSWORD, "Ada")


async def test_nothing_is_kept_for_an_account_that_is_gone(embedded_people):
    people = embedded_people
    ada = await people.registered()
    key = IdempotencyKey(ada.user_id, "key", REQUEST)
    await people.accounts.delete(ada, PASSWORD)
    with pytest.raises(NotFound):
        await create(people, key)
    assert await people.rows() == []


async def test_changes_of_the_account_keep_their_answers_too(people):
    ada = await people.registered()

    def keep(key):
        return lambda _: people.answers.keeping(
            IdempotencyKey(ada.user_id, key, REQUEST), StoredAnswer(status=200), account_checked=True
        )

    await people.accounts.rename(ada, "Countess", 1, also=keep("name"))
    await people.accounts.change_email(ada, "countess@example.org", PASSWORD, also=keep("email"))
    ada = replace(ada, session_epoch=2)
    await people.accounts.change_password(ada, PASSWORD, "battery staple", also=keep("password"))
    ada = await people.known(await people.signed_in("countess@example.org", "battery staple"))
    made = await people.invitations.make("shopping", "family", "member", ada.user_id, also=keep("invitation"))
    await people.invitations.withdraw("shopping", "family", made.invitation_id, also=keep("withdrawal"))
    token = await people.tokens.make(ada, "Backup", also=keep("token"))
    await people.tokens.revoke(ada, token.token_id, also=keep("revocation"))
    await people.sessions.end_others(ada, also=keep("others"))
    await people.sessions.end(ada, also=keep("end"))
    keys = ("name", "email", "password", "invitation", "withdrawal", "token", "revocation", "others", "end")
    for key in keys:
        assert await people.answers.find(IdempotencyKey(ada.user_id, key, REQUEST)) == StoredAnswer(status=200)
    # A key that was used meanwhile stops the write, and is not mistaken for another refusal.
    ada = await people.known(await people.signed_in("countess@example.org", "battery staple"))
    for attempt in (
        people.accounts.rename(ada, "Ada", 3, also=keep("name")),
        people.accounts.change_email(ada, "ada@example.org", "battery staple", also=keep("name")),
        people.accounts.change_password(ada, "battery staple", PASSWORD, also=keep("name")),
        people.tokens.make(ada, "Backup", also=keep("name")),
        people.invitations.make("shopping", "family", "member", ada.user_id, also=keep("name")),
        people.sessions.end(ada, also=keep("name")),
        people.sessions.open("countess@example.org", "battery staple", None, also=keep("name")),
        people.accounts.register("ben@example.org", PASSWORD, "Ben", also=keep("name")),
    ):
        with pytest.raises(WriteRefused):
            await attempt
    assert await people.accounts.by_id(ada.user_id)
    assert (await people.kinds()).count("ApiToken") == (await people.kinds()).count("Invitation") == 0


async def test_an_answer_to_somebody_who_asked_as_nobody_goes_with_their_account(people):
    key = IdempotencyKey.by_nobody("0f8fad5b-d9cb-469f-a165-70867728950e", REQUEST)

    def keep(key):
        def keeping(registered):
            user_id = registered.account.user_id
            answer = StoredAnswer(status=201, body=b"pls_", made=str(user_id), secret=True, of=user_id)
            return people.answers.keeping(key, answer, account_checked=True)

        return keeping

    made = await people.accounts.register("ada@example.org", PASSWORD, "Ada", also=keep(key))
    ada = await people.known(made.session.secret)
    # The same key again, of the same person as themselves, is another one.
    await people.store.transact(
        *people.answers.keeping(IdempotencyKey(ada.user_id, key.value, REQUEST), StoredAnswer(status=200))
    )
    with pytest.raises(AlreadyDone) as done:
        await people.answers.find(key)
    assert done.value.made == str(ada.user_id)
    await people.accounts.delete(ada, PASSWORD)
    assert await people.rows() == []


async def test_a_reset_is_redeemed_once_and_its_answer_is_kept(people):
    ada = await people.registered()
    issued = await people.resets.issue("ada@example.org")
    key = IdempotencyKey.by_nobody("0f8fad5b-d9cb-469f-a165-70867728950e", REQUEST)

    def keep(user_id):
        return people.answers.keeping(key, StoredAnswer(status=204, of=user_id), account_checked=True)

    async def redeem():
        await people.resets.redeem(issued.secret, "battery staple", keep)
        return StoredAnswer(status=204)

    answers = await asyncio.gather(*(people.answers.once(key, redeem) for _ in range(5)))
    assert {(each.status, each.body) for each in answers} == {(204, b"")}
    # A key that was used stops another reset, and is not mistaken for a link that is over.
    issued = await people.resets.issue("ada@example.org")
    with pytest.raises(AlreadyExists):
        await people.resets.redeem(issued.secret, "another staple", keep)
    assert (await people.accounts.by_id(ada.user_id)).session_epoch == 2


def test_what_is_kept_of_a_request_tells_its_password_to_nobody_without_the_key():
    request = ("POST", "/api/v1/sessions", b'{"email":"ada@example.org","password":"correct horse"}')
    assert request_hash(*request, b"key") == request_hash(*request, b"key")
    hashes = {request_hash(*request), request_hash(*request, b"key"), request_hash(*request, b"another")}
    assert len(hashes) == 3


def test_a_key_has_up_to_128_printable_characters_and_an_anonymous_callers_is_a_uuid():
    for key in ("", "x" * 129, "a\nb", "\ud800"):
        with pytest.raises(ValidationError, match="Idempotency-Key"):
            IdempotencyKey("caller", key, REQUEST)
    IdempotencyKey("caller", "x" * 128, REQUEST)
    for key in ("1", "{00000000-0000-0000-0000-000000000005}", "0" * 32, "x" * 128):
        with pytest.raises(ValidationError, match="must be a UUID"):
            IdempotencyKey.by_nobody(key, REQUEST)
    assert IdempotencyKey.by_nobody("0000000A-0000-4000-8000-000000000005", REQUEST).value.startswith("0000000a-")


def test_requests_that_differ_have_different_hashes():
    requests = [
        ("POST", "/a", b"b"),
        ("PATCH", "/a", b"b"),
        ("POST", "/ab", b""),
        ("POST", "/", b"ab"),
        ("POST", "/a", b"c"),
    ]
    assert len({request_hash(*each) for each in requests}) == len(requests)
    assert request_hash("post", "/a", b"b") == request_hash("POST", "/a", b"b")
