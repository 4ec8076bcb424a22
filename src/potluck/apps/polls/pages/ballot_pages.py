"""The ballot of a poll with its forms, for every app that has polls: each app declares who votes, and the layout."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from starlette.responses import Response

from potluck.apps.polls.access import WrongKey
from potluck.apps.polls.entities import Vote
from potluck.apps.polls.pages.ballot_form import (
    Ballot,
    BallotForm,
    CandidatesChanged,
    ChangedBallotForm,
    on_ballot,
    ranked_in,
    read_ballot,
)
from potluck.apps.polls.shards import PollClosed
from potluck.apps.polls.votes import VOTES, AccountNeeded, AlreadyVoted, VoteChange, changed, withdrawn
from potluck.web import Access, Actions, SealedCookie, Show, Writes, _


class BallotPages:
    """The ballot, and the forms that cast, change and withdraw a vote."""

    voter: ClassVar[type[Access]]
    """Who may see the ballot and vote; with `poll`, `keys`, `polls`, `own_vote` and `has_voted`."""
    own: ClassVar[type[Access]]
    """Who may change their vote, which is then `at.vote`."""
    address: ClassVar[str]
    """The poll's address, with path parameters in braces. The results are at `/results` below it."""
    path: ClassVar[str | None] = ""
    """The ballot's path below that address; None if another page shows the ballot in place."""
    template: ClassVar[str]
    then: ClassVar[str]
    """Where to redirect after a vote."""
    voter_key: ClassVar[SealedCookie]
    edit_key: ClassVar[SealedCookie]
    sets: ClassVar[Mapping[SealedCookie, Any]] = {}
    """Other cookies that a vote sets."""
    withdrawal_sets: ClassVar[Mapping[SealedCookie, Any]] = {}
    flash: ClassVar[str] = ""

    def __init__(self, subject: Actions[Any], cast: Callable[..., Any]) -> None:
        """`cast` is the rule of the API that takes a NewVote."""
        subject.page(self.path, self.template, access=self.voter)(self.ballot)
        results = f"{self.address}/results"
        subject.form(
            "/vote",
            takes=BallotForm,
            on=self.ballot,
            then=self.then,
            flash=self.flash,
            sets={self.edit_key: "edit_key", self.voter_key: _new_voter_key, **self.sets},
            instead={PollClosed: results, AccountNeeded: f"/sign-in?next={self.address}"},
        )(cast)
        subject.form(
            "/vote/change",
            access=self.own,
            takes=ChangedBallotForm,
            on=self.ballot,
            then=self.then,
            flash=_("Your vote has been changed."),
            instead={PollClosed: results, WrongKey: self.address},
            rate_limit=VOTES,
        )(self.change)
        subject.form(
            "/vote/withdraw",
            access=self.own,
            on=self.ballot,
            then=self.address,
            flash=_("Your vote has been withdrawn."),
            sets=self.withdrawal_sets,
            drops=self.edit_key,
            instead={PollClosed: results, WrongKey: self.address},
            frees_room=True,
        )(self.withdraw)

    async def layout_context(self, at: Any) -> Mapping[str, Any]:
        """Template values of the page around the ballot."""
        raise NotImplementedError

    async def voted(self, at: Any, show: Show) -> Mapping[str, Any] | Response:
        """The page for people who vote again, or whose vote this browser does not know."""
        raise NotImplementedError

    async def ballot(self, at: Any, show: Show) -> Any:
        poll = at.poll
        if not poll.is_open(at.now):
            return show.redirect(f"{self.address}/results".format_map(vars(at)))
        own = await at.own_vote()
        if (own is None or isinstance(show.refusal, AlreadyVoted)) and await at.has_voted():
            return await self.voted(at, show)
        if (voter_key := _new_voter_key(at, None)) is not None:
            # Set before the form is submitted, so that submitting it twice counts as one voter.
            show.set(self.voter_key, voter_key)
        form = show.form(BallotForm if own is None else ChangedBallotForm)
        if show.refusal is None:
            ranked = Ballot() if own is None else ranked_in(poll.candidates, own.rankings)
        elif isinstance(show.refusal, CandidatesChanged):
            ranked = Ballot()
        else:
            ranked = read_ballot(form.values.rank or {}, poll.candidates)
        return {
            **await self.layout_context(at),
            **on_ballot(poll, ranked),
            "form": form,
            "own": own,
            "sign_in_first": poll.voter_policy == "accounts" and at.principal is None,
        }

    async def change(self, at: Any, change: VoteChange) -> Writes[Vote]:
        return changed(at.poll, at.vote, change.rankings, at.now, at.polls, admitted_by=at.admitted_by)

    async def withdraw(self, at: Any) -> Writes[None]:
        return withdrawn(at.poll, at.vote, at.now, at.polls, admitted_by=at.admitted_by)


def _new_voter_key(at: Any, answer: Any) -> str | None:
    return at.new_voter_key if at.poll.voter_policy == "open" else None
