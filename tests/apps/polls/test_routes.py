"""The JSON door of polls: every call, what each is refused for, and who sees what came of it."""

import asyncio
import csv
import io
import json
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from potluck.apps.polls.ballot_files import read
from potluck.commands.main import main
from potluck.people.secrets import hash_of
from potluck.web.csv_files import BYTE_ORDER_MARK
from tests.apps.polls.doors import CANDIDATES, Calls, calls_on, data, problem
from tests.apps.polls.test_entities import POLL_EXAMPLE, POLL_ID, VOTE_EXAMPLE, example
from tests.golden_rows import wire_item
from tests.patience import PATIENCE_SECONDS, until
from tests.web.contract.wire import listening
from tests.web.suites import API, bearer

LAKE, HUT, CAMP = CANDIDATES


@pytest.fixture
async def calls(tmp_path: Path) -> AsyncIterator[Calls]:
    async with calls_on(tmp_path) as calls:
        yield calls


def admin(poll):
    return {"x_admin_key": poll["adminKey"]}


# --- a poll ----------------------------------------------------------------------------------------------------------


async def test_anyone_makes_a_poll_and_its_key_is_told_once(calls):
    poll = await calls.poll(candidateDescriptions={HUT: "bring boots"}, expiresAt="2040-02-01T18:00:00+02:00")
    assert poll["adminKey"].startswith("pla_")
    assert sorted(poll["lotOrder"]) == sorted(CANDIDATES)
    assert poll["expiresAt"] == "2040-02-01T16:00:00.000Z"
    answer = await calls.ask("GET", f"/polls/{poll['id']}")
    seen = data(answer)
    # Its tag tells it as it is told now: nothing new is not told again, and the same tag says which version is changed.
    tag = answer.headers["etag"]
    assert tag.startswith('"1-')
    assert (await calls.ask("GET", f"/polls/{poll['id']}", if_none_match=tag)).status_code == 304
    assert (await calls.ask("GET", f"/polls/{poll['id']}", if_none_match='"1"')).status_code == 200
    for path in ("/results", "/results.csv", "/ballots", "/ballots?format=csv", "/ballots?format=blt"):
        file = await calls.ask("GET", f"/polls/{poll['id']}{path}")
        again = await calls.ask("GET", f"/polls/{poll['id']}{path}", if_none_match=file.headers["etag"])
        assert (again.status_code, again.content) == (304, b"")
    assert seen == {name: value for name, value in poll.items() if name != "adminKey"}
    assert poll["adminKey"] not in json.dumps(await calls.rows())


async def test_whoever_made_it_signed_in_needs_no_key_and_has_it_in_a_list(calls):
    ada, ben = await calls.person("Ada"), await calls.person("Ben")
    first = await calls.poll(by=ada)
    calls.clock.forward(seconds=1)
    second = await calls.poll(by=ada, title="And when?")
    listed = data(await calls.ask("GET", "/polls?limit=1", by=ada))
    assert [each["id"] for each in listed["items"]] == [second["id"]]
    rest = data(await calls.ask("GET", f"/polls?limit=1&cursor={listed['nextCursor']}", by=ada))
    assert [each["id"] for each in rest["items"]] == [first["id"]]
    assert data(await calls.ask("GET", "/polls", by=ben))["items"] == []
    problem(await calls.ask("GET", "/polls"), 401, "not-signed-in")
    problem(await calls.ask("POST", f"/polls/{first['id']}/close", by=ben), 403, "wrong-key")
    assert data(await calls.ask("POST", f"/polls/{first['id']}/close", by=ada))["status"] == "closed"


