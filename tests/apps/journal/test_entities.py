"""The journal's table against its design: records to the byte; of every question the request, answer and cost."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import pytest
import pytest_asyncio

from potluck.apps.journal.entities import (
    AIMessage,
    AIThread,
    AthleteCoachLink,
    Citation,
    CoachAthleteLink,
    Comment,
    Entry,
    EntryMeta,
    EntryWithComments,
    KeywordIndex,
    PrivateKeywordIndex,
    Sections,
    SessionMetrics,
    UserProfile,
    roll_model,
)
from potluck.engines.recording import Recording
from potluck.store import Store
from potluck.table import (
    ConditionFailed,
    Entity,
    Gather,
    InvalidValue,
    Query,
    Ref,
    Request,
    VersionConflict,
    absent,
    at_least,
    between,
    delete,
    less_than,
    present,
    put,
    the,
    update,
)
from potluck.table.entity import plan_of
from tests.engine_targets import BOTH, LOCAL
from tests.stores import recorded_store

ATHLETE = UUID("00000000-0000-4000-8000-00000000000a")
COACH = UUID("00000000-0000-4000-8000-00000000000c")
ANOTHER = UUID("00000000-0000-4000-8000-0000000000ff")
# Whoever writes in tests, so that what the others read stays as it is.
WRITER = UUID("00000000-0000-4000-8000-0000000000aa")
COACH_OF_WRITER = UUID("00000000-0000-4000-8000-0000000000cc")
ENTRY = UUID("10000000-0000-4000-8000-000000000001")
ENTRY_OF_THE_SAME_INSTANT = UUID("10000000-0000-4000-8000-000000000002")
BACKDATED_ENTRY = UUID("10000000-0000-4000-8000-000000000003")
COMMENT = UUID("20000000-0000-4000-8000-000000000001")
THREAD = UUID("30000000-0000-4000-8000-000000000001")
QUESTION = UUID("40000000-0000-4000-8000-000000000009")
ANSWER = UUID("40000000-0000-4000-8000-000000000001")

WRITTEN = datetime(2024, 3, 9, 20, 15, 30, 500_000, tzinfo=UTC)
TRAINED = datetime(2024, 3, 9, 18, 0, tzinfo=UTC)
TRAINED_LONG_AGO = datetime(2024, 1, 2, 18, 0, tzinfo=UTC)
SAID = datetime(2024, 3, 10, 8, 0, 0, 1_000, tzinfo=UTC)

profile = UserProfile(user_id=ATHLETE, name="Ada", time_zone="Europe/Paris", created_at=WRITTEN)
link = CoachAthleteLink(
    athlete_id=ATHLETE, coach_id=COACH, status="active", requested_by="athlete", created_at=WRITTEN, updated_at=SAID
)
mirror = AthleteCoachLink(
    coach_id=COACH, athlete_id=ATHLETE, status="active", requested_by="athlete", created_at=WRITTEN, updated_at=SAID
)
entry = Entry(
    entry_id=ENTRY,
    athlete_id=ATHLETE,
    created_at=WRITTEN,
    updated_at=SAID,
    sections=Sections(private="knee hurts", shared="armbar from guard"),
    session_metrics=SessionMetrics(duration_minutes=90, intensity=7, rounds=6, gi_or_no_gi="no-gi", tags=["guard"]),
    date=TRAINED,
)
comment = Comment(comment_id=COMMENT, entry_id=ENTRY, coach_id=COACH, created_at=SAID, body="Keep the elbow tight.")
thread = AIThread(user_id=ATHLETE, thread_id=THREAD, title="Armbars", created_at=WRITTEN, last_active_at=SAID)
question = AIMessage(
    message_id=QUESTION,
    thread_id=THREAD,
    role="user",
    content="When did I last try an armbar?",
    visibility_scope="shared",
    created_at=SAID,
)
keyword = KeywordIndex(entry_id=ENTRY, created_at=WRITTEN, athlete_id=ATHLETE, token="arm")
meta = EntryMeta(athlete_id=ATHLETE, created_at=WRITTEN, entry_id=ENTRY, date=TRAINED)
private_keyword = PrivateKeywordIndex(entry_id=ENTRY, created_at=WRITTEN, athlete_id=ATHLETE, token="arm")
answer = AIMessage(
    message_id=ANSWER,
    thread_id=THREAD,
    role="assistant",
    content="On 9 March: armbar from guard.",
    visibility_scope="shared",
    created_at=SAID.replace(microsecond=2_000),
    citations=[Citation(entry_id=ENTRY, date=TRAINED, quote="armbar from guard")],
    provider="embedded",
)

# --- records: what the document lists of each entity, and what we add to it ---

RECORDS: dict[str, tuple[Entity, dict[str, Any], dict[str, Any]]] = {
    "user profile": (
        profile,
        {"PK": {"S": f"USER#{ATHLETE}"}, "SK": {"S": "PROFILE"}},
        {
            "userId": {"S": str(ATHLETE)},
            "name": {"S": "Ada"},
            "timeZone": {"S": "Europe/Paris"},
            "aiConsent": {"BOOL": False},
            "createdAt": {"S": "2024-03-09T20:15:30.500Z"},
            "version": {"N": "1"},
        },
    ),
    "coach-athlete link": (
        link,
        {"PK": {"S": f"USER#{ATHLETE}"}, "SK": {"S": f"COACH#{COACH}"}},
        {
            "status": {"S": "active"},
            "requestedBy": {"S": "athlete"},
            "createdAt": {"S": "2024-03-09T20:15:30.500Z"},
            "updatedAt": {"S": "2024-03-10T08:00:00.001Z"},
        },
    ),
    "entry": (
        entry,
        {
            "PK": {"S": f"USER#{ATHLETE}"},
            "SK": {"S": f"ENTRY#2024-03-09T18:00:00.000Z#{ENTRY}"},
            "entryId": {"S": str(ENTRY)},
            "athleteId": {"S": str(ATHLETE)},
            "createdAt": {"S": "2024-03-09T20:15:30.500Z"},
            "updatedAt": {"S": "2024-03-10T08:00:00.001Z"},
            "sections": {"M": {"private": {"S": "knee hurts"}, "shared": {"S": "armbar from guard"}}},
            "sessionMetrics": {
                "M": {
                    "durationMinutes": {"N": "90"},
                    "intensity": {"N": "7"},
                    "rounds": {"N": "6"},
                    "giOrNoGi": {"S": "no-gi"},
                    "tags": {"L": [{"S": "guard"}]},
                }
            },
        },
        {"version": {"N": "1"}},
    ),
    "comment": (
        comment,
        {
            "PK": {"S": f"ENTRY#{ENTRY}"},
            "SK": {"S": f"COMMENT#2024-03-10T08:00:00.001Z#{COMMENT}"},
            "commentId": {"S": str(COMMENT)},
            "entryId": {"S": str(ENTRY)},
            "coachId": {"S": str(COACH)},
            "createdAt": {"S": "2024-03-10T08:00:00.001Z"},
            "body": {"S": "Keep the elbow tight."},
            "visibility": {"S": "visible"},
        },
        {"version": {"N": "1"}},
    ),
    "AI thread": (
        thread,
        {
            "PK": {"S": f"USER#{ATHLETE}"},
            "SK": {"S": f"AI_THREAD#{THREAD}"},
            "entityType": {"S": "AI_THREAD"},
            "threadId": {"S": str(THREAD)},
            "title": {"S": "Armbars"},
            "createdAt": {"S": "2024-03-09T20:15:30.500Z"},
            "lastActiveAt": {"S": "2024-03-10T08:00:00.001Z"},
        },
        {"scope": {"S": "shared"}},
    ),
    "AI message": (
        question,
        {
            "PK": {"S": f"AI_THREAD#{THREAD}"},
            "SK": {"S": f"MSG#2024-03-10T08:00:00.001Z#{QUESTION}"},
            "entityType": {"S": "AI_MESSAGE"},
            "messageId": {"S": str(QUESTION)},
            "threadId": {"S": str(THREAD)},
            "role": {"S": "user"},
            "content": {"S": "When did I last try an armbar?"},
            "visibilityScope": {"S": "shared"},
            "createdAt": {"S": "2024-03-10T08:00:00.001Z"},
        },
        {},
    ),
    "keyword index": (
        keyword,
        {
            "PK": {"S": f"USER#{ATHLETE}"},
            "SK": {"S": f"KW#arm#TS#2024-03-09T20:15:30.500Z#ENTRY#{ENTRY}"},
            "entityType": {"S": "KEYWORD_INDEX"},
            "entryId": {"S": str(ENTRY)},
            "createdAt": {"S": "2024-03-09T20:15:30.500Z"},
        },
        {},
    ),
    "META": (
        meta,
        {
            "PK": {"S": f"ENTRY#{ENTRY}"},
            "SK": {"S": "META"},
            "athleteId": {"S": str(ATHLETE)},
            "createdAt": {"S": "2024-03-09T20:15:30.500Z"},
        },
        {"date": {"S": "2024-03-09T18:00:00.000Z"}},
    ),
    # From here on the document has nothing.
    "private keyword index": (
        private_keyword,
        {},
        {
            "PK": {"S": f"USER_PRIVATE#{ATHLETE}"},
            "SK": {"S": f"KW#arm#TS#2024-03-09T20:15:30.500Z#ENTRY#{ENTRY}"},
            "entityType": {"S": "PRIVATE_KEYWORD_INDEX"},
            "entryId": {"S": str(ENTRY)},
            "createdAt": {"S": "2024-03-09T20:15:30.500Z"},
        },
    ),
    "mirror of the link": (
        mirror,
        {},
        {
            "PK": {"S": f"USER#{COACH}"},
            "SK": {"S": f"ATHLETE#{ATHLETE}"},
            "status": {"S": "active"},
            "requestedBy": {"S": "athlete"},
            "createdAt": {"S": "2024-03-09T20:15:30.500Z"},
            "updatedAt": {"S": "2024-03-10T08:00:00.001Z"},
        },
    ),
    "answer with citations": (
        answer,
        {},
        {
            "PK": {"S": f"AI_THREAD#{THREAD}"},
            "SK": {"S": f"MSG#2024-03-10T08:00:00.002Z#{ANSWER}"},
            "entityType": {"S": "AI_MESSAGE"},
            "messageId": {"S": str(ANSWER)},
            "threadId": {"S": str(THREAD)},
            "role": {"S": "assistant"},
            "content": {"S": "On 9 March: armbar from guard."},
            "visibilityScope": {"S": "shared"},
            "createdAt": {"S": "2024-03-10T08:00:00.002Z"},
            "citations": {
                "L": [
                    {
                        "M": {
                            "entryId": {"S": str(ENTRY)},
                            "date": {"S": "2024-03-09T18:00:00.000Z"},
                            "quote": {"S": "armbar from guard"},
                        }
                    }
                ]
            },
            "provider": {"S": "embedded"},
        },
    ),
}


@pytest.mark.parametrize(("entity", "listed", "added"), RECORDS.values(), ids=RECORDS)
def test_a_row_has_what_the_document_lists_and_what_we_add(
    entity: Entity, listed: dict[str, Any], added: dict[str, Any]
):
    item = listed | added
    assert plan_of(entity).coding.encode(entity) == item
    assert plan_of(entity).coding.decode(item) == entity


@pytest.mark.parametrize("name", ["comment", "AI thread", "AI message", "keyword index", "entry"])
def test_a_row_with_only_what_the_document_lists_is_read(name: str):
    entity, listed, _ = RECORDS[name]
    assert plan_of(entity).coding.decode(listed) == entity


def test_a_thread_that_does_not_say_its_scope_is_for_the_shared_parts_only():
    _, listed, _ = RECORDS["AI thread"]
    assert plan_of(AIThread).coding.decode(listed).scope == "shared"


# --- a journal to read ---

same_instant = Entry(
    entry_id=ENTRY_OF_THE_SAME_INSTANT,
    athlete_id=ATHLETE,
    created_at=SAID,
    updated_at=SAID,
    # More than a page of 4 KB, so that whoever reads entries can be told by the cost.
    sections=Sections(private="p" * 5_000, shared=""),
    session_metrics=entry.session_metrics,
    date=TRAINED,
)
backdated = Entry(
    entry_id=BACKDATED_ENTRY,
    athlete_id=ATHLETE,
    created_at=SAID,
    updated_at=SAID,
    sections=Sections(shared="the first time"),
    session_metrics=SessionMetrics(duration_minutes=60, intensity=3, rounds=0, gi_or_no_gi="gi"),
    date=TRAINED_LONG_AGO,
)
hidden_comment = Comment(
    comment_id=UUID("20000000-0000-4000-8000-000000000000"),
    entry_id=ENTRY,
    coach_id=ANOTHER,
    created_at=SAID.replace(microsecond=2_000),
    body="Later, though its id is smaller.",
    visibility="hiddenByAthlete",
    version=2,
)
second_coach = CoachAthleteLink(
    athlete_id=ATHLETE, coach_id=ANOTHER, requested_by="coach", created_at=SAID, updated_at=SAID
)
second_athlete = AthleteCoachLink(
    coach_id=COACH, athlete_id=ANOTHER, status="revoked", requested_by="coach", created_at=SAID, updated_at=SAID
)
later_keyword = KeywordIndex(entry_id=BACKDATED_ENTRY, created_at=SAID, athlete_id=ATHLETE, token="arm")
longer_word = KeywordIndex(entry_id=ENTRY, created_at=WRITTEN, athlete_id=ATHLETE, token="armbar")
later_private_keyword = PrivateKeywordIndex(entry_id=BACKDATED_ENTRY, created_at=SAID, athlete_id=ATHLETE, token="arm")
longer_private_word = PrivateKeywordIndex(entry_id=ENTRY, created_at=WRITTEN, athlete_id=ATHLETE, token="armbar")
# The same kinds of rows of someone else: no answer about the athlete may have any of it.
STRANGERS: list[Entity] = [
    UserProfile(user_id=ANOTHER, name="Bo", created_at=SAID),
    Entry(
        entry_id=ANOTHER,
        athlete_id=ANOTHER,
        created_at=SAID,
        updated_at=SAID,
        sections=Sections(),
        session_metrics=entry.session_metrics,
        date=TRAINED,
    ),
    EntryMeta(athlete_id=ANOTHER, created_at=SAID, entry_id=ANOTHER, date=TRAINED),
    KeywordIndex(entry_id=ANOTHER, created_at=SAID, athlete_id=ANOTHER, token="arm"),
]
STORED: list[Entity] = [
    *(entity for entity, _, _ in RECORDS.values()),
    *(same_instant, backdated, hidden_comment, second_coach, second_athlete),
    *(later_keyword, longer_word, later_private_keyword, longer_private_word),
]


# --- every access pattern ---


@dataclass(frozen=True)
class Case:
    name: str
    asked: Ref[Any] | Query[Any] | Gather[Any]
    operation: str
    body: dict[str, Any]
    answer: Any
    read_units: float

    @property
    def pattern(self) -> str:
        if isinstance(self.asked, Ref):
            return self.asked.pattern
        return (self.asked.query if isinstance(self.asked, Gather) else self.asked).pattern.name


def item_asked(partition: str, sort: str) -> dict[str, Any]:
    return {"Key": {"PK": {"S": partition}, "SK": {"S": sort}}}


def rows_asked(partition: str, condition: str, *sort: str) -> dict[str, Any]:
    values = {":PK": {"S": partition}, ":SK": {"S": sort[0]}}
    if len(sort) == 2:
        values[":SK_2"] = {"S": sort[1]}
    return {
        "KeyConditionExpression": f"#PK = :PK AND {condition}",
        "ExpressionAttributeNames": {"#PK": "PK", "#SK": "SK"},
        "ExpressionAttributeValues": values,
    }


BEGINS = "begins_with(#SK, :SK)"
BETWEEN = "#SK BETWEEN :SK AND :SK_2"
CONSISTENT = {"ConsistentRead": True}
NEWEST_FIRST = {"ScanIndexForward": False}
MARCH, APRIL = datetime(2024, 3, 1, tzinfo=UTC), datetime(2024, 4, 1, tzinfo=UTC)

CASES = [
    Case(
        "whose profile is this",
        UserProfile.one(ATHLETE),
        "GetItem",
        item_asked(f"USER#{ATHLETE}", "PROFILE") | CONSISTENT,
        profile,
        1.0,
    ),
    Case(
        "is this coach linked",
        CoachAthleteLink.one(ATHLETE, COACH),
        "GetItem",
        item_asked(f"USER#{ATHLETE}", f"COACH#{COACH}") | CONSISTENT,
        link,
        1.0,
    ),
    Case(
        "an athlete's coaches",
        CoachAthleteLink.of_athlete(ATHLETE),
        "Query",
        rows_asked(f"USER#{ATHLETE}", BEGINS, "COACH#") | CONSISTENT,
        [link, second_coach],
        1.0,
    ),
    # 5 KB of text and a little more, consistently: two units.
    Case(
        "an athlete's entries",
        Entry.of_athlete(ATHLETE),
        "Query",
        rows_asked(f"USER#{ATHLETE}", BEGINS, "ENTRY#") | NEWEST_FIRST | CONSISTENT,
        [same_instant, entry, backdated],
        2.0,
    ),
    Case(
        "the entries of a month",
        Entry.in_time(ATHLETE, between(MARCH, APRIL)),
        "Query",
        rows_asked(f"USER#{ATHLETE}", BETWEEN, "ENTRY#2024-03-01T00:00:00.000Z", "ENTRY#2024-04-01T00:00:00.000Z$")
        | NEWEST_FIRST
        | CONSISTENT,
        [same_instant, entry],
        2.0,
    ),
    Case(
        "the entries since a moment, which is in it",
        Entry.in_time(ATHLETE, at_least(TRAINED)),
        "Query",
        rows_asked(f"USER#{ATHLETE}", BETWEEN, "ENTRY#2024-03-09T18:00:00.000Z", "ENTRY$") | NEWEST_FIRST | CONSISTENT,
        [same_instant, entry],
        2.0,
    ),
    # What is not in the time is not read: half the rows, one unit.
    Case(
        "the entries before a moment, which is not in it",
        Entry.in_time(ATHLETE, less_than(TRAINED)),
        "Query",
        rows_asked(f"USER#{ATHLETE}", BETWEEN, "ENTRY#", "ENTRY#2024-03-09T17:59:59.999Z$") | NEWEST_FIRST | CONSISTENT,
        [backdated],
        1.0,
    ),
    Case(
        "one entry",
        Entry.one(ATHLETE, TRAINED, ENTRY),
        "GetItem",
        item_asked(f"USER#{ATHLETE}", f"ENTRY#2024-03-09T18:00:00.000Z#{ENTRY}") | CONSISTENT,
        entry,
        1.0,
    ),
    Case(
        "the comments that are left",
        Comment.of_entry(ENTRY),
        "Query",
        rows_asked(f"ENTRY#{ENTRY}", BEGINS, "COMMENT#") | CONSISTENT,
        [comment, hidden_comment],
        1.0,
    ),
    Case(
        "is this the caller's thread",
        AIThread.one(ATHLETE, THREAD),
        "GetItem",
        item_asked(f"USER#{ATHLETE}", f"AI_THREAD#{THREAD}") | CONSISTENT,
        thread,
        1.0,
    ),
    Case(
        "a person's threads",
        AIThread.of_user(ATHLETE),
        "Query",
        rows_asked(f"USER#{ATHLETE}", BEGINS, "AI_THREAD#") | CONSISTENT,
        [thread],
        1.0,
    ),
    # One millisecond apart, and the answer's id is the smaller.
    Case(
        "a thread's messages in order",
        AIMessage.in_thread(THREAD),
        "Query",
        rows_asked(f"AI_THREAD#{THREAD}", BEGINS, "MSG#") | CONSISTENT,
        [question, answer],
        1.0,
    ),
    Case(
        "entries with a shared word",
        KeywordIndex.of_token(ATHLETE, "arm"),
        "Query",
        rows_asked(f"USER#{ATHLETE}", BEGINS, "KW#arm#TS#") | NEWEST_FIRST,
        [later_keyword, keyword],
        0.5,
    ),
    Case(
        "all shared words",
        KeywordIndex.of_athlete(ATHLETE),
        "Query",
        rows_asked(f"USER#{ATHLETE}", BEGINS, "KW#"),
        [keyword, later_keyword, longer_word],
        0.5,
    ),
    Case(
        "entries with a private word",
        PrivateKeywordIndex.of_token(ATHLETE, "arm"),
        "Query",
        rows_asked(f"USER_PRIVATE#{ATHLETE}", BEGINS, "KW#arm#TS#") | NEWEST_FIRST,
        [later_private_keyword, private_keyword],
        0.5,
    ),
    Case(
        "all private words",
        PrivateKeywordIndex.of_athlete(ATHLETE),
        "Query",
        rows_asked(f"USER_PRIVATE#{ATHLETE}", BEGINS, "KW#"),
        [private_keyword, later_private_keyword, longer_private_word],
        0.5,
    ),
    Case(
        "whose entry is this",
        EntryMeta.one(ENTRY),
        "GetItem",
        item_asked(f"ENTRY#{ENTRY}", "META") | CONSISTENT,
        meta,
        1.0,
    ),
    Case(
        "the mirror of a link",
        AthleteCoachLink.one(COACH, ATHLETE),
        "GetItem",
        item_asked(f"USER#{COACH}", f"ATHLETE#{ATHLETE}"),
        mirror,
        0.5,
    ),
    Case(
        "a coach's athletes",
        AthleteCoachLink.of_coach(COACH),
        "Query",
        rows_asked(f"USER#{COACH}", BEGINS, "ATHLETE#") | CONSISTENT,
        [mirror, second_athlete],
        1.0,
    ),
    Case(
        "an entry's META and comments",
        EntryWithComments.of(ENTRY),
        "Query",
        rows_asked(f"ENTRY#{ENTRY}", BETWEEN, "COMMENT#", "META") | CONSISTENT,
        EntryWithComments(meta=meta, comments=[comment, hidden_comment]),
        1.0,
    ),
]


def rows_in(answer: Any) -> int:
    if isinstance(answer, EntryWithComments):
        return 1 + len(answer.comments)
    return len(answer) if isinstance(answer, list) else 1


def test_every_access_pattern_has_its_case():
    assert {case.pattern for case in CASES} == {pattern.name for pattern in roll_model.patterns}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_question_is_asked_like_this(case: Case):
    assert case.asked.request() == Request(case.operation, {"TableName": "RollModel", **case.body})


class Stored(NamedTuple):
    store: Store
    recording: Recording
    engine: str


@pytest_asyncio.fixture(params=BOTH, scope="module", loop_scope="module")
async def stored(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stored]:
    """A store that holds a journal and a stranger's; who writes to it writes to a third."""
    async with recorded_store(request.param, tmp_path_factory.mktemp("journal"), roll_model) as (store, recording):
        for entity in STORED + STRANGERS:
            await store.put(entity, when=absent)
        yield Stored(store, recording, request.param)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_a_question_takes_one_call_and_reads_only_what_it_returns(case: Case, stored: Stored):
    store, recording, _ = stored
    with recording.scope() as calls:
        match case.asked:
            case Ref() as asked:
                answer = await store.get(asked)
            case Gather() as asked:
                answer = await store.gather(asked)
            case asked:
                answer = await store.all(asked)
    assert answer == case.answer
    assert calls.operations == [case.operation]
    assert calls[0].items == rows_in(case.answer)
    assert calls.read_units == case.read_units


