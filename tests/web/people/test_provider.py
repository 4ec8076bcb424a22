"""Signing in with a real identity provider: by its subject, never by an address, and by nothing tampered with."""

import asyncio
import contextlib
import html
import json
import re
import zipfile
from io import BytesIO
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID

import pytest

from potluck.people.entities import Departure, Identity
from potluck.people.errors import PasswordsOff
from potluck.people.identities import hash_of_issuer, linking, unlinking
from potluck.people.throttling import SIGN_INS_FROM
from potluck.table import WriteRefused, put
from potluck.web.people import password_resets
from potluck.web.people import provider as provider_rules
from potluck.web.people.account import AccountData
from potluck.web.people.administration import Decision, decide
from tests.identity_provider.signing_in import CALLBACK, PEOPLE, changed, potluck_with, provider
from tests.people.operator_calls import invite_newcomer, issue_reset, operator_does
from tests.references import free_port
from tests.stores import rows_in
from tests.web.suites import API, PASSWORD, problem

pytestmark = pytest.mark.needs("oidc-provider")


@pytest.fixture(scope="module")
def issuer():
    with provider() as issuer:
        yield issuer


@pytest.fixture
async def potluck(issuer, tmp_path):
    async with potluck_with(issuer, tmp_path) as potluck:
        yield potluck


@pytest.fixture
async def ada(potluck):
    """A browser that is not signed in anywhere."""
    return await potluck.browser()


async def test_the_first_sign_in_makes_an_account_and_the_next_opens_it(potluck, ada):
    assert "Sign in with Our provider" in (await ada.get("/sign-in")).text
    first = await ada.sign_in(next="/account")
    assert (first.status_code, first.headers["location"]) == (303, "/sign-in/new")
    page = (await ada.get("/sign-in/new")).text
    assert 'value="Ada Lovelace"' in page
    assert 'value="ada@example.org"' in page
    assert await ada.me() is None
    made = await ada.post("/sign-in/new", name="Ada", email="Ada@Example.org")
    assert (made.status_code, made.headers["location"]) == (303, "/account")
    me = await ada.me()
    assert (me["name"], me["email"], me["emailVerified"], me["hasPassword"]) == ("Ada", "Ada@Example.org", True, False)
    elsewhere = await potluck.browser()
    there = await elsewhere.sign_in(next="/account#tokens")
    assert (there.status_code, there.headers["location"]) == (303, "/account#tokens")
    assert await elsewhere.me() == me


async def test_an_address_that_the_provider_has_not_verified_is_not_verified(ada):
    await ada.settle("ben")
    assert (await ada.me())["emailVerified"] is False


async def test_another_address_than_the_verified_one_is_not_verified(ada):
    await ada.settle("ada", email="somebody@example.org")
    assert (await ada.me())["emailVerified"] is False


async def test_a_verified_address_that_is_changed_is_not_verified_any_more(ada):
    await ada.settle()
    await ada.get(await ada.at_provider(await ada.begin("/account/identities/confirm")))
    assert (await ada.post("/account/email", email="ada@example.com", password="")).status_code == 303
    me = await ada.me()
    assert (me["email"], me["emailVerified"]) == ("ada@example.com", False)


async def test_someone_of_whom_the_provider_says_nothing_fills_the_form_in(ada):
    await ada.sign_in("cleo")
    refused = await ada.post("/sign-in/new", name="", email="")
    assert (refused.status_code, "Please enter a name of up to 100 characters" in refused.text) == (422, True)
    assert (await ada.post("/sign-in/new", name="Cleo", email="cleo@example.org")).status_code == 303
    assert (await ada.me())["name"] == "Cleo"


async def test_whatever_the_provider_says_at_whatever_length_leads_to_the_form(ada):
    dora = next(who for who in PEOPLE if who.startswith("d"))
    came = await ada.sign_in(dora, next="/" + "x" * 999)
    assert (came.status_code, came.headers["location"]) == (303, "/sign-in/new")
    assert f'value="{"É" * 100}"' in (await ada.get("/sign-in/new")).text
    made = await ada.post("/sign-in/new", name="Dora", email="dora@example.org")
    assert (made.status_code, made.headers["location"]) == (303, "/" + "x" * 999)
    assert (await ada.me())["emailVerified"] is False


