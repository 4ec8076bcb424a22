"""What an attack on the layer found: each of these once answered wrongly."""

from decimal import Decimal
from types import SimpleNamespace
from typing import Annotated, Any
from uuid import UUID

import httpx
import pytest
from msgspec.structs import replace

from potluck.apps.polls.app import PollsApp
from potluck.apps.polls.deletion import Deletions
from potluck.apps.shopping.access import FamilyAdmin, InFamily
from potluck.apps.shopping.app import ShoppingApp
from potluck.apps.shopping.entities import Member, Store
from potluck.apps.shopping.families import families
from potluck.people.invitations import InvitationRows
from potluck.table import Unavailable, absent, the, update
from potluck.table import check as checked
from potluck.validation import decode
from potluck.validation.errors import ValidationError
from potluck.validation.field_types import Amount
from potluck.web.access import SignedIn, Visitor
from potluck.web.actions import Actions
from potluck.web.app import App, Core
from potluck.web.commits import _Together
from potluck.web.endpoints import Call, Endpoints
from potluck.web.inputs import DeclarationError, Input
from potluck.web.writes import Writes
from tests.people.assembly import Clock
from tests.toy import NotesApp
from tests.toy.access import InBook
from tests.toy.entities import Book
from tests.web.contract.worlds import book_of
from tests.web.suites import API, ask, bearer, data, problem, signed_up, suite_on

FAMILY, ADA, BEN = UUID(int=1), UUID(int=2), UUID(int=3)


# --- who may ----------------------------------------------------------------------------------------------------------


def grant_to(access: Any, **ids: Any) -> Any:
    core: Any = SimpleNamespace(store=None)
    caller: Any = SimpleNamespace(user_id=ADA)
    return access(core, None, Visitor(principal=caller), {"family_id": FAMILY, **ids}).grant()


def member(**given: Any) -> Member:
    now = Clock()()
    known = {"name": "Ada", "email": "ada@example.org", "created_at": now, "updated_at": now}
    return Member(**{"family_id": FAMILY, "member_id": ADA, "role": "admin", **known, **given})


def test_the_right_to_follow_a_list_is_all_that_its_access_asks_for():
    """Whoever is no admin for a while is not told afterwards what only admins were shown meanwhile."""
    admin, demoted, removed = member(), member(role="member"), member(status="removed")
    held = {
        access: [grant_to(access, **ids).entitles(row) for row in (admin, demoted, removed)]
        for access, ids in ((InFamily, {}), (FamilyAdmin, {}))
    }
    assert held == {InFamily: [True, True, False], FamilyAdmin: [True, False, False]}
    leaving = families.member_actions.declared_by(families.remove_member).access
    own, others = grant_to(leaving, member_id=ADA), grant_to(leaving, member_id=BEN)
    assert (own.entitles(demoted), others.entitles(demoted)) == (True, False)


def test_every_check_of_a_row_goes_into_the_write_of_that_row():
    write = update(Book.by_id(FAMILY), the(Book.name).becomes("Others"), keep_version=True)
    counted, named = the(Book.admin_count) == 1, the(Book.name) == "Plans"
    (sent,) = _Together([checked(Book.by_id(FAMILY), when=each) for each in (counted, named)], [write], []).operations
    both = write.and_when(counted).and_when(named)
    assert sent.request(0) == both.request(0)


def test_no_part_of_a_path_takes_the_place_of_what_a_rule_is_given():
    class Odd(SignedIn):
        store: UUID  # type: ignore[assignment]

    odd: Actions[Any] = Actions(Odd, api="/odd/{store}")

    async def touch(at: Odd) -> Writes[None]:
        """Touch it."""
        return Writes(None)

    touch.__annotations__ = {"at": Odd, "return": Writes[None]}
    with pytest.raises(DeclarationError, match="store"):
        odd.action("POST")(touch)


async def test_a_path_may_name_more_than_an_access_needs(tmp_path):
    pages = Endpoints()

    @pages.get("/notes/{book_id}/pictures/{picture}")
    async def picture(call: Call) -> Any:
        at = await call.admit(InBook)
        return call.page("notes/books.html", books=[at.book_id], form=None, picture=call.text("picture"))

    def with_pictures(core: Core) -> App:
        app = NotesApp(core)
        app.endpoints = [*app.endpoints, pages]
        return app

    async with suite_on(tmp_path, (with_pictures,)) as (client, _):
        ada = await signed_up(client)
        made = data(await ask(client, "POST", "/books", {"name": "Plans"}, by=ada), 201)
        other = await client.get(f"/notes/{FAMILY}/pictures/cat.png", headers=bearer(ada))
        assert other.status_code == 404
        found = await client.get(f"/notes/{made['bookId']}/pictures/cat.png", headers=bearer(ada))
        assert found.status_code != 404