# --- the document's questions that take several patterns ---


@pytest.mark.asyncio(loop_scope="module")
async def test_whether_a_coach_may_comment_takes_two_consistent_reads(stored: Stored):
    store, recording, _ = stored
    with recording.scope() as calls:
        found = await store.one(EntryMeta.one(ENTRY))
        permission = await store.one(CoachAthleteLink.one(found.athlete_id, COACH))
    assert permission.status == "active"
    assert calls.operations == ["GetItem", "GetItem"]
    assert calls.read_units == 2.0


@pytest.mark.asyncio(loop_scope="module")
async def test_an_entry_is_found_by_its_id_together_with_the_coachs_link(stored: Stored):
    store, recording, _ = stored
    with recording.scope() as calls:
        found = await store.one(EntryMeta.one(ENTRY))
        wanted: list[Ref[Any]] = [
            CoachAthleteLink.one(found.athlete_id, COACH),
            Entry.one(found.athlete_id, found.date, ENTRY),
        ]
        assert await store.get_many(wanted) == [link, entry]
    assert calls.operations == ["GetItem", "BatchGetItem"]
    assert calls.read_units == 3.0


@pytest.mark.asyncio(loop_scope="module")
async def test_an_export_takes_one_call_for_the_entries_and_one_for_each_of_them(stored: Stored):
    store, recording, _ = stored
    with recording.scope() as calls:
        entries = await store.all(Entry.of_athlete(ATHLETE))
        comments = [each for one in entries for each in await store.all(Comment.of_entry(one.entry_id))]
    assert comments == [comment, hidden_comment]
    assert calls.operations == ["Query"] * (1 + len(entries))


