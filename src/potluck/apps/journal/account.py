"""All of one athlete's data: as a file to import elsewhere, for the account's export, and for its deletion."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response, StreamingResponse

from potluck.apps.journal.access import Athlete, shared_with
from potluck.apps.journal.assistant.retrieval import CurrentSources
from potluck.apps.journal.entities import (
    AIMessage,
    AIThread,
    AthleteCoachLink,
    CoachAthleteLink,
    Entry,
    EntryMeta,
    Link,
    PrivateKeywordIndex,
    UserProfile,
    UserRow,
)
from potluck.apps.journal.fields import zone_of
from potluck.apps.journal.files import (
    FORMAT,
    FileComment,
    FileEntry,
    FileLink,
    FileMessage,
    FileProfile,
    FileThread,
    converted,
)
from potluck.apps.journal.journals import comments_of
from potluck.apps.journal.links import link_pair, names_of
from potluck.apps.journal.profile import profile_of
from potluck.people import Account
from potluck.store import Store, all_done
from potluck.table import delete
from potluck.validation import encode
from potluck.web import Actions, attachment

ENTRIES_AT_ONCE = 32
ROWS_AT_ONCE = 1_000
# The most that one batch request deletes.
ROWS_OF_BATCH = 25

export: Actions[Any] = Actions(Athlete, api="/journal/export", tag="Journal")


@export.read(tagged=False)
async def export_journal(at: Athlete) -> Response:
    """Export all of your journal as one file: profile, links, entries with their comments, and conversations."""
    begun = {
        "format": FORMAT,
        "version": 1,
        "exportedAt": at.now,
        "profile": converted(FileProfile, await profile_of(at)),
    }
    headers = {**attachment("json", f"Journal {at.now:%Y-%m-%d}"), "cache-control": "no-store"}
    pieces = JournalExport(at.store, at.own_id).pieces(begun)
    return StreamingResponse(pieces, headers=headers, media_type="application/json")


class JournalExport:
    """Streams a journal of any length."""

    def __init__(self, store: Store, own_id: UUID) -> None:
        self._rows = store
        self._own_id = own_id

    async def pieces(self, begun: Mapping[str, Any]) -> AsyncIterator[bytes]:
        """The JSON file in chunks: the given fields, then one list after the other."""
        yield encode(begun)[:-1]
        for name, items in (("links", self.links()), ("entries", self.entries()), ("threads", self.threads())):
            yield b',"' + name.encode() + b'":['
            first = True
            async for item in items:
                yield (b"" if first else b",") + encode(item)
                first = False
            yield b"]"
        yield b"}"

    async def links(self) -> AsyncIterator[FileLink]:
        links = await self._rows.all(Link.of_user(self._own_id))
        names = await names_of(self._rows, [user_id for link in links for user_id in (link.athlete_id, link.coach_id)])
        for link in links:
            coach = isinstance(link, CoachAthleteLink)
            other = link.coach_id if coach else link.athlete_id
            name = names.get(other) if link.status == "active" else None
            yield converted(FileLink, link, user_id=other, name=name, role="coach" if coach else "athlete")

    async def entries(self) -> AsyncIterator[FileEntry]:
        some: list[Entry] = []
        async for entry in self._rows.each(Entry.of_athlete(self._own_id)):
            some.append(entry)
            if len(some) == ENTRIES_AT_ONCE:
                for item in await self._with_comments(some):
                    yield item
                some.clear()
        for item in await self._with_comments(some):
            yield item

    async def _with_comments(self, entries: Sequence[Entry]) -> list[FileEntry]:
        comments = await comments_of(self._rows, [entry.entry_id for entry in entries])
        names = await names_of(self._rows, [comment.coach_id for some in comments.values() for comment in some])
        return [
            converted(
                FileEntry,
                entry,
                comments=[
                    converted(FileComment, comment, name=names.get(comment.coach_id))
                    for comment in comments[entry.entry_id]
                ],
            )
            for entry in entries
        ]

    async def threads(self) -> AsyncIterator[FileThread]:
        """The conversations; for those about other athletes, only what the owner may still read."""
        for thread in await self._rows.all(AIThread.of_user(self._own_id)):
            messages = await self._rows.all(AIMessage.in_thread(thread.thread_id))
            if thread.athlete_id is not None:
                link = await self._rows.get(CoachAthleteLink.by_id(thread.athlete_id, self._own_id))
                if link is None or link.status != "active":
                    continue
                sources = await CurrentSources.of(shared_with(self._rows, link), messages)
                messages = [message for message in messages if sources.support(message)]
            shown = [
                converted(
                    FileMessage,
                    message,
                    citations=[*(message.citations or ())],
                    counted=[*(message.counted or ())],
                    sources=[*(message.sources or ())],
                )
                for message in messages
            ]
            yield converted(FileThread, thread, messages=shown)


class JournalData:
    """Exports and deletes the journal data of one account.

    Comments on other people's entries stay, without an author: the athlete keeps or hides them.
    """

    def __init__(self, store: Store) -> None:
        self._rows = store

    async def export(self, user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
        """The contents of the journal's own export, one record at a time."""
        profile, account = await self._rows.get_together(UserProfile.one(user_id), Account.by_id(user_id))
        if profile is not None or account is not None:
            yield "profiles", converted(FileProfile, profile or account)
        whole = JournalExport(self._rows, user_id)
        async for link in whole.links():
            yield "links", link
        zone = zone_of(None if profile is None else profile.time_zone)
        async for entry in whole.entries():
            yield "entries", replace(entry, local_time=f"{entry.date.astimezone(zone):%Y-%m-%d %H:%M}")
        async for thread in whole.threads():
            yield "threads", thread

    async def forget(self, user_id: UUID) -> None:
        """Delete all their data, links first so that coaches lose access at once; safe to call again."""
        for link in await self._rows.all(Link.of_user(user_id)):
            if link.athlete_id == user_id:
                await self._forget_what_was_asked(link.coach_id, user_id)
            await self._rows.transact(*map(delete, link_pair(link.athlete_id, link.coach_id)))
        # Delete rows in other partitions before the row that leads to them.
        some: list[UUID] = []
        async for entry in self._rows.each(Entry.of_athlete(user_id)):
            some.append(entry.entry_id)
            if len(some) == ENTRIES_AT_ONCE:
                await self._forget_comments(some)
                some.clear()
        await self._forget_comments(some)
        for thread in await self._rows.all(AIThread.of_user(user_id)):
            await self._forget_thread(thread)
        queries: tuple[Any, ...] = (UserRow.of_user(user_id), PrivateKeywordIndex.of_athlete(user_id))
        for query in queries:
            # Repeat until the partition is empty: the consumer may still be writing keyword rows of a deleted entry.
            while rows := (await self._rows.page(query, ROWS_AT_ONCE)).items:
                await self._delete(rows)

    async def _forget_comments(self, entry_ids: Sequence[UUID]) -> None:
        comments = await comments_of(self._rows, entry_ids)
        await self._delete([*map(EntryMeta.one, entry_ids), *(row for some in comments.values() for row in some)])

    async def _delete(self, rows: Sequence[Any]) -> None:
        """Delete in concurrent batches: the engine commits them together, instead of one after the other."""
        parts = [rows[start : start + ROWS_OF_BATCH] for start in range(0, len(rows), ROWS_OF_BATCH)]
        await all_done([self._rows.write_each(delete(_ref(row)) for row in part) for part in parts])

    async def _forget_what_was_asked(self, coach_id: UUID, athlete_id: UUID) -> None:
        """Delete the coach's conversations about this athlete, which quote the athlete's entries."""
        for thread in await self._rows.all(AIThread.of_user(coach_id)):
            if thread.athlete_id == athlete_id:
                await self._forget_thread(thread)

    async def _forget_thread(self, thread: AIThread) -> None:
        messages = await self._rows.all(AIMessage.in_thread(thread.thread_id))
        await self._rows.write_each(map(delete, messages))
        await self._rows.delete(AIThread.one(thread.user_id, thread.thread_id))


def _ref(row: Any) -> Any:
    """The row's key, which deletes it regardless of its version."""
    match row:
        case Entry():
            return Entry.one(row.athlete_id, row.date, row.entry_id)
        case UserProfile():
            return UserProfile.one(row.user_id)
        case CoachAthleteLink() | AthleteCoachLink():
            return link_pair(row.athlete_id, row.coach_id)[isinstance(row, AthleteCoachLink)]
        case AIThread():
            return AIThread.one(row.user_id, row.thread_id)
    return row
