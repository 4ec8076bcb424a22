"""An invitation to an address is on the home page of the person who has verified it, and of no one else."""

from contextlib import asynccontextmanager
from urllib.parse import urlencode
from uuid import UUID, uuid4

import pytest

from potluck.apps.journal.app import JournalApp
from potluck.apps.shopping.app import ShoppingApp
from potluck.people.entities import Account, Invitation
from potluck.people.secrets import hash_of
from potluck.table import the
from tests.web.reading import BROWSER, Page, fields_of
from tests.web.suites import ask, bearer, data, signed_up, suite_on

FROM_HERE = BROWSER | {"sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded"}
ACCEPT = "/invitation/accept"


class Village:
    """Ada with a household, and others she can invite by their addresses."""

    def __init__(self, client, store):
        self.client, self.store = client, store

    async def person(self, name, *, verified=False, email=""):
        person = await signed_up(self.client, email or f"{name.lower()}@example.org", name)
        if verified:
            await self.verify(person)
        return person

    async def verify(self, person):
        row = Account.by_id(UUID(person["userId"]))
        await self.store.update(row, the(Account.email_verified).becomes(True), keep_version=True)

    async def household(self, ada):
        return data(await ask(self.client, "POST", "/families", {"name": "Lund Street 7"}, by=ada), 201)["familyId"]

    async def invite(self, ada, family, email):
        """The id of a new invitation, what stands in for its secret, and its secret."""
        sent = {"role": "member", "email": email}
        made = data(await ask(self.client, "POST", f"/families/{family}/invitations", sent, by=ada), 201)
        return made["id"], f"addressed:{made['id']}", made["token"]

    async def home(self, person):
        return (await self.client.get("/", headers=BROWSER | bearer(person))).text

    async def send(self, person, path, invitation):
        headers = FROM_HERE | (bearer(person) if person else {})
        return await self.client.post(path, content=urlencode({"invitation": invitation}), headers=headers)


@pytest.fixture
async def village(tmp_path):
    async with opened(tmp_path) as village:
        yield village


@asynccontextmanager
async def opened(folder):
    async with suite_on(folder, [ShoppingApp, JournalApp]) as (client, application):
        yield Village(client, application.state.core.store)


async def test_who_has_proven_the_address_joins_from_home_in_one_touch(village):
    ada, ben = await village.person("Ada"), await village.person("Ben", verified=True)
    family = await village.household(ada)
    # Another spelling of the same mailbox.
    _, text, secret = await village.invite(ada, family, "BEN@Example.org")
    home = await village.home(ben)
    assert "Ada invites you to Lund Street 7" in Page(home).words
    assert fields_of(home, ACCEPT) == {"invitation": text}
    joined = await village.send(ben, ACCEPT, text)
    assert (joined.status_code, joined.headers["location"]) == (303, f"/shopping/{family}")
    assert (await ask(village.client, "GET", f"/families/{family}", by=ben)).status_code == 200
    assert "invites you" not in Page(await village.home(ben)).words
    # It was the same invitation, so its link is used up.
    cyd = await village.person("Cyd")
    assert (await ask(village.client, "POST", "/invitations/accept", {"token": secret}, by=cyd)).status_code == 410


@pytest.mark.parametrize(
    ("typed", "proven"), [("ben@faß.example", "ben@fass.example"), ("ben@fass.example", "ben@xn--fa-hia.example")]
)
async def test_who_has_proven_an_address_like_it_is_someone_else(village, typed, proven):
    ada, ben = await village.person("Ada"), await village.person("Ben", verified=True, email=proven)
    id, text, _ = await village.invite(ada, await village.household(ada), typed)
    assert id not in await village.home(ben)
    assert (await village.send(ben, ACCEPT, text)).status_code == 410


