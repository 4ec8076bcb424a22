"""The form that writes or edits an entry: quick to fill in on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from msgspec import structs
from starlette.responses import Response

from potluck.apps.journal.access import Athlete, OwnEntry
from potluck.apps.journal.addresses import ATHLETES, ENTRIES, HOME
from potluck.apps.journal.aggregation import Statistics
from potluck.apps.journal.entities import (
    CoachAthleteLink,
    Entry,
    EntryMeta,
    Link,
    Sections,
    SessionMetrics,
    UserProfile,
)
from potluck.apps.journal.entries import (
    NewEntry,
    add_entry,
    delete_entry,
    entries,
    rewritten,
    session_time,
)
from potluck.apps.journal.fields import (
    UNSAID,
    EntryId,
    Tags,
    TimeZone,
    unique_tags,
    zone_of,
)
from potluck.apps.journal.journals import WholeJournal
from potluck.apps.journal.links import names_of
from potluck.apps.journal.pages.charts import HEAT_WEEKS, Levels, drawn_heat, drawn_hours, fact_list
from potluck.apps.journal.pages.frame import layout_context, long_date
from potluck.apps.journal.pages.metrics import FIRST_VALUES, LABELS, WORN
from potluck.apps.journal.profile import lacks_zone, taking_zone, time_zone_for, usual_profile, zone_for
from potluck.apps.journal.stats import StatsOf, stats_of
from potluck.apps.journal.times import day_of, first_of_week
from potluck.validation import FieldError, ValidationError
from potluck.web import (
    UNSET,
    Access,
    Actions,
    AlreadyThere,
    Form,
    Input,
    Line,
    Show,
    Unset,
    Versioned,
    Writes,
    _,
    or_retry,
)

TAGS_OFFERED = 8
MINUTES_STEP = 5
CHOSEN_EACH_TIME = frozenset({"intensity", "tags"})
AS_TYPED = "%Y-%m-%dT%H:%M"
NOT_A_TIME = _("Enter a day and a time, such as 13 November, 18:30.")

home: Actions[Any] = Actions(Athlete, page=HOME)


class AllTags(Input):
    tags: Tags


class EntryForm(Versioned):
    """An entry as the form sends it; the version matters when editing, and if it was written offline."""

    when: Line = ""
    """Local time in the person's time zone; now, if blank."""
    session_metrics: SessionMetrics
    """With the tags that were chosen from the suggestions."""
    new_tags: Line = ""
    """Further tags, separated by commas."""
    sections: Sections
    entry_id: EntryId | Unset = UNSET
    """Generated with the form, so that submitting it twice creates one entry."""
    time_zone: TimeZone | Unset = UNSET
    """The device's, filled in by a script, for people who have never set one."""

    @property
    def all_tags(self) -> list[str]:
        typed = [tag.strip() for tag in self.new_tags.split(",")]
        return unique_tags(tag for tag in (*self.session_metrics.tags, *typed) if tag)

    def metrics(self) -> SessionMetrics:
        """The metrics with all tags; ValidationError for invalid tags."""
        try:
            return structs.replace(self.session_metrics, tags=AllTags.decode({"tags": self.all_tags}).tags)
        except ValidationError as error:
            raise ValidationError(*(FieldError("newTags", item.message) for item in error.errors)) from error

    def moment(self, zone: tzinfo) -> datetime | Unset:
        """The time of the session; UNSET if blank."""
        if not self.when.strip():
            return UNSET
        try:
            return datetime.strptime(self.when.strip()[:16], AS_TYPED).replace(tzinfo=zone).astimezone(UTC)
        except (ValueError, OverflowError):
            raise ValidationError(FieldError("when", NOT_A_TIME)) from None


# --- a new one --------------------------------------------------------------------------------------------------------


