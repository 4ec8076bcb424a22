"""The library in a browser: books come in, stand together, are lent and come back, and a friend looks in."""

import io
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from PIL import Image
from playwright.sync_api import expect

from potluck.apps.library.awaited_titles import title_to_come
from tests.e2e.browsing import Visit
from tests.e2e.coming_in import FROM_HERE, join
from tests.e2e.reading_rooms import ReadingRoom, reading_room_on
from tests.elsewhere import Said, another_host

pytestmark = pytest.mark.needs("chromium", "axe-core")

PANTRY, HARBOUR, NOBODYS, MOTHS = "9780306406157", "9780804429573", "9791090636071", "9783161484100"
LATER = "9780140449136"
# Filled once the catalogue answers for LATER too.
answering: list[bool] = []
TRAMS = ("The Green Tram", "Nine Umbrellas", "A Cold Room", "Last Stop, Lipova")

# A camera that sees one book after the other, as a browser that reads barcodes would tell.
CAMERA = """
window.BarcodeDetector = class {
  static async getSupportedFormats() { return ["ean_13"]; }
  async detect() { return (window.seen ?? []).map((rawValue) => ({ rawValue })); }
};
navigator.mediaDevices.getUserMedia = async () => {
  const canvas = document.createElement("canvas");
  const drawn = canvas.getContext("2d");
  setInterval(() => drawn.fillRect(0, 0, 9, 9), 50);
  return canvas.captureStream(20);
};
"""


def cover() -> bytes:
    written = io.BytesIO()
    Image.new("RGB", (200, 300), "#e7623e").save(written, "PNG")
    return written.getvalue()


@pytest.fixture(scope="module")
def room(tmp_path_factory) -> Iterator[ReadingRoom]:
    covers: list[str] = []

    def answer(path: str) -> Said:
        if path == "/harbour.png":
            return Said(cover(), media_type="image/png")
        known = {
            PANTRY: {"title": "The Cartographer’s Pantry", "authors": [{"name": "Odile Brandt"}]},
            HARBOUR: {"title": "Harbour Lights", "authors": [{"name": "Tomas Ekberg"}], "cover": {"large": covers[0]}},
            LATER: {"title": "After the Outage"},
            MOTHS: {"title": "Moth Season", "authors": [{"name": "Ines Calloway"}]},
        }
        (key,) = parse_qs(urlsplit(path).query)["bibkeys"]
        if key.removeprefix("ISBN:") == LATER and not answering:
            return Said(b"", 503)
        book = known.get(key.removeprefix("ISBN:"))
        return Said(json.dumps({} if book is None else {key: book}).encode())

    with another_host(answer) as host:
        covers.append(host.address("/harbour.png", "covers.example"))
        with reading_room_on(tmp_path_factory.mktemp("library"), host.address()) as room:
            yield room


@pytest.fixture
def window(visit, room):
    return lambda path, *args, **options: visit(path, *args, at=room.address, **options)


def signed_up(window, name: str, path: str = "/library") -> tuple[Visit, str]:
    seen = window("/sign-in")
    email = join(seen, name)
    seen.open(path)
    return seen, email


def call(visit: Visit, method: str, path: str, body: Any = None, status: int = 0) -> Any:
    """Ask the JSON door as this window's person, where the typing is not what is looked at."""
    answer = visit.page.request.fetch(f"{visit.address}/api/v1{path}", method=method, data=body, headers=FROM_HERE)
    assert answer.status == status if status else answer.ok, answer.text()
    return answer.json() if answer.body() and not status else None


def library(visit: Visit, name: str, *titles: str, **said: Any) -> tuple[str, dict[str, str]]:
    """A library with these books: its id, and theirs by title."""
    library_id = call(visit, "POST", "/libraries", {"libraryName": name})["libraryId"]
    made = {each: call(visit, "POST", f"/libraries/{library_id}/books", {"title": each, **said}) for each in titles}
    return library_id, {title: each["itemId"] for title, each in made.items()}