async def test_whoever_is_not_signed_in_is_told_so_whatever_key_they_send(doors):
    ada = await doors.join()
    book = await book_of(doors, ada)
    for key in ("k", "3f2b8c1e-0000-4000-8000-000000000000"):
        problem(await doors.ask("POST", book.notes, {"title": "A"}, idempotency_key=key), 401, "not-signed-in")
    # Also for a repeat of signing out: the key was theirs, and they are nobody now.
    assert (await doors.ask("DELETE", "/sessions/current", by=ada, idempotency_key="out")).status_code == 204
    problem(await doors.ask("DELETE", "/sessions/current", by=ada, idempotency_key="out"), 401, "not-signed-in")


# --- what was done ----------------------------------------------------------------------------------------------------


async def unavailable(*_: Any, **__: Any) -> None:
    raise Unavailable("the engine is too busy")


async def test_what_follows_a_write_and_fails_does_not_deny_the_write(tmp_path, monkeypatch):
    """503 says that nothing was written; the family and the poll were gone."""
    async with suite_on(tmp_path, (ShoppingApp, PollsApp)) as (client, _):
        ada = await signed_up(client)
        family = data(await ask(client, "POST", "/families", {"name": "Byron"}, by=ada), 201)["familyId"]
        asked = {"title": "Lunch", "candidates": ["Soup", "Salad"]}
        poll = data(await ask(client, "POST", "/polls", asked, by=ada), 201)["id"]
        monkeypatch.setattr(InvitationRows, "withdraw_all", unavailable)
        with monkeypatch.context() as patched:
            patched.setattr(Deletions, "begin", unavailable)
            gone = [await ask(client, "DELETE", each, by=ada) for each in (f"/families/{family}", f"/polls/{poll}")]
        assert [each.status_code for each in gone] == [204, 204]
        for each in (f"/families/{family}", f"/polls/{poll}"):
            assert (await ask(client, "GET", each, by=ada)).status_code == 404


# --- what is remembered -----------------------------------------------------------------------------------------------


@pytest.mark.accelerated
async def test_what_is_remembered_is_bounded_with_the_addresses_it_is_found_by(tmp_path):
    """An address can be eight thousand characters long and mean what a short one does."""
    cores: list[Core] = []

    def known(core: Core) -> App:
        cores.append(core)
        return NotesApp(core)

    async with suite_on(tmp_path, (known,)) as (client, _):
        ada = await signed_up(client)
        counted, grown = cores[0].store._answers, []
        for number in range(20):
            before = counted._bytes
            data(await ask(client, "GET", f"/books?{'&' * (7000 + number)}", by=ada))
            grown.append(counted._bytes - before)
        # A write of the suite's own (a consumer's lease) drops all answers, so that not every step has to grow.
        assert max(grown) > 7000


# --- garbage ----------------------------------------------------------------------------------------------------------


class Priced(Input):
    price: Annotated[Decimal, Amount(0, 100, places=2)]


@pytest.mark.parametrize("number", ["1e99999999999999999999", "-1e-99999999999999999999", "0e99999999999999999999"])
def test_a_number_that_no_decimal_can_be_is_a_wrong_field(number):
    with pytest.raises(ValidationError):
        decode(Priced, b'{"price":%s}' % number.encode())


@pytest.mark.parametrize("stated", ["\u00b2", "9" * 5000])
async def test_a_length_that_is_no_number_breaks_nothing(doors, stated):
    ada = await doors.join()
    headers = [*bearer(ada).items(), ("content-type", "application/json"), ("content-length", stated.encode("latin-1"))]
    answer = await doors.client.post(f"{API}/books", content=b'{"name":"Plans"}', headers=httpx.Headers(headers))
    assert answer.status_code < 500


@pytest.mark.parametrize("name", ["a\x00b", "a\nb", "a\u202eb", "\u200b", "a\u2028b"])
async def test_what_people_see_as_one_line_is_one_line_that_is_seen(tmp_path, name):
    async with suite_on(tmp_path, (ShoppingApp,)) as (client, _):
        ada = await signed_up(client)
        problem(await ask(client, "POST", "/families", {"name": name}, by=ada), 422, "invalid-fields")


async def test_what_was_named_so_before_is_read_and_can_be_changed(tmp_path):
    """Only what comes in is held to the rule; a name is free again as soon as its row has another."""
    cores: list[Core] = []

    def known(core: Core) -> App:
        cores.append(core)
        return ShoppingApp(core)

    async with suite_on(tmp_path, (known,)) as (client, _):
        ada = await signed_up(client)
        family = data(await ask(client, "POST", "/families", {"name": "Byron"}, by=ada), 201)["familyId"]
        now, old = Clock()(), "Al\u00addi\n\u202e"
        kept = Store(store_id=BEN, family_id=UUID(family), name=old, created_at=now, updated_at=now)
        await cores[0].store.put(kept, when=absent)
        path = f"/families/{family}/stores/{BEN}"
        assert data(await ask(client, "GET", path, by=ada))["name"] == old
        assert data(await ask(client, "PATCH", path, {"address": "Here", "version": 1}, by=ada))["name"] == old
        assert data(await ask(client, "PATCH", path, {"name": "Aldi", "version": 2}, by=ada))["name"] == "Aldi"
        problem(await ask(client, "PATCH", path, {"name": old, "version": 3}, by=ada), 422, "invalid-fields")
        await cores[0].store.put(replace(kept, store_id=ADA), when=absent)
