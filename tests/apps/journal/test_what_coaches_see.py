"""The fields of a session that coaches see. Their view shows the metrics whole, so a new metric is theirs too."""

from msgspec import Struct

from potluck.apps.journal.entities import Entry, SessionMetrics
from potluck.apps.journal.entries import SharedEntryView, SharedSections
from tests.apps.journal.gym import Gym

SHOWN = {"duration_minutes", "intensity", "rounds", "gi_or_no_gi", "tags"}


def names(kind: type[Struct]) -> set[str]:
    return set(kind.__struct_fields__)


def test_coaches_see_exactly_these_metrics():
    assert names(SessionMetrics) == SHOWN, (
        "Coaches see every field of SessionMetrics. If they may see this one, add it to SHOWN; what only the athlete"
        " may see is a field of Entry, in EntryView alone."
    )


def test_of_an_entry_coaches_see_exactly_these_fields():
    assert names(SharedEntryView) & names(Entry) == {
        *("entry_id", "athlete_id", "date", "created_at", "sections", "session_metrics", "comments")
    }, "SharedEntryView is what a coach sees of an entry: add only what the athlete shares."
    assert names(SharedSections) == {"shared"}


async def test_a_coach_gets_these_metrics_and_no_others(embedded_gym: Gym):
    mara, renzo = await embedded_gym.coached()
    entry = await embedded_gym.add_entry(mara, shared="Armbar", private="Knee")
    shown = await embedded_gym.get(f"/entries/{entry['entryId']}", renzo)
    assert shown["sections"] == {"shared": "Armbar"}
    sent_as = dict(zip(SessionMetrics.__struct_fields__, SessionMetrics.__struct_encode_fields__, strict=True))
    assert set(shown["sessionMetrics"]) == {sent_as[name] for name in SHOWN}
