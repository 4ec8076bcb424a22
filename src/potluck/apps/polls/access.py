"""Access to polls: each call reads the poll consistently, and the caller presents a key or is signed in."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar

from potluck.apps.polls.context import PollsContext
from potluck.apps.polls.entities import Poll, Results, Vote
from potluck.apps.polls.fields import PollId, ResultsVisibility, VoteId
from potluck.apps.polls.keys import VoterKeys, new_voter_key, vote_of
from potluck.store import Store
from potluck.table import Condition, Ref, the
from potluck.web import Access, Maker, NotFound, ProblemError, SealedCookie, Visitor, read_together

ADMIN_KEY = {"X-Admin-Key": "The poll's `adminKey`; whoever made it signed in needs none."}
EDIT_KEY = {"X-Edit-Key": "The vote's `editKey`, which shows whose it is."}
LAST_EVENT_ID = {
    "Last-Event-ID": "The id of the last event that was seen; browsers send it by themselves. It comes before `since`."
}
HOME = "/polls"
POLL = f"{HOME}/{{poll_id}}"
# What browsers hold: one voter key for all polls, and for each poll the keys that were issued for it.
ADMIN_COOKIE = SealedCookie("potluck-poll-admin", path=POLL)
EDIT_COOKIE = SealedCookie("potluck-poll-vote", path=POLL)
VOTER_COOKIE = SealedCookie("potluck-voter", path=HOME)


class WrongKey(
    ProblemError,
    slug="wrong-key",
    status=403,
    title="Not with this key",
    remedy="Send the poll's key as X-Admin-Key, or the vote's as X-Edit-Key. Who made a poll signed in needs no key.",
):
    """A poll can be changed by whoever made it, and a vote by whoever cast it. Each got a key for that, once, and this
    request carried none, or another one."""

    @classmethod
    def of_poll(cls) -> "WrongKey":
        return cls("Only who made the poll may do this, with its admin key or signed in")

    @classmethod
    def of_vote(cls) -> "WrongKey":
        return cls("Only who cast the vote may do this, with its edit key")


class WrongTypedKey(WrongKey, field="key"):
    """The key that was typed is another one."""


class ResultsHidden(ProblemError, slug="results-hidden", status=403, title="Results are not shown"):
    """Whoever made the poll decides who sees its results, and when: always, after voting, after closing, or only
    they."""

    WHY: ClassVar[Mapping[str, str]] = {
        "afterVote": "You see the results when you have voted, or when the poll is closed",
        "afterClose": "The results are shown when the poll is closed",
        "admin": "Only who made the poll sees its results",
    }

    def __init__(self, visibility: ResultsVisibility) -> None:
        super().__init__(self.WHY[visibility], resultsVisibility=visibility)


# --- the conditions ---------------------------------------------------------------------------------------------------


def still_open(now: datetime) -> Condition:
    """The condition that the poll takes votes, for a write to check."""
    return the(Poll.closed_at).is_none() & (the(Poll.expires_at).is_none() | (the(Poll.expires_at) > now))


def served(poll: Poll | None, context: PollsContext) -> Poll:
    """The poll, if it is served here: a shareable's poll only through its shareable. NotFound otherwise."""
    if poll is None or (poll.short_id is not None) != context.shared:
        raise NotFound
    return poll


# --- who is admitted --------------------------------------------------------------------------------------------------


class PollMaker(Maker):
    """Anybody, signed in or not."""

    @property
    def polls(self) -> PollsContext:
        found: PollsContext = self.context
        return found


class AtBallot:
    """What voters have at a poll, whichever app it is in."""

    poll: Poll
    polls: PollsContext
    keys: VoterKeys
    visitor: Visitor
    store: Store
    new_voter_key: str | None = None
    """What a browser gets that has no voter key yet."""

    def give_voter_key(self) -> None:
        """Vote with a key from now on, also in a browser that has none; whoever answers sets it as a cookie."""
        if self.visitor.by_page and self.keys.voter_key is None:
            self.new_voter_key = new_voter_key(self.polls.random)
            self.keys = replace(self.keys, voter_key=self.new_voter_key)

    async def own_vote(self, by: VoterKeys | None = None) -> Vote | None:
        """The vote that the edit key in `by` belongs to; by default, the key in this browser's cookie."""
        by = by or self.keys
        vote_id = vote_of(by.edit_key)
        vote = None if vote_id is None else await self.store.get(Vote.one(self.poll.poll_id, vote_id))
        return vote if vote is not None and by.holds(vote) else None

    async def has_voted(self) -> bool:
        """Whether the caller presents the credentials that a vote in this poll was cast with, or its edit key."""
        by_key = vote_of(self.keys.edit_key)
        is_new = self.new_voter_key is not None and self.poll.voter_policy == "open"
        by_voter = None if is_new else self.polls.voters.vote_id(self.poll, self.keys)
        ids = [each for each in (by_key, by_voter) if each]
        votes = await self.store.get_many([Vote.one(self.poll.poll_id, each) for each in ids])
        return any(vote is not None and (vote.vote_id == by_voter or self.keys.holds(vote)) for vote in votes)


