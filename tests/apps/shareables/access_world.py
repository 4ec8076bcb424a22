"""Shareables for the access test: a checklist and a poll that ask for passcodes, and those of somebody else."""

from typing import Any

from tests.web.access_worlds import AccessWorld, Headers, Suite
from tests.web.suites import API, bearer

__all__ = ["furnish"]

SHAREABLE = "/shareables/{short_id}"


async def furnish(suite: Suite) -> AccessWorld:
    ids, _ = await furnished(suite)
    ids_elsewhere, elsewhere = await furnished(suite)
    return AccessWorld(
        ids=ids,
        ids_elsewhere=ids_elsewhere,
        elsewhere=elsewhere,
        outsiders={"a stranger": await suite.person("Stranger"), "nobody": {}},
        # Whoever has the id may try a passcode.
        open_to_anyone=frozenset(
            {
                f"POST {API}{SHAREABLE}/sessions",
                *(f"{method} {SHAREABLE}/{page}" for method in ("GET", "POST") for page in ("unlock", "manage")),
                f"POST {SHAREABLE}/leave",
            }
        ),
    )


async def furnished(suite: Suite) -> tuple[dict[str, str], Headers]:
    """A checklist with an item, the id of a vote in a poll, and what an admin of the checklist sends."""
    said: dict[str, Any] = {"name": "Where to?", "viewPasscode": "lemonade", "note": "Summer"}
    listed = await suite.data("POST", "/shareables", {**said, "entity": "checklist", "items": [{"name": "A"}]}, by={})
    poll = await suite.data("POST", "/shareables", {**said, "entity": "poll", "candidates": ["A", "B"]}, by={})
    admin, voter = bearer(listed["adminToken"]), bearer(poll["adminToken"])
    seen = await suite.data("GET", f"/shareables/{listed['shortId']}", by=admin)
    vote = await suite.data("POST", f"/shareables/{poll['shortId']}/votes", {"rankings": ["A"]}, by=voter)
    ids = {"short_id": listed["shortId"], "checklist_item_id": seen["items"][0]["checklistItemId"]}
    return {**ids, "vote_id": vote["id"]}, admin
