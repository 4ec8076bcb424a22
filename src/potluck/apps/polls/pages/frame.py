"""What the pages of polls share: labels of choices, and the template values of their layout."""

from typing import Any

from potluck.apps.polls.access import HOME, ToPoll
from potluck.apps.polls.fields import Method, ResultsVisibility, VoterPolicy
from potluck.apps.polls.polls import view_of
from potluck.web import Section, _, ngettext

APP = "polls"

METHOD_NAMES: dict[Method, str] = {
    "irv": _("Instant runoff"),
    "stv": _("Single transferable vote"),
    "scottish-stv": _("Scottish STV"),
    "schulze": _("Schulze"),
    "ranked-pairs": _("Ranked Pairs"),
    "borda": _("Borda count"),
    "plurality": _("First choices only"),
}
# How each method counts, and what it is good for.
METHOD_NOTES: dict[Method, str] = {
    "irv": _("The option with the fewest votes drops out until one has a majority. Good for electing one person."),
    "stv": _("Several winners, so that large and small groups get their share. Good for a committee."),
    "scottish-stv": _("STV by the published rules of Scottish councils. Good if your club needs a fixed rule."),
    "schulze": _("Compares every two options; one that beats all others wins. Good for choosing a date or place."),
    "ranked-pairs": _("Also picks the option that beats all the others. The clearest majorities count first."),
    "borda": _("Gives points for every place on a ballot. Good for a friendly ranking, but easy to game."),
    "plurality": _("Simple, but similar options take votes from each other."),
}
POLICIES: dict[VoterPolicy, tuple[str, str]] = {
    "open": (
        _("Anyone with the link"),
        _("One vote per device. On a shared device, sign in to vote separately."),
    ),
    "codes": (_("Anyone with a code"), _("You hand out codes. Each works for one vote.")),
    "accounts": (_("People who are signed in"), _("One vote per account.")),
}
VISIBILITIES: dict[ResultsVisibility, str] = {
    "always": _("Everyone, at any time"),
    "afterVote": _("Everyone who has voted"),
    "afterClose": _("Everyone, once it’s closed"),
    "admin": _("Only you"),
}
CHOICES: dict[str, Any] = {
    "policies": POLICIES,
    "visibilities": VISIBILITIES,
    "method_names": METHOD_NAMES,
    "method_notes": METHOD_NOTES,
}
HOME_SECTIONS = (("", "vote", _("Polls")), ("/new", "plus", _("New poll")))
SECTIONS = (
    ("vote", "vote", _("Vote"), ""),
    ("results", "chart-column", _("Results"), "/results"),
    ("share", "share-2", _("Share"), "/share"),
    ("manage", "key-round", _("Manage"), "/manage"),
)


def ballots(number: int) -> str:
    """A number of votes, as text."""
    return ngettext("%(num)s vote", "%(num)s votes", number)


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
