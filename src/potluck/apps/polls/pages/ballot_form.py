"""The ballot form: one field with a rank for each candidate, whether the voter typed, chose or dragged it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl

from potluck.apps.polls.counting.sentences import listed
from potluck.apps.polls.entities import Poll

FIELD = re.compile(r"rank-([1-9][0-9]{0,2})")
RANK = re.compile(r"[0-9]{1,3}")
MOST_FIELDS = 1_000
# With more ranks than this, a drop-down beside each candidate would be longer than the ballot: voters type a number.
MOST_PLACES_LISTED = 20


@dataclass(frozen=True, slots=True)
class Ballot:
    """A filled-in ballot: the text beside each candidate, by number; the ranking it gives; and the error in it."""

    written: Mapping[int, str] = field(default_factory=dict)
    ranking: Sequence[int] = ()
    wrong: str = ""


def ranked_in(candidates: Sequence[str], rankings: Sequence[str]) -> Ballot:
    """The ballot filled in with a vote that was cast, for its voter to change."""
    numbers = {name: number for number, name in enumerate(candidates, 1)}
    ranking = [numbers[name] for name in rankings if name in numbers]
    return Ballot({number: str(place) for place, number in enumerate(ranking, 1)}, ranking)


def ballot_of(candidates: Sequence[str]) -> str:
    """A hash of the candidates that a ballot's numbers refer to: they may change until the first vote."""
    return sha256("\n".join(candidates).encode()).hexdigest()[:16]


def read_ballot(raw: bytes, candidates: Sequence[str]) -> Ballot:
    """Parses a submitted ballot. Gaps between ranks are ignored; two candidates at one rank are an error."""
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        return Ballot(wrong="The ballot is not written as browsers write it")
    written: dict[int, str] = {}
    for name, text in pairs:
        found = FIELD.fullmatch(name)
        if found and int(found[1]) <= len(candidates) and text.strip():
            written[int(found[1])] = text.strip()
    unreadable = [number for number, text in written.items() if not RANK.fullmatch(text) or int(text) == 0]
    if unreadable:
        who = listed(candidates[number - 1] for number in sorted(unreadable))
        return Ballot(written, (), f"Give {who} a whole number from 1 to {len(candidates)}, or none")
    by_rank: dict[int, list[int]] = {}
    for number, text in written.items():
        by_rank.setdefault(int(text), []).append(number)
    for rank, numbers in sorted(by_rank.items()):
        if len(numbers) > 1:
            who = listed(candidates[number - 1] for number in sorted(numbers))
            together = "both" if len(numbers) == 2 else "all"
            return Ballot(written, (), f"{who} are {together} at {rank}. Give each a number of its own")
    return Ballot(written, [number for _, (number,) in sorted(by_rank.items())])


def on_ballot(poll: Poll, ranked: Ballot) -> dict[str, Any]:
    """Template values of polls/ballot_form.html for this poll and filled-in ballot."""
    candidates = poll.candidates
    most = min(poll.max_rankings or len(candidates), len(candidates))
    chosen = list(ranked.ranking)
    return {
        "said": ranked,
        "order": [*chosen, *(number for number in range(1, len(candidates) + 1) if number not in chosen)],
        "ranked": len(chosen),
        "ballot": ballot_of(candidates),
        "most": most,
        "places": [(str(place), ordinal(place)) for place in range(1, most + 1)] if most <= MOST_PLACES_LISTED else [],
        "wrong": ranked.wrong,
    }


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd."""
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
