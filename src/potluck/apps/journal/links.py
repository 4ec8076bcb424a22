"""Links between athletes and coaches: requested by an invitation, accepted by the other side, ended by either at once.

A link is two rows that always change in one transaction: the athlete's row, which is authoritative, and its mirror, by
which the coach finds it. The e-mail address is only a note on the invitation and is never looked up, so it reveals
nothing about accounts. Linking again reuses the same link. An imported link is pending until the other side accepts it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import Annotated, Any
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from potluck.apps.journal.access import Athlete, LinkedWith, WithCoach, shared_with, still_sees, to_the_millisecond
from potluck.apps.journal.addresses import ATHLETES, COACHES
from potluck.apps.journal.entities import AthleteCoachLink, CoachAthleteLink, Link, UserProfile
from potluck.apps.journal.fields import LinkRole, LinkStatus, Sees, zone_of
from potluck.apps.journal.periods import long_day
from potluck.apps.journal.profile import zone_for, zone_name
from potluck.apps.journal.times import day_of, span_of
from potluck.apps.journal.unread import new_entries
from potluck.people import Account, Email, InvitationOfPlace, TooMany
from potluck.store import Store, all_done
from potluck.table import Operation, absent, check, present, put, the, update
from potluck.validation import FieldError, Message
from potluck.web import (
    UNSET,
    Actions,
    Input,
    InvitationMade,
    Invitations,
    NotFound,
    Outcome,
    ProblemError,
    SignedIn,
    Unset,
    Writes,
    _,
    or_raise,
    or_retry,
)

APP = "journal"
invitations = Invitations(APP)

FROM_DAY = "coach from "
"""The prefix of the role in an invitation to a coach who will see sessions from a day on, by the athlete's calendar."""

# How much of the shared text fits next to a name.
EXCERPT = 200
# All of them are read at once, with the last session of each athlete.
MOST_LINKS = 1_000


class NotAskedFor(ProblemError, slug="link-not-asked-for", status=409, title="No such request"):
    """Only the other side of a link can accept it, and only while the request is open."""


class WhichLink(ProblemError, slug="which-link", status=409, title="Ambiguous link"):
    """You have two links, one in each direction. Set “role” to the other person's role in the one you mean."""


# --- what is shown ----------------------------------------------------------------------------------------------------


class LinkView(Struct, rename="camel", frozen=True, kw_only=True):
    user_id: UUID
    """The other person."""
    name: str | None
    """Their name, once they have accepted or requested the link. Until then only they see the other's name."""
    role: LinkRole
    """Their role towards you."""
    status: LinkStatus
    requested_by_me: bool
    shared_from: datetime | None
    """The coach sees sessions from this time on; null means all sessions."""
    created_at: datetime
    updated_at: datetime


class OpenInvitation(Struct, rename="camel", frozen=True, kw_only=True):
    """An invitation that has not been accepted yet."""

    id: UUID
    email: str | None
    role: LinkRole
    sees: Sees | None
    """What the coach will see; null if an athlete is invited, who chooses when accepting."""
    created_at: datetime
    expires_at: datetime


class Links(Struct, rename="camel", frozen=True, kw_only=True):
    items: list[LinkView]
    invitations: list[OpenInvitation]


class LastSession(Struct, rename="camel", frozen=True, kw_only=True):
    entry_id: UUID
    date: datetime
    duration_minutes: int
    intensity: int
    shared: str
    """An excerpt that fits next to a name."""


class AthleteSummary(Struct, rename="camel", frozen=True, kw_only=True):
    athlete_id: UUID
    name: str | None
    since: datetime
    last_session: LastSession | None
    new_entries: int
    """The number of entries they have written since the caller last read the journal."""
    shared_from: datetime | None
    """The caller sees sessions from this time on; null means all sessions."""


class Athletes(Struct, rename="camel", frozen=True, kw_only=True):
    items: list[AthleteSummary]


# --- what may be sent -------------------------------------------------------------------------------------------------


class NewLink(Input):
    """A coach or an athlete to invite. The address is a note for the caller and is never looked up."""

    coach_email: Email | Unset = UNSET
    athlete_email: Email | Unset = UNSET
    sees: Sees | Unset = UNSET
    """What the coach will see: everything shared so far, which is the default, or sessions from today on."""

    @staticmethod
    def check(sent: NewLink) -> Iterator[FieldError]:
        if (sent.coach_email is UNSET) == (sent.athlete_email is UNSET):
            yield FieldError("coachEmail", "Give the address of either a coach or an athlete")
        if sent.athlete_email is not UNSET and sent.sees is not UNSET:
            yield FieldError("sees", "The athlete chooses this when they accept")


class WhichSide(Input):
    """The other person's role, needed if the two coach each other."""

    role: LinkRole | Unset = UNSET