def looked_at(seen: Visit, name: str = "", shown_in: str = "light") -> None:
    """For everyone, in both themes, and down to 320 pixels; and kept as a picture."""
    # In the second theme nothing but the colours is another.
    for theme, only in (("dark", None), ("light", "color-contrast")):
        seen.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        found = seen.violations(only=only)
        assert found == [], (name, found)
        if name and theme == shown_in:
            seen.picture(f"library-{name}-{theme}")
    size = seen.page.viewport_size
    for width in (320, size["width"]):
        seen.page.set_viewport_size({"width": width, "height": size["height"]})
        assert seen.overflow() == 0, (name, width)
    seen.page.emulate_media(reduced_motion="no-preference")
    seen.check()


def on_shelf(seen: Visit) -> list[str]:
    return seen.page.locator("#shelf > [id] .hidden-text").all_text_contents()


def live(seen: Visit) -> None:
    expect(seen.page.locator("[data-live-badge]:not(.off)")).to_have_text("Live")


def toast(seen: Visit, words: str) -> None:
    expect(seen.page.locator("#toasts")).to_contain_text(words)


def test_books_come_in_by_isbn_by_camera_many_at_once_and_by_hand(window):
    seen, _ = signed_up(window, "Mara Okafor")
    page = seen.page
    looked_at(seen, "first")
    # The first book needs no shelf; it is typed at once, and brings one.
    expect(page.get_by_label("Title or ISBN")).to_be_focused()
    page.keyboard.type("On Mending")
    seen.follow(page.get_by_role("button", name="Add book"))
    toast(seen, "On Mending added to Bookshelf.")
    seen.open("/library")
    page.get_by_label("Name").fill("Hall shelf")
    seen.follow(page.get_by_role("button", name="Create shelf"))
    expect(page.get_by_text("Room for the first book")).to_be_visible()
    looked_at(seen, "empty")
    page.add_init_script(CAMERA)
    seen.follow(page.get_by_role("link", name="Add book").first)

    # By a number that cannot be one, then by one that can.
    page.get_by_label("ISBN", exact=True).fill("978-0-306-40615-8")
    seen.follow(page.get_by_role("button", name="Look up book"))
    expect(page.get_by_text("After these 12, it would be 7")).to_be_visible()
    page.get_by_label("ISBN", exact=True).fill("0-306-40615-2")
    seen.follow(page.get_by_role("button", name="Look up book"))
    expect(page.get_by_text("Found in Open Library")).to_be_visible()
    looked_at(seen, "found")
    seen.follow(page.locator(".found").get_by_role("button", name="Add to Hall shelf"))
    toast(seen, "The Cartographer’s Pantry added to Hall shelf")
    expect(page.get_by_label("ISBN", exact=True)).to_be_focused()

    # One book after the other in front of the camera: what is there is said, and one can be taken back.
    page.get_by_role("button", name="Scan barcodes").tap()
    came_in = page.get_by_role("list", name="Just added")
    for isbn, words in (
        (HARBOUR, "Harbour Lights"), (PANTRY, "Already on the shelf"), (NOBODYS, "Title missing"),
        (MOTHS, "Moth Season"),
    ):  # fmt: skip
        page.evaluate("(isbn) => (window.seen = [isbn])", isbn)
        expect(came_in).to_contain_text(words)
    expect(came_in.get_by_role("listitem")).to_have_count(4)
    page.get_by_role("button", name="Undo: Moth Season").tap()
    expect(came_in).to_contain_text("Removed")
    page.get_by_role("button", name="Stop scanning").tap()
    looked_at(seen, "scanned", "dark")

    # By hand, into a collection that is made on the way; a video too.
    for number, (title, kind) in enumerate(
        (("The Green Tram", "Book"), ("Nine Umbrellas", "Book"), ("Ferry", "Video"))
    ):
        page.get_by_role("radio", name=kind).check()
        page.get_by_label("Title", exact=True).fill(title)
        page.get_by_label("Authors or directors").fill("Dana Moravec")
        if number < 2:
            page.get_by_label(re.compile("^Collection")).fill("inspector vasik" if number else "Inspector Vasik")
        else:
            expect(page.get_by_label("Year")).to_be_visible()
            expect(page.locator("[data-spine]")).to_contain_text("Ferry")
        put = page.locator("#by-hand").get_by_role("button", name="Add to Hall shelf")
        if number == 0:
            # Without a signal nothing is sent, and nothing that was typed is lost.
            page.context.set_offline(True)
            put.tap()
            toast(seen, "Nothing was sent, and what you typed is still here.")
            page.context.set_offline(False)
        elif number == 1:
            # A machine without any network that runs Potluck itself.
            page.evaluate("Object.defineProperty(navigator, 'onLine', { get: () => false })")
        seen.follow(put)
        if number == 0:
            # By now the browser has said all it has to say of the page before, where the spine was asked for as well.
            seen.without_network()
        toast(seen, f"{title} added to Hall shelf")

    # Many at once: everything is shown before anything is added.
    page.get_by_label("One ISBN or title per line").fill(f"{MOTHS}\n{HARBOUR}\n978-0-306-40615-8\nsee notes\n{NOBODYS}")
    seen.follow(page.get_by_role("button", name="Preview 5 rows"))
    expect(page.locator(".import-facts dd")).to_have_text(["2", "2", "1"])
    expect(page.get_by_text("row 3")).to_be_visible()
    looked_at(seen, "preview")
    seen.follow(page.get_by_role("button", name="Add 2 items"))
    toast(seen, "2 items added to Hall shelf")
    assert on_shelf(seen) == [
        "The Cartographer’s Pantry, Odile Brandt", "Ferry, Dana Moravec, video", "Harbour Lights, Tomas Ekberg",
        "Collection: Inspector Vasik, 2 volumes", "Inspector Vasik 1: The Green Tram, Dana Moravec",
        "Inspector Vasik 2: Nine Umbrellas, Dana Moravec",
        f"{title_to_come(NOBODYS)}, title missing", "Moth Season, Ines Calloway", "see notes",
    ]  # fmt: skip
    # The cover comes by itself, and stands face out.
    expect(page.locator(".faced img.face")).to_be_visible()
    looked_at(seen, "shelf")
    for look in ("Covers", "List"):
        seen.follow(page.get_by_role("link", name=look))
        looked_at(seen, look.lower())
    # It is looked at in the same way the next time.
    seen.open(urlsplit(page.url).path)
    expect(page.get_by_role("link", name="List")).to_have_attribute("aria-current", "true")


