"""What someone without an account can hold open or make here has a limit, and leaves room for everybody else."""

import contextlib
import re
from datetime import timedelta
from typing import Any

import httpx
import pytest

from potluck.apps.polls import polls as polls_module
from potluck.apps.polls import shards
from potluck.apps.polls.fields import MOST_CODES
from potluck.apps.polls.polls import CHANGES, CODES, POLLS
from potluck.apps.polls.votes import VOTES, NewVote
from potluck.web.access import Visitor
from potluck.web.live import open_streams
from tests.apps.polls.doors import CANDIDATES, FROM_HERE, Calls, calls_on, data, problem
from tests.web.contract.wire import listening, sent
from tests.web.suites import API, ask, bearer, client_at

HIS, HERS = "192.0.2.1", "192.0.2.2"


@pytest.fixture
async def calls(tmp_path):
    async with calls_on(tmp_path) as calls:
        yield calls


@pytest.mark.parametrize("path", [f"{API}/polls/{{id}}/events", "/polls/{id}/results/events"])
async def test_a_stranger_has_only_so_many_streams_open(calls: Calls, monkeypatch, path):
    monkeypatch.setattr(open_streams, "MOST_STREAMS_OF_ONE", 3)
    path = path.format(id=(await calls.poll())["id"])
    ada = await calls.person()
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(3):
            his = await stack.enter_async_context(listening(calls.application, path, client=HIS))
            await his.until(begun=True)
        refused = await sent(calls.application, "GET", path, client=HIS)
        assert (refused.status, refused.media_type) == (429, "application/problem+json")
        assert int(refused.header("retry-after") or 0) > 0
        for client, headers in ((HERS, {}), (HIS, bearer(ada))):
            other = await stack.enter_async_context(listening(calls.application, path, headers.items(), client=client))
            await other.until(begun=True)
            assert other.status == 200


# --- what they make ---------------------------------------------------------------------------------------------------


async def test_a_stranger_makes_only_so_many_polls_in_a_while(calls: Calls):
    async with client_at(calls.application, HIS) as his, client_at(calls.application, HERS) as hers:
        new = {"title": "Where to?", "candidates": CANDIDATES}
        made = data(await ask(his, "POST", "/polls", new), 201)
        answers = [await ask(his, "POST", "/polls", new) for _ in range(POLLS.amount)]
        assert [each.status_code for each in answers] == [201] * (POLLS.amount - 1) + [429]
        refused = answers[-1]
        problem(refused, 429, "throttled")
        again = int(refused.headers["retry-after"])
        assert 0 < again <= POLLS.per.total_seconds() / POLLS.amount
        # A copy is a poll as well, and a page makes them by the same rule.
        copy = await ask(his, "POST", f"/polls/{made['id']}/duplicate", X_Admin_Key=made["adminKey"])
        problem(copy, 429, "throttled")
        # Everybody else makes theirs, and so do they, signed in or after a while.
        data(await ask(hers, "POST", "/polls", new), 201)
        data(await ask(his, "POST", "/polls", new, by=await calls.person()), 201)
        calls.clock.now += timedelta(seconds=again)
        data(await ask(his, "POST", "/polls", new), 201)


async def test_a_page_that_makes_too_many_shows_the_form_as_it_was_filled_in(calls: Calls):
    async with calls.browser() as browser:
        filled = {"title": "Where to, this once?", "candidates": "\n".join(CANDIDATES)}
        for _ in range(POLLS.amount):
            assert (await browser.post("/polls", data=filled, headers=FROM_HERE)).status_code == 303
        refused = await browser.post("/polls", data=filled, headers=FROM_HERE | {"accept": "text/html"})
        assert (refused.status_code, int(refused.headers["retry-after"]) > 0) == (429, True)
        assert "Too many attempts" in refused.text
        assert all(each in refused.text for each in ("Where to, this once?", *CANDIDATES))


