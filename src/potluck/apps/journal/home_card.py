"""The journal's card on a person's home page: the week's sessions, link requests, comments, and what athletes wrote."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from uuid import UUID

from potluck.apps.journal.access import shared_with
from potluck.apps.journal.addresses import ATHLETES, COACHES, ENTRIES, WRITE
from potluck.apps.journal.entities import AthleteCoachLink, CoachAthleteLink, Comment, Entry, Link, UserProfile
from potluck.apps.journal.fields import zone_of
from potluck.apps.journal.journals import SharedEntry, comments_of
from potluck.apps.journal.links import names_of
from potluck.apps.journal.pages.frame import excerpt, short_date
from potluck.apps.journal.pages.metrics import facts
from potluck.apps.journal.times import day_of, first_of_week, span_of
from potluck.apps.journal.unread import is_new_to_athlete, may_be_new_to_athlete, new_entries
from potluck.people import Principal
from potluck.store import Store, all_done
from potluck.table import Range
from potluck.web import HomeCard, _, formats, ngettext

MOST_WAITING = 3
# Comments on older sessions are on the timeline only.
RECENT = timedelta(weeks=4)
NOTE = 100


async def home_card(rows: Store, now: datetime, caller: Principal) -> HomeCard:
    """The card of a person's own journal."""
    own_id = caller.user_id
    profile = await rows.get(UserProfile.one(own_id))
    zone = zone_of(None if profile is None else profile.time_zone)
    today = day_of(now, zone)
    monday = first_of_week(today)
    recent = await rows.all(Entry.in_time(own_id, Range(*span_of(monday - RECENT, today, zone))))
    sessions = sum(day_of(entry.date, zone) >= monday for entry in recent)
    links = await rows.all(Link.of_user(own_id))
    pending = [link for link in links if link.status == "pending"]
    mirrors = [link for link in links if isinstance(link, AthleteCoachLink) and link.status == "active"]
    written = await _written(rows, own_id, mirrors)
    asking = [link for link in pending if (link.requested_by == "athlete") != (link.athlete_id == own_id)]
    others = [link.coach_id if link.athlete_id == own_id else link.athlete_id for link in asking]
    commented = await _commented(rows, recent)
    names = await names_of(rows, [*others, *(comment.coach_id for _, comment in commented), *written])
    if not recent and not links and await rows.first(Entry.of_athlete(own_id)) is None:
        return HomeCard.first(_("How was training? Write it down in a minute."), _("Write"), WRITE)
    fact = ""
    if sessions:
        fact = ngettext("%(num)s session this week", "%(num)s sessions this week", sessions)
    elif mirrors:
        fact = ngettext("%(num)s athlete", "%(num)s athletes", len(mirrors))
    card = HomeCard(fact)
    for link, other in zip(asking, others, strict=True):
        _ask(card, link, other, names.get(other))
    for entry, comment in commented:
        name, day = names.get(comment.coach_id) or _("Someone"), _day(day_of(entry.date, zone), today)
        card.add(
            _("%(name)s commented on your session on %(day)s", name=name, day=day),
            _("“%(text)s”", text=excerpt(comment.body, NOTE)),
            f"{ENTRIES}/{entry.entry_id}",
            "message-circle",
            _("Read"),
            at=f"{ENTRIES}/{entry.entry_id}#comments",
        )
    for athlete_id, new in written.items():
        name = names.get(athlete_id) or _("Someone")
        card.add(
            ngettext("%(name)s wrote %(num)s entry", "%(name)s wrote %(num)s entries", len(new), name=name),
            _("“%(text)s”", text=excerpt(new[0].shared, NOTE)) if new[0].shared else facts(new[0].metrics),
            f"{ATHLETES}/{athlete_id}",
            "notebook-pen",
            _("Read"),
        )
    del card.waiting[MOST_WAITING:]
    return card


async def _written(store: Store, own_id: UUID, mirrors: Sequence[AthleteCoachLink]) -> dict[UUID, list[SharedEntry]]:
    """The entries that each athlete shared since the coach last read the journal; latest session first."""
    links = await store.get_many([CoachAthleteLink.by_id(mirror.athlete_id, own_id) for mirror in mirrors])
    opened = [
        (shared_with(store, link), mirror)
        for link, mirror in zip(links, mirrors, strict=True)
        if link is not None and link.status == "active"
    ]
    new = await all_done([new_entries(journal, mirror) for journal, mirror in opened])
    written = [(mirror.athlete_id, entries) for (_, mirror), entries in zip(opened, new, strict=True) if entries]
    return dict(sorted(written, key=lambda item: item[1][0].date, reverse=True))


async def _commented(store: Store, entries: Sequence[Entry]) -> list[tuple[Entry, Comment]]:
    """The entries with unread comments by coaches, each with the latest one."""
    new = [entry for entry in entries if may_be_new_to_athlete(entry)]
    comments = await comments_of(store, [entry.entry_id for entry in new])
    return [
        (entry, unread[-1])
        for entry in new
        if (unread := [comment for comment in comments[entry.entry_id] if is_new_to_athlete(entry, comment)])
    ]


def _day(day: date, today: date) -> str:
    """The weekday within the last seven days, otherwise the date."""
    return formats.date_text(day, "weekday") if (today - day).days < 7 else short_date(day, today)


def _ask(card: HomeCard, link: AthleteCoachLink | CoachAthleteLink, other: UUID, name: str | None) -> None:
    """A request by someone to link with the caller."""
    name = name or _("Someone")
    if isinstance(link, CoachAthleteLink):
        # The athlete also says what the coach will see, on that page.
        card.add(name, _("asks to be your coach"), COACHES, "users", _("Answer"))
        return
    accept = f"{COACHES}/{other}/accept?next=/"
    card.add(
        name, _("asks you to be their coach"), ATHLETES, "users", _("Accept"), at=accept, sends={"role": "athlete"}
    )