def test_a_book_waits_for_its_title_until_the_catalogue_answers(window):
    seen, _ = signed_up(window, "Mara Okafor")
    page = seen.page
    hall, _ = library(seen, "Hall shelf")
    seen.open(f"/library/{hall}/add")
    page.get_by_label("ISBN", exact=True).fill(LATER)
    seen.follow(page.get_by_role("button", name="Look up book"))
    expect(page.get_by_text("The title can’t be looked up right now.")).to_be_visible()
    looked_at(seen, "unreachable")
    seen.follow(page.get_by_role("button", name="Add without title"))
    toast(seen, f"{title_to_come(LATER)} added to Hall shelf")
    # Its page asks at once, and the catalogue does not answer yet.
    seen.forgive("status of 409")
    seen.follow(page.locator("#toasts").get_by_role("link", name="View"))
    expect(page.get_by_role("heading", name="Title missing")).to_be_visible()
    looked_at(seen, "awaited")
    # It can be edited meanwhile.
    seen.follow(page.get_by_role("link", name="Enter title"))
    page.get_by_label("Note (optional)").fill("From the fair")
    looked_at(seen, "edit-awaited")
    seen.follow(page.get_by_role("button", name="Save changes"))
    expect(page.get_by_role("heading", name="Title missing")).to_be_visible()
    answering.append(True)
    # Opening its page looks the title up, and shows it as soon as it is there.
    page.reload()
    expect(page.get_by_role("heading", name="After the Outage")).to_be_visible()
    expect(page.get_by_role("heading", name="Title missing")).to_have_count(0)
    expect(page.get_by_text("From the fair")).to_be_visible()


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-8-sig"])
def test_a_file_is_read_as_its_program_wrote_it(window, encoding):
    seen, _ = signed_up(window, "Mara Okafor")
    page = seen.page
    hall, _ = library(seen, "Hall shelf")
    seen.open(f"/library/{hall}/import")
    file = "Bók;Höfundur;Athugasemd\nÍslandsklukkan;Halldór Laxness;lána\nSjálfstætt fólk;Halldór Laxness;\n"
    page.locator("[data-file]").set_input_files(
        {"name": "books.csv", "mimeType": "text/csv", "buffer": file.encode(encoding)}
    )
    expect(page.get_by_role("heading", name="Which column is which?")).to_be_visible()
    header, first, *_ = (line.split(";") for line in file.splitlines())
    for name, example, field in zip(header, first, ("Title", "Authors", "Note"), strict=True):
        expect(page.get_by_text(example, exact=True)).to_be_visible()
        page.get_by_label(name).select_option(label=field)
    if encoding == "cp1252":
        looked_at(seen, "columns")
    seen.follow(page.get_by_role("button", name="Update preview"))
    expect(page.locator(".import-facts dd")).to_have_text(["2", "0", "0"])
    if encoding == "cp1252":
        looked_at(seen, "mapped")
    seen.follow(page.get_by_role("button", name="Add 2 items"))
    toast(seen, "2 items added to Hall shelf")
    items = call(seen, "GET", f"/libraries/{hall}/items")["items"]
    (one,) = [each for each in items if each["title"] == first[0]]
    assert (one["authors"], one["note"]) == ([first[1]], first[2])


