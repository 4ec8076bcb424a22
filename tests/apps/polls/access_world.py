"""Polls for the access test: one whose results are its maker's, with a vote, and one of somebody else."""

from tests.web.access_worlds import AccessWorld, Person, Suite
from tests.web.suites import API

__all__ = ["furnish"]

POLL = "/polls/{poll_id}"


async def furnish(suite: Suite) -> AccessWorld:
    ids, _ = await furnished(suite, await suite.person("Ada"))
    eve = await suite.person("Eve")
    ids_elsewhere, key = await furnished(suite, eve)
    return AccessWorld(
        ids=ids,
        ids_elsewhere=ids_elsewhere,
        elsewhere=eve,
        outsiders={
            "a stranger": await suite.person("Stranger"),
            "nobody": {},
            "who has the key of another poll": {"x-admin-key": key, "x-edit-key": key},
        },
        # Whoever has the address of a poll may look at it, vote, and type a key.
        open_to_anyone=frozenset(
            {
                *(f"GET {API}{POLL}", f"POST {API}{POLL}/votes"),
                *(f"GET {POLL}", f"POST {POLL}/vote", f"GET {POLL}/mine", f"POST {POLL}/mine", f"GET {POLL}/share"),
                *(f"GET {POLL}/manage", f"POST {POLL}/manage"),
            }
        ),
    )


async def furnished(suite: Suite, maker: Person) -> tuple[dict[str, str], str]:
    """A poll with a vote, and its key."""
    said = {"title": "Where to?", "candidates": ["Lake cabin", "Mountain hut"], "resultsVisibility": "admin"}
    poll = await suite.data("POST", "/polls", said, by=maker)
    vote = await suite.data("POST", f"/polls/{poll['id']}/votes", {"rankings": ["Lake cabin"]}, by={})
    return {"poll_id": poll["id"], "vote_id": vote["id"]}, poll["adminKey"]
