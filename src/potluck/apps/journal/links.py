"""Links between athletes and coaches: requested by an invitation, accepted by the other side, ended by either at once.

A link is two rows that always change in one transaction: the athlete's, which is authoritative, and its mirror, by
which the coach finds it. The email address typed is only a note on the invitation and is never looked up, so it reveals
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
from potluck.people import Account, AccountGone, Email, Invitation, InvitationInvalid, TooMany
from potluck.store import Store, all_done
from potluck.table import Operation, absent, check, present, put, the, update
from potluck.validation import FieldError, Message
from potluck.web import (
    UNSET,
    Actions,
    Input,
    InvitationMade,
    NotFound,
    Outcome,
    ProblemError,
    SignedIn,
    Unset,
    Writes,
    invite,
    or_raise,
    or_retry,
    withdraw,
)

APP = "journal"
"""The app's name in invitations."""

FROM_DAY = "coach from "
"""How the role begins in an invitation to a coach who will see sessions from a day on, by the athlete's calendar."""

# How much of the shared text fits beside a name.
EXCERPT = 200
# All are read at once, along with the last session of each athlete.
MOST_LINKS = 1_000


class NotAskedFor(ProblemError, slug="link-not-asked-for", status=409, title="Nobody asked for that"):
    """Only the other side of a link can accept it, and only while it is asked for."""


class WhichLink(ProblemError, slug="which-link", status=409, title="Which of the two?"):
    """The two of you coach each other, or would. Say in “role” what the other person is to you in the link you mean."""


# --- what is shown ----------------------------------------------------------------------------------------------------


class LinkView(Struct, rename="camel", frozen=True, kw_only=True):
    user_id: UUID
    """The other person."""
    name: str | None
    """Their name, once they have accepted or asked. Until then they see yours, but you do not see theirs."""
    role: LinkRole
    """Their role towards you."""
    status: LinkStatus
    requested_by_me: bool
    shared_from: datetime | None
    """From when on the coach sees sessions; null if all of them."""
    created_at: datetime
    updated_at: datetime


class OpenInvitation(Struct, rename="camel", frozen=True, kw_only=True):
    """Somebody who was asked and has not come yet."""

    id: UUID
    email: str | None
    role: LinkRole
    sees: Sees | None
    """What the coach will see; null for an athlete, who chooses when accepting."""
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
    """An excerpt that fits beside a name."""


class AthleteSummary(Struct, rename="camel", frozen=True, kw_only=True):
    athlete_id: UUID
    name: str | None
    since: datetime
    last_session: LastSession | None
    new_entries: int
    """How many sessions they have written down since the caller last looked."""
    shared_from: datetime | None
    """From when on the caller sees their sessions; null if all of them."""


class Athletes(Struct, rename="camel", frozen=True, kw_only=True):
    items: list[AthleteSummary]


# --- what may be sent -------------------------------------------------------------------------------------------------


class NewLink(Input):
    """Who is asked; the address is a note for whoever asks, and is never looked up."""

    coach_email: Email | Unset = UNSET
    athlete_email: Email | Unset = UNSET
    sees: Sees | Unset = UNSET
    """What a coach will see: everything shared so far, which is the default, or sessions from today on."""

    @staticmethod
    def check(sent: NewLink) -> Iterator[FieldError]:
        if (sent.coach_email is UNSET) == (sent.athlete_email is UNSET):
            yield FieldError("coachEmail", "Give the address of a coach or of an athlete")
        if sent.athlete_email is not UNSET and sent.sees is not UNSET:
            yield FieldError("sees", "The athlete chooses this when they accept")


class WhichSide(Input):
    """What the other person is to the caller, where the two coach each other."""

    role: LinkRole | Unset = UNSET


class LinkAcceptance(WhichSide):
    sees: Sees | Unset = UNSET
    """What the coach will see, for the athlete to say: everything shared so far, or sessions from today on."""


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
        said: dict[str, Any] = {"status": status, "requested_by": requested_by, "created_at": now, "updated_at": now}
        said |= {"shared_from": shared_from}
        said |= {"accepted_at": now} if status == "active" else {}
        link, mirror = (kind(athlete_id=athlete_id, coach_id=coach_id, **said) for kind in KINDS)
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
    """The names of these people, without those who are gone."""
    found = await store.get_many([UserProfile.one(each) for each in dict.fromkeys(user_ids)])
    return {each.user_id: each.name for each in found if each is not None}


# --- the rules --------------------------------------------------------------------------------------------------------