async def test_of_several_who_sit_down_with_one_identity_at_once_one_makes_an_account(potluck):
    browsers = [await potluck.browser() for _ in range(4)]
    for browser in browsers:
        await browser.sign_in()
    made = await asyncio.gather(
        *(
            browser.post("/sign-in/new", name="Ada", email=f"ada{number}@example.org")
            for number, browser in enumerate(browsers)
        )
    )
    assert {answer.status_code for answer in made} <= {303, 409}
    known = [me["userId"] for browser in browsers if (me := await browser.me()) is not None]
    assert len(known) == sum(answer.status_code == 303 for answer in made) >= 1
    assert len(set(known)) == 1
    rows = [row["entityType"]["S"] for row in await rows_in(potluck.core.engine, "Accounts")]
    assert [rows.count(kind) for kind in ("Account", "EmailAddress", "Identity", "IdentityOfUser")] == [1, 1, 1, 1]


async def test_of_two_accounts_that_link_one_identity_at_once_one_gets_it(potluck):
    browsers = [await potluck.browser() for _ in range(2)]
    backs = []
    for number, browser in enumerate(browsers):
        await with_password(browser, f"ada{number}@example.org")
        backs.append(await browser.at_provider(await browser.begin("/account/identities/link", password=PASSWORD)))
    answers = await asyncio.gather(*(browser.get(back) for browser, back in zip(browsers, backs, strict=True)))
    assert sorted(answer.status_code for answer in answers) == [303, 409]


async def test_an_identity_that_was_linked_while_its_account_was_deleted_goes_with_it(potluck, ada):
    store, issuer, gone = potluck.core.store, potluck.core.people.provider.issuer, UUID(int=7)
    await store.transact(*linking(gone, issuer, "ada", potluck.clock.now), put(Departure(user_id=gone)))
    await AccountData(potluck.core, []).finish_departures()
    assert await store.get(Identity.by_subject(hash_of_issuer(issuer), "ada")) is None
    await ada.settle()


@pytest.mark.filterwarnings("ignore:EdDSA is deprecated")
@pytest.mark.parametrize("client_id", ["public", "EdDSA"])
async def test_public_clients_and_other_signatures_work(issuer, tmp_path, client_id):
    async with potluck_with(issuer, tmp_path, client_id) as potluck:
        ada = await potluck.browser()
        await ada.settle()
        assert (await ada.me())["name"] == "Ada"


async def test_a_shared_secret_signs_nobody_in(issuer, tmp_path):
    async with potluck_with(issuer, tmp_path, "hs256") as potluck:
        ada = await potluck.browser()
        refused = await ada.sign_in()
        assert (refused.status_code, "not valid" in refused.text) == (400, True)


async def test_a_wrong_client_secret_signs_nobody_in(issuer, tmp_path):
    async with potluck_with(issuer, tmp_path, client_secret="not the secret of this client at all") as potluck:
        assert (await (await potluck.browser()).sign_in()).status_code == 400


# --- accounts are never joined by an address --------------------------------------------------------------------------


async def with_password(browser, email="ada@example.org"):
    """Sign up with a password, in this browser."""
    made = await browser.post("/sign-up", name="Ada of old", email=email, password=PASSWORD)
    assert made.status_code == 303, made.text


async def test_an_address_that_has_an_account_opens_it_to_nobody(potluck, ada):
    await with_password(ada)
    stranger = await potluck.browser()
    await stranger.sign_in()
    refused = await stranger.post("/sign-in/new", name="Ada", email="ADA@example.org")
    assert (refused.status_code, "already has an account" in refused.text) == (409, True)
    assert await stranger.me() is None
    assert (await stranger.post("/sign-in/new", name="Ada", email="ada@example.net")).status_code == 303
    assert (await stranger.me())["userId"] != (await ada.me())["userId"]


async def test_a_person_links_their_identity_with_their_password_and_signs_in_with_it(potluck, ada):
    await with_password(ada)
    refused = await ada.post("/account/identities/link", password="not the password")
    assert (refused.status_code, "The password is wrong" in refused.text) == (403, True)
    linked = await ada.get(await ada.at_provider(await ada.begin("/account/identities/link", password=PASSWORD)))
    assert (linked.status_code, linked.headers["location"]) == (303, "/account?done=linked")
    assert "You can now sign in with Our provider" in (await ada.get("/account?done=linked")).text
    elsewhere = await potluck.browser()
    assert (await elsewhere.sign_in()).headers["location"] == "/"
    assert await elsewhere.me() == await ada.me()
    listed = (await ada.get(f"{API}/me/identities")).json()["items"]
    assert [(one["issuer"], one["subject"]) for one in listed] == [(potluck.core.people.provider.issuer, "ada")]


