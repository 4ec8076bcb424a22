"""Who is calling: what a request carries names the caller, and what they may do is read anew on every request."""

import itertools

import pytest

from tests.engine_targets import EMBEDDED
from tests.web.contract.wire import sent
from tests.web.contract.worlds import bearer_headers, book_of, world_on
from tests.web.suites import API

JSON = ("content-type", "application/json")
ME = f"{API}/me"
HERE = "http://testserver"


async def cookie_of(doors, email="ada@example.org", scheme="http", headers=()):
    """What a browser is given that signs in by the page: the name, the value and the attributes."""
    body = f"email={email}&password=correct+horse".encode()
    origin = next((value for name, value in headers if name == "origin"), f"{scheme}://testserver")
    answer = await sent(
        doors.application,
        "POST",
        "/sign-in",
        [("content-type", "application/x-www-form-urlencoded"), ("origin", origin), *headers],
        body,
        scheme=scheme,
    )
    assert answer.status == 303, answer.body
    (given,) = answer.all_of("set-cookie")
    pair, *attributes = [part.strip() for part in given.split(";")]
    name, _, value = pair.partition("=")
    return name, value, {attribute.lower() for attribute in attributes}


async def who(doors, *headers, scheme="http"):
    """The e-mail address of whoever the suite takes the request for; None for nobody."""
    answer = await sent(doors.application, "GET", ME, headers, scheme=scheme)
    assert answer.status in (200, 401), answer.body
    if answer.status == 401:
        assert answer.json()["type"] == "/problems/not-signed-in"
        assert (answer.header("www-authenticate") or "").startswith("Bearer ")
        return None
    return answer.json()["email"]


async def test_a_token_or_a_cookie_names_the_caller_and_a_token_comes_first(doors):
    ada, _ = await doors.join(), await doors.join("ben@example.org", "Ben")
    name, value, _ = await cookie_of(doors, "ben@example.org")
    token, cookie = ("authorization", f"Bearer {ada['token']}"), ("cookie", f"{name}={value}")
    assert name == "potluck"
    assert await who(doors) is None
    assert await who(doors, token) == "ada@example.org"
    assert await who(doors, ("authorization", f"bEaReR  {ada['token']} ")) == "ada@example.org"
    assert await who(doors, cookie) == "ben@example.org"
    assert await who(doors, ("cookie", f"a=b; {name}={value}; c")) == "ben@example.org"
    assert await who(doors, token, cookie) == "ada@example.org"
    # A token that is wrong is no reason to take the cookie's word.
    for wrong in ("Bearer", "Bearer x", f"Basic {ada['token']}", ada["token"], "", f"Bearer {ada['token']}x"):
        assert await who(doors, ("authorization", wrong), cookie) is None
    assert await who(doors, token, ("authorization", f"Bearer {value}")) is None
    # Over https the name is another, which no page of plain http can set.
    assert await who(doors, cookie, scheme="https") is None
    assert await who(doors, ("cookie", f"__Host-potluck={value}"), scheme="https") == "ben@example.org"
    assert await who(doors, ("cookie", f"__Host-potluck={value}")) is None


MADE_UP = (
    "pls_",
    "pls_" + "0" * 64,
    "plt_" + "0" * 64,
    "pls_" + "é" * 64,
    "pls_" + "0" * 9000,
    "%00",
    "pls_\x00",
    "\xff",
)


async def test_a_made_up_secret_names_nobody(doors):
    for secret in MADE_UP:
        assert await who(doors, ("authorization", f"Bearer {secret}".encode())) is None
        assert await who(doors, ("cookie", f"potluck={secret}".encode())) is None


async def test_a_secret_of_one_kind_is_none_of_another(doors):
    ada = await doors.join()
    made = (await doors.ask("POST", "/me/tokens", {"name": "Backup"}, by=ada)).json()["token"]
    for secret in (made.replace("plt_", "pls_"), ada["token"].replace("pls_", "plt_"), made[4:], made.upper()):
        assert await who(doors, ("authorization", f"Bearer {secret}")) is None


