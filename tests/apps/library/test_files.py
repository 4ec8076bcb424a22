"""Import and export: a preview of what would happen, a second run that adds nothing, bad rows by their reason."""

import csv
import io
import threading
from random import Random
from xml.etree import ElementTree

import pytest

from potluck.apps.library import importing, placement
from potluck.apps.library.demo import as_file, hall
from potluck.apps.library.entities import LibraryItem
from potluck.apps.library.fields import owner_of
from potluck.apps.library.import_columns import columns_of
from potluck.apps.library.import_files import NOT_OWNED, UnreadableFile, format_of, rows_of
from potluck.apps.library.importing import ImportFile, import_file
from potluck.apps.library.items import LibraryItemEdit, new_item
from potluck.web.csv_files import BYTE_ORDER_MARK
from tests.apps.library.calls import calls_on, data, problem
from tests.web.reading import BROWSER, Page
from tests.web.suites import bearer

GOODREADS = """Book Id,Title,Author,Additional Authors,ISBN,ISBN13,My Rating,Bookshelves,Exclusive Shelf,My Review,Owned Copies
1,"The Hunger Games (The Hunger Games, #1)",Suzanne Collins,,="0439023483",="9780439023481",5,,read,"Good.<br/><b>Very</b> good &amp; sad",0
2,Harry Potter,J.K. Rowling,"Mary GrandPré, Jim  Dale",="",="",0,"to-read, magic",to-read,,0
3,"Bad ISBN",Somebody,,="0439023484",="",0,,read,,0
4,,Nobody,,="",="",0,,read,,0
5,Owned but unread,Somebody,,="",="",0,to-read,to-read,,1
"""  # noqa: E501


def test_a_goodreads_export_is_taken_as_it_is():
    assert format_of(GOODREADS) == "goodreads"
    games, potter, bad, untitled, unread = rows_of(GOODREADS, "goodreads", to_read=True)
    assert (games.new.title, games.collection, games.new.order) == ("The Hunger Games", "The Hunger Games", 1)
    assert games.new.isbn == "9780439023481"
    assert potter.new.authors == ["J.K. Rowling", "Mary GrandPré", "Jim Dale"]
    assert potter.new.isbn is None
    # A wrong ISBN does not lose the book, and ratings and reviews are kept in its note.
    assert games.new.note == "Rated 5 of 5 on Goodreads\n\nGood.\nVery good & sad"
    assert (bad.number, bad.new.title, bad.new.isbn, bad.reason) == (4, "Bad ISBN", None, None)
    assert bad.remark.startswith("Added without its ISBN. ")
    assert "it would be 3" in bad.remark
    assert (untitled.number, untitled.what) == (5, "Nobody")
    assert untitled.reason == "Enter a title of up to 200 characters."
    assert unread.new.title == "Owned but unread"


def test_what_is_only_to_be_read_is_left_out_unless_it_is_asked_for():
    rows = list(rows_of(GOODREADS, "goodreads"))
    assert [(row.number, row.what) for row in rows if row.reason == NOT_OWNED] == [(3, "Harry Potter")]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (",,,978-0-306-40615-8,,,,", "it would be 7"),
        (",,,,,,,", None),
        (",A,,,,,,", "Enter a title"),
        (f"{'x' * 201},,,,,,,", "Enter a title"),
        ("x,,,,Foo,0,,", "Enter a number in the collection"),
        ("x,,,,Foo,1.5,,", "Enter a number in the collection"),
        ("x,,,,Foo,1001,,", "Enter a number in the collection"),
        ("x,,,,,3,,", "Only items in a collection"),
        (f"x,,,,{'y' * 101},,,", "Enter a collection name of up to 100 characters."),
        ("x,,,,\u202eoof,,,", "Name must not"),
        ("x,,,,a\x07b,,,", "Name must not"),
        ("x,,video,,,,1602,", "Enter a year"),
        ("x,,video,,,,n.d.,", "Enter a year"),
        ("x,,video,,,,,http://10.0.0.1/x.jpg", "not in a private network"),
    ],
)
def test_each_bad_row_has_its_reason(row, reason):
    text = "Title,Authors,Kind,ISBN,Collection,Order,ReleaseYear,PictureUrl\n" + row
    found = list(rows_of(text, "csv"))
    if reason is None:
        assert found == []
    else:
        assert found[0].new is None
        assert found[0].number == 2
        assert reason in found[0].reason


