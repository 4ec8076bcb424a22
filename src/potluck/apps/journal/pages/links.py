"""The pages of coaches and athletes: links, requests and invitations; and an athlete as their coach sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Any
from uuid import UUID

from msgspec import Struct

from potluck.apps.journal.access import Athlete, CoachOf, LinkedWith, WithCoach
from potluck.apps.journal.addresses import ASK, ATHLETES, COACHES, HOME
from potluck.apps.journal.entries import shared_entries
from potluck.apps.journal.fields import LinkRole, Sees, zone_of
from potluck.apps.journal.journals import SharedJournal
from potluck.apps.journal.links import (
    APP,
    LinkAcceptance,
    LinkChange,
    LinkView,
    NewLink,
    WhichSide,
    accept_link,
    athletes,
    change_link,
    end_link,
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
from potluck.people import Invitation
from potluck.store import all_done
from potluck.validation import FieldError, ValidationError
from potluck.web import CARRIED_INVITATION, UNSET, Actions, Input, Show, SignedIn, Unset, Writes, accepted

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
        # The script of a page that is no longer shared leads here.
        "over": "over" in show.query,
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


LINKED = "You are linked now."
ENDED = "You are no longer linked. Nothing more is shared."


@links.form("/{user_id}/accept", then=lambda at, link: _side(link.role), flash=LINKED, on=coaches_page)
async def accept_by_page(at: LinkedWith, which: LinkAcceptance) -> Writes[LinkView]:
    return await accept_link(at, which)


@links.form("/{user_id}/sees", then=COACHES, flash="Saved. It counts from now on.", on=coaches_page)
async def change_by_page(at: WithCoach, change: LinkChange) -> Writes[LinkView]:
    return await change_link(at, change)


@links.form("/{user_id}/end", then=lambda at, role: _side(role), flash=ENDED, on=coaches_page, frees_room=True)
async def end_by_page(at: LinkedWith, which: WhichSide) -> Writes[str]:
    return (await end_link(at, which)).answering(str(which.role))


links.form("/invitations/{invitation_id}/withdraw", then=COACHES, flash="The invitation is withdrawn.")(
    withdraw_request
)

joining: Actions[Any] = Actions(SignedIn, page=f"{HOME}/invitation")


class ComingIn(Input):
    sees: Sees | Unset = UNSET
    """What the coach will see, once an athlete was asked."""


@joining.page(None)
async def choice_page(at: SignedIn, show: Show) -> Mapping[str, Any]:
    """Asks an athlete what the coach will see; not having said it yet is no mistake."""
    assert show.refusal is not None
    invitation = await at.core.people.invitations.look(CARRIED_INVITATION.value(at.visitor))
    coach = await place_name(at.store, invitation.place)
    context = {**layout_context("coaches"), "coach": coach or "Someone"}
    return show.template("journal/come_in.html", context, status=200)


@joining.form(
    "",
    then=lambda at, role: _side(role),
    flash=LINKED,
    drops=CARRIED_INVITATION,
    instead={ValidationError: choice_page},
)
async def come_in(at: SignedIn, sent: ComingIn) -> Writes[LinkRole]:
    """Accept the invitation in the browser's cookie; an athlete says what the coach will see. Answers with the role of
    the person who invited."""
    role: LinkRole = "athlete"

    async def join_as_asked(at: SignedIn, invitation: Invitation) -> Writes[Struct]:
        nonlocal role
        if invitation.role != "athlete":
            return await join(at, invitation)
        if sent.sees is UNSET:
            raise ValidationError(FieldError("sees", "Choose what the coach sees"))
        role = "coach"
        return await join(at, invitation, sent.sees)

    joined = await accepted(at, CARRIED_INVITATION.value(at.visitor), {APP: join_as_asked}.get)
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
    """From which day on a coach sees sessions; empty if all of them."""
    return "" if shared_from is None else short_date(day_of(shared_from, zone), day_of(at.now, zone))


async def _name(at: CoachOf, athlete_id: UUID) -> str:
    found: Sequence[str] = [*(await names_of(at.store, [athlete_id])).values()]
    return found[0] if found else "An athlete"
