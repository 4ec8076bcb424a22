"""The form of a poll: candidates are lines, its end is a local time, and all that is wrong is told at once."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, TypeVar

from msgspec import Meta, json

from potluck.apps.polls.entities import Poll
from potluck.apps.polls.fields import Method, ResultsVisibility, VoterPolicy
from potluck.apps.polls.pages.candidate_lines import as_lines, read_lines
from potluck.apps.polls.pages.closing_times import as_typed, closing_time
from potluck.apps.polls.polls import NewPoll, PollChange, said_in, settled
from potluck.people.errors import InvalidFields, WrongField
from potluck.web.forms import Line
from potluck.web.inputs import Versioned
from potluck.web.schema import schema_of
from potluck.web.schema.decoding import decode_tree, normalised, wrong_fields

__all__ = ["PollForm", "as_filled_in", "said_by"]

S = TypeVar("S", NewPoll, PollChange)

# Wide, so that what is out of bounds is told in the words of the poll's own fields.
Number = Annotated[int, Meta(ge=-1_000, le=1_000)]


class PollForm(Versioned):
    title: Line
    description: Annotated[str, Meta(max_length=20_000)] = ""
    candidates: Annotated[str, Meta(max_length=100_000)] = ""
    """One to a line."""
    expires: Line = ""
    """As the person's clock has it; without a script, as UTC has it."""
    expires_at: Line = ""
    """The same moment with its offset, from the script."""
    voter_policy: VoterPolicy = "open"
    results_visibility: ResultsVisibility = "always"
    max_rankings: Number | None = None
    seats: Number | None = None
    method: Method | None = None


def as_filled_in(poll: Poll) -> Mapping[str, Any]:
    """The form as the poll has it now."""
    return {
        "title": poll.title,
        "description": poll.description or "",
        "candidates": as_lines(poll.candidates, poll.candidate_descriptions or {}),
        **as_typed(poll.expires_at),
        "voterPolicy": poll.voter_policy,
        "resultsVisibility": poll.results_visibility,
        "maxRankings": poll.max_rankings or "",
        "seats": poll.seats,
        "method": poll.method,
        "version": poll.version,
    }


def said_by(form: PollForm, kind: type[S], now: datetime, before: Poll | None = None) -> S:
    """What a program would have sent; InvalidFields with all that is wrong, or does not fit together."""
    tree, wrong = _as_json(form)
    expected = schema_of(kind)
    wrong += wrong_fields(expected, normalised(expected, tree))
    refused = {each.field.partition("[")[0].partition(".")[0] for each in wrong}
    # What is right of it is looked at all the same.
    right = decode_tree(PollChange, {name: value for name, value in tree.items() if name not in refused})
    wrong += settled(said_in(right), now, before)[1]
    if wrong:
        raise InvalidFields(*(WrongField(each.field.partition(".")[0], each.message) for each in wrong))
    return decode_tree(kind, tree)


def _as_json(form: PollForm) -> tuple[dict[str, Any], list[WrongField]]:
    names, about = read_lines(form.candidates)
    seats = form.seats if form.seats is not None else 1
    tree = {
        "title": form.title,
        "description": form.description,
        "candidates": names,
        "candidateDescriptions": about,
        "voterPolicy": form.voter_policy,
        "resultsVisibility": form.results_visibility,
        "maxRankings": form.max_rankings,
        # A form that says nothing of the method means the usual one.
        "method": form.method or ("irv" if seats == 1 else "stv"),
        "seats": seats,
    }
    try:
        end = closing_time(form.expires, form.expires_at)
    except InvalidFields as refusal:
        return tree, list(refusal.errors)
    return {**tree, "expiresAt": None if end is None else json.decode(json.encode(end))}, []