def test_a_file_that_is_too_large_is_refused_before_it_is_read(window):
    seen, _ = signed_up(window, "Mara Okafor")
    page = seen.page
    hall, _ = library(seen, "Hall shelf")
    seen.open(f"/library/{hall}/import")
    page.evaluate("() => void (File.prototype.arrayBuffer = () => { throw new Error('it was read'); })")
    page.locator("[data-file]").set_input_files(
        {"name": "books.csv", "mimeType": "text/csv", "buffer": b"x" * 19_000_000}
    )
    expect(page.get_by_text("more than the 9 MB that can be read")).to_be_visible()
    expect(page.get_by_role("heading", name="Import a list")).to_be_visible()


def test_books_stand_together_are_lent_and_come_back(window):
    seen, _ = signed_up(window, "Mara Okafor")
    page = seen.page
    hall, ids = library(seen, "Hall shelf", *TRAMS, "Dust & Marmalade")
    library(seen, "Bedroom")
    seen.open(f"/library/{hall}/group")
    for title in TRAMS:
        page.get_by_text(title).tap()
    page.get_by_role("combobox", name="Collection").fill("Inspector Vasik")
    looked_at(seen, "group")
    seen.follow(page.get_by_role("button", name="Group items"))
    toast(seen, "Items grouped")

    # In another order, by the keyboard.
    names = page.locator("#watch .row-name")
    assert names.all_text_contents() == ["A Cold Room", "The Green Tram", "Last Stop, Lipova", "Nine Umbrellas"]
    page.get_by_role("button", name=re.compile("^Move A Cold Room, place 1")).press("Space")
    with page.expect_response(lambda answer: answer.url.endswith("/order")):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    moved = ["The Green Tram", "A Cold Room", "Last Stop, Lipova", "Nine Umbrellas"]
    # What the server tells of it comes row by row: in between, two rows may have one place.
    expect(names).to_have_text(moved)
    looked_at(seen, "collection")
    page.reload()
    expect(names).to_have_text(moved)
    assert page.locator("#watch [data-number]").all_text_contents() == ["1", "2", "3", "4"]

    # What others do shows up at once: another title, another name, one volume less, and one more.
    expect(page.locator("[data-live-badge]")).to_have_text("Live")
    here = f"/libraries/{hall}/collections/{page.url.rpartition('/')[2].partition('?')[0]}"
    green = f"/libraries/{hall}/items/{ids['The Green Tram']}"
    call(seen, "PATCH", green, {"title": "The Green Bus", "version": call(seen, "GET", green)["version"]})
    expect(names).to_have_text(["The Green Bus", *moved[1:]])
    call(seen, "PATCH", here, {"name": "Vasik", "version": call(seen, "GET", here)["version"]})
    expect(page.get_by_role("heading", name="Vasik", exact=True)).to_be_visible()
    call(seen, "PATCH", green, {"collectionId": None, "version": call(seen, "GET", green)["version"]})
    expect(page.get_by_text("3 volumes, in order")).to_be_visible()
    expect(names).to_have_text(moved[1:])

    # Lent with a name, back with a touch, lent again with a touch.
    seen.follow(page.get_by_role("link", name="A Cold Room"))
    page.get_by_label("Name", exact=True).fill("Grandma Edith")
    seen.follow(page.get_by_role("button", name="Lend book"))
    toast(seen, "A Cold Room lent to Grandma Edith")
    seen.follow(page.get_by_role("button", name="Mark as returned"))
    undo = page.get_by_role("button", name="Undo")
    # What is said stays for some seconds, and for as long as it has the focus.
    undo.focus()
    toast(seen, "A Cold Room returned by Grandma Edith")
    seen.follow(undo)
    seen.open(f"/library/{hall}/items/{ids['Dust & Marmalade']}")
    seen.follow(page.get_by_role("button", name="Grandma Edith Has 1 item of yours"))
    seen.open("/library/lent")
    expect(page.get_by_text("2 items lent to 1 person")).to_be_visible()
    expect(page.locator("[data-live-badge]")).to_have_text("Live")
    looked_at(seen, "lent")
    # Somebody lends one more elsewhere; whoever is at a button is left alone until they go on.
    page.get_by_role("button", name="Mark Dust & Marmalade as returned").focus()
    call(seen, "POST", f"{green}/lend", {"to": "Ida"})
    expect(page.locator("#watch > li")).to_have_count(3)
    page.get_by_role("link", name="Search").focus()
    expect(page.get_by_role("heading", name="Ida")).to_be_visible()
    call(seen, "POST", f"{green}/return")
    expect(page.get_by_text("2 items lent to 1 person")).to_be_visible()
    seen.follow(page.get_by_role("button", name="Mark Dust & Marmalade as returned"))
    toast(seen, "Dust & Marmalade returned by Grandma Edith")
    expect(page.get_by_text("1 item lent to 1 person")).to_be_visible()

    # Found while one types, misspelt.
    seen.open("/library/titles")
    looked_at(seen, "titles")
    seen.open("/library/search")
    page.get_by_role("searchbox").press_sequentially("dsut marmelade", delay=20)
    expect(page.get_by_role("link", name="Dust & Marmalade Hall shelf")).to_be_visible()
    # What was found for the first letters may still stand there.
    expect(page.locator("mark")).to_have_text(["Dust", "Marmalade"])
    page.get_by_role("searchbox").fill("vasik cold")
    expect(page.get_by_text("Grandma Edith has it")).to_be_visible()
    looked_at(seen, "search")
    page.get_by_role("searchbox").fill("zanzibar")
    expect(page.get_by_text("No “zanzibar” on any shelf")).to_be_visible()

    # Changed, moved to another library with its history, and deleted.
    here = f"/library/{hall}/items/{ids['Dust & Marmalade']}"
    seen.open(f"{here}/edit")
    page.get_by_label("Authors").fill("Clio Vance")
    looked_at(seen)
    seen.follow(page.get_by_role("button", name="Save changes"))
    expect(page.locator("#about-top")).to_contain_text("Clio Vance")
    looked_at(seen, "item")
    seen.follow(page.get_by_role("link", name="Move"))
    looked_at(seen)
    page.get_by_label("Shelf and collection").select_option(label="Bedroom, no collection")
    page.get_by_label("New collection").fill("Kitchen")
    seen.follow(page.get_by_role("button", name="Move book"))
    toast(seen, "Moved to Kitchen")
    expect(page.get_by_text("Returned by Grandma Edith")).to_be_visible()
    seen.follow(page.get_by_role("link", name="Delete"))
    looked_at(seen)
    seen.follow(page.get_by_role("button", name="Delete book"))
    toast(seen, "Item deleted")
    seen.open(f"/library/{hall}/settings")
    looked_at(seen, "settings")
    page.get_by_text("I want to delete this shelf").tap()
    seen.follow(page.get_by_role("button", name="Delete anyway"))
    toast(seen, "Shelf deleted")
    assert page.locator(".board-name").all_text_contents() == ["Bedroom"]