class LinkAcceptance(WhichSide):
    sees: Sees | Unset = UNSET
    """What the coach will see, if the caller is the athlete: everything shared so far, or sessions from today on."""


class LinkChange(Input):
    sees: Sees
    """What the coach sees from now on."""


# --- the two rows -----------------------------------------------------------------------------------------------------


KINDS: tuple[Any, Any] = (CoachAthleteLink, AthleteCoachLink)


def link_pair(athlete_id: UUID, coach_id: UUID) -> tuple[Any, Any]:
    return CoachAthleteLink.by_id(athlete_id, coach_id), AthleteCoachLink.one(coach_id, athlete_id)


def link_writes(
    before: CoachAthleteLink | None,
    athlete_id: UUID,
    coach_id: UUID,
    status: LinkStatus,
    requested_by: LinkRole,
    now: datetime,
    shared_from: datetime | None,
) -> list[Operation]:
    """The writes that give both rows this status, or create them; refused if the link has changed since it was read."""
    if before is None:
        values: dict[str, Any] = {"status": status, "requested_by": requested_by, "created_at": now, "updated_at": now}
        values |= {"shared_from": shared_from}
        values |= {"accepted_at": now} if status == "active" else {}
        link, mirror = (kind(athlete_id=athlete_id, coach_id=coach_id, **values) for kind in KINDS)
        return [put(link, when=absent), put(mirror)]
    # The athlete's row is authoritative; the mirror follows.
    as_read = (the(CoachAthleteLink.status) == before.status) & (the(CoachAthleteLink.updated_at) == before.updated_at)
    as_read &= the(CoachAthleteLink.shared_from).still(before.shared_from)
    conditions = (as_read, present)
    return [
        update(
            ref,
            the(kind.status).becomes(status),
            the(kind.requested_by).becomes(requested_by),
            the(kind.updated_at).becomes(now),
            the(kind.shared_from).becomes(shared_from),
            *([the(kind.accepted_at).becomes(now)] if status == "active" else ()),
            when=when,
        )
        for kind, ref, when in zip(KINDS, link_pair(athlete_id, coach_id), conditions, strict=True)
    ]


async def names_of(store: Store, user_ids: Sequence[UUID]) -> dict[UUID, str]:
    """The names of these people, without deleted accounts."""
    profiles = await store.get_many([UserProfile.one(user_id) for user_id in dict.fromkeys(user_ids)])
    return {profile.user_id: profile.name for profile in profiles if profile is not None}


# --- the rules --------------------------------------------------------------------------------------------------------

links: Actions[Any] = Actions(Athlete, api="/journal/links", page=COACHES, tag="Journal")
athletes: Actions[Any] = Actions(Athlete, api="/journal/athletes", page=ATHLETES, tag="Journal")


@links.read()
async def own_links(at: Athlete) -> Links:
    """List your coaches and athletes, including requested and former ones, latest change first."""
    own = await at.store.all(Link.of_user(at.own_id))
    others = [_other(link, at.own_id) for link in own]
    names = await names_of(at.store, others)
    shown = [
        _view(link, at.own_id, names.get(other) if _knows(link, at.own_id) else None)
        for link, other in zip(own, others, strict=True)
    ]
    invited = await invitations.of_place(at, str(at.own_id))
    return Links(
        items=sorted(shown, key=lambda view: (view.updated_at, view.user_id.int, view.role), reverse=True),
        invitations=[
            OpenInvitation(
                id=invitation.invitation_id,
                email=invitation.email,
                role="athlete" if invitation.role == "athlete" else "coach",
                sees=None
                if invitation.role == "athlete"
                else "everything"
                if invitation.role == "coach"
                else "fromToday",
                created_at=invitation.created_at,
                expires_at=datetime.fromtimestamp(invitation.ttl, invitation.created_at.tzinfo),
            )
            for invitation in invited
        ],
    )


@links.action("POST", "", TooMany, status=201, secret=True)
async def request_link(at: Athlete, new: NewLink) -> Writes[InvitationMade]:
    """Invite someone to be your coach or your athlete. The token and its link are shown only once."""
    role, email = ("coach", new.coach_email) if new.coach_email is not UNSET else ("athlete", new.athlete_email)
    assert email is not UNSET
    if new.sees == "fromToday":
        role = f"{FROM_DAY}{day_of(at.now, await zone_for(at))}"
    return await invitations.invite(
        at, str(at.own_id), role, email, *(await _profile_writes(at.store, at.own_id, at.now) or ())
    )


class WithInvitation(Athlete):
    """A person and an invitation of theirs."""

    invitation_id: Annotated[UUID, Message("Invalid invitation ID format")]


@links.delete("/invitations/{invitation_id}")
async def withdraw_request(at: WithInvitation) -> Writes[None]:
    """Withdraw an invitation. Its link stops working at once."""
    return await invitations.withdraw(at, str(at.own_id), at.invitation_id)


