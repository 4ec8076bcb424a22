"""The form of a poll: one candidate per line, the end in local time, and all errors reported at once."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from msgspec import Meta, json

from potluck.apps.polls.access import PollMaker
from potluck.apps.polls.entities import Poll
from potluck.apps.polls.fields import Method, ResultsVisibility, VoterPolicy
from potluck.apps.polls.polls import NewPoll, PollChange, merge_settings, settings_in
from potluck.validation import FieldError, ValidationError
from potluck.web import FormOf, Line, Versioned, _

S = TypeVar("S", NewPoll, PollChange)

# Wide, so that the poll's own field types report what is out of bounds.
Number = Annotated[int, Meta(ge=-1_000, le=1_000)]


class PollForm(Versioned, FormOf[NewPoll]):
    title: Line
    description: Annotated[str, Meta(max_length=20_000)] = ""
    candidates: Annotated[str, Meta(max_length=100_000)] = ""
    """One per line."""
    expires: Line = ""
    """In the person's local time; in UTC without scripts."""
    expires_at: Line = ""
    """The same time with its UTC offset, filled in by the script."""
    voter_policy: VoterPolicy = "open"
    results_visibility: ResultsVisibility = "always"
    max_rankings: Number | None = None
    seats: Number | None = None
    method: Method | None = None

    def as_input(self, at: PollMaker) -> NewPoll:
        return settings_by_form(self, NewPoll, at.now)


def as_filled_in(poll: Poll) -> Mapping[str, Any]:
    """The form filled in with the poll's current settings."""
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


def settings_by_form(form: PollForm, kind: type[S], now: datetime, before: Poll | None = None) -> S:
    """The form as the API's input; ValidationError with every error, in single fields and between them."""
    tree, errors = _as_json(form)
    try:
        kind.decode(tree)
    except ValidationError as error:
        errors += error.errors
    invalid = {error.field.partition("[")[0].partition(".")[0] for error in errors}
    # The valid fields are still checked against each other.
    valid = PollChange.decode({name: value for name, value in tree.items() if name not in invalid})
    errors += merge_settings(settings_in(valid), now, before)[1]
    if errors:
        raise ValidationError(*(FieldError(error.field.partition(".")[0], error.message) for error in errors))
    return kind.decode(tree)


def _as_json(form: PollForm) -> tuple[dict[str, Any], list[FieldError]]:
    names, descriptions = read_lines(form.candidates)
    seats = form.seats if form.seats is not None else 1
    tree = {
        "title": form.title,
        "description": form.description,
        "candidates": names,
        "candidateDescriptions": descriptions,
        "voterPolicy": form.voter_policy,
        "resultsVisibility": form.results_visibility,
        "maxRankings": form.max_rankings,
        # The default, if no method is chosen.
        "method": form.method or ("irv" if seats == 1 else "stv"),
        "seats": seats,
    }
    try:
        end = closing_time(form.expires, form.expires_at)
    except ValidationError as refusal:
        return tree, list(refusal.errors)
    return {**tree, "expiresAt": None if end is None else json.decode(json.encode(end))}, []


# --- candidates: one per line, with the description after a bar -------------------------------------------------------

# A bar inside a name is escaped with a backslash.
BAR = re.compile(r"(?<!\\)\|")


def read_lines(text: str) -> tuple[list[str], dict[str, str]]:
    """The candidates' names, and descriptions by name."""
    names: list[str] = []
    descriptions: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        name, *rest = (part.strip().replace("\\|", "|") for part in BAR.split(line, maxsplit=1))
        names.append(name)
        if rest and rest[0]:
            descriptions[name] = rest[0]
    return names, descriptions


def as_lines(names: Sequence[str], descriptions: Mapping[str, str]) -> str:
    """The inverse of `read_lines`; a line break in a description becomes a space."""
    return "\n".join(
        " | ".join(part.replace("|", "\\|") for part in (name, " ".join(descriptions.get(name, "").split())) if part)
        for name in names
    )


# --- when it closes: in the person's local time, or in UTC without scripts --------------------------------------------


def closing_time(expires: str, expires_at: str) -> datetime | None:
    """The time that was typed, preferring `expires_at` with its offset; ValidationError if it is not a time."""
    text = (expires_at or expires).strip()
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValidationError(FieldError("expires", _("Choose a day and a time, such as 2030-01-31 18:00"))) from None


def as_typed(expires_at: datetime | None) -> dict[str, str]:
    """The form's two fields, filled in with this time."""
    if expires_at is None:
        return {"expires": "", "expiresAt": ""}
    return {"expires": f"{expires_at:%Y-%m-%dT%H:%M}", "expiresAt": f"{expires_at:%Y-%m-%dT%H:%M:%SZ}"}
