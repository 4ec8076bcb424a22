"""Leaving: the account goes, and with it everything that is only theirs, in every table."""

import asyncio
from datetime import timedelta
from functools import partial
from uuid import UUID, uuid4

import pytest

from potluck.engines.lagging import Lagging
from potluck.people.entities import Account, Departure, EmailAddress
from potluck.settings import Settings
from potluck.store import Store
from potluck.table import Unavailable, delete, put
from tests.patience import until
from tests.people.assembly import WRAPPERS, Clock
from tests.toy import NotesApp
from tests.toy.entities import Tally
from tests.web.people.doors import PASSWORD, doors_on
from tests.web.suites import bearer, signed_up, suite_on


async def everything_of_a_person(doors, ada):
    """One of everything that can be theirs; the ids that must be nowhere afterwards."""
    there = (await doors.sign_in()).json()["token"]
    program = (await doors.ask("POST", "/me/tokens", {"name": "Backup"}, by=ada)).json()
    book = (await doors.ask("POST", "/books", {"name": "Plans"}, by=program, idempotency_key="a book")).json()["bookId"]
    note = (await doors.ask("POST", f"/books/{book}/notes", {"title": "Fly"}, by=there)).json()["noteId"]
    await doors.invite("notes", book, "member", UUID(ada["userId"]), "ben@example.org")
    await doors.issue_reset("ada@example.org")
    await doors.ask("PUT", "/me/email", {"email": "ada@example.com", "password": PASSWORD}, by=ada)
    return [ada["userId"], book, note, "ada@example.org", "ada@example.com", "Fly"]


async def tally_is(doors, book, there):
    """Until the consumer has seen that the book has a note, or that it is gone."""
    store = Store(doors.recording, doors.clock)

    async def so_it_is():
        return (await store.get(Tally.of_book(UUID(book))) is not None) is there

    await until(so_it_is)


def left_over(rows):
    """What is in the tables but for how often a client tried, where a consumer is, and what is the store's own."""
    of_the_store = ("Throttle", "SecretCheck", "Administration")
    return [
        row
        for table, found in rows.items()
        for row in found
        if table != "BackgroundWork" and row.get("entityType", {}).get("S") not in of_the_store
    ]


async def test_a_deleted_account_leaves_no_row_in_any_table(doors):
    key = str(uuid4())
    body = {"email": "ada@example.org", "password": PASSWORD, "name": "Ada"}
    ada = (await doors.ask("POST", "/accounts", body, idempotency_key=key)).json()
    theirs = await everything_of_a_person(doors, ada)
    await tally_is(doors, theirs[1], there=True)
    assert left_over(await doors.rows())
    gone = await doors.ask("POST", "/me/delete", {"password": PASSWORD}, by=ada)
    assert gone.status_code == 204
    await tally_is(doors, theirs[1], there=False)
    rows = await doors.rows()
    assert left_over(rows) == []
    assert not any(each in repr(rows) for each in theirs)
    # The address is free again, and nothing of before is there.
    again = await doors.join()
    assert again["userId"] != ada["userId"]
    assert (await doors.ask("GET", "/me/tokens", by=again)).json()["items"] == []


async def test_who_stays_keeps_everything(doors):
    ada, ben = await doors.join(), await doors.join("ben@example.org", "Ben")
    book = (await doors.ask("POST", "/books", {"name": "Ours"}, by=ben)).json()["bookId"]
    await doors.ask("PUT", f"/books/{book}/members/{ada['userId']}", by=ben)
    await doors.ask("POST", f"/books/{book}/notes", {"title": "Ada's"}, by=ada)
    await doors.ask("POST", f"/books/{book}/notes", {"title": "Ben's"}, by=ben)
    assert (await doors.ask("POST", "/me/delete", {"password": PASSWORD}, by=ada)).status_code == 204
    notes = (await doors.ask("GET", f"/books/{book}/notes", by=ben)).json()["items"]
    assert [each["title"] for each in notes] == ["Ben's"]
    assert ada["userId"] not in repr(await doors.rows())


async def test_a_place_that_would_be_left_alone_is_named_and_nothing_goes(doors):
    ada, ben = await doors.join(), await doors.join("ben@example.org", "Ben")
    for name in ("Plans", "Letters"):
        book = (await doors.ask("POST", "/books", {"name": name}, by=ada)).json()["bookId"]
        await doors.ask("PUT", f"/books/{book}/members/{ben['userId']}", by=ada)
    with doors.written() as written:
        refused = await doors.ask("POST", "/me/delete", {"password": PASSWORD}, by=ada)
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/still-needed")
    assert sorted(refused.json()["places"]) == ["Letters", "Plans"]
    assert written == []