async def test_an_identity_signs_in_to_one_account_and_an_account_has_one_of_each_provider(potluck, ada):
    await ada.settle()
    other = await potluck.browser()
    await with_password(other, "other@example.org")
    again = await other.get(await other.at_provider(await other.begin("/account/identities/link", password=PASSWORD)))
    assert (again.status_code, "already signs in to another account" in again.text) == (409, True)
    linking = await other.begin("/account/identities/link", password=PASSWORD)
    other.leave_provider()
    assert (await other.get(await other.at_provider(linking, "ben"))).headers["location"] == "/account?done=linked"


async def test_an_identity_is_unlinked_where_a_password_remains_and_nowhere_else(potluck, ada):
    issuer = potluck.core.people.provider.issuer
    await ada.settle()
    refused = await ada.post("/account/identities/unlink", issuer=issuer)
    assert (refused.status_code, "choose a password first" in refused.text) == (409, True)
    await ada.get(await ada.at_provider(await ada.begin("/account/identities/confirm")))
    chosen = await ada.post("/account/password", current="", new=PASSWORD)
    assert (chosen.status_code, chosen.headers["location"]) == (303, "/account?done=password")
    for _ in range(2):
        assert (await ada.post("/account/identities/unlink", issuer=issuer)).status_code == 303
    elsewhere = await potluck.browser()
    assert (await elsewhere.sign_in()).headers["location"] == "/sign-in/new"
    signed_in = await elsewhere.post("/sign-in", email="ada@example.org", password=PASSWORD)
    assert (signed_in.status_code, await elsewhere.me()) == (303, await ada.me())


async def test_a_new_password_by_a_link_unlinks_what_an_intruder_may_have_linked(potluck, ada):
    await with_password(ada)
    intruder = await potluck.browser()
    await intruder.post("/sign-in", email="ada@example.org", password=PASSWORD)
    to_link = await intruder.begin("/account/identities/link", password=PASSWORD)
    assert (await intruder.get(await intruder.at_provider(to_link, "ben"))).headers[
        "location"
    ] == "/account?done=linked"
    secret = await issue_reset(potluck.core, "ada@example.org")
    assert (await ada.post("/reset", token=secret, new="a password of my own")).status_code == 303
    again = await potluck.browser()
    assert (await again.sign_in("ben")).headers["location"] == "/sign-in/new"
    assert await again.me() is None
    assert (await ada.post("/sign-in", email="ada@example.org", password="a password of my own")).status_code == 303
    to_link = await ada.begin("/account/identities/link", password="a password of my own")
    assert (await ada.get(await ada.at_provider(to_link, "ada"))).headers["location"] == "/account?done=linked"


async def test_an_identity_that_is_another_account_s_by_now_stays_with_it(potluck, ada, monkeypatch):
    await with_password(ada)
    ben = await potluck.browser()
    await with_password(ben, "ben@example.org")
    adas, bens = [UUID((await browser.me())["userId"]) for browser in (ada, ben)]
    store, issuer = potluck.core.store, potluck.core.people.provider.issuer
    await store.transact(*linking(adas, issuer, "ada", potluck.clock()))
    read = provider_rules.identities_of

    async def unlinked_in_another_window(store, of):
        found = await read(store, of)
        for identity in found:
            await store.transact(*unlinking(identity))
            await store.transact(*linking(bens, issuer, "ada", potluck.clock()))
        return found

    monkeypatch.setattr(provider_rules, "identities_of", unlinked_in_another_window)
    assert (await ada.post("/account/identities/unlink", issuer=issuer)).status_code == 303
    found = await store.get(Identity.by_subject(hash_of_issuer(issuer), "ada"))
    assert found is not None
    assert found.user_id == bens


async def test_what_is_linked_while_the_link_is_used_does_not_stay(potluck, ada, monkeypatch):
    await with_password(ada)
    user_id, issuer = UUID((await ada.me())["userId"]), potluck.core.people.provider.issuer
    read = password_resets.identities_of

    async def linked_just_after(store, of):
        found = await read(store, of)
        if not found:
            with contextlib.suppress(WriteRefused):
                await store.transact(*linking(user_id, issuer, "ben", potluck.clock()))
        return found

    monkeypatch.setattr(password_resets, "identities_of", linked_just_after)
    secret = await issue_reset(potluck.core, "ada@example.org")
    assert (await ada.post("/reset", token=secret, new="a password of my own")).status_code == 303
    assert await potluck.core.store.get(Identity.by_subject(hash_of_issuer(issuer), "ben")) is None


