"""The settings of the journal, and its export and import as a file."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from zoneinfo import available_timezones

from starlette.responses import Response

from potluck.apps.journal.access import Athlete
from potluck.apps.journal.addresses import IMPORT, SETTINGS
from potluck.apps.journal.entities import UserProfile
from potluck.apps.journal.export import export_journal
from potluck.apps.journal.fields import UNSAID, zone_of
from potluck.apps.journal.file_errors import NO_JOURNAL, is_within
from potluck.apps.journal.files import JournalFile
from potluck.apps.journal.importing import LARGEST_FILE, import_journal, imports, preview_import
from potluck.apps.journal.pages.frame import layout_context, short_date
from potluck.apps.journal.profile import OwnProfile, ProfileChange, change_profile, profile, time_zone_for
from potluck.apps.journal.times import day_of
from potluck.validation import BodyNotJson, FieldError, Text, ValidationError, decode
from potluck.web import Call, Endpoints, Form, Input, Show, blank, decoded, to_sign_in

MOST_WRONG = 20
HAS_ERRORS = "Nothing was imported, because the file has errors"

settings_pages = Endpoints()


# --- settings ---------------------------------------------------------------------------------------------------------


@profile.page("", "journal/settings.html")
async def settings_page(at: OwnProfile, show: Show) -> dict[str, Any]:
    stored: UserProfile = at.thing
    form = show.form(ProfileChange, {"timeZone": stored.time_zone or UNSAID})
    return {
        **layout_context(""),
        "profile": stored,
        "version": stored.version,
        "form": form,
        "conflict": form.conflict(show.clash, {"timeZone": "Time zone", "aiConsent": "The assistant may read along"}),
        "zones": sorted(available_timezones() | {"UTC"}),
        "remote": at.journal.provider.remote,
        "said": show.query.get("said", ""),
    }


profile.form("/profile", then=f"{SETTINGS}?said=saved", on=settings_page)(change_profile)


# --- export -----------------------------------------------------------------------------------------------------------


@settings_pages.post(f"{SETTINGS}/export")
async def take_along(call: Call) -> Response:
    return await export_journal(await call.admit(Athlete))


# --- import -----------------------------------------------------------------------------------------------------------


class FileForm(Input):
    file: Annotated[str, Text(1, LARGEST_FILE, "Choose the file, or paste all that is in it", trim=False)]
    sure: bool = False
    """Whether the preview was confirmed."""


@settings_pages.get(IMPORT)
async def import_page(call: Call) -> Response:
    if call.principal is None:
        return to_sign_in(call.request)
    await call.admit(Athlete)
    return call.page("journal/import.html", **layout_context(""), **_nothing(), form=blank(FileForm))


@settings_pages.post(IMPORT)
async def take_in(call: Call) -> Response:
    """Show a preview first; import the file once it is confirmed."""
    at = await call.admit(Athlete)
    filled = await call.form(FileForm)
    refusal: Exception | None = None
    wrong: list[str] = []
    if filled.is_valid:
        try:
            file = await decoded(decode, JournalFile, filled.value.file.encode())
            if filled.value.sure:
                done = await call.perform(imports, import_journal, file)
                return call.page(
                    "journal/import.html", **layout_context(""), **_nothing(done=done), form=blank(FileForm)
                )
            found = await call.perform(imports, preview_import, file)
            zone = zone_of(await time_zone_for(at))
            days = _days(found.first, found.last, zone, at)
            return call.page(
                "journal/import.html", **layout_context(""), **_nothing(preview=found, days=days), form=filled
            )
        except BodyNotJson as error:
            refusal = ValidationError(FieldError("file", str(error)))
        except ValidationError as error:
            within = any(map(is_within, error.errors))
            wrong = [each.message for each in error.errors] if within else []
            refusal = ValidationError(FieldError("file", HAS_ERRORS if within else NO_JOURNAL))
    shown = {**layout_context(""), **_nothing(wrong=wrong[:MOST_WRONG], more=len(wrong[MOST_WRONG:]))}
    return call.again("journal/import.html", _without_the_file(filled), refusal, **shown)


def _nothing(**but: Any) -> dict[str, Any]:
    return {"preview": None, "done": None, "days": "", "wrong": [], "more": 0, **but}


def _without_the_file(filled: Form[Any]) -> Form[Any]:
    """The form without the file: an invalid one is not sent back."""
    return Form(blank(FileForm).values, filled.all_errors, None, frozenset({"file", "sure"}), FileForm)


def _days(first: datetime | None, last: datetime | None, zone: Any, at: Athlete) -> str:
    if first is None or last is None:
        return ""
    today = day_of(at.now, zone)
    return f"{short_date(day_of(first, zone), today)} to {short_date(day_of(last, zone), today)}"
