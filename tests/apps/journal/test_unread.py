"""What is new to whom, until they have looked: to an athlete what coaches said, to a coach what the athlete wrote."""

from typing import Any

from tests.apps.journal.gym import Gym, Person, data, problem


async def new_to(athlete: Person, gym: Gym) -> dict[str, int]:
    """How many new comments there are, by the words of the entry."""
    items = (await gym.get("/entries", athlete))["items"]
    return {each["sections"]["shared"]: each["newComments"] for each in items if each["newComments"]}


async def new_to_coach(coach: Person, athlete: Person, gym: Gym) -> tuple[list[str], dict[str, int], int]:
    """The entries that are new, those with new answers, and the number beside the athlete's name."""
    items = (await gym.get(f"/athletes/{athlete['userId']}/entries", coach))["items"]
    (beside,) = (
        each for each in (await gym.get("/athletes", coach))["items"] if each["athleteId"] == athlete["userId"]
    )
    return (
        [each["sections"]["shared"] for each in items if each["isNew"]],
        {each["sections"]["shared"]: each["newComments"] for each in items if each["newComments"]},
        beside["newEntries"],
    )


async def looked(gym: Gym, path: str, by: Person, **said: Any) -> None:
    data(await gym.ask("POST", f"{path}/seen", said, by=by), 204)
    gym.clock.forward(seconds=1)


async def test_comments_are_new_until_see_comments(gym: Gym):
    mara, renzo = await gym.coached()
    first, second = await gym.add_entry(mara, "armbar"), await gym.add_entry(mara, "kimura")
    gym.clock.forward(seconds=1)
    await gym.add_comment(first, renzo)
    await gym.add_comment(first, mara, "Thank you.")
    for _ in range(2):
        gone = await gym.add_comment(second, renzo)
        await gym.add_comment(second, renzo, "And the elbow.")
    data(await gym.ask("DELETE", f"/entries/{second['entryId']}/comments/{gone['commentId']}", by=renzo), 204)
    assert await new_to(mara, gym) == {"armbar": 1, "kimura": 3}
    version = (await gym.get(f"/entries/{first['entryId']}", mara))["version"]
    await looked(gym, f"/entries/{first['entryId']}", mara)
    assert await new_to(mara, gym) == {"kimura": 3}
    seen = await gym.get(f"/entries/{first['entryId']}", mara)
    assert (seen["version"], seen["comments"], seen["newComments"]) == (version, 2, 0)
    # What was hidden was looked at.
    for each in (await gym.get(f"/entries/{second['entryId']}/comments", mara))["items"]:
        path = f"/entries/{second['entryId']}/comments/{each['commentId']}"
        data(await gym.ask("PATCH", path, {"visibility": "hiddenByAthlete", "version": 1}, by=mara))
    assert await new_to(mara, gym) == {}
    await gym.add_comment(first, renzo, "One more.")
    assert await new_to(mara, gym) == {"armbar": 1}


async def test_see_comments_marks_only_what_existed_then(embedded_gym: Gym):
    gym = embedded_gym
    mara, renzo = await gym.coached()
    entry = await gym.add_entry(mara, "armbar")
    gym.clock.forward(seconds=1)
    path = f"/entries/{entry['entryId']}"
    await gym.add_comment(entry, renzo)
    until = f"{gym.clock():%Y-%m-%dT%H:%M:%S.%fZ}"
    gym.clock.forward(seconds=1)
    await gym.add_comment(entry, renzo, "While the page was open.")
    await looked(gym, path, mara, until=until)
    assert await new_to(mara, gym) == {"armbar": 1}
    # Nobody has looked at what is still to come.
    await looked(gym, path, mara, until="2099-01-01T00:00:00Z")
    await gym.add_comment(entry, renzo, "Later.")
    assert await new_to(mara, gym) == {"armbar": 1}
    # An older look takes nothing back.
    await looked(gym, path, mara)
    await looked(gym, path, mara, until=until)
    assert await new_to(mara, gym) == {}


