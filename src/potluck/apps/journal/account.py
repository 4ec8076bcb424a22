"""All of one athlete's data: as a file to import elsewhere, for the account's export, and for its deletion."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response, StreamingResponse

from potluck.apps.journal.access import Athlete, shared_with
from potluck.apps.journal.assistant.retrieval import Standing
from potluck.apps.journal.entities import (
    AIMessage,
    AIThread,
    AthleteCoachLink,
    CoachAthleteLink,
    Comment,
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
from potluck.apps.journal.links import link_pair, names_of
from potluck.apps.journal.profile import profile_of
from potluck.people import Account
from potluck.store import Store, all_done
from potluck.table import delete
from potluck.validation import encode
from potluck.web import Actions

ENTRIES_AT_ONCE = 32
ROWS_AT_ONCE = 1_000
# The most that one batch request deletes.
ROWS_OF_BATCH = 25

export: Actions[Any] = Actions(Athlete, api="/journal/export", tag="Journal")


@export.read(tagged=False)
async def export_journal(at: Athlete) -> Response:
    """Everything of the caller: profile, links, entries with their comments, and conversations, as one file."""
    begun = {
        "format": FORMAT,
        "version": 1,
        "exportedAt": at.now,
        "profile": converted(FileProfile, await profile_of(at)),
    }
    headers = {"content-disposition": 'attachment; filename="journal.json"', "cache-control": "no-store"}
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
        found = await self._rows.all(Link.of_user(self._own_id))
        names = await names_of(self._rows, [each for link in found for each in (link.athlete_id, link.coach_id)])
        for link in found:
            coach = isinstance(link, CoachAthleteLink)
            other = link.coach_id if coach else link.athlete_id
            name = names.get(other) if link.status == "active" else None
            yield converted(FileLink, link, user_id=other, name=name, role="coach" if coach else "athlete")

    async def entries(self) -> AsyncIterator[FileEntry]:
        some: list[Entry] = []
        async for entry in self._rows.each(Entry.of_athlete(self._own_id)):
            some.append(entry)
            if len(some) == ENTRIES_AT_ONCE:
                for each in await self._with_comments(some):
                    yield each
                some.clear()
        for each in await self._with_comments(some):
            yield each

    async def _with_comments(self, entries: Sequence[Entry]) -> list[FileEntry]:
        found = await all_done([self._rows.all(Comment.of_entry(each.entry_id)) for each in entries])
        names = await names_of(self._rows, [each.coach_id for comments in found for each in comments])
        return [
            converted(
                FileEntry,
                entry,
                comments=[converted(FileComment, each, name=names.get(each.coach_id)) for each in comments],
            )
            for entry, comments in zip(entries, found, strict=True)
        ]

    async def threads(self) -> AsyncIterator[FileThread]:
        """The conversations; of those about other athletes, what the owner may still read."""
        for thread in await self._rows.all(AIThread.of_user(self._own_id)):
            messages = await self._rows.all(AIMessage.in_thread(thread.thread_id))
            if thread.athlete_id is not None:
                link = await self._rows.get(CoachAthleteLink.by_id(thread.athlete_id, self._own_id))
                if link is None or link.status != "active":
                    continue
                standing = await Standing.of(shared_with(self._rows, link), messages)
                messages = [each for each in messages if standing.stands(each)]
            said = [
                converted(
                    FileMessage,
                    each,
                    citations=[*(each.citations or ())],
                    counted=[*(each.counted or ())],
                    sources=[*(each.sources or ())],
                )
                for each in messages
            ]
            yield converted(FileThread, thread, messages=said)


class JournalData:
    """Exports and deletes what the journal holds of one account.

    Comments on other people's entries stay: they are the athlete's to keep or hide, and show no author any more.
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
        # Rows in other partitions go before the row by which they are found.
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
            # Until none is left: the consumer may still be writing keyword rows of a deleted entry.
            while rows := (await self._rows.page(query, ROWS_AT_ONCE)).items:
                await self._delete(rows)

    async def _forget_comments(self, entry_ids: Sequence[UUID]) -> None:
        found = await all_done([self._rows.all(Comment.of_entry(each)) for each in entry_ids])
        await self._delete([*map(EntryMeta.one, entry_ids), *(each for comments in found for each in comments)])

    async def _delete(self, rows: Sequence[Any]) -> None:
        """Delete in concurrent batches: the engine commits them together, instead of one after the other."""
        parts = [rows[start : start + ROWS_OF_BATCH] for start in range(0, len(rows), ROWS_OF_BATCH)]
        await all_done([self._rows.write_each(delete(_ref(each)) for each in part) for part in parts])

    async def _forget_what_was_asked(self, coach_id: UUID, athlete_id: UUID) -> None:
        """Delete the coach's conversations about this athlete: they quote what the athlete wrote."""
        for thread in await self._rows.all(AIThread.of_user(coach_id)):
            if thread.athlete_id == athlete_id:
                await self._forget_thread(thread)

    async def _forget_thread(self, thread: AIThread) -> None:
        said = await self._rows.all(AIMessage.in_thread(thread.thread_id))
        await self._rows.write_each(map(delete, said))
        await self._rows.delete(AIThread.one(thread.user_id, thread.thread_id))


def _ref(row: Any) -> Any:
    """The row's key, to delete it whatever its version is by now."""
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
