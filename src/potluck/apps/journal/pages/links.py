"""The pages of coaches and athletes: links, requests and invitations; and an athlete as their coach sees them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Any
from uuid import UUID

from starlette.responses import Response

from potluck.apps.journal.access import Athlete, CoachOf, LinkedWith, WithCoach
from potluck.apps.journal.addresses import ASK, ATHLETES, COACHES
from potluck.apps.journal.entries import shared_entries
from potluck.apps.journal.fields import Sees, zone_of
from potluck.apps.journal.journals import SharedJournal
from potluck.apps.journal.links import (
    LinkAcceptance,
    LinkChange,
    Linking,
    LinkView,
    NewLink,
    WhichSide,
    accept_link,
    athletes,
    change_link,
    end_link,
    links,
    names_of,
    own_athletes,
    own_links,
    request_link,
    withdraw_request,
)
from potluck.apps.journal.pages.charts import drawn_spark
from potluck.apps.journal.pages.frame import layout_context, short_date, written_day
from potluck.apps.journal.pages.timeline import SharedTimeline, TimelineQuery
from potluck.apps.journal.profile import time_zone_for, zone_for, zone_unset
from potluck.apps.journal.stats import StatsOf, stats_of
from potluck.apps.journal.times import day_of, first_of_week
from potluck.store import all_done
from potluck.web import (
    UNSET,
    Call,
    Endpoints,
    Input,
    Show,
    Unset,
    Writes,
    carried_invitation,
    drop_invitation,
    redirect,
)

SPARK_WEEKS = 12


async def _both_sides(at: Athlete, show: Show, role: str) -> dict[str, Any]:
    """What the coaches page and the athletes page share."""
    found = await own_links(at)
    zone = await zone_for(at)
    asking = [each for each in found.items if each.status == "pending" and not each.requested_by_me]
    return {
        **layout_context("coaches"),
        "role": role,
        "asking": asking,
        "links": [each for each in found.items if each.role == role],
        "from_day": {each.user_id: _day_from(at, each.shared_from, zone) for each in found.items},
        "invitations": [each for each in found.invitations if each.role == role],
        "form": show.form(NewLink),
        "made": show.done,
        "said": show.query.get("said", ""),
    }


# --- coaches, and athletes --------------------------------------------------------------------------------------------


@links.page("", "journal/coaches.html")
async def coaches_page(at: Athlete, show: Show) -> dict[str, Any]:
    return await _both_sides(at, show, "coach")


@athletes.page("", "journal/athletes.html")
async def athletes_page(at: Athlete, show: Show) -> dict[str, Any]:
    """The athletes whom one coaches, most recent session first."""
    found = (await own_athletes(at)).items
    time_zone = await time_zone_for(at)
    zone = zone_of(time_zone)
    today = day_of(at.now, zone)
    span = StatsOf(from_=first_of_week(today) - timedelta(weeks=SPARK_WEEKS - 1), to=today)
    drawn = await all_done(
        [
            stats_of(SharedJournal(at.store, each.athlete_id, each.shared_from), span, time_zone, at.now)
            for each in found
        ]
    )
    since = [
        each.last_session is not None and (today - day_of(each.last_session.date, zone)).days <= 1 for each in found
    ]
    return {
        **await _both_sides(at, show, "athlete"),
        "zone_unset": await zone_unset(at),
        "athletes": [
            (
                each,
                "" if each.last_session is None else written_day(each.last_session.date, zone, at.now),
                0 if each.last_session is None else (today - day_of(each.last_session.date, zone)).days // 7,
                *drawn_spark(hours),
            )
            for each, hours in zip(found, drawn, strict=True)
        ],
        "wrote": sum(since),
    }


# --- asking, accepting, ending ----------------------------------------------------------------------------------------


links.form("/ask", then="", on=coaches_page)(request_link)
athletes.form("/ask", then="", on=athletes_page)(request_link)


def _side(role: str) -> str:
    return COACHES if role == "coach" else ATHLETES


@links.form("/{user_id}/accept", then=lambda at, link: f"{_side(link.role)}?said=accepted", on=coaches_page)
async def accept_by_page(at: LinkedWith, which: LinkAcceptance) -> Writes[LinkView]:
    return await accept_link(at, which)


@links.form("/{user_id}/sees", then=f"{COACHES}?said=sees", on=coaches_page)
async def change_by_page(at: WithCoach, change: LinkChange) -> Writes[LinkView]:
    return await change_link(at, change)


@links.form("/{user_id}/end", then=lambda at, role: f"{_side(role)}?said=ended", on=coaches_page, frees_room=True)
async def end_by_page(at: LinkedWith, which: WhichSide) -> Writes[str]:
    return (await end_link(at, which)).answering(str(which.role))


links.form("/invitations/{invitation_id}/withdraw", then=f"{COACHES}?said=withdrawn")(withdraw_request)

invitation_pages = Endpoints()


class ComingIn(Input):
    sees: Sees | Unset = UNSET
    """What the coach will see, once an athlete was asked."""


@invitation_pages.post("/journal/invitation")
async def come_in(call: Call) -> Response:
    """Accept the invitation that is in the browser's cookie; an athlete is first asked what the coach will see."""
    principal, secret = call.signed_in(), carried_invitation(call)
    invitation = await call.core.people.invitations.look(secret)
    linking = Linking(call.core)
    if invitation.role != "athlete":
        await linking.accept(principal, secret)
        # Somebody invited as a coach now has an athlete.
        return redirect(f"{ATHLETES}?said=linked", *drop_invitation(call))
    said = await call.form(ComingIn)
    chosen = said.value.sees if said.is_valid else UNSET
    if chosen is UNSET and invitation.invited_by != principal.user_id:
        coach = await linking.place_name(invitation.place)
        return call.page("journal/come_in.html", **layout_context("coaches"), coach=coach or "Someone")
    await linking.accept(principal, secret, sees="everything" if chosen is UNSET else chosen)
    return redirect(f"{COACHES}?said=linked", *drop_invitation(call))


# --- an athlete, as their coach sees them -----------------------------------------------------------------------------


@shared_entries.page("", "journal/athlete.html")
async def athlete_page(at: CoachOf, wanted: TimelineQuery) -> dict[str, Any]:
    """What an athlete shares: sessions by week, or search results."""
    base = f"{ATHLETES}/{at.athlete_id}"
    timeline = SharedTimeline(at, at.shared, base, await time_zone_for(at), wanted)
    shown = await timeline.context()
    rows = [row for week in shown["weeks"] for row in week.rows]
    return {
        **shown,
        **layout_context("coaches"),
        "anything_new": any(row.is_new or row.new_comments for row in rows),
        "athlete": await _name(at, at.athlete_id),
        "athlete_id": at.athlete_id,
        "from_day": _day_from(at, at.row.shared_from, timeline.zone),
        "ask": f"{ASK}?athlete={at.athlete_id}",
    }


def _day_from(at: Athlete | CoachOf, shared_from: datetime | None, zone: tzinfo) -> str:
    """From which day on a coach sees sessions; empty if all of them."""
    return "" if shared_from is None else short_date(day_of(shared_from, zone), day_of(at.now, zone))


async def _name(at: CoachOf, athlete_id: UUID) -> str:
    found: Sequence[str] = [*(await names_of(at.store, [athlete_id])).values()]
    return found[0] if found else "An athlete"
