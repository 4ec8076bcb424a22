import json
import re
import zipfile
from contextlib import asynccontextmanager
from io import BytesIO
from itertools import count
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from potluck.web.redirects import address_here as inside
from tests.people.assembly import Clock
from tests.people.operator_calls import invite, invite_newcomer, issue_reset
from tests.toy import NotesApp
from tests.web.reading import BROWSER, Page, fields_of
from tests.web.suites import API, PASSWORD, app_with, bearer, client_at, signed_up, suite_on

# What a browser says of a form that one of our own pages sent.
FROM_HERE = BROWSER | {"sec-fetch-site": "same-origin"}
COOKIE = "potluck"
NUMBERS = count(1)

pytestmark = pytest.mark.asyncio(loop_scope="module")


@asynccontextmanager
async def suite(folder, **options):
    """The suite with the toy; its application, and what its apps are given."""
    cores = []

    def looking(core):
        cores.append(core)
        return app_with("looking")(core)

    async with suite_on(folder, (NotesApp, looking), **options) as (_, application):
        yield application, cores[0]


@asynccontextmanager
async def browser(application, address="10.0.0.1", **options):
    """Somebody with a browser, at an address of their own."""
    async with client_at(application, address, **options) as client:
        client.headers.update(FROM_HERE)
        yield client


# One for all that only need somebody new in it.
@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened(tmp_path_factory):
    async with suite(tmp_path_factory.mktemp("suite")) as found:
        yield found


@pytest.fixture
def who():
    """What somebody types who was never here."""
    return {"name": "Ada", "email": f"ada{next(NUMBERS)}@example.org", "password": PASSWORD}


@pytest_asyncio.fixture(loop_scope="module")
async def visitor(opened):
    application, _ = opened
    async with browser(application, f"10.1.0.{next(NUMBERS)}") as client:
        yield client


@pytest_asyncio.fixture(loop_scope="module")
async def ada(visitor, who):
    assert (await visitor.post("/sign-up", data=who)).status_code == 303
    return visitor


def fields(page):
    return {each["name"]: each for each in Page(page.text).all("input", "textarea") if "name" in each}


def errors(page):
    """What is said of each wrong field, as a screen reader finds it."""
    by_id = dict(re.findall(r'<p class="error" id="([^"]+)">.*?<span>(.*?)</span>', page.text, re.S))
    wrong = [each for each in Page(page.text).all("input") if each.get("aria-invalid") == "true"]
    return {each["name"]: by_id[each["aria-describedby"]] for each in wrong}


async def known_as(client):
    answer = await client.get(f"{API}/me")
    return answer.json()["name"] if answer.status_code == 200 else None


# --- coming in -------------------------------------------------------------------------------------------------------


