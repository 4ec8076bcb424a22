"""Statistics: equal to a recount, by the caller's own days, also when the clocks change."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potluck.apps.journal.aggregation import CountedSession, statistics_of
from potluck.apps.journal.entities import SessionMetrics
from potluck.apps.journal.times import span_of
from tests.apps.journal.gym import Gym, data, problem

ZONES = ("UTC", "Europe/Lisbon", "America/New_York", "Asia/Kolkata", "Pacific/Apia", "Australia/Lord_Howe")


def metrics(minutes: int = 60, intensity: int = 5, **more) -> SessionMetrics:
    said = {"rounds": 3, "gi_or_no_gi": "gi", "tags": []} | more
    return SessionMetrics(duration_minutes=minutes, intensity=intensity, **said)


def at(text: str, zone: str = "UTC") -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


@pytest.mark.parametrize(
    ("zone", "local", "day"),
    [
        # Half an hour before midnight, on the day that has 23 hours and on the one that has 25.
        ("Europe/Lisbon", "2039-03-27T23:30", date(2039, 3, 27)),
        ("Europe/Lisbon", "2039-10-30T23:30", date(2039, 10, 30)),
        ("America/New_York", "2039-03-13T23:30", date(2039, 3, 13)),
        ("America/New_York", "2039-11-06T00:30", date(2039, 11, 6)),
        # Clocks go forward at midnight, which therefore does not happen.
        ("America/Santiago", "2039-09-04T01:30", date(2039, 9, 4)),
        ("Pacific/Kiritimati", "2039-01-01T00:00", date(2039, 1, 1)),
    ],
)
def test_a_session_counts_on_the_day_it_was_there(zone: str, local: str, day: date):
    moment, there = at(local, zone), ZoneInfo(zone)
    first, last = span_of(day, day, there)
    assert first <= moment <= last
    found = statistics_of([CountedSession(moment, metrics())], day, day, there, zone)
    assert [each.begins for each in found.days] == [day]
    assert found.total.sessions == 1
    for other in (day - timedelta(days=1), day + timedelta(days=1)):
        first, last = span_of(other, other, there)
        assert not first <= moment <= last
        assert statistics_of([CountedSession(moment, metrics())], other, other, there, zone).total.sessions == 0


@given(
    st.lists(
        st.builds(
            CountedSession,
            st.datetimes(datetime(2039, 1, 1), datetime(2039, 12, 31), timezones=st.just(UTC)),
            st.builds(
                metrics,
                st.integers(1, 1440),
                st.integers(1, 10),
                rounds=st.integers(0, 100),
                gi_or_no_gi=st.sampled_from(["gi", "no-gi", "both"]),
                tags=st.lists(st.sampled_from("abc"), unique=True),
            ),
        ),
        max_size=40,
    ),
    st.sampled_from(ZONES),
)
def test_statistics_of_equals_a_recount(sessions: list[CountedSession], zone: str):
    there, first, last = ZoneInfo(zone), date(2039, 2, 10), date(2039, 11, 20)
    found = statistics_of(sessions, first, last, there, zone)
    days = [(each.at.astimezone(there).date(), each.metrics) for each in sessions]
    days = [(day, each) for day, each in days if first <= day <= last]
    for name, of in (("days", None), ("weeks", "%G-%V"), ("months", "%Y-%m")):
        recounted: Counter = Counter()
        for day, each in days:
            key = day.strftime(of or "%Y-%m-%d")
            recounted[key, "sessions"] += 1
            recounted[key, "minutes"] += each.duration_minutes
            recounted[key, "rounds"] += each.rounds
            recounted[key, "load"] += each.duration_minutes * each.intensity
        periods = {
            each.begins.isoformat() if of is None else each.begins.strftime(of): each for each in getattr(found, name)
        }
        assert {
            (key, what): getattr(each, what)
            for key, each in periods.items()
            for what in ("sessions", "minutes", "rounds", "load")
            if each.sessions
        } == dict(recounted)
    assert found.total.minutes == sum(each.duration_minutes for _, each in days)
    worn = Counter(each.gi_or_no_gi for _, each in days)
    assert (found.gi_split.gi, found.gi_split.no_gi, found.gi_split.both) == (worn["gi"], worn["no-gi"], worn["both"])
    assert {each.tag: each.sessions for each in found.top_tags} == Counter(tag for _, each in days for tag in each.tags)
    assert len(found.weeks) == 41
    assert len(found.months) == 10


@pytest.mark.parametrize(
    ("trained", "last", "days", "weeks", "longest_days"),
    [
        ([], "2039-03-10", 0, 0, 0),
        (["2039-03-10"], "2039-03-10", 1, 1, 1),
        # A day that is not over ends nothing.
        (["2039-03-08", "2039-03-09"], "2039-03-10", 2, 1, 2),
        (["2039-03-07", "2039-03-08"], "2039-03-10", 0, 1, 2),
        # Nor does a week: Thursday the 3rd, then nothing until Tuesday the 15th.
        (["2039-02-24", "2039-03-03"], "2039-03-10", 0, 2, 1),
        (["2039-02-24", "2039-03-03"], "2039-03-15", 0, 0, 1),
    ],
)
def test_streaks_go_on_until_a_day_or_week_without_is_over(trained, last, days, weeks, longest_days):
    sessions = [CountedSession(at(f"{day}T12:00"), metrics()) for day in trained]
    found = statistics_of(sessions, date(2039, 1, 1), date.fromisoformat(last), ZoneInfo("UTC"), "UTC").streak
    assert (found.days, found.weeks, found.longest_days) == (days, weeks, longest_days)


async def test_training_stats_are_in_the_callers_time_zone(gym: Gym):
    mara, renzo = await gym.coached()
    data(await gym.ask("PATCH", "/profile", {"timeZone": "Asia/Tokyo", "version": 1}, by=mara))
    data(await gym.ask("PATCH", "/profile", {"timeZone": "America/Lima", "version": 1}, by=renzo))
    problem(
        await gym.ask("PATCH", "/profile", {"timeZone": "Mars/Olympus", "version": 2}, by=mara), 422, "invalid-fields"
    )
    await gym.add_entry(
        mara, date="2039-12-31T16:00:00Z", durationMinutes=75, intensity=4, tags=["mount"], giOrNoGi="both"
    )
    own = await gym.get("/stats", mara)
    assert (own["timeZone"], own["last"]) == ("Asia/Tokyo", "2040-01-01")
    assert [each["begins"] for each in own["days"]] == ["2040-01-01"]
    coached = await gym.get(f"/stats?athleteId={mara['userId']}&from=2039-12-31&to=2039-12-31", renzo)
    assert [(each["begins"], each["load"]) for each in coached["days"]] == [("2039-12-31", 300)]
    assert coached["topTags"] == [{"tag": "mount", "sessions": 1}]
    assert coached["giSplit"] == {"gi": 0, "noGi": 0, "both": 1}
    for wrong in ("from=2039-02-01&to=2039-01-01", "from=2001-01-01", "from=0001-01-01", "to=x"):
        problem(await gym.ask("GET", f"/stats?{wrong}", by=mara), 422, "invalid-fields")
