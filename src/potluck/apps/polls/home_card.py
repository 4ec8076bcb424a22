"""Polls' card on the home page."""

from potluck.apps.polls.context import PollsContext
from potluck.apps.polls.entities import CreatedPoll, Poll
from potluck.apps.polls.results import turnout_of
from potluck.people import Principal
from potluck.store import all_done
from potluck.web import HomeCard, Waiting

ICON = "vote"
# A person who made hundreds of polls sees only the latest.
POLLS_AT_A_GLANCE = 100
WAITING_SHOWN = 3


async def home_card(context: PollsContext, principal: Principal) -> HomeCard:
    """How many of the caller's polls are open, and which of those stay open until the caller closes them."""
    rows = context.store
    created = (await rows.page(CreatedPoll.of_creator(principal.user_id), POLLS_AT_A_GLANCE)).items
    found = await rows.get_many([Poll.one(each.poll_id) for each in created])
    polls = [each for each in found if each is not None and each.short_id is None]
    now = context.clock()
    running = [each for each in polls if each.is_open(now)]
    endless = [each for each in running if each.expires_at is None][:WAITING_SHOWN]
    turnouts = await all_done([turnout_of(rows, each.poll_id) for each in endless])
    return HomeCard(
        f"{len(running)} open" if running else "None open" if polls else "",
        [
            Waiting(poll.title, _note(turnout.votes), f"/polls/{poll.poll_id}/results", ICON, "Look")
            for poll, turnout in zip(endless, turnouts, strict=True)
            if turnout.votes
        ],
    )


def _note(votes: int) -> str:
    return f"{votes:,} vote{'' if votes == 1 else 's'}, open until you close it"