@pytest.mark.parametrize(
    ("title", "taken"),
    [
        ("One (Foo, #2)", ("One", "Foo", 2)),
        ("One (Foo #2.5)", ("One", "Foo", 2)),
        ("One (a) (Foo (b), #3)", ("One", "a) (Foo (b)", 3)),
        ("One  ( Foo ,  #4)", ("One", "Foo", 4)),
        ("One (Foo, #1001)", ("One", "Foo", None)),
        ("One (#1)", ("One (#1)", None, None)),
        ("(Foo, #1)", ("(Foo, #1)", None, None)),
        ("One (Foo, #1) again", ("One (Foo, #1) again", None, None)),
        ("One (Foo, #x)", ("One (Foo, #x)", None, None)),
    ],
)
def test_a_series_is_told_from_the_title(title, taken):
    (row,) = rows_of(f'Title,Author,ISBN13\n"{title}",A,', "goodreads")
    assert (row.new.title, row.collection, row.new.order) == taken


@pytest.mark.parametrize(
    "long",
    [" (" * 60_000, " (" + " " * 100_000 + "#", " (a" + ", #" * 40_000, "(" * 120_000],
    ids=["brackets", "spaces", "numbers", "no spaces"],
)
def test_a_title_without_end_takes_no_time_without_end(long):
    (row,) = rows_of(f'Title,Author,ISBN13\n"One{long}x",A,', "goodreads")
    assert row.reason == "Enter a title of up to 200 characters."


@pytest.mark.parametrize("text", ["name,author\na,b", 'title\n"open', "", "title\n" + "x\n" * 20_001])
def test_what_is_no_such_file_is_refused_as_a_whole(text):
    with pytest.raises(UnreadableFile):
        list(rows_of(text, "csv"))


@pytest.fixture
async def calls(tmp_path):
    async with calls_on(tmp_path) as calls:
        yield calls


async def test_a_preview_writes_nothing_and_a_second_run_adds_nothing(calls):
    ada = await calls.person()
    home = await calls.library(ada)
    text = as_file(hall()) + "book," + "x" * 201 + "\n"
    preview = data(await calls.ask("POST", f"{home}/import", {"text": text}, by=ada))
    assert (preview["applied"], preview["alreadyThere"], len(preview["leftOut"])) == (False, 0, 1)
    assert preview["new"] >= 240
    assert (await calls.get(home, by=ada))["totalItems"] == 0
    applied = data(await calls.ask("POST", f"{home}/import", {"text": text, "apply": True}, by=ada))
    assert all(each["itemId"] is None for each in preview["first"])
    one = await calls.get(f"{home}/items/{applied['first'][0]['itemId']}", by=ada)
    assert one["title"] == preview["first"][0]["title"]
    unnamed = [each | {"itemId": None} for each in applied["first"]]
    assert applied | {"applied": False, "first": unnamed} == preview
    assert (await calls.get(home, by=ada))["totalItems"] == preview["new"]
    again = data(await calls.ask("POST", f"{home}/import", {"text": text, "apply": True}, by=ada))
    assert (again["new"], again["alreadyThere"]) == (0, preview["new"])
    collections = (await calls.get(f"{home}/collections", by=ada))["items"]
    assert {(each["name"], each["itemCount"]) for each in collections} == {
        ("Inspector Vasik", 5), ("Low Tide", 4), ("The Salt Roads", 3),
    }  # fmt: skip


async def test_thousands_of_rows_keep_nobody_else_waiting(calls, monkeypatch):
    ada = await calls.person()
    home = await calls.library(ada)
    in_loop = set()

    def made(*args):
        in_loop.add(threading.current_thread() is threading.main_thread())
        return new_item(*args)

    monkeypatch.setattr(importing, "new_item", made)
    data(await calls.ask("POST", f"{home}/import", {"text": "Title\nEmma\n"}, by=ada))
    assert in_loop == {False}