@links.action("POST", "/{user_id}/accept", NotAskedFor, WhichLink, input_optional=True)
async def accept_link(at: LinkedWith, which: LinkAcceptance) -> Writes[LinkView]:
    """Accept a link that the other side requested. An athlete chooses what the coach will see."""
    candidates = [
        candidate
        for candidate in await _between(at, which)
        if candidate.status == "active" or (candidate.status == "pending" and not _asked(candidate, at.own_id))
    ]
    if not candidates:
        raise NotAskedFor
    if len(candidates) > 1:
        raise WhichLink
    (link,) = candidates
    account = await at.store.get(Account.by_id(at.user_id))
    if account is None:
        raise NotFound
    if link.status == "active":
        return Writes(_view(link, at.own_id, account.name))
    users = (at.own_id, at.user_id)
    profiles = [write for user in users for write in await _profile_writes(at.store, user, at.now) or ()]
    shared_from = link.shared_from
    if which.sees is not UNSET and link.athlete_id == at.own_id:
        shared_from = await _from_when(at, which.sees)
    changed = link_writes(link, link.athlete_id, link.coach_id, "active", link.requested_by, at.now, shared_from)
    return Writes(
        _view(replace(link, status="active", updated_at=at.now, shared_from=shared_from), at.own_id, account.name),
        or_raise(check(Account.by_id(at.user_id), when=present), NotFound),
        *map(or_retry, changed),
        *profiles,
    )


@links.action("DELETE", "/{user_id}", status=204, input_optional=True, frees_room=True)
async def end_link(at: LinkedWith, which: WhichSide) -> Writes[None]:
    """End a link, or decline a requested one. The coach loses access at once.

    Without a role, links in both directions end."""
    current = [link for link in await _between(at, which) if link.status != "revoked"]
    ended = [
        write
        for link in current
        for write in link_writes(
            link, link.athlete_id, link.coach_id, "revoked", link.requested_by, at.now, link.shared_from
        )
    ]
    return Writes(None, *map(or_retry, ended))


@links.action("PATCH", "/{user_id}")
async def change_link(at: WithCoach, change: LinkChange) -> Writes[LinkView]:
    """Change what a coach sees, as the athlete, with immediate effect."""
    link = at.link
    shared_from = await _from_when(at, change.sees)
    name = (await names_of(at.store, [at.user_id])).get(at.user_id)
    after = replace(link, shared_from=shared_from)
    conditions = (still_sees(link), present)
    writes = [
        update(ref, the(kind.shared_from).becomes(shared_from), when=when)
        for kind, ref, when in zip(KINDS, link_pair(at.own_id, at.user_id), conditions, strict=True)
    ]
    return Writes(_view(after, at.own_id, name), *map(or_retry, writes if after != link else []))


async def _from_when(at: Athlete, sees: Sees) -> datetime | None:
    """The beginning of the athlete's today for "fromToday"; None for everything."""
    if sees == "everything":
        return None
    zone = await zone_for(at)
    return span_of(day := day_of(at.now, zone), day, zone)[0]


@athletes.read()
async def own_athletes(at: Athlete) -> Athletes:
    """List the athletes you coach with their last sessions, most recent first."""
    mirrors = {mirror.athlete_id: mirror for mirror in await at.store.all(AthleteCoachLink.of_coach(at.own_id))}
    refs = [
        CoachAthleteLink.by_id(athlete_id, at.own_id)
        for athlete_id, mirror in mirrors.items()
        if mirror.status == "active"
    ]
    coached = [link for link in await at.store.get_many(refs) if link is not None and link.status == "active"]
    names = await names_of(at.store, [link.athlete_id for link in coached])
    journals = [shared_with(at.store, link) for link in coached]
    last = await all_done([journal.latest() for journal in journals])
    new = await all_done([new_entries(journal, mirrors[journal.athlete_id]) for journal in journals])
    summaries = [
        AthleteSummary(
            athlete_id=link.athlete_id,
            name=names.get(link.athlete_id),
            since=link.updated_at,
            last_session=None
            if entry is None
            else LastSession(
                entry_id=entry.entry_id,
                date=entry.date,
                duration_minutes=entry.metrics.duration_minutes,
                intensity=entry.metrics.intensity,
                shared=entry.shared[:EXCERPT],
            ),
            new_entries=len(written),
            shared_from=link.shared_from,
        )
        for link, entry, written in zip(coached, last, new, strict=True)
    ]
    summaries.sort(key=lambda summary: str(summary.athlete_id))
    return Athletes(items=sorted(summaries, key=lambda summary: _trained(summary), reverse=True))


def _trained(athlete: AthleteSummary) -> float:
    return 0.0 if athlete.last_session is None else athlete.last_session.date.timestamp()