links: Actions[Any] = Actions(Athlete, api="/journal/links", page=COACHES, tag="Journal")
athletes: Actions[Any] = Actions(Athlete, api="/journal/athletes", page=ATHLETES, tag="Journal")


@links.read()
async def own_links(at: Athlete) -> Links:
    """The caller's coaches and athletes, also those who were asked and those of before, the latest change first."""
    found = await at.store.all(Link.of_user(at.own_id))
    others = [_other(each, at.own_id) for each in found]
    names = await names_of(at.store, others)
    shown = [
        _view(each, at.own_id, names.get(other) if _knows(each, at.own_id) else None)
        for each, other in zip(found, others, strict=True)
    ]
    invited = await at.core.people.invitations.of_place(APP, str(at.own_id))
    return Links(
        items=sorted(shown, key=lambda each: (each.updated_at, each.user_id.int, each.role), reverse=True),
        invitations=[
            OpenInvitation(
                id=each.invitation_id,
                email=each.email,
                role="athlete" if each.role == "athlete" else "coach",
                sees=None if each.role == "athlete" else "everything" if each.role == "coach" else "fromToday",
                created_at=each.created_at,
                expires_at=datetime.fromtimestamp(each.ttl, each.created_at.tzinfo),
            )
            for each in invited
        ],
    )


@links.action("POST", "", TooMany, status=201, secret=True)
async def request_link(at: Athlete, new: NewLink) -> Writes[InvitationMade]:
    """Ask somebody to be one's coach, or one's athlete. The token and its link are shown only now, to hand over."""
    role, email = ("coach", new.coach_email) if new.coach_email is not UNSET else ("athlete", new.athlete_email)
    assert email is not UNSET
    if new.sees == "fromToday":
        role = f"{FROM_DAY}{day_of(at.now, await zone_for(at))}"
    return await invite(at, APP, str(at.own_id), role, email, *await _profile_writes(at.store, at.own_id, at.now))


class WithInvitation(Athlete):
    """Someone, and an invitation of theirs."""

    invitation_id: Annotated[UUID, Message("Invalid invitation ID format")]


@links.delete("/invitations/{invitation_id}")
async def withdraw_request(at: WithInvitation) -> Writes[None]:
    """Withdraw an invitation. It opens nothing from this moment on."""
    return await withdraw(at, APP, str(at.own_id), at.invitation_id)


@links.action("POST", "/{user_id}/accept", NotAskedFor, WhichLink, input_optional=True)
async def accept_link(at: LinkedWith, which: LinkAcceptance) -> Writes[LinkView]:
    """Accept a link that the other side asked for. An athlete says what the coach will see."""
    found = [
        each
        for each in await _between(at, which)
        if each.status == "active" or (each.status == "pending" and not _asked(each, at.own_id))
    ]
    if not found:
        raise NotAskedFor
    if len(found) > 1:
        raise WhichLink
    (link,) = found
    account = await at.store.get(Account.by_id(at.user_id))
    if account is None:
        raise NotFound
    if link.status == "active":
        return Writes(_view(link, at.own_id, account.name))
    profiles = [each for user in (at.own_id, at.user_id) for each in await _profile_writes(at.store, user, at.now)]
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
    """End a link, or refuse one that was asked for. Who coached sees nothing from this moment on.

    Without a role, what there is between the two ends in both directions."""
    found = [each for each in await _between(at, which) if each.status != "revoked"]
    ended = [
        write
        for each in found
        for write in link_writes(
            each, each.athlete_id, each.coach_id, "revoked", each.requested_by, at.now, each.shared_from
        )
    ]
    return Writes(None, *map(or_retry, ended))


@links.action("PATCH", "/{user_id}")
async def change_link(at: WithCoach, change: LinkChange) -> Writes[LinkView]:
    """Change what a coach sees, as the athlete; it counts from this moment on."""
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
    """The beginning of the athlete's own today, if that is what they say."""
    if sees == "everything":
        return None
    zone = await zone_for(at)
    return span_of(day := day_of(at.now, zone), day, zone)[0]