@home.page("", "journal/write.html", offline=True)
async def write_page(at: Athlete, show: Show) -> dict[str, Any] | Response:
    """The form for a new entry; people who only coach are redirected to their athletes, unless they ask for it."""
    if "write" not in show.query and show.refusal is None and await _only_coaches(at):
        return show.redirect(ATHLETES)
    stored = await at.store.get(UserProfile.one(at.own_id))
    profile = stored or usual_profile(at)
    zone = zone_of(profile.time_zone)
    today = day_of(at.now, zone)
    first = first_of_week(today) - timedelta(weeks=HEAT_WEEKS - 1)
    half_year = await stats_of(
        WholeJournal(at.store, at.own_id), StatsOf(from_=first, to=today), profile.time_zone or UNSAID, at.now
    )
    last = await at.store.first(Entry.of_athlete(at.own_id))
    return {
        **layout_context("write"),
        **await _to_fill_in(at, half_year),
        "form": show.form(EntryForm, {**_as_last_time(last), "entryId": str(at.new_id())}),
        "refused_before": show.refusal is not None,
        "now": at.now.astimezone(zone).strftime(AS_TYPED),
        "today": long_date(today, today),
        "asks_zone": lacks_zone(stored),
        "time_zone": profile.time_zone or UNSAID,
        "facts": fact_list(half_year),
        "heat": drawn_heat(half_year, Levels(half_year.days), today, today),
        "hours": drawn_hours(half_year),
        "first_time": last is None,
    }


async def _only_coaches(at: Athlete) -> bool:
    """Whether the caller has athletes, and neither an entry nor a coach."""
    links = [link for link in await at.store.all(Link.of_user(at.own_id)) if link.status == "active"]
    if not links or any(isinstance(link, CoachAthleteLink) for link in links):
        return False
    return await at.store.first(Entry.of_athlete(at.own_id)) is None


@entries.form("", then=f"{ENTRIES}?draft=new", flash=_("Entry saved."), on=write_page, versioned=False)
async def write_by_form(at: Athlete, form: EntryForm) -> Writes[Entry]:
    stored = await at.store.get(UserProfile.one(at.own_id))
    device = UNSAID if form.time_zone is UNSET else form.time_zone
    profile, of_profile = taking_zone(at, stored, device) if device != UNSAID else (stored or usual_profile(at), [])
    known = None if form.entry_id is UNSET else await at.store.get(EntryMeta.one(form.entry_id))
    if known is not None and known.athlete_id == at.own_id:
        entry = await at.store.get(Entry.one(at.own_id, known.date, known.entry_id))
        if entry is not None:
            # It was sent before, and the answer was lost: what was typed since is an edit. One that waited on a device
            # names the version that it has seen at most, because it may have been edited elsewhere meanwhile.
            changed = _changed_by(at, form, entry, zone_of(profile.time_zone))
            if changed.operations and form.version is not UNSET and form.outdated(entry, form.version):
                raise AlreadyThere(_("This entry was edited on another device, and is kept as it is there."))
            return changed
    new = NewEntry(
        sections=form.sections,
        session_metrics=form.metrics(),
        date=form.moment(zone_of(profile.time_zone)),
        entry_id=form.entry_id if known is None else UNSET,
    )
    with _errors_at_when():
        writes = await add_entry(at, new)
    # If the form was submitted twice at once, the retried rule finds what the other submission has written.
    return Writes(writes.answer, *map(or_retry, [*writes.operations, *of_profile]))


@contextmanager
def _errors_at_when() -> Iterator[None]:
    """Moves errors about the date to the form's field."""
    try:
        yield
    except ValidationError as error:
        raise ValidationError(
            *(FieldError("when" if item.field == "date" else item.field, item.message) for item in error.errors)
        ) from error


def _as_last_time(last: Entry | None) -> dict[str, Any]:
    """Defaults from the last session; intensity is left to be chosen each time."""
    if last is None:
        return dict(FIRST_VALUES)
    texts = Form.texts_of(SessionMetrics, last.session_metrics)
    return {name: text for name, text in texts.items() if name not in CHOSEN_EACH_TIME}