async def test_what_ended_is_over_on_the_next_request(busy):
    ada = await busy.join()
    made = (await busy.ask("POST", "/me/tokens", {"name": "Backup"}, by=ada)).json()
    second = (await busy.sign_in()).json()
    assert await who(busy, ("authorization", f"Bearer {made['token']}")) == "ada@example.org"
    assert (await busy.ask("DELETE", f"/me/tokens/{made['id']}", by=ada)).status_code == 204
    assert await who(busy, ("authorization", f"Bearer {made['token']}")) is None
    assert (await busy.ask("POST", "/me/sessions/end-others", by=ada)).status_code == 204
    assert await who(busy, *bearer_headers(second)) is None
    assert await who(busy, *bearer_headers(ada)) == "ada@example.org"
    assert (await busy.ask("DELETE", "/sessions/current", by=ada)).status_code == 204
    assert await who(busy, *bearer_headers(ada)) is None


async def test_a_member_who_is_put_out_is_out_on_the_next_request_whatever_they_ask(busy):
    ada, ben = await busy.join(), await busy.join("ben@example.org", "Ben")
    book = await book_of(busy, ada)
    await book.let_in(ben)
    note = await book.add("Seen by both")
    one = f"{book.notes}/{note['noteId']}"
    listed = (await busy.ask("GET", book.notes, by=ben)).json()
    since = listed["position"]
    asked = [
        ("GET", book.path, None),
        ("GET", book.notes, None),
        ("GET", one, None),
        ("GET", f"{book.notes}/changes?since={since}", None),
        ("GET", f"{book.notes}/events", None),
        ("POST", book.notes, {"title": "Too late"}),
        ("PATCH", one, {"title": "Too late", "version": 1}),
        ("DELETE", one, None),
    ]
    await book.put_out(ben)
    before = await busy.rows()
    for method, path, body in asked:
        answer = await busy.ask(method, path, body, by=ben)
        assert (answer.status_code, answer.json()["type"]) == (404, "/problems/not-found"), (method, path)
    assert notes_in(await busy.rows()) == notes_in(before)


def notes_in(rows):
    return sorted(str(row) for name, table in rows.items() if name.endswith("Notes") for row in table)


# --- from which page ------------------------------------------------------------------------------------------------

SITES = (None, "same-origin", "same-site", "cross-site", "none", "", "Same-Origin")
ORIGINS = (None, HERE, "https://testserver", "http://evil.example", "http://testserver.evil.example", "null", "")
CARRIED = (
    "nothing",
    "cookie",
    "cookie of a poll",
    "token",
    "token and cookie",
    "token and cookie of a poll",
    "wrong token and cookie",
    "password",
    "two tokens",
    "empty token",
)
KNOWN = ("cookie", "token", "token and cookie", "token and cookie of a poll")
CALLS = (
    ("POST", f"{API}/books", b'{"name":"Plans"}'),
    ("PATCH", ME, b'{"name":"Ada","version":1}'),
    ("PUT", f"{API}/me/password", b'{"current":"?","new":"0123456789"}'),
    ("DELETE", f"{API}/me/tokens/3f2b8c1e-0000-4000-8000-000000000000", b""),
    ("POST", "/sign-out", b""),
)


def may_pass(site, origin, carried):
    """A token alone is what no browser adds by itself."""
    if carried == "token":
        return True
    if site is not None:
        return site == "same-origin"
    if origin is not None:
        return origin == HERE
    return "cookie" not in carried


async def test_what_changes_something_comes_from_our_own_pages_or_carries_a_token(doors):
    """Every unsafe method, from everywhere, with everything a request may carry."""
    ada = await doors.join()
    name, value, _ = await cookie_of(doors)
    carrying = {
        "nothing": [],
        "cookie": [("cookie", f"{name}={value}")],
        "token": bearer_headers(ada),
        "cookie of a poll": [("cookie", "potluck-poll-vote=x")],
        "token and cookie": [*bearer_headers(ada), ("cookie", f"{name}={value}")],
        "token and cookie of a poll": [*bearer_headers(ada), ("cookie", "a=b; potluck-poll-vote=x")],
        "wrong token and cookie": [("authorization", "Bearer x"), ("cookie", f"{name}={value}")],
        "password": [("authorization", "Basic QWRhOng=")],
        "two tokens": [*bearer_headers(ada), *bearer_headers(ada)],
        "empty token": [("authorization", "Bearer ")],
    }
    for (method, path, body), site, origin, carried in itertools.product(CALLS[:4], SITES, ORIGINS, CARRIED):
        headers = [JSON, *carrying[carried]]
        headers += [] if site is None else [("sec-fetch-site", site)]
        headers += [] if origin is None else [("origin", origin)]
        with doors.written() as written:
            answer = await sent(doors.application, method, path, headers, body)
        case = (method, site, origin, carried)
        refused = answer.status == 403 and answer.json()["type"] == "/problems/cross-site"
        assert refused is not may_pass(site, origin, carried), case
        if refused or carried not in KNOWN:
            assert written == [], case
            assert answer.status in (401, 403), case