async def test_a_poll_is_reopened_until_a_time_that_is_still_to_come(calls):
    poll = await calls.poll(expiresAt="2040-01-01T13:00:00Z")
    path = f"/polls/{poll['id']}"
    reopen = f"{path}/reopen"
    data(await calls.ask("POST", f"{path}/close", **admin(poll)))
    before = await calls.rows()
    for wrong in ("2040-01-01T12:00:00Z", "2020-01-01T00:00:00Z", "2041-01-01T00:00:00", "soon"):
        found = problem(await calls.ask("POST", reopen, {"expiresAt": wrong}, **admin(poll)), 422, "invalid-fields")
        assert [each["field"] for each in found["errors"]] == ["expiresAt"]
    problem(await calls.ask("POST", reopen, {"until": "2041-01-01T00:00:00Z"}, **admin(poll)), 422, "invalid-fields")
    problem(await calls.ask("POST", reopen, {"expiresAt": "2041-01-01T00:00:00Z"}), 403, "wrong-key")
    assert await calls.rows() == before

    async def reopened(body=None):
        found = data(await calls.ask("POST", reopen, body, **admin(poll)))
        assert found == data(await calls.ask("GET", path))
        return found["status"], found["expiresAt"], found["version"]

    until = "2040-01-02T12:00:00.000Z"
    assert await reopened({"expiresAt": until}) == ("open", until, 3)
    # Whoever says it once more, or until when of one that is open, is not told that it is so while it is not.
    assert await reopened({"expiresAt": until}) == ("open", until, 3)
    assert await reopened({"expiresAt": "2040-01-02T14:00:00+01:00"}) == ("open", "2040-01-02T13:00:00.000Z", 4)
    assert await reopened() == await reopened({}) == ("open", "2040-01-02T13:00:00.000Z", 4)
    calls.clock.forward(days=2)
    assert data(await calls.ask("GET", path))["status"] == "closed"
    assert await reopened({"expiresAt": "2040-02-01T00:00:00Z"}) == ("open", "2040-02-01T00:00:00.000Z", 5)
    assert await reopened({"expiresAt": None}) == ("open", None, 6)


async def test_the_api_s_document_says_that_reopening_needs_no_body(calls):
    document = data(await calls.client.get("/schema/openapi.json"))
    told = document["paths"]["/api/v1/polls/{pollId}/reopen"]["post"]["requestBody"]
    assert told["required"] is False
    schema = told["content"]["application/json"]["schema"]
    assert "expiresAt" in document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]["properties"]
    assert document["paths"]["/api/v1/polls"]["post"]["requestBody"]["required"] is True


# --- votes -----------------------------------------------------------------------------------------------------------


async def test_everybody_has_one_vote_and_may_change_or_withdraw_it(calls):
    poll = await calls.poll()
    path = f"/polls/{poll['id']}/votes"
    cast = await calls.vote(poll, LAKE, voterKey="ada's phone")
    again = {"rankings": [HUT], "voterKey": "ada's phone"}
    problem(await calls.ask("POST", path, again), 409, "already-voted")
    changed = data(
        await calls.ask("PUT", f"{path}/{cast['id']}", {"rankings": [HUT, CAMP]}, x_edit_key=cast["editKey"])
    )
    assert changed["rankings"] == [HUT, CAMP]
    assert data(await calls.ask("GET", f"/polls/{poll['id']}/results"))["winners"] == [HUT]
    data(await calls.ask("DELETE", f"{path}/{cast['id']}", x_edit_key=cast["editKey"]), 204)
    # Twenty times what the last count took, which on a busy machine may be more than a second.
    calls.clock.forward(minutes=10)

    async def none_is_counted():
        return data(await calls.ask("GET", f"/polls/{poll['id']}/results"))["votes"] == 0

    # For a count that takes longer than two seconds its reader does not wait.
    await until(none_is_counted)
    data(await calls.ask("POST", path, again), 201)


async def test_whether_there_is_a_vote_is_told_only_to_whoever_has_its_key(calls):
    poll = await calls.poll()
    there, withdrawn = await calls.vote(poll, LAKE), await calls.vote(poll, HUT)
    path = f"/polls/{poll['id']}/votes"
    data(await calls.ask("DELETE", f"{path}/{withdrawn['id']}", x_edit_key=withdrawn["editKey"]), 204)
    body = {"rankings": [CAMP]}
    told = []
    for vote_id, key in (
        (there["id"], "ple_" + "0" * 96),
        (there["id"], withdrawn["editKey"]),
        (withdrawn["id"], withdrawn["editKey"]),
        (withdrawn["id"], "ple_" + "0" * 96),
        (uuid4(), there["editKey"]),
        (uuid4(), None),
    ):
        keyed = {} if key is None else {"x_edit_key": key}
        for method, sent in (("PUT", body), ("DELETE", None)):
            found = problem(await calls.ask(method, f"{path}/{vote_id}", sent, **keyed), 403, "wrong-key")
            told.append({name: value for name, value in found.items() if name not in ("requestId", "instance")})
    assert all(each == told[0] for each in told)


UNUSABLE = {
    "rankings": [],
    "rankings[1]": [LAKE, LAKE],
    "rankings[2]": [LAKE, HUT, "Moon"],
    "rankings[0]": ["", LAKE],
}


