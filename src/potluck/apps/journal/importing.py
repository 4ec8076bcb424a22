"""Importing an export: the owner's entries and conversations unchanged, and nothing that could impersonate others.

Entries keep their ids unless another account uses them; then the new id is derived from the old one and the importer.
So existing entries are recognised, and an interrupted import can be repeated. Links become pending. Other people's
comments are quoted in a comment by the importer. Conversations always get new ids, because their messages are found by
that id alone, and two conversations must never share messages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from msgspec import Struct
from msgspec.structs import replace

from potluck.apps.journal.access import Athlete
from potluck.apps.journal.addresses import IMPORT
from potluck.apps.journal.entities import (
    AIMessage,
    AIThread,
    Citation,
    CoachAthleteLink,
    Comment,
    CountedEntry,
    Entry,
    EntryMeta,
    Link,
    Source,
    UserProfile,
)
from potluck.apps.journal.entries import AHEAD, FIRST_YEAR
from potluck.apps.journal.file_errors import explained
from potluck.apps.journal.files import FileComment, FileEntry, FileThread, JournalFile, converted
from potluck.apps.journal.keywords import WORDS_AT_ONCE, keyword_writes
from potluck.apps.journal.links import MOST_LINKS, link_writes
from potluck.apps.journal.periods import long_day
from potluck.apps.journal.profile import taking_zone
from potluck.people import Account
from potluck.store import all_done
from potluck.table import absent, check, present, put
from potluck.validation import FieldError, ValidationError
from potluck.web import Actions, RateLimit, Step, Writes, or_retry

LARGEST_FILE = 10_000_000
ENTRIES_AT_ONCE = 100
WRITERS = 16
ROWS_AT_ONCE = 50
LONGEST_BODY = 4_000
MOST_ERRORS = 100
A_MOMENT = timedelta(milliseconds=1)
# A file may have ten megabytes, and every word costs a row.
IMPORTS = RateLimit("imports of a journal", 6)
EARLIEST_TIME = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC)


class JournalImported(Struct, rename="camel", frozen=True, kw_only=True):
    """How much the import added."""

    entries: int
    comments: int
    threads: int
    messages: int
    links: int
    """All pending until the other side accepts."""
    already_here: int
    """Entries and conversations that existed before."""


class ImportPreview(Struct, rename="camel", frozen=True, kw_only=True):
    """What a file contains, and how much of it is new."""

    name: str
    """Whose journal it is."""
    first: datetime | None
    """The first and the last session in it."""
    last: datetime | None
    entries: int
    """New ones."""
    comments: int
    """On the new entries."""
    threads: int
    """New ones."""
    messages: int
    """In the new conversations."""
    links: int
    """Links to request again, if the other person has an account here."""
    already_here: int
    """Entries and conversations that exist and stay unchanged."""


imports: Actions[Any] = Actions(Athlete, api="/journal/import", page=IMPORT, tag="Journal")


@imports.action("POST", "", idempotent=False, largest_body=LARGEST_FILE, rate_limit=IMPORTS)
async def import_journal(at: Athlete, file: JournalFile) -> Writes[JournalImported]:
    """Import an exported journal. Entries and conversations that exist already stay unchanged."""
    await asyncio.to_thread(_refuse_impossible, file, at.now)
    await _take_time_zone(at, file)
    run = _Import(at, file)
    for start in range(0, len(file.entries), ENTRIES_AT_ONCE):
        await run.entries(file.entries[start : start + ENTRIES_AT_ONCE])
    for thread in file.threads:
        await run.thread(thread)
    for link in file.links:
        if link.status != "revoked":
            await run.link(link.user_id, link.role == "coach", link.shared_from)
    return Writes(run.imported())


@imports.action("POST", "/preview", idempotent=False, largest_body=LARGEST_FILE)
async def preview_import(at: Athlete, file: JournalFile) -> Writes[ImportPreview]:
    """Preview what an import of this file would add. Nothing is written; an invalid file is refused as in an import."""
    await asyncio.to_thread(_refuse_impossible, file, at.now)
    run = _Import(at, file)
    new_entries = await run.new_entries(file.entries)
    new_threads = [thread for thread in file.threads if not await run.is_here(thread)]
    dates = [entry.date for entry in file.entries]
    return Writes(
        ImportPreview(
            name=file.owner.name,
            first=min(dates, default=None),
            last=max(dates, default=None),
            entries=len(new_entries),
            comments=sum(len(entry.comments) for entry in new_entries),
            threads=len(new_threads),
            messages=sum(len(thread.messages) for thread in new_threads),
            links=sum(link.status != "revoked" for link in file.links),
            already_here=len(file.entries) + len(file.threads) - len(new_entries) - len(new_threads),
        )
    )


def _refuse_impossible(file: JournalFile, now: datetime) -> None:
    """Raise ValidationError for impossible times and for duplicate ids."""
    wrong = [*_twice(file)]
    wrong += [
        FieldError.of(f"{where}.{name}", f"This must be between {FIRST_YEAR} and now")
        for where, item in _timed(file)
        for name in ("date", "created_at", "updated_at", "last_active_at")
        if (time := getattr(item, name, None)) is not None and (time > now + AHEAD or time < EARLIEST_TIME)
    ]
    if wrong:
        raise ValidationError(*(explained(file, error) for error in wrong[:MOST_ERRORS]))


def _twice(file: JournalFile) -> Iterator[FieldError]:
    """Duplicate ids among the comments of one entry or the messages of one conversation."""
    for where, items in (("entries", file.entries), ("threads", file.threads)):
        inside, name = ("comments", "comment_id") if where == "entries" else ("messages", "message_id")
        for number, item in enumerate(items):
            ids: set[UUID] = set()
            for place, inner in enumerate(getattr(item, inside)):
                if (known := getattr(inner, name)) in ids:
                    yield FieldError.of(f"{where}[{number}].{inside}[{place}].{name}", "This id appears twice")
                ids.add(known)


def _timed(file: JournalFile) -> Iterator[tuple[str, Any]]:
    """Everything in a file that has a time, with its path."""
    for number, entry in enumerate(file.entries):
        yield f"entries[{number}]", entry
        yield from ((f"entries[{number}].comments[{place}]", comment) for place, comment in enumerate(entry.comments))
    for number, thread in enumerate(file.threads):
        yield f"threads[{number}]", thread
        yield from ((f"threads[{number}].messages[{place}]", message) for place, message in enumerate(thread.messages))


async def _take_time_zone(at: Athlete, file: JournalFile) -> None:
    """Adopt the time zone if none is set here. Consent is never imported: it must be given here."""
    async for _ in at.store.attempts("importing a profile"):
        stored = await at.store.get(UserProfile.one(at.own_id))
        writes = [] if file.owner.time_zone is None else taking_zone(at, stored, file.owner.time_zone)[1]
        if not writes or await at.commit(Step(*map(or_retry, writes))):
            return


class _Import:
    """One import in progress."""

    def __init__(self, at: Athlete, file: JournalFile) -> None:
        self._at = at
        self._owner = file.owner.user_id
        self._ids: dict[UUID, UUID] = {}
        self._counts = dict.fromkeys(JournalImported.__struct_fields__, 0)

    def imported(self) -> JournalImported:
        return JournalImported(**self._counts)

    # --- entries ------------------------------------------------------------------------------------------------------

    async def entries(self, some: Sequence[FileEntry]) -> None:
        for start in range(0, len(some), WRITERS):
            await all_done([self._entry(entry) for entry in some[start : start + WRITERS]])

    async def _entry(self, entry: FileEntry) -> None:
        async for _ in self._at.store.attempts("importing an entry"):
            ((entry_id, is_here),) = await self._places([entry.entry_id])
            self._ids[entry.entry_id] = entry_id
            if is_here:
                self._counts["already_here"] += 1
                return
            comments = [comment for item in entry.comments for comment in self._comments(item, entry_id)]
            if not await self._write_comments(entry_id, comments):
                continue
            visible = sum(1 for comment in comments if comment.visibility == "visible")
            imported = converted(Entry, entry, entry_id=entry_id, athlete_id=self._at.own_id, comments=visible)
            meta = converted(EntryMeta, imported)
            words = keyword_writes(None, imported)[:WORDS_AT_ONCE]
            step = Step(or_retry(put(meta, when=absent)), or_retry(put(imported, when=absent)), *words)
            if await self._at.commit(step):
                self._counts["entries"] += 1
                self._counts["comments"] += len(comments)
                return

    async def _write_comments(self, entry_id: UUID, comments: Sequence[Comment]) -> bool:
        """Write the comments before their entry, which makes them visible. Existing comments are skipped."""
        if not comments:
            return True
        known = {comment.comment_id for comment in await self._at.store.all(Comment.of_entry(entry_id))}
        new = [comment for comment in comments if comment.comment_id not in known]
        for start in range(0, len(new), ROWS_AT_ONCE):
            some = new[start : start + ROWS_AT_ONCE]
            # If someone has created an entry with this id meanwhile, the comments must not become comments on it.
            unused_id = or_retry(check(EntryMeta.one(entry_id), when=absent))
            if not await self._at.commit(Step(unused_id, *(or_retry(put(comment, when=absent)) for comment in some))):
                return False
        return True

    async def new_entries(self, entries: Sequence[FileEntry]) -> list[FileEntry]:
        """The entries that do not exist yet."""
        new: list[FileEntry] = []
        for start in range(0, len(entries), ENTRIES_AT_ONCE):
            some = entries[start : start + ENTRIES_AT_ONCE]
            places = await self._places([entry.entry_id for entry in some])
            new += (entry for entry, (_, is_here) in zip(some, places, strict=True) if not is_here)
            # The embedded engine answers without waiting, so nothing else would run before the last batch.
            await asyncio.sleep(0)
        return new

    async def _places(self, entry_ids: Sequence[UUID]) -> list[tuple[UUID, bool]]:
        """The ids that entries have or will get here, and whether each exists already."""
        others = [uuid5(self._at.own_id, str(entry_id)) for entry_id in entry_ids]
        metas = await self._at.store.get_many([EntryMeta.one(entry_id) for entry_id in (*entry_ids, *others)])
        places: list[tuple[UUID, bool]] = []
        for entry_id, other, *known in zip(entry_ids, others, metas, metas[len(entry_ids) :], strict=False):
            own = (meta.entry_id for meta in known if meta is not None and meta.athlete_id == self._at.own_id)
            here = next(own, None)
            places.append((here, True) if here is not None else (entry_id if known[0] is None else other, False))
        return places

    def _comments(self, comment: FileComment, entry_id: UUID) -> list[Comment]:
        """The owner's own comments unchanged, other people's quoted."""
        own = comment.coach_id == self._owner
        bodies = [comment.body] if own else _quoted(comment)
        return [
            converted(
                Comment,
                comment,
                comment_id=comment.comment_id if number == 0 else uuid5(comment.comment_id, str(number)),
                entry_id=entry_id,
                coach_id=self._at.own_id,
                created_at=comment.created_at + number * A_MOMENT,
                body=body,
            )
            for number, body in enumerate(bodies)
        ]

    # --- conversations ------------------------------------------------------------------------------------------------

    def _thread_id(self, thread: FileThread) -> UUID:
        return uuid5(self._at.own_id, str(thread.thread_id))

    async def is_here(self, thread: FileThread) -> bool:
        """Whether it exists already: the original, or one from an earlier import."""
        refs = [AIThread.one(self._at.own_id, thread_id) for thread_id in (thread.thread_id, self._thread_id(thread))]
        return any(stored is not None for stored in await self._at.store.get_many(refs))

    async def thread(self, thread: FileThread) -> None:
        at = self._at
        if await self.is_here(thread):
            self._counts["already_here"] += 1
            return
        thread_id = self._thread_id(thread)
        about = None if thread.athlete_id in (None, self._owner, at.own_id) else thread.athlete_id
        scope = thread.scope if about is None else "shared"
        messages = [
            converted(
                AIMessage,
                message,
                thread_id=thread_id,
                citations=[self._here(cited) for cited in message.citations] if message.role == "assistant" else None,
                counted=[self._here(entry) for entry in message.counted] if message.role == "assistant" else None,
                sources=[self._here(source) for source in message.sources] if message.role == "assistant" else None,
            )
            for message in thread.messages
            # Private messages never get into a shared conversation.
            if scope == "private" or message.visibility_scope == "shared"
        ]
        imported = converted(AIThread, thread, user_id=at.own_id, thread_id=thread_id, scope=scope, athlete_id=about)
        async for _ in at.store.attempts("importing a conversation"):
            # Messages first: they are unreachable until the conversation exists, and a retry overwrites them.
            parts = (messages[start : start + ROWS_AT_ONCE] for start in range(0, len(messages), ROWS_AT_ONCE))
            written = all([await at.commit(Step(*map(put, part))) for part in parts])
            if written and await at.commit(Step(or_retry(put(imported)))):
                self._counts["threads"] += 1
                self._counts["messages"] += len(messages)
                return

    def _here(self, reference: Any) -> Any:
        """A citation, counted entry or source with the id that its entry has here."""
        assert isinstance(reference, Citation | CountedEntry | Source)
        return replace(reference, entry_id=self._ids.get(reference.entry_id, reference.entry_id))

    # --- links --------------------------------------------------------------------------------------------------------

    async def link(self, other: UUID, is_coach: bool, shared_from: datetime | None) -> None:
        """Request the link again, if the other person has an account here and no link exists."""
        at = self._at
        if other in (at.own_id, self._owner):
            return
        athlete_id, coach_id = (at.own_id, other) if is_coach else (other, at.own_id)
        link, account = await at.store.get_together(CoachAthleteLink.by_id(athlete_id, coach_id), Account.by_id(other))
        if link is not None or account is None:
            return
        if max([await at.store.count(Link.of_user(user_id)) for user_id in (at.own_id, other)]) >= MOST_LINKS:
            return
        writes = link_writes(
            None, athlete_id, coach_id, "pending", "athlete" if is_coach else "coach", at.now, shared_from
        )
        there = check(Account.by_id(other), when=present)
        if await at.commit(Step(or_retry(there), *map(or_retry, writes))):
            self._counts["links"] += 1


def _quoted(comment: FileComment) -> list[str]:
    """The comment quoted line by line under its author and date, in several parts if it is too long for one."""
    head = f"{comment.name or 'Someone'} wrote on {long_day(comment.created_at.date())}:"
    parts: list[str] = []
    lines = [head]
    for line in comment.body.split("\n"):
        rest = line
        while True:
            room = LONGEST_BODY - len("\n".join(lines)) - len("\n> ")
            if len(rest) <= room:
                lines.append(f"> {rest}")
                break
            if room > 0:
                lines.append(f"> {rest[:room]}")
                rest = rest[room:]
            parts.append("\n".join(lines))
            lines = [head]
    return [*parts, "\n".join(lines)]
