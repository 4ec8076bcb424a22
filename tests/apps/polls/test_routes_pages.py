"""The HTML door of polls: cookies that carry keys, forms without a script, and who is shown what."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import get_args
from uuid import uuid4

import pytest
import segno

from potluck.apps.polls.fields import Method
from potluck.apps.polls.pages.ballot_form import BallotForm, ranked_in, read_ballot
from potluck.apps.polls.pages.poll_form import as_lines, read_lines
from potluck.web.forms import decode_form
from potluck.web.qr import QUIET, qr_code
from tests.apps.polls.doors import CANDIDATES, FROM_HERE, Calls, calls_on, data

LAKE, HUT, CAMP = CANDIDATES

HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')


@pytest.fixture
async def calls(tmp_path: Path) -> AsyncIterator[Calls]:
    async with calls_on(tmp_path) as calls:
        yield calls


async def send(client, path, status=303, **fields):
    """Send a form; where it leads."""
    answer = await client.post(path, data=fields, headers=FROM_HERE)
    assert answer.status_code == status, answer.text
    return answer.headers.get("location", ""), answer


async def made(client, **fields):
    """A poll made on the page; its address."""
    fields = {"title": "Where to?", "candidates": "\n".join(CANDIDATES)} | fields
    where, _ = await send(client, "/polls", **fields)
    return where.removesuffix("/share")


async def text(client, path, status=200):
    answer = await client.get(path, headers={"accept": "text/html"})
    assert answer.status_code == status, answer.text
    return answer.text


async def test_a_poll_made_without_an_account_is_looked_after_by_the_same_browser(calls):
    async with calls.browser() as here, calls.browser() as there:
        poll = await made(here)
        (key,) = set(re.findall(r"pla_[0-9a-f]{64}", await text(here, f"{poll}/share")))
        assert "pla_" not in (await text(here, f"{poll}/share")).replace("begins with pla_", "")
        assert "Close the poll" in await text(here, f"{poll}/manage")
        # Anybody else is asked for the key, and it opens what it opened.
        assert "Close the poll" not in await text(there, f"{poll}/manage")
        _, refused = await send(there, f"{poll}/manage", 403, key="pla_" + "0" * 64)
        assert "Only the poll’s creator may do this" in refused.text
        await send(there, f"{poll}/manage", key=key)
        assert "Close the poll" in await text(there, f"{poll}/manage")
        # It is sent to no other poll.
        other = await made(here, title="Another")
        assert "Close the poll" not in await text(there, f"{other}/manage")


async def test_nobody_else_looks_after_a_poll(calls):
    async with calls.browser() as here, calls.browser() as there:
        poll = await made(here)
        before = await calls.rows()
        fields = {"title": "X", "candidates": "A\nB", "version": "1", "count": "1"}
        for verb in ("close", "reopen", "duplicate", "delete", "codes", "recount", "edit"):
            await send(there, f"{poll}/{verb}", 403, **fields)
        for page in ("edit", "delete"):
            await text(there, f"{poll}/{page}", 403)
        assert await calls.rows() == before


async def test_a_vote_is_remembered_and_can_be_changed_and_withdrawn(calls):
    async with calls.browser() as here, calls.browser() as there:
        poll = await made(here)
        await text(here, poll)
        assert await send(here, f"{poll}/vote", **{"rank-2": "1", "rank-1": "2"})
        page = await text(here, f"{poll}/thanks")
        (key,) = set(re.findall(r"ple_[0-9a-f]{96}", page))
        assert page.index(HUT) < page.index(LAKE)
        assert key not in await text(here, f"{poll}/thanks")
        # Sent twice, the first one counts.
        where, _ = await send(here, f"{poll}/vote", **{"rank-3": "1"})
        assert where == poll
        assert "Change vote" in await text(here, poll)
        # Another browser is another voter, and knows nothing of this vote without its link.
        assert "Change vote" not in await text(there, poll)
        await send(there, f"{poll}/mine", 403, key=key[:-1] + ("0" if key[-1] != "0" else "1"))
        await send(there, f"{poll}/mine", key=key)
        assert "Change vote" in await text(there, poll)
        await send(there, f"{poll}/vote/change", **{"rank-3": "1"})
        page = await text(there, f"{poll}/thanks")
        assert "Your vote has been changed" in page
        assert f'<li dir="auto">{CAMP}</li>' in page
        where, _ = await send(there, f"{poll}/vote/withdraw")
        assert where == poll
        assert "Your vote has been withdrawn" in await text(there, poll)
        found = data(await calls.ask("GET", f"{poll}/results"))
        assert found["votes"] == 0
        # A browser that has the key of a vote that is gone may vote; so it does when it sends that form twice.
        assert "Change vote" not in await text(here, poll)
        where, _ = await send(here, f"{poll}/vote/withdraw")
        assert where == poll


async def test_a_vote_cannot_be_withdrawn_from_what_is_closed(calls):
    async with calls.browser() as here:
        poll = await made(here)
        await text(here, poll)
        await send(here, f"{poll}/vote", **{"rank-1": "1"})
        await send(here, f"{poll}/close")
        where, _ = await send(here, f"{poll}/vote/withdraw")
        assert where == f"{poll}/results"
        assert data(await calls.ask("GET", f"{poll}/results"))["votes"] == 1


async def test_a_poll_is_opened_again_until_a_time_that_is_still_to_come(calls):
    async with calls.browser() as here:
        poll = await made(here, expires="2040-01-01T13:00")
        await send(here, f"{poll}/close")
        # The time that it had is still to come, and so is offered again.
        assert 'value="2040-01-01T13:00"' in await text(here, f"{poll}/manage")
        _, again = await send(here, f"{poll}/reopen", 422, expires="2039-12-31T10:00")
        assert "Choose a day and a time in the future." in again.text
        assert 'value="2039-12-31T10:00"' in again.text
        _, again = await send(here, f"{poll}/reopen", 422, expires="whenever")
        assert "Choose a day and a time" in again.text
        assert data(await calls.ask("GET", poll))["status"] == "closed"
        # What a script adds has the offset of the person's own clock.
        await send(here, f"{poll}/reopen", expires="2040-01-05T10:00", expiresAt="2040-01-05T09:00:00.000Z")
        found = data(await calls.ask("GET", poll))
        assert (found["status"], found["expiresAt"]) == ("open", "2040-01-05T09:00:00.000Z")
        calls.clock.forward(days=9)
        page = await text(here, f"{poll}/manage")
        assert "Reopen poll" in page
        # What has passed is not offered; without a time it is open until it is closed.
        assert "2040-01-05T" not in page.partition("<h2")[2].partition("Reopen poll")[0]
        await send(here, f"{poll}/reopen", expires="", expiresAt="")
        found = data(await calls.ask("GET", poll))
        assert (found["status"], found["expiresAt"]) == ("open", None)


async def test_a_ballot_that_cannot_be_read_is_shown_again_as_it_was(calls):
    async with calls.browser() as here:
        poll = await made(here)
        _, again = await send(here, f"{poll}/vote", 422, **{"rank-1": "1", "rank-2": "1"})
        assert f"{LAKE} and {HUT} have the same number, 1." in again.text
        assert again.text.count('<option value="1" selected>') == 2
        _, again = await send(here, f"{poll}/vote", 422, code="")
        assert "Rank at least one candidate" in again.text


async def test_a_ballot_that_was_opened_before_the_candidates_changed_counts_for_nobody_else(calls):
    async with calls.browser() as here, calls.browser() as there:
        poll = await made(here)
        opened = dict(HIDDEN.findall(await text(there, poll)))
        # Numbers on a form mean candidates; between opening and sending they may have come to mean others.
        edited = {"title": "Where to?", "candidates": "\n".join(reversed(CANDIDATES)), "version": "1"}
        await send(here, f"{poll}/edit", **edited)
        _, again = await send(there, f"{poll}/vote", 409, **opened, **{"rank-1": "1"})
        assert "The candidates have changed" in again.text
        assert " selected>" not in again.text
        assert data(await calls.ask("GET", f"{poll}/results"))["votes"] == 0
        # What else happens to a poll makes no ballot invalid.
        reopened = dict(HIDDEN.findall(again.text))
        await send(here, f"{poll}/close")
        await send(here, f"{poll}/reopen", expires="")
        await send(there, f"{poll}/vote", **reopened, **{"rank-1": "1"})
        assert data(await calls.ask("GET", f"{poll}/results"))["winners"] == [CANDIDATES[-1]]


@pytest.mark.parametrize("round", ["0", "7", "²", "-1", "9" * 5_000])
async def test_a_round_that_never_was_shows_one_that_was(calls, round):
    poll = await calls.poll()
    await calls.vote(poll)
    async with calls.browser() as here:
        assert CANDIDATES[0] in await text(here, f"/polls/{poll['id']}/results?round={round}")


async def test_whoever_is_not_admitted_is_told_what_to_do(calls):
    async with calls.browser() as here:
        poll = await made(here, voterPolicy="accounts")
        assert f"/sign-in?next={poll}" in await text(here, poll)
        where, _ = await send(here, f"{poll}/vote", **{"rank-1": "1"})
        assert where == f"/sign-in?next={poll}"
        poll = await made(here, voterPolicy="codes")
        _, refused = await send(here, f"{poll}/vote", 403, **{"rank-1": "1", "code": "AAAA"})
        assert "This poll requires one of its codes" in refused.text
        assert re.search(r'<input id="code"[^>]* autofocus', refused.text)
        _, refused = await send(here, f"{poll}/codes", 422, count="0")
        assert re.search(r'<input id="count"[^>]* autofocus', refused.text)
        # A code that somebody else has used is told so, with what was chosen; a form that is sent twice is not refused.
        _, shown = await send(here, f"{poll}/codes", 200, count="1")
        (code,) = re.findall(r"<code>([0-9A-Z-]{14})</code>", shown.text)
        async with calls.browser() as there:
            await send(there, f"{poll}/vote", **{"rank-1": "1", "code": code})
            where, _ = await send(there, f"{poll}/vote", **{"rank-1": "1", "code": code})
            assert where == poll
        _, refused = await send(here, f"{poll}/vote", 409, **{"rank-1": "1", "code": code})
        assert "You have already voted in this poll" in refused.text


async def test_results_obey_their_visibility_on_pages_and_in_files(calls):
    async with calls.browser() as here, calls.browser() as there:
        poll = await made(here, resultsVisibility="afterVote")
        ways = ("/results", "/results.csv", "/ballots?format=csv", "/results/events")
        for way in ways:
            assert (await there.get(f"{poll}{way}")).status_code == 403
        assert "Results will show up here once you’ve voted." in await text(there, f"{poll}/results", 403)
        await text(there, poll)
        await send(there, f"{poll}/vote", **{"rank-1": "1"})
        for way in ways[:-1]:
            assert (await there.get(f"{poll}{way}")).status_code == 200
        # And for whoever made it, always.
        assert LAKE in await text(here, f"{poll}/results")


async def test_another_site_s_page_cannot_vote_for_a_browser(calls):
    async with calls.browser() as here:
        poll = await made(here)
        answer = await here.post(f"{poll}/vote", data={"rank-1": "1"}, headers={"sec-fetch-site": "cross-site"})
        assert answer.status_code == 403
        assert data(await calls.ask("GET", f"{poll}/results"))["votes"] == 0


async def test_cookies_of_a_poll_are_sent_to_nothing_else_and_read_by_no_script(calls):
    async with calls.browser() as here:
        _, answer = await send(here, "/polls", title="T", candidates="A\nB")
        poll = answer.headers["location"].removesuffix("/share")
        set_here = answer.headers.get_list("set-cookie")
        # The browser's own number opens those of a poll, and nothing by itself.
        assert [each.partition("=")[0] for each in set_here] == [
            "potluck-browser",
            "potluck-poll-fresh",
            "potluck-poll-admin",
        ]
        for cookie in set_here:
            assert f"Path={'/;' if cookie.startswith('potluck-browser') else poll}" in cookie
            assert "HttpOnly" in cookie
            assert "SameSite=lax" in cookie
        # Whatever else a browser sends under these names is nothing.
        here.cookies.set("potluck-voter", "not one of ours", path="/polls")
        await text(here, poll)
        await send(here, f"{poll}/vote", **{"rank-1": "1"})


async def test_a_poll_that_is_not_there_is_a_page_that_says_so(calls):
    for path in ("", "/results", "/share", "/manage", "/mine", "/thanks", "/edit", "/delete"):
        assert "Not found" in await text(calls.client, f"/polls/{uuid4()}{path}", 404)


async def test_a_form_is_shown_again_with_everything_that_is_wrong(calls):
    _, again = await send(
        calls.client, "/polls", 422, title="", candidates="Soup\nsoup", expires="2001-01-01T10:00", seats="5"
    )
    for sentence in (
        "Please enter a question of up to 200 characters.",
        "“soup” looks like “Soup”",
        "in the future",
        "Please enter a number from 1 to the number of options.",
    ):
        assert sentence in again.text
    assert "Soup\nsoup" in again.text
    # The first that is wrong has the focus, so that nobody has to look for it further down.
    assert re.search(r'<input id="title"[^>]* autofocus', again.text)
    _, again = await send(calls.client, "/polls", 422, title="T", candidates="Soup\nStew", expires="2001-01-01T10:00")
    assert re.findall(r'<(?:input|textarea) id="(\w+)"[^>]* autofocus', again.text) == ["expires"]
    _, again = await send(calls.client, "/polls", 422, title="T", candidates="Soup\nStew", maxRankings="0")
    assert "Please enter a number from 1 to 100." in again.text
    assert "maxRankings must" not in again.text


# --- pure ------------------------------------------------------------------------------------------------------------


def test_candidates_and_what_is_said_of_them_survive_their_lines():
    names, said = ["Lake cabin", "A | B", "Hut"], {"Lake cabin": "two hours | by train", "A | B": "both"}
    assert read_lines(as_lines(names, said)) == (names, said)
    assert read_lines("\n  Soup |\n\nStew|hot\n") == (["Soup", "Stew"], {"Stew": "hot"})


@pytest.mark.parametrize(
    ("raw", "ranking", "wrong"),
    [
        (b"rank-2=1&rank-1=7&rank-3=", [2, 1], ""),
        (b"rank-9=1&rank-0=2&other=3", [], ""),
        (b"rank-1=2&rank-2=02", [], f"{LAKE} and {HUT} have the same number, 2. Use each number once."),
        (b"rank-1=first", [], f"Give {LAKE} a whole number from 1 to 3, or none."),
        (b"rank-1=0", [], f"Give {LAKE} a whole number from 1 to 3, or none."),
    ],
)
def test_a_ballot_is_read_from_numbers(raw, ranking, wrong):
    found = read_ballot(decode_form(BallotForm, raw).value.rank, CANDIDATES)
    assert (list(found.ranking), found.error) == (ranking, wrong)


def test_one_s_own_ballot_is_filled_in():
    assert ranked_in(CANDIDATES, [CAMP, LAKE]).ranks == {3: "1", 1: "2"}


def test_a_qr_code_is_drawn_module_by_module():
    link = f"https://potluck.example/polls/{uuid4()}"
    drawn = qr_code(link)
    dark = {
        (int(x) + step, int(y))
        for x, y, width in re.findall(r"M(\d+) (\d+)h(\d+)", drawn.path)
        for step in range(int(width))
    }
    matrix = segno.make(link, error="m", micro=False, boost_error=False).matrix
    assert drawn.modules == len(matrix) + 2 * QUIET
    assert dark == {(x + QUIET, y + QUIET) for y, row in enumerate(matrix) for x, module in enumerate(row) if module}


# --- the list ---------------------------------------------------------------------------------------------------------

ROW = re.compile(r'<li class="row">.*?</li>', re.DOTALL)


async def rows_shown(client):
    """The rows of the list, as text."""
    page = await text(client, "/polls")
    return [" ".join(re.sub("<[^>]*>", " ", row).split()) for row in ROW.findall(page)]


async def test_the_list_says_how_many_voted_and_who_won(calls):
    async with calls.browser() as here:
        account = {"name": "Ada", "email": "ada@example.org", "password": "a long enough password"}
        await send(here, "/sign-up", **account)
        poll = await made(here)
        calls.clock.forward(seconds=1)
        empty = await made(here, title="Nothing yet")
        assert await rows_shown(here) == [
            "Nothing yet No votes yet · Open, no closing date Open",
            "Where to? No votes yet · Open, no closing date Open",
        ]
        await text(here, poll)
        await send(here, f"{poll}/vote", **{"rank-2": "1"})
        assert "Where to? 1 vote · Open, no closing date · You voted Open" in await rows_shown(here)
        # Once it has been counted, the list says who leads.
        await text(here, f"{poll}/results")
        assert f"Where to? 1 vote · {HUT} leads · Open, no closing date · You voted Open" in await rows_shown(here)
        await send(here, f"{poll}/close")
        await send(here, f"{empty}/close")
        first, second = await rows_shown(here)
        assert first.startswith("Nothing yet No votes · Closed")
        assert second.startswith(f"Where to? 1 vote · {HUT} won · Closed")


async def test_what_this_browser_voted_in_is_listed_until_the_vote_is_withdrawn(calls):
    async with calls.browser() as maker, calls.browser() as here, calls.browser() as there:
        shown = await made(maker, title="For all")
        hidden = await made(maker, title="Only at the end", resultsVisibility="afterClose")
        for poll in (shown, hidden):
            await text(here, poll)
            await send(here, f"{poll}/vote", **{"rank-1": "1"})
        assert await rows_shown(here) == [
            "Only at the end Open, no closing date · You voted Open",
            "For all 1 vote · Open, no closing date · You voted Open",
        ]
        assert await rows_shown(there) == []
        await send(here, f"{shown}/vote/withdraw")
        assert [row.partition(" Open")[0] for row in await rows_shown(here)] == ["Only at the end"]
        await send(maker, f"{hidden}/delete")
        assert await rows_shown(here) == []


async def test_a_cursor_of_nothing_leads_to_the_start_of_the_list_with_what_was_voted_in(calls):
    async with calls.browser() as maker, calls.browser() as here:
        await send(here, f"{await made(maker, title='For all')}/vote", **{"rank-1": "1"})
        assert "For all" in await text(here, "/polls?cursor=nothing")


async def test_who_signs_in_next_does_not_see_what_another_voted_in(calls):
    async with calls.browser() as maker, calls.browser() as here:
        poll = await made(maker)
        for name in ("ada", "ben"):
            await send(here, "/sign-up", name=name, email=f"{name}@example.org", password="a long enough password")
            assert await rows_shown(here) == []
            await text(here, poll)
            await send(here, f"{poll}/vote", **{"rank-1": "1"})
            assert len(await rows_shown(here)) == 1
            await send(here, "/sign-out")
            assert await rows_shown(here) == []


async def test_the_store_does_not_say_who_voted_where(calls):
    async with calls.browser() as maker, calls.browser() as here:
        poll = await made(maker)
        await send(here, "/sign-up", name="Ada", email="ada@example.org", password="a long enough password")
        before = await calls.rows()
        await text(here, poll)
        await send(here, f"{poll}/vote", **{"rank-1": "1"})
        after = await calls.rows()
        new = [row for table in after for row in set(after[table]) - set(before.get(table, []))]
        assert {re.search(r"VOTE|COUNT|SHARD|METADATA", row)[0] for row in new} == {
            "VOTE",
            "COUNT",
            "SHARD",
            "METADATA",
        }


async def test_the_form_explains_every_method_in_a_sentence(calls):
    async with calls.browser() as here:
        page = await text(here, "/polls/new")
        for method in get_args(Method):
            _, _, option = page.partition(f'name="method" value="{method}"')
            note = re.search(r'<span class="hint">([^<]+)</span>', option)[1]
            assert note.count(".") in (1, 2), note
        assert "Instant runoff, or single transferable vote for several winners." in page
        assert 'name="method" value="" checked' in page