async def test_a_form_of_another_site_is_refused_and_a_page_is_read_from_anywhere(doors):
    await doors.join()
    name, value, _ = await cookie_of(doors)
    cookie = ("cookie", f"{name}={value}")
    form = ("content-type", "application/x-www-form-urlencoded")
    for headers in ([("sec-fetch-site", "cross-site")], [("origin", "http://evil.example")], []):
        answer = await sent(doors.application, "POST", "/sign-out", [cookie, form, *headers])
        assert answer.status == 403
    for method in ("GET", "HEAD", "OPTIONS"):
        answer = await sent(doors.application, method, ME, [cookie, ("sec-fetch-site", "cross-site")])
        assert answer.status in (200, 204)
    # Said twice, each must be so: it is not for us to choose which of them a proxy has looked at.
    for header in ("sec-fetch-site", "origin"):
        good = {"sec-fetch-site": "same-origin", "origin": HERE}[header]
        for both in ((good, "cross-site"), ("cross-site", good)):
            answer = await sent(doors.application, "POST", "/sign-out", [cookie, form, *((header, x) for x in both)])
            assert answer.status == 403
    assert await who(doors, cookie) == "ada@example.org"


# --- cookies --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "scheme", "headers", "expected"),
    [
        ({}, "http", [], "potluck"),
        ({}, "https", [], "__Host-potluck"),
        ({"origin": "https://potluck.example"}, "http", [("origin", "https://potluck.example")], "__Host-potluck"),
        ({"origin": "http://potluck.example"}, "https", [("origin", "http://potluck.example")], "potluck"),
        (
            {"proxies": "127.0.0.1"},
            "http",
            [("x-forwarded-proto", "https"), ("origin", "https://testserver")],
            "__Host-potluck",
        ),
        # Nobody named it as a proxy, so it is not believed.
        ({}, "http", [("x-forwarded-proto", "https"), ("origin", "http://testserver")], "potluck"),
        (
            {"proxies": "10.0.0.0/8"},
            "http",
            [("x-forwarded-proto", "https"), ("origin", "http://testserver")],
            "potluck",
        ),
    ],
)
async def test_the_cookie_is_for_this_host_alone_and_out_of_reach_of_scripts(
    tmp_path, options, scheme, headers, expected
):
    from potluck.settings import Settings

    chosen = Settings.from_environment({f"POTLUCK_{name.upper()}": value for name, value in options.items()})
    async with world_on(EMBEDDED, tmp_path, origin=chosen.origin, proxies=chosen.proxies) as doors:
        await doors.join()
        name, value, attributes = await cookie_of(doors, scheme=scheme, headers=headers)
        assert name == expected
        assert {"httponly", "samesite=lax", "path=/"} <= attributes
        assert ("secure" in attributes) is name.startswith("__Host-")
        assert not any(attribute.startswith("domain") for attribute in attributes)
        assert await who(doors, ("cookie", f"{name}={value}"), *headers, scheme=scheme) == "ada@example.org"


async def test_signing_out_takes_the_cookie_away_and_ends_what_it_held(doors):
    await doors.join()
    name, value, _ = await cookie_of(doors)
    cookie = ("cookie", f"{name}={value}")
    answer = await sent(
        doors.application, "DELETE", f"{API}/sessions/current", [cookie, ("sec-fetch-site", "same-origin")]
    )
    assert answer.status == 204
    (taken,) = answer.all_of("set-cookie")
    assert taken.startswith(f"{name}=")
    assert "max-age=0" in taken.lower()
    assert value not in taken
    assert await who(doors, cookie) is None