async def test_a_deletion_that_was_interrupted_is_asked_again(tmp_path):
    statuses = []
    for allowed in range(0, 40, 2):
        left = [10_000]

        class Failing:
            def __init__(self, engine):
                self.engine = engine

            async def call(self, operation, request):
                written = operation in ("BatchWriteItem", "TransactWriteItems", "DeleteItem", "UpdateItem", "PutItem")
                if written and "BackgroundWork" not in repr(request):
                    if left[0] <= 0:  # noqa: B023
                        raise Unavailable("interrupted")
                    left[0] -= 1  # noqa: B023
                return await self.engine.call(operation, request)

            async def changed(self, table, timeout):
                return await self.engine.changed(table, timeout)

            async def close(self):
                await self.engine.close()

        async with doors_on(tmp_path / str(allowed), wrap=Failing) as doors:
            ada = await doors.join()
            theirs = await everything_of_a_person(doors, ada)
            # Else that there is no tally may only mean that the consumer has still to make it.
            await tally_is(doors, theirs[1], there=True)
            left[0] = allowed
            first = await doors.ask("POST", "/me/delete", {"password": PASSWORD}, by=ada)
            left[0] = 10_000
            statuses.append(first.status_code)
            if first.status_code == 503:
                # Still signed in, with the same password.
                assert (await doors.ask("POST", "/me/delete", {"password": PASSWORD}, by=ada)).status_code == 204
            await doors.account_data.finish_departures()
            await tally_is(doors, theirs[1], there=False)
            assert left_over(await doors.rows()) == [], allowed
        if first.status_code == 204:
            break
    # Refused at every step of the way, until it was let through.
    assert statuses == [503] * (len(statuses) - 1) + [204]
    assert len(statuses) > 3


@pytest.mark.parametrize("wrapper", ["plain", "conflicting", "throttling"])
async def test_whatever_is_asked_while_the_account_goes_leaves_nothing_behind(tmp_path, wrapper):
    wrap = WRAPPERS[wrapper] or (lambda engine: engine)
    async with doors_on(tmp_path, wrap=wrap) as doors:
        ada = await doors.join()
        theirs = await everything_of_a_person(doors, ada)
        book = theirs[1]
        await tally_is(doors, book, there=True)

        async def meanwhile(each):
            await asyncio.sleep(0.002 * each)
            match each % 5:
                case 0:
                    await doors.ask("POST", "/books", {"name": "Late"}, by=ada)
                case 1:
                    await doors.ask(
                        "POST", f"/books/{book}/notes", {"title": "Late"}, by=ada, idempotency_key=f"{each}"
                    )
                case 2:
                    await doors.ask("POST", "/me/tokens", {"name": "Late"}, by=ada)
                case 3:
                    await doors.sign_in("ada@example.com")
                case 4:
                    await doors.ask("PATCH", "/me", {"name": f"Ada {each}", "version": 2}, by=ada)

        answers = await asyncio.gather(
            doors.ask("POST", "/me/delete", {"password": PASSWORD}, by=ada), *(meanwhile(each) for each in range(40))
        )
        if answers[0].status_code != 204:
            # A wrapper has refused it to the end; it is asked again.
            assert answers[0].status_code == 503, answers[0].text
            assert (await doors.ask("POST", "/me/delete", {"password": PASSWORD}, by=ada)).status_code == 204
        await doors.account_data.finish_departures()
        await tally_is(doors, book, there=False)
        left = left_over(await doors.rows())
        assert left == []


async def test_what_an_index_does_not_show_yet_goes_too(tmp_path, monkeypatch):
    lag = timedelta(seconds=0.3)
    async with doors_on(tmp_path, wrap=partial(Lagging, seconds=lag.total_seconds())) as doors:
        # As the suite sets it where indexes lag.
        monkeypatch.setattr(Settings, "indexes_lag_seconds", 1.5 * lag.total_seconds())
        ada = await doors.join()
        await doors.ask("POST", "/books", {"name": "Late"}, by=ada)
        assert (await doors.ask("POST", "/me/delete", {"password": PASSWORD}, by=ada)).status_code == 204
        assert left_over(await doors.rows()) == []


async def test_what_was_left_when_the_suite_stopped_goes_when_it_starts(tmp_path):
    """As if it had stopped between deleting the account and looking once more."""
    async with suite_on(tmp_path, (NotesApp,)) as (client, application):
        ada = await signed_up(client)
        book = (await client.post("/api/v1/books", json={"name": "Late"}, headers=bearer(ada))).json()["bookId"]
        store = Store(application.state.engine, Clock())
        user_id = UUID(ada["userId"])
        await store.transact(
            delete(Account.by_id(user_id)),
            delete(EmailAddress.by_folded("ada@example.org")),
            put(Departure(user_id=user_id)),
        )
    async with doors_on(tmp_path) as doors:
        await tally_is(doors, book, there=False)
        assert left_over(await doors.rows()) == []