# --- what is written together ---


@pytest.mark.asyncio(loop_scope="module")
async def test_an_edit_changes_the_entry_and_its_words_in_one_transaction(stored: Stored):
    store, recording, engine = stored
    mine = {"athlete_id": WRITER, "entry_id": ENTRY}
    before = msgspec.structs.replace(entry, **mine)
    old_word = KeywordIndex(**mine, created_at=WRITTEN, token="armbar")
    new_word = KeywordIndex(**mine, created_at=WRITTEN, token="kimura")
    await store.transact(put(before, when=absent), put(old_word))
    sections = Sections(private="knee hurts", shared="kimura from guard")
    with recording.scope() as calls:
        await store.transact(
            update(before, the(Entry.sections).becomes(sections), the(Entry.updated_at).becomes(SAID)),
            delete(old_word),
            put(new_word),
        )
    assert calls.operations == ["TransactWriteItems"]
    # Two units for each of three small rows; DynamoDB Local says two for all together.
    assert calls.write_units == (2.0 if engine == LOCAL else 6.0)
    after = await store.one(Entry.one(WRITER, TRAINED, ENTRY))
    assert (after.sections, after.version) == (sections, 2)
    assert await store.all(KeywordIndex.of_athlete(WRITER)) == [new_word]


@pytest.mark.asyncio(loop_scope="module")
async def test_an_edit_of_an_entry_that_changed_meanwhile_leaves_its_words_alone(stored: Stored):
    store, *_ = stored
    mine = {"athlete_id": WRITER, "entry_id": BACKDATED_ENTRY}
    before = msgspec.structs.replace(entry, **mine, date=TRAINED_LONG_AGO)
    await store.put(before, when=absent)
    await store.update(before, the(Entry.updated_at).becomes(SAID))
    stale_word = KeywordIndex(**mine, created_at=WRITTEN, token="stale")
    with pytest.raises(VersionConflict) as refused:
        await store.transact(put(stale_word), update(before, the(Entry.sections).becomes(Sections())))
    assert refused.value.position == 1
    assert refused.value.current.version == 2
    assert await store.all(KeywordIndex.of_token(WRITER, "stale")) == []