async def test_the_form_of_the_first_time_sent_twice_makes_one_account(potluck, ada):
    await ada.sign_in()
    kept = ada.kept()
    assert (await ada.post("/sign-in/new", name="Ada", email="ada@example.org")).status_code == 303
    me = await ada.me()
    ada.client.cookies = kept
    assert await ada.me() is None
    again = await ada.post("/sign-in/new", name="Ada", email="ada@example.org")
    assert (again.status_code, await ada.me()) == (303, me)


# --- who may register -------------------------------------------------------------------------------------------------


async def test_who_has_signed_in_meanwhile_is_not_asked_for_a_new_account(potluck, ada):
    address = await ada.begin()
    await with_password(ada, "with-password@example.org")
    await ada.get(await ada.at_provider(address))
    assert (await ada.get("/sign-in/new")).headers["location"] == "/account"
    assert (await ada.me())["email"] == "with-password@example.org"


async def test_nobody_new_comes_in_where_registration_is_closed(issuer, tmp_path):
    async with potluck_with(issuer, tmp_path, registration="closed") as potluck:
        ada = await potluck.browser()
        await ada.sign_in()
        assert "No new accounts right now" in (await ada.get("/sign-in/new")).text
        refused = await ada.post("/sign-in/new", name="Ada", email="ada@example.org")
        assert (refused.status_code, await ada.me()) == (403, None)


async def test_an_invitation_lets_one_person_in_where_it_is_needed(issuer, tmp_path):
    async with potluck_with(issuer, tmp_path, registration="invited") as potluck:
        secret = await invite_newcomer(potluck.core)
        ada, ben = await potluck.browser(), await potluck.browser()
        for browser, who in ((ada, "ada"), (ben, "ben")):
            await browser.sign_in(who)
            refused = await browser.post("/sign-in/new", name="Somebody", email=f"{who}@example.org")
            assert (refused.status_code, "An invitation is needed" in refused.text) == (403, True)
        fields = {"name": "Somebody", "invitation": secret}
        assert (await ada.post("/sign-in/new", email="ada@example.org", **fields)).status_code == 303
        assert (await ben.post("/sign-in/new", email="ben@example.org", **fields)).status_code == 410
        assert (await ada.me(), await ben.me()) != (None, None)
        assert await ben.me() is None


async def test_an_invitation_that_the_browser_carries_is_used(issuer, tmp_path):
    async with potluck_with(issuer, tmp_path, registration="invited") as potluck:
        ada = await potluck.browser()
        await ada.post("/invitation", invitation=await invite_newcomer(potluck.core))
        assert "Sign in with Our provider" in (await ada.get("/invitation")).text
        await ada.settle()
        assert (await ada.me())["name"] == "Ada"


async def test_someone_who_waits_for_approval_comes_in_once_it_is_given(issuer, tmp_path):
    async with potluck_with(issuer, tmp_path, registration="approval", first=True) as potluck:
        first, ben = await potluck.browser(), await potluck.browser()
        # The first account of a store is an admin's, and waits for no one.
        await first.settle()
        assert (await first.me())["name"] == "Ada"
        await ben.sign_in("ben")
        assert "An admin approves it" in (await ben.get("/sign-in/new")).text
        made = await ben.post("/sign-in/new", name="Ben", email="ben@example.org")
        assert (made.status_code, made.headers["location"], await ben.me()) == (303, "/sign-in?done=waiting", None)
        waiting = await ben.sign_in("ben")
        assert (waiting.status_code, "waiting" in waiting.text, await ben.me()) == (403, True, None)
        await operator_does(potluck.core, decide, Decision(email="ben@example.org", decided="approve"))
        assert (await ben.sign_in("ben")).headers["location"] == "/"
        await operator_does(potluck.core, decide, Decision(email="ben@example.org", decided="disable"))
        assert await ben.me() is None
        refused_now = await ben.sign_in("ben")
        assert (refused_now.status_code, await ben.me()) == (403, None)


# --- what is tampered with --------------------------------------------------------------------------------------------


def refused(answer):
    return (answer.status_code, "/problems/sign-in-failed" in answer.text) == (400, True)