async def test_entries_and_replies_are_new_until_see_entries(gym: Gym):
    mara, ana = await gym.person("Mara"), await gym.person("Ana")
    old = await gym.add_entry(mara, "armbar")
    gym.clock.forward(seconds=1)
    renzo = await gym.person("Renzo")
    for coach in (renzo, ana):
        await gym.link(mara, coach)
    gym.clock.forward(seconds=1)
    assert await new_to_coach(renzo, mara, gym) == ([], {}, 0)
    new = await gym.add_entry(mara, "kimura")
    await gym.add_entry(mara, "choke", date=f"{gym.clock().year - 1}-01-01T10:00:00Z")
    # From so long ago, it is new where it stands, and not counted beside the name.
    assert await new_to_coach(renzo, mara, gym) == (["kimura", "choke"], {}, 1)
    path = f"/athletes/{mara['userId']}/entries"
    await looked(gym, path, renzo)
    assert await new_to_coach(renzo, mara, gym) == ([], {}, 0)
    assert await new_to_coach(ana, mara, gym) == (["kimura", "choke"], {}, 1)
    await gym.change_entry(new, mara, sections={"private": "knee"})
    await gym.add_comment(old, ana)
    assert await new_to_coach(renzo, mara, gym) == ([], {}, 0)
    answer = await gym.add_comment(old, mara, "I will.")
    assert await new_to_coach(renzo, mara, gym) == ([], {"armbar": 1}, 0)
    hiding = {"visibility": "hiddenByAthlete", "version": 1}
    data(await gym.ask("PATCH", f"/entries/{old['entryId']}/comments/{answer['commentId']}", hiding, by=mara))
    assert await new_to_coach(renzo, mara, gym) == ([], {}, 0)


async def test_only_readers_can_mark_entries_and_comments_as_read(embedded_gym: Gym):
    gym = embedded_gym
    mara, renzo = await gym.coached()
    stranger = await gym.person("Stranger")
    entry = await gym.add_entry(mara, "armbar")
    problem(await gym.ask("POST", f"/entries/{entry['entryId']}/seen", {}, by=renzo), 403, "forbidden")
    for path in (f"/entries/{entry['entryId']}/seen", f"/athletes/{mara['userId']}/entries/seen"):
        problem(await gym.ask("POST", path, {}, by=stranger), 404, "not-found")
    data(await gym.ask("DELETE", f"/links/{renzo['userId']}", by=mara), 204)
    problem(await gym.ask("POST", f"/athletes/{mara['userId']}/entries/seen", {}, by=renzo), 404, "not-found")


async def test_live_lists_show_comments_and_hide_reading_from_coaches(embedded_gym: Gym):
    gym = embedded_gym
    mara, renzo = await gym.coached()
    entry = await gym.add_entry(mara, "armbar")
    gym.clock.forward(seconds=1)
    paths = {"/entries": mara, f"/athletes/{mara['userId']}/entries": renzo}
    since = {path: (await gym.get(path, by))["position"] for path, by in paths.items()}

    async def heard(path: str) -> list[tuple[str, int, int]]:
        told = await gym.get(f"{path}/changes?since={since[path]}", paths[path])
        since[path] = told["position"]
        return [(each["event"], each["item"]["comments"], each["item"]["newComments"]) for each in told["changes"]]

    own, shared = paths
    await gym.add_comment(entry, renzo)
    assert await heard(own) == [("updated", 1, 1)]
    assert await heard(shared) == [("updated", 1, 0)]
    await looked(gym, f"/entries/{entry['entryId']}", mara)
    await gym.change_entry(await gym.get(f"/entries/{entry['entryId']}", mara), mara, sections={"private": "knee"})
    assert await heard(shared) == []
    assert await heard(own) == [("updated", 1, 0), ("updated", 1, 0)]
