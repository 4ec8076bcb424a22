"""What the polls' pages have in common: what stands around them, and a form that is shown again with what is wrong."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, NamedTuple

from litestar import Request
from litestar.response import Template
from msgspec import Meta

from potluck.apps.polls.admission import administers
from potluck.apps.polls.entities import Method, Poll, ResultsVisibility, VoterPolicy
from potluck.apps.polls.errors import NoSuchPoll, PollsError
from potluck.apps.polls.keys import Credentials
from potluck.apps.polls.pages.files import file_address
from potluck.apps.polls.problems import ERRORS as POLL_ERRORS
from potluck.apps.polls.views import poll_shown
from potluck.people.callers import Caller
from potluck.people.errors import InvalidFields, PeopleError, WrongField
from potluck.web.errors import ERRORS, INVALID_FIELDS
from potluck.web.forms import Form
from potluck.web.layout import page

__all__ = [
    "HOME",
    "METHOD_NAMES",
    "POLICIES",
    "POLL",
    "VISIBILITIES",
    "AnyRequest",
    "Line",
    "Refusal",
    "ballots",
    "poll_page",
    "polls_page",
    "refused",
]

AnyRequest = Request[Any, Any, Any]
Refusal = PeopleError | PollsError

APP = "polls"
HOME = "/polls"
POLL = f"{HOME}/{{poll_id:str}}"

# What is too long or too short for its field, the services say; this is only where reading stops.
Line = Annotated[str, Meta(max_length=2_000)]

METHOD_NAMES: dict[Method, str] = {
    "irv": "Instant runoff",
    "stv": "Single transferable vote",
    "scottish-stv": "Scottish STV",
    "schulze": "Schulze",
    "ranked-pairs": "Ranked Pairs",
    "borda": "Borda count",
    "plurality": "First choices only",
}
POLICIES: dict[VoterPolicy, tuple[str, str]] = {
    "open": ("Anyone with the link", "One vote for each browser. Good among people who trust each other."),
    "codes": ("Whoever has a code", "You hand out codes; each is good for one vote."),
    "accounts": ("People who are signed in", "One vote for each account here."),
}
VISIBILITIES: dict[ResultsVisibility, str] = {
    "always": "Everyone, at any time",
    "afterVote": "Whoever has voted",
    "afterClose": "Everyone, once it is closed",
    "admin": "Only you",
}


class Section(NamedTuple):
    """A part of a poll, for the bar under the thumb."""

    address: str
    icon: str
    name: str
    current: bool


SECTIONS = (
    ("vote", "vote", "Vote", ""),
    ("results", "chart-column", "Results", "/results"),
    ("share", "share-2", "Share", "/share"),
    ("manage", "key-round", "Manage", "/manage"),
)


def ballots(number: int) -> str:
    """So many, in words."""
    return f"{number:,} vote{'' if number == 1 else 's'}"


def polls_page(name: str, visitor: Caller | None, *, status: int = 200, **context: Any) -> Template:
    """A page of the app that is no poll's own."""
    return page(
        f"polls/{name}.html", visitor, status=status, app=APP, here="Polls", home=HOME, file=file_address, **context
    )


def poll_page(
    name: str, by: Credentials, poll: Poll, section: str, now: datetime, *, status: int = 200, **context: Any
) -> Template:
    """A page of a poll, with the way to its other parts; to look after it, only for whoever may."""
    admin = administers(by, poll)
    here = f"{HOME}/{poll.poll_id}"
    return polls_page(
        name,
        by.caller,
        status=status,
        sections=[
            Section(here + path, icon, title, each == section)
            for each, icon, title, path in SECTIONS
            if admin or each != "manage" or section == "manage"
        ],
        poll=poll_shown(poll, now),
        address=here,
        admin=admin,
        ballots=ballots,
        methods=METHOD_NAMES,
        **context,
    )


class Again(NamedTuple):
    """A form that was refused: itself, with what is wrong, and how a program would have been answered."""

    form: Form[Any]
    status: int


def refused(
    filled: Form[Any], refusal: Refusal | None = None, beside: Mapping[type[Exception], str] | None = None
) -> Again:
    """The form with a refusal beside its field, if it has one; else above all of them."""
    if refusal is None:
        return Again(filled, INVALID_FIELDS.status)
    if isinstance(refusal, NoSuchPoll):
        # Of a poll that is gone, nothing is shown again.
        raise refusal
    kind = POLL_ERRORS.get(type(refusal)) or ERRORS[type(refusal)]
    if isinstance(refusal, InvalidFields):
        return Again(filled.refused(refusal), kind.problem.status)
    field = (beside or {}).get(type(refusal))
    wrong = str(refusal) if field is None else InvalidFields(WrongField(field, str(refusal)))
    return Again(filled.refused(wrong), kind.problem.status)
