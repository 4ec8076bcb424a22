"""Demo polls: an open one with a close race, a decided one, and one that needs a code."""

from potluck.apps.polls.polls import NewCodes, NewPoll, close_poll, create_poll, make_codes
from potluck.apps.polls.votes import NewVote, cast_vote
from potluck.web import Demo

# Everything below is made up.

LAKE, HUT, SEA, CITY, HOME = "Lake cabin", "Mountain hut", "Seaside camp", "City weekend", "Barbecue at home"
JUNE = NewPoll(
    title="Where does the club go in June?",
    description="Three days, the second weekend. The driver gets the good bed.",
    candidates=[LAKE, HUT, SEA, CITY, HOME],
    candidate_descriptions={
        LAKE: "Twelve beds, a jetty, no signal.",
        HUT: "Four hours on foot, the last one steep.",
        SEA: "Tents. We have to book by March.",
    },
)
# Two candidates tie in the first round; the fourth and last round changes the leader.
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


async def fill(demo: Demo) -> None:
    await _sunday(demo)
    await _june(demo)
    await _board(demo)


async def _june(demo: Demo) -> None:
    demo.ago(days=3)
    poll = await demo.do(create_poll, demo.mara, JUNE)
    ballots = [ranking for times, ranking in JUNE_VOTES for _ in range(times)]
    # Interleave the rankings: seven does not divide the number of ballots, so each is cast once.
    for turn in range(len(ballots)):
        demo.ago(hours=70 * (1 - turn / len(ballots)))
        vote = NewVote(rankings=list(ballots[turn * 7 % len(ballots)]))
        await demo.do(cast_vote, None, vote, poll_id=poll.id)
    demo.point_out(
        f"{poll.title} (Mara’s, open, {len(ballots)} votes)", f"/polls/{poll.id}", "Anyone with the link votes."
    )
    demo.point_out("The same, to manage it without signing in as Mara", f"/polls/{poll.id}/manage#{poll.admin_key}")


async def _sunday(demo: Demo) -> None:
    demo.ago(days=6)
    poll = await demo.do(create_poll, demo.mara, SUNDAY)
    for hours, voter, ranking in (
        (140, demo.noor, (ROLLS, DAL, RISOTTO)),
        (139, demo.leo, (PIZZA, RISOTTO)),
        (137, demo.mara, (RISOTTO, ROLLS)),
        (130, demo.ida, (ROLLS, DAL)),
        (122, demo.renzo, (RISOTTO, PIZZA)),
    ):
        demo.ago(hours=hours)
        await demo.do(cast_vote, voter, NewVote(rankings=list(ranking)), poll_id=poll.id)
    demo.ago(days=5)
    await demo.do(close_poll, demo.mara, poll_id=poll.id)


async def _board(demo: Demo) -> None:
    demo.ago(days=2)
    poll = await demo.do(create_poll, demo.renzo, BOARD)
    new = NewCodes(count=len(BOARD_VOTES) + CODES_LEFT)
    codes = (await demo.do(make_codes, demo.renzo, new, poll_id=poll.id)).codes
    handed_out, left = codes[:-CODES_LEFT], codes[-CODES_LEFT:]
    for hours, (code, ranking) in enumerate(zip(handed_out, BOARD_VOTES, strict=True)):
        demo.ago(hours=40 - 2 * hours)
        await demo.do(cast_vote, None, NewVote(rankings=list(ranking), code=code), poll_id=poll.id)
    note = f"Unused codes: {', '.join(left)}"
    demo.point_out(f"{poll.title} (Renzo’s, by code, two seats)", f"/polls/{poll.id}", note)
