"""Polls to look around in: one that is open and close, one that is decided, one for those who have a code."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from potluck.apps.polls.polls import NewCodes, NewPoll, PollMade, close_poll, create_poll, make_codes, polls
from potluck.apps.polls.votes import NewVote, cast_vote, votes
from potluck.people.authentication import Principal
from potluck.web.access import Visitor
from potluck.web.actions import Actions
from potluck.web.app import Demo, Guests, WorthALook
from potluck.web.inputs import Input
from potluck.web.runner import Runner, Sent

__all__ = ["demo_of"]

# Everything below is made up.

LAKE, HUT, SEA, CITY, HOME = "Lake cabin", "Mountain hut", "Seaside camp", "City weekend", "Barbecue at home"
JUNE = NewPoll(
    title="Where does the club go in June?",
    description="Three days, the second weekend. Whoever drives gets the good bed.",
    candidates=[LAKE, HUT, SEA, CITY, HOME],
    candidate_descriptions={
        LAKE: "Twelve beds, a jetty, no signal.",
        HUT: "Four hours on foot, the last one steep.",
        SEA: "Tents. Somebody has to book by March.",
    },
)
# Two are level at first. Four rounds: the last one turns it around.
JUNE_VOTES = (
    (5, (LAKE, SEA, HUT, CITY, HOME)),
    (4, (LAKE, CITY)),
    (3, (LAKE, HUT, HOME)),
    (4, (HUT, SEA, CITY)),
    (3, (HUT, CITY, LAKE)),
    (3, (HUT, LAKE, CITY, SEA)),
    (2, (HUT,)),
    (5, (SEA, LAKE, HUT)),
    (2, (SEA, HUT, CITY)),
    (2, (SEA, CITY)),
    (3, (CITY, HUT, LAKE)),
    (2, (CITY, SEA, LAKE, HUT)),
    (1, (HOME, LAKE)),
    (1, (HOME, CITY, SEA, HUT)),
    (1, (HOME,)),
)

ROLLS, RISOTTO, DAL, PIZZA = "Summer rolls", "Mushroom risotto", "Lentil dal", "Pizza, again"
SUNDAY = NewPoll(
    title="What do we cook on Sunday?",
    candidates=[ROLLS, RISOTTO, DAL, PIZZA],
    voter_policy="accounts",
    results_visibility="afterVote",
)

ANA, BO, CLEO, DEV, EWA = "Ana Duarte", "Bo Sandberg", "Cleo Martin", "Dev Rao", "Ewa Nowak"
BOARD = NewPoll(
    title="Who sits on the club’s board?",
    description="Two seats, for a year. Codes are handed out at the front desk.",
    candidates=[ANA, BO, CLEO, DEV, EWA],
    voter_policy="codes",
    seats=2,
    max_rankings=3,
)
BOARD_VOTES = (
    *((ANA, CLEO, DEV),) * 4,
    *((ANA, CLEO),) * 2,
    *((BO, EWA),) * 3,
    *((CLEO, DEV, ANA),) * 2,
    *((DEV, CLEO),) * 2,
    (EWA, BO, CLEO),
)
CODES_LEFT = 3


class _People:
    """What people do with polls, by the rules that everyone has."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def make(self, who: Principal, new: NewPoll) -> PollMade:
        made: PollMade = await self._do(polls, create_poll, who, new)
        return made

    async def vote(self, poll: PollMade, ranking: Sequence[str], who: Principal | None = None, **by: str) -> None:
        await self._do(votes, cast_vote, who, NewVote(rankings=list(ranking), **by), poll.id)

    async def close(self, who: Principal, poll: PollMade) -> None:
        await self._do(polls, close_poll, who, None, poll.id)

    async def codes(self, who: Principal, poll: PollMade, count: int) -> list[str]:
        found: list[str] = (await self._do(polls, make_codes, who, NewCodes(count=count), poll.id)).codes
        return found

    async def _do(
        self,
        subject: Actions[Any],
        rule: Callable[..., Any],
        who: Principal | None,
        sent: Input | None,
        poll_id: UUID | None = None,
    ) -> Any:
        ids = {} if poll_id is None else {"poll_id": poll_id}
        action = subject.declared_by(rule)
        return (await self._runner.perform(action, Visitor(principal=who), ids, lambda: Sent(sent))).answer


def demo_of(runner: Runner) -> Demo:
    """What fills the polls that this runs."""
    people = _People(runner)

    async def demo(guests: Guests) -> Sequence[WorthALook]:
        await _sunday(people, guests)
        return [*await _june(people, guests), *await _board(people, guests)]

    return demo


async def _june(people: _People, guests: Guests) -> Sequence[WorthALook]:
    guests.ago(days=3)
    poll = await people.make(guests.mara, JUNE)
    ballots = [ranking for times, ranking in JUNE_VOTES for _ in range(times)]
    # Not all of one mind in a row: seven does not divide how many they are, so each has a turn.
    for turn in range(len(ballots)):
        guests.ago(hours=70 * (1 - turn / len(ballots)))
        await people.vote(poll, ballots[turn * 7 % len(ballots)])
    return [
        WorthALook(
            f"{poll.title} (Mara’s, open, {len(ballots)} votes)", f"/polls/{poll.id}", "Whoever has this votes."
        ),
        WorthALook("The same, to look after it without being Mara", f"/polls/{poll.id}/manage#{poll.admin_key}"),
    ]


async def _sunday(people: _People, guests: Guests) -> None:
    guests.ago(days=6)
    poll = await people.make(guests.mara, SUNDAY)
    for hours, voter, ranking in (
        (140, guests.noor, (ROLLS, DAL, RISOTTO)),
        (139, guests.leo, (PIZZA, RISOTTO)),
        (137, guests.mara, (RISOTTO, ROLLS)),
        (130, guests.ida, (ROLLS, DAL)),
        (122, guests.renzo, (RISOTTO, PIZZA)),
    ):
        guests.ago(hours=hours)
        await people.vote(poll, ranking, voter)
    guests.ago(days=5)
    await people.close(guests.mara, poll)


async def _board(people: _People, guests: Guests) -> Sequence[WorthALook]:
    guests.ago(days=2)
    poll = await people.make(guests.renzo, BOARD)
    codes = await people.codes(guests.renzo, poll, len(BOARD_VOTES) + CODES_LEFT)
    handed_out, left = codes[:-CODES_LEFT], codes[-CODES_LEFT:]
    for hours, (code, ranking) in enumerate(zip(handed_out, BOARD_VOTES, strict=True)):
        guests.ago(hours=40 - 2 * hours)
        await people.vote(poll, ranking, code=code)
    note = f"Codes that nobody has used yet: {', '.join(left)}"
    return [WorthALook(f"{poll.title} (Renzo’s, by code, two seats)", f"/polls/{poll.id}", note)]