class ToPoll(AtBallot, Access):
    """Anybody who has the poll's id."""

    unlisted = True

    poll_id: PollId

    def __init__(self, core: Any, context: PollsContext, visitor: Visitor, ids: Mapping[str, Any]) -> None:
        super().__init__(core, context, visitor, ids)
        self.polls = context
        self.keys = _credentials(visitor, self.headers)

    def reads(self) -> Sequence[Ref[Any]]:
        return (Poll.one(self.poll_id),)

    async def admit(self, *rows: Any) -> None:
        self.poll = served(rows[0], self.polls)

    async def sees_results(self) -> bool:
        """Whether the caller may see the results now."""
        try:
            await self.must_see_results()
        except ResultsHidden:
            return False
        return True

    async def must_see_results(self) -> None:
        """Raises ResultsHidden if the caller may not see the results, or not yet."""
        visibility = self.poll.results_visibility
        if visibility == "always" or self.keys.administers(self.poll):
            return
        if visibility != "admin" and not self.poll.is_open(self.now):
            return
        if visibility == "afterVote" and await self.has_voted():
            return
        raise ResultsHidden(visibility)

    async def readmit(self) -> None:
        """Reads the poll again; raises if the caller is no longer admitted."""
        await self.admit(*await read_together(self.store, self.reads()))


class PollAdmin(ToPoll):
    """The poll's creator: with its admin key, or signed in."""

    headers = ADMIN_KEY

    async def admit(self, *rows: Any) -> None:
        await super().admit(*rows)
        if not self.keys.administers(self.poll):
            raise WrongKey.of_poll()


class PollCopier(Maker, PollAdmin):
    """The poll's creator, making a copy."""


class Voter(Maker, ToPoll):
    """Anybody who has the poll's id; the poll's policy decides whether they may vote."""

    def __init__(self, core: Any, context: PollsContext, visitor: Visitor, ids: Mapping[str, Any]) -> None:
        super().__init__(core, context, visitor, ids)
        self.give_voter_key()


class VoteHolder(ToPoll):
    """The voter who cast the vote, by its edit key."""

    headers = EDIT_KEY
    vote_id: VoteId

    def reads(self) -> Sequence[Ref[Any]]:
        return (Poll.one(self.poll_id), Vote.one(self.poll_id, self.vote_id))

    async def admit(self, *rows: Any) -> None:
        poll, vote = rows
        await super().admit(poll)
        if vote is None or not self.keys.holds(vote):
            # The same error for both, so that nobody learns whether a vote exists or was withdrawn.
            raise WrongKey.of_vote()


class OwnVote(ToPoll):
    """The voter whose edit key this browser has."""

    async def admit(self, *rows: Any) -> None:
        await super().admit(*rows)
        vote = await self.own_vote()
        if vote is None:
            raise WrongKey.of_vote()
        self.vote = vote


class SeesResults(ToPoll):
    """A caller to whom the poll shows its results."""

    headers = {**ADMIN_KEY, **EDIT_KEY}  # noqa: RUF012 - declared in Access

    async def admit(self, *rows: Any) -> None:
        await super().admit(*rows)
        await self.must_see_results()


class FollowsResults(SeesResults):
    """The same, for a live stream."""

    headers = {**SeesResults.headers, **LAST_EVENT_ID}  # noqa: RUF012 - declared in Access


class ReadsRecord(SeesResults):
    """The same, having read in one query all that results need: the poll, its records and its shards."""

    def reads(self) -> Sequence[Ref[Any]]:
        return ()

    async def admit(self, *rows: Any) -> None:
        # A page follows the results from here on. A program gets this position by itself.
        self.live_position = await self.position(Results.of(self.poll_id)) if self.visitor.by_page else ""
        self.found = await self.store.gather(Results.of(self.poll_id))
        await super().admit(None if self.found is None else self.found.poll)


def _credentials(visitor: Visitor, headers: Mapping[str, str]) -> VoterKeys:
    """The caller's credentials: a program's from the headers that the access declares, a browser's from its cookies."""
    if visitor.by_page:
        return VoterKeys(
            principal=visitor.principal,
            admin_key=ADMIN_COOKIE.value(visitor) or None,
            edit_key=EDIT_COOKIE.value(visitor) or None,
            voter_key=VOTER_COOKIE.value(visitor) or None,
        )
    keys = {name: visitor.headers.get(name) for name in headers}
    return VoterKeys(principal=visitor.principal, admin_key=keys.get("X-Admin-Key"), edit_key=keys.get("X-Edit-Key"))
