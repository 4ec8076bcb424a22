"""What is compressed, and what never is: an answer that may have a secret and what another site made a browser send."""

import gzip
import re

import brotli
import pytest
import pytest_asyncio

from potluck.apps.polls.app import PollsApp
from potluck.apps.shareables.app import ShareablesApp
from potluck.web import SealedCookie
from potluck.web.access import Visitor
from potluck.web.assets import assets_of
from potluck.web.http.compression import QUICKLY, SMALLEST, accepted
from tests.toy.app import NotesApp
from tests.web.suites import API, PASSWORD, ask, bearer, data, signed_up, suite_on

together = pytest.mark.asyncio(loop_scope="module")

OWN = {"sec-fetch-site": "same-origin"}
LONG = "Take the long way round. " * 100
PAGE = "/style"


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared(tmp_path_factory):
    """A suite in which Ada has a note and a poll that are long enough to be compressed."""
    apps = [NotesApp, PollsApp, ShareablesApp]
    async with suite_on(tmp_path_factory.mktemp("compression"), apps) as (client, application):
        ada = await signed_up(client)
        book = data(await ask(client, "POST", "/books", {"name": "Kitchen"}, by=ada), 201)["bookId"]
        note = {"title": "Way", "text": LONG}
        note_id = data(await ask(client, "POST", f"/books/{book}/notes", note, by=ada), 201)["noteId"]
        poll = {"title": "Where?", "candidates": [f"{number}: {LONG[:60]}" for number in range(20)]}
        poll_id = data(await ask(client, "POST", "/polls", poll, by=ada), 201)["id"]
        assets = assets_of([app.templates for app in apps])
        yield Shared(client, application, assets, ada, f"{API}/books/{book}/notes", note_id, f"{API}/polls/{poll_id}")


