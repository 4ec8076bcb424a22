"""The polls' services, put together the one way they belong: what both doors, and the assembly, are given."""

import time
from dataclasses import dataclass
from uuid import UUID

from potluck.apps.polls.admission import Admission
from potluck.apps.polls.authoring import Authoring
from potluck.apps.polls.deletions import Deletions
from potluck.apps.polls.departures import Departures
from potluck.apps.polls.entities import CreatedPoll, Poll, ranked_choice_polls
from potluck.apps.polls.keys import VoterIds
from potluck.apps.polls.records import Records, Stopwatch
from potluck.apps.polls.results import PollResults, ReadersWait
from potluck.apps.polls.views import is_open
from potluck.apps.polls.votes import Votes
from potluck.people.authentication import Principal
from potluck.people.secrets import Random, system_random
from potluck.store import Clock, Store, all_done
from potluck.streams import Consumer

__all__ = ["VOTER_IDS", "AtAGlance", "OpenPoll", "Polls", "open_polls"]

VOTER_IDS = "poll voters"
"""What the key for the ids of votes is derived for, from the suite's secret."""

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
    """What polls have to say to a person on the home page."""

    made: int
    open: int
    to_close: list[OpenPoll]

    @property
    def fact(self) -> str:
        """A few words: "1 open"; none for someone who has made no poll."""
        if not self.made:
            return ""
        return f"{self.open} open" if self.open else "None open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Polls:
    """Every verb there is, by what it is about."""

    authoring: Authoring
    votes: Votes
    results: PollResults
    admission: Admission
    deletions: Deletions
    departures: Departures
    store: Store
    clock: Clock

    def consumers(self) -> list[Consumer]:
        """What goes on behind the calls: a poll of many votes is deleted to its end."""
        return [
            Consumer(
                self.store.engine,
                "poll-deletions",
                ranked_choice_polls.name,
                self.deletions.handle,
                lost=self.deletions.lost,
            )
        ]

    async def at_a_glance(self, caller: Principal) -> AtAGlance:
        """How many of the caller's polls are open, and which of those nobody but the caller will close."""
        created = (await self.store.page(CreatedPoll.of_creator(caller.user_id), POLLS_AT_A_GLANCE)).items
        found = await self.store.get_many([Poll.one(each.poll_id) for each in created])
        polls = [each for each in found if each is not None and each.short_id is None]
        now = self.clock()
        running = [each for each in polls if is_open(each, now)]
        endless = [each for each in running if each.expires_at is None][:WAITING_SHOWN]
        turnouts = await all_done([self.results.turnout_of(each.poll_id) for each in endless])
        to_close = [
            OpenPoll(poll.poll_id, poll.title, turnout.votes)
            for poll, turnout in zip(endless, turnouts, strict=True)
            if turnout.votes
        ]
        return AtAGlance(len(polls), len(running), to_close)


def open_polls(
    store: Store,
    clock: Clock,
    key: bytes,
    *,
    random: Random = system_random,
    stopwatch: Stopwatch = time.perf_counter,
    readers_wait: ReadersWait | None = None,
    shared: bool = False,
) -> Polls:
    """The services on this store. `key` makes the ids of votes: whoever has it can tell voters by their votes.

    `shared`: for the polls that shareables made, and no others.
    """
    voters = VoterIds(key)
    admission = Admission(store, voters, shared=shared)
    deletions = Deletions(store)
    return Polls(
        authoring=Authoring(store, clock, random, admission, voters, deletions),
        votes=Votes(store, clock, random, admission, voters),
        results=PollResults(store, clock, admission, Records(store, clock, stopwatch), readers_wait or ReadersWait()),
        admission=admission,
        deletions=deletions,
        departures=Departures(store, clock, deletions),
        store=store,
        clock=clock,
    )
