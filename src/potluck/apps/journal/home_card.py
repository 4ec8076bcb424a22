"""What the journal says to a person on the home page: how the week goes, and who asks to be linked."""

from collections.abc import Awaitable, Callable

from potluck.apps.journal.addresses import COACHES
from potluck.apps.journal.entities import CoachAthleteLink, Entry, Link, UserProfile
from potluck.apps.journal.fields import zone_of
from potluck.apps.journal.links import names_of
from potluck.apps.journal.times import day_of, first_of_week, span_of
from potluck.people.authentication import Principal
from potluck.table import between
from potluck.web.app import Core, HomeCard, Waiting

__all__ = ["home_card_of"]

MOST_WAITING = 3


def home_card_of(core: Core) -> Callable[[Principal], Awaitable[HomeCard]]:
    """Of the person's own journal."""

    async def home_card(caller: Principal) -> HomeCard:
        rows, own_id = core.store, caller.user_id
        profile = await rows.get(UserProfile.one(own_id))
        zone = zone_of("UTC" if profile is None else profile.time_zone)
        today = day_of(core.clock(), zone)
        week = span_of(first_of_week(today), today, zone)
        sessions = await rows.count(Entry.in_time(own_id, between(*week)))
        pending = [each for each in await rows.all(Link.of_user(own_id)) if each.status == "pending"]
        asking = [each for each in pending if (each.requested_by == "athlete") != (each.athlete_id == own_id)]
        others = [each.coach_id if each.athlete_id == own_id else each.athlete_id for each in asking]
        names = await names_of(rows, others)
        return HomeCard(
            f"{sessions} session{'' if sessions == 1 else 's'} this week" if sessions else "",
            [
                Waiting(names.get(other, "Somebody"), _asks(link), COACHES, "users", "Look")
                for link, other in list(zip(asking, others, strict=True))[:MOST_WAITING]
            ],
        )

    return home_card


def _asks(link: object) -> str:
    return "asks to be your coach" if isinstance(link, CoachAthleteLink) else "asks you to be their coach"
