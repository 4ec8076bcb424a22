"""The journal's table: its rows to the byte, every access pattern, and what is written together."""

from datetime import UTC, datetime
from uuid import UUID

from msgspec.structs import replace

from potluck.apps.journal.entities import (
    AIMessage,
    AIThread,
    AthleteCoachLink,
    Citation,
    CoachAthleteLink,
    Comment,
    CommentKeywordIndex,
    Entry,
    EntryMeta,
    EntryWithComments,
    KeywordIndex,
    Link,
    PrivateKeywordIndex,
    Sections,
    SessionMetrics,
    SharedWord,
    UserProfile,
    UserRow,
    roll_model,
)
from potluck.table import (
    Entity,
    Range,
)
from potluck.table.entity import plan_of
from tests.access_cases import AccessPatterns, Case, Requests
from tests.golden_rows import Golden, GoldenRows, unswept_store
from tests.store_fixtures import filled_store, new_store

ATHLETE = UUID("00000000-0000-4000-8000-00000000000a")
COACH = UUID("00000000-0000-4000-8000-00000000000c")
ANOTHER = UUID("00000000-0000-4000-8000-0000000000ff")
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

# --- a journal to read ------------------------------------------------------------------------------------------------

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
# The athlete coaches someone too.
own_athlete = AthleteCoachLink(
    coach_id=ATHLETE, athlete_id=ANOTHER, requested_by="athlete", created_at=SAID, updated_at=SAID
)
later_keyword = KeywordIndex(entry_id=BACKDATED_ENTRY, created_at=SAID, athlete_id=ATHLETE, token="arm")
comment_keyword = CommentKeywordIndex(
    entry_id=ENTRY,
    created_at=SAID.replace(microsecond=2_000),
    comment_id=COMMENT,
    athlete_id=ATHLETE,
    token="arm",
)
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
ROWS: list[Entity] = [
    *(profile, link, entry, comment, thread, question, keyword, meta, private_keyword, mirror, answer),
    *(same_instant, backdated, hidden_comment, second_coach, second_athlete),
    *(later_keyword, comment_keyword, longer_word, later_private_keyword, longer_private_word),
    own_athlete,
    *STRANGERS,
]


OF_ATHLETE, OF_ENTRY, OF_THREAD = f"USER#{ATHLETE}", f"ENTRY#{ENTRY}", f"AI_THREAD#{THREAD}"

filled = filled_store(roll_model, rows=ROWS)
new = new_store(roll_model)
unswept = unswept_store(roll_model)


# --- rows to the byte: what the document lists of each entity, and what we add to it ---------------------------------

WRITTEN_AT, SAID_AT, TRAINED_AT = "2024-03-09T20:15:30.500Z", "2024-03-10T08:00:00.001Z", "2024-03-09T18:00:00.000Z"
OF_LINK = {"status": "active", "requestedBy": "athlete", "createdAt": WRITTEN_AT, "updatedAt": SAID_AT}

