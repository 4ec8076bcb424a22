"""What is said of a poll when it is made or changed, and what of it can be taken; everything wrong is told at once."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, get_args

from msgspec import UNSET, Struct, UnsetType

from potluck.apps.polls.candidates import checked_candidates, is_text, seen_as
from potluck.apps.polls.entities import MOST_CANDIDATES, Method, Poll, ResultsVisibility, VoterPolicy
from potluck.people.errors import InvalidFields, WrongField

__all__ = ["PollSettings", "as_poll_fields", "checked_expiry", "settings_of"]

LONGEST_TITLE = 200
LONGEST_DESCRIPTION = 2_000
LONGEST_CANDIDATE_DESCRIPTION = 500


class PollSettings(Struct, kw_only=True, frozen=True, rename="camel"):
    """What may be said of a poll; UNSET is as it was, or as polls are."""

    title: str | UnsetType = UNSET
    description: str | UnsetType | None = UNSET
    candidates: Sequence[str] | UnsetType = UNSET
    candidate_descriptions: Mapping[str, str] | UnsetType | None = UNSET
    expires_at: datetime | UnsetType | None = UNSET
    voter_policy: VoterPolicy | UnsetType = UNSET
    results_visibility: ResultsVisibility | UnsetType = UNSET
    max_rankings: int | UnsetType | None = UNSET
    method: Method | UnsetType = UNSET
    seats: int | UnsetType = UNSET


def settings_of(poll: Poll) -> PollSettings:
    """All that is said of a poll, for another one like it."""
    return PollSettings(**{name: getattr(poll, name) for name in PollSettings.__struct_fields__})


def as_poll_fields(said: PollSettings, now: datetime, before: Poll | None = None) -> dict[str, Any]:
    """The poll's fields, of what is said and what was before; InvalidFields with all that cannot be taken."""
    wrong: list[WrongField] = []

    def take(name: str, otherwise: Any) -> Any:
        value = getattr(said, name)
        if value is not UNSET:
            return value
        return otherwise if before is None else getattr(before, name)

    def refuse(field: str, message: str) -> None:
        wrong.append(WrongField(field, message))

    title = take("title", "").strip()
    if not 1 <= len(title) <= LONGEST_TITLE or not is_text(title):
        refuse("title", f"Title must have 1 to {LONGEST_TITLE} characters, all of them printable")
    description = (take("description", None) or "").strip() or None
    if description is not None and (len(description) > LONGEST_DESCRIPTION or not is_text(description, lines=True)):
        refuse("description", f"Description must have at most {LONGEST_DESCRIPTION:,} characters")
    candidates, not_candidates = checked_candidates(take("candidates", ()))
    wrong += not_candidates
    described: dict[str, str] | None = None
    if not not_candidates:
        described = _described(candidates, take("candidate_descriptions", None) or {}, said, refuse)
    expires_at = take("expires_at", None)
    if said.expires_at is not UNSET:
        expires_at = _taken_expiry(said.expires_at, now, refuse)
    policy, visibility = take("voter_policy", "open"), take("results_visibility", "always")
    for field, value, kind in (
        ("voterPolicy", policy, VoterPolicy),
        ("resultsVisibility", visibility, ResultsVisibility),
    ):
        if value not in get_args(kind):
            refuse(field, f"{field} must be {_either(get_args(kind))}")
    max_rankings = take("max_rankings", None)
    if max_rankings is not None and not 1 <= max_rankings <= MOST_CANDIDATES:
        refuse("maxRankings", f"maxRankings must be 1 to {MOST_CANDIDATES}")
    seats = take("seats", 1)
    if not 1 <= seats <= (len(candidates) or MOST_CANDIDATES):
        refuse("seats", "Seats must be at least 1, and no more than there are candidates")
    method = take("method", "irv" if seats == 1 else "stv")
    if method not in get_args(Method):
        refuse("method", f"Method must be {_either(get_args(Method))}")
    if method == "irv" and seats > 1:
        if said.method is not UNSET:
            refuse("method", "irv elects one; for more seats there are stv and scottish-stv")
        method = "stv"
    if wrong:
        raise InvalidFields(*wrong)
    return {
        "title": title,
        "description": description,
        "candidates": candidates,
        "candidate_descriptions": described,
        "expires_at": expires_at,
        "voter_policy": policy,
        "results_visibility": visibility,
        "max_rankings": max_rankings,
        "method": method,
        "seats": seats,
    }


def checked_expiry(expires_at: datetime | None, now: datetime) -> datetime | None:
    """A time at which a poll may end, to the second; InvalidFields for one that has passed."""
    wrong: list[WrongField] = []
    taken = _taken_expiry(expires_at, now, lambda field, message: wrong.append(WrongField(field, message)))
    if wrong:
        raise InvalidFields(*wrong)
    return taken


def _taken_expiry(expires_at: Any, now: datetime, refuse: Any) -> datetime | None:
    if expires_at is None:
        return None
    if not isinstance(expires_at, datetime) or expires_at.tzinfo is None:
        refuse("expiresAt", "expiresAt must be a time with its offset, such as 2030-01-31T18:00:00Z")
        return None
    try:
        to_the_second = expires_at.astimezone(UTC).replace(microsecond=0)
    except OverflowError:
        refuse("expiresAt", "expiresAt must be a time that calendars have")
        return None
    if to_the_second <= now:
        refuse("expiresAt", "expiresAt must be in the future")
    return to_the_second


def _described(
    candidates: list[str], descriptions: Mapping[str, str], said: PollSettings, refuse: Any
) -> dict[str, str] | None:
    """What is said of each candidate, by the name as it is kept; of one who is no longer there, nothing."""
    by_name = {seen_as(name): name for name in candidates}
    kept: dict[str, str] = {}
    for given, text in descriptions.items():
        name = by_name.get(seen_as(given))
        if name is None:
            if said.candidate_descriptions is not UNSET:
                refuse("candidateDescriptions", "Only candidates can be described, each by its name")
        elif len(text) > LONGEST_CANDIDATE_DESCRIPTION or not is_text(text, lines=True):
            refuse(
                "candidateDescriptions",
                f"What is said of a candidate must have at most {LONGEST_CANDIDATE_DESCRIPTION} characters",
            )
        elif text.strip():
            kept[name] = text.strip()
    return {name: kept[name] for name in candidates if name in kept} or None


def _either(choices: tuple[str, ...]) -> str:
    return f"{', '.join(choices[:-1])} or {choices[-1]}"
