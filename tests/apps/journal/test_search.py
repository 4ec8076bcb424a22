"""Search: the best match first, rarer words weigh more, newer wins ties, and snippets are word for word."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from potluck.apps.journal.entities import Comment, SessionMetrics
from potluck.apps.journal.journals import Posting, SharedEntry
from potluck.apps.journal.ranking import MOST_CANDIDATES, QueryWord, candidates, query_words, ranked, snippet_of
from potluck.apps.journal.search import found_in
from potluck.apps.journal.tokenizer import forms_of, sentences_of, words_in
from tests.apps.journal.gym import Gym, problem
from tests.web.reading import BROWSER
from tests.web.suites import bearer


def test_words_are_found_however_they_are_spelt():
    assert words_in("Über-Armbar's NO-GI, 3×5!") == ["uberarmbars", "uber", "armbar", "s", "nogi", "3", "5"]
    assert words_in("x" * 50) == ["x" * 40]
    assert forms_of("armbars") == ("armbars", "armbar")
    assert forms_of("guard") == ("guard", "guards")
    assert forms_of("gi") == ("gi",)
    assert sentences_of("One. Two!\nThree") == ["One.", "Two!", "Three"]


@pytest.mark.parametrize("written", ["no-gi", "No-Gi", "no gi", "nogi", "NoGi", "no–gi"])
def test_no_gi_is_one_word_and_not_gi(written: str):
    assert words_in(f"a {written} class") == ["a", "nogi", "class"]
    assert [match for match, *_ in query_words(written)] == ["nogi"]


def test_words_that_only_contain_no_gi_stay_whole():
    assert words_in("Casino gi, no giant, not-gi") == ["casino", "gi", "no", "giant", "notgi", "not", "gi"]


def entry(number: int, shared: str, days_ago: int = 0) -> SharedEntry:
    when = datetime(2039, 1, 1, tzinfo=UTC) - timedelta(days=days_ago)
    metrics = SessionMetrics(duration_minutes=60, intensity=5, rounds=0, gi_or_no_gi="gi")
    return SharedEntry(
        entry_id=UUID(int=number), athlete_id=UUID(int=0), created_at=when, date=when, shared=shared, metrics=metrics
    )


def order(question: str, *entries: SharedEntry) -> list[int]:
    terms = [
        QueryWord(forms, {each.entry_id: each.created_at for each in entries if set(forms) & set(each.words)})
        for forms in query_words(question)
    ]
    found = {each.entry_id: each for each in entries}
    return [each.entry.entry_id.int for each in ranked(terms, [found[each] for each in candidates(terms)])]


def test_rarer_words_weigh_more_and_newer_wins_ties():
    guard = [entry(number, "guard and more", days_ago=number) for number in (1, 2, 3)]
    assert order("guard", *guard) == [1, 2, 3]
    assert order("guard berimbolo", *guard, entry(4, "berimbolo and more", days_ago=9))[0] == 4
    assert order("guard", entry(1, "guard " + "and so on " * 30), entry(2, "guard guard", days_ago=5)) == [2, 1]
    assert order("armbars", entry(1, "an armbar")) == [1]
    assert order("nothing", *guard) == []


def test_snippets_are_where_the_words_are():
    text = "At first. " * 40 + "Then the armbar from guard came. " + "And so on. " * 40
    found = snippet_of([text], frozenset({"armbar", "guard"}))
    assert "armbar from guard" in found
    assert found.startswith("…")
    assert found.endswith("…")
    assert found.strip("…") in text
    assert snippet_of(["short one"], frozenset({"armbar"})) == "short one"
    assert snippet_of(["", "in the second"], frozenset({"second"})) == "in the second"


async def test_whole_words_are_found_and_no_beginnings_of_others(gym: Gym):
    mara, renzo = await gym.coached()
    arm = await gym.add_entry(mara, shared="The arm was free", date="2039-01-01T10:00:00Z")
    armbar = await gym.add_entry(mara, shared="An armbar", private="arm pain", date="2039-01-02T10:00:00Z")
    assert await gym.found("arm", mara) == [armbar["entryId"], arm["entryId"]]
    assert await gym.found("arm", renzo, mara) == [arm["entryId"]]
    assert await gym.found("pain", renzo, mara) == []
    hit = (await gym.get(f"/search?q=pain+free&athleteId={mara['userId']}", renzo))["items"]
    assert [(each["entryId"], each["words"]) for each in hit] == [(arm["entryId"], ["free"])]
    for wrong in ("", "?q=", f"?q={'x' * 201}", "?q=x&limit=101"):
        problem(await gym.ask("GET", f"/search{wrong}", by=mara), 422, "invalid-fields")
    problem(await gym.ask("GET", f"/search?q=arm&athleteId={renzo['userId']}", by=mara), 404, "not-found")


async def test_a_period_narrows_a_search_and_is_no_word_of_it(gym: Gym):
    mara, renzo = await gym.coached()
    dates = {"november": "2039-11-10T10:00:00Z", "year before": "2038-11-10T10:00:00Z", "week": "2039-12-22T10:00:00Z"}
    ids = {
        name: (await gym.add_entry(mara, shared="Half guard, knee", date=date))["entryId"]
        for name, date in dates.items()
    }
    for by, athlete in ((mara, None), (renzo, mara)):
        assert await gym.found("half+guard+november", by, athlete) == [ids["november"]]
        assert await gym.found("knee+last+week", by, athlete) == [ids["week"]]
        assert await gym.found("knee+in+november+2038", by, athlete) == [ids["year before"]]
        assert set(await gym.found("knee", by, athlete)) == set(ids.values())
    page = await gym.client.get("/journal/entries?q=knee+november", headers=bearer(mara) | BROWSER)
    assert ids["november"] in page.text
    assert ids["week"] not in page.text
    assert "in November 2039" in page.text


async def test_a_period_finds_sessions_that_many_newer_ones_would_hide(embedded_gym: Gym):
    gym = embedded_gym
    mara = await gym.person()
    old = await gym.add_entry(mara, shared="knee", date="2039-03-10T10:00:00Z")
    gym.clock.forward(days=1)
    for _ in range(MOST_CANDIDATES + 1):
        await gym.add_entry(mara, shared="knee")
    assert old["entryId"] not in await gym.found("knee", mara)
    assert await gym.found("knee+march", mara) == [old["entryId"]]


async def test_a_search_for_a_period_alone_looks_for_its_words(embedded_gym: Gym):
    mara = await embedded_gym.person()
    entry = await embedded_gym.add_entry(mara, shared="Tournament in November")
    assert await embedded_gym.found("november", mara) == [entry["entryId"]]


@pytest.mark.parametrize("question", ["?!", "the", "“”"])
async def test_a_question_without_words_finds_nothing(embedded_gym: Gym, question: str):
    mara = await embedded_gym.person()
    await embedded_gym.add_entry(mara, shared="armbar")
    assert await embedded_gym.found(question, mara) == []


async def test_a_long_question_looks_at_hardly_more_rows_than_a_short_one():
    class Looked:
        rows = 0

        async def having(self, word: str, most: int) -> list[Posting]:
            self.rows += most
            return []

        async def within(self, postings: Sequence[Posting], spans: Sequence[Any]) -> list[Posting]:
            return [*postings]

        async def read(self, entry_ids: Sequence[UUID]) -> dict[UUID, SharedEntry]:
            return {}

        async def read_comments(self, postings: Sequence[Posting]) -> list[Comment]:
            return []

    looked = []
    for words in (1, 2, 16):
        journal: Any = Looked()
        await found_in(journal, query_words(" ".join(f"word{number}" for number in range(words))))
        looked.append(journal.rows)
    assert looked == [1_000, 2_000, 3_200]