RECORDS = {
    "User profile": Golden(
        profile,
        UserProfile.one(ATHLETE),
        {"PK": OF_ATHLETE, "SK": "PROFILE"},
        ours={
            "userId": str(ATHLETE),
            "name": "Ada",
            "timeZone": "Europe/Paris",
            "aiConsent": False,
            "createdAt": WRITTEN_AT,
            "version": 1,
        },
        whole=False,
    ),
    "Coach-athlete link": Golden(
        link,
        CoachAthleteLink.by_id(ATHLETE, COACH),
        {"PK": OF_ATHLETE, "SK": f"COACH#{COACH}"},
        ours=OF_LINK,
        whole=False,
    ),
    "Entry": Golden(
        entry,
        Entry.one(ATHLETE, TRAINED, ENTRY),
        {
            "PK": OF_ATHLETE,
            "SK": f"ENTRY#{TRAINED_AT}#{ENTRY}",
            "entryId": str(ENTRY),
            "athleteId": str(ATHLETE),
            "createdAt": WRITTEN_AT,
            "updatedAt": SAID_AT,
            "sections": {"private": "knee hurts", "shared": "armbar from guard"},
            "sessionMetrics": {
                "durationMinutes": 90,
                "intensity": 7,
                "rounds": 6,
                "giOrNoGi": "no-gi",
                "tags": ["guard"],
            },
        },
        ours={"version": 1, "comments": 0},
    ),
    "Comment": Golden(
        comment,
        Comment.of_entry(ENTRY),
        {
            "PK": OF_ENTRY,
            "SK": f"COMMENT#{SAID_AT}#{COMMENT}",
            "commentId": str(COMMENT),
            "entryId": str(ENTRY),
            "coachId": str(COACH),
            "createdAt": SAID_AT,
            "body": "Keep the elbow tight.",
            "visibility": "visible",
        },
        ours={"version": 1},
    ),
    "AI thread": Golden(
        thread,
        AIThread.one(ATHLETE, THREAD),
        {
            "PK": OF_ATHLETE,
            "SK": f"AI_THREAD#{THREAD}",
            "entityType": "AI_THREAD",
            "threadId": str(THREAD),
            "title": "Armbars",
            "createdAt": WRITTEN_AT,
            "lastActiveAt": SAID_AT,
        },
        # A thread that does not say is for the shared parts only.
        ours={"scope": "shared"},
    ),
    "AI message": Golden(
        question,
        AIMessage.in_thread(THREAD),
        {
            "PK": OF_THREAD,
            "SK": f"MSG#{SAID_AT}#{QUESTION}",
            "entityType": "AI_MESSAGE",
            "messageId": str(QUESTION),
            "threadId": str(THREAD),
            "role": "user",
            "content": "When did I last try an armbar?",
            "visibilityScope": "shared",
            "createdAt": SAID_AT,
        },
    ),
    "Keyword index": Golden(
        keyword,
        SharedWord.of_token(ATHLETE, "arm"),
        {
            "PK": OF_ATHLETE,
            "SK": f"KW#arm#TS#{WRITTEN_AT}#ENTRY#{ENTRY}",
            "entityType": "KEYWORD_INDEX",
            "entryId": str(ENTRY),
            "createdAt": WRITTEN_AT,
        },
    ),
    "META": Golden(
        meta,
        EntryMeta.one(ENTRY),
        {"PK": OF_ENTRY, "SK": "META", "athleteId": str(ATHLETE), "createdAt": WRITTEN_AT},
        # Without it nobody could find an entry by its id.
        ours={"date": TRAINED_AT},
        whole=False,
    ),
    # From here on the document has nothing.
    "an answer with citations": Golden(
        answer,
        AIMessage.in_thread(THREAD),
        {
            "PK": OF_THREAD,
            "SK": f"MSG#2024-03-10T08:00:00.002Z#{ANSWER}",
            "entityType": "AI_MESSAGE",
            "messageId": str(ANSWER),
            "threadId": str(THREAD),
            "role": "assistant",
            "content": "On 9 March: armbar from guard.",
            "visibilityScope": "shared",
            "createdAt": "2024-03-10T08:00:00.002Z",
            "citations": [{"entryId": str(ENTRY), "date": TRAINED_AT, "quote": "armbar from guard"}],
            "provider": "embedded",
        },
    ),
    "a private word": Golden(
        private_keyword,
        PrivateKeywordIndex.of_token(ATHLETE, "arm"),
        {
            "PK": f"USER_PRIVATE#{ATHLETE}",
            "SK": f"KW#arm#TS#{WRITTEN_AT}#ENTRY#{ENTRY}",
            "entityType": "PRIVATE_KEYWORD_INDEX",
            "entryId": str(ENTRY),
            "createdAt": WRITTEN_AT,
        },
    ),
    "a word of a comment": Golden(
        comment_keyword,
        SharedWord.of_token(ATHLETE, "arm"),
        {
            "PK": OF_ATHLETE,
            "SK": f"KW#arm#TS#2024-03-10T08:00:00.002Z#ENTRY#{ENTRY}#COMMENT#{COMMENT}",
            "entityType": "COMMENT_KEYWORD_INDEX",
            "entryId": str(ENTRY),
            "createdAt": "2024-03-10T08:00:00.002Z",
            "commentId": str(COMMENT),
        },
    ),
    "the mirror of the link": Golden(
        mirror,
        AthleteCoachLink.one(COACH, ATHLETE),
        {"PK": f"USER#{COACH}", "SK": f"ATHLETE#{ATHLETE}", **OF_LINK},
    ),
}


class TestRows(GoldenRows):
    tables = (roll_model,)
    records = RECORDS


def test_a_word_with_separators_in_it_cannot_pose_as_another_ones_rows():
    written = plan_of(KeywordIndex).coding.encode(replace(keyword, token="arm#TS#2024"))
    assert not written["SK"]["S"].startswith("KW#arm#TS#")
    assert plan_of(KeywordIndex).coding.decode(written).token == "arm#TS#2024"


# --- access patterns -------------------------------------------------------------------------------------------------

sent = Requests("RollModel")
MARCH, APRIL = datetime(2024, 3, 1, tzinfo=UTC), datetime(2024, 4, 1, tzinfo=UTC)