@athletes.read()
async def own_athletes(at: Athlete) -> Athletes:
    """Whom the caller coaches, each with their last session, the latest first."""
    mirrors = {each.athlete_id: each for each in await at.store.all(AthleteCoachLink.of_coach(at.own_id))}
    refs = [CoachAthleteLink.by_id(each, at.own_id) for each, mirror in mirrors.items() if mirror.status == "active"]
    coached = [each for each in await at.store.get_many(refs) if each is not None and each.status == "active"]
    names = await names_of(at.store, [each.athlete_id for each in coached])
    journals = [shared_with(at.store, each) for each in coached]
    last = await all_done([each.latest() for each in journals])
    new = await all_done([new_entries(each, mirrors[each.athlete_id]) for each in journals])
    found = [
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
    found.sort(key=lambda each: str(each.athlete_id))
    return Athletes(items=sorted(found, key=lambda each: _trained(each), reverse=True))


def _trained(athlete: AthleteSummary) -> float:
    return 0.0 if athlete.last_session is None else athlete.last_session.date.timestamp()


async def _between(at: LinkedWith, which: WhichSide) -> list[CoachAthleteLink]:
    """The links between the caller and the other person, ended ones too; NotFound if there never was one."""
    as_athlete = CoachAthleteLink.by_id(at.own_id, at.user_id)
    as_coach = CoachAthleteLink.by_id(at.user_id, at.own_id)
    asked = {"coach": [as_athlete], "athlete": [as_coach]}.get(str(which.role), [as_athlete, as_coach])
    found = [each for each in await at.store.get_many(asked) if each is not None]
    if not found:
        raise NotFound
    return found


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
    """Whether somebody may see the other's name: once the other has accepted, or asked."""
    return link.status == "active" or link.accepted_at is not None or not _asked(link, own_id)


def _asked(link: CoachAthleteLink | AthleteCoachLink, own_id: UUID) -> bool:
    return (link.requested_by == "athlete") == (link.athlete_id == own_id)


async def _profile_writes(store: Store, user_id: UUID, now: datetime) -> list[Outcome]:
    """The write that creates a profile for somebody whose name others will see, unless there is one."""
    profile, account = await store.get_together(UserProfile.one(user_id), Account.by_id(user_id))
    if profile is not None or account is None:
        return []
    made = UserProfile(user_id=user_id, name=account.name, created_at=now)
    return [or_retry(put(made, when=absent))]


# --- what the suite asks of the app -----------------------------------------------------------------------------------


class LinkJoined(Struct, rename="camel", frozen=True, kw_only=True):
    """With whom one is linked now."""

    user_id: UUID


def role_in_words(role: str) -> str:
    return f"coach who sees sessions from {long_day(_day_of_role(role))} on" if role.startswith(FROM_DAY) else role


def _day_of_role(role: str) -> date:
    """From which day on an invited coach sees sessions."""
    return date.fromisoformat(role.removeprefix(FROM_DAY))


async def place_name(store: Store, place: str) -> str | None:
    """The name of the person whose journal an invitation is to."""
    found = await store.get(UserProfile.one(UUID(place)))
    return None if found is None else found.name


async def join(at: SignedIn, invitation: Invitation, sees: Sees = "everything") -> Writes[Struct]:
    """Activate the link, unless it is.

    What the coach will see is what the athlete said: in their invitation, or as `sees` when they accept one.
    An invitation older than the end of a link is invalid: otherwise somebody removed could come back with it.
    """
    own_id, other = at.principal.user_id, invitation.invited_by
    invites_coach = invitation.role != "athlete"
    athlete_id, coach_id = (other, own_id) if invites_coach else (own_id, other)
    answer = LinkJoined(user_id=other)
    link = await at.store.get(CoachAthleteLink.by_id(athlete_id, coach_id))
    if link is not None and link.status == "active":
        return Writes(answer)
    if link is not None and link.status == "revoked" and invitation.created_at <= link.updated_at:
        raise InvitationInvalid
    if link is None:
        for user in (own_id, other):
            if await at.store.count(Link.of_user(user)) >= MOST_LINKS:
                raise TooMany("links of one person", MOST_LINKS)
    now = to_the_millisecond(at.core.clock())
    asked: LinkRole = "athlete" if athlete_id == other else "coach"
    shared_from = None
    if invitation.role.startswith(FROM_DAY) or (not invites_coach and sees == "fromToday"):
        zone = zone_of(await zone_name(at.store, athlete_id))
        day = _day_of_role(invitation.role) if invites_coach else day_of(now, zone)
        shared_from = span_of(day, day, zone)[0]
    profiles = [each for user in (own_id, other) for each in await _profile_writes(at.store, user, now)]
    return Writes(
        answer,
        or_raise(check(Account.by_id(own_id), when=present), AccountGone),
        or_raise(check(Account.by_id(other), when=present), InvitationInvalid),
        *map(or_retry, link_writes(link, athlete_id, coach_id, "active", asked, now, shared_from)),
        *profiles,
    )
