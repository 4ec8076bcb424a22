"""Who may: the poll is read consistently for every call, and whoever asks shows what makes it theirs."""

from datetime import datetime
from uuid import UUID

from potluck.apps.polls.entities import Poll, Vote
from potluck.apps.polls.errors import NoSuchPoll, ResultsHidden, WrongKey
from potluck.apps.polls.keys import Credentials, VoterIds, vote_of
from potluck.apps.polls.views import is_open
from potluck.people.secrets import matches
from potluck.store import Store
from potluck.table import Condition, the

__all__ = ["Admission", "administers", "holds_key", "still_open"]


def still_open(now: datetime) -> Condition:
    """That votes are taken, for the write that decides."""
    return the(Poll.closed_at).is_none() & (the(Poll.expires_at).is_none() | (the(Poll.expires_at) > now))


class Admission:
    """Finds polls for those who may ask for them."""

    def __init__(self, store: Store, voters: VoterIds, *, shared: bool = False) -> None:
        """`shared`: serve the polls that shareables made, and no others; their passcodes then guard them."""
        self._store = store
        self._voters = voters
        self._shared = shared

    async def poll(self, poll_id: UUID) -> Poll:
        """The poll, for anyone who knows its id."""
        return self.served(await self._store.get(Poll.one(poll_id)))

    async def administered(self, by: Credentials, poll_id: UUID) -> Poll:
        """The poll, for whoever made it; WrongKey for anyone else."""
        poll = await self.poll(poll_id)
        if not administers(by, poll):
            raise WrongKey.of_poll()
        return poll

    def served(self, poll: Poll | None) -> Poll:
        """The poll, if it can be reached here."""
        if poll is None or (poll.short_id is not None) != self._shared:
            raise NoSuchPoll
        return poll

    async def must_see_results(self, by: Credentials, poll: Poll, now: datetime) -> None:
        """ResultsHidden for whoever the poll's results are not shown to, or not yet."""
        if administers(by, poll):
            return
        match poll.results_visibility:
            case "always":
                return
            case "afterVote":
                if not is_open(poll, now) or await self.has_voted(by, poll):
                    return
            case "afterClose":
                if not is_open(poll, now):
                    return
        raise ResultsHidden(poll.results_visibility)

    async def has_voted(self, by: Credentials, poll: Poll) -> bool:
        """Whether whoever asks shows what a vote in this poll was cast with, or the key that it gave them."""
        by_key, by_voter = vote_of(by.edit_key), self._voters.vote_id(poll, by)
        wanted = [Vote.one(poll.poll_id, each) for each in (by_key, by_voter) if each is not None]
        for vote in await self._store.get_many(wanted):
            if vote is not None and (vote.vote_id == by_voter or holds_key(by, vote)):
                return True
        return False


def administers(by: Credentials, poll: Poll) -> bool:
    if by.user_id is not None and by.user_id == poll.creator_id:
        return True
    return by.admin_key is not None and poll.admin_key_hash is not None and matches(by.admin_key, poll.admin_key_hash)


def holds_key(by: Credentials, vote: Vote) -> bool:
    return by.edit_key is not None and vote.edit_key_hash is not None and matches(by.edit_key, vote.edit_key_hash)
