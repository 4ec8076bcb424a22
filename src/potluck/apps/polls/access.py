"""Access to polls: each call reads the poll consistently, and the caller presents a key or is signed in."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar

from potluck.apps.polls.context import PollsContext
from potluck.apps.polls.entities import Poll, Results, Vote
from potluck.apps.polls.fields import PollId, ResultsVisibility, VoteId
from potluck.apps.polls.keys import VoterKeys, new_voter_key, vote_of
from potluck.store import Store
from potluck.table import Condition, Ref, the
from potluck.web import Access, NotFound, ProblemError, SealedCookie, _

ADMIN_KEY = {"X-Admin-Key": "The poll's `adminKey`; a creator who is signed in needs none."}
EDIT_KEY = {"X-Edit-Key": "The vote's `editKey`, which proves that it is yours."}
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
    title="Wrong key",
    remedy="Send the poll's key as X-Admin-Key, or the vote's as X-Edit-Key. A poll's signed-in creator needs no key.",
):
    """Only a poll's creator can change it, and only its voter a vote. Each received a key for that, once; the request
    had no key, or the wrong one."""

    @classmethod
    def of_poll(cls) -> "WrongKey":
        return cls(_("Only the poll’s creator may do this, with its admin key or signed in"))

    @classmethod
    def of_vote(cls) -> "WrongKey":
        return cls(_("Only the voter may do this, with the vote’s edit key"))


class WrongTypedKey(WrongKey, field="key"):
    """The key that was typed is wrong."""


class ResultsHidden(ProblemError, slug="results-hidden", status=403, title="Results are hidden"):
    """The poll's creator decides who sees its results, and when: always, after voting, after closing, or only the
    creator."""

    WHY: ClassVar[Mapping[str, str]] = {
        "afterVote": _("You can see the results once you have voted or the poll is closed"),
        "afterClose": _("The results are shown when the poll is closed"),
        "admin": _("Only the poll’s creator can see its results"),
    }

    def __init__(self, visibility: ResultsVisibility) -> None:
        super().__init__(self.WHY[visibility], resultsVisibility=visibility)


# --- the conditions ---------------------------------------------------------------------------------------------------


def still_open(now: datetime) -> Condition:
    """The condition that the poll accepts votes, for a write to check."""
    return the(Poll.closed_at).is_none() & (the(Poll.expires_at).is_none() | (the(Poll.expires_at) > now))


def served(poll: Poll | None, context: PollsContext) -> Poll:
    """The poll, if it is served here: a shareable's poll only through its shareable. NotFound otherwise."""
    if poll is None or (poll.short_id is not None) != context.shared:
        raise NotFound
    return poll


# --- who is admitted --------------------------------------------------------------------------------------------------


class PollMaker(Access):
    """Anyone, signed in or not."""

    needs_account = True

    @property
    def polls(self) -> PollsContext:
        context: PollsContext = self.context
        return context


class AtBallot:
    """A caller at a poll's ballot, in whichever app the poll is."""

    poll: Poll
    polls: PollsContext
    store: Store
    admitted_by: int | None = None
    """The version of the shareable that admitted the caller, if the poll belongs to one."""
    new_voter_key: str | None = None
    """The voter key to set in a browser that has none yet."""

    @cached_property
    def keys(self) -> VoterKeys:
        """What the caller presents."""
        return self.credentials()

    def credentials(self) -> VoterKeys:
        """What this request presents."""
        raise NotImplementedError

    def give_voter_key(self) -> None:
        """Make a voter key for a browser that has none; the page that answers sets it as a cookie."""
        if self.keys.voter_key is None:
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
        ids = [vote_id for vote_id in (by_key, by_voter) if vote_id]
        votes = await self.store.get_many([Vote.one(self.poll.poll_id, vote_id) for vote_id in ids])
        return any(vote is not None and (vote.vote_id == by_voter or self.keys.holds(vote)) for vote in votes)


class ToPoll(AtBallot, Access):
    """Anyone who has the poll's id."""

    unlisted = True

    poll_id: PollId

    def credentials(self) -> VoterKeys:
        """A program's from the headers that the access declares, a browser's from its cookies."""
        visitor = self.visitor
        if visitor.by_page:
            return VoterKeys(
                principal=visitor.principal,
                admin_key=ADMIN_COOKIE.value(visitor) or None,
                edit_key=EDIT_COOKIE.value(visitor) or None,
                voter_key=VOTER_COOKIE.value(visitor) or None,
            )
        keys = {name: visitor.headers.get(name) for name in self.headers}
        return VoterKeys(
            principal=visitor.principal, admin_key=keys.get("X-Admin-Key"), edit_key=keys.get("X-Edit-Key")
        )

    def reads(self) -> Sequence[Ref[Any]]:
        return (Poll.one(self.poll_id),)

    async def admit(self, *rows: Any) -> None:
        self.polls = self.context
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


class PollAdmin(ToPoll):
    """The poll's creator: with its admin key, or signed in."""

    headers = ADMIN_KEY

    async def admit(self, *rows: Any) -> None:
        await super().admit(*rows)
        if not self.keys.administers(self.poll):
            raise WrongKey.of_poll()


class PollCopier(PollAdmin):
    """The poll's creator, making a copy."""

    needs_account = True


class Voter(ToPoll):
    """Anyone who has the poll's id; the poll's policy decides whether they may vote."""

    needs_account = True

    async def admit(self, *rows: Any) -> None:
        await super().admit(*rows)
        if self.visitor.by_page:
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
            # The same error for both, so that it does not reveal whether a vote exists or was withdrawn.
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
    """A caller who may see the poll's results."""

    headers = {**ADMIN_KEY, **EDIT_KEY}  # noqa: RUF012 - declared in Access

    async def admit(self, *rows: Any) -> None:
        await super().admit(*rows)
        await self.must_see_results()


class ReadsRecord(SeesResults):
    """The same; reads everything that results need in one query: the poll, its records and its shards."""

    def reads(self) -> Sequence[Ref[Any]]:
        return ()

    async def admit(self, *rows: Any) -> None:
        # A page follows the results from this position; a program asks for it separately.
        self.live_position = await self.position(Results.of(self.poll_id)) if self.visitor.by_page else ""
        self.found = await self.store.gather(Results.of(self.poll_id))
        await super().admit(None if self.found is None else self.found.poll)