async def test_signing_up_signs_in_and_leads_on(visitor, who):
    answer = await visitor.post("/sign-up", data=who | {"next": "/account?done=name"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/account?done=name")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}=pls_")
    assert {"HttpOnly", "Path=/", "SameSite=lax"} <= set(cookie.split("; "))
    assert await known_as(visitor) == "Ada"
    # Who is signed in has nothing to do there any more.
    again = await visitor.get("/sign-up?next=/account")
    assert (again.status_code, again.headers["location"]) == (303, "/account")


async def test_someone_who_gives_no_name_is_called_by_the_beginning_of_their_address(visitor, who):
    del who["name"]
    assert (await visitor.post("/sign-up", data=who | {"email": f"mara.{who['email']}"})).status_code == 303
    assert await known_as(visitor) == f"Mara {who['email'].partition('@')[0].title()}"


@pytest.mark.parametrize("path", ["/sign-up", "/sign-in"])
async def test_the_first_field_has_the_focus_and_a_password_can_be_shown(visitor, path):
    page = await visitor.get(path)
    assert [name for name, each in fields(page).items() if "autofocus" in each] == ["email"]
    (shows,) = (each for each in Page(page.text).all("button") if "data-shows" in each)
    assert (shows["type"], shows["data-shows"], shows["aria-label"]) == ("button", "password", "Show password")


async def test_everything_wrong_is_said_beside_its_field_and_what_was_typed_is_kept(visitor):
    page = await visitor.post("/sign-up", data={"name": "\u0007", "email": "ada", "password": "short"})
    assert page.status_code == 422
    assert set(errors(page)) == {"name", "email", "password"}
    assert errors(page)["email"] == "Please enter an e-mail address, like ada@example.org."
    assert errors(page)["password"] == "Use 10 to 128 characters."
    assert fields(page)["email"]["value"] == "ada"
    assert "short" not in page.text
    # Each asks for the focus; browsers give it to the first.
    assert [name for name, each in fields(page).items() if "autofocus" in each] == ["email", "password", "name"]
    assert await known_as(visitor) is None


async def test_a_taken_address_is_said_beside_it(ada, who):
    await ada.post("/sign-out")
    page = await ada.post("/sign-up", data=who | {"name": "Another"})
    assert page.status_code == 409
    assert errors(page) == {"email": "This e-mail address already has an account"}
    assert fields(page)["name"]["value"] == "Another"


@pytest.mark.parametrize(
    ("path", "sent", "status"),
    [
        ("/sign-in", {"email": "ada@example.org", "password": "wrong password"}, 401),
        ("/sign-up", {"name": " ", "email": "ada", "password": "short"}, 422),
        ("/reset", {"token": "plr_" + "0" * 64, "new": "short"}, 422),
    ],
)
async def test_a_refused_form_of_a_person_who_is_signed_in_is_their_page(ada, path, sent, status):
    # A page of nobody would tell the person's other windows that they are signed out.
    person = Page((await ada.get("/account")).text).all("body")[0]["data-person"]
    refused = await ada.post(path, data=sent)
    assert (refused.status_code, bool(errors(refused)) or 'role="alert"' in refused.text) == (status, True)
    assert Page(refused.text).all("body")[0]["data-person"] == person != ""


async def test_signing_in_and_out(ada, who):
    answer = await ada.post("/sign-out")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    # Whatever pages kept in the browser goes as well.
    assert answer.headers["clear-site-data"] == '"storage"'
    assert await known_as(ada) is None
    credentials = {"email": who["email"], "password": PASSWORD, "next": "/notes"}
    answer = await ada.post("/sign-in", data=credentials)
    assert (answer.status_code, answer.headers["location"]) == (303, "/notes")
    assert await known_as(ada) == "Ada"


async def test_a_wrong_password_and_an_unknown_address_look_alike(ada, who):
    await ada.post("/sign-out")
    seen = []
    for email, password in ((who["email"], "wrong password"), ("who@example.org", "wrong password")):
        page = await ada.post("/sign-in", data={"email": email, "password": password})
        assert page.status_code == 401
        assert "wrong password" not in page.text
        assert fields(page)["email"]["value"] == email
        seen.append(page.text.replace(email, "…"))
    assert seen[0] == seen[1]
    assert 'role="alert"' in seen[0]


async def test_too_many_attempts_say_when_to_come_back(visitor):
    for _ in range(21):
        page = await visitor.post("/sign-in", data={"email": "ada@example.org", "password": "x" * 10})
    assert page.status_code == 429
    assert int(page.headers["retry-after"]) > 0
    assert "try again in" in Page(page.text).words


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil",
        "evil",
        "",
        "/\t/evil",
        "javascript:x",
        "/ä",
    ],
)
async def test_next_leads_only_inside_this_site(ada, address, who):
    assert inside(address) == "/"
    await ada.post("/sign-out")
    answer = await ada.post("/sign-in", data={"email": who["email"], "password": PASSWORD, "next": address})
    assert answer.headers["location"] == "/"


async def test_who_opens_their_account_signed_out_comes_back_to_it(visitor):
    for path in ("/account", "/account/delete"):
        answer = await visitor.get(path)
        assert (answer.status_code, answer.headers["location"]) == (303, f"/sign-in?next={path}")


