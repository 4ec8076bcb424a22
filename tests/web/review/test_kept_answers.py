"""A kept answer is given again only to somebody who could still see what it holds."""

import pytest

from potluck.apps.shopping.app import ShoppingApp
from tests.web.contract.worlds import book_of
from tests.web.suites import API, bearer, signed_up, suite_on


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


async def test_nor_does_a_family_tell_whoever_was_removed(tmp_path):
    async with suite_on(tmp_path, (ShoppingApp,)) as (client, _):

        async def ask(method, path, body=None, by=None, key=None):
            headers = bearer(by) | ({} if key is None else {"idempotency-key": key})
            return await client.request(method, API + path, json=body, headers=headers)

        ada, ben = await signed_up(client), await signed_up(client, "ben@example.org", "Ben")
        family = f"/families/{(await ask('POST', '/families', {'name': 'Byron'}, ada)).json()['familyId']}"
        invited = (await ask("POST", f"{family}/invitations", {"role": "admin"}, ada)).json()
        assert (await ask("POST", "/invitations/accept", {"token": invited["token"]}, ben)).status_code == 200
        asked = [
            ("POST", "/shopping-list", {"name": "Tea"}),
            ("POST", "/shopping-list/bulk", {"lines": "Milk\nRye"}),
            ("POST", "/shopping-list/clear-purchased", None),
            ("POST", "/inventory", {"name": "Flour", "quantity": 1, "threshold": 0}),
            ("POST", "/stores", {"name": "Market"}),
            ("POST", "/locations", {"name": "Cellar"}),
            ("POST", "/invitations", {"role": "member"}),
            ("PATCH", "", {"name": "Lovelace", "version": 1}),
        ]
        for number, (method, path, body) in enumerate(asked):
            first = await ask(method, family + path, body, ben, f"k{number}")
            assert first.status_code in (200, 201), (path, first.text)
        assert (await ask("DELETE", f"{family}/members/{ben['userId']}", by=ada)).status_code == 204
        for number, (method, path, body) in enumerate(asked):
            again = await ask(method, family + path, body, ben, f"k{number}")
            assert again.status_code == 404, (path, again.text)


async def test_nor_is_anybody_told_of_a_member_who_is_none_any_more(tmp_path):
    """Their row stays, and nobody sees it: not in an answer of before either."""
    async with suite_on(tmp_path, (ShoppingApp,)) as (client, _):

        async def ask(method, path, body=None, by=None, **headers):
            return await client.request(method, API + path, json=body, headers=bearer(by) | headers)

        ada, ben = await signed_up(client), await signed_up(client, "ben@example.org", "Ben")
        family = f"/families/{(await ask('POST', '/families', {'name': 'Byron'}, ada)).json()['familyId']}"
        invited = (await ask("POST", f"{family}/invitations", {"role": "member"}, ada)).json()
        await ask("POST", "/invitations/accept", {"token": invited["token"]}, ben)
        one = f"{family}/members/{ben['userId']}"
        said = ("PATCH", one, {"role": "admin", "version": 1}, ada)
        assert (await ask(*said, **{"idempotency-key": "k"})).status_code == 200
        assert (await ask("DELETE", one, by=ada, **{"idempotency-key": "out"})).status_code == 204
        again = await ask(*said, **{"idempotency-key": "k"})
        assert (again.status_code, "Ben" in again.text) == (404, False)
        assert (await ask("DELETE", one, by=ada, **{"idempotency-key": "out"})).status_code == 204