async def test_an_answer_that_was_tampered_with_signs_nobody_in(ada):
    for tampering in (
        {"state": "0" * 64},
        {"state": None},
        {"state": ""},
        {"iss": "https://evil.example"},
        {"iss": None},
        {"code": "made-up"},
        {"code": None},
        {"error": "login_required"},
    ):
        back = await ada.at_provider(await ada.begin())
        assert refused(await ada.get(changed(back, **tampering))), tampering
        # It was this browser's one attempt: the true answer comes too late.
        assert refused(await ada.get(back)), tampering
        assert await ada.me() is None


async def test_a_question_that_was_tampered_with_signs_nobody_in(ada):
    for tampering in ({"nonce": "0" * 64}, {"nonce": None}, {"code_challenge": "x" * 43}):
        assert refused(await ada.get(await ada.at_provider(changed(await ada.begin(), **tampering)))), tampering
        assert await ada.me() is None


async def test_an_answer_is_good_once_even_for_a_browser_that_keeps_its_cookies(ada):
    back = await ada.at_provider(await ada.begin())
    kept = ada.kept()
    assert (await ada.get(back)).status_code == 303
    ada.client.cookies = kept
    assert refused(await ada.get(back))


async def test_an_answer_is_good_in_the_browser_that_asked_and_in_no_other(potluck, ada):
    mallory = await potluck.browser()
    back = await mallory.at_provider(await mallory.begin(), "ben")
    # Neither in a browser that asked nothing, nor in one that asked something of its own.
    assert refused(await ada.get(back))
    await ada.begin()
    assert refused(await ada.get(back))
    assert await ada.me() is None


async def test_a_code_of_another_sign_in_is_not_taken(potluck, ada):
    mallory = await potluck.browser()
    theirs = await mallory.at_provider(await mallory.begin(), "ben")
    code = dict(parse_qsl(urlsplit(theirs).query))["code"]
    own = await ada.at_provider(await ada.begin())
    assert refused(await ada.get(changed(own, code=code)))


async def test_a_sign_in_that_took_too_long_is_over(potluck, ada):
    back = await ada.at_provider(await ada.begin())
    potluck.clock.forward(minutes=10)
    assert refused(await ada.get(back))


async def test_a_page_of_another_site_begins_nothing(ada):
    for path in ("/sign-in/provider", "/account/identities/link", "/account/identities/confirm"):
        answer = await ada.client.post(f"http://testserver{path}", headers={"sec-fetch-site": "cross-site"})
        assert answer.status_code == 403


async def test_what_one_person_began_to_link_is_not_linked_to_the_next_at_the_same_browser(potluck, ada):
    await with_password(ada)
    back = await ada.at_provider(await ada.begin("/account/identities/link", password=PASSWORD))
    await ada.post("/sign-out")
    await with_password(ada, "next@example.org")
    assert refused(await ada.get(back))
    assert (await ada.get(f"{API}/me/identities")).json()["items"] == []


async def test_linking_needs_someone_who_is_signed_in(ada):
    await with_password(ada)
    back = await ada.at_provider(await ada.begin("/account/identities/link", password=PASSWORD))
    await ada.post("/sign-out")
    assert refused(await ada.get(back))


async def test_a_sign_in_leads_to_no_other_site(ada):
    await ada.settle()
    for next in ("//evil.example", "/\\evil.example", "https://evil.example/", "javascript:alert(1)", "/" + "x" * 1500):
        await ada.post("/sign-out")
        assert (await ada.sign_in(next=next)).headers["location"] == "/"


async def test_somebody_who_cancels_is_told_so_and_can_begin_again(ada):
    cancelled = await ada.sign_in(None)
    assert (cancelled.status_code, "Our provider did not sign you in" in cancelled.text) == (400, True)
    assert 'href="/sign-in"' in cancelled.text
    await ada.settle()


async def test_coming_back_is_throttled(ada):
    answers = [await ada.get(f"{CALLBACK}?state=x&code=y") for _ in range(3)]
    assert {answer.status_code for answer in answers} == {400}
    statuses = []
    for _ in range(SIGN_INS_FROM.amount + 1):
        address = await ada.begin()
        state = dict(parse_qsl(urlsplit(address).query))["state"]
        statuses.append((await ada.get(f"{CALLBACK}?state={state}&code=guess")).status_code)
    assert (set(statuses[:-1]), statuses[-1]) == ({400}, 429)


