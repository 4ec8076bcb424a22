"""Other hosts, as the script has them answer: one book, one film, one picture."""

import json
from urllib.parse import parse_qs, urlsplit

from potluck.web.outbound import Fetched, Outbound, Unreachable
from tests.apps.library.made_pictures import picture

__all__ = ["ISBN", "UNREACHABLE_ISBN", "fetched"]

ISBN, UNREACHABLE_ISBN = "9780306406157", "9780804429573"
BOOK = {
    "title": "The Cartographer’s Pantry",
    "subtitle": "A Memoir",
    "authors": [{"name": "Odile Brandt"}],
    "cover": {"large": "https://covers.openlibrary.org/b/id/1-L.jpg"},
}
FILM = {
    "id": 603,
    "title": "Night Ferry",
    "overview": "A ferry, at night.",
    "release_date": "1998-05-01",
    "runtime": 104,
    "credits": {"cast": [{"name": "A"}], "crew": [{"job": "Director", "name": "R. Sandoval"}]},
}


async def fetched(_: Outbound, url: str, most_bytes: int, *, accept: str = "*/*", checked: bool = True) -> Fetched:
    """What a host answers; takes the place of `Outbound.get`."""
    asked = urlsplit(url)
    query = parse_qs(asked.query)
    if accept.startswith("image/"):
        return Fetched(200, "image/png", picture(size=(60, 80)))
    if asked.path == "/api/books":
        (key,) = query["bibkeys"]
        if key == f"ISBN:{UNREACHABLE_ISBN}":
            raise Unreachable
        return Fetched(200, "application/json", json.dumps({key: BOOK} if key == f"ISBN:{ISBN}" else {}).encode())
    if asked.path.endswith("/search/movie"):
        results = [{"id": 603}] if query["query"] == ["Night Ferry"] else []
        return Fetched(200, "application/json", json.dumps({"results": results}).encode())
    if asked.path.endswith("/movie/603"):
        return Fetched(200, "application/json", json.dumps(FILM).encode())
    return Fetched(404, "application/json", b"{}")