@pytest.mark.asyncio(loop_scope="module")
async def test_an_entry_moves_to_another_date_together_with_its_meta(stored: Stored):
    store, recording, _ = stored
    mine = {"athlete_id": WRITER, "entry_id": ENTRY_OF_THE_SAME_INSTANT}
    before = msgspec.structs.replace(entry, **mine)
    where = msgspec.structs.replace(meta, **mine)
    await store.transact(put(before, when=absent), put(where, when=absent))
    moved = msgspec.structs.replace(before, date=MARCH, version=before.version + 1)
    with recording.scope() as calls:
        await store.transact(
            delete(before, when=present), put(moved, when=absent), update(where, the(EntryMeta.date).becomes(MARCH))
        )
    assert calls.operations == ["TransactWriteItems"]
    found = await store.one(EntryMeta.one(ENTRY_OF_THE_SAME_INSTANT))
    assert await store.get(Entry.one(WRITER, found.date, ENTRY_OF_THE_SAME_INSTANT)) == moved
    assert await store.get(Entry.one(WRITER, TRAINED, ENTRY_OF_THE_SAME_INSTANT)) is None


@pytest.mark.asyncio(loop_scope="module")
async def test_a_link_and_its_mirror_are_accepted_together_and_only_while_pending(stored: Stored):
    store, recording, _ = stored
    theirs = {"athlete_id": WRITER, "coach_id": COACH_OF_WRITER, "status": "pending"}
    asked, mirrored = msgspec.structs.replace(link, **theirs), msgspec.structs.replace(mirror, **theirs)
    await store.transact(put(asked, when=absent), put(mirrored, when=absent))
    accept = (
        update(
            CoachAthleteLink.one(WRITER, COACH_OF_WRITER),
            the(CoachAthleteLink.status).becomes("active"),
            when=the(CoachAthleteLink.status) == "pending",
        ),
        update(AthleteCoachLink.one(COACH_OF_WRITER, WRITER), the(AthleteCoachLink.status).becomes("active")),
    )
    with recording.scope() as calls:
        await store.transact(*accept)
    assert calls.operations == ["TransactWriteItems"]
    assert (await store.one(CoachAthleteLink.one(WRITER, COACH_OF_WRITER))).status == "active"
    assert [each.status for each in await store.all(AthleteCoachLink.of_coach(COACH_OF_WRITER))] == ["active"]
    with pytest.raises(ConditionFailed):
        await store.transact(*accept)