async def test_an_empty_repeated_or_unknown_ranking_stores_nothing(calls):
    poll = await calls.poll()
    before = await calls.rows()
    for field, rankings in [*UNUSABLE.items(), ("rankings[1]", [LAKE, "lake  CABIN"])]:
        answer = await calls.ask("POST", f"/polls/{poll['id']}/votes", {"rankings": rankings})
        assert [each["field"] for each in problem(answer, 422, "invalid-fields")["errors"]] == [field]
    none = {"rankings": [], "voterKey": "a\u0000", "code": "a\u2028"}
    found = problem(await calls.ask("POST", f"/polls/{poll['id']}/votes", none), 422, "invalid-fields")["errors"]
    assert {each["field"]: each["message"] for each in found} == {
        "rankings": "Rank at least one candidate",
        "voterKey": "Voter key must not contain U+0000",
        "code": "Code must be one line",
    }
    assert await calls.rows() == before


# --- doing it once ---------------------------------------------------------------------------------------------------


async def test_what_is_sent_twice_is_done_once_and_a_secret_is_not_told_again(calls):
    ada = await calls.person()
    for by in (None, ada):
        key = {"idempotency_key": str(uuid4())}
        body = {"title": "Once?", "candidates": CANDIDATES}
        poll = data(await calls.ask("POST", "/polls", body, by=by, **key), 201)
        assert problem(await calls.ask("POST", "/polls", body, by=by, **key), 409, "already-done")["made"] == poll["id"]
        path = f"/polls/{poll['id']}"
        key = {"idempotency_key": str(uuid4())}
        data(await calls.ask("POST", f"{path}/votes", {"rankings": [LAKE]}, by=by, **key), 201)
        again = problem(
            await calls.ask("POST", f"{path}/votes", {"rankings": [LAKE]}, by=by, **key), 409, "already-done"
        )
        # Of a vote nothing is kept beside who cast it: the poll is named, and not the vote.
        assert again["made"] == poll["id"]
        problem(await calls.ask("POST", f"{path}/votes", {"rankings": [HUT]}, by=by, **key), 422, "key-reused")
        key = {"idempotency_key": str(uuid4())}
        closed = data(await calls.ask("POST", f"{path}/close", by=by, **key, **admin(poll)))
        data(await calls.ask("POST", f"{path}/reopen", by=by, **admin(poll)))
        assert data(await calls.ask("POST", f"{path}/close", by=by, **key, **admin(poll))) == closed
        assert data(await calls.ask("GET", path))["status"] == "open"
        assert data(await calls.ask("GET", f"{path}/results"))["votes"] == 1


async def test_what_was_done_with_a_key_is_not_told_to_whoever_comes_with_another(calls):
    """A deletion leaves nothing that would refuse them: what was kept of it is for the same key alone."""
    poll, other = await calls.poll(), await calls.poll()
    path = f"/polls/{poll['id']}"
    once = {"idempotency_key": str(uuid4())}
    data(await calls.ask("DELETE", path, **once, **admin(poll)), 204)
    data(await calls.ask("DELETE", path, **once, **admin(poll)), 204)
    problem(await calls.ask("DELETE", path, **once, **admin(other)), 404, "not-found")
    problem(await calls.ask("DELETE", path, **once), 404, "not-found")


# --- results ---------------------------------------------------------------------------------------------------------


async def counted(calls, **said):
    poll = await calls.poll(**said)
    for ranking in ((LAKE, HUT), (LAKE,), (HUT, LAKE), (HUT, CAMP), (CAMP, HUT)):
        await calls.vote(poll, *ranking)
    return poll


async def test_results_tell_every_round(calls):
    poll = await counted(calls)
    path = f"/polls/{poll['id']}"
    answer = await calls.ask("GET", f"{path}/results")
    found = data(answer)
    assert (found["status"], found["method"], found["seats"], found["votes"]) == ("live", "irv", 1, 5)
    assert found["winners"] == [HUT]
    first, last = found["rounds"]
    assert first["tallies"] == {LAKE: "2", HUT: "2", CAMP: "1"}
    assert first["eliminated"] == [CAMP]
    assert first["transfers"] == [{"from": CAMP, "to": {HUT: "1"}}]
    assert last["tallies"] == {LAKE: "2", HUT: "3"}
    assert last["elected"] == [HUT]
    assert HUT in last["sentence"]
    assert found["pairwise"][HUT][LAKE] == 3
    assert found["condorcetWinner"] == HUT
    assert set(found["otherMethods"]) == {"schulze", "ranked-pairs", "borda", "plurality"}
    assert found["lotOrder"] == poll["lotOrder"]
    assert found["votesVersion"] == 5
    assert (await calls.ask("GET", f"{path}/results", if_none_match=answer.headers["etag"])).status_code == 304
    assert data(await calls.ask("GET", f"{path}/results?method=schulze"))["method"] == "schulze"
    problem(await calls.ask("GET", f"{path}/results?method=lottery"), 422, "invalid-fields")


