"""The journal's card on a person's home page: the week's sessions, link requests, comments, and what athletes wrote."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import date, timedelta
from uuid import UUID

from potluck.apps.journal.access import shared_with
from potluck.apps.journal.addresses import ATHLETES, COACHES, ENTRIES
from potluck.apps.journal.entities import AthleteCoachLink, CoachAthleteLink, Comment, Entry, Link, UserProfile
from potluck.apps.journal.fields import zone_of
from potluck.apps.journal.journals import SharedEntry
from potluck.apps.journal.links import names_of
from potluck.apps.journal.pages.frame import excerpt, facts, several, short_date
from potluck.apps.journal.times import day_of, first_of_week, span_of
from potluck.apps.journal.unread import is_new_to_athlete, may_be_new_to_athlete, new_entries
from potluck.people import Principal
from potluck.store import Store, all_done
from potluck.table import between
from potluck.web import Core, HomeCard, Waiting

MOST_WAITING = 3
# Comments on older sessions are on the timeline only.
RECENT = timedelta(weeks=4)
NOTE = 100


def home_card_of(core: Core) -> Callable[[Principal], Awaitable[HomeCard]]:
    """The function that makes the card of a person's own journal."""

    async def home_card(caller: Principal) -> HomeCard:
        rows, own_id = core.store, caller.user_id
        profile = await rows.get(UserProfile.one(own_id))
        zone = zone_of(None if profile is None else profile.time_zone)
        today = day_of(core.clock(), zone)
        monday = first_of_week(today)
        recent = await rows.all(Entry.in_time(own_id, between(*span_of(monday - RECENT, today, zone))))
        sessions = sum(day_of(each.date, zone) >= monday for each in recent)
        links = await rows.all(Link.of_user(own_id))
        pending = [each for each in links if each.status == "pending"]
        mirrors = [each for each in links if isinstance(each, AthleteCoachLink) and each.status == "active"]
        written = await _written(rows, own_id, mirrors)
        asking = [each for each in pending if (each.requested_by == "athlete") != (each.athlete_id == own_id)]
        others = [each.coach_id if each.athlete_id == own_id else each.athlete_id for each in asking]
        commented = await _commented(rows, recent)
        names = await names_of(rows, [*others, *(comment.coach_id for _, comment in commented), *written])
        asks = [
            Waiting(names.get(other, "Somebody"), _asks(link), COACHES, "users", "Look")
            for link, other in zip(asking, others, strict=True)
        ]
        said = [
            Waiting(
                f"{names.get(comment.coach_id, 'Somebody')} commented on {_day(day_of(entry.date, zone), today)}",
                f"“{excerpt(comment.body, NOTE)}”",
                f"{ENTRIES}/{entry.entry_id}",
                "message-circle",
            )
            for entry, comment in commented
        ]
        wrote = [
            Waiting(
                f"{names.get(athlete_id, 'Someone')} wrote down {several(len(new), 'session')}",
                f"“{excerpt(new[0].shared, NOTE)}”" if new[0].shared else facts(new[0].metrics),
                f"{ATHLETES}/{athlete_id}",
                "notebook-pen",
            )
            for athlete_id, new in written.items()
        ]
        fact = f"{several(sessions, 'session')} this week" if sessions else ""
        if not fact and mirrors:
            fact = several(len(mirrors), "athlete")
        return HomeCard(fact, [*asks, *said, *wrote][:MOST_WAITING])

    return home_card


async def _written(store: Store, own_id: UUID, mirrors: Sequence[AthleteCoachLink]) -> dict[UUID, list[SharedEntry]]:
    """What each athlete has written since the coach last looked, as far as the coach sees it; latest session first."""
    links = await store.get_many([CoachAthleteLink.by_id(each.athlete_id, own_id) for each in mirrors])
    opened = [
        (shared_with(store, link), mirror)
        for link, mirror in zip(links, mirrors, strict=True)
        if link is not None and link.status == "active"
    ]
    new = await all_done([new_entries(journal, mirror) for journal, mirror in opened])
    written = [(mirror.athlete_id, found) for (_, mirror), found in zip(opened, new, strict=True) if found]
    return dict(sorted(written, key=lambda each: each[1][0].date, reverse=True))


async def _commented(store: Store, entries: Sequence[Entry]) -> list[tuple[Entry, Comment]]:
    """The entries with unread comments by coaches, each with the last of those."""
    new = [each for each in entries if may_be_new_to_athlete(each)]
    found = await all_done([store.all(Comment.of_entry(each.entry_id)) for each in new])
    return [
        (entry, last[-1])
        for entry, comments in zip(new, found, strict=True)
        if (last := [each for each in comments if is_new_to_athlete(entry, each)])
    ]


def _day(day: date, today: date) -> str:
    """The weekday for the last seven days, else the date."""
    return f"{day:%A}" if (today - day).days < 7 else short_date(day, today)


def _asks(link: object) -> str:
    return "asks to be your coach" if isinstance(link, CoachAthleteLink) else "asks you to be their coach"