# --- bounds ---

METRICS = {"duration_minutes": 90, "intensity": 7, "rounds": 6, "gi_or_no_gi": "gi"}
BEYOND_THE_BOUNDS: dict[str, dict[str, Any]] = {
    "no minutes": {"session_metrics": SessionMetrics(**METRICS | {"duration_minutes": 0})},
    "more minutes than a day has": {"session_metrics": SessionMetrics(**METRICS | {"duration_minutes": 1_441})},
    "intensity above ten": {"session_metrics": SessionMetrics(**METRICS | {"intensity": 11})},
    "too many rounds": {"session_metrics": SessionMetrics(**METRICS | {"rounds": 101})},
    "a kind of training there is not": {"session_metrics": SessionMetrics(**METRICS | {"gi_or_no_gi": "nogi"})},
    "an empty tag": {"session_metrics": SessionMetrics(**METRICS, tags=[""])},
    "a tag too long": {"session_metrics": SessionMetrics(**METRICS, tags=["x" * 41])},
    "too many tags": {"session_metrics": SessionMetrics(**METRICS, tags=["x"] * 21)},
    "private text too long": {"sections": Sections(private="x" * 20_001)},
    "shared text too long": {"sections": Sections(shared="x" * 20_001)},
}


@pytest.mark.parametrize("change", BEYOND_THE_BOUNDS.values(), ids=BEYOND_THE_BOUNDS)
def test_an_entry_beyond_its_bounds_is_not_stored(change: dict[str, Any]):
    (field,) = change
    with pytest.raises(InvalidValue, match=rf"Entry\.{field}"):
        plan_of(Entry).coding.encode(msgspec.structs.replace(entry, **change))


def test_a_word_with_separators_in_it_cannot_pose_as_another_ones_rows():
    written = plan_of(KeywordIndex).coding.encode(msgspec.structs.replace(keyword, token="arm#TS#2024"))
    assert not written["SK"]["S"].startswith("KW#arm#TS#")
    assert plan_of(KeywordIndex).coding.decode(written).token == "arm#TS#2024"