async def _between(at: LinkedWith, which: WhichSide) -> list[CoachAthleteLink]:
    """The links between the caller and the other person, including ended ones; NotFound if there never was one."""
    as_athlete = CoachAthleteLink.by_id(at.own_id, at.user_id)
    as_coach = CoachAthleteLink.by_id(at.user_id, at.own_id)
    refs = {"coach": [as_athlete], "athlete": [as_coach]}.get(str(which.role), [as_athlete, as_coach])
    existing = [link for link in await at.store.get_many(refs) if link is not None]
    if not existing:
        raise NotFound
    return existing


def _other(link: CoachAthleteLink | AthleteCoachLink, own_id: UUID) -> UUID:
    return link.coach_id if link.athlete_id == own_id else link.athlete_id


def _view(link: CoachAthleteLink | AthleteCoachLink, own_id: UUID, name: str | None) -> LinkView:
    return LinkView(
        user_id=_other(link, own_id),
        name=name,
        role="coach" if link.athlete_id == own_id else "athlete",
        status=link.status,
        requested_by_me=_asked(link, own_id),
        shared_from=link.shared_from,
        created_at=link.created_at,
        updated_at=link.updated_at,
    )


def _knows(link: CoachAthleteLink | AthleteCoachLink, own_id: UUID) -> bool:
    """Whether this side may see the other's name: once the other side has accepted or requested the link."""
    return link.status == "active" or link.accepted_at is not None or not _asked(link, own_id)


def _asked(link: CoachAthleteLink | AthleteCoachLink, own_id: UUID) -> bool:
    return (link.requested_by == "athlete") == (link.athlete_id == own_id)


async def _profile_writes(store: Store, user_id: UUID, now: datetime) -> list[Outcome] | None:
    """The write that creates a profile for a person whose name others will see, unless it exists; None if they have no
    account any more."""
    profile, account = await store.get_together(UserProfile.one(user_id), Account.by_id(user_id))
    if account is None:
        return None
    if profile is not None:
        return []
    profile_row = UserProfile(user_id=user_id, name=account.name, created_at=now)
    return [or_retry(put(profile_row, when=absent))]


# --- what the suite asks of the app -----------------------------------------------------------------------------------


class LinkJoined(Struct, rename="camel", frozen=True, kw_only=True):
    """The other side of the new link."""

    user_id: UUID


ROLE_NAMES = {"coach": _("Coach"), "athlete": _("Athlete")}


def role_in_words(role: str) -> str:
    if role.startswith(FROM_DAY):
        return _("Coach, sees sessions from %(day)s on", day=long_day(_day_of_role(role)))
    return ROLE_NAMES.get(role, role)


def _day_of_role(role: str) -> date:
    """The first day whose sessions an invited coach will see."""
    return date.fromisoformat(role.removeprefix(FROM_DAY))


async def place_name(store: Store, place: str) -> str | None:
    """The name of the person whose journal an invitation is to."""
    profile = await store.get(UserProfile.one(UUID(place)))
    return None if profile is None else profile.name


async def join(at: SignedIn, invitation: InvitationOfPlace, sees: Sees = "everything") -> Writes[LinkJoined] | None:
    """Activate the link, unless it is active.

    The athlete chooses what the coach will see: in their invitation, or with `sees` when they accept one.
    An invitation from before the link was ended is invalid: otherwise a removed person could come back with it.
    """
    own_id, other = at.principal.user_id, invitation.invited_by
    invites_coach = invitation.role != "athlete"
    athlete_id, coach_id = (other, own_id) if invites_coach else (own_id, other)
    answer = LinkJoined(user_id=other)
    link = await at.store.get(CoachAthleteLink.by_id(athlete_id, coach_id))
    if link is not None and link.status == "active":
        return Writes(answer)
    if link is not None and link.status == "revoked" and invitation.created_at <= link.updated_at:
        return None
    if link is None:
        for user in (own_id, other):
            if await at.store.count(Link.of_user(user)) >= MOST_LINKS:
                raise TooMany("links of one person", MOST_LINKS)
    now = to_the_millisecond(at.core.clock())
    requested_by: LinkRole = "athlete" if athlete_id == other else "coach"
    shared_from = None
    if invitation.role.startswith(FROM_DAY) or (not invites_coach and sees == "fromToday"):
        zone = zone_of(await zone_name(at.store, athlete_id))
        day = _day_of_role(invitation.role) if invites_coach else day_of(now, zone)
        shared_from = span_of(day, day, zone)[0]
    profiles = [await _profile_writes(at.store, user, now) for user in (own_id, other)]
    if None in profiles:
        return None
    return Writes(
        answer,
        or_retry(check(Account.by_id(other), when=present)),
        *map(or_retry, link_writes(link, athlete_id, coach_id, "active", requested_by, now, shared_from)),
        *(write for writes in profiles for write in writes or ()),
    )
