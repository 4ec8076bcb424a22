"""Polls' field types: each field's bounds and error message, for entities, inputs and forms."""

from collections.abc import Iterable
from typing import Annotated, Literal, get_args
from unicodedata import normalize
from uuid import UUID

from potluck.apps.polls.ballot_files import Format
from potluck.apps.polls.ballot_files.contents import folded
from potluck.validation import (
    FieldError,
    Integer,
    Length,
    Message,
    Text,
    one_line,
    seen,
)
from potluck.web import _

FEWEST_CANDIDATES = 2
MOST_CANDIDATES = 100
LONGEST_TITLE = 200
LONGEST_DESCRIPTION = 2_000
LONGEST_NAME = 100
# Short enough that a hundred descriptions, with their names, fit into the poll's row.
LONGEST_ABOUT_CANDIDATE = 500
LONGEST_VOTER_KEY = 200
LONGEST_CODE = 100
MOST_CODES = 1_000
MOST_CODES_OF_POLL = 10_000
# Ten shards make two million votes: more than counting has been tested with.
MOST_VOTES_OF_SHARD = 200_000


def tidy(name: str) -> str:
    """The name as it is stored: accents composed, surrounding space removed, runs of space collapsed."""
    return " ".join(normalize("NFC", name).split())


def seen_as(name: str) -> str:
    """Equal for names that a voter could not tell apart: by Unicode form, case, spacing or invisible characters."""
    return normalize("NFC", folded(seen(name)))


def _wrong_name(name: str) -> Iterable[FieldError]:
    # Not a line, because tidy() turns a line end or a tab into a space.
    stored = tidy(name)
    if len(stored) > LONGEST_NAME:
        yield FieldError("", "")
    elif wrong := one_line(stored):
        yield FieldError("", f"A candidate’s name {wrong}")


SEATS_MESSAGE = _("Seats must be at least 1, and no more than there are candidates")
NAME_MESSAGE = _("A candidate’s name must have 1 to %(most)s characters, all printable", most=LONGEST_NAME)

VoterPolicy = Literal["open", "codes", "accounts"]
ResultsVisibility = Literal["always", "afterVote", "afterClose", "admin"]
# The methods that the results page can explain and draw; `potluck count` knows more.
Method = Literal["irv", "stv", "scottish-stv", "schulze", "ranked-pairs", "borda", "plurality"]
POLL_METHODS: tuple[Method, ...] = get_args(Method)

PollId = Annotated[UUID, Message("pollId must be a UUID")]
VoteId = Annotated[UUID, Message("voteId must be a UUID")]

Title = Annotated[
    str, Text(1, LONGEST_TITLE, f"Title must have 1 to {LONGEST_TITLE} characters, all of them printable")
]
Description = Annotated[
    str, Text(0, LONGEST_DESCRIPTION, f"Description must have at most {LONGEST_DESCRIPTION:,} characters", kind="lines")
]
CandidateName = Annotated[str, Text(1, LONGEST_NAME, NAME_MESSAGE, kind="raw", check=_wrong_name)]
Candidates = Annotated[
    list[CandidateName],
    Length(
        FEWEST_CANDIDATES,
        MOST_CANDIDATES,
        _("There must be %(fewest)s to %(most)s candidates", fewest=FEWEST_CANDIDATES, most=MOST_CANDIDATES),
    ),
]
AboutCandidates = Annotated[
    dict[
        Annotated[str, Text(1, LONGEST_NAME, NAME_MESSAGE, kind="raw", trim=False)],
        Annotated[
            str,
            Text(
                0,
                LONGEST_ABOUT_CANDIDATE,
                _("A candidate’s description must have at most %(most)s characters", most=LONGEST_ABOUT_CANDIDATE),
                kind="lines",
            ),
        ],
    ],
    Length(0, MOST_CANDIDATES),
]
Policy = Annotated[VoterPolicy, Message("voterPolicy must be open, codes or accounts")]
Visibility = Annotated[ResultsVisibility, Message("resultsVisibility must be always, afterVote, afterClose or admin")]
MaxRankings = Annotated[int, Integer(1, MOST_CANDIDATES, f"maxRankings must be 1 to {MOST_CANDIDATES}")]
MethodName = Annotated[
    Method, Message("Method must be irv, stv, scottish-stv, schulze, ranked-pairs, borda or plurality")
]
Seats = Annotated[int, Integer(1, MOST_CANDIDATES, SEATS_MESSAGE)]

Rankings = Annotated[
    # Longer than a candidate's name can be: such a name matches no candidate, and the rule reports which it is.
    list[Annotated[str, Text(0, 1_000, kind="raw", trim=False)]],
    Length(
        0,
        MOST_CANDIDATES,
        f"Rankings must be a list of at most {MOST_CANDIDATES} candidates' names",
        check=lambda names: [] if names else [FieldError("", _("Rank at least one candidate"))],
    ),
]
VoterKey = Annotated[
    str,
    Text(
        1,
        LONGEST_VOTER_KEY,
        f"voterKey must have 1 to {LONGEST_VOTER_KEY} characters, all of them printable",
        trim=False,
    ),
]
CodeText = Annotated[
    str,
    Text(1, LONGEST_CODE, f"code must have 1 to {LONGEST_CODE} characters, all of them printable", trim=False),
]
CodeCount = Annotated[int, Integer(1, MOST_CODES, f"Count must be 1 to {MOST_CODES:,}")]
BallotFormat = Annotated[Format, Message("Format must be json, csv or blt")]
