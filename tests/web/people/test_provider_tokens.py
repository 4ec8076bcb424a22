"""The API by access tokens of a real identity provider: verified here, and of no more use than a token of ours."""

import pytest

from tests.identity_provider.signing_in import potluck_with, provider, tokens_for
from tests.web.suites import API, ORIGIN, bearer, client_at, data, problem

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
    """A browser of someone who has come with the provider."""
    browser = await potluck.browser()
    await browser.settle()
    return browser


@pytest.fixture
async def program(potluck):
    async with client_at(potluck.application) as client:
        yield client


async def test_an_access_token_calls_for_the_person_whose_identity_it_names(ada, program, issuer):
    token = (await tokens_for(ada, issuer, "ada"))["access_token"]
    assert data(await program.get(f"{API}/me", headers=bearer(token))) == await ada.me()


async def test_it_cannot_manage_the_account(ada, program, issuer):
    token = (await tokens_for(ada, issuer, "ada"))["access_token"]
    for method, path, sent in (
        ("POST", "/me/tokens", {"name": "More"}),
        ("GET", "/me/tokens", None),
        ("GET", "/me/identities", None),
        ("PUT", "/me/email", {"email": "eve@example.org", "password": ""}),
        ("PUT", "/me/password", {"current": "", "new": "battery staple"}),
        ("POST", "/me/delete", {"password": ""}),
        ("DELETE", "/sessions/current", None),
    ):
        answer = await program.request(method, API + path, json=sent, headers=bearer(token))
        problem(answer, 403, "token-cannot")


async def test_someone_who_was_never_here_is_told_to_sign_in_once(ada, program, issuer):
    token = (await tokens_for(ada, issuer, "ben"))["access_token"]
    refused = problem(await program.get(f"{API}/me", headers=bearer(token)), 401, "unknown-identity")
    assert refused["detail"] == "This Our provider account has no account here: sign in once on the pages"


async def test_tokens_that_are_for_something_else_or_broken_get_the_usual_refusal(ada, program, issuer):
    tokens = await tokens_for(ada, issuer, "ada")
    another = (await tokens_for(ada, issuer, "ada", "https://another.example/api"))["access_token"]
    head, body, signature = tokens["access_token"].split(".")
    for token in (
        another,
        tokens["id_token"],
        f"{head}.{body}.",
        f"{head}.{body}.{signature[:-8]}AAAAAAAA",
        f"{another.split('.')[0]}.{another.split('.')[1]}.{signature}",
        f"{head}.{signature}.{body}",
        "a.b.c",
        "eyJhbGciOiJub25lIn0.e30.",
        ".." + "x" * 20_000,
    ):
        problem(await program.get(f"{API}/me", headers=bearer(token)), 401, "not-signed-in")


async def test_it_counts_no_longer_than_it_says(potluck, ada, program, issuer):
    token = (await tokens_for(ada, issuer, "ada"))["access_token"]
    for _ in range(2):
        data(await program.get(f"{API}/me", headers=bearer(token)))
    potluck.clock.forward(seconds=300 + 61)
    problem(await program.get(f"{API}/me", headers=bearer(token)), 401, "not-signed-in")


async def test_it_ends_with_the_link_to_the_account(potluck, ada, program, issuer):
    token = (await tokens_for(ada, issuer, "ada"))["access_token"]
    data(await program.get(f"{API}/me", headers=bearer(token)))
    await ada.get(await ada.at_provider(await ada.begin("/account/identities/confirm")))
    await ada.post("/account/password", current="", new="battery staple")
    await ada.post("/account/identities/unlink", issuer=issuer)
    problem(await program.get(f"{API}/me", headers=bearer(token)), 401, "unknown-identity")


async def test_tokens_of_our_own_work_as_ever(ada, program):
    # A browser names the site that its scripts call from.
    made = await ada.client.post(
        f"{ORIGIN}{API}/me/tokens", json={"name": "A script"}, headers={"sec-fetch-site": "same-origin"}
    )
    token = data(made, 201)["token"]
    assert data(await program.get(f"{API}/me", headers=bearer(token)))["name"] == "Ada"


async def test_without_an_audience_no_token_of_the_provider_is_taken(potluck, ada, issuer, tmp_path):
    token = (await tokens_for(ada, issuer, "ada"))["access_token"]
    async with (
        potluck_with(issuer, tmp_path / "other", audience=None) as other,
        client_at(other.application) as program,
    ):
        await (await other.browser()).settle()
        problem(await program.get(f"{API}/me", headers=bearer(token)), 401, "not-signed-in")


async def test_new_keys_of_the_provider_are_found_and_a_token_by_the_old_ones_ends_with_them(
    potluck, ada, program, issuer
):
    old = (await tokens_for(ada, issuer, "ada"))["access_token"]
    data(await program.get(f"{API}/me", headers=bearer(old)))
    await ada.client.post(f"{issuer}/test/rotate")
    new = (await tokens_for(ada, issuer, "ada"))["access_token"]
    # It looks for new keys at most twice a minute.
    problem(await program.get(f"{API}/me", headers=bearer(new)), 401, "not-signed-in")
    potluck.clock.forward(seconds=31)
    data(await program.get(f"{API}/me", headers=bearer(new)))
    potluck.clock.forward(seconds=1)
    await ada.post("/account/name", name="Ada L", version="1")
    problem(await program.get(f"{API}/me", headers=bearer(old)), 401, "not-signed-in")
    assert data(await program.get(f"{API}/me", headers=bearer(new)))["name"] == "Ada L"


async def test_the_provider_is_asked_nothing_once_its_keys_are_known(tmp_path):
    # One of its own, because in the end it answers nothing any more.
    with provider() as issuer:
        async with potluck_with(issuer, tmp_path) as potluck, client_at(potluck.application) as program:
            browser = await potluck.browser()
            await browser.settle()
            tokens = [(await tokens_for(browser, issuer, "ada"))["access_token"] for _ in range(2)]
            await browser.client.post(f"{issuer}/test/stop")
            for token in tokens:
                data(await program.get(f"{API}/me", headers=bearer(token)))
