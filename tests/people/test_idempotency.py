"""Doing it once: the same request again is answered alike and writes nothing."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest
from msgspec import Struct
from msgspec.structs import replace

from potluck.people.entities import EmailAddress
from potluck.people.errors import AccountGone, AlreadyDone, EmailTaken, KeyReused
from potluck.people.idempotency import LONGEST_BODY_KEPT, IdempotencyKey, StoredAnswer, request_hash
from potluck.table import AlreadyExists, absent, put
from potluck.validation.errors import ValidationError
from potluck.web.access import Anyone, Visitor
from potluck.web.actions import Actions
from potluck.web.inputs import Input
from potluck.web.people.tokens import own_tokens
from potluck.web.runner import Runner, Sent
from potluck.web.writes import Writes
from tests.people.assembly import PASSWORD, WRITERS

REQUEST = request_hash("POST", "/api/v1/families", b'{"name":"Lovelace"}')
ANOTHER = request_hash("POST", "/api/v1/families", b'{"name":"Byron"}')


class Thing(Struct):
    id: UUID
    text: str = ""


class NewThing(Input):
    made: UUID
    text: str = ""
    location: str = ""


things: Actions[Any] = Actions(Anyone, api="/things")


@things.create()
async def make_thing(at: Anyone, new: NewThing) -> Writes[Thing]:
    """Make a thing, as an app would."""
    headers = {"location": new.location} if new.location else {}
    return Writes(Thing(new.made, new.text), put(row(new.made), when=absent), made=new.made, headers=headers)


def row(made):
    """Some row that an app would write."""
    return EmailAddress(folded=f"made-{made}", user_id=made)


async def create(people, key, made=None, **sent):
    new = NewThing(made=made or uuid4(), **sent)
    runner, action = Runner(people.core), things.declared_by(make_thing)
    return (await runner.perform(action, Visitor(limited=False), {}, lambda: Sent(new), key)).response


async def made_rows(people):
    return [each for each in await people.rows() if each["PK"]["S"].startswith("EMAIL#made")]


async def test_the_same_request_again_is_answered_alike_by_one_read_and_writes_nothing(people):
    key = IdempotencyKey((await people.registered()).user_id, "a#key", REQUEST)
    with people.recording.scope() as calls:
        first = await create(people, key, location="/api/v1/families/1")
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
    assert {answer.body for answer in answers} == {f'{{"id":"{made["userId"]["S"]}","text":""}}'.encode()}


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
    first = await people.make_token(ada, "Backup", key=key)
    assert await people.known(first.token)
    with pytest.raises(AlreadyDone) as refused:
        await people.make_token(ada, "Backup", key=key)
    assert refused.value.made == str(first.id)
    assert len(await people.listed(own_tokens, ada)) == 1
    kept = [each for each in await people.rows() if each["entityType"]["S"] == "IdempotentAnswer"]
    assert ("body" in kept[0], "headers" in kept[0] and kept[0]["headers"]["M"]) in ((False, False), (False, {}))


async def test_an_answer_too_long_is_remembered_as_done(people):
    ada = await people.registered()
    made = uuid4()
    longest = LONGEST_BODY_KEPT - len(f'{{"id":"{made}","text":""}}')
    key = IdempotencyKey(ada.user_id, "longest", REQUEST)
    assert await create(people, key, made, text="x" * longest) == await create(people, key, made, text="x" * longest)
    key, made = IdempotencyKey(ada.user_id, "too long", REQUEST), uuid4()
    await create(people, key, made, text="x" * (longest + 1))
    with pytest.raises(AlreadyDone) as refused:
        await create(people, key, made, text="x" * (longest + 1))
    assert refused.value.made == str(made)


async def test_an_anonymous_caller_registers_once(busy_people):
    people = busy_people
    key = IdempotencyKey.by_nobody(str(UUID(int=5)), REQUEST)
    ended = await asyncio.gather(
        *(people.register("ada@example.org", PASSWORD, "Ada", key=key) for _ in range(WRITERS)),
        return_exceptions=True,
    )
    (done,) = [each for each in ended if not isinstance(each, BaseException)]
    assert {each.made for each in ended if isinstance(each, AlreadyDone)} == {str(done.user_id)}
    assert sum(isinstance(each, AlreadyDone) for each in ended) == WRITERS - 1
    assert (await people.kinds()).count("Account") == 1
    # Under another key it is another request, and refused for what it is.
    with pytest.raises(EmailTaken):
        await people.register("ada@example.org", PASSWORD, "Ada")


async def test_nothing_is_kept_for_an_account_that_is_gone(embedded_people):
    people = embedded_people
    ada = await people.registered()
    key = IdempotencyKey(ada.user_id, "key", REQUEST)
    await people.delete(ada, PASSWORD)
    with pytest.raises(AccountGone):
        await create(people, key)
    assert await people.rows() == []


async def test_changes_of_the_account_keep_their_answers_too(people):
    ada = await people.registered()

    def key(name):
        return IdempotencyKey(ada.user_id, name, REQUEST)

    await people.rename(ada, "Countess", 1, key=key("name"))
    await people.change_email(ada, "countess@example.org", PASSWORD, key=key("email"))
    ada = replace(ada, session_epoch=2)
    await people.change_password(ada, PASSWORD, "battery staple", key=key("password"))
    ada = await people.known(await people.signed_in("countess@example.org", "battery staple"))
    token = await people.make_token(ada, "Backup", key=key("token"))
    await people.revoke_token(ada, token.id, key=key("revocation"))
    await people.end_others(ada, key=key("others"))
    await people.sign_out(ada, key=key("end"))
    for name in ("name", "email", "password", "revocation", "others", "end"):
        assert (await people.answers.find(key(name))).status in (200, 204)
    with pytest.raises(AlreadyDone):
        await people.answers.find(key("token"))
    # A key that was used for something else stops the write.
    other = IdempotencyKey(ada.user_id, "name", ANOTHER)
    ada = await people.known(await people.signed_in("countess@example.org", "battery staple"))
    for attempt in (
        people.rename(ada, "Ada", 3, key=other),
        people.change_email(ada, "ada@example.org", "battery staple", key=other),
        people.change_password(ada, "battery staple", PASSWORD, key=other),
        people.make_token(ada, "Backup", key=other),
        people.sign_out(ada, key=other),
        people.sign_in("countess@example.org", "battery staple", key=other),
        people.register("ben@example.org", PASSWORD, "Ben", key=other),
    ):
        with pytest.raises(KeyReused):
            await attempt
    account = await people.account(ada.user_id)
    assert (account.name, account.email) == ("Countess", "countess@example.org")
    assert (await people.kinds()).count("ApiToken") == 0
    assert (await people.kinds()).count("Account") == 1


async def test_an_answer_to_somebody_who_asked_as_nobody_goes_with_their_account(people):
    key = IdempotencyKey.by_nobody("0f8fad5b-d9cb-469f-a165-70867728950e", REQUEST)
    made = await people.register("ada@example.org", PASSWORD, "Ada", key=key)
    ada = await people.known(made.token)
    # The same key again, of the same person as themselves, is another one.
    await people.store.transact(
        *people.answers.storing(IdempotencyKey(ada.user_id, key.value, REQUEST), StoredAnswer(status=200))
    )
    with pytest.raises(AlreadyDone) as done:
        await people.answers.find(key)
    assert done.value.made == str(ada.user_id)
    await people.delete(ada, PASSWORD)
    assert await people.rows() == []


async def test_a_reset_is_redeemed_once_and_its_answer_is_kept(people):
    ada = await people.registered()
    issued = await people.issue_reset("ada@example.org")
    key = IdempotencyKey.by_nobody("0f8fad5b-d9cb-469f-a165-70867728950e", REQUEST)
    await asyncio.gather(*(people.redeem(issued, "battery staple", key=key) for _ in range(5)))
    assert (await people.answers.find(key)).status == 204
    # A key that was used stops another reset, and is not mistaken for a link that is over.
    issued = await people.issue_reset("ada@example.org")
    await people.redeem(issued, "another staple", key=key)
    with pytest.raises(KeyReused):
        await people.redeem(issued, "another staple", key=replace_hash(key))
    assert (await people.account(ada.user_id)).session_epoch == 2


def replace_hash(key):
    return IdempotencyKey(key.caller, key.value, ANOTHER)


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
