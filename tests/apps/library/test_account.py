"""What a person takes along, what goes when they leave, and what the home page says to them."""

import io
import json
import zipfile
from datetime import date, timedelta

import pytest

from potluck.apps.library.account import forget
from potluck.apps.library.home_card import how_long
from potluck.apps.library.importing import ImportFile, import_file
from potluck.apps.library.lending import Lend, lend
from potluck.web import HomeCard
from tests.apps.library.calls import calls_on, data
from tests.people.assembly import PASSWORD
from tests.stores import NOW
from tests.web.suites import rows_of


@pytest.fixture
async def calls(tmp_path):
    async with calls_on(tmp_path) as calls:
        yield calls


async def furnished(calls):
    ada, bo = await calls.person(), await calls.person("Bo")
    hers, his = await calls.library(ada), await calls.library(bo, "Boats")
    for owner, at in ((ada, hers), (bo, his)):
        foo = await calls.make(f"{at}/collections", {"name": "Foo"}, by=owner)
        book = await calls.make(f"{at}/books", {"title": "One", "collectionId": foo["collectionId"]}, by=owner)
        data(await calls.ask("POST", f"{at}/items/{book['itemId']}/lend", {"to": "Ida"}, by=owner))
    await calls.invited(hers, ada, bo)
    await calls.invited(his, bo, ada)
    await calls.make(f"{hers}/shares", {"email": "x@example.org"}, by=ada)
    return ada, bo, hers, his


async def test_everything_that_is_theirs_is_in_the_export_and_nothing_of_others(calls):
    ada, *_ = await furnished(calls)
    answer = await calls.ask("GET", "/me/export", by=ada)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        found = json.loads(archive.read("library.json"))
    tables = found if "libraries" in found else found["tables"]
    assert [each["libraryName"] for each in tables["libraries"]] == ["Home"]
    assert tables["libraries"][0]["sharedTo"] == ["bo@example.org"]
    assert [each["name"] for each in tables["collections"]] == ["Foo"]
    assert [(each["title"], each["lentTo"]) for each in tables["items"]] == [("One", "Ida")]
    assert [(each["type"], each["event"]) for each in tables["history"]] == [("LENT", "Ida")]
    assert [each["email"] for each in tables["shares"]] == ["bo@example.org"]
    assert [each["sharedFromName"] for each in tables["sharedWithYou"]] == ["Bo"]
    assert "Boats" not in json.dumps(tables)


async def test_whoever_leaves_leaves_nothing_behind(calls):
    ada, bo, _, his = await furnished(calls)
    assert await calls.found("one", by=bo) == ["One", "One"]
    data(await calls.ask("POST", "/me/delete", {"password": PASSWORD}, by=ada), 204)
    assert await calls.found("one", by=bo) == ["One"]
    assert [each["libraryName"] for each in (await calls.get("/libraries", by=bo))["items"]] == ["Boats"]
    assert (await calls.get(his, by=bo))["sharedTo"] == []
    assert (await calls.get(f"{his}/shares", by=bo))["items"] == []
    rows = await rows_of(calls.application.state.engine)
    gone = ada["userId"].replace("-", "").upper()
    for table, found in rows.items():
        if table != "BackgroundWork":
            assert not [row for row in found if gone in str(row) or ada["userId"] in str(row)], table
    assert len(rows["MediaLibrary"]) == 8


async def test_many_things_are_forgotten_in_few_transactions(shelves):
    ada = await shelves.person()
    home = await shelves.library(ada)
    foo = await shelves.collection(ada, home, "Foo")
    text = "title,collection\n" + "\n".join(f"T{number},Foo" for number in range(50))
    await shelves.direct.do(import_file, ada, ImportFile(text=text, apply=True), library_id=home)
    item = await shelves.book(ada, home, "Lent", collection_id=foo)
    await shelves.direct.do(lend, ada, Lend(to="Ida"), library_id=home, item_id=item.item_id)
    with shelves.recording.scope() as calls:
        await forget(shelves.store, ada.user_id)
    assert calls.operations.count("TransactWriteItems") <= 3
    assert await shelves.kinds() == {}


async def test_the_home_page_says_what_is_lent_and_how_long(embedded_shelves):
    shelves = embedded_shelves
    ada = await shelves.person()
    home = await shelves.library(ada)
    card = shelves.app.home_card
    assert (await card(ada)) == HomeCard()
    assert (await card(await shelves.person())).next_step is not None
    start = shelves.clock.now
    for title, days, until in (("Old", 240, None), ("Due", 20, date(2039, 12, 24)), ("New", 3, None)):
        shelves.clock.now = start - timedelta(days=days)
        item = await shelves.book(ada, home, title)
        await shelves.direct.do(lend, ada, Lend(to="Ida", until=until), library_id=home, item_id=item.item_id)
    shelves.clock.now = start
    said = await card(ada)
    assert said.fact == "3 lent"
    assert [(each.name, each.note) for each in said.waiting] == [
        ("Due", "Ida has it. It was due on 24 December."), ("Old", "Ida has had it for 8 months"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("days", "said"),
    [(0, "less than a day"), (1, "1 day"), (13, "13 days"), (14, "2 weeks"), (59, "8 weeks"), (60, "2 months")],
)
def test_time_is_told_as_people_tell_it(days, said):
    assert how_long(NOW - timedelta(days=days), NOW) == said
