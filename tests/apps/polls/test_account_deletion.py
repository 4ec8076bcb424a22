"""What an account means to polls: export, forgetting, and the home page."""

import msgspec
import pytest

from potluck.apps.polls.account import PollsData
from potluck.apps.polls.deletion import Deletions
from potluck.apps.polls.entities import PollRow, Vote
from potluck.apps.polls.home_card import home_card
from potluck.apps.polls.keys import VoterKeys
from potluck.apps.polls.polls import close_poll, one_poll
from potluck.apps.polls.results import poll_audit, poll_results
from potluck.apps.polls.votes import cast_vote
from potluck.table import Unavailable
from potluck.web.errors import NotFound as NoSuchPoll
from tests.apps.polls.assembly import NOBODY, NOW, admin_of


async def exported(booth, user_id):
    return [(table, msgspec.to_builtins(row)) async for table, row in PollsData(booth.polls.context).export(user_id)]


async def test_the_export_has_the_polls_someone_made_and_what_was_voted_but_no_voter(booth):
    ada, ben = await booth.person(), await booth.person("Ben")
    poll = await booth.poll(by=ada, voter_policy="accounts", results_visibility="admin")
    await booth.poll(by=ben, title="Not hers")
    vote = await booth.do(cast_vote, ben, poll.id, rankings=["Cyd", "Ada"])
    rows = await exported(booth, ada.user_id)
    assert [table for table, _ in rows] == ["polls", "ballots"]
    assert rows[0][1]["title"] == "Who?"
    assert rows[1][1] == {"pollId": str(poll.id), "ranking": ["Cyd", "Ada"], "count": 1}
    told = str(rows)
    assert not any(each in told for each in (str(vote.id), str(ben.user_id), vote.edit_key, poll.admin_key))
    assert await exported(booth, (await booth.person()).user_id) == []


async def test_whoever_leaves_takes_their_polls_and_leaves_their_votes_which_nothing_leads_to(booth):
    ada, ben = await booth.person(), await booth.person("Ben")
    theirs = [await booth.poll(by=ada) for _ in range(2)]
    for poll in theirs:
        await booth.cast(poll, "Ada")
    other = await booth.poll(by=ben, voter_policy="accounts")
    await booth.do(cast_vote, ada, other.id, rankings=["Ada"])
    await PollsData(booth.polls.context).forget(ada.user_id)
    for poll in theirs:
        with pytest.raises(NoSuchPoll):
            await booth.do(one_poll, NOBODY, poll.id)
        assert await booth.store.all(PollRow.of_poll(poll.id)) == []
    left = str(await booth.dump())
    assert str(ada.user_id) not in left
    assert ada.user_id.hex not in left
    assert await booth.agree(other) == 1
    await PollsData(booth.polls.context).forget(ada.user_id)
    assert str(await booth.dump()) == left


async def test_forgetting_that_was_interrupted_goes_on_where_it_was(embedded_booth):
    booth = embedded_booth
    ada = await booth.person()
    for _ in range(3):
        poll = await booth.poll(by=ada)
        await booth.cast(poll, "Ada")
    write_each = booth.store.write_each

    async def failing(operations):
        booth.store.write_each = write_each
        raise Unavailable("the engine is gone")

    booth.store.write_each = failing
    with pytest.raises(Unavailable):
        await PollsData(booth.polls.context).forget(ada.user_id)
    await PollsData(booth.polls.context).forget(ada.user_id)
    await Deletions(booth.store).resuming().completed(booth.store)
    assert await booth.dump() == {}


async def test_the_home_page_says_how_many_are_open_and_which_wait_to_be_closed(embedded_booth):
    booth = embedded_booth
    ada = await booth.person()
    context = booth.polls.context
    assert (await home_card(context, ada.principal)).next_step is not None
    quiet = await booth.poll(by=ada, title="Quiet")
    timed = await booth.poll(by=ada, title="Timed", expires_at=NOW.replace(hour=18))
    busy = await booth.poll(by=ada, title="Busy")
    for poll in (timed, busy):
        await booth.cast(poll, "Ada")
    card = await home_card(context, ada.principal)
    assert (card.fact, [waiting.name for waiting in card.waiting]) == ("3 open", ["Timed", "Busy"])
    assert [waiting.note for waiting in card.waiting] == ["Closes in 6 hours", "1 vote, no closing date"]
    for poll in (quiet, timed, busy):
        await booth.do(close_poll, ada, poll.id)
    card = await home_card(context, ada.principal)
    assert (card.fact, card.waiting) == ("None open", [])


async def test_a_vote_holds_nothing_of_its_voter(embedded_booth):
    booth = embedded_booth
    ada = await booth.person()
    poll = await booth.poll()
    await booth.do(cast_vote, VoterKeys(principal=ada.principal, voter_key="cookie"), poll.id, rankings=["Ada"])
    (vote,) = await booth.store.all(Vote.of_poll(poll.id))
    assert set(msgspec.structs.asdict(vote)) == {"vote_id", "poll_id", "rankings", "voted_at", "edit_key_hash"}
    stored = str(await booth.dump())
    assert str(ada.user_id) not in stored
    assert "cookie" not in stored
    assert (await booth.do(poll_results, NOBODY, poll.id)).votes == 1
    assert (await booth.do(poll_audit, admin_of(poll), poll.id)).equal
