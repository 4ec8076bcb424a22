"""A person's settings in the journal: the time zone, and whether private text may leave this server."""

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
from potluck.table import Operation, WriteRefused, absent, put, the, update
from potluck.web import UNSET, Actions, Unset, Versioned, View, Writes, computed, or_retry


class ProfileView(View[UserProfile]):
    user_id: UUID
    name: str

    @computed
    def time_zone(profile: UserProfile) -> str:
        """UTC if none is set."""
        return profile.time_zone or UNSAID

    ai_consent: bool
    """Whether private text may be sent to a remote assistant."""
    version: int


class ProfileChange(Versioned):
    time_zone: TimeZone | Unset = UNSET
    ai_consent: bool | Unset = UNSET


class OwnProfile(Athlete):
    """A person and their profile, or the default one if they have none."""

    async def admit(self, *rows: Any) -> None:
        self.stored = await self.store.get(UserProfile.one(self.own_id))
        self.thing = self.stored or usual_profile(self)


def usual_profile(at: Athlete) -> UserProfile:
    return UserProfile(user_id=at.own_id, name=at.principal.name, created_at=at.now)


async def profile_of(at: Athlete) -> UserProfile:
    return await at.store.get(UserProfile.one(at.own_id)) or usual_profile(at)


async def zone_name(store: Store, user_id: UUID) -> str:
    """The name of a person's time zone; UTC if they have not set one."""
    stored = await store.get(UserProfile.one(user_id))
    return UNSAID if stored is None else stored.time_zone or UNSAID


async def time_zone_for(at: Any) -> str:
    """The name of the caller's time zone; UTC if they have not set one."""
    return await zone_name(at.store, at.principal.user_id)


def lacks_zone(profile: UserProfile | None) -> bool:
    """Whether neither the person nor their device has ever set a time zone.

    Links used to create profiles with UTC at version 1; every change by the person increments it.
    """
    if profile is None or profile.time_zone is None:
        return True
    return profile.time_zone == UNSAID and profile.version == 1


async def zone_unset(at: Any) -> int:
    """The version of the caller's settings if no time zone is set, for the script that then sets one; otherwise 0."""
    stored = await at.store.get(UserProfile.one(at.principal.user_id))
    return (1 if stored is None else stored.version) if lacks_zone(stored) else 0


def taking_zone(at: Athlete, stored: UserProfile | None, time_zone: str) -> tuple[UserProfile, list[Operation]]:
    """The profile with the device's time zone and the write, if none is set; otherwise the unchanged profile."""
    if not lacks_zone(stored) or (stored is not None and stored.time_zone == time_zone):
        return stored or usual_profile(at), []
    if stored is None:
        created = replace(usual_profile(at), time_zone=time_zone)
        return created, [put(created, when=absent)]
    # This is no edit by the person, so the version stays. A time zone chosen meanwhile wins.
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
    """Get your settings in the journal."""
    stored: UserProfile = at.thing
    return stored


@profile.action("PATCH")
async def change_profile(at: OwnProfile, change: ProfileChange) -> Writes[UserProfile]:
    """Set your time zone, and whether private text may be sent to a remote assistant."""
    before: UserProfile = at.thing
    sent = {
        name: value
        for name in ("time_zone", "ai_consent")
        if (value := getattr(change, name)) is not UNSET and value != getattr(before, name)
    }
    at.must_have_seen(before)
    if not sent:
        return Writes(before)
    if at.stored is None:
        created = replace(before, version=before.version + 1, **sent)
        return Writes(created, or_retry(put(created, when=absent)))
    after, write = at.edit(before, *(the(getattr(UserProfile, name)).becomes(value) for name, value in sent.items()))
    return Writes(after, or_retry(write))


async def account_renamed(store: Store, before: Account, account: Account) -> None:
    """Copy a new name of an account to its journal profile."""
    if before.name != account.name:
        with suppress(WriteRefused):
            # This is no edit of the profile, so its version stays.
            renamed = the(UserProfile.name).becomes(account.name)
            await store.update(UserProfile.one(account.user_id), renamed, keep_version=True)
