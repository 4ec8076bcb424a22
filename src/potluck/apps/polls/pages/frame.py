"""What the pages of polls share: labels of choices, and the template values of their layout."""

from typing import Any

from potluck.apps.polls.access import HOME, ToPoll
from potluck.apps.polls.fields import Method, ResultsVisibility, VoterPolicy
from potluck.apps.polls.polls import view_of
from potluck.web import Section, _

APP = "polls"

METHOD_NAMES: dict[Method, str] = {
    "irv": "Instant runoff",
    "stv": "Single transferable vote",
    "scottish-stv": "Scottish STV",
    "schulze": "Schulze",
    "ranked-pairs": "Ranked Pairs",
    "borda": "Borda count",
    "plurality": "First choices only",
}
# How each method counts, and what it is good for.
METHOD_NOTES: dict[Method, str] = {
    "irv": "The option with the fewest votes drops out until one has a majority. Good for electing one person.",
    "stv": "Fills several seats so that large and small groups get their share. Good for a board or a committee.",
    "scottish-stv": "STV by the published rules of Scottish councils. Good if your club has to follow a fixed rule.",
    "schulze": "Compares every two options; one that beats all the others wins. Good for choosing a date or a place.",
    "ranked-pairs": "Also picks the option that beats all the others; the clearest majorities count first.",
    "borda": "Gives points for every place on a ballot. Good for a friendly ranking, but easy to game.",
    "plurality": "Counts first choices only. Simple, but similar options take votes from each other.",
}
POLICIES: dict[VoterPolicy, tuple[str, str]] = {
    "open": (
        "Anyone with the link",
        "One vote for each browser, on a shared one for each who signs in. Good among people who trust each other.",
    ),
    "codes": ("Anyone with a code", "You hand out codes; each is good for one vote."),
    "accounts": ("People who are signed in", "One vote for each account here."),
}
VISIBILITIES: dict[ResultsVisibility, str] = {
    "always": "Everyone, at any time",
    "afterVote": "Everyone who has voted",
    "afterClose": "Everyone, once it is closed",
    "admin": "Only you",
}
CHOICES: dict[str, Any] = {
    "policies": POLICIES,
    "visibilities": VISIBILITIES,
    "method_names": METHOD_NAMES,
    "method_notes": METHOD_NOTES,
}
HOME_SECTIONS = (("", "vote", _("Polls")), ("/new", "plus", _("New poll")))
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


def link_to(at: ToPoll, path: str = "") -> str:
    """The absolute URL, for people to pass on."""
    return f"{at.visitor.origin}{address(at, path)}"


def frame(path: str = "") -> dict[str, Any]:
    """Template values that every page of the app shares, with its sections; `path` is that of the current one."""
    sections = [Section(HOME + section, icon, title, section == path) for section, icon, title in HOME_SECTIONS]
    return {"app": APP, "here": _("Polls"), "home": HOME, "sections": sections}


def poll_frame(at: ToPoll, section: str) -> dict[str, Any]:
    """Template values of a poll's page, with links to its other pages; only admins get the link to manage it."""
    admin = at.keys.administers(at.poll)
    return {
        **frame(),
        "sections": [
            Section(address(at, path), icon, title, name == section)
            for name, icon, title, path in SECTIONS
            if admin or name != "manage" or section == "manage"
        ],
        "poll": view_of(at.poll, at.now),
        "address": address(at),
        "admin": admin,
        "ballots": ballots,
        "methods": METHOD_NAMES,
    }