# --- without a password -----------------------------------------------------------------------------------------------


async def confirmed(browser, who="ada", next="/account"):
    return await browser.get(
        await browser.at_provider(await browser.begin("/account/identities/confirm", next=next), who)
    )


async def test_a_fresh_sign_in_takes_the_place_of_the_password_for_five_minutes(potluck, ada):
    await ada.settle()
    change = {"email": "ada@example.com", "password": ""}
    refused = await ada.post("/account/email", **change)
    assert (refused.status_code, "Confirm" in refused.text) == (403, True)
    assert (await ada.get("/account")).text.count("Confirm with Our provider") == 2
    assert (await confirmed(ada, next="/account#email")).headers["location"] == "/account#email"
    assert (await ada.post("/account/email", **change)).headers["location"] == "/account?done=email"
    potluck.clock.forward(minutes=5)
    assert (await ada.post("/account/email", email="ada@example.net", password="")).status_code == 403


async def test_no_password_fits_an_account_without_one(potluck, ada):
    await ada.settle()
    elsewhere = await potluck.browser()
    for password in ("", "None", PASSWORD):
        signed_in = await elsewhere.client.post(
            f"http://testserver{API}/sessions", json={"email": "ada@example.org", "password": password}
        )
        assert signed_in.status_code == 401
        deleted = await ada.post("/account/delete", password=password, sure="on")
        assert deleted.status_code == 403
    assert await ada.me() is not None


async def test_the_provider_is_asked_for_a_fresh_sign_in_and_an_older_one_does_not_count(ada):
    await ada.settle()
    address = await ada.begin("/account/identities/confirm")
    assert {"prompt": "login", "max_age": "0"}.items() <= dict(parse_qsl(urlsplit(address).query)).items()
    # Without the question, the provider remembers them and does not ask again. It then says nothing of the time.
    assert refused(await ada.get(await ada.at_provider(changed(address, prompt=None, max_age=None))))
    assert (await ada.post("/account/delete", password="", sure="on")).status_code == 403


async def test_a_fresh_sign_in_from_long_ago_does_not_count(potluck, ada):
    await ada.settle()
    potluck.clock.forward(minutes=2)
    assert refused(await confirmed(ada))


async def test_somebody_else_at_the_provider_confirms_nothing(ada):
    await ada.settle()
    ada.leave_provider()
    assert refused(await confirmed(ada, "ben"))
    assert (await ada.post("/account/delete", password="", sure="on")).status_code == 403


async def test_a_confirmation_is_of_one_session(potluck, ada):
    await ada.settle()
    await confirmed(ada)
    held = next(one for one in ada.client.cookies.jar if one.name == "potluck-confirmed")
    elsewhere = await potluck.browser()
    await elsewhere.sign_in()
    elsewhere.client.cookies.set("potluck-confirmed", held.value, domain=held.domain, path=held.path)
    assert (await elsewhere.post("/account/delete", password="", sure="on")).status_code == 403
    assert (await ada.post("/account/delete", password="", sure="on")).status_code == 303


async def test_an_admin_without_a_password_confirms_for_what_admins_do(issuer, tmp_path):
    async with potluck_with(issuer, tmp_path, first=True) as potluck:
        ada, ben = await potluck.browser(), await potluck.browser()
        await ada.settle()
        await with_password(ben, "ben@example.org")
        page = f"/people/{(await ben.me())['userId']}"
        refused_now = await ada.post(f"{page}/delete", password="", sure="on")
        assert (refused_now.status_code, "Confirm on your account" in refused_now.text) == (403, True)
        await confirmed(ada)
        reset = await ada.post(f"{page}/reset", password="")
        assert (reset.status_code, "/reset#plr_" in reset.text) == (200, True)
        assert (await ada.post(f"{page}/delete", password="", sure="on")).status_code == 303
        assert await ben.me() is None


async def test_an_account_that_is_deleted_leaves_no_identity_and_can_be_made_again(potluck, ada):
    await ada.settle()
    await confirmed(ada, next="/account/delete")
    left = await ada.post("/account/delete", password="", sure="on")
    assert (left.status_code, left.headers["location"]) == (303, "/goodbye")
    rows = [row["PK"]["S"] + row["SK"]["S"] for row in await rows_in(potluck.core.engine, "Accounts")]
    assert [row for row in rows if "IDENTITY" in row or "USER#" in row] == []
    await ada.settle()