async def test_a_ballot_that_is_one_too_many_is_shown_as_it_was_filled_in(calls: Calls, monkeypatch):
    poll = await calls.poll()
    async with calls.browser() as browser:
        limiter = calls.application.state.core.rate_limiter
        for _ in range(VOTES.amount):
            limiter.take(VOTES, Visitor(client="127.0.0.1"), NewVote(rankings=["Hut"]))
        ballot = {"rank-1": "", "rank-2": "1", "rank-3": ""}
        headers = FROM_HERE | {"accept": "text/html"}
        refused = await browser.post(f"/polls/{poll['id']}/vote", data=ballot, headers=headers)
        assert refused.status_code == 429
        assert "Too many attempts" in refused.text
        assert re.search(r'name="rank-2".*?value="1" selected', refused.text.replace("\n", ""))


async def test_a_stranger_makes_only_so_many_codes_in_a_while(calls: Calls):
    async with client_at(calls.application, HIS) as his:
        made = [await _poll_with_codes(calls, his) for _ in range(2)]
        statuses = []
        for number in range(CODES.amount // MOST_CODES + 1):
            poll = made[number % 2]
            answer = await ask(
                his, "POST", f"/polls/{poll['id']}/codes", {"count": MOST_CODES}, X_Admin_Key=poll["adminKey"]
            )
            statuses.append(answer.status_code)
        assert statuses == [201] * (CODES.amount // MOST_CODES) + [429]
        # They count by how many are made, and not by how often.
        one = await ask(his, "POST", f"/polls/{made[0]['id']}/codes", {"count": 1}, X_Admin_Key=made[0]["adminKey"])
        problem(one, 429, "throttled")


async def test_a_poll_has_only_so_many_codes(calls: Calls, monkeypatch):
    monkeypatch.setattr(polls_module, "MOST_CODES_OF_POLL", 100)
    ada = await calls.person()
    poll = await _poll_with_codes(calls, calls.client)
    admin = {"X_Admin_Key": poll["adminKey"]}
    path = f"/polls/{poll['id']}/codes"
    data(await calls.ask("POST", path, {"count": 95}, **admin), 201)
    many = problem(await calls.ask("POST", path, {"count": 6}, **admin), 409, "too-many")
    assert many["atMost"] == 100
    assert sum("CODE#" in row for row in (await calls.rows())["ranked-choice-polls"]) == 95
    data(await calls.ask("POST", path, {"count": 5}, **admin), 201)
    problem(await calls.ask("POST", path, {"count": 1}, by=ada, **admin), 409, "too-many")
    # Who has the page of an older version may go on with it: making codes changes nothing that people edit.
    assert data(await calls.ask("GET", f"/polls/{poll['id']}"))["version"] == poll["version"]


async def test_a_poll_takes_only_so_many_votes(calls: Calls, monkeypatch):
    monkeypatch.setattr(shards, "MOST_VOTES_OF_SHARD", 1)
    poll = await calls.poll()
    answers = [await calls.ask("POST", f"/polls/{poll['id']}/votes", {"rankings": CANDIDATES[:1]}) for _ in range(40)]
    counted = sum(each.status_code == 201 for each in answers)
    assert 0 < counted <= 10
    for each in answers:
        if each.status_code != 201:
            problem(each, 409, "poll-full")
    assert data(await calls.ask("GET", f"/polls/{poll['id']}/results"))["votes"] == counted


async def _poll_with_codes(calls: Calls, client: httpx.AsyncClient) -> dict[str, Any]:
    made: dict[str, Any] = data(
        await ask(client, "POST", "/polls", {"title": "Who?", "candidates": CANDIDATES, "voterPolicy": "codes"}), 201
    )
    return made


async def test_a_stranger_changes_polls_only_so_often(calls: Calls):
    poll = await calls.poll()
    admin = {"X_Admin_Key": poll["adminKey"]}
    for _ in range(CHANGES.amount // 2):
        data(await calls.ask("POST", f"/polls/{poll['id']}/close", **admin))
        data(await calls.ask("POST", f"/polls/{poll['id']}/reopen", **admin))
    change = {"title": "Where then?", "version": poll["version"] + CHANGES.amount}
    problem(await calls.ask("PATCH", f"/polls/{poll['id']}", change, **admin), 429, "throttled")


def test_a_long_ballot_counts_for_more_than_a_short_one():
    assert [VOTES.weight(NewVote(rankings=["Hut"] * ranked)) for ranked in (1, 9, 10, 100)] == [1, 1, 2, 11]
