"""The form to write an entry, and to edit it: made to be filled in on a phone within a minute."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from msgspec.structs import asdict, fields
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
    EntryChange,
    MetricsChange,
    NewEntry,
    SectionsChange,
    add_entry,
    changing,
    delete_entry,
    entries,
)
from potluck.apps.journal.fields import (
    UNSAID,
    Duration,
    EntryId,
    GiOrNoGi,
    Intensity,
    Rounds,
    SectionText,
    Tags,
    TimeZone,
    unique_tags,
    zone_of,
)
from potluck.apps.journal.journals import WholeJournal
from potluck.apps.journal.links import names_of
from potluck.apps.journal.pages.charts import HEAT_WEEKS, Levels, drawn_heat, drawn_hours, fact_list
from potluck.apps.journal.pages.frame import WORN, layout_context, long_date
from potluck.apps.journal.profile import lacks_zone, taking_zone, time_zone_for, usual_profile, zone_for
from potluck.apps.journal.stats import StatsOf, stats_of
from potluck.apps.journal.times import day_of, first_of_week
from potluck.people import new_id
from potluck.validation import FieldError, ValidationError, decode_tree, label_of
from potluck.web import UNSET, Access, Actions, ByField, Form, Line, Show, Unset, Versioned, Writes, or_retry, redirect

TAGS_OFFERED = 8
MINUTES_STEP = 5
# The defaults for a first entry.
USUAL = {"durationMinutes": "60", "rounds": "5", "giOrNoGi": "gi"}
CHOSEN_EACH_TIME = frozenset({"intensity", "tags"})
AS_TYPED = "%Y-%m-%dT%H:%M"
NOT_A_TIME = "Say the day and the time, such as 13 November, 18:30"

home: Actions[Any] = Actions(Athlete, page=HOME)


class EntryForm(Versioned):
    """A session as the form sends it; its version matters only when editing."""

    when: Line = ""
    """Local time in the person's time zone; now, if blank."""
    duration_minutes: Duration
    intensity: Intensity
    rounds: Rounds
    gi_or_no_gi: GiOrNoGi
    tags: Tags | Unset = UNSET
    """Chosen among those offered."""
    new_tags: Line = ""
    """Others, separated by commas."""
    shared: SectionText = ""
    private: SectionText = ""
    entry_id: EntryId | Unset = UNSET
    """Generated with the form, so that submitting it twice makes one entry."""
    time_zone: TimeZone | Unset = UNSET
    """The device's own, filled in by a script, for people who have never set one."""

    @property
    def all_tags(self) -> list[str]:
        typed = [each.strip() for each in self.new_tags.split(",")]
        chosen = [] if self.tags is UNSET else self.tags
        return unique_tags(each for each in (*chosen, *typed) if each)

    def metrics(self) -> SessionMetrics:
        """The metrics as API input; ValidationError for invalid tags."""
        values = {each.encode_name: getattr(self, each.name) for each in fields(SessionMetrics)}
        try:
            return decode_tree(SessionMetrics, {**values, "tags": self.all_tags})
        except ValidationError as error:
            raise ValidationError(*(FieldError("newTags", each.message) for each in error.errors)) from error

    def moment(self, zone: tzinfo) -> datetime | Unset:
        """When it was; unset if blank."""
        if not self.when.strip():
            return UNSET
        try:
            return datetime.strptime(self.when.strip()[:16], AS_TYPED).replace(tzinfo=zone).astimezone(UTC)
        except (ValueError, OverflowError):
            raise ValidationError(FieldError("when", NOT_A_TIME)) from None


# --- a new one --------------------------------------------------------------------------------------------------------


@home.page("", "journal/write.html")
async def write_page(at: Athlete, show: Show) -> dict[str, Any] | Response:
    """The form; the home of someone who only coaches is their athletes, until they ask for the form."""
    if "write" not in show.query and show.refusal is None and await _only_coaches(at):
        return redirect(ATHLETES)
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
        "form": show.form(EntryForm, {**_as_last_time(last), "entryId": str(new_id())}),
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
    """Whether someone has athletes, and neither an entry nor a coach of their own."""
    links = [each for each in await at.store.all(Link.of_user(at.own_id)) if each.status == "active"]
    if not links or any(isinstance(each, CoachAthleteLink) for each in links):
        return False
    return await at.store.first(Entry.of_athlete(at.own_id)) is None


@entries.form("", then=f"{ENTRIES}?draft=new", flash="Saved.", on=write_page, versioned=False)
async def write_by_form(at: Athlete, said: EntryForm) -> Writes[Entry]:
    stored = await at.store.get(UserProfile.one(at.own_id))
    device = UNSAID if said.time_zone is UNSET else said.time_zone
    profile, of_profile = taking_zone(at, stored, device) if device != UNSAID else (stored or usual_profile(at), [])
    known = None if said.entry_id is UNSET else await at.store.get(EntryMeta.one(said.entry_id))
    if known is not None and known.athlete_id == at.own_id:
        entry = await at.store.get(Entry.one(at.own_id, known.date, known.entry_id))
        if entry is not None:
            # Sent before, and its answer was lost: what was typed since is a change of it.
            return _changed_by(at, said, entry, zone_of(profile.time_zone))
    new = NewEntry(
        sections=Sections(private=said.private, shared=said.shared),
        session_metrics=said.metrics(),
        date=said.moment(zone_of(profile.time_zone)),
        entry_id=said.entry_id if known is None else UNSET,
    )
    with _beside_its_field():
        writes = await add_entry(at, new)
    # If the form was submitted twice at once, the retried rule finds what the other submission has written.
    return Writes(writes.answer, *map(or_retry, [*writes.operations, *of_profile]))


