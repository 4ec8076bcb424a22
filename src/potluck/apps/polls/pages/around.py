"""What the polls' pages have in common: what stands around them, and a form that is shown again with what is wrong."""

from datetime import datetime
from typing import Any

from litestar import Request
from litestar.response import Template

from potluck.apps.polls.admission import administers
from potluck.apps.polls.entities import Method, Poll, ResultsVisibility, VoterPolicy
from potluck.apps.polls.errors import NoSuchPoll, PollsError
from potluck.apps.polls.keys import Credentials
from potluck.apps.polls.pages.files import file_address
from potluck.apps.polls.problems import ERRORS as POLL_ERRORS
from potluck.apps.polls.views import poll_shown
from potluck.people.authentication import Principal
from potluck.people.errors import PeopleError
from potluck.web import forms
from potluck.web.errors import ERRORS
from potluck.web.forms import Again, Beside, Form
from potluck.web.layout import Section, page

__all__ = [
    "HOME",
    "METHOD_NAMES",
    "POLICIES",
    "POLL",
    "VISIBILITIES",
    "AnyRequest",
    "Refusal",
    "ballots",
    "poll_page",
    "polls_page",
    "refused",
]

AnyRequest = Request[Any, Any, Any]
Refusal = PeopleError | PollsError
KINDS = ERRORS | POLL_ERRORS

APP = "polls"
HOME = "/polls"
POLL = f"{HOME}/{{poll_id:str}}"

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


SECTIONS = (
    ("vote", "vote", "Vote", ""),
    ("results", "chart-column", "Results", "/results"),
    ("share", "share-2", "Share", "/share"),
    ("manage", "key-round", "Manage", "/manage"),
)


def ballots(number: int) -> str:
    """So many, in words."""
    return f"{number:,} vote{'' if number == 1 else 's'}"


def polls_page(name: str, visitor: Principal | None, *, status: int = 200, **context: Any) -> Template:
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


def refused(filled: Form[Any], refusal: Refusal | None = None, beside: Beside | None = None) -> Again:
    """The form with a refusal beside its field, if it has one; else above all of them."""
    if isinstance(refusal, NoSuchPoll):
        # Of a poll that is gone, nothing is shown again.
        raise refusal
    return forms.refused(filled, refusal, beside, KINDS)