async def test_files_are_counted_again_to_the_same_and_name_no_voter(calls):
    ada = await calls.person()
    poll = await counted(calls, by=ada)
    voted = await calls.vote(poll, LAKE, by=ada, voterKey="ada's own phone")
    path = f"/polls/{poll['id']}"
    texts = []
    for format in ("json", "csv", "blt"):
        answer = await calls.ask("GET", f"{path}/ballots?format={format}")
        assert answer.headers["content-disposition"] == f'attachment; filename="Where to - ballots.{format}"'
        file = read(answer.content)
        assert file.candidates == list(CANDIDATES)
        assert sum(file.ballots.values()) == 6
        texts.append(answer.text)
    assert {"ranking": [LAKE], "count": 2} in json.loads(texts[0])["ballots"]
    table = await calls.ask("GET", f"{path}/results.csv")
    assert table.content.startswith(BYTE_ORDER_MARK)
    assert texts[1].startswith("\ufeff")
    rows = list(csv.DictReader(io.StringIO(table.content.decode("utf-8-sig"))))
    assert {row["name"] for row in rows if row["kind"] == "winner"} == {LAKE}
    export = await calls.ask("GET", "/me/export", by=ada)
    assert export.status_code == 200
    for text in (*texts, table.text):
        assert not any(secret in text for secret in (voted["id"], voted["editKey"], "phone", ada["userId"]))
    problem(await calls.ask("GET", f"{path}/ballots?format=xml"), 422, "invalid-fields")


async def test_a_recount_is_for_whoever_made_the_poll(calls):
    poll = await counted(calls)
    problem(await calls.ask("GET", f"/polls/{poll['id']}/audit"), 403, "wrong-key")
    audit = data(await calls.ask("GET", f"/polls/{poll['id']}/audit", **admin(poll)))
    assert (audit["equal"], audit["votes"], audit["counted"], audit["differences"]) == (True, 5, 5, [])


async def test_the_documents_poll_and_vote_are_shown_once_the_command_has_counted_them(calls, tmp_path, capsys):
    """Put into the table as the document writes them, but for a key to look after the poll with."""
    key, leader = "pla_of-the-documents-poll", '<h2 class="winner-name" id="win"><bdi>Go</bdi></h2>'
    for record in (example(POLL_EXAMPLE) | {"adminKeyHash": hash_of(key)}, example(VOTE_EXAMPLE)):
        await calls.engine.call("PutItem", {"TableName": "ranked-choice-polls", "Item": wire_item(record)})
    path = f"/polls/{POLL_ID}"

    async def told() -> tuple[bool, int, int]:
        audit = data(await calls.ask("GET", f"{path}/audit", x_admin_key=key))
        return audit["equal"], audit["votes"], audit["counted"]

    assert await told() == (False, 1, 0)
    assert leader not in (await calls.client.get(f"{path}/results")).text
    assert await asyncio.to_thread(main, ["polls", "recount", "--data", str(tmp_path / "data")]) == 0
    assert capsys.readouterr().out == f"{POLL_ID}: votes: 1, counted before: 0, counts changed: 1\n"
    assert await told() == (True, 1, 1)
    assert leader in (await calls.client.get(f"{path}/results")).text


# --- who sees them ---------------------------------------------------------------------------------------------------

EVERY_WAY = (
    "/results",
    "/results?method=borda",
    "/results.csv",
    "/ballots",
    "/ballots?format=blt",
    "/changes",
    "/events",
)


