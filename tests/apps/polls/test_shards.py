"""Shards: created by the first vote, sealed when the poll ends, and as they were before they had fences."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from potluck.apps.polls.entities import (
    MOST_SHARDS,
    SHARDS,
    Count,
    CountPart,
    CountRow,
    Poll,
    Shard,
    Vote,
)
from potluck.apps.polls.keys import VoterKeys
from potluck.apps.polls.polls import VotesBegun, change_poll, close_poll, reopen_poll
from potluck.apps.polls.recounting import recounted
from potluck.apps.polls.results import poll_audit, poll_results
from potluck.apps.polls.shards import PollClosed
from potluck.apps.polls.votes import CodeNeeded, cast_vote, withdraw_vote
from potluck.table import Unavailable, absent, delete, put, the
from tests.apps.polls.assembly import NOBODY, NOW, admin_of


async def shards_of(booth, poll):
    return {shard.shard: shard for shard in await booth.store.all(Shard.of_poll(poll.id))}


async def test_the_first_vote_creates_ten_shards_and_the_second_none(embedded_booth):
    booth = embedded_booth
    poll = await booth.poll()
    assert await shards_of(booth, poll) == {}
    for votes in (1, 2):
        await booth.cast(poll, "Ada")
        found = await shards_of(booth, poll)
        assert sorted(found) == list(range(SHARDS))
        assert sum(shard.votes for shard in found.values()) == votes
    assert (await booth.store.one(Poll.one(poll.id))).version == poll.version


async def test_a_refused_first_vote_leaves_the_poll_as_it_was_and_it_can_be_edited(embedded_booth):
    booth = embedded_booth
    poll = await booth.poll(voter_policy="codes")
    before = await booth.dump()
    with pytest.raises(CodeNeeded):
        await booth.do(cast_vote, VoterKeys(code="7K3M-Q9TX-V2HD"), poll.id, rankings=["Ada"])
    assert await booth.dump() == before
    await booth.do(change_poll, admin_of(poll), poll.id, version=1, title="Whom?")


# --- polls from before -----------------------------------------------------------------------------------------------


async def former(booth, **settings):
    """A poll with three votes as they were stored before shards had fences."""
    poll = await booth.poll(**settings)
    rows = [
        Count(poll_id=poll.id, ranking=(1,), count=2),
        Count(poll_id=poll.id, ranking=(2, 1), count=1),
        Shard(poll_id=poll.id, shard=3, votes_version=3, votes=2),
        Shard(poll_id=poll.id, shard=7, votes_version=1, votes=1),
    ]
    votes = [["Ada"], ["Ada"], ["Ben", "Ada"]]
    for number, rankings in enumerate(votes):
        rows.append(Vote(vote_id=poll.id.__class__(int=number), poll_id=poll.id, rankings=rankings, voted_at=NOW))
    await booth.store.write_each(put(row) for row in rows)
    return poll


async def test_a_poll_from_before_shows_its_result_and_takes_votes(booth):
    poll = await former(booth)
    assert (await booth.do(poll_results, NOBODY, poll.id)).votes == 3
    vote = await booth.cast(poll, "Cyd", key="new")
    shards = await shards_of(booth, poll)
    assert (sum(each.votes for each in shards.values()), len(shards)) == (4, SHARDS)
    assert shards[3].votes >= 2
    assert await booth.agree(poll) == 4
    await booth.do(withdraw_vote, VoterKeys(edit_key=vote.edit_key), poll.id, vote.id)
    await booth.do(close_poll, admin_of(poll), poll.id)
    final = await booth.do(poll_results, NOBODY, poll.id)
    assert (final.status, final.votes) == ("final", 3)


async def test_a_poll_with_votes_from_before_cannot_be_edited(booth):
    poll = await former(booth)
    with pytest.raises(VotesBegun):
        await booth.do(change_poll, admin_of(poll), poll.id, version=1, title="Whom?")


async def test_the_result_of_a_poll_that_was_closed_before_is_final_without_a_write(embedded_booth):
    booth = embedded_booth
    poll = await former(booth)
    await booth.store.update(Poll.one(poll.id), the(Poll.closed_at).becomes(NOW), keep_version=True)
    assert (await booth.do(poll_results, NOBODY, poll.id)).status == "final"
    with booth.recording.scope() as calls:
        await booth.do(poll_results, NOBODY, poll.id)
    assert calls.operations == ["Query"]


# --- the end ---------------------------------------------------------------------------------------------------------


async def test_if_closing_is_interrupted_the_first_reader_seals_and_then_the_result_is_final(interrupted_booth):
    booth = interrupted_booth
    poll = await booth.poll()
    await booth.cast(poll, "Ada")
    engine = booth.store.engine
    call = engine.call

    async def killed(operation, request):
        if operation == "UpdateItem":
            raise Unavailable("killed between the poll's row and its shards")
        return await call(operation, request)

    engine.call = killed
    with pytest.raises(Unavailable):
        await booth.do(close_poll, admin_of(poll), poll.id)
    with pytest.raises(Unavailable):
        await booth.do(poll_results, NOBODY, poll.id)
    engine.call = call
    with pytest.raises(PollClosed):
        await booth.cast(poll, "Ben")
    assert {shard.fence for shard in (await shards_of(booth, poll)).values()} == {0}
    assert (await booth.do(poll_results, NOBODY, poll.id)).status == "final"
    assert {shard.fence for shard in (await shards_of(booth, poll)).values()} == {2}


async def test_a_vote_that_was_under_way_when_the_poll_ended_does_not_change_a_final_result(interrupted_booth):
    booth = interrupted_booth
    poll = await booth.poll(expires_at=NOW + timedelta(minutes=1))
    await booth.cast(poll, "Ada")
    elsewhere = booth.elsewhere()

    async def ends():
        booth.clock.forward(seconds=60)
        assert (await elsewhere.do(poll_results, NOBODY, poll.id)).status == "final"

    booth.meanwhile(ends)
    with pytest.raises(PollClosed):
        await booth.cast(poll, "Ben")
    final = await booth.do(poll_results, NOBODY, poll.id)
    assert (final.status, final.votes, final.votes_version) == ("final", 1, 1)


@pytest.mark.parametrize("votes", [0, 1])
async def test_a_vote_that_would_add_shards_to_a_poll_that_ended_does_not_change_a_final_result(
    interrupted_booth, votes
):
    booth = interrupted_booth
    poll = await booth.poll(expires_at=NOW + timedelta(minutes=1))
    for _ in range(votes):
        await booth.cast(poll, "Ada")
        booth.polls.context.crowded.note_crowded(await booth.store.one(Poll.one(poll.id)), NOW)
    elsewhere = booth.elsewhere()

    async def ends():
        booth.clock.forward(seconds=60)
        final = await elsewhere.do(poll_results, NOBODY, poll.id)
        assert (final.status, final.votes) == ("final", votes)
        # This one took its time, and began before the end.
        booth.clock.forward(seconds=-60)

    booth.meanwhile(ends)
    with pytest.raises(PollClosed):
        await booth.cast(poll, "Ben")
    booth.clock.forward(seconds=60)
    final = await booth.do(poll_results, NOBODY, poll.id)
    assert (final.status, final.votes) == ("final", votes)


async def test_a_poll_that_ended_without_a_vote_takes_votes_once_it_is_reopened(booth):
    poll = await booth.poll(expires_at=NOW + timedelta(minutes=1))
    booth.clock.forward(seconds=60)
    assert (await booth.do(poll_results, NOBODY, poll.id)).status == "final"
    with booth.recording.scope() as calls:
        await booth.do(poll_results, NOBODY, poll.id)
    assert calls.operations == ["Query"]
    await booth.do(reopen_poll, admin_of(poll), poll.id)
    await booth.cast(poll, "Ada")
    assert await booth.agree(poll) == 1


async def test_a_process_whose_clock_is_behind_is_told_that_the_poll_is_closed(interrupted_booth):
    booth = interrupted_booth
    poll = await booth.poll(expires_at=NOW + timedelta(minutes=1))
    await booth.cast(poll, "Ada")
    booth.clock.forward(seconds=60)
    assert (await booth.do(poll_results, NOBODY, poll.id)).status == "final"
    booth.clock.forward(seconds=-30)
    with pytest.raises(PollClosed):
        await booth.cast(poll, "Ben")


async def test_a_sealed_poll_that_is_reopened_takes_votes_and_costs_one_write(booth):
    poll = await booth.poll()
    for _ in range(3):
        await booth.cast(poll, "Ada")
        await booth.do(close_poll, admin_of(poll), poll.id)
        with booth.recording.scope() as calls:
            await booth.do(reopen_poll, admin_of(poll), poll.id)
        assert calls.operations == ["GetItem", "TransactWriteItems"]
    assert await booth.agree(poll) == 3


async def test_closing_a_closed_poll_again_writes_nothing(booth):
    poll = await booth.poll()
    await booth.cast(poll, "Ada")
    await booth.do(close_poll, admin_of(poll), poll.id)
    before = await booth.dump()
    with booth.recording.scope() as calls:
        await booth.do(close_poll, admin_of(poll), poll.id)
    assert calls.operations == ["GetItem", "Query"]
    assert await booth.dump() == before


# --- what is lost or spread ------------------------------------------------------------------------------------------


async def test_if_a_shard_s_row_is_lost_votes_go_on_and_a_recount_finds_the_rest(embedded_booth):
    booth = embedded_booth
    poll = await booth.poll()
    for number in range(12):
        await booth.cast(poll, "Ada", key=str(number))
    shards = (await shards_of(booth, poll)).values()
    await booth.store.write_each([delete(shard) for shard in shards])
    for number in range(12, 24):
        await booth.cast(poll, "Ben", key=str(number))
    assert not (await booth.do(poll_audit, admin_of(poll), poll.id)).equal
    await recounted(booth.store, await booth.store.one(Poll.one(poll.id)))
    assert await booth.agree(poll) == 24


async def test_a_lost_shard_does_not_open_a_closed_poll(interrupted_booth):
    booth = interrupted_booth
    poll = await booth.poll()
    await booth.cast(poll, "Ada")
    elsewhere = booth.elsewhere()

    async def closed_and_lost():
        await elsewhere.do(close_poll, admin_of(poll), poll.id)
        await booth.store.write_each([delete(shard) for shard in (await shards_of(booth, poll)).values()])

    booth.meanwhile(closed_and_lost)
    with pytest.raises(PollClosed):
        await booth.cast(poll, "Ben")
    assert await shards_of(booth, poll) == {}


async def test_parts_of_a_count_are_one_number_in_results_ballots_and_recounts(booth):
    poll = await booth.poll()
    for number in range(3):
        await booth.cast(poll, "Ada", key=str(number))
    (row,) = await booth.store.all(CountRow.of_poll(poll.id))
    parts = [CountPart(poll_id=poll.id, ranking=(1,), part=part, count=count) for part, count in ((7, -2), (63, 4))]
    await booth.store.write_each([put(replace(row, count=1)), *(put(part, when=absent) for part in parts)])
    assert await booth.agree(poll) == 3
    shown = await booth.do(poll_results, NOBODY, poll.id)
    assert shown.rounds[0].tallies["Ada"] == "3"
    assert (await recounted(booth.store, await booth.store.one(Poll.one(poll.id)))).changed == 0


async def test_a_poll_with_64_shards_is_recounted_in_one_transaction_for_all_of_them(embedded_booth):
    booth = embedded_booth
    poll = await former(booth)
    await booth.store.update(Poll.one(poll.id), the(Poll.shards).becomes(MOST_SHARDS), keep_version=True)
    rest = [Shard(poll_id=poll.id, shard=number) for number in range(MOST_SHARDS) if number not in (3, 7)]
    await booth.store.write_each(put(shard, when=absent) for shard in rest)
    for number in range(100):
        ranking = tuple(dict.fromkeys((1 + number % 3, 1 + number // 3 % 3, 1 + number // 9 % 3)))
        await booth.store.upsert(Count.one(poll.id, ranking), the(Count.count).add(number))
    stored = await booth.store.one(Poll.one(poll.id))
    assert (await recounted(booth.store, stored)).changed > 3
    assert await booth.agree(poll) == 3


async def test_a_store_of_another_process_learns_of_new_shards_from_the_poll(embedded_booth):
    booth = embedded_booth
    poll = await booth.poll()
    await booth.cast(poll, "Ada")
    context = booth.polls.context
    context.crowded.note_crowded(await booth.store.one(Poll.one(poll.id)), NOW)
    await booth.cast(poll, "Ada")
    assert len(await shards_of(booth, poll)) == MOST_SHARDS
    elsewhere = booth.elsewhere()
    for number in range(30):
        await elsewhere.do(cast_vote, VoterKeys(voter_key=str(number)), poll.id, rankings=["Ben"])
    used = [shard for shard in (await shards_of(booth, poll)).values() if shard.votes and shard.shard >= SHARDS]
    assert len(used) > 5
    assert await booth.agree(poll) == 32
