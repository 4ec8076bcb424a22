"""A change names the version it saw; whoever saw another is shown how it is now, and nobody's change is lost."""

import asyncio
import json

from tests.web.contract.wire import sent
from tests.web.contract.worlds import bearer_headers, book_of
from tests.web.suites import API

JSON = ("content-type", "application/json")
WRITERS = 12


async def book_and_note(doors):
    ada = await doors.join()
    book = await book_of(doors, ada)
    note = await book.add("First")
    return ada, book, f"{book.notes}/{note['noteId']}"


async def test_a_version_starts_at_one_and_every_change_raises_it_by_one(doors):
    ada, book, one = await book_and_note(doors)
    assert (await doors.ask("GET", one, by=ada)).json()["version"] == 1
    for version in range(1, 5):
        answer = await doors.ask("PATCH", one, {"title": f"Title {version}", "version": version}, by=ada)
        assert (answer.status_code, answer.json()["version"]) == (200, version + 1)
    for version in range(1, 5):
        answer = await doors.ask("PATCH", book.path, {"name": f"Name {version}"}, by=ada, if_match=f'"{version}"')
        assert (answer.status_code, answer.headers["etag"]) == (200, f'"{version + 1}"')


async def test_letting_someone_in_is_no_change_of_the_book(doors):
    ada, book, _ = await book_and_note(doors)
    ben = await doors.join("ben@example.org", "Ben")
    await book.let_in(ben)
    await book.put_out(ben)
    assert (await doors.ask("GET", book.path, by=ada)).headers["etag"] == '"1"'


# A version in the body, in If-Match, and what is answered where the version is 2.
NAMED = [
    (None, None, 428),
    (None, "*", 428),  # any version would do, which is not the version that was seen
    (2, None, 200),
    (None, '"2"', 200),
    (2, '"2"', 200),
    (2, "*", 200),
    (None, '  "2"  ', 200),
    (1, None, 409),
    (3, None, 409),
    (10**15, None, 409),
    (1, "*", 409),  # the header is met, it is the body that is stale
    (None, '"1"', 412),
    (None, '"3"', 412),
    (1, '"1"', 412),
    (None, 'W/"2"', 412),  # a weak tag never matches here
    (None, '"02"', 412),
    (None, '"+2"', 412),
    (None, '"２"', 412),
    (None, '""', 412),
    (None, '"99999999999999999999999999"', 412),
    (None, '"two"', 412),
    (1, '"2"', 422),
    (2, '"1"', 422),
    (None, "2", 422),
    (None, '"2', 422),
    (None, '"1", "2"', 422),
    (None, '"2",', 422),
    (None, "", 422),
    (None, '"2" garbage', 422),
    (0, None, 422),
    (-1, None, 422),
    (10**15 + 1, None, 422),
    (2.0, None, 422),
    ("2", None, 422),
    (True, None, 422),
    ([2], None, 422),
]


async def test_whichever_way_a_version_is_named_it_is_the_one_or_it_is_refused(doors):
    ada, book, one = await book_and_note(doors)
    await doors.ask("PATCH", one, {"title": "Second", "version": 1}, by=ada)
    await doors.ask("PATCH", book.path, {"name": "Second", "version": 1}, by=ada)
    for field, path in (("title", one), ("name", book.path)):
        at = 2
        for version, if_match, status in NAMED:
            if status == 200:
                # What is changed is at another version the next time.
                version = at if version == 2 else version
                if_match = if_match and if_match.replace("2", str(at))
            elif at != 2:
                version = {1: 1, 2: at, 3: at + 1}.get(version, version) if type(version) is int else version
                if_match = if_match and if_match.replace('"2"', f'"{at}"').replace('"3"', f'"{at + 1}"')
            body = {field: f"Changed with {version} {if_match} "[:100]}
            if version is not None:
                body["version"] = version
            headers = [*bearer_headers(ada)]
            if if_match is not None:
                headers.append(("if-match", if_match.encode()))
            before = (await doors.ask("GET", path, by=ada)).json()
            answer = await asked(doors, "PATCH", path, body, headers)
            case = (field, version, if_match)
            assert answer.status == status, (case, answer.body)
            now = (await doors.ask("GET", path, by=ada)).json()
            if status == 200:
                at += 1
                assert answer.json() == now, case
                assert now["version"] == at, case
                continue
            assert now == before, case
            if status in (409, 412):
                assert answer.json()["current"] == now, case


