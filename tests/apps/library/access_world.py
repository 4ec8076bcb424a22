"""A library with one of everything, for the test that asks every address as everybody who may not."""

from tests.web.access_worlds import AccessWorld, Person, Suite

__all__ = ["furnish"]


async def furnish(suite: Suite) -> AccessWorld:
    ada, eve = await suite.person("Ada"), await suite.person("Eve")
    ids, ids_elsewhere = await furnished(suite, ada), await furnished(suite, eve)
    revoked = await suite.person("Bo")
    at = f"/libraries/{ids['library_id']}"
    invited = await suite.data("POST", f"{at}/shares", {"email": "bo@example.org"}, by=ada)
    await suite.data("POST", "/invitations/accept", {"token": invited["token"]}, by=revoked)
    await suite.data("GET", at, by=revoked)
    await suite.data("DELETE", f"{at}/shares/bo@example.org", by=ada)
    return AccessWorld(
        ids=ids,
        ids_elsewhere=ids_elsewhere,
        elsewhere=eve,
        # Whoever is signed in may look something up; the number is no place of anybody's.
        open_to_anyone=frozenset({"GET /api/v1/lookup/isbn/{isbn}"}),
        outsiders={"a stranger": await suite.person("Stranger"), "somebody it was shared with": revoked},
    )


async def furnished(suite: Suite, owner: Person) -> dict[str, str]:
    library_id = (await suite.data("POST", "/libraries", {"libraryName": "Home"}, by=owner))["libraryId"]
    at = f"/libraries/{library_id}"
    collection = await suite.data("POST", f"{at}/collections", {"name": "Amber"}, by=owner)
    said = {"title": "Nine Princes", "collectionId": collection["collectionId"]}
    item = await suite.data("POST", f"{at}/books", said, by=owner)
    await suite.data("POST", f"{at}/items/{item['itemId']}/lend", {"to": "Ida"}, by=owner)
    await suite.data("POST", f"{at}/shares", {"email": "ida@example.org"}, by=owner)
    return {
        "library_id": library_id,
        "collection_id": collection["collectionId"],
        "item_id": item["itemId"],
        "email": "ida@example.org",
        "isbn": "no-isbn",
    }
