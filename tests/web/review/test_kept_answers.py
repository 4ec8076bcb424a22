"""A kept answer is given again only to somebody who could still see what it holds."""

import pytest

from tests.web.contract.worlds import book_of


@pytest.fixture
async def shared(doors):
    ada, ben = await doors.join(), await doors.join("ben@example.org", "Ben")
    book = await book_of(doors, ada)
    await book.let_in(ben)
    return book, ben


async def test_whoever_was_put_out_is_not_given_the_answers_of_before(doors, shared):
    book, ben = shared
    note = await book.add("Ada's", text="For members")
    one = f"{book.notes}/{note['noteId']}"
    asked = [
        ("PATCH", one, {"title": "Ben's", "version": 1}, "change"),
        ("POST", book.notes, {"title": "Another"}, "add"),
    ]
    for method, path, body, key in asked:
        assert (await doors.ask(method, path, body, by=ben, idempotency_key=key)).status_code in (200, 201)
    await book.put_out(ben)
    for method, path, body, key in asked:
        again = await doors.ask(method, path, body, by=ben, idempotency_key=key)
        assert (again.status_code, again.json()["type"]) == (404, "/problems/not-found"), (method, path)
        assert "members" not in again.text
    await book.let_in(ben)
    for method, path, body, key in asked:
        assert (await doors.ask(method, path, body, by=ben, idempotency_key=key)).status_code in (200, 201)


async def test_whoever_deleted_and_left_is_told_again_that_it_is_done(doors, shared):
    """Where nothing is told but that it was done, nobody has to be let in to hear it again."""
    book, ben = shared
    note = await book.add("Ada's")
    gone = ("DELETE", f"{book.notes}/{note['noteId']}")
    assert (await doors.ask(*gone, by=ben, idempotency_key="k")).status_code == 204
    await book.put_out(ben)
    assert (await doors.ask(*gone, by=ben, idempotency_key="k")).status_code == 204