async def test_the_export_has_the_identity(potluck, ada):
    await ada.settle()
    exported = await ada.post("/account/export")
    with zipfile.ZipFile(BytesIO(exported.content)) as whole:
        (identity,) = json.loads(whole.read("people.json"))["identities"]
    assert (identity["issuer"], identity["subject"]) == (potluck.core.people.provider.issuer, "ada")


# --- signing out ------------------------------------------------------------------------------------------------------


async def test_signing_out_here_offers_to_sign_out_there(ada):
    await ada.settle()
    out = await ada.post("/sign-out")
    assert (out.status_code, out.headers["location"], await ada.me()) == (303, "/signed-out", None)
    page = (await ada.get("/signed-out")).text
    address = html.unescape(re.search(r'href="([^"]+/session/end[^"]+)"', page)[1])
    assert dict(parse_qsl(urlsplit(address).query))["post_logout_redirect_uri"] == "http://testserver/signed-out"
    there = await ada.client.get(address)
    assert (there.status_code, "Sign out" in there.text) == (200, True)


async def test_someone_with_a_password_signs_out_as_ever(ada):
    await with_password(ada)
    assert (await ada.post("/sign-out")).headers["location"] == "/"


# --- without passwords ------------------------------------------------------------------------------------------------


async def test_where_passwords_are_off_nobody_signs_in_or_up_with_one(issuer, tmp_path):
    async with potluck_with(issuer, tmp_path) as potluck:
        ada = await potluck.browser()
        await with_password(ada)
        await ada.get(await ada.at_provider(await ada.begin("/account/identities/link", password=PASSWORD)))
        reset = await issue_reset(potluck.core, "ada@example.org")
    async with potluck_with(issuer, tmp_path, passwords=False) as potluck:
        ada = await potluck.browser()
        credentials = {"email": "ada@example.org", "password": PASSWORD}
        for path, sent in (
            ("/sessions", credentials),
            ("/accounts", {**credentials, "name": "Ada", "email": "new@example.org"}),
            ("/password-resets", {"token": reset, "new": PASSWORD}),
        ):
            answer = await ada.client.post(f"http://testserver{API}{path}", json=sent)
            problem(answer, 403, "passwords-off")
        assert (await ada.post("/sign-in", **credentials)).status_code == 403
        page = (await ada.get("/sign-in")).text
        assert ("Sign in with Our provider" in page, "Password" in page) == (True, False)
        assert (await ada.get("/sign-up?next=/polls")).headers["location"] == "/sign-in?next=/polls"
        with pytest.raises(PasswordsOff):
            await issue_reset(potluck.core, "ada@example.org")
        assert (await ada.sign_in()).headers["location"] == "/"
        assert 'id="password"' not in (await ada.get("/account")).text
        assert (await ada.post("/account/password", current=PASSWORD, new="battery staple")).status_code == 403
        # They cannot unlink what they sign in with, although they have a password.
        unlinking = await ada.post("/account/identities/unlink", issuer=potluck.core.people.provider.issuer)
        assert unlinking.status_code == 409
        await confirmed(ada)
        assert (await ada.post("/account/delete", password="", sure="on")).headers["location"] == "/goodbye"


async def test_without_a_provider_there_is_nothing_of_it(tmp_path):
    async with potluck_with("", tmp_path) as potluck:
        ada = await potluck.browser()
        assert "/sign-in/provider" not in (await ada.get("/sign-in")).text
        assert (await ada.post("/sign-in/provider")).status_code == 404
        assert (await ada.get(CALLBACK)).status_code == 404
        assert (await ada.get("/signed-out")).headers["location"] == "/"
        assert (await ada.get("/sign-in/new")).headers["location"] == "/sign-in"
        await with_password(ada)
        assert 'id="identities"' not in (await ada.get("/account")).text


# --- a provider that does not answer ----------------------------------------------------------------------------------


async def test_while_the_provider_does_not_answer_people_are_told_and_passwords_work(tmp_path):
    async with potluck_with(f"http://127.0.0.1:{free_port()}", tmp_path) as potluck:
        ada = await potluck.browser()
        refused = await ada.post("/sign-in/provider")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "30")
        assert "Our provider cannot be reached just now" in refused.text
        assert 'name="password"' in refused.text
        await with_password(ada)
        await ada.post("/sign-out")
        assert (await ada.post("/sign-in", email="ada@example.org", password=PASSWORD)).status_code == 303