CASES = [
    # The document's, by its numbers
    # 1 and 2. 5 KB of text and a little more, consistently: two units.
    Case(
        Entry.of_athlete(ATHLETE),
        sent.query(OF_ATHLETE, begins_with="ENTRY#", newest_first=True),
        [same_instant, entry, backdated],
        2.0,
    ),
    # 3
    Case(EntryMeta.one(ENTRY), sent.get_item(OF_ENTRY, "META"), meta, 1.0),
    Case(CoachAthleteLink.by_id(ATHLETE, COACH), sent.get_item(OF_ATHLETE, f"COACH#{COACH}"), link, 1.0),
    # 4
    Case(
        EntryWithComments.of(ENTRY),
        sent.query(OF_ENTRY, between=("COMMENT#", "META")),
        EntryWithComments(meta=meta, comments=[comment, hidden_comment]),
        1.0,
    ),
    # 5. One millisecond apart, and the answer's id is the smaller.
    Case(AIMessage.in_thread(THREAD), sent.query(OF_THREAD, begins_with="MSG#"), [question, answer], 1.0),
    # 6
    Case(
        SharedWord.of_token(ATHLETE, "arm"),
        sent.query(OF_ATHLETE, begins_with="KW#arm#TS#", newest_first=True, consistent=False),
        [comment_keyword, later_keyword, keyword],
        0.5,
    ),
    # Ours
    Case(
        KeywordIndex.one(ATHLETE, "arm", WRITTEN, ENTRY),
        sent.get_item(OF_ATHLETE, f"KW#arm#TS#{WRITTEN_AT}#ENTRY#{ENTRY}"),
        keyword,
        1.0,
    ),
    Case(
        PrivateKeywordIndex.one(ATHLETE, "arm", WRITTEN, ENTRY),
        sent.get_item(f"USER_PRIVATE#{ATHLETE}", f"KW#arm#TS#{WRITTEN_AT}#ENTRY#{ENTRY}"),
        private_keyword,
        1.0,
    ),
    Case(
        CommentKeywordIndex.one(ATHLETE, "arm", SAID.replace(microsecond=2_000), ENTRY, COMMENT),
        sent.get_item(OF_ATHLETE, f"KW#arm#TS#2024-03-10T08:00:00.002Z#ENTRY#{ENTRY}#COMMENT#{COMMENT}"),
        comment_keyword,
        1.0,
    ),
    Case(Comment.one(ENTRY, SAID, COMMENT), sent.get_item(OF_ENTRY, f"COMMENT#{SAID_AT}#{COMMENT}"), comment, 1.0),
    Case(UserProfile.one(ATHLETE), sent.get_item(OF_ATHLETE, "PROFILE"), profile, 1.0),
    Case(
        Entry.in_time(ATHLETE, Range(MARCH, APRIL)),
        sent.query(
            OF_ATHLETE,
            between=("ENTRY#2024-03-01T00:00:00.000Z", "ENTRY#2024-04-01T00:00:00.000Z$"),
            newest_first=True,
        ),
        [same_instant, entry],
        2.0,
        about="a month",
    ),
    Case(
        Entry.in_time(ATHLETE, Range(TRAINED)),
        sent.query(OF_ATHLETE, between=(f"ENTRY#{TRAINED_AT}", "ENTRY$"), newest_first=True),
        [same_instant, entry],
        2.0,
        about="since a moment, which is in it",
    ),
    # What is not in the time is not read: one unit.
    Case(
        Entry.in_time(ATHLETE, Range(high=TRAINED, high_open=True)),
        sent.query(OF_ATHLETE, between=("ENTRY#", "ENTRY#2024-03-09T17:59:59.999Z$"), newest_first=True),
        [backdated],
        1.0,
        about="before a moment, which is not in it",
    ),
    Case(Entry.one(ATHLETE, TRAINED, ENTRY), sent.get_item(OF_ATHLETE, f"ENTRY#{TRAINED_AT}#{ENTRY}"), entry, 1.0),
    Case(Comment.of_entry(ENTRY), sent.query(OF_ENTRY, begins_with="COMMENT#"), [comment, hidden_comment], 1.0),
    Case(AIThread.one(ATHLETE, THREAD), sent.get_item(OF_ATHLETE, f"AI_THREAD#{THREAD}"), thread, 1.0),
    Case(AIThread.of_user(ATHLETE), sent.query(OF_ATHLETE, begins_with="AI_THREAD#"), [thread], 1.0),
    Case(
        PrivateKeywordIndex.of_token(ATHLETE, "arm"),
        sent.query(f"USER_PRIVATE#{ATHLETE}", begins_with="KW#arm#TS#", newest_first=True, consistent=False),
        [later_private_keyword, private_keyword],
        0.5,
    ),
    Case(
        PrivateKeywordIndex.of_athlete(ATHLETE),
        sent.query(f"USER_PRIVATE#{ATHLETE}", begins_with="KW#"),
        [private_keyword, later_private_keyword, longer_private_word],
        1.0,
    ),
    Case(
        AthleteCoachLink.one(COACH, ATHLETE),
        sent.get_item(f"USER#{COACH}", f"ATHLETE#{ATHLETE}", consistent=False),
        mirror,
        0.5,
    ),
    Case(
        AthleteCoachLink.of_coach(COACH),
        sent.query(f"USER#{COACH}", begins_with="ATHLETE#"),
        [mirror, second_athlete],
        1.0,
    ),
    Case(
        Link.of_user(ATHLETE),
        sent.query(OF_ATHLETE, between=("ATHLETE#", "COACH$")),
        [own_athlete, link, second_coach],
        1.0,
    ),
    Case(
        UserRow.of_user(ATHLETE),
        sent.query(OF_ATHLETE, between=("AI_THREAD#", "PROFILE")),
        [
            *(thread, own_athlete, link, second_coach, backdated, entry, same_instant),
            *(keyword, later_keyword, comment_keyword, longer_word, profile),
        ],
        2.0,
    ),
]


class TestAccessPatterns(AccessPatterns):
    tables = (roll_model,)
    cases = CASES
