"""A person's settings in the journal: their time zone, and whether private text may leave this server."""

from contextlib import suppress
from datetime import tzinfo
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from potluck.apps.journal.access import Athlete
from potluck.apps.journal.addresses import SETTINGS
from potluck.apps.journal.entities import UserProfile
from potluck.apps.journal.fields import UNSAID, TimeZone, zone_of
from potluck.people import Account
from potluck.store import Store
from potluck.table import NotFound, Operation, absent, put, the, update
from potluck.web import UNSET, Actions, Conflict, Unset, Versioned, View, Writes, computed, or_retry


class ProfileView(View[UserProfile]):
    user_id: UUID
    name: str

    @computed
    def time_zone(profile: UserProfile) -> str:
        """UTC, as long as none is set."""
        return profile.time_zone or UNSAID

    ai_consent: bool
    """Whether private text may go to a remote assistant."""
    version: int


class ProfileChange(Versioned):
    time_zone: TimeZone | Unset = UNSET
    ai_consent: bool | Unset = UNSET


class OwnProfile(Athlete):
    """Someone with their profile, or the default one if they have never set any."""

    async def admit(self, *rows: Any) -> None:
        self.stored = await self.store.get(UserProfile.one(self.own_id))
        self.thing = self.stored or usual_profile(self)


def usual_profile(at: Athlete) -> UserProfile:
    return UserProfile(user_id=at.own_id, name=at.principal.name, created_at=at.now)


async def profile_of(at: Athlete) -> UserProfile:
    return await at.store.get(UserProfile.one(at.own_id)) or usual_profile(at)


async def zone_name(store: Store, user_id: UUID) -> str:
    """The name of a person's time zone; UTC if they have none."""
    found = await store.get(UserProfile.one(user_id))
    return UNSAID if found is None else found.time_zone or UNSAID


async def time_zone_for(at: Any) -> str:
    """The name of the caller's time zone; UTC if they have none."""
    return await zone_name(at.store, at.principal.user_id)


def lacks_zone(profile: UserProfile | None) -> bool:
    """Whether neither the person nor their device has ever said a time zone.

    Links used to create profiles with UTC, at their first version; every change by the person raises it.
    """
    if profile is None or profile.time_zone is None:
        return True
    return profile.time_zone == UNSAID and profile.version == 1


async def zone_unset(at: Any) -> int:
    """The version of the caller's settings if they have no time zone, for the script that then says one; else 0."""
    found = await at.store.get(UserProfile.one(at.principal.user_id))
    return (1 if found is None else found.version) if lacks_zone(found) else 0


def taking_zone(at: Athlete, stored: UserProfile | None, time_zone: str) -> tuple[UserProfile, list[Operation]]:
    """The profile with the device's time zone, and the write, where there is none; else as it is."""
    if not lacks_zone(stored) or (stored is not None and stored.time_zone == time_zone):
        return stored or usual_profile(at), []
    if stored is None:
        made = replace(usual_profile(at), time_zone=time_zone)
        return made, [put(made, when=absent)]
    # Not an edit by the person, so the version stays; a choice made meanwhile wins.
    unsaid = the(UserProfile.time_zone).still(stored.time_zone) & the(UserProfile.version).still(stored.version)
    taken = the(UserProfile.time_zone).becomes(time_zone)
    return replace(stored, time_zone=time_zone), [
        update(UserProfile.one(stored.user_id), taken, when=unsaid, keep_version=True)
    ]


async def zone_for(at: Any) -> tzinfo:
    """The caller's time zone."""
    return zone_of(await time_zone_for(at))


profile = Actions(OwnProfile, view=ProfileView, api="/journal/profile", page=SETTINGS, tag="Journal")


@profile.read()
async def own_profile(at: OwnProfile) -> UserProfile:
    """The caller's settings in the journal."""
    found: UserProfile = at.thing
    return found


@profile.action("PATCH")
async def change_profile(at: OwnProfile, change: ProfileChange) -> Writes[UserProfile]:
    """Say when one's midnight is, and whether private words may go to an assistant that runs elsewhere."""
    before: UserProfile = at.thing
    sent = {
        name: value
        for name in ("time_zone", "ai_consent")
        if (value := getattr(change, name)) is not UNSET and value != getattr(before, name)
    }
    if at.seen != before.version:
        raise Conflict(current=before)
    if not sent:
        return Writes(before)
    if at.stored is None:
        made = replace(before, version=before.version + 1, **sent)
        return Writes(made, or_retry(put(made, when=absent)))
    after, write = at.edit(before, *(the(getattr(UserProfile, name)).becomes(value) for name, value in sent.items()))
    return Writes(after, or_retry(write))


async def account_renamed(store: Store, before: Account, account: Account) -> None:
    """Copy a new name of an account to its journal profile."""
    if before.name != account.name:
        with suppress(NotFound):
            # Not an edit of the profile, so its version stays.
            renamed = the(UserProfile.name).becomes(account.name)
            await store.update(UserProfile.one(account.user_id), renamed, keep_version=True)
