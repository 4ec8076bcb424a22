"""The settings of the journal, and its export and import as a file."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any
from zoneinfo import available_timezones

from msgspec import Struct
from starlette.responses import Response

from potluck.apps.journal.access import Athlete
from potluck.apps.journal.account import export_journal
from potluck.apps.journal.addresses import SETTINGS
from potluck.apps.journal.entities import UserProfile
from potluck.apps.journal.fields import UNSAID, zone_of
from potluck.apps.journal.file_errors import NO_JOURNAL, is_within
from potluck.apps.journal.files import JournalFile
from potluck.apps.journal.importing import (
    IMPORTS,
    LARGEST_FILE,
    ImportPreview,
    JournalImported,
    import_journal,
    imports,
    preview_import,
)
from potluck.apps.journal.pages.frame import layout_context, short_date
from potluck.apps.journal.profile import OwnProfile, ProfileChange, change_profile, profile, time_zone_for
from potluck.apps.journal.times import day_of
from potluck.validation import FieldError, Text, ValidationError
from potluck.web import Call, Endpoints, Form, Input, Show, Writes, _

MOST_WRONG = 20
HAS_ERRORS = _("Nothing was imported, because the file has errors.")

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
        "conflict": form.conflict(
            show.clash, {"timeZone": _("Time zone"), "aiConsent": _("Private text for the assistant")}
        ),
        "zones": sorted(available_timezones() | {"UTC"}),
        "remote": at.journal.provider.remote,
    }


profile.form("/profile", then=SETTINGS, flash=_("Settings saved."), on=settings_page)(change_profile)


# --- export -----------------------------------------------------------------------------------------------------------


@settings_pages.post(f"{SETTINGS}/export")
async def take_along(call: Call) -> Response:
    return await export_journal(await call.admit(Athlete))


# --- import -----------------------------------------------------------------------------------------------------------


class FileForm(Input):
    file: Annotated[str, Text(1, LARGEST_FILE, "Choose the file, or paste its contents", kind="raw", trim=False)]
    sure: bool = False
    """Whether the preview was confirmed."""


class ImportStep(Struct, frozen=True, kw_only=True):
    """The state of an import: first a preview, then the result."""

    file: str = ""
    preview: ImportPreview | None = None
    imported: JournalImported | None = None


@imports.page("", "journal/import.html")
async def import_page(at: Athlete, show: Show) -> dict[str, Any]:
    step = show.done if isinstance(show.done, ImportStep) else ImportStep()
    form, wrong = _import_errors(show)
    days = ""
    if step.preview is not None:
        days = _days(step.preview.first, step.preview.last, zone_of(await time_zone_for(at)), at)
    return {
        **layout_context(""),
        "preview": step.preview,
        "file": step.file,
        "done": step.imported,
        "days": days,
        "form": form,
        "wrong": wrong[:MOST_WRONG],
        "more": len(wrong[MOST_WRONG:]),
    }


def _import_errors(show: Show) -> tuple[Form[Any], list[str]]:
    """The form without the file, because an invalid one is not sent back, and all errors in the file."""
    form, blank = show.form(FileForm), Form.blank(FileForm)
    refusal = show.refusal
    if refusal is not None and not isinstance(refusal, ValidationError):
        return blank.refused(str(refusal)), []
    errors = () if refusal is None else refusal.errors
    if not errors or errors[0].field == "file":
        return blank.refused(ValidationError(*form.all_errors)), []
    within = any(map(is_within, errors))
    whole = errors[0].message if errors[0].field == "body" else NO_JOURNAL
    message = ValidationError(FieldError("file", HAS_ERRORS if within else whole))
    return blank.refused(message), [error.message for error in errors] if within else []


@imports.form("", then="", on=import_page, rate_limit=replace(IMPORTS, weight=lambda sent: int(sent.sure)))
async def take_in(at: Athlete, sent: FileForm) -> Writes[ImportStep]:
    """Show a preview first; import the file once it is confirmed."""
    file = await JournalFile.decode_json(sent.file.encode())
    if sent.sure:
        done = await import_journal(at, file)
        return done.answering(ImportStep(imported=done.answer))
    preview = await preview_import(at, file)
    return preview.answering(ImportStep(file=sent.file, preview=preview.answer))


def _days(first: datetime | None, last: datetime | None, zone: Any, at: Athlete) -> str:
    if first is None or last is None:
        return ""
    today = day_of(at.now, zone)
    start, end = short_date(day_of(first, zone), today), short_date(day_of(last, zone), today)
    return _("%(first)s to %(last)s", first=start, last=end)
