"""Comments are found by their words: by everyone who may read them, under their entry and their author, and only while
they are there."""

from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from potluck.apps.journal.consumers import index_consumer
from potluck.apps.journal.entities import CommentKeywordIndex
from potluck.apps.journal.keywords import WORDS_AT_ONCE
from potluck.streams import Work
from tests.apps.journal.gym import Gym, Person, data, problem
from tests.patience import until
from tests.web.suites import PASSWORD, ask


async def hits(gym: Gym, q: str, by: Person, athlete: Person | None = None) -> list[tuple[str, list[Any]]]:
    of = "" if athlete is None else f"&athleteId={athlete['userId']}"
    found = (await gym.get(f"/search?q={q}{of}", by))["items"]
    return [(each["entryId"], [(one["name"], one["snippet"]) for one in each["comments"]]) for each in found]


async def comment_words(gym: Gym) -> set[str]:
    return {sort.split("#")[1] for _, sort in await gym.dump() if sort.startswith("KW#") and "#COMMENT#" in sort}


def path_of(comment: Any) -> str:
    return f"/entries/{comment['entryId']}/comments/{comment['commentId']}"


async def test_a_comment_is_found_by_its_words_with_its_author_and_entry(gym: Gym):
    mara, renzo = await gym.coached()
    entry = await gym.add_entry(mara, shared="Guard all evening", private="knee")
    await gym.add_entry(mara, shared="Something else")
    said = await gym.add_comment(entry, renzo, "Next week the berimbolo, slowly.")
    expected = [(entry["entryId"], [("Renzo", "Next week the berimbolo, slowly.")])]
    assert await hits(gym, "berimbolo", mara) == expected
    assert await hits(gym, "berimbolos", renzo, mara) == expected
    (hit,) = (await gym.get("/search?q=berimbolo", mara))["items"]
    assert hit["words"] == ["berimbolo"]
    assert hit["snippet"] == "Guard all evening"
    assert hit["comments"][0]["commentId"] == said["commentId"]
    assert hit["comments"][0]["coachId"] == renzo["userId"]
    # A word that the entry itself has is found without the comment.
    assert await hits(gym, "guard", mara) == [(entry["entryId"], [])]


async def test_change_comment_changes_the_words_that_find_it(gym: Gym):
    mara, renzo = await gym.coached()
    entry = await gym.add_entry(mara, shared="Guard")
    said = await gym.add_comment(entry, renzo, "Try the berimbolo")
    data(await gym.ask("PATCH", path_of(said), {"body": "Try the kneebar", "version": 1}, by=renzo))
    assert await gym.found("berimbolo", mara) == []
    assert await gym.found("kneebar", mara) == [entry["entryId"]]
    assert await comment_words(gym) == {"try", "the", "kneebar"}
    data(await gym.ask("DELETE", path_of(said), by=renzo), 204)
    assert await gym.found("kneebar", mara) == []
    assert await comment_words(gym) == set()


async def test_a_hidden_comment_is_not_found_until_it_is_shown_again(gym: Gym):
    mara, renzo = await gym.coached()
    other = await gym.person("Ana")
    await gym.link(mara, other)
    entry = await gym.add_entry(mara, shared="Guard")
    said = await gym.add_comment(entry, renzo, "Trouble with the berimbolo?")
    data(await gym.ask("PATCH", path_of(said), {"visibility": "hiddenByAthlete", "version": 1}, by=mara))
    assert await comment_words(gym) == set()
    for by, athlete in ((mara, None), (renzo, mara), (other, mara)):
        assert await gym.found("berimbolo", by, athlete) == []
    data(await gym.ask("PATCH", path_of(said), {"visibility": "visible", "version": 2}, by=mara))
    for by, athlete in ((mara, None), (renzo, mara), (other, mara)):
        assert await gym.found("berimbolo", by, athlete) == [entry["entryId"]]


async def test_former_coaches_and_strangers_find_no_comment(gym: Gym):
    mara, renzo = await gym.coached()
    entry = await gym.add_entry(mara, shared="Guard")
    await gym.add_comment(entry, renzo, "berimbolo")
    data(await gym.ask("DELETE", f"/links/{renzo['userId']}", by=mara), 204)
    problem(await gym.ask("GET", f"/search?q=berimbolo&athleteId={mara['userId']}", by=renzo), 404, "not-found")
    assert await gym.found("berimbolo", renzo) == []
    assert await gym.found("berimbolo", await gym.person("Leo")) == []
    # The comment stays with the athlete, whose entry it is on.
    assert await gym.found("berimbolo", mara) == [entry["entryId"]]


async def test_nothing_of_a_comment_is_left_when_its_entry_or_its_athlete_is_deleted(gym: Gym):
    mara, renzo = await gym.coached()
    first, second = [await gym.add_entry(mara, shared="Guard") for _ in range(2)]
    for entry in (first, second):
        await gym.add_comment(entry, renzo, f"berimbolo {entry['entryId'][:8]}")
    data(await gym.ask("DELETE", f"/entries/{first['entryId']}", by=mara), 204)
    assert await gym.found("berimbolo", mara) == [second["entryId"]]
    await until(lambda: gone(gym, first["entryId"]))
    data(await ask(gym.client, "POST", "/me/delete", {"password": PASSWORD}, by=mara), 204)
    assert await comment_words(gym) == set()


async def gone(gym: Gym, entry_id: str) -> bool:
    return not any(entry_id in partition + sort for partition, sort in await gym.dump())


async def test_every_word_of_a_long_comment_is_found(gym: Gym):
    mara, renzo = await gym.coached()
    entry = await gym.add_entry(mara, shared="Guard")
    words = {f"w{number}" for number in range(2 * WORDS_AT_ONCE)}
    said = await gym.add_comment(entry, renzo, " ".join(sorted(words)))

    async def indexed() -> bool:
        return await comment_words(gym) == words

    await until(indexed)
    data(await gym.ask("DELETE", path_of(said), by=renzo), 204)

    async def cleared() -> bool:
        return not await comment_words(gym)

    await until(cleared)


async def test_rebuild_indexes_old_comments_and_deletes_stale_words(embedded_gym: Gym):
    gym = embedded_gym
    mara, renzo = await gym.coached()
    entry = await gym.add_entry(mara, shared="Guard")
    said = await gym.add_comment(entry, renzo, "berimbolo")

    async def begun() -> bool:
        """The consumer of the suite has looked at everything once, and restores nothing by that any more."""
        rows = (await gym.core.engine.call("Scan", {"TableName": "BackgroundWork"}))["Items"]
        own = [row["SK"]["S"] for row in rows if row["PK"]["S"] == "CONSUMER#journal-index"]
        return "STREAM" in own and not any(sort.startswith("STEPS#") for sort in own)

    await until(begun)
    word = CommentKeywordIndex(
        entry_id=UUID(said["entryId"]),
        created_at=datetime.fromisoformat(said["createdAt"]),
        comment_id=UUID(said["commentId"]),
        athlete_id=UUID(mara["userId"]),
        token="berimbolo",
    )
    rows = gym.core.store
    await rows.delete(word)
    await rows.put(replace(word, token="stale"))
    await rows.put(replace(word, comment_id=UUID(int=7), token="gone"))
    assert await gym.found("berimbolo", mara) == []
    assert await comment_words(gym) == {"stale", "gone"}
    begin = index_consumer(rows).begin
    assert isinstance(begin, Work)
    await begin.completed(rows)
    assert await gym.found("berimbolo", mara) == [entry["entryId"]]
    assert await comment_words(gym) == {"berimbolo"}