def test_a_friend_looks_in_live_and_loses_it_when_the_share_ends(window):
    owner, _ = signed_up(window, "Mara Okafor")
    hall, ids = library(owner, "Hall shelf", "Paper Boats")
    call(owner, "POST", f"/libraries/{hall}/items/{ids['Paper Boats']}/lend", {"to": "Ida"})
    owner.open("/library/sharing")
    owner.follow(owner.page.get_by_role("link", name="Share shelf"))
    owner.page.get_by_label("E-mail").fill("leo@example.org")
    owner.follow(owner.page.get_by_role("button", name="Invite"))
    link = owner.page.locator(".made code").inner_text()
    looked_at(owner, "shared")
    owner.page.reload(wait_until="load")
    assert link not in owner.page.content()

    guest, _ = signed_up(window, "Leo Lindqvist", "/library/search")
    guest.page.goto(link)
    guest.page.wait_for_url(re.compile(r"/invitation$"))
    guest.follow(guest.page.get_by_role("button", name="Join"))
    toast(guest, "You can see this shelf now")
    live(guest)
    # What is lent stands there for a guest, and nothing can be done with it.
    assert on_shelf(guest) == ["Paper Boats"]
    assert "Ida" not in guest.page.content()
    expect(guest.page.get_by_role("link", name="Add book")).to_have_count(0)
    looked_at(guest, "guest")
    call(owner, "POST", f"/libraries/{hall}/books", {"title": "Harbour Knots"})
    expect(guest.page.locator("#shelf > [id]")).to_have_count(2)
    expect(guest.page.locator("[data-items]")).to_have_text("2 items")
    # On one part of a longer shelf, what stands on another part does not show up.
    guest.page.evaluate("document.getElementById('shelf').dataset.liveTo = 'item#q'")
    for title in ("Zinc", "Ash & Honey"):
        call(owner, "POST", f"/libraries/{hall}/books", {"title": title})
    expect(guest.page.locator("#shelf > [id]")).to_have_count(3)
    assert on_shelf(guest) == ["Ash & Honey", "Harbour Knots", "Paper Boats"]

    item = guest.page.context.new_page()
    item.goto(f"{guest.address}/library/{hall}/items/{ids['Paper Boats']}")
    call(owner, "PATCH", f"/libraries/{hall}/items/{ids['Paper Boats']}", {"title": "Paper Ships", "version": 2})
    expect(item.get_by_role("heading", name="Paper Ships")).to_be_visible()
    cover = call(guest, "GET", f"/libraries/{hall}/items/{ids['Paper Boats']}")["cover"].removeprefix("/api/v1")
    assert [each["title"] for each in call(guest, "GET", "/library-search?q=paper")["items"]] == ["Paper Ships"]
    guest.check()

    owner.open("/library/sharing")
    looked_at(owner, "sharing")
    # From here on the guest's windows are refused what they ask for, which browsers tell of.
    guest.expected = "404"
    owner.follow(owner.page.get_by_role("button", name="Stop sharing with Leo Lindqvist"))
    toast(owner, "Stopped sharing")
    for page in (guest.page, item):
        page.wait_for_url(re.compile(r"/library\?over$"))
        assert "Paper" not in page.content()
    for path in ("", "/items", f"/items/{ids['Paper Boats']}", f"/items/{ids['Paper Boats']}/lend"):
        method = "POST" if path.endswith("lend") else "GET"
        call(guest, method, f"/libraries/{hall}{path}", {"to": "Leo"} if method == "POST" else None, status=404)
    call(guest, "GET", cover, status=404)
    assert call(guest, "GET", "/library-search?q=paper")["items"] == []
    guest.without_network()


