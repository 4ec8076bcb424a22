"""What the pages of polls share: static files, labels for choices, and the values of their common frame."""

from pathlib import Path
from typing import Any

from potluck.apps.polls.access import ToPoll
from potluck.apps.polls.fields import Method, ResultsVisibility, VoterPolicy
from potluck.apps.polls.polls import view_of
from potluck.web.app_files import AppFiles
from potluck.web.endpoints import Call
from potluck.web.layout import Section

__all__ = ["CHOICES", "FILES", "HOME", "POLICIES", "VISIBILITIES", "address", "frame", "link_to", "poll_frame"]

APP = "polls"
HOME = "/polls"
FILES = AppFiles(Path(__file__).parent.parent / "static", "/polls/files")

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
    "open": (
        "Anyone with the link",
        "One vote for each browser, on a shared one for each who signs in. Good among people who trust each other.",
    ),
    "codes": ("Whoever has a code", "You hand out codes; each is good for one vote."),
    "accounts": ("People who are signed in", "One vote for each account here."),
}
VISIBILITIES: dict[ResultsVisibility, str] = {
    "always": "Everyone, at any time",
    "afterVote": "Whoever has voted",
    "afterClose": "Everyone, once it is closed",
    "admin": "Only you",
}
CHOICES: dict[str, Any] = {"policies": POLICIES, "visibilities": VISIBILITIES, "method_names": METHOD_NAMES}
SECTIONS = (
    ("vote", "vote", "Vote", ""),
    ("results", "chart-column", "Results", "/results"),
    ("share", "share-2", "Share", "/share"),
    ("manage", "key-round", "Manage", "/manage"),
)


def ballots(number: int) -> str:
    """A number of votes, as text."""
    return f"{number:,} vote{'' if number == 1 else 's'}"


def address(at: ToPoll, path: str = "") -> str:
    return f"{HOME}/{at.poll_id}{path}"


def link_to(call: Call, at: ToPoll, path: str = "") -> str:
    """The absolute URL, for people to pass on."""
    return f"{call.authentication.clients.origin_of(call.request.scope)}{address(at, path)}"


def frame() -> dict[str, Any]:
    """Template values that every page of the app shares."""
    return {"app": APP, "here": "Polls", "home": HOME, "file": FILES.address}


def poll_frame(at: ToPoll, section: str) -> dict[str, Any]:
    """Template values of a poll's page, with links to its other pages; only admins get the link to manage it."""
    admin = at.keys.administers(at.poll)
    return {
        **frame(),
        "sections": [
            Section(address(at, path), icon, title, each == section)
            for each, icon, title, path in SECTIONS
            if admin or each != "manage" or section == "manage"
        ],
        "poll": view_of(at.poll, at.now),
        "address": address(at),
        "admin": admin,
        "ballots": ballots,
        "methods": METHOD_NAMES,
    }