async def test_a_form_that_another_site_sends_is_not_taken(ada):
    for headers in ({"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}):
        answer = await ada.post("/account/name", data={"name": "Eve", "version": "1"}, headers=headers)
        assert answer.status_code == 403
    assert await known_as(ada) == "Ada"


async def test_passwords_are_known_to_those_who_keep_them(ada, who):
    account = fields(await ada.get("/account"))
    assert account["current"]["autocomplete"] == "current-password"
    assert account["new"]["autocomplete"] == "new-password"
    assert account["username"]["value"] == who["email"]
    await ada.post("/sign-out")
    coming = fields(await ada.get("/sign-up"))
    assert [coming[name]["autocomplete"] for name in ("email", "password")] == ["username", "new-password"]
    back = fields(await ada.get("/sign-in"))
    assert [back[name]["autocomplete"] for name in ("email", "password")] == ["username", "current-password"]


async def test_no_page_of_theirs_is_kept_anywhere(ada):
    for path in ("/", "/account", "/account/delete", "/goodbye", "/forgotten", "/reset", "/invitation"):
        assert (await ada.get(path)).headers["cache-control"] == "no-store"
    answer = await ada.post("/account/name", data={"name": "Ada L", "version": "1"})
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("origin", "said"),
    [
        ("http://box.local:8000", True),
        ("http://192.168.1.7", True),
        ("http://localhost:8000", False),
        ("http://127.0.0.1:8000", False),
        ("http://[::1]:8000", False),
        ("https://potluck.example", False),
    ],
)
async def test_plain_http_is_said_to_keep_nothing_for_use_without_signal(opened, origin, said):
    async with browser(opened[0], origin=origin) as client:
        page = await client.get("/sign-in")
        assert ("doesn’t use https" in Page(page.text).words) is said


async def test_over_https_the_cookie_is_bound_to_this_host(opened, who):
    async with browser(opened[0], origin="https://here.example") as client:
        answer = await client.post("/sign-up", data=who)
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("__Host-potluck=pls_")
        assert "Secure" in cookie.split("; ")
        assert await known_as(client) == "Ada"


# --- by invitation, or not at all ------------------------------------------------------------------------------------


async def test_where_nobody_can_register_it_says_so(tmp_path, who):
    async with suite(tmp_path, registration="closed") as (application, _), browser(application) as client:
        page = await client.get("/sign-up")
        assert "No new accounts right now" in Page(page.text).words
        assert fields(page).keys() <= {"theme"}
        refused = await client.post("/sign-up", data=who)
        assert refused.status_code == 403
        assert "Create an account" not in Page((await client.get("/sign-in")).text).words


async def test_by_invitation_the_secret_is_asked_for_and_opens(tmp_path, who):
    async with suite(tmp_path, registration="invited") as (application, core), browser(application) as client:
        assert "data-from-link" in (await client.get("/sign-up")).text
        refused = await client.post("/sign-up", data=who)
        assert refused.status_code == 403
        assert errors(refused) == {"invitation": "An invitation is needed to register here"}
        wrong = await client.post("/sign-up", data=who | {"invitation": "pli_" + "0" * 64})
        assert wrong.status_code == 410
        made = await invite_newcomer(core)
        answer = await client.post("/sign-up", data=who | {"invitation": f" {made} "})
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert await known_as(client) == "Ada"


async def test_an_invitation_is_carried_through_signing_up_and_never_in_an_address(opened, who):
    application, core = opened
    async with browser(application) as client:
        ida = await signed_up(client, f"ida{next(NUMBERS)}@example.org", "Ida")
        book = (await client.post(f"{API}/books", json={"name": "Campfire"}, headers=bearer(ida))).json()["bookId"]
        made = await invite(core, "notes", book, "member", UUID(ida["userId"]))
        empty = await client.get("/invitation")
        assert "data-from-link" in empty.text

        held = await client.post("/invitation", data={"invitation": made.secret})
        assert (held.status_code, held.headers["location"]) == (303, "/invitation")
        page = await client.get("/invitation")
        assert "Ida invites you to Notes" in Page(page.text).words
        leads = {each["href"] for each in Page(page.text).all("a")}
        assert {"/sign-up?next=/invitation", "/sign-in?next=/invitation"} <= leads
        assert made.secret not in page.text

        joined = await client.post("/sign-up", data=who | {"next": "/invitation"})
        assert joined.headers["location"] == "/invitation"
        page = await client.get("/invitation")
        assert "/notes/invitation" in {each.get("action") for each in Page(page.text).all("form")}
        accepted = await client.post("/notes/invitation")
        assert accepted.headers["location"] == f"/notes/{book}"
        assert (await client.get(f"/notes/{book}")).status_code == 200
        # It is used up, and no longer carried.
        assert "potluck-invitation" not in client.cookies
        assert (await client.post("/invitation", data={"invitation": made.secret})).status_code == 410


async def test_the_page_of_your_own_invitation_has_no_button_to_join(opened, who):
    application, core = opened
    async with browser(application) as client:
        await client.post("/sign-up", data=who)
        me = (await client.get(f"{API}/me")).json()
        made = await invite(core, "notes", str(uuid4()), "member", UUID(me["userId"]))
        await client.post("/invitation", data={"invitation": made.secret})
        page = Page((await client.get("/invitation")).text)
        assert "This is your own invitation" in page.words
        assert "/notes/invitation" not in {each.get("action") for each in page.all("form")}


# --- a forgotten password --------------------------------------------------------------------------------------------


async def test_a_forgotten_password_is_a_matter_between_people(visitor):
    words = Page((await visitor.get("/forgotten")).text).words
    assert "Ask the person who runs this Potluck" in words
    assert "potluck reset-password" in words


async def test_a_link_sets_a_new_password_once_and_signs_out_everywhere(opened, who):
    application, core = opened
    async with browser(application) as client:
        await client.post("/sign-up", data=who)
        page = await client.get("/reset")
        # Without a script it is copied by hand; it is a field like any other, of a form that is posted.
        assert fields(page)["token"]["type"] == "text"
        secret = await issue_reset(core, who["email"])
        short = await client.post("/reset", data={"token": secret, "new": "short"})
        assert (short.status_code, set(errors(short))) == (422, {"new"})
        wrong = await client.post("/reset", data={"token": "plr_" + "0" * 64, "new": "quite another one"})
        assert (wrong.status_code, set(errors(wrong))) == (410, {"token"})
        answer = await client.post("/reset", data={"token": secret, "new": "quite another one"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?done=reset")
        assert await known_as(client) is None
        assert "Your new password is set" in Page((await client.get("/sign-in?done=reset")).text).words
        assert (await client.post("/reset", data={"token": secret, "new": "quite another one"})).status_code == 410
        back = await client.post("/sign-in", data={"email": who["email"], "password": "quite another one"})
        assert back.status_code == 303


# --- being here ------------------------------------------------------------------------------------------------------


async def test_a_name_is_changed_and_the_page_says_so_once_it_is_loaded_anew(ada):
    answer = await ada.post("/account/name", data={"name": "Ada Lovelace", "version": "1"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/account?done=name")
    page = await ada.get(answer.headers["location"])
    assert "People now see you as Ada Lovelace." in Page(page.text).words
    assert fields(page)["version"]["value"] == "2"


async def test_a_name_that_changed_twice_shows_both_and_either_can_stay(ada):
    await ada.post("/account/name", data={"name": "Ada here", "version": "1"})
    page = await ada.post("/account/name", data={"name": "Ada there", "version": "1"})
    assert page.status_code == 409
    assert "You also changed your name somewhere else. Which version do you want to keep?" in Page(page.text).words
    assert {"Ada here", "Ada there"} <= {each.get("value") for each in Page(page.text).all("input")}
    chosen = fields_of(page.text, "/account/name")
    edited = await ada.post("/account/name", data={**chosen, "keep:name": "theirs", "edit-first": "true"})
    assert fields_of(edited.text, "/account/name")["name"] == "Ada here"
    assert await known_as(ada) == "Ada here"
    chosen |= {"keep:name": "mine"}
    assert (await ada.post("/account/name", data=chosen)).status_code == 303
    assert await known_as(ada) == "Ada there"


async def test_who_changes_the_password_is_asked_about_their_tokens(ada):
    change = {"current": PASSWORD, "new": "quite another one"}
    assert "endTokens" not in fields(await ada.get("/account"))
    for name in ("Backup", "Display"):
        await ada.post("/account/tokens", data={"name": name, "key": str(uuid4())})
    page = await ada.get("/account")
    assert "checked" in fields(page)["endTokens"]
    assert "Revoke my API tokens too" in Page(page.text).words
    assert "Backup" in page.text
    # As browsers send it: the hidden field alone, where the box is not ticked.
    wrong = await ada.post("/account/password", data={**change, "current": "not that one", "endTokens": "false"})
    assert "checked" not in fields(wrong)["endTokens"]
    stay = await ada.post("/account/password", data={**change, "endTokens": "false"})
    assert "2 API tokens still work." in Page((await ada.get(stay.headers["location"])).text).words
    back = {"current": "quite another one", "new": PASSWORD, "endTokens": ["false", "true"]}
    end = await ada.post("/account/password", data=back)
    page = await ada.get(end.headers["location"])
    assert "still work" not in page.text
    assert "Backup" not in page.text


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/account/email", {"email": "somebody@new.example", "password": PASSWORD}),
        ("/account/password", {"current": PASSWORD, "new": "quite another one"}),
        ("/account/sessions/end-others", {}),
    ],
)
async def test_a_new_address_or_password_signs_out_every_other_browser(opened, who, path, sent):
    application, _ = opened
    async with browser(application) as here, browser(application, f"10.2.0.{next(NUMBERS)}") as there:
        await here.post("/sign-up", data=who)
        await there.post("/sign-in", data={"email": who["email"], "password": PASSWORD})
        assert await known_as(there) == "Ada"
        answer = await here.post(path, data=sent)
        assert answer.status_code == 303
        assert await known_as(here) == "Ada"
        assert await known_as(there) is None
        page = await here.get(answer.headers["location"])
        assert 'class="done"' in page.text
        assert "Sign out everywhere else" not in page.text


@pytest.mark.parametrize(
    ("path", "sent", "status", "wrong"),
    [
        ("/account/email", {"email": "nobody", "password": PASSWORD}, 422, "email"),
        ("/account/email", {"email": "taken@example.org", "password": PASSWORD}, 409, "email"),
        ("/account/email", {"email": "ada@new.example", "password": "not that one"}, 403, "password"),
        ("/account/password", {"current": "not that one", "new": "quite another one"}, 403, "current"),
        ("/account/password", {"current": PASSWORD, "new": "short"}, 422, "new"),
        ("/account/name", {"name": "", "version": "1"}, 422, "name"),
        ("/account/tokens", {"name": "", "key": "one"}, 422, "name"),
        ("/account/delete", {"password": "not that one", "sure": "on"}, 403, "password"),
    ],
)
async def test_what_is_refused_stands_beside_its_field_and_changes_nothing(ada, path, sent, status, wrong):
    # Somebody has this address.
    await ada.post(f"{API}/accounts", json={"email": "taken@example.org", "password": PASSWORD, "name": "Ida"})
    before = (await ada.get(f"{API}/me")).json()
    page = await ada.post(path, data=sent)
    assert page.status_code == status
    assert wrong in errors(page)
    for secret in ("current", "password", "new"):
        if secret in sent:
            assert sent[secret] not in page.text
    assert (await ada.get(f"{API}/me")).json() == before


async def test_a_token_is_shown_once_and_a_page_sent_again_makes_no_second(ada):
    sent = {"name": "Kitchen display", "key": fields(await ada.get("/account"))["key"]["value"]}
    page = await ada.post("/account/tokens", data=sent)
    token = re.search(r"plt_[0-9a-f]{64}", page.text)[0]
    assert f'data-copy="{token}"' in page.text
    assert (await ada.get(f"{API}/me", headers=bearer(token))).status_code == 200
    again = await ada.post("/account/tokens", data=sent)
    assert "plt_" not in again.text
    assert "already created this token" in Page(again.text).words
    listed = (await ada.get(f"{API}/me/tokens")).json()["items"]
    assert [each["name"] for each in listed] == ["Kitchen display"]
    assert "plt_" not in (await ada.get("/account")).text

    revoked = await ada.post(f"/account/tokens/{listed[0]['id']}/revoke")
    assert (revoked.status_code, revoked.headers["location"]) == (303, "/account?done=token")
    assert (await ada.get(f"{API}/me", headers=bearer(token))).status_code == 401
    # Revoked in another window already: it is as they wish.
    assert (await ada.post(f"/account/tokens/{listed[0]['id']}/revoke")).status_code == 303


async def test_an_api_token_opens_no_account_page(ada):
    made = (await ada.post(f"{API}/me/tokens", json={"name": "Script"})).json()
    for method, path in (("GET", "/account"), ("POST", "/account/name"), ("POST", "/account/export")):
        answer = await ada.request(method, path, headers=bearer(made["token"]), data={"name": "Eve", "version": "1"})
        assert (method, path, answer.status_code) in {
            ("GET", "/account", 403),
            ("POST", "/account/name", 403),
            ("POST", "/account/export", 200),
        }


async def test_everything_that_is_theirs_comes_as_a_zip(ada):
    book = await ada.post("/notes", data={"name": "Campfire"})
    await ada.post(f"{book.headers['location']}/notes", data={"title": "Firewood"})
    answer = await ada.post("/account/export")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    assert "attachment" in answer.headers["content-disposition"]
    with zipfile.ZipFile(BytesIO(answer.content)) as file:
        assert file.testzip() is None
        assert json.loads(file.read("people.json"))
        assert b"Firewood" in file.read("notes.json")


# --- leaving ---------------------------------------------------------------------------------------------------------


async def test_nobody_can_sign_out_before_the_page_is_ready_to_ask_what_waits(ada):
    text = (await ada.get("/account")).text
    script = re.search(r"<script [^>]*/sign-out\.[^>]*>", text)
    assert 'blocking="render"' in script[0]
    assert script.start() < text.index("</head>") < text.index('action="/sign-out"')


async def test_leaving_asks_twice_and_then_nothing_is_left_to_sign_in_to(ada, who):
    unsure = await ada.post("/account/delete", data={"password": PASSWORD})
    assert unsure.status_code == 422
    assert "Tick the box" in Page(unsure.text).words
    assert "clear-site-data" not in unsure.headers
    answer = await ada.post("/account/delete", data={"password": PASSWORD, "sure": "on"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/goodbye")
    assert answer.headers["clear-site-data"] == '"storage"'
    assert COOKIE not in ada.cookies
    assert "Your account is deleted" in Page((await ada.get("/goodbye")).text).words
    back = await ada.post("/sign-in", data={"email": who["email"], "password": PASSWORD})
    assert back.status_code == 401


async def test_who_is_still_needed_is_told_where(ada):
    ida = await signed_up(ada, f"ida{next(NUMBERS)}@example.org", "Ida")
    book = (await ada.post("/notes", data={"name": "Campfire"})).headers["location"].rpartition("/")[2]
    assert (await ada.put(f"{API}/books/{book}/members/{ida['userId']}")).status_code == 204
    page = await ada.post("/account/delete", data={"password": PASSWORD, "sure": "on"})
    assert page.status_code == 409
    assert "You’re still needed" in Page(page.text).words
    assert "Campfire" in Page(page.text).words
    assert await known_as(ada) == "Ada"


async def test_a_session_that_ended_meanwhile_leads_to_signing_in(tmp_path, who):
    clock = Clock()
    async with suite(tmp_path, clock=clock) as (application, _), browser(application) as client:
        await client.post("/sign-up", data=who)
        clock.forward(days=31)
        page = await client.post("/account/name", data={"name": "Late", "version": "1"})
        assert page.status_code == 401
        assert "/sign-in" in {each["href"] for each in Page(page.text).all("a")}
