"""What is people's own, for the access test: a token and the account of one, and those of another."""

from potluck.web.app import App, Core
from potluck.web.people import PeopleApp
from tests.web.access_worlds import AccessWorld, Person, Suite

__all__ = ["furnish", "people"]


def people(core: Core) -> App:
    """What every suite has, whichever apps it has."""
    return PeopleApp(core, [])


async def furnish(suite: Suite) -> AccessWorld:
    ada, eve = await suite.person("Ada"), await suite.person("Eve")
    return AccessWorld(
        ids=await token_of(suite, ada),
        ids_elsewhere=await token_of(suite, eve),
        elsewhere=eve,
        outsiders={"a stranger": await suite.person("Stranger")},
        # What is not among one's own tokens counts as revoked already, whoever has it.
        open_to_anyone=frozenset({"POST /account/tokens/{token_id}/revoke"}),
    )


async def token_of(suite: Suite, person: Person) -> dict[str, str]:
    made = await suite.data("POST", "/me/tokens", {"name": "A token"}, by=person)
    return {"token_id": made["id"], "user_id": person["userId"]}
