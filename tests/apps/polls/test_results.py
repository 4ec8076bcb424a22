"""Results: from the counts, kept and renewed, for those who may see them; ballots to count again; the audit."""

import asyncio
import threading
from datetime import UTC, datetime, timedelta
from uuid import UUID

import msgspec
import pytest

from potluck.apps.polls import count_records
from potluck.apps.polls.access import ReadsRecord, ResultsHidden, SeesResults
from potluck.apps.polls.ballot_files import read as read_ballots
from potluck.apps.polls.context import ReadersWait
from potluck.apps.polls.counting import Rules, count, results
from potluck.apps.polls.entities import Count, Poll, Record, Shard, Vote
from potluck.apps.polls.fields import POLL_METHODS
from potluck.apps.polls.keys import VoterKeys
from potluck.apps.polls.polls import close_poll, delete_poll, make_codes
from potluck.apps.polls.recounting import recounted
from potluck.apps.polls.results import (
    VotesComingIn,
    audited,
    current_record,
    poll_audit,
    poll_ballots,
    poll_results,
    results_table,
    turnout_of,
)
from potluck.apps.polls.votes import cast_vote, withdraw_vote
from potluck.table import absent, delete, put, the
from potluck.validation.errors import ValidationError
from potluck.web.errors import NotFound as NoSuchPoll
from tests.apps.polls.assembly import FOR_COUNT, KEY, NOBODY, NOW, Polls, admin_of, assembled, voter
from tests.engine_targets import EMBEDDED
from tests.patience import PATIENCE_SECONDS

BALLOTS = {("Ada", "Ben"): 4, ("Ben", "Cyd"): 3, ("Cyd", "Ben", "Ada"): 2}


async def voted(booth, ballots=BALLOTS, **said):
    """A poll with these votes."""
    poll = await booth.poll(**said)
    for ranking, times in ballots.items():
        for number in range(times):
            await booth.cast(poll, *ranking, key=f"{ranking} {number}")
    return poll


