from typing import Any

import pytest
from starlette.requests import Request

from potluck.web.http.router import EndpointMatch, Router


async def answer(request: Request) -> Any:
    raise NotImplementedError


async def other(request: Request) -> Any:
    raise NotImplementedError


def router_of(*addresses: str) -> Router:
    router = Router()
    for each in addresses:
        method, path = each.split()
        router.add(method, path, answer)
    return router


def matched(router: Router, method: str, path: str) -> EndpointMatch | None:
    found = router.find(path)
    return None if found is None else found.endpoint(method)


def values(router: Router, path: str, method: str = "GET") -> dict[str, str] | None:
    found = matched(router, method, path)
    return None if found is None else found.values


def test_values_of_the_path_are_found_by_name_and_the_path_as_it_was_declared():
    router = router_of("GET /families/{family_id}/stores/{store_id}")
    found = matched(router, "GET", "/families/f/stores/s")
    assert found == EndpointMatch(
        answer, {"family_id": "f", "store_id": "s"}, "/families/{family_id}/stores/{store_id}"
    )


def test_a_segment_that_is_written_out_comes_before_a_parameter():
    router = Router()
    router.add("GET", "/notes/{note_id}", answer)
    router.add("GET", "/notes/events", other)
    assert matched(router, "GET", "/notes/events") == EndpointMatch(other, {}, "/notes/events")
    assert values(router, "/notes/7") == {"note_id": "7"}


def test_what_begins_like_a_written_segment_can_still_be_a_value():
    router = router_of("GET /notes/events/latest", "GET /notes/{note_id}/text")
    assert values(router, "/notes/events/text") == {"note_id": "events"}
    assert values(router, "/notes/events/latest") == {}
    assert router.find("/notes/events") is None


def test_methods_at_one_address_name_their_values_as_each_declares_them():
    router = Router()
    router.add("GET", "/books/{book_id}", answer)
    router.add("PUT", "/books/{place_id}", other)
    assert values(router, "/books/b") == {"book_id": "b"}
    assert matched(router, "PUT", "/books/b") == EndpointMatch(other, {"place_id": "b"}, "/books/{place_id}")


def test_what_is_not_declared_is_not_found():
    router = router_of("GET /", "GET /books/{book_id}", "POST /books")
    assert matched(router, "GET", "/") is not None
    for path in ("/nowhere", "/books/b/notes", "/book"):
        assert router.find(path) is None, path
    found = router.find("/books")
    assert found is not None
    assert found.endpoint("GET") is None


def test_an_empty_segment_is_no_value_and_a_slash_at_the_end_means_nothing():
    router = router_of("GET /books/{book_id}/notes")
    assert router.find("/books//notes") is None
    assert values(router, "/books/b/notes/") == {"book_id": "b"}


def test_what_can_be_read_can_be_asked_about_and_the_allowed_methods_are_named():
    router = router_of("GET /books", "POST /books", "DELETE /sessions/current")
    assert matched(router, "HEAD", "/books") == matched(router, "GET", "/books")
    books, session = router.find("/books"), router.find("/sessions/current")
    assert books is not None
    assert session is not None
    assert books.allowed == "GET, HEAD, OPTIONS, POST"
    assert session.allowed == "DELETE, OPTIONS"
    assert session.endpoint("HEAD") is None


def test_everything_below_a_path_is_one_endpoint_s_unless_it_is_declared():
    router = Router()
    router.add_all_below("/static", other)
    router.add("GET", "/static/own", answer)
    assert matched(router, "GET", "/static/js/start.js") == EndpointMatch(
        other, {"rest": "js/start.js"}, "/static/{rest}"
    )
    assert matched(router, "GET", "/static/own") == EndpointMatch(answer, {}, "/static/own")
    assert matched(router, "POST", "/static/js/start.js") is None
    with pytest.raises(ValueError, match="declared twice"):
        router.add_all_below("/static", answer)


def test_an_address_is_declared_once():
    router = router_of("GET /books/{book_id}")
    with pytest.raises(ValueError, match="declared twice"):
        router.add("GET", "/books/{id}", answer)


def test_every_address_is_listed():
    addresses = [
        "GET /",
        "GET /books",
        "POST /books",
        "GET /books/{book_id}",
        "DELETE /books/{book_id}/notes/{note_id}",
    ]
    router = router_of(*addresses)
    router.add_all_below("/static", other)
    assert sorted(" ".join(each) for each in router.addresses()) == sorted([*addresses, "GET /static/{rest}"])