async def _to_fill_in(at: Athlete, half_year: Statistics) -> dict[str, Any]:
    """What the form shows both for a new entry and for an edit."""
    return {
        "offered": [tag.tag for tag in half_year.top_tags[:TAGS_OFFERED]],
        "readers": await coach_names(at),
        "minutes_step": MINUTES_STEP,
        "worn_options": WORN.items(),
        "draft_key": at.journal.draft_key(at.own_id),
    }


async def coach_names(at: Athlete) -> list[str]:
    """The names of the coaches who can currently read what is shared."""
    own_links = await at.store.all(Link.of_user(at.own_id))
    ids = [link.coach_id for link in own_links if isinstance(link, CoachAthleteLink) and link.status == "active"]
    return sorted((await names_of(at.store, ids)).values(), key=str.casefold)


# --- an edit ----------------------------------------------------------------------------------------------------------


FORM_LABELS = {
    "when": _("Date and time"),
    **LABELS,
    "shared": _("Shared"),
    "private": _("Private"),
}


def _with_new_tags(form: Form[EntryForm]) -> Form[EntryForm]:
    """The same form, with typed tags added to the chosen ones."""
    typed = [tag.strip() for tag in form.values["newTags"].split(",")]
    tags = dict.fromkeys(tag for tag in (*form.values["tags"], *typed) if tag)
    return form.showing(tags=list(tags), newTags="")


def _spaced(when: str) -> str:
    return when.replace("T", " ")


@entries.page("/edit", "journal/edit.html")
async def edit_page(at: OwnEntry, entry: Entry, show: Show) -> dict[str, Any]:
    time_zone = await time_zone_for(at)
    zone = zone_of(time_zone)
    today = day_of(at.now, zone)
    journal = WholeJournal(at.store, at.own_id)
    first = today - timedelta(weeks=HEAT_WEEKS)
    half_year = await stats_of(journal, StatsOf(from_=first, to=today), time_zone, at.now)
    clash = show.clash
    form = show.form(EntryForm, _values_of(entry, zone))
    theirs = None if clash is None else _values_of(clash, zone)
    return {
        **layout_context("timeline"),
        **await _to_fill_in(at, half_year),
        "entry_id": entry.entry_id,
        "version": (clash or entry).version,
        "form": form,
        "conflict": _with_new_tags(form).conflict(clash, FORM_LABELS, theirs, {"giOrNoGi": WORN.get, "when": _spaced}),
        "refused_before": bool(form.sent),
        "day": long_date(day_of(entry.date, zone), today),
        "now": at.now.astimezone(zone).strftime(AS_TYPED),
        "asks_zone": False,
        "time_zone": time_zone,
    }


@entries.form("/edit", then=f"{ENTRIES}/{{entry_id}}?draft={{entry_id}}", flash=_("Entry saved."), on=edit_page)
async def change_by_form(at: OwnEntry, entry: Entry, form: EntryForm) -> Writes[Entry]:
    return _changed_by(at, form, entry, await zone_for(at))


def _changed_by(at: Access, form: EntryForm, entry: Entry, zone: tzinfo) -> Writes[Entry]:
    """Replace the entry by what the form says; a blank time keeps the old one."""
    after = structs.replace(entry, sections=form.sections, session_metrics=form.metrics())
    when = form.moment(zone)
    # The form has no seconds: the same minute means an unchanged time.
    as_shown = datetime.strptime(_typed(entry, zone), AS_TYPED).replace(tzinfo=zone).astimezone(UTC)
    if when is not UNSET and when != as_shown:
        with _errors_at_when():
            after = structs.replace(after, date=session_time(when, at.now))
    return rewritten(at, entry, after)


entries.form("/delete", then=ENTRIES, flash=_("Entry deleted, with its comments."))(delete_entry)


def _typed(entry: Entry, zone: tzinfo) -> str:
    return entry.date.astimezone(zone).strftime(AS_TYPED)


def _values_of(entry: Entry, zone: tzinfo) -> dict[str, Any]:
    metrics, sections = Form.texts_of(SessionMetrics, entry.session_metrics), Form.texts_of(Sections, entry.sections)
    return {"when": _typed(entry, zone), **metrics, **sections}
