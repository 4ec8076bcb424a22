"""What each call costs, counted; the README has the same table."""

from pathlib import Path

import potluck.apps.polls
from potluck.apps.polls.keys import VoterKeys
from potluck.apps.polls.polls import (
    change_poll,
    close_poll,
    create_poll,
    delete_poll,
    make_codes,
    one_poll,
    own_polls,
    reopen_poll,
)
from potluck.apps.polls.results import poll_audit, poll_ballots, poll_results
from potluck.apps.polls.votes import cast_vote, change_vote, withdraw_vote
from tests.apps.call_costs import CallCosts
from tests.apps.polls.assembly import NOBODY, admin_of, voter

README = Path(potluck.apps.polls.__file__).with_name("README.md")


async def measured(booth):
    """Each call with its requests, read units and write units, on polls where everything is small."""
    ada = await booth.person()
    settings = {"title": "Who?", "candidates": ["Ada", "Ben", "Cyd"]}
    costs = CallCosts(booth.recording)
    cost = costs.count

    poll = await cost("make a poll", booth.do(create_poll, NOBODY, **settings))
    own = await cost("make one, signed in", booth.do(create_poll, ada, **settings))
    await cost("look at a poll", booth.do(one_poll, NOBODY, poll.id))
    await cost("my polls", booth.do(own_polls, ada))
    await cost("edit", booth.do(change_poll, admin_of(poll), poll.id, version=1, title="Whom?"))
    await cost("the first vote", booth.do(cast_vote, voter("first"), poll.id, rankings=["Cyd"]))
    cast = await cost("vote", booth.do(cast_vote, voter("k"), poll.id, rankings=["Ada", "Ben"]))
    editor = VoterKeys(edit_key=cast.edit_key)
    await cost("change a vote", booth.do(change_vote, editor, poll.id, cast.id, rankings=["Ben"]))
    await cost("results, counted", booth.do(poll_results, NOBODY, poll.id))
    await cost("results, no new votes", booth.do(poll_results, NOBODY, poll.id))
    await cost("the ballots", booth.do(poll_ballots, NOBODY, poll.id))
    await cost("audit", booth.do(poll_audit, admin_of(poll), poll.id))
    await cost("withdraw a vote", booth.do(withdraw_vote, editor, poll.id, cast.id))
    await cost("close", booth.do(close_poll, admin_of(poll), poll.id))
    await cost("reopen", booth.do(reopen_poll, admin_of(poll), poll.id))
    await cost("delete", booth.do(delete_poll, ada, own.id))
    codes = await booth.do(create_poll, NOBODY, title="Who?", candidates=["Ada", "Ben"], voter_policy="codes")
    made = await cost("make ten codes", booth.do(make_codes, admin_of(codes), codes.id, count=10))
    await booth.do(cast_vote, VoterKeys(code=made.codes[1]), codes.id, rankings=["Ben"])
    await cost("vote by code", booth.do(cast_vote, VoterKeys(code=made.codes[0]), codes.id, rankings=["Ada"]))
    return costs


async def test_the_readme_has_what_each_call_costs(embedded_booth):
    (await measured(embedded_booth)).must_be_in(README)