def test_at_a_desk_there_is_a_wall_of_covers_and_everything_goes_without_a_script(window):
    desk = window("/sign-in", screen="desk", java_script_enabled=False)
    join(desk, "Mara Okafor")
    desk.open("/library")
    page = desk.page
    page.get_by_label("Name").fill("Hall shelf")
    desk.follow(page.get_by_role("button", name="Create shelf"))
    desk.follow(page.get_by_role("link", name="Add book").first)
    page.locator("#by-hand").get_by_label("Title").fill("On Mending")
    desk.follow(page.locator("#by-hand").get_by_role("button", name="Add to Hall shelf"))
    page.get_by_label("One ISBN or title per line").fill(f"{PANTRY}\n{HARBOUR}")
    desk.follow(page.get_by_role("button", name="Preview list"))
    desk.follow(page.get_by_role("button", name="Add 2 items"))
    desk.follow(page.get_by_role("link", name="Covers"))
    expect(page.locator(".on-wall")).to_have_count(3)
    desk.follow(page.get_by_role("link", name="On Mending"))
    page.get_by_label("Name", exact=True).fill("Ida")
    desk.follow(page.get_by_role("button", name="Lend book"))
    desk.follow(page.get_by_role("link", name="Search"))
    page.get_by_role("searchbox").fill("mendign")
    desk.follow(page.get_by_role("button", name="Search"))
    expect(page.get_by_text("Ida has it")).to_be_visible()
    desk.picture("library-unscripted")
