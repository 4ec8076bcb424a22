"""A demo journal: Mara's year of training, Renzo's comments on it, and questions to the assistant."""

import random
from datetime import datetime, timedelta
from typing import Any

from potluck.apps.journal.addresses import ENTRIES
from potluck.apps.journal.comments import CommentChange, NewComment, add_comment, change_comment
from potluck.apps.journal.entities import Sections, SessionMetrics
from potluck.apps.journal.entries import NewEntry, ReadReceipt, add_entry, see_comments, see_entries
from potluck.apps.journal.fields import GiOrNoGi
from potluck.apps.journal.links import APP, NewLink, join, request_link
from potluck.apps.journal.profile import ProfileChange, change_profile
from potluck.apps.journal.threads import NewMessage, NewThread, ask, begin_thread
from potluck.people import Principal
from potluck.web import UNSET, Demo

# All of this is invented. The year is always the same; only its dates move with the calendar.
SEED = 20
DAYS = 364
# For the coach's other athletes, who train less.
WEEKS_OF_OTHERS = 14
# Renzo reads in the evening.
HOURS_LATER = 2.5
# Monday, Wednesday and Friday evening, the open mat on Saturday, and the probability of each.
WEEK = ((0, 19, 0.75), (2, 19, 0.8), (4, 18, 0.6), (5, 11, 0.45))
# Weeks with little training: an injury in spring, holidays in summer.
EASY_WEEKS = {17: 0.1, 18: 0.2, 19: 0.4, 32: 0.0, 33: 0.1}

POSITIONS = ("half guard", "closed guard", "side control", "mount", "back control", "butterfly", "open guard")
DRILLS = (
    "knee cut",
    "hip escape",
    "underhook",
    "frames",
    "arm drag",
    "single leg",
    "scissor sweep",
    "armbar",
    "triangle",
)
SHARED = (
    "Worked {drill} from {position}. It starts to click when I slow down.",
    "{position} against the bigger ones. Lost the {drill} twice, same side.",
    "Good rounds. {drill} landed once live, and three times I saw it too late.",
    "Drilling only: {drill}, thirty each side, then {position} escapes.",
    "Tired, so {position} only. Kept my frames and breathed.",
    "Open mat. Taught the {drill} to two white belts and understood it better myself.",
    "Renzo’s drill from {position} worked once I stopped rushing the second step.",
)
PRIVATE = (
    "",
    "",
    "Knee again after the third round. Did not say anything.",
    "Slept four hours. Angry all the way through, and it showed.",
    "Nervous before the last round, and I hid it.",
    "Thought about the tournament more than about the round.",
    "Best evening in weeks. I do not want to jinx it.",
)
TAGS = (*POSITIONS, "drilling", "open mat", "competition class", "takedowns")
COMMENTS = (
    "Good frames. Next time, hips first: the frame only buys you the half second you need to move them.",
    "You rush the second step because you look at the grip. Look at the hip.",
    "That is the right round to be tired in. Keep it short next time.",
)
HIDDEN = "You looked tired on Wednesday. Everything all right at home?"
QUESTIONS = ("When do I keep losing the underhook?", "How many hours did I train last month?")


async def fill(demo: Demo) -> None:
    demo.ago(days=19)
    zone = ProfileChange(time_zone="Europe/Lisbon", version=1)
    await demo.do(change_profile, demo.mara, zone, version=1)
    # Expiry goes by the real clock, so the invitation must not be older than its lifetime.
    demo.ago(days=6)
    invitation = await demo.do(request_link, demo.mara, NewLink(coach_email="renzo@potluck.example"))
    await demo.join(demo.renzo, invitation.token, APP, join)
    demo.ago()
    now = demo.clock()

    async def written(by: Principal, session: NewEntry) -> Any:
        """Write the entry in the evening of its day."""
        assert session.date is not UNSET
        demo.ago(hours=(now - session.date).total_seconds() / 3600 - HOURS_LATER / 2)
        return await demo.do(add_entry, by, session)

    entries = [await written(demo.mara, session) for session in _year(now)]
    for other, often in ((demo.leo, 0.6), (demo.ida, 0.35)):
        demo.ago(days=6)
        request = await demo.do(request_link, other, NewLink(coach_email="renzo@potluck.example"))
        await demo.join(demo.renzo, request.token, APP, join)
        for new in _year(now, WEEKS_OF_OTHERS * 7, often, SEED + round(100 * often)):
            await written(other, new)
    # Each comment is written in the evening of its session, oldest first.
    for number, body in reversed([*enumerate(COMMENTS)]):
        of = entries[-2 - number]
        demo.ago(hours=(now - of.date).total_seconds() / 3600 - HOURS_LATER)
        await demo.do(add_comment, demo.renzo, NewComment(body=body), entry_id=of.entry_id)
    demo.ago(hours=(now - entries[-2].date).total_seconds() / 3600 - 2 * HOURS_LATER)
    comment = await demo.do(add_comment, demo.renzo, NewComment(body=HIDDEN), entry_id=entries[-2].entry_id)
    hiding = CommentChange(visibility="hiddenByAthlete", version=comment.version)
    ids = {"entry_id": comment.entry_id, "comment_id": comment.comment_id}
    await demo.do(change_comment, demo.mara, hiding, version=comment.version, **ids)
    # Mara has not read the latest comments yet; Renzo has read all but the last session.
    await demo.do(see_entries, demo.renzo, ReadReceipt(), athlete_id=demo.mara.user_id)
    for entry in entries[-4:-2]:
        await demo.do(see_comments, demo.mara, ReadReceipt(), entry_id=entry.entry_id)
    demo.ago(hours=2)
    thread = await demo.do(begin_thread, demo.mara, NewThread(scope="private"))
    for question in QUESTIONS:
        await demo.do(ask, demo.mara, NewMessage(content=question), thread_id=thread.thread_id)
    demo.ago()
    demo.point_out("Mara’s journal: a year of training (Renzo coaches her, Leo and Ida)", ENTRIES)


def _year(now: datetime, days: int = DAYS, often: float = 1.0, seed: int = SEED) -> list[NewEntry]:
    """The sessions of this many days up to yesterday, oldest first."""
    chance = random.Random(seed)
    sessions = []
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for ago in range(days, 0, -1):
        day = midnight - timedelta(days=ago)
        likely = EASY_WEEKS.get(day.isocalendar().week, 1.0)
        for weekday, hour, probability in WEEK:
            if day.weekday() == weekday and chance.random() < probability * likely * often:
                sessions.append(_session(chance, day + timedelta(hours=hour), progress=1 - ago / days))
    return sessions


def _session(chance: random.Random, when: datetime, progress: float) -> NewEntry:
    open_mat = when.weekday() == 5
    position, drill = chance.choice(POSITIONS), chance.choice(DRILLS)
    worn: GiOrNoGi = chance.choices(("gi", "no-gi", "both"), (58, 34, 8))[0]
    hard = min(10, max(1, round(chance.gauss(4.5 + 2.5 * progress, 1.6))))
    shared = chance.choice(SHARED).format(drill=drill, position=position)
    tags = dict.fromkeys((position, *(("open mat",) if open_mat else chance.sample(TAGS, chance.randrange(3)))))
    return NewEntry(
        sections=Sections(shared=shared[:1].upper() + shared[1:], private=chance.choice(PRIVATE)),
        session_metrics=SessionMetrics(
            duration_minutes=chance.choice((60, 75, 90, 90, 105, 120)),
            intensity=hard,
            rounds=chance.randrange(2, 7) + (3 if open_mat else 0),
            gi_or_no_gi=worn,
            tags=list(tags),
        ),
        date=when,
    )