async def statuses(calls, poll, **headers):
    """What each way to the results is answered with; of a stream, only how it begins."""
    found = set()
    for way in EVERY_WAY:
        if way == "/events":
            sent = [(name.replace("_", "-"), value) for name, value in headers.items()]
            async with listening(calls.application, f"{API}/polls/{poll['id']}{way}", sent) as stream:
                async with asyncio.timeout(PATIENCE_SECONDS):
                    while not stream.status:
                        await stream.news.wait()
                found.add(stream.status)
        else:
            found.add((await calls.ask("GET", f"/polls/{poll['id']}{way}", **headers)).status_code)
    return found


async def test_results_obey_their_visibility_everywhere(calls):
    # Who sees them while the poll is open: anybody, whoever has voted; and whether anybody does after it is closed.
    seen = {
        "always": (200, 200, 200),
        "afterVote": (403, 200, 200),
        "afterClose": (403, 403, 200),
        "admin": (403, 403, 403),
    }
    other = await calls.vote(await calls.poll())
    stranger = {"x_edit_key": other["editKey"], "x_admin_key": "pla_" + "0" * 64}
    for visibility, (anybody, voters, in_the_end) in seen.items():
        poll = await calls.poll(resultsVisibility=visibility)
        cast = await calls.vote(poll)
        assert await statuses(calls, poll) == {anybody}
        assert await statuses(calls, poll, **stranger) == {anybody}
        assert await statuses(calls, poll, x_edit_key=cast["editKey"]) == {voters}
        assert await statuses(calls, poll, **admin(poll)) == {200}
        data(await calls.ask("POST", f"/polls/{poll['id']}/close", **admin(poll)))
        assert await statuses(calls, poll) == {in_the_end}
    hidden = problem(await calls.ask("GET", f"/polls/{poll['id']}/results"), 403, "results-hidden")
    assert hidden["resultsVisibility"] == "admin"


# --- live ------------------------------------------------------------------------------------------------------------


async def test_a_stream_tells_votes_and_record_and_many_votes_together_once(calls):
    poll = await calls.poll()
    path = f"{API}/polls/{poll['id']}/events"
    async with listening(calls.application, path) as stream:
        await stream.until(begun=True)
        await asyncio.gather(*(calls.vote(poll, HUT, LAKE) for _ in range(30)))
        calls.clock.forward(seconds=2)
        await calls.vote(poll, LAKE)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                events = await stream.until(1)
                now = events[-1].data
                if now["votes"] == now["results"]["votes"] == 31:
                    break
                calls.clock.forward(seconds=2)
                await asyncio.sleep(0.05)
        assert {each.event for each in events} == {"updated"}
        assert len(events) < 31
        assert now["results"]["winners"] == [HUT]
        assert now["status"] == "live"
        assert set(now) == {"votes", "votesVersion", "status", "results"}
        seen = len(events)
        data(await calls.ask("POST", f"/polls/{poll['id']}/close", **admin(poll)))
        final = await stream.until(seen + 1)
        assert final[-1].data["status"] == "final"


async def test_changes_are_told_since_a_position_and_a_stream_goes_on_from_one(calls):
    poll = await calls.poll()
    path = f"/polls/{poll['id']}"
    begin = data(await calls.ask("GET", f"{path}/changes"))
    assert begin["changes"] == []
    await calls.vote(poll, HUT)
    async with listening(calls.application, f"{API}{path}/events?since={begin['position']}") as stream:
        (event,) = await stream.until(1)
        assert event.data["votes"] == 1
    told = data(await calls.ask("GET", f"{path}/changes?since={begin['position']}"))
    (change,) = told["changes"]
    assert (change["event"], change["item"]["votes"]) == ("updated", 1)
    assert data(await calls.ask("GET", f"{path}/changes?since={told['position']}"))["changes"] == []
    problem(await calls.ask("GET", f"{path}/changes?since=nowhere"), 422, "invalid-fields")