@contextmanager
def _beside_its_field() -> Iterator[None]:
    """Moves errors about the date to the form's own field."""
    try:
        yield
    except ValidationError as error:
        raise ValidationError(
            *(FieldError("when" if each.field == "date" else each.field, each.message) for each in error.errors)
        ) from error


def _as_last_time(last: Entry | None) -> dict[str, Any]:
    """Defaults from the last session; intensity is left to be chosen each time."""
    if last is None:
        return dict(USUAL)
    return {name: text for name, text in _texts_of(last.session_metrics).items() if name not in CHOSEN_EACH_TIME}


async def _to_fill_in(at: Athlete, half_year: Statistics) -> dict[str, Any]:
    """What the form shows for a new entry and for an edit alike."""
    return {
        "offered": [each.tag for each in half_year.top_tags[:TAGS_OFFERED]],
        "readers": await coach_names(at),
        "minutes_step": MINUTES_STEP,
        "worn_options": WORN,
        "draft_key": at.journal.draft_key(at.own_id),
    }


async def coach_names(at: Athlete) -> list[str]:
    """The names of the coaches who can read what is shared now."""
    found = await at.store.all(Link.of_user(at.own_id))
    ids = [each.coach_id for each in found if isinstance(each, CoachAthleteLink) and each.status == "active"]
    return sorted((await names_of(at.store, ids)).values(), key=str.casefold)


# --- an edit ----------------------------------------------------------------------------------------------------------


METRIC_LABELS = {"durationMinutes": "Minutes", "intensity": "How hard", "giOrNoGi": "What you wore"}
LABELS = {
    "when": "When it was",
    **{name: METRIC_LABELS.get(name) or label_of(name) for name in SessionMetrics.__struct_encode_fields__},
    "shared": "Shared",
    "private": "Private",
}


def _with_new_tags(form: Form[EntryForm]) -> Form[EntryForm]:
    """The same form, with the tags that were typed among those that were chosen."""
    typed = [each.strip() for each in form.values["newTags"].split(",")]
    tags = dict.fromkeys(each for each in (*form.values["tags"], *typed) if each)
    values = {name: form.values[name] for name in form.values}
    return replace(form, values=ByField({**values, "tags": list(tags), "newTags": ""}))


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
        "conflict": _with_new_tags(form).conflict(clash, LABELS, theirs, {"giOrNoGi": dict(WORN).get, "when": _spaced}),
        "refused_before": bool(form.sent),
        "day": long_date(day_of(entry.date, zone), today),
        "now": at.now.astimezone(zone).strftime(AS_TYPED),
        "asks_zone": False,
        "time_zone": time_zone,
    }


@entries.form("/edit", then=f"{ENTRIES}/{{entry_id}}?draft={{entry_id}}", flash="The entry is changed.", on=edit_page)
async def change_by_form(at: OwnEntry, entry: Entry, said: EntryForm) -> Writes[Entry]:
    return _changed_by(at, said, entry, await zone_for(at))


def _changed_by(at: Access, said: EntryForm, entry: Entry, zone: tzinfo) -> Writes[Entry]:
    """Change the entry to what the form says; a blank time leaves it at its own."""
    metrics, when = said.metrics(), said.moment(zone)
    # The form has no seconds: the same minute means that the time was not changed.
    as_shown = datetime.strptime(_typed(entry, zone), AS_TYPED).replace(tzinfo=zone).astimezone(UTC)
    change = EntryChange(
        sections=SectionsChange(private=said.private, shared=said.shared),
        session_metrics=MetricsChange(**asdict(metrics)),
        date=UNSET if when == as_shown else when,
    )
    with _beside_its_field():
        return changing(at, entry, change)


entries.form("/delete", then=ENTRIES, flash="The entry is deleted, with its comments.")(delete_entry)


def _typed(entry: Entry, zone: tzinfo) -> str:
    return entry.date.astimezone(zone).strftime(AS_TYPED)


def _values_of(entry: Entry, zone: tzinfo) -> dict[str, Any]:
    texts = {"shared": entry.sections.shared, "private": entry.sections.private}
    return {"when": _typed(entry, zone), **_texts_of(entry.session_metrics), **texts}


def _texts_of(metrics: SessionMetrics) -> dict[str, Any]:
    """Each metric as a field of the form holds it."""
    values = {each.encode_name: getattr(metrics, each.name) for each in fields(metrics)}
    return {name: list(value) if isinstance(value, list) else str(value) for name, value in values.items()}
