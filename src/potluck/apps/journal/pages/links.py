"""The pages of coaches and athletes: links, requests and invitations; and an athlete as their coach sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Any
from uuid import UUID

from potluck.apps.journal.access import Athlete, CoachOf, LinkedWith, WithCoach
from potluck.apps.journal.addresses import ASK, ATHLETES, COACHES, HOME
from potluck.apps.journal.entries import shared_entries
from potluck.apps.journal.fields import LinkRole, Sees, zone_of
from potluck.apps.journal.journals import SharedJournal
from potluck.apps.journal.links import (
    LinkAcceptance,
    LinkChange,
    LinkJoined,
    LinkView,
    NewLink,
    WhichSide,
    accept_link,
    athletes,
    change_link,
    end_link,
    invitations,
    join,
    links,
    names_of,
    own_athletes,
    own_links,
    place_name,
    request_link,
    withdraw_request,
)
from potluck.apps.journal.pages.charts import drawn_spark
from potluck.apps.journal.pages.frame import layout_context, short_date, written_day
from potluck.apps.journal.pages.timeline import SharedTimeline, TimelineQuery
from potluck.apps.journal.profile import time_zone_for, zone_for, zone_unset
from potluck.apps.journal.stats import StatsOf, stats_of
from potluck.apps.journal.times import day_of, first_of_week
from potluck.people import InvitationOfPlace
from potluck.store import all_done
from potluck.validation import FieldError, ValidationError
from potluck.web import UNSET, Actions, Input, Show, SignedIn, Unset, Writes, _

SPARK_WEEKS = 12


async def _both_sides(at: Athlete, show: Show, role: str) -> dict[str, Any]:
    """What the coaches page and the athletes page share."""
    own = await own_links(at)
    zone = await zone_for(at)
    asking = [link for link in own.items if link.status == "pending" and not link.requested_by_me]
    return {
        **layout_context("coaches"),
        "role": role,
        "asking": asking,
        "links": [link for link in own.items if link.role == role],
        "from_day": {link.user_id: _day_from(at, link.shared_from, zone) for link in own.items},
        "invitations": [invitation for invitation in own.invitations if invitation.role == role],
        "form": show.form(NewLink),
        "made": show.done,
        # The script of a page that is no longer shared redirects here.
        "over": "over" in show.query,
    }


# --- coaches, and athletes --------------------------------------------------------------------------------------------


@links.page("", "journal/coaches.html")
async def coaches_page(at: Athlete, show: Show) -> dict[str, Any]:
    return await _both_sides(at, show, "coach")


@athletes.page("", "journal/athletes.html")
async def athletes_page(at: Athlete, show: Show) -> dict[str, Any]:
    """The athletes that the caller coaches, most recent session first."""
    coached = (await own_athletes(at)).items
    time_zone = await time_zone_for(at)
    zone = zone_of(time_zone)
    today = day_of(at.now, zone)
    span = StatsOf(from_=first_of_week(today) - timedelta(weeks=SPARK_WEEKS - 1), to=today)
    drawn = await all_done(
        [
            stats_of(SharedJournal(at.store, athlete.athlete_id, athlete.shared_from), span, time_zone, at.now)
            for athlete in coached
        ]
    )
    since = [
        athlete.last_session is not None and (today - day_of(athlete.last_session.date, zone)).days <= 1
        for athlete in coached
    ]
    return {
        **await _both_sides(at, show, "athlete"),
        "zone_unset": await zone_unset(at),
        "athletes": [
            (
                athlete,
                "" if athlete.last_session is None else written_day(athlete.last_session.date, zone, at.now),
                0 if athlete.last_session is None else (today - day_of(athlete.last_session.date, zone)).days // 7,
                *drawn_spark(hours),
            )
            for athlete, hours in zip(coached, drawn, strict=True)
        ],
        "wrote": sum(since),
    }


# --- requests, acceptance, ending -------------------------------------------------------------------------------------


links.form("/ask", then="", on=coaches_page)(request_link)
athletes.form("/ask", then="", on=athletes_page)(request_link)


def _side(role: str) -> str:
    return COACHES if role == "coach" else ATHLETES


LINKED = _("You’re linked now.")
ENDED = _("You’re no longer linked. Nothing more is shared.")


@links.form("/{user_id}/accept", then=lambda at, link: _side(link.role), flash=LINKED, on=coaches_page)
async def accept_by_page(at: LinkedWith, which: LinkAcceptance) -> Writes[LinkView]:
    return await accept_link(at, which)


@links.form("/{user_id}/sees", then=COACHES, flash=_("Saved."), on=coaches_page)
async def change_by_page(at: WithCoach, change: LinkChange) -> Writes[LinkView]:
    return await change_link(at, change)


@links.form("/{user_id}/end", then=lambda at, role: _side(role), flash=ENDED, on=coaches_page, frees_room=True)
async def end_by_page(at: LinkedWith, which: WhichSide) -> Writes[str]:
    return (await end_link(at, which)).answering(str(which.role))


links.form("/invitations/{invitation_id}/withdraw", then=COACHES, flash=_("Invitation withdrawn."))(withdraw_request)

joining: Actions[Any] = Actions(SignedIn, page=f"{HOME}/invitation")


class ComingIn(Input):
    sees: Sees | Unset = UNSET
    """What the coach will see; required if an athlete was invited."""


@joining.page(None)
async def choice_page(at: SignedIn, show: Show) -> Mapping[str, Any]:
    """Asks an athlete what the coach will see; a missing choice is no error here."""
    assert show.refusal is not None
    invitation = await at.core.people.invitations.look(invitations.cookie.value(at.visitor), at.principal.user_id)
    coach = await place_name(at.store, invitation.place)
    context = {**layout_context("coaches"), "coach": coach or _("Someone")}
    return show.template("journal/come_in.html", context, status=200)


@joining.form(
    "",
    then=lambda at, role: _side(role),
    flash=LINKED,
    drops=invitations.cookie,
    instead={ValidationError: choice_page},
)
async def come_in(at: SignedIn, sent: ComingIn) -> Writes[LinkRole]:
    """Accept the invitation in the browser's cookie; an athlete chooses what the coach will see. The answer is the role
    of the person who sent the invitation."""
    role: LinkRole = "athlete"

    async def join_as_asked(at: SignedIn, invitation: InvitationOfPlace) -> Writes[LinkJoined] | None:
        nonlocal role
        if invitation.role != "athlete":
            return await join(at, invitation)
        if sent.sees is UNSET:
            raise ValidationError(FieldError("sees", _("Choose what the coach sees.")))
        role = "coach"
        return await join(at, invitation, sent.sees)

    joined = await invitations.join(at, join_as_asked)
    return joined.answering(role)


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
    """The first day whose sessions a coach sees; empty if all of them."""
    return "" if shared_from is None else short_date(day_of(shared_from, zone), day_of(at.now, zone))


async def _name(at: CoachOf, athlete_id: UUID) -> str:
    names: Sequence[str] = [*(await names_of(at.store, [athlete_id])).values()]
    return names[0] if names else _("An athlete")