async def test_a_stream_tells_that_the_poll_s_time_is_over_when_it_is(calls):
    poll = await calls.poll(expiresAt="2040-01-01T12:00:10Z")
    path = f"/polls/{poll['id']}"
    await calls.vote(poll, HUT)
    data(await calls.ask("GET", f"{path}/results"))
    begin = data(await calls.ask("GET", f"{path}/changes"))["position"]
    # So near the end that whoever waits for it looks again every few milliseconds, by a clock that stands still.
    calls.clock.forward(seconds=9.98)
    async with listening(calls.application, f"{API}{path}/events") as stream:
        await stream.until(begun=True)
        await asyncio.sleep(0.1)
        assert stream.events == []
        rows = await calls.rows()
        calls.clock.forward(seconds=0.02)
        (event,) = await stream.until(1)
        assert (event.event, event.data["status"], event.data["results"]["status"]) == ("updated", "final", "final")
        assert event.data["results"]["winners"] == [HUT]
        # The first reader of the result has sealed the poll's row and its shards, and nothing else was written.
        written = set((await calls.rows())["ranked-choice-polls"]) - set(rows["ranked-choice-polls"])
        assert len(written) == 11
        assert sum("'SHARD#" in row for row in written) == 10
        assert all("'fence': {'N': '1'}" in row for row in written)
        # Once: who goes on from there is not told again, who was away since before it is.
        told = data(await calls.ask("GET", f"{path}/changes?since={begin}"))
        (change,) = told["changes"]
        assert (change["event"], change["item"]["status"]) == ("updated", "final")
        assert data(await calls.ask("GET", f"{path}/changes?since={told['position']}"))["changes"] == []
        for query, headers in (f"?since={begin}", []), ("", [("last-event-id", begin)]):
            async with listening(calls.application, f"{API}{path}/events{query}", headers) as late:
                (again,) = await late.until(1)
                assert again.data == event.data
        async with listening(calls.application, f"{API}{path}/events?since={event.id}") as later:
            await later.until(begun=True)
            await asyncio.sleep(0.1)
            assert later.events == []
        assert len(stream.events) == 1


async def test_a_stream_keeps_to_the_time_that_a_poll_has_now(calls):
    poll = await calls.poll(expiresAt="2040-01-01T12:00:10Z")
    path = f"/polls/{poll['id']}"
    calls.clock.forward(seconds=9.98)
    async with listening(calls.application, f"{API}{path}/events") as stream:
        await stream.until(begun=True)
        data(await calls.ask("POST", f"{path}/reopen", {"expiresAt": "2040-01-01T12:00:20Z"}, **admin(poll)))
        await stream.until(1)
        calls.clock.forward(seconds=5)
        await asyncio.sleep(0.1)
        assert [each.data["status"] for each in stream.events] == ["live"]
        calls.clock.forward(seconds=4.99)
        # Whatever happens makes whoever follows look at the clock; a vote does.
        await calls.vote(poll, HUT)
        await stream.until(2)
        calls.clock.forward(seconds=0.03)
        events = await stream.until(3)
        assert [each.data["status"] for each in events] == ["live", "live", "final"]


async def test_a_stream_tells_the_end_of_a_poll_that_was_closed_early_and_opened_again_until_then(calls):
    poll = await calls.poll(expiresAt="2040-01-01T12:00:10Z")
    path = f"/polls/{poll['id']}"
    async with listening(calls.application, f"{API}{path}/events") as stream:
        await stream.until(begun=True)
        data(await calls.ask("POST", f"{path}/close", **admin(poll)))
        await stream.until(1)
        calls.clock.forward(seconds=9.98)
        data(await calls.ask("POST", f"{path}/reopen", **admin(poll)))
        await stream.until(2)
        calls.clock.forward(seconds=0.02)
        events = await stream.until(3)
        assert [each.data["status"] for each in events] == ["final", "live", "final"]


async def test_a_stream_ends_when_its_caller_may_not_look_any_more(calls):
    poll = await calls.poll(resultsVisibility="afterVote")
    cast = await calls.vote(poll)
    path = f"{API}/polls/{poll['id']}/events"
    async with listening(calls.application, path, [("x-edit-key", cast["editKey"])]) as stream:
        await stream.until(begun=True)
        own = f"/polls/{poll['id']}/votes/{cast['id']}"
        data(await calls.ask("DELETE", own, x_edit_key=cast["editKey"]), 204)
        await stream.until(ended=True)
        assert stream.events == []


async def test_whoever_made_a_poll_takes_its_ballots_along_and_finds_it_on_the_front_page(calls):
    ada = await calls.person()
    poll = await counted(calls, by=ada)
    home = await calls.client.get("/", headers=bearer(ada) | {"accept": "text/html"})
    assert "Where to?" in home.text
    assert "5 votes, no closing date" in home.text
    export = await calls.ask("GET", "/me/export", by=ada)
    with zipfile.ZipFile(io.BytesIO(export.content)) as files:
        whole = "".join(files.read(name).decode() for name in files.namelist())
    assert poll["id"] in whole
    assert "editKey" not in whole
    assert "VOTE#" not in whole