async def test_a_mere_claim_to_the_address_shows_and_opens_nothing(village):
    ada, ben = await village.person("Ada"), await village.person("Ben")
    other = await village.person("Cyd", verified=True)
    family = await village.household(ada)
    id, text, secret = await village.invite(ada, family, "ben@example.org")
    for person in (ben, other, ada):
        assert id not in await village.home(person)
        page = await village.client.get(f"/invitation?id={id}", headers=BROWSER | bearer(person))
        assert "Lund Street 7" not in page.text
        for path in (ACCEPT, "/invitation/decline", "/invitation"):
            assert (await village.send(person, path, text)).status_code == 410
        for call in ("look", "accept"):
            assert (
                await ask(village.client, "POST", f"/invitations/{call}", {"token": text}, by=person)
            ).status_code == 410
        assert (await ask(village.client, "GET", f"/families/{family}", by=person)).status_code == (
            200 if person is ada else 404
        )
    # Nor does the id alone, to someone who is not signed in.
    village.client.cookies.clear()
    assert "Lund Street 7" not in (await village.client.get(f"/invitation?id={id}", headers=BROWSER)).text
    assert (await village.send(None, ACCEPT, text)).status_code in (303, 401)
    assert (await ask(village.client, "POST", "/invitations/look", {"token": text})).status_code == 410
    # All of that used nothing up.
    assert (await ask(village.client, "POST", "/invitations/accept", {"token": secret}, by=other)).status_code == 200


async def test_an_address_that_is_given_up_is_proven_no_longer(village):
    ada, ben = await village.person("Ada"), await village.person("Ben", verified=True)
    id, text, _ = await village.invite(ada, await village.household(ada), "ben@example.org")
    assert id in await village.home(ben)
    change = {"email": "benjamin@example.org", "password": "correct horse"}
    assert (await ask(village.client, "PUT", "/me/email", change, by=ben)).status_code in (200, 204)
    assert id not in await village.home(ben)
    assert (await village.send(ben, ACCEPT, text)).status_code == 410
    # Who has the address now has to prove it, too.
    next = await village.person("Bea", email="ben@example.org")
    assert id not in await village.home(next)
    assert (await village.send(next, ACCEPT, text)).status_code == 410


async def test_what_is_withdrawn_claimed_or_declined_is_off_the_home_page(village):
    ada, ben = await village.person("Ada"), await village.person("Ben", verified=True)
    family = await village.household(ada)
    withdrawn, declined, claimed = [await village.invite(ada, family, "ben@example.org") for _ in range(3)]
    await ask(village.client, "DELETE", f"/families/{family}/invitations/{withdrawn[0]}", by=ada)
    answer = await village.send(ben, "/invitation/decline", declined[1])
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    # Somebody registered with its secret, and only has to accept it.
    by_secret = Invitation.by_hash(hash_of(claimed[2]))
    await village.store.update(by_secret, the(Invitation.claimed_by).becomes(uuid4()))
    home = await village.home(ben)
    assert [id for id, *_ in (withdrawn, declined, claimed) if id in home] == []
    # Nobody is told, and the link still works.
    open_ones = data(await ask(village.client, "GET", f"/families/{family}/invitations", by=ada))
    assert declined[0] in str(open_ones)
    cyd = await village.person("Cyd")
    assert (await ask(village.client, "POST", "/invitations/accept", {"token": declined[2]}, by=cyd)).status_code == 200


async def test_inviting_writes_the_same_whether_the_address_has_an_account_or_not(village):
    ada = await village.person("Ada")
    await village.person("Ben", verified=True)
    family = await village.household(ada)
    answers = []
    for email in ("ben@example.org", "eve@example.org"):
        sent = {"role": "member", "email": email}
        answer = await ask(village.client, "POST", f"/families/{family}/invitations", sent, by=ada)
        answers.append((answer.status_code, sorted(answer.json()), sorted(answer.headers), len(answer.content)))
    assert answers[0] == answers[1]


async def test_an_invitation_that_asks_something_first_leads_to_its_page(village):
    ada, ben = await village.person("Ada"), await village.person("Ben", verified=True)
    made = data(await ask(village.client, "POST", "/journal/links", {"athleteEmail": "ben@example.org"}, by=ada), 201)
    home = await village.home(ben)
    assert ACCEPT not in home
    village.client.headers.update(bearer(ben) | FROM_HERE)
    assert f"/invitation?id={made['id']}" in home
    page = await village.client.get(f"/invitation?id={made['id']}")
    assert "Ada" in Page(page.text).words
    assert fields_of(page.text, "/invitation/decline") == {"invitation": f"addressed:{made['id']}"}
    asked = await village.client.post("/journal/invitation", content="")
    assert asked.status_code == 200, asked.text
    linked = await village.client.post("/journal/invitation", content="sees=fromToday")
    assert linked.status_code == 303
