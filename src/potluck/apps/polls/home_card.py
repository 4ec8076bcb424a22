"""What polls have to say to a person on the home page."""

from dataclasses import dataclass
from uuid import UUID

from potluck.apps.polls.context import PollsContext
from potluck.apps.polls.entities import CreatedPoll, Poll
from potluck.apps.polls.results import turnout_of
from potluck.people.authentication import Principal
from potluck.store import all_done

__all__ = ["AtAGlance", "OpenPoll", "at_a_glance"]

# Whoever has made hundreds of polls is told of the latest.
POLLS_AT_A_GLANCE = 100
WAITING_SHOWN = 3


@dataclass(frozen=True, slots=True)
class OpenPoll:
    """A poll that is open until its maker closes it, and that people have voted in."""

    poll_id: UUID
    title: str
    votes: int

    @property
    def note(self) -> str:
        return f"{self.votes:,} vote{'' if self.votes == 1 else 's'}, open until you close it"


@dataclass(frozen=True, slots=True)
class AtAGlance:
    made: int
    open: int
    to_close: list[OpenPoll]

    @property
    def fact(self) -> str:
        """A few words: "1 open"; none for someone who has made no poll."""
        if not self.made:
            return ""
        return f"{self.open} open" if self.open else "None open"


async def at_a_glance(context: PollsContext, principal: Principal) -> AtAGlance:
    """How many of the caller's polls are open, and which of those nobody but the caller will close."""
    rows = context.store
    created = (await rows.page(CreatedPoll.of_creator(principal.user_id), POLLS_AT_A_GLANCE)).items
    found = await rows.get_many([Poll.one(each.poll_id) for each in created])
    polls = [each for each in found if each is not None and each.short_id is None]
    now = context.clock()
    running = [each for each in polls if each.is_open(now)]
    endless = [each for each in running if each.expires_at is None][:WAITING_SHOWN]
    turnouts = await all_done([turnout_of(rows, each.poll_id) for each in endless])
    to_close = [
        OpenPoll(poll.poll_id, poll.title, turnout.votes)
        for poll, turnout in zip(endless, turnouts, strict=True)
        if turnout.votes
    ]
    return AtAGlance(len(polls), len(running), to_close)