async def asked(doors, method, path, body, headers):
    return await sent(doors.application, method, API + path, [JSON, *headers], json.dumps(body).encode())


async def test_two_tags_that_come_apart_are_a_list(doors):
    ada, book, one = await book_and_note(doors)
    for path, field in ((one, "title"), (book.path, "name")):
        twice = [*bearer_headers(ada), ("if-match", '"1"'), ("if-match", '"7"')]
        answer = await asked(doors, "PATCH", path, {field: "x"}, twice)
        assert (answer.status, answer.json()["errors"][0]["field"]) == (422, "If-Match")
    answer = await sent(doors.application, "DELETE", API + one, twice)
    assert answer.status == 422


async def test_deleting_needs_no_version_and_honours_one(doors):
    ada, book, one = await book_and_note(doors)
    await doors.ask("PATCH", one, {"title": "Second", "version": 1}, by=ada)
    for stale in ('"1"', '"3"', 'W/"2"', '"x"'):
        answer = await doors.ask("DELETE", one, by=ada, if_match=stale)
        assert (answer.status_code, answer.json()["type"]) == (412, "/problems/precondition-failed")
        assert answer.json()["current"]["version"] == 2
    assert (await doors.ask("DELETE", one, by=ada, if_match="2")).status_code == 422
    assert (await doors.ask("DELETE", one, by=ada, if_match='"2"')).status_code == 204
    assert (await doors.ask("DELETE", one, by=ada, if_match='"2"')).status_code == 404
    for if_match in (None, "*"):
        another = f"{book.notes}/{(await book.add())['noteId']}"
        headers = {} if if_match is None else {"if_match": if_match}
        assert (await doors.ask("DELETE", another, by=ada, **headers)).status_code == 204


async def test_what_one_has_is_not_sent_again(doors):
    ada, book, one = await book_and_note(doors)
    for path in (book.path, one, "/me"):
        first = await doors.ask("GET", path, by=ada)
        tag = first.headers["etag"]
        bare = tag.removeprefix("W/")
        for known in (tag, bare, f"W/{bare}", "*", f'"x", {tag}', f'W/"y",{bare} , "z"', f'"\xff", {tag}'):
            answer = await sent(
                doors.application, "GET", API + path, [*bearer_headers(ada), ("if-none-match", known.encode("latin-1"))]
            )
            assert (answer.status, answer.header("etag"), answer.body) == (304, tag, b""), known
        apart = [*bearer_headers(ada), ("if-none-match", '"x"'), ("if-none-match", tag)]
        assert (await sent(doors.application, "GET", API + path, apart)).status == 304
        for other in ('"x"', "", "garbage", bare.strip('"'), '"', "W/", f"{bare[:-1]}"):
            answer = await doors.ask("GET", path, by=ada, if_none_match=other)
            assert (answer.status_code, answer.content) == (200, first.content), other
        # Not to somebody who may not have it.
        assert (await doors.ask("GET", path, if_none_match=tag)).status_code == 401
    await doors.ask("PATCH", one, {"title": "Other", "version": 1}, by=ada)
    assert (await doors.ask("GET", one, by=ada, if_none_match=tag)).status_code == 200


async def test_a_rows_tag_is_its_version_and_what_each_sees_differently_has_a_hash(doors):
    ada, book, one = await book_and_note(doors)
    ben = await doors.join("ben@example.org", "Ben")
    await book.let_in(ben)
    assert (await doors.ask("GET", book.path, by=ben)).headers["etag"] == '"1"'
    hers = (await doors.ask("GET", one, by=ada)).headers["etag"]
    await doors.ask("PATCH", one, {"private": "For me", "version": 1}, by=ada)
    his_first = (await doors.ask("GET", one, by=ben)).headers["etag"]
    assert hers.startswith('W/"')
    assert his_first != (await doors.ask("GET", one, by=ada)).headers["etag"]
    # Good for If-None-Match only.
    answer = await doors.ask("PATCH", one, {"title": "x"}, by=ada, if_match=his_first)
    assert answer.status_code == 412