async def test_an_export_is_imported_again_as_it_was(calls):
    ada = await calls.person()
    home, cabin = await calls.library(ada), await calls.library(ada, "Cabin")
    foo = await calls.make(f"{home}/collections", {"name": '=Foo, "bar"'}, by=ada)
    await calls.make(
        f"{home}/books",
        {"title": "=HYPERLINK(\"x\")", "authors": ["A; B", "-C"], "isbn": "0306406152", "summary": "two\nlines",
         "collectionId": foo["collectionId"], "order": 7},
        by=ada,
    )  # fmt: skip
    await calls.make(f"{home}/videos", {"title": "'Film'", "directors": ["D"], "cast": ["E"], "duration": 99}, by=ada)
    answer = await calls.ask("GET", f"{home}/export?format=csv", by=ada)
    assert answer.content.startswith(BYTE_ORDER_MARK)
    assert 'filename="Home.csv"' in answer.headers["content-disposition"]
    exported = answer.text
    cells = list(csv.reader(io.StringIO(exported.removeprefix("\ufeff"))))
    assert not any(cell[:1] in ("=", "+", "-", "@") for row in cells for cell in row)
    applied = data(await calls.ask("POST", f"{cabin}/import", {"text": exported, "apply": True}, by=ada))
    assert (applied["new"], applied["leftOut"]) == (2, [])
    same = ("title", "authors", "isbn", "summary", "order", "collectionName", "directors", "cast", "duration", "kind")
    before, after = [
        [{name: each.get(name) for name in same} for each in (await calls.get(f"{at}/items", by=ada))["items"]]
        for at in (home, cabin)
    ]
    assert before == after


async def exported(calls, at, by):
    return (await calls.ask("GET", f"{at}/export?format=csv", by=by)).text


async def test_export_then_import_is_equal_and_counted(calls):
    ada = await calls.person()
    home, cabin = await calls.library(ada), await calls.library(ada, "Cabin")
    one, two = [
        (await calls.make(f"{home}/collections", {"name": name}, by=ada))["collectionId"] for name in ("Saga", "Épopée")
    ]
    for said in (
        {"title": "Tome 1", "collectionId": one},
        {"title": "Tome 1", "collectionId": two},
        {"title": "Copy", "authors": ["A"], "isbn": "0306406152"},
        {"title": "Copy", "authors": ["A"], "isbn": "0306406152"},
        {"title": "Copy", "authors": ["B"], "isbn": "0306406152", "note": "mine"},
        {"title": "Copy", "isbn": "0306406152", "collectionId": one},
        {"title": "C"},
        {"title": "C++", "authors": ["A; B", "C\\D"]},
        {"title": "'=1+1", "summary": "=2", "note": "'"},
        {"isbn": "080442957X"},
    ):
        await calls.make(f"{home}/books", said, by=ada)
    file = await exported(calls, home, ada)
    sent = {"text": file, "apply": True}
    said = data(await calls.ask("POST", f"{cabin}/import", sent, by=ada))
    assert (said["new"], said["awaited"], said["alreadyThere"], said["leftOut"]) == (10, 1, 0, [])
    assert sorted((await exported(calls, cabin, ada)).splitlines()) == sorted(file.splitlines())
    for at in (cabin, home):
        again = data(await calls.ask("POST", f"{at}/import", sent, by=ada))
        assert (again["new"], again["alreadyThere"]) == (0, 10)
        assert (await calls.get(at, by=ada))["totalItems"] == 10


async def test_a_file_with_one_copy_more_adds_that_copy(calls):
    ada = await calls.person()
    home = await calls.library(ada)
    file = "title,authors,isbn,collection\n" + "Atlas,A,,\n" * 2 + "Tome 1,A,,Saga\n"
    for text, new in (
        (file, 3),
        (file, 0),
        (file + "Atlas,A,,\n", 1),
        (file + "Tome 1,A,,Other saga\n", 1),
        # A book that has an ISBN by now is the one of the file that has none; another title is another book.
        ("title,authors,isbn\nAtlas,A,0306406152\n", 0),
        ("title,authors,isbn\nAtlas,B,0306406152\n", 1),
        # A title that was corrected is known by its ISBN.
        ("title,authors,isbn\nAn atlas,B,0306406152\n", 0),
        # A list says nothing of people and collections.
        ("atlas\nTOME 1", 0),
        ("Atlas\n" * 4 + "Zenith", 1),
        ("0306406152", 0),
    ):
        said = data(await calls.ask("POST", f"{home}/import", {"text": text, "apply": True}, by=ada))
        assert said["new"] == new, text


