"""What the polls' JSON door may be sent: bodies, and the headers that carry a key."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from litestar.params import HeaderParameter
from msgspec import UNSET, Meta, UnsetType

from potluck.apps.polls.authoring import MOST_CODES
from potluck.apps.polls.candidates import FEWEST_CANDIDATES, LONGEST_NAME, is_text
from potluck.apps.polls.entities import MOST_CANDIDATES, Method, ResultsVisibility, VoterPolicy
from potluck.apps.polls.settings import LONGEST_CANDIDATE_DESCRIPTION, LONGEST_DESCRIPTION, LONGEST_TITLE, PollSettings
from potluck.apps.polls.votes import LONGEST_CODE, LONGEST_VOTER_KEY
from potluck.people.errors import WrongField
from potluck.web.bodies import Body, Holds, Says

__all__ = [
    "AdminKey",
    "BallotFormat",
    "EditKey",
    "MethodName",
    "NewCodes",
    "NewPoll",
    "NewVote",
    "PollChange",
    "PollId",
    "Reopening",
    "VoteChange",
    "VoteId",
    "settings_in",
]

# What else a poll's settings are held to depends on each other and on the time: the service says it, all at once.

# A name is more than space; what is around it is not kept.
SAYS_SOMETHING = r"\S"
LARGEST_VERSION = 10**15
LONGEST_KEY = 200


def _wrong_in_key(text: str) -> list[WrongField]:
    return [] if is_text(text) else [WrongField("", "")]


def _wrong_in_rankings(names: list[str]) -> list[WrongField]:
    return [] if names else [WrongField("", "Rank at least one candidate")]


PollId = Annotated[UUID, Says("pollId must be a UUID")]
VoteId = Annotated[UUID, Says("voteId must be a UUID")]

Key = Annotated[str, Meta(max_length=LONGEST_KEY)]
AdminKey = Annotated[
    Key | None,
    HeaderParameter(name="X-Admin-Key", description="The poll's `adminKey`; whoever made it signed in needs none."),
]
EditKey = Annotated[
    Key | None,
    HeaderParameter(name="X-Edit-Key", description="The vote's `editKey`, which shows whose it is."),
]

MethodName = Annotated[Method, Says("Method must be irv, stv, scottish-stv, schulze, ranked-pairs, borda or plurality")]
BallotFormat = Annotated[Literal["json", "csv", "blt"], Says("Format must be json, csv or blt")]

Title = Annotated[
    str,
    Meta(min_length=1, max_length=LONGEST_TITLE, pattern=SAYS_SOMETHING),
    Says(f"Title must have 1 to {LONGEST_TITLE} characters, all of them printable"),
]
Description = Annotated[
    str,
    Meta(max_length=LONGEST_DESCRIPTION),
    Says(f"Description must have at most {LONGEST_DESCRIPTION:,} characters"),
]
CandidateName = Annotated[
    str,
    Meta(min_length=1, max_length=LONGEST_NAME, pattern=SAYS_SOMETHING),
    Says(f"A candidate's name must have 1 to {LONGEST_NAME} characters, all printable"),
]
Candidates = Annotated[
    tuple[CandidateName, ...],
    Meta(min_length=FEWEST_CANDIDATES, max_length=MOST_CANDIDATES),
    Says(f"There must be {FEWEST_CANDIDATES} to {MOST_CANDIDATES} candidates"),
]
CandidateDescription = Annotated[
    str,
    Meta(max_length=LONGEST_CANDIDATE_DESCRIPTION),
    Says(f"What is said of a candidate must have at most {LONGEST_CANDIDATE_DESCRIPTION} characters"),
]
CandidateDescriptions = Annotated[dict[CandidateName, CandidateDescription], Meta(max_length=MOST_CANDIDATES)]
Policy = Annotated[VoterPolicy, Says("voterPolicy must be open, codes or accounts")]
Visibility = Annotated[ResultsVisibility, Says("resultsVisibility must be always, afterVote, afterClose or admin")]
MaxRankings = Annotated[int, Meta(ge=1, le=MOST_CANDIDATES), Says(f"maxRankings must be 1 to {MOST_CANDIDATES}")]
Seats = Annotated[
    int,
    Meta(ge=1, le=MOST_CANDIDATES),
    Says("Seats must be at least 1, and no more than there are candidates"),
]
VersionSeen = Annotated[int, Meta(ge=1, le=LARGEST_VERSION), Says("Version must be a positive integer")]
VoterKey = Annotated[
    str,
    Meta(min_length=1, max_length=LONGEST_VOTER_KEY),
    Holds(_wrong_in_key),
    Says(f"voterKey must have 1 to {LONGEST_VOTER_KEY} characters, all of them printable"),
]
CodeText = Annotated[
    str,
    Meta(min_length=1, max_length=LONGEST_CODE),
    Holds(_wrong_in_key),
    Says(f"code must have 1 to {LONGEST_CODE} characters, all of them printable"),
]
# A name that is longer than any candidate's is no candidate's: which one it is, the service says.
Rankings = Annotated[
    tuple[Annotated[str, Meta(max_length=1_000)], ...],
    Meta(max_length=MOST_CANDIDATES),
    Holds(_wrong_in_rankings),
    Says(f"Rankings must be a list of candidates' names, at most {MOST_CANDIDATES}"),
]


class NewPoll(Body):
    """A question, and what can be put in order."""

    title: Title
    candidates: Candidates
    description: Description | None = None
    candidate_descriptions: CandidateDescriptions | None = None
    """What is said of a candidate, by name."""
    expires_at: datetime | None = None
    """Votes are accepted strictly before it."""
    voter_policy: Policy | UnsetType = UNSET
    """One vote for each `voterKey`, for each code, or for each account."""
    results_visibility: Visibility | UnsetType = UNSET
    """Who sees the results while the poll is open."""
    max_rankings: MaxRankings | None = None
    method: MethodName | UnsetType = UNSET
    """How it is counted where nobody asks for another method: `irv`, for several seats `stv`."""
    seats: Seats | UnsetType = UNSET


class PollChange(Body):
    """What is to be otherwise, until somebody has voted."""

    version: VersionSeen | UnsetType = UNSET
    title: Title | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    candidates: Candidates | UnsetType = UNSET
    candidate_descriptions: CandidateDescriptions | UnsetType | None = UNSET
    expires_at: datetime | UnsetType | None = UNSET
    voter_policy: Policy | UnsetType = UNSET
    results_visibility: Visibility | UnsetType = UNSET
    max_rankings: MaxRankings | UnsetType | None = UNSET
    method: MethodName | UnsetType = UNSET
    seats: Seats | UnsetType = UNSET


class Reopening(Body):
    """Until when, if that is to be otherwise."""

    expires_at: datetime | UnsetType | None = UNSET
    """Votes are accepted strictly before it. Left out, it stays as it was, and none if it has passed; null: none."""


class NewCodes(Body):
    count: Annotated[int, Meta(ge=1, le=MOST_CODES), Says(f"Count must be 1 to {MOST_CODES:,}")]


class NewVote(Body):
    """Candidates by name, first choice to last; not all of them have to be ranked."""

    rankings: Rankings
    voter_key: VoterKey | None = None
    """Whatever tells this voter from others, in a poll that is open; without one, the voter is a new one."""
    code: CodeText | None = None


class VoteChange(Body):
    rankings: Rankings


def settings_in(body: NewPoll | PollChange) -> PollSettings:
    """What a body says of a poll."""
    return PollSettings(**{name: getattr(body, name) for name in PollSettings.__struct_fields__})
