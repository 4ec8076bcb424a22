"""What each call costs, counted; the README has the same table."""

from pathlib import Path

import potluck.apps.polls
from potluck.apps.polls.keys import VoterKeys
from tests.apps.call_costs import CallCosts
from tests.apps.polls.assembly import NOBODY, PollSettings, admin_of, voter

README = Path(potluck.apps.polls.__file__).with_name("README.md")


async def measured(booth):
    """Each call with its requests, read units and write units, on polls where everything is small."""
    ada = await booth.person()
    authoring, votes, results = booth.polls.authoring, booth.polls.votes, booth.polls.results
    said = PollSettings(title="Who?", candidates=["Ada", "Ben", "Cyd"])
    costs = CallCosts(booth.recording)
    cost = costs.count

    poll = await cost("make a poll", authoring.create(NOBODY, said))
    own = await cost("make one, signed in", authoring.create(ada, said))
    await cost("look at a poll", authoring.one(poll.id))
    await cost("my polls", authoring.own(ada.principal, 50))
    await cost("edit", authoring.edit(admin_of(poll), poll.id, 1, PollSettings(title="Whom?")))
    cast = await cost("vote", votes.cast(voter("k"), poll.id, ["Ada", "Ben"]))
    editor = VoterKeys(edit_key=cast.edit_key)
    await cost("change a vote", votes.change(editor, poll.id, cast.id, ["Ben"]))
    await cost("results, counted", results.read(NOBODY, poll.id))
    await cost("results, nobody having voted since", results.read(NOBODY, poll.id))
    await cost("how many have voted", results.turnout(NOBODY, poll.id))
    await cost("the ballots", results.ballots(NOBODY, poll.id))
    await cost("audit", results.audit(admin_of(poll), poll.id))
    await cost("withdraw a vote", votes.withdraw(editor, poll.id, cast.id))
    await cost("close", authoring.close(admin_of(poll), poll.id))
    await cost("reopen", authoring.reopen(admin_of(poll), poll.id))
    await cost("delete", authoring.delete(ada, own.id))
    codes = await authoring.create(NOBODY, PollSettings(title="Who?", candidates=["Ada", "Ben"], voter_policy="codes"))
    made = await cost("make ten codes", authoring.make_codes(admin_of(codes), codes.id, 10))
    await cost("vote by code", votes.cast(VoterKeys(code=made.codes[0]), codes.id, ["Ada"]))
    return costs


async def test_the_readme_has_what_each_call_costs(embedded_booth):
    (await measured(embedded_booth)).must_be_in(README)
