"""Polls' card on the home page."""

from potluck.apps.polls.context import PollsContext
from potluck.apps.polls.entities import CreatedPoll
from potluck.apps.polls.polls import served_polls
from potluck.apps.polls.results import turnout_of
from potluck.people import Principal
from potluck.store import all_done
from potluck.web import HomeCard

ICON = "vote"
# Of a person's hundreds of polls, only the latest are counted.
POLLS_AT_A_GLANCE = 100
WAITING_SHOWN = 3


async def home_card(context: PollsContext, principal: Principal) -> HomeCard:
    """How many of the caller's polls are open, and which of those stay open until the caller closes them."""
    store = context.store
    created = (await store.page(CreatedPoll.of_creator(principal.user_id), POLLS_AT_A_GLANCE)).items
    polls = await served_polls(store, [row.poll_id for row in created])
    now = store.clock()
    open_polls = [poll for poll in polls if poll.is_open(now)]
    endless = [poll for poll in open_polls if poll.expires_at is None][:WAITING_SHOWN]
    turnouts = await all_done([turnout_of(store, poll.poll_id) for poll in endless])
    card = HomeCard(f"{len(open_polls)} open" if open_polls else "None open" if polls else "")
    for poll, turnout in zip(endless, turnouts, strict=True):
        if turnout.votes:
            card.add(poll.title, _note(turnout.votes), f"/polls/{poll.poll_id}/results", ICON, "Look")
    return card


def _note(votes: int) -> str:
    return f"{votes:,} vote{'' if votes == 1 else 's'}, open until you close it"
