"""What callers are shown: the same for the JSON door, the pages, live updates and the export."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from msgspec import Struct
from msgspec.structs import asdict

from potluck.apps.polls.candidates import lot_order, names_of
from potluck.apps.polls.entities import Method, Poll, ResultsVisibility, Vote, VoterPolicy

__all__ = [
    "AuditShown",
    "BallotsOfPoll",
    "CodesMade",
    "CountDifference",
    "PollMade",
    "PollShown",
    "Turnout",
    "VoteCast",
    "VoteShown",
    "is_open",
    "poll_made",
    "poll_shown",
    "vote_shown",
]


class PollShown(Struct, rename="camel", frozen=True, kw_only=True):
    """A poll as anyone sees it who has its link."""

    id: UUID
    title: str
    description: str | None
    candidates: list[str]
    candidate_descriptions: dict[str, str]
    lot_order: list[str]
    """Who is favoured where nothing else decides, first to last; drawn before the first vote."""
    status: Literal["open", "closed"]
    created_at: datetime
    expires_at: datetime | None
    closed_at: datetime | None
    """When whoever made it closed it; a poll whose time is over closed by itself."""
    voter_policy: VoterPolicy
    results_visibility: ResultsVisibility
    max_rankings: int | None
    method: Method
    seats: int
    version: int


class PollMade(PollShown, frozen=True, kw_only=True, rename="camel"):
    """A poll that was just made, with its key, which is never shown again."""

    admin_key: str


class CodesMade(Struct, rename="camel", frozen=True, kw_only=True):
    """Codes to hand out, which are never shown again."""

    codes: list[str]


class VoteCast(Struct, rename="camel", frozen=True, kw_only=True):
    """A vote that was counted, and the key by which its voter can change it."""

    id: UUID
    edit_key: str


class VoteShown(Struct, rename="camel", frozen=True, kw_only=True):
    """A vote, as its own voter sees it."""

    id: UUID
    rankings: list[str]
    voted_at: datetime


class Turnout(Struct, rename="camel", frozen=True, kw_only=True):
    """How many votes there are, and a number that every vote, change and withdrawal raises."""

    votes: int
    votes_version: int


class CountDifference(Struct, rename="camel", frozen=True, kw_only=True):
    """A ranking of which there are not as many votes as were counted."""

    ranking: list[str]
    votes: int
    counted: int


class AuditShown(Struct, rename="camel", frozen=True, kw_only=True):
    """What a recount from the votes themselves gave, beside what the results are worked out from."""

    equal: bool
    method: Method
    votes: int
    """How many votes were read."""
    counted: int
    """How many the counts have."""
    unreadable: int
    """Votes that name somebody who is no candidate."""
    votes_version: int
    recount: str
    """The SHA-256 of the record that the votes give."""
    record: str
    """The SHA-256 of the record that the results show."""
    differences: list[CountDifference]


class BallotsOfPoll(Struct, rename="camel", frozen=True, kw_only=True):
    """One ranking of a poll in its maker's export, and how many gave it; who did is stored nowhere."""

    poll_id: UUID
    ranking: list[str]
    count: int


# --- from what is stored ---------------------------------------------------------------------------------------------


def is_open(poll: Poll, now: datetime) -> bool:
    """Whether votes are taken: strictly before the poll's time is over, and until it is closed."""
    return poll.closed_at is None and (poll.expires_at is None or now.replace(microsecond=0) < poll.expires_at)


def poll_shown(poll: Poll, now: datetime) -> PollShown:
    return PollShown(
        id=poll.poll_id,
        title=poll.title,
        description=poll.description,
        candidates=list(poll.candidates),
        candidate_descriptions=dict(poll.candidate_descriptions or {}),
        lot_order=names_of(poll, lot_order(poll)),
        status="open" if is_open(poll, now) else "closed",
        created_at=poll.created_at,
        expires_at=poll.expires_at,
        closed_at=poll.closed_at,
        voter_policy=poll.voter_policy,
        results_visibility=poll.results_visibility,
        max_rankings=poll.max_rankings,
        method=poll.method,
        seats=poll.seats,
        version=poll.version,
    )


def poll_made(poll: Poll, now: datetime, admin_key: str) -> PollMade:
    return PollMade(**asdict(poll_shown(poll, now)), admin_key=admin_key)


def vote_shown(vote: Vote) -> VoteShown:
    return VoteShown(id=vote.vote_id, rankings=list(vote.rankings), voted_at=vote.voted_at)
