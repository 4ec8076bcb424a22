"""Demo libraries: a hall shelf that has grown for years, a small bedroom, and a friend's boat shelf."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from random import Random
from uuid import UUID

from potluck.apps.library.demo_covers import painted_cover
from potluck.apps.library.entities import Book, Cover
from potluck.apps.library.export_files import COLUMNS
from potluck.apps.library.fields import owner_of
from potluck.apps.library.importing import ImportFile, import_file
from potluck.apps.library.isbn import check_digit
from potluck.apps.library.items import ShelfFilter, all_items
from potluck.apps.library.lending import Lend, lend
from potluck.apps.library.libraries import APP, NewLibrary, create_library
from potluck.apps.library.shares import NewShare, join, share
from potluck.people import Principal
from potluck.table import put, the, update
from potluck.web import Demo

Row = Mapping[str, object]

# Everything below is made up. The books on the shelves are combined from these, deterministically.

NAMES = "Odile Tomas Ruth Bo Per Wren Ines Clio Farah Ode Halina Sixten Pilar Dana Mirela Jonas Amara Lev Noa Hugo"
SURNAMES = "Brandt Ekberg Anselm Tran Lindqvist Adeyemi Calloway Vance Siddiq Marsh Wójcik Ålund Ocampo Moravec Stoica"
THINGS = "Harbour Moth Orchard Lantern Copper Umbrella Salt River Clock Kitchen Ferry Winter Letter Island Garden Tram"
KINDS = (
    "Amber Borrowed Crooked Distant Early Folded Gentle Hollow Idle Jealous Kindly Late Marigold Narrow Open Patient "
    "Quiet Restless Second Tall Unlit Velvet Wandering Yellow"
)
# Titles with the same first word would stand side by side, so most begin with a different one.
FULL_TITLES = (
    "{c} {a}", "{c} {a}s", "{a} and {b}", "{a} Weather", "{c} {b}s for Beginners", "{a} Season", "{c} {a}, {b}",
    "{b} in Nine Hours", "The {a} Keeper’s {b}", "Nobody’s {b}", "How to Mend a {b}", "{c} as a {b}",
    "On {a}s", "Two {b}s and a {a}",
)  # fmt: skip
SERIES = {
    "Inspector Vasik": (
        "Dana Moravec",
        ("The Green Tram", "Nine Umbrellas", "A Cold Room", "The Clockmaker’s Alibi", "Last Stop, Lipova"),
    ),
    "Low Tide": ("Ines Calloway", ("Ebb", "Slack Water", "Flood", "Spring Tide")),
    "The Salt Roads": ("Tomas Ekberg", ("Salt Roads", "Tin Roads", "Amber Roads")),
}
FILMS = (
    ("Night Ferry", "R. Sandoval", 1998, 104),
    ("The Baker’s Strike", "Amara Osei", 2011, 97),
    ("Elevator to Vik", "Jonas Hult", 1974, 118),
    ("Small Gardens", "Mirela Stoica", 2006, 88),
    ("A Quiet Engine", "Lev Moravec", 2019, 131),
)
ELSEWHERE = ("Årsbok för dagdrömmare", "הגן שמעבר לנהר", "Être et ne pas être", "Über Brücken", "電車の窓")
HALL, BEDROOM, BOATS = "Hall shelf", "Bedroom", "Boat shelf"
HALL_BOOKS, BEDROOM_BOOKS, BOAT_BOOKS = 220, 34, 28


def made_up_books(seed: int, count: int) -> Iterator[Row]:
    """`count` made-up books, no two with the same title."""
    drawn = Random(seed)
    names, surnames, things, kinds = NAMES.split(), SURNAMES.split(), THINGS.split(), KINDS.split()
    seen: set[str] = set()
    while len(seen) < count:
        first, second = drawn.sample(things, 2)
        title = drawn.choice(FULL_TITLES).format(a=first, b=second, c=drawn.choice(kinds))
        if title not in seen:
            seen.add(title)
            yield {"title": title, "authors": f"{drawn.choice(names)} {drawn.choice(surnames)}", "isbn": _isbn(drawn)}


def _isbn(drawn: Random) -> str:
    """A well-formed ISBN in a registration group that is not assigned."""
    twelve = f"97868{drawn.randrange(10**7):07}"
    return twelve + check_digit(twelve)


def hall() -> Iterator[Row]:
    yield from made_up_books(11, HALL_BOOKS)
    for series, (author, titles) in SERIES.items():
        for order, title in enumerate(titles, 1):
            yield {"title": title, "authors": author, "collection": series, "order": order}
    for title in ELSEWHERE:
        yield {"title": title}
    for title, director, year, minutes in FILMS:
        yield {"kind": "video", "title": title, "directors": director, "releaseYear": year, "duration": minutes}


def as_file(rows: Iterable[Row]) -> str:
    written = io.StringIO()
    table = csv.DictWriter(written, COLUMNS)
    table.writeheader()
    table.writerows(rows)
    return written.getvalue()


async def fill(demo: Demo) -> None:
    shelf = await _filled(demo, demo.mara, HALL, hall(), "Books that came with us, and some that stayed")
    bedroom = await _filled(demo, demo.mara, BEDROOM, made_up_books(12, BEDROOM_BOOKS))
    boats = await _filled(demo, demo.noor, BOATS, made_up_books(13, BOAT_BOOKS))
    for by, library_id, every in ((demo.mara, shelf, 9), (demo.mara, bedroom, 7), (demo.noor, boats, 6)):
        await _with_covers(demo, by, library_id, every)
    demo.ago(days=240)
    await _lent(demo, demo.mara, bedroom, 3, "Ida")
    demo.ago(days=40)
    await _lent(demo, demo.mara, shelf, 17, "Ida")
    await _lent(demo, demo.mara, shelf, 60, "Grandma Edith")
    demo.ago(days=12)
    await _lent(demo, demo.mara, shelf, 101, "Leo")
    demo.ago(days=3)
    await _shared(demo, demo.mara, shelf, demo.leo, "leo@potluck.example")
    await _shared(demo, demo.noor, boats, demo.mara, "mara@potluck.example")
    demo.ago()
    demo.point_out(
        f"Mara’s {HALL}: {HALL_BOOKS + 22} books and films, three of them lent",
        f"/library/{shelf}",
        "Leo may look in, and sees no gaps. Mara looks into Noor’s.",
    )


async def _filled(demo: Demo, by: Principal, name: str, rows: Iterable[Row], description: str | None = None) -> UUID:
    library = await demo.do(create_library, by, NewLibrary(library_name=name, description=description))
    library_id: UUID = library.library_id
    await demo.do(import_file, by, ImportFile(text=as_file(rows), apply=True), library_id=library_id)
    return library_id


async def _lent(demo: Demo, by: Principal, library_id: UUID, number: int, to: str) -> None:
    items = await demo.list(all_items, by, ShelfFilter(), library_id=library_id)
    chosen = items[number % len(items)]
    await demo.do(lend, by, Lend(to=to), library_id=library_id, item_id=chosen.item_id)


async def _with_covers(demo: Demo, by: Principal, library_id: UUID, every: int) -> None:
    """Give one in `every` items a cover, as if it had been fetched."""
    items = await demo.list(all_items, by, ShelfFilter(), library_id=library_id)
    for item in items[2::every]:
        if item.kind != "book" or not item.authors or item.collection_id is not None or item.lent_to:
            continue
        image = painted_cover(item.title, item.authors[0])
        cover = Cover(
            owner_id=owner_of(by.user_id),
            item_id=item.item_id,
            source="https://covers.example/made-up.jpg",
            hash=sha256(image).hexdigest(),
            image=image,
        )
        book = Book.one(cover.owner_id, library_id, item.item_id)
        named = update(book, the(Book.cover_hash).becomes(cover.hash), keep_version=True)
        await demo.store.transact(named, put(cover))


async def _shared(demo: Demo, by: Principal, library_id: UUID, with_whom: Principal, email: str) -> None:
    invitation = await demo.do(share, by, NewShare(email=email), library_id=library_id)
    await demo.join(with_whom, invitation.token, APP, join)