class Shared:
    def __init__(self, client, application, assets, ada, notes, note_id, poll):
        self.client = client
        self.application = application
        self.assets = assets
        self.ada = ada
        self.notes = notes
        self.note = f"{notes}/{note_id}"
        self.poll = poll

    async def get(self, path, coding="br", *, method="GET", cookies=None, **headers):
        self.client.cookies.clear()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if cookies:
            named["cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
        return await self.client.request(method, path, headers={"accept-encoding": coding, **named})

    async def poll_as(self, coding, **headers):
        return await self.get(self.poll, coding, **bearer(self.ada), **headers)


def coding(answer):
    return answer.headers.get("content-encoding")


@pytest.mark.parametrize(
    ("header", "best"),
    [
        ("gzip, deflate, br, zstd", "br"),
        ("GZIP", "gzip"),
        ("br;q=0, gzip;q=0.5", "gzip"),
        ("br; q=0.0, *", "gzip"),
        ("*", "br"),
        ("*;q=0", None),
        ("identity", None),
        ("", None),
        ("deflate, zstd", None),
    ],
)
def test_the_coding_is_the_best_that_the_caller_accepts(header, best):
    assert accepted(header.encode()) == best


@together
@pytest.mark.parametrize(("named", "opened"), [("br", brotli.decompress), ("gzip", gzip.decompress)])
async def test_json_and_pages_arrive_smaller_and_as_they_were(shared, named, opened):
    for path, headers in ((shared.note, bearer(shared.ada)), (PAGE, {}), ("/schema/openapi.json", {})):
        plain = await shared.get(path, "identity", **headers)
        async with shared.client.stream("GET", path, headers={"accept-encoding": named, **headers}) as answer:
            raw = b"".join([part async for part in answer.aiter_raw()])
        assert coding(plain) is None
        assert coding(answer) == named
        assert opened(raw) == plain.content
        assert len(raw) < len(plain.content) / 2
        assert int(answer.headers["content-length"]) == len(raw)
        assert "accept-encoding" in answer.headers["vary"]
        assert "accept-encoding" in plain.headers["vary"]


@together
async def test_the_api_document_and_its_page_take_less_than_100_kb(shared):
    for path in ("/schema", "/schema/openapi.json"):
        assert int((await shared.get(path)).headers["content-length"]) < 100_000


@together
async def test_what_is_short_or_refused_is_sent_as_it_is(shared):
    short = await shared.get("/livez")
    missing = await shared.get("/nowhere", accept="text/html")
    assert len(short.content) < SMALLEST < len(missing.content)
    assert coding(short) is coding(missing) is None


@together
async def test_a_script_is_compressed_once_and_a_typeface_not_again(shared):
    assets = shared.assets
    script = await shared.get(assets.address("js/kit/live.js"))
    font = await shared.get(assets.address("vendor/figtree/figtree-latin.woff2"))
    assert coding(script) == "br"
    assert script.headers["vary"] == "accept-encoding"
    assert "immutable" in script.headers["cache-control"]
    assert coding(font) is None
    assert "vary" not in font.headers


@together
async def test_a_head_request_is_answered_as_its_get(shared):
    full, head = [await shared.get(PAGE, method=method) for method in ("GET", "HEAD")]
    same = ("content-encoding", "content-type", "vary", "cache-control")
    assert [head.headers[name] for name in same] == [full.headers[name] for name in same]


@together
async def test_a_range_of_a_compressed_answer_is_the_whole(shared):
    answer = await shared.get(shared.assets.address("js/kit/live.js"), range="bytes=0-9")
    assert answer.status_code == 200
    assert "accept-ranges" not in answer.headers


# --- ETags -----------------------------------------------------------------------------------------------------------


@together
async def test_each_coding_has_a_strong_etag_of_its_own_and_all_are_recognised(shared):
    tags = {named: (await shared.poll_as(named)).headers["etag"] for named in ("identity", "br", "gzip")}
    assert not any(tag.startswith("W/") for tag in tags.values())
    assert len({*tags.values()}) == 3
    for tag in tags.values():
        answer = await shared.poll_as("br", if_none_match=tag)
        assert (answer.status_code, answer.headers["etag"]) == (304, tag)
        assert "content-encoding" not in answer.headers
    assert (await shared.poll_as("br", if_none_match='"1-zip"')).status_code == 200


@together
async def test_a_weak_etag_is_the_same_in_every_coding(shared):
    listed = [await shared.get(shared.notes, named, **bearer(shared.ada)) for named in ("identity", "br")]
    plain, small = (answer.headers["etag"] for answer in listed)
    assert plain == small
    assert plain.startswith("W/")
    again = await shared.get(shared.notes, "br", **bearer(shared.ada), if_none_match=small)
    assert again.status_code == 304


@together
async def test_a_change_can_be_based_on_a_compressed_answer(shared):
    tag = (await shared.poll_as("br")).headers["etag"]
    headers = {**bearer(shared.ada), "if-match": tag}
    changed = await shared.client.patch(shared.poll, json={"title": "Where to?"}, headers=headers)
    assert changed.status_code == 200, changed.text
    again = await shared.client.patch(shared.poll, json={"title": "Where?"}, headers=headers)
    assert again.status_code == 412


# --- cached answers --------------------------------------------------------------------------------------------------


@together
async def test_the_compressed_form_of_a_cached_answer_is_kept_with_it(shared, monkeypatch):
    first = await shared.get(shared.note, **bearer(shared.ada))

    def never(body):
        raise AssertionError("compressed twice")

    monkeypatch.setitem(QUICKLY, "br", never)
    again = await shared.get(shared.note, **bearer(shared.ada))
    assert (again.headers["etag"], again.content) == (first.headers["etag"], first.content)
    found = shared.application.state.fast_path.find(
        {
            "type": "http",
            "method": "GET",
            "path": shared.note,
            "query_string": b"",
            "headers": [(b"accept-encoding", b"br"), (b"authorization", bearer(shared.ada)["authorization"].encode())],
        }
    )
    assert found is not None
    assert brotli.decompress(found[1]) == first.content


# --- secrets ---------------------------------------------------------------------------------------------------------


@together
async def test_nothing_that_answers_a_write_or_a_form_is_compressed(shared):
    made = await shared.client.post(
        shared.notes, json={"title": "Echo", "text": LONG}, headers={**bearer(shared.ada), "accept-encoding": "br"}
    )
    refused = await shared.client.post(
        "/sign-in", data={"email": "ada", "password": "x" * 12}, headers={**OWN, "accept-encoding": "br"}
    )
    assert made.status_code == 201
    assert len(made.content) > SMALLEST < len(refused.content)
    assert coding(made) is coding(refused) is None


@together
@pytest.mark.parametrize(
    ("site", "query", "is_compressed"),
    [
        ("same-origin", "", True),
        ("none", "", True),
        ("same-origin", "?q=guess", True),
        ("cross-site", "", False),
        ("same-site", "", False),
        ("cross-site", "?q=guess", False),
        (None, "", True),
        (None, "?q=guess", False),
    ],
)
async def test_what_another_site_made_a_browser_read_is_not_compressed(shared, site, query, is_compressed):
    headers = {} if site is None else {"sec_fetch_site": site}
    answer = await shared.get(PAGE + query, cookies={"potluck-session": "x"}, **headers)
    assert answer.status_code == 200
    assert (coding(answer) == "br") is is_compressed
    # Without cookies there is nothing of anyone's to guess.
    assert coding(await shared.get(PAGE + query, **headers)) == "br"


@together
async def test_a_page_that_shows_a_secret_is_not_compressed_by_anyone(shared):
    shared.client.cookies.clear()
    new = {"entity": "checklist", "name": "Camp", "items": "Tents", "asks": "true", "viewPasscode": "ember-4242"}
    answer = await shared.client.post("/shareables", data=new, headers={**OWN, "accept-encoding": "br"})
    assert answer.status_code == 303, re.sub(r"\s+", " ", answer.text)[:2000]
    card = await shared.client.get(answer.headers["location"], headers={**OWN, "accept-encoding": "br"})
    assert "ember-4242" in card.text
    assert coding(card) is None
    assert card.headers["cache-control"] == "no-store, no-transform"
    assert PASSWORD not in card.text


def test_a_page_that_reads_a_secret_from_a_cookie_counts_as_showing_it():
    class Held:
        def get(self, name):
            return "plk-1" if name == "potluck-new-key" else ""

    visitor = Visitor(cookies=Held())
    assert SealedCookie("potluck-other", shown=True).value(visitor) == ""
    assert not visitor.shows_secret
    assert SealedCookie("potluck-new-key", shown=True).value(visitor) == "plk-1"
    assert visitor.shows_secret
