"""The ballot form: one field with a rank for each candidate, whether the voter typed, chose or dragged it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from potluck.apps.polls.access import AtBallot
from potluck.apps.polls.entities import Poll
from potluck.apps.polls.votes import NewVote, VoteChange
from potluck.validation import FieldError, ValidationError
from potluck.web import FormOf, Line, ProblemError, _, formats

NUMBER = re.compile(r"[1-9][0-9]{0,2}")
RANK = re.compile(r"[0-9]{1,3}")
# With more ranks than this, a drop-down for each candidate would be longer than the ballot: voters type a number.
MOST_PLACES_LISTED = 20


class CandidatesChanged(
    ProblemError,
    slug="version-conflict",
    detail="The candidates have changed since you opened the ballot. Look at them again, and rank them anew",
):
    """The numbers on the ballot now refer to other candidates, which can happen until the first vote."""


@dataclass(frozen=True, slots=True)
class Ballot:
    """A filled-in ballot: the rank typed for each candidate, by number; the resulting ranking; and the error in it."""

    ranks: Mapping[int, str] = field(default_factory=dict)
    ranking: Sequence[int] = ()
    error: str = ""


class ChangedBallotForm(FormOf[VoteChange]):
    """The ballot of someone who has voted."""

    rank: dict[str, Line] = {}  # noqa: RUF012 - copied by msgspec
    """The rank typed for each candidate, by number."""
    ballot: Line = ""
    """A hash of the candidates when the ballot was shown."""

    errors_at = {"rankings": "rank"}  # noqa: RUF012 - declared in FormOf

    def as_input(self, at: AtBallot) -> VoteChange:
        return VoteChange.decode({"rankings": self.rankings(at.poll.candidates)})

    def rankings(self, candidates: Sequence[str]) -> list[str]:
        """The candidates in the order of their ranks; ValidationError if they have none."""
        ballot = read_ballot(self.rank, candidates)
        if ballot.error:
            raise ValidationError(FieldError("rank", ballot.error))
        return [candidates[number - 1] for number in ballot.ranking]


class BallotForm(FormOf[NewVote]):
    """The ballot of someone who has not voted yet."""

    rank: dict[str, Line] = {}  # noqa: RUF012 - copied by msgspec
    ballot: Line = ""
    code: Line = ""

    errors_at = ChangedBallotForm.errors_at

    def as_input(self, at: AtBallot) -> NewVote:
        if self.ballot not in ("", ballot_of(at.poll.candidates)):
            raise CandidatesChanged
        rankings = ChangedBallotForm(rank=self.rank).rankings(at.poll.candidates)
        return NewVote.decode({"rankings": rankings, "code": self.code.strip() or None})


def ranked_in(candidates: Sequence[str], rankings: Sequence[str]) -> Ballot:
    """The ballot filled in with a vote, for its voter to change."""
    numbers = {name: number for number, name in enumerate(candidates, 1)}
    ranking = [numbers[name] for name in rankings if name in numbers]
    return Ballot({number: str(place) for place, number in enumerate(ranking, 1)}, ranking)


def ballot_of(candidates: Sequence[str]) -> str:
    """A hash of the candidates that a ballot's numbers refer to, which may change until the first vote."""
    return sha256("\n".join(candidates).encode()).hexdigest()[:16]


def read_ballot(fields: Mapping[str, str], candidates: Sequence[str]) -> Ballot:
    """Reads a submitted ballot. Gaps between ranks are ignored; two candidates at one rank are an error."""
    ranks = {
        int(number): text.strip()
        for number, text in fields.items()
        if NUMBER.fullmatch(number) and int(number) <= len(candidates) and text.strip()
    }
    unreadable = [number for number, text in ranks.items() if not RANK.fullmatch(text) or int(text) == 0]
    if unreadable:
        names = formats.list_text(candidates[number - 1] for number in sorted(unreadable))
        return Ballot(
            ranks,
            (),
            _("Give %(names)s a whole number from 1 to %(most)s, or none.", names=names, most=len(candidates)),
        )
    by_rank: dict[int, list[int]] = {}
    for number, text in ranks.items():
        by_rank.setdefault(int(text), []).append(number)
    for rank, numbers in sorted(by_rank.items()):
        if len(numbers) > 1:
            names = formats.list_text(candidates[number - 1] for number in sorted(numbers))
            return Ballot(
                ranks, (), _("%(names)s have the same number, %(rank)s. Use each number once.", names=names, rank=rank)
            )
    return Ballot(ranks, [number for rank, (number,) in sorted(by_rank.items())])


def on_ballot(poll: Poll, ranked: Ballot) -> dict[str, Any]:
    """Template values of polls/ballot_form.html for this poll and filled-in ballot."""
    candidates = poll.candidates
    most = min(poll.max_rankings or len(candidates), len(candidates))
    chosen = list(ranked.ranking)
    return {
        "written": ranked.ranks,
        "order": [*chosen, *(number for number in range(1, len(candidates) + 1) if number not in chosen)],
        "ranked": len(chosen),
        "ballot": ballot_of(candidates),
        "most": most,
        "places": [str(place) for place in range(1, most + 1)] if most <= MOST_PLACES_LISTED else [],
    }