async def test_a_guest_exports_no_notes(calls):
    ada, bo = await calls.person(), await calls.person("Bo")
    home = await calls.library(ada)
    book = await calls.make(f"{home}/books", {"title": "One", "note": "a secret"}, by=ada)
    await calls.invited(home, ada, bo)
    assert "a secret" in await exported(calls, home, ada)
    for path in ("/export?format=csv", "/export?format=json", "/export?format=marcxml", f"/items/{book['itemId']}"):
        answer = await calls.ask("GET", f"{home}{path}", by=bo)
        assert answer.status_code == 200
        assert "secret" not in answer.text
        assert '"note"' not in answer.text


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("title;authors\nOne;A\n", "csv"),
        ("title\tauthors\nOne\tA\n", "csv"),
        ("sep=;\ntitle;authors\nOne;A\n", "csv"),
        ("\ufeffTitel;Autor\nOne;A\n", "csv"),
        ("TITRE,Auteur(s)\r\nOne,A\r\n", "csv"),
        ("Título;Autores\nOne;A", "csv"),
        ('"Title, whole";x\n1;2', "csv"),
        ("Mitä\tKuka\nOne\tA\nTwo\tB", "csv"),
        ("One\nTwo, three, and four\n1984", "titles"),
        ('Slowly "they" came\nOne', "titles"),
        ('"Slowly" they came\nOne', "titles"),
        ("978-0-306-40615-7", "isbns"),
        ("9780306406157\n0306406152\n123", "isbns"),
        ("1984\n2666", "titles"),
    ],
)
def test_a_file_is_read_by_its_separators_and_headers(text, format):
    assert format_of(text) == format
    if "One" in text and format == "csv" and "Mitä" not in text:
        (row,) = rows_of(text, format)
        assert (row.new.title, row.new.authors) == ("One", ["A"])


def test_a_list_may_mix_titles_and_isbns_and_a_wrong_isbn_is_no_title():
    title, isbn, wrong, year = rows_of("Ebb\n0306406152\n978-0-306-40615-8\n1984", "titles")
    assert (title.new.title, isbn.isbn, year.new.title) == ("Ebb", "9780306406157", "1984")
    assert "it would be 7" in wrong.reason


def test_columns_of_any_name_are_mapped_one_by_one():
    text = "Mitä;Kuka;Paikka;Mitä\nOne;A;Shelf 3;x\nTwo;B;;y"
    with pytest.raises(UnreadableFile, match="Choose which column has the titles"):
        list(rows_of(text, "csv"))
    rows = list(rows_of(text, "csv", ["title", "authors", "note", "title"]))
    assert [(row.new.title, row.new.authors, row.new.note) for row in rows] == [
        ("One", ["A"], "Shelf 3"), ("Two", ["B"], None),
    ]  # fmt: skip
    assert [(each.header, each.field, each.example) for each in columns_of(text)] == [
        ("Mitä", "skip", "One"), ("Kuka", "skip", "A"), ("Paikka", "skip", "Shelf 3"), ("Mitä", "skip", "x"),
    ]  # fmt: skip


async def test_columns_are_chosen_in_the_preview(calls):
    ada = await calls.person()
    home = await calls.library(ada)
    page = f"/library/{home.removeprefix('/libraries/')}/import"
    here = bearer(ada) | BROWSER | {"sec-fetch-site": "same-origin"}
    file = {"text": "Mitä;Kuka\nOne;A\nTwo;B", "name": "kirjat.csv"}
    asked = Page((await calls.client.post(page, data=file, headers=here)).text)
    assert "Which column is which?" in asked.words
    assert [each["id"] for each in asked.all("select")] == ["format", "column-1", "column-2"]
    sent = {**file, "format": "csv", "columns": ["title", "skip"]}
    shown = Page((await calls.client.post(page, data=sent, headers=here)).text)
    assert "Check before adding" in shown.words
    assert "Add 2" in shown.words
    done = await calls.client.post(f"{page}/apply", data=sent, headers=here)
    shelf = await calls.client.get(done.headers["location"], headers=here)
    assert "2 items added to" in shelf.text
    items = (await calls.get(f"{home}/items", by=ada))["items"]
    assert [(each["title"], each["authors"]) for each in items] == [("One", []), ("Two", [])]