async def loaded(booth, distinct, each):
    """A poll of ten candidates with so many rankings, each given so often: counts as votes would have left them."""
    poll = await booth.poll([f"Candidate {number}" for number in range(10)])
    assert distinct <= 10_000
    rankings = [tuple(dict.fromkeys(int(digit) + 1 for digit in f"{number:04}")) for number in range(distinct)]
    counted = {}
    for ranking in rankings:
        counted[ranking] = counted.get(ranking, 0) + each
    await booth.store.write_each(put(Count(poll_id=poll.id, ranking=r, count=n)) for r, n in counted.items())
    total = sum(counted.values())
    await booth.store.write_each(
        put(Shard(poll_id=poll.id, shard=shard, votes=votes, votes_version=votes))
        for shard, votes in [(0, total // 2), (9, total - total // 2)]
    )
    return poll, counted


# --- what they say ---------------------------------------------------------------------------------------------------


async def test_results_are_those_of_the_counts_in_the_shape_of_the_api(booth):
    poll = await voted(booth)
    shown = msgspec.to_builtins(await booth.do(poll_results, NOBODY, poll.id))
    assert (shown["status"], shown["method"], shown["seats"], shown["votes"]) == ("live", "irv", 1, 9)
    assert shown["winners"] == ["Ben"]
    assert [each["eliminated"] for each in shown["rounds"]] == [["Cyd"], []]
    assert shown["rounds"][0]["tallies"] == {"Ada": "4", "Ben": "3", "Cyd": "2"}
    assert shown["rounds"][0]["transfers"] == [{"from": "Cyd", "to": {"Ben": "2"}}]
    assert shown["pairwise"]["Ben"] == {"Ada": 5, "Cyd": 7}
    assert (shown["condorcetWinner"], shown["lotOrder"], shown["votesVersion"]) == ("Ben", poll.lot_order, 9)
    assert set(shown["otherMethods"]) == {"schulze", "ranked-pairs", "borda", "plurality"}
    await booth.do(close_poll, admin_of(poll), poll.id)
    final = msgspec.to_builtins(await booth.do(poll_results, NOBODY, poll.id))
    assert (shown["sentence"], final["sentence"]) == ("Ben leads.", "Ben is elected.")
    told = [[each.pop("sentence") for each in (answer, *answer["rounds"])] for answer in (shown, final)]
    assert told[0] != told[1]
    assert final == {**shown, "status": "final"}


async def test_every_method_counts_and_keeps_a_record_of_its_own(embedded_booth):
    booth = embedded_booth
    poll = await voted(booth)
    for method in POLL_METHODS:
        shown = await booth.do(poll_results, NOBODY, poll.id, method=method)
        assert (shown.method, shown.votes) == (method, 9)
        (kept,) = await booth.store.all(Record.by_method(poll.id, method))
        assert (kept.parts, kept.votes_version) == (1, 9)
    with booth.recording.scope() as calls:
        for method in POLL_METHODS:
            await booth.do(poll_results, NOBODY, poll.id, method=method)
    assert calls.operations == ["Query"] * len(POLL_METHODS)


async def test_a_method_that_cannot_count_the_poll_is_refused(embedded_booth):
    poll = await embedded_booth.poll(seats=2)
    assert (await embedded_booth.do(poll_results, NOBODY, poll.id)).method == "stv"
    for method in ("irv", "chance", ""):
        with pytest.raises(ValidationError) as refused:
            await embedded_booth.do(poll_results, NOBODY, poll.id, method=method)
        assert [each.field for each in refused.value.errors] == ["method"]


async def test_a_poll_without_votes_has_neither_winners_nor_rounds(embedded_booth):
    booth = embedded_booth
    poll = await booth.poll()
    with booth.recording.scope() as calls:
        shown = await booth.do(poll_results, NOBODY, poll.id)
    assert calls.operations == ["Query"]
    assert (shown.votes, shown.winners, shown.rounds, shown.votes_version) == (0, [], [], 0)
    vote = await booth.cast(poll, "Ada", key="k")
    await booth.do(withdraw_vote, VoterKeys(edit_key=vote.edit_key), poll.id, vote.id)
    again = await booth.do(poll_results, NOBODY, poll.id)
    assert (again.votes, again.winners, again.rounds, again.votes_version) == (0, [], [], 2)
    await booth.do(close_poll, admin_of(poll), poll.id)
    assert (await booth.do(poll_results, NOBODY, poll.id)).status == "final"


async def test_ties_are_broken_by_the_lots_that_were_published(embedded_booth):
    booth = embedded_booth
    poll = await voted(booth, {("Ada",): 1, ("Ben",): 1, ("Cyd",): 1})
    shown = await booth.do(poll_results, NOBODY, poll.id)
    assert shown.winners == [poll.lot_order[0]]
    assert shown.rounds[0].eliminated == [poll.lot_order[-1]]


# --- what they cost --------------------------------------------------------------------------------------------------


async def test_results_nobody_has_voted_on_since_cost_the_same_at_ten_votes_and_at_a_million(embedded_booth):
    booth = embedded_booth
    costs = []
    for distinct, each in ((5, 2), (2_000, 500)):
        poll, counted = await loaded(booth, distinct, each)
        first = await booth.do(poll_results, NOBODY, poll.id)
        assert first.votes == distinct * each
        with booth.recording.scope() as calls:
            again = await booth.do(poll_results, NOBODY, poll.id)
        assert again == first
        costs.append([(call.pattern, call.operation) for call in calls])
        booth.clock.forward(days=1)
        with booth.recording.scope() as calls:
            await booth.do(poll_results, NOBODY, poll.id)
        costs.append([(call.pattern, call.operation) for call in calls])
        assert (
            results(
                count(10, counted, None, [poll.candidates.index(name) + 1 for name in poll.lot_order]),
                poll.candidates,
                status="live",
                votes_version=distinct * each,
            )
            == again
        )
    assert costs == [[("Results.of", "Query")]] * 4


@pytest.mark.soak
async def test_a_record_of_many_distinct_rankings_is_read_by_one_request_too(embedded_booth):
    booth = embedded_booth
    poll, _ = await loaded(booth, 10_000, 100)
    first = await booth.do(poll_results, NOBODY, poll.id)
    assert first.votes == 1_000_000
    with booth.recording.scope() as calls:
        assert await booth.do(poll_results, NOBODY, poll.id) == first
    assert calls.operations == ["Query"]


async def test_results_never_read_the_votes(embedded_booth):
    booth = embedded_booth
    poll = await voted(booth)
    with booth.recording.scope() as calls:
        await booth.do(poll_results, NOBODY, poll.id)
        await booth.do(poll_ballots, NOBODY, poll.id)
        await turnout_of(booth.store, poll.id)
    patterns = {call.pattern for call in calls}
    assert patterns == {"Results.of", "Shard.of_poll", "CountRow.of_poll", "Poll.one", "check Poll + put Record"}
    # Not even votes that differ from the counts are noticed; the audit is for that.
    await booth.store.write_each([delete(each) for each in await booth.store.all(Vote.of_poll(poll.id))])
    assert (await booth.do(poll_results, NOBODY, poll.id)).votes == 9


async def test_counting_is_done_in_another_thread(embedded_booth, monkeypatch):
    threads = []
    real = count_records.counted

    def noting(*arguments):
        threads.append(threading.current_thread())
        return real(*arguments)

    monkeypatch.setattr(count_records, "counted", noting)
    poll = await voted(embedded_booth)
    await embedded_booth.do(poll_results, NOBODY, poll.id)
    assert threads
    assert threading.main_thread() not in threads


# --- renewing --------------------------------------------------------------------------------------------------------


async def test_while_votes_come_in_the_record_is_renewed_after_a_second(booth):
    poll = await voted(booth)
    await booth.do(poll_results, NOBODY, poll.id)
    await booth.cast(poll, "Cyd")
    booth.clock.forward(seconds=0.999)
    with booth.recording.scope() as calls:
        old = await booth.do(poll_results, NOBODY, poll.id)
    assert (old.votes, old.votes_version, old.status, calls.operations) == (9, 9, "live", ["Query"])
    booth.clock.forward(seconds=0.001)
    new = await booth.do(poll_results, NOBODY, poll.id)
    assert (new.votes, new.votes_version) == (10, 10)


async def test_a_count_that_takes_long_is_renewed_after_twenty_times_as_long(embedded_booth):
    booth = embedded_booth
    poll = await voted(booth)
    booth.stopwatch.seconds = 3.0
    await booth.do(poll_results, NOBODY, poll.id)
    (kept,) = await booth.store.all(Record.by_method(poll.id, "irv"))
    assert kept.counting_milliseconds == 3_000
    await booth.cast(poll, "Cyd")
    booth.clock.forward(seconds=59.999)
    assert (await booth.do(poll_results, NOBODY, poll.id)).votes == 9
    booth.clock.forward(seconds=0.001)
    # Whoever does not wait for it sees the last one, and has the new one counted.
    hasty = Polls(booth.store, KEY, readers_wait=ReadersWait(for_count=timedelta()))
    assert (await hasty.do(poll_results, NOBODY, poll.id)).votes == 9
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (await booth.do(poll_results, NOBODY, poll.id)).votes == 9:  # noqa: ASYNC110 - counted meanwhile
            await asyncio.sleep(0.01)


async def test_a_closed_poll_is_counted_at_once_however_young_its_record(embedded_booth):
    booth = embedded_booth
    poll = await voted(booth)
    booth.stopwatch.seconds = 100.0
    await booth.do(poll_results, NOBODY, poll.id)
    await booth.cast(poll, "Cyd")
    await booth.do(close_poll, admin_of(poll), poll.id)
    final = await booth.do(poll_results, NOBODY, poll.id)
    assert (final.status, final.votes) == ("final", 10)


async def test_whoever_has_just_voted_waits_a_moment_and_sees_it(tmp_path):
    async with assembled(EMBEDDED, tmp_path) as booth:
        booth.clock = booth.store.clock = lambda: datetime.now(UTC)
        # A count that took long would be due again after more than a moment.
        booth.polls = Polls(booth.store, KEY, stopwatch=booth.stopwatch, readers_wait=FOR_COUNT)
        poll = await booth.poll()
        for votes in (1, 2):
            await booth.cast(poll, "Ada")
            assert (await booth.do(poll_results, NOBODY, poll.id)).votes == votes


async def test_many_who_look_at_once_have_it_counted_once(embedded_booth):
    booth = embedded_booth
    poll = await voted(booth)
    with booth.recording.scope() as calls:
        shown = await asyncio.gather(*(booth.do(poll_results, NOBODY, poll.id) for _ in range(20)))
    assert {each.votes for each in shown} == {9}
    assert [call.pattern for call in calls].count("CountRow.of_poll") == 1


async def test_a_count_goes_on_though_whoever_asked_has_left(embedded_booth):
    booth = embedded_booth
    poll = await voted(booth)
    looking = asyncio.create_task(booth.do(poll_results, NOBODY, poll.id))
    while not booth.polls.context.records._running:  # noqa: ASYNC110 - another task begins it
        await asyncio.sleep(0)
    (counting,) = booth.polls.context.records._running.values()
    looking.cancel()
    assert (await counting).votes_version == 9
    assert len(await booth.store.all(Record.by_method(poll.id, "irv"))) == 1


class VotesBetween:
    """An engine where something else is done between reading the counts and what follows, so many times."""

    def __init__(self, engine):
        self.engine = engine
        self.then = None
        self.times = 0

    async def call(self, operation, request):
        answer = await self.engine.call(operation, request)
        if operation == "Query" and self.times and {"S": "COUNT#"} in request["ExpressionAttributeValues"].values():
            self.times -= 1
            await self.then()
        return answer

    async def changed(self, table, timeout):
        return await self.engine.changed(table, timeout)

    async def close(self):
        await self.engine.close()


@pytest.fixture
async def racing_booth(tmp_path):
    async with assembled(EMBEDDED, tmp_path, wrap=VotesBetween) as booth:
        yield booth


async def test_a_vote_while_the_counts_are_read_leaves_a_record_that_the_next_reader_renews(racing_booth):
    booth = racing_booth
    poll = await voted(booth)
    engine = booth.store.engine
    engine.then, engine.times = (lambda: booth.cast(poll, "Cyd")), 1
    shown = await booth.do(poll_results, NOBODY, poll.id)
    assert (shown.votes, shown.votes_version) == (9, 9)
    booth.clock.forward(seconds=1)
    assert (await booth.do(poll_results, NOBODY, poll.id)).votes == 10


async def test_who_looks_at_a_closed_poll_is_not_shown_a_count_that_was_begun_before_its_last_vote(racing_booth):
    booth = racing_booth
    poll = await voted(booth)
    engine = booth.store.engine
    later = []

    async def last_vote_and_closing():
        await booth.cast(poll, "Cyd")
        await booth.elsewhere().do(close_poll, admin_of(poll), poll.id)
        later.append(asyncio.create_task(booth.do(poll_results, NOBODY, poll.id)))
        # Long enough for the second reader to find the count under way.
        await asyncio.sleep(0.05)

    engine.then, engine.times = last_vote_and_closing, 1
    assert (await booth.do(poll_results, NOBODY, poll.id)).status == "live"
    final = await later[0]
    assert (final.status, final.votes) == ("final", 10)


async def test_counts_that_lack_a_vote_of_the_shards_are_never_taken_for_complete(embedded_booth):
    booth = embedded_booth
    poll = await voted(booth)
    # As a reader could find it while a transaction's rows appear one after the other.
    await booth.store.upsert(Shard.one(poll.id, 0), the(Shard.votes).add(1), the(Shard.votes_version).add(1))
    assert (await booth.do(poll_results, NOBODY, poll.id)).votes_version == 9
    await booth.store.upsert(Count.one(poll.id, (3,)), the(Count.count).add(1))
    booth.clock.forward(seconds=1)
    shown = await booth.do(poll_results, NOBODY, poll.id)
    assert (shown.votes, shown.votes_version) == (10, 10)


async def test_an_older_count_does_not_replace_a_newer_one(racing_booth):
    booth = racing_booth
    poll = await voted(booth)
    engine = booth.store.engine

    async def faster():
        await booth.cast(poll, "Cyd")
        await booth.elsewhere().do(poll_results, NOBODY, poll.id)

    engine.then, engine.times = faster, 1
    await booth.do(poll_results, NOBODY, poll.id)
    (kept,) = await booth.store.all(Record.by_method(poll.id, "irv"))
    assert kept.votes_version == 10


async def test_a_count_of_a_poll_that_is_deleted_meanwhile_leaves_no_record(racing_booth):
    booth = racing_booth
    poll = await voted(booth)
    engine = booth.store.engine
    engine.then, engine.times = (lambda: booth.elsewhere().do(delete_poll, admin_of(poll), poll.id)), 1
    await booth.do(poll_results, NOBODY, poll.id)
    assert await booth.dump() == {}
    with pytest.raises(NoSuchPoll):
        await booth.do(poll_results, NOBODY, poll.id)


# --- parts -----------------------------------------------------------------------------------------------------------


async def test_a_record_in_parts_is_kept_and_read_whole_and_a_shorter_one_takes_the_rest_away(booth, monkeypatch):
    poll = await voted(booth)
    monkeypatch.setattr(count_records, "MOST_BYTES_IN_RECORD_PART", 100)
    shown = await booth.do(poll_results, NOBODY, poll.id)
    parts = await booth.store.all(Record.by_method(poll.id, "irv"))
    assert len(parts) > 2
    assert {each.parts for each in parts} == {len(parts)}
    with booth.recording.scope() as calls:
        assert await booth.do(poll_results, NOBODY, poll.id) == shown
    assert calls.operations == ["Query"]
    monkeypatch.setattr(count_records, "MOST_BYTES_IN_RECORD_PART", 400_000)
    await booth.cast(poll, "Ada")
    booth.clock.forward(seconds=1)
    assert (await booth.do(poll_results, NOBODY, poll.id)).votes == 10
    (kept,) = await booth.store.all(Record.by_method(poll.id, "irv"))
    assert kept.parts == 1


@pytest.mark.parametrize("damage", ["missing", "other version", "no record", "another format"])
async def test_parts_that_are_no_record_are_counted_anew(embedded_booth, monkeypatch, damage):
    booth = embedded_booth
    poll = await voted(booth)
    monkeypatch.setattr(count_records, "MOST_BYTES_IN_RECORD_PART", 100)
    shown = await booth.do(poll_results, NOBODY, poll.id)
    first, second, *_ = await booth.store.all(Record.by_method(poll.id, "irv"))
    changed = {
        "missing": delete(second),
        "other version": put(msgspec.structs.replace(second, votes_version=8)),
        "no record": put(msgspec.structs.replace(second, content=b"\0" * len(second.content))),
        "another format": put(msgspec.structs.replace(first, content=b"\xff" + first.content[1:])),
    }
    await booth.store.write_each([changed[damage]])
    with booth.recording.scope() as calls:
        assert await booth.do(poll_results, NOBODY, poll.id) == shown
    assert "CountRow.of_poll" in {call.pattern for call in calls}
    with booth.recording.scope() as calls:
        await booth.do(poll_results, NOBODY, poll.id)
    assert calls.operations == ["Query"]


# --- who sees them ---------------------------------------------------------------------------------------------------


async def sees(booth, by, poll):
    """Whether they are shown results, in every form; all forms must agree."""
    answers = set()
    for access in (SeesResults, ReadsRecord):
        try:
            await booth.polls.admitted(access, by, poll.id)
            answers.add(True)
        except ResultsHidden:
            answers.add(False)
    (answer,) = answers
    return answer


@pytest.mark.parametrize(
    ("visibility", "strangers", "voters", "strangers_later"),
    [
        ("always", True, True, True),
        ("afterVote", False, True, True),
        ("afterClose", False, False, True),
        ("admin", False, False, False),
    ],
)
async def test_results_are_shown_to_those_they_are_for(embedded_booth, visibility, strangers, voters, strangers_later):
    booth = embedded_booth
    ada = await booth.person()
    poll = await booth.poll(by=ada, results_visibility=visibility, expires_at=NOW + timedelta(minutes=1))
    vote = await booth.cast(poll, "Ada", key="k")
    other = await booth.poll(results_visibility=visibility)
    elsewhere = await booth.cast(other, "Ada", key="not here")
    outside = [
        NOBODY,
        voter("unknown"),
        voter("not here"),
        VoterKeys(edit_key=elsewhere.edit_key),
        VoterKeys(edit_key=vote.edit_key[:-1] + ("1" if vote.edit_key[-1] == "0" else "0")),
        await booth.person("Ben"),
        VoterKeys(code="k"),
    ]
    inside = [voter("k"), VoterKeys(edit_key=vote.edit_key)]
    assert [await sees(booth, each, poll) for each in outside] == [strangers] * len(outside)
    assert [await sees(booth, each, poll) for each in inside] == [voters] * 2
    assert [await sees(booth, each, poll) for each in (ada, admin_of(poll))] == [True, True]
    booth.clock.forward(minutes=1)
    assert [await sees(booth, each, poll) for each in (*outside, *inside)] == [strangers_later] * (len(outside) + 2)
    assert await sees(booth, ada, poll)


@pytest.mark.parametrize("policy", ["codes", "accounts"])
async def test_after_voting_by_code_or_account_results_are_shown(embedded_booth, policy):
    booth = embedded_booth
    poll = await booth.poll(voter_policy=policy, results_visibility="afterVote")
    ada, ben = await booth.person(), await booth.person("Ben")
    if policy == "codes":
        first, second = (await booth.do(make_codes, admin_of(poll), poll.id, count=2)).codes
        ada, ben = VoterKeys(code=first), VoterKeys(code=second)
    vote = await booth.do(cast_vote, ada, poll.id, rankings=["Ada"])
    assert [await sees(booth, each, poll) for each in (ada, ben)] == [True, False]
    await booth.do(withdraw_vote, VoterKeys(edit_key=vote.edit_key), poll.id, vote.id)
    assert not await sees(booth, ada, poll)


# --- ballots ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["json", "csv", "blt"])
async def test_downloaded_ballots_are_counted_to_the_same_record_and_name_no_voter(embedded_booth, format):
    booth = embedded_booth
    poll = await voted(booth)
    response = await booth.do(poll_ballots, NOBODY, poll.id, format=format)
    file = read_ballots(response.body, format)
    numbers = {name: number for number, name in enumerate(file.candidates, 1)}
    lots = [numbers[name] for name in poll.lot_order]
    recount = results(count(3, file.ballots, Rules(), lots), file.candidates, status="live", votes_version=9)
    shown = await booth.do(poll_results, NOBODY, poll.id)
    assert (recount.winners, recount.rounds, recount.votes) == (shown.winners, shown.rounds, shown.votes)
    for vote in await booth.store.all(Vote.of_poll(poll.id)):
        assert str(vote.vote_id).encode() not in response.body


async def test_ballots_in_json_have_the_shape_of_the_api(embedded_booth):
    booth = embedded_booth
    poll = await voted(booth)
    file = msgspec.json.decode((await booth.do(poll_ballots, NOBODY, poll.id)).body)
    assert file["candidates"] == poll.candidates
    assert file["ballots"] == [{"ranking": list(ranking), "count": times} for ranking, times in BALLOTS.items()]
    with pytest.raises(ValidationError):
        await booth.do(poll_ballots, NOBODY, poll.id, format="xml")


async def test_results_as_csv_have_every_round(embedded_booth):
    poll = await voted(embedded_booth)
    lines = (await embedded_booth.do(results_table, NOBODY, poll.id)).body.decode().splitlines()
    assert "2,candidate,Ben,5,elected,,,," in lines


# --- the audit -------------------------------------------------------------------------------------------------------


async def test_a_recount_from_the_votes_gives_the_same_record(embedded_booth):
    booth = embedded_booth
    poll = await voted(booth)
    shown = await booth.do(poll_results, NOBODY, poll.id, method="schulze")
    audit = await booth.do(poll_audit, admin_of(poll), poll.id, method="schulze")
    assert (audit.equal, audit.votes, audit.counted, audit.votes_version) == (True, 9, 9, shown.votes_version)
    assert (audit.recount == audit.record, audit.differences, audit.method) == (True, [], "schulze")


async def test_an_audit_finds_a_count_a_vote_and_a_record_that_are_not_right(booth):
    poll = await voted(booth)
    await booth.do(poll_results, NOBODY, poll.id)
    await booth.store.upsert(Count.one(poll.id, (3,)), the(Count.count).add(2))
    found = await booth.do(poll_audit, admin_of(poll), poll.id)
    assert (found.equal, found.votes, found.counted) == (False, 9, 11)
    assert [(each.ranking, each.votes, each.counted) for each in found.differences] == [(["Cyd"], 0, 2)]
    await booth.store.upsert(Count.one(poll.id, (3,)), the(Count.count).add(-2))
    assert (await booth.do(poll_audit, admin_of(poll), poll.id)).equal
    (kept,) = await booth.store.all(Record.by_method(poll.id, "irv"))
    other = await voted(booth, {("Cyd",): 9})
    await booth.do(poll_results, NOBODY, other.id)
    (wrong,) = await booth.store.all(Record.by_method(other.id, "irv"))
    await booth.store.put(msgspec.structs.replace(kept, content=wrong.content))
    found = await booth.do(poll_audit, admin_of(poll), poll.id)
    assert (found.equal, found.recount == found.record, found.differences) == (False, False, [])
    await booth.store.put(kept)
    vote, *_ = await booth.store.all(Vote.of_poll(poll.id))
    await booth.store.update(vote, the(Vote.rankings).becomes(["Zoe"]))
    found = await booth.do(poll_audit, admin_of(poll), poll.id)
    assert (found.equal, found.unreadable, found.votes) == (False, 1, 9)


async def test_votes_put_raw_into_the_table_are_counted_by_a_recount_and_told_by_the_audit(booth):
    """The design document's own poll and vote, as it writes them; nobody drew lots or counted."""
    poll_id, vote_id = UUID("123e4567-e89b-12d3-a456-426614174000"), UUID("987fcdeb-51a2-43d1-b234-567890abcdef")
    at = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
    names = ["JavaScript", "Python", "Go", "Rust"]
    poll = Poll(poll_id=poll_id, title="Best Programming Language 2024", candidates=names, created_at=at)
    await booth.store.put(poll, when=absent)
    vote = Vote(poll_id=poll_id, vote_id=vote_id, rankings=["Go", "Rust", "Python", "JavaScript"], voted_at=at)
    await booth.store.put(vote)
    context = booth.polls.context
    assert (await current_record(context, poll_id)).results.votes == 0
    audit = await audited(context, poll)
    assert (audit.equal, audit.votes, audit.counted) == (False, 1, 0)

    first = await recounted(booth.store, poll)
    assert (first.votes, first.counted, first.changed) == (1, 0, 1)
    shown = (await current_record(context, poll_id)).results
    assert (shown.votes, shown.winners, shown.lot_order) == (1, ["Go"], [])
    assert (await audited(context, poll)).equal
    assert await turnout_of(booth.store, poll_id) == (1, 1)
    assert (await recounted(booth.store, poll)).changed == 0
    # A count too many is taken off, and many are mended in several writes.
    for number in range(100):
        ranking = tuple(dict.fromkeys((1 + number % 4, 1 + number // 4 % 4, 1 + number // 16 % 4)))
        await booth.store.upsert(Count.one(poll_id, ranking), the(Count.count).add(number))
    await recounted(booth.store, poll)
    assert (await audited(context, poll)).equal
    assert [each.poll_id async for each in booth.store.each(Poll.every().consistently())] == [poll_id]


async def test_an_audit_waits_for_a_moment_in_which_nobody_votes(racing_booth):
    booth = racing_booth
    poll = await voted(booth)
    engine = booth.store.engine
    engine.then, engine.times = (lambda: booth.cast(poll, "Cyd")), 2
    found = await booth.do(poll_audit, admin_of(poll), poll.id)
    assert (found.equal, found.votes) == (True, 11)
    engine.times = 100
    with pytest.raises(VotesComingIn):
        await booth.do(poll_audit, admin_of(poll), poll.id)