async def test_setting_what_is_so_changes_nothing(doors):
    ada, book, one = await book_and_note(doors)
    (position,) = await book.settled(ada)
    before = await doors.rows()
    same = [
        ({"title": "First", "version": 1}, {}),
        ({"title": "First", "text": "", "private": ""}, {"if_match": '"1"'}),
        ({"version": 1}, {}),
    ]
    for body, headers in same:
        with doors.written() as written:
            answer = await doors.ask("PATCH", one, body, by=ada, **headers)
        assert (answer.status_code, answer.json()["version"], written) == (200, 1, [])
    with doors.written() as written:
        answer = await doors.ask("PATCH", book.path, {"name": "Plans", "version": 1}, by=ada)
        await book.let_in(ada)
    assert (answer.status_code, answer.headers["etag"], written) == (200, '"1"', [])
    assert (await doors.rows())["Notes"] == before["Notes"]
    assert (await doors.ask("GET", f"{book.notes}/changes?since={position}", by=ada)).json()["changes"] == []


async def test_of_many_who_saw_the_same_version_one_is_first_and_the_others_are_shown_it(busy):
    ada, _, one = await book_and_note(busy)
    answers = await asyncio.gather(
        *(
            busy.ask("PATCH", one, {"title": f"By {n}", **({"version": 1} if n % 2 else {})}, by=ada, **tag(n))
            for n in range(WRITERS)
        )
    )
    won = [answer.json() for answer in answers if answer.status_code == 200]
    assert len(won) == 1
    assert (won[0]["version"], (await busy.ask("GET", one, by=ada)).json()) == (2, won[0])
    for number, answer in enumerate(answers):
        if answer.status_code != 200:
            assert answer.status_code == (409 if number % 2 else 412)
            assert answer.json()["current"] == won[0]


def tag(number):
    return {} if number % 2 else {"if_match": '"1"'}


async def test_whoever_tries_again_with_the_current_version_loses_nobodys_change(busy):
    """Each adds a word; in the end every word is there once, and the version says how many."""
    ada, _, one = await book_and_note(busy)

    async def add(word):
        now = (await busy.ask("GET", one, by=ada)).json()
        for _ in range(200):
            text = f"{now['text']} {word}".strip()
            answer = await busy.ask("PATCH", one, {"text": text, "version": now["version"]}, by=ada)
            if answer.status_code == 200:
                return answer.json()["version"]
            assert answer.status_code == 409
            now = answer.json()["current"]
        raise AssertionError("never came through")

    versions = await asyncio.gather(*(add(f"w{number}") for number in range(6)))
    end = (await busy.ask("GET", one, by=ada)).json()
    assert sorted(end["text"].split()) == sorted(f"w{number}" for number in range(6))
    assert sorted(versions) == list(range(2, 8))
    assert end["version"] == 7


async def test_a_thing_without_a_version_is_deleted_whatever_if_match_says(doors):
    ada, book, _ = await book_and_note(doors)
    ben = await doors.join("ben@example.org", "Ben")
    await book.let_in(ben)
    answer = await doors.ask("DELETE", f"{book.path}/members/{ben['userId']}", by=ada, if_match='"7"')
    assert answer.status_code == 204


async def test_deleting_and_changing_at_once_end_in_one_of_the_two_orders(busy):
    ada, book, _ = await book_and_note(busy)
    for _ in range(3):
        one = f"{book.notes}/{(await book.add('Here'))['noteId']}"
        changed, deleted = await asyncio.gather(
            busy.ask("PATCH", one, {"title": "Changed", "version": 1}, by=ada),
            busy.ask("DELETE", one, by=ada, if_match='"1"'),
        )
        left = await busy.ask("GET", one, by=ada)
        ended = (changed.status_code, deleted.status_code, left.status_code)
        assert ended in {(200, 412, 200), (404, 204, 404)}