async def test_marcxml_and_json_have_all_of_it(calls):
    ada = await calls.person()
    home = await calls.library(ada)
    said = {"title": 'A <b> & "c" ]]>', "authors": ["One", "Two"], "isbn": "0306406152", "summary": "S"}
    await calls.make(f"{home}/books", said, by=ada)
    answer = await calls.ask("GET", f"{home}/export?format=marcxml", by=ada)
    assert answer.headers["content-type"] == "application/marcxml+xml; charset=utf-8"
    root = ElementTree.fromstring(answer.text)
    marc = "{http://www.loc.gov/MARC21/slim}"
    fields = {
        each.get("tag"): "".join(part.text for part in each) for each in root.findall(f"{marc}record/{marc}datafield")
    }
    assert fields == {
        "020": "9780306406157", "100": "One", "245": "A <b> & \"c\" ]]>", "520": "S", "700": "Two",
    }  # fmt: skip
    exported = data(await calls.ask("GET", f"{home}/export?format=json", by=ada))
    assert exported["items"] == (await calls.get(f"{home}/items", by=ada))["items"]
    problem(await calls.ask("GET", f"{home}/export?format=pdf", by=ada), 422, "invalid-fields")


async def test_a_file_that_cannot_be_read_is_refused_and_a_large_one_is_taken(calls):
    ada = await calls.person()
    home = await calls.library(ada)
    refused = problem(
        await calls.ask("POST", f"{home}/import", {"text": "name\nx", "format": "csv"}, by=ada), 422, "invalid-fields"
    )
    assert refused["errors"][0]["field"] == "text"
    large = {"text": "title\nOne\n" + " \n" * 1_500_000}
    said = data(await calls.ask("POST", f"{home}/import", {**large, "format": "isbns"}, by=ada), 422)
    assert "20,000" in said["detail"]
    assert (await calls.ask("POST", f"{home}/books", {"title": "x" * 1_000_001}, by=ada)).status_code == 413


async def test_what_has_no_end_of_line_is_refused_and_a_library_takes_only_so_many(calls, monkeypatch):
    ada = await calls.person()
    home = await calls.library(ada)
    refused = problem(await calls.ask("POST", f"{home}/import", {"text": "x" * 200_000}, by=ada), 422, "invalid-fields")
    assert [each["field"] for each in refused["errors"]] == ["text"]
    monkeypatch.setattr(placement, "MOST_ITEMS", 2)
    file = {"text": "title\na\nb\nc", "apply": True}
    problem(await calls.ask("POST", f"{home}/import", file, by=ada), 409, "too-many")
    data(await calls.ask("POST", f"{home}/import", file | {"text": "title\na\nb"}, by=ada))
    problem(await calls.ask("POST", f"{home}/books", {"title": "c"}, by=ada), 409, "too-many")
    assert (await calls.get(home, by=ada))["totalItems"] == 2


async def test_others_who_add_at_the_same_time_get_in_nobody_s_way(interrupted_shelves):
    shelves = interrupted_shelves
    ada = await shelves.person()
    home = await shelves.library(ada)
    sent = ImportFile(text="title,collection\nOne,Foo\nTwo,Foo\nThree,", apply=True)
    # The collection that it is about to make is made by somebody else.
    shelves.meanwhile(lambda: shelves.collection(ada, home, "foo"))
    said = await shelves.direct.do(import_file, ada, sent, library_id=home)
    assert said.new == 3
    items = await shelves.store.all(LibraryItem.stored_in(owner_of(ada.user_id), home))
    assert {each.collection_name for each in items} == {"foo", None}
    assert await shelves.counts_are_right(ada) == (3, 2)
    assert (await shelves.direct.do(import_file, ada, sent, library_id=home)).new == 0


async def test_an_import_of_random_rows_counts_right_on_both_engines(shelves):
    ada = await shelves.person()
    home = await shelves.library(ada)
    drawn = Random(3)
    lines = [f"T{number},{drawn.choice(['', 'Foo', 'Bar', 'Baz'])}" for number in range(120)]
    sent = ImportFile(text="title,collection\n" + "\n".join(lines), apply=True)
    assert (await shelves.direct.do(import_file, ada, sent, library_id=home)).new == 120
    items, members = await shelves.counts_are_right(ada)
    assert (items, members) == (120, sum(not line.endswith(",") for line in lines))
    one = (await shelves.store.all(LibraryItem.stored_in(owner_of(ada.user_id), home)))[0]
    await shelves.change(ada, one, LibraryItemEdit(title="Renamed by hand"))
    assert (await shelves.direct.do(import_file, ada, sent, library_id=home)).new == 1
