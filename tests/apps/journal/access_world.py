"""Journals for the access test: one with one of everything and a coach, and one of somebody else."""

from typing import Any

from tests.web.access_worlds import AccessWorld, Person, Suite
from tests.web.suites import API

__all__ = ["furnish"]

JOURNAL = f"{API}/journal"
METRICS = {"durationMinutes": 60, "intensity": 5, "rounds": 3, "giOrNoGi": "gi"}


async def furnish(suite: Suite) -> AccessWorld:
    ada, eve = await suite.person("Ada"), await suite.person("Eve")
    coach, other = await suite.person("Coach"), await suite.person("Other")
    ids, ids_elsewhere = await furnished(suite, ada, coach), await furnished(suite, eve, other)
    left = await suite.person("Left")
    await linked(suite, ada, left)
    await suite.data("DELETE", f"/journal/links/{left['userId']}", by=ada)
    return AccessWorld(
        ids=ids,
        ids_elsewhere=ids_elsewhere,
        elsewhere=eve,
        outsiders={"a stranger": await suite.person("Stranger"), "somebody whose link was ended": left},
        # Whoever was linked has something to say about the other person, though nothing to see of theirs.
        open_to_anyone=frozenset(
            {
                f"POST {JOURNAL}/links/{{user_id}}/accept",
                f"DELETE {JOURNAL}/links/{{user_id}}",
                "POST /journal/coaches/{user_id}/accept",
                "POST /journal/coaches/{user_id}/end",
            }
        ),
    )


async def linked(suite: Suite, athlete: Person, coach: Person) -> None:
    made = await suite.data("POST", "/journal/links", {"coachEmail": "coach@example.org"}, by=athlete)
    await suite.data("POST", "/invitations/accept", {"token": made["token"]}, by=coach)


async def furnished(suite: Suite, athlete: Person, coach: Person) -> dict[str, str]:
    """The ids in a journal with one of everything."""
    await linked(suite, athlete, coach)

    async def made(path: str, body: Any, by: Person = athlete) -> Any:
        return await suite.data("POST", f"/journal{path}", body, by=by)

    entry = await made("/entries", {"sections": {"shared": "armbar", "private": "knee"}, "sessionMetrics": METRICS})
    comment = await made(f"/entries/{entry['entryId']}/comments", {"body": "Hips first."}, coach)
    thread = await made("/ai/threads", {"scope": "private"})
    await made(f"/ai/threads/{thread['threadId']}/messages", {"content": "armbar"})
    invited = await made("/links", {"coachEmail": "somebody@example.org"})
    return {
        "entry_id": entry["entryId"],
        "athlete_id": athlete["userId"],
        "comment_id": comment["commentId"],
        "thread_id": thread["threadId"],
        "invitation_id": invited["id"],
        "user_id": coach["userId"],
    }
