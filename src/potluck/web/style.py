"""A page that shows every component, in every hue: for those who build pages, and for the tests that look at them."""

from collections.abc import Iterable
from datetime import date, timedelta
from random import Random
from typing import Annotated, Any

from starlette.responses import Response

from potluck.field_types import Integer
from potluck.web.app_catalogue import CATALOGUE
from potluck.web.drawings import HeatMap, Move, columns, flow, heat_map
from potluck.web.endpoints import Call, Endpoints
from potluck.web.errors import NotFound
from potluck.web.inputs import Input
from potluck.web.layout import icon_names
from potluck.web.schema import decode_query

__all__ = ["style_pages"]

# Everything below is made up.

HUES = {
    "home": "Paprika",
    "shareables": "Saffron",
    "shopping": "Basil",
    "journal": "Blueberry",
    "polls": "Beet",
    "library": "Juniper",
}

STYLES = tuple(entry._replace(address=f"/style/{entry.id}") for entry in CATALOGUE)

SECTIONS = (
    {"address": "#lists", "icon": "list-checks", "name": "Lists", "current": True},
    {"address": "#forms", "icon": "pencil", "name": "Forms", "current": False},
    {"address": "#drawings", "icon": "chart-column", "name": "Drawings", "current": False},
    {"address": "#moments", "icon": "message-circle", "name": "Moments", "current": False},
)

# A poll that is counted in four rounds.
LEAD = "Lake cabin"
NAMES = ("Lake cabin", "Mountain hut", "Seaside camp", "City weekend", "Barbecue at home")
ROUNDS = (
    {"Lake cabin": 12, "Mountain hut": 12, "Seaside camp": 9, "City weekend": 5, "Barbecue at home": 3},
    {"Lake cabin": 13, "Mountain hut": 12, "Seaside camp": 9, "City weekend": 6},
    {"Lake cabin": 13, "Mountain hut": 15, "Seaside camp": 12},
    {"Lake cabin": 20, "Mountain hut": 18},
)
MOVES = (
    (
        Move("Barbecue at home", "Lake cabin", 1),
        Move("Barbecue at home", "City weekend", 1),
        Move("Barbecue at home", None, 1),
    ),
    (Move("City weekend", "Mountain hut", 3), Move("City weekend", "Seaside camp", 3)),
    (
        Move("Seaside camp", "Lake cabin", 7),
        Move("Seaside camp", "Mountain hut", 3),
        Move("Seaside camp", None, 2),
    ),
)
BALLOTS = sum(ROUNDS[0].values())
PAIRS = ((0, 20, 25, 27, 34), (18, 0, 18, 32, 35), (12, 21, 0, 22, 30), (12, 6, 18, 0, 17), (3, 3, 3, 3, 0))

# Half a year of training.
TODAY = date(2026, 11, 13)
WEEKLY_HOURS = (1.75, 2.5, 2, 4.5, 4.25, 6.25, 2.75, 5, 4, 6, 5.5, 3.25)

THINGS = ("Bananas", "Coffee beans", "Yoghurt", "Dish soap", "Eggs", "Rice paper", "Oat milk", "Lemons", "Butter")
THINGS_ON_A_PAGE = 3

QR_MODULES = 33
QR_PATH = (
    "M2 2h7v1h-7zM10 2h2v1h-2zM13 2h2v1h-2zM16 2h1v1h-1zM20 2h3v1h-3zM24 2h7v1h-7zM2 3h1v1h-1zM8 3h1v1h-1zM10 3h6v1"
    "h-6zM19 3h2v1h-2zM22 3h1v1h-1zM24 3h1v1h-1zM30 3h1v1h-1zM2 4h1v1h-1zM4 4h3v1h-3zM8 4h1v1h-1zM12 4h1v1h-1zM15 4"
    "h2v1h-2zM18 4h1v1h-1zM20 4h3v1h-3zM24 4h1v1h-1zM26 4h3v1h-3zM30 4h1v1h-1zM2 5h1v1h-1zM4 5h3v1h-3zM8 5h1v1h-1zM"
    "10 5h4v1h-4zM15 5h1v1h-1zM17 5h5v1h-5zM24 5h1v1h-1zM26 5h3v1h-3zM30 5h1v1h-1zM2 6h1v1h-1zM4 6h3v1h-3zM8 6h1v1h"
    "-1zM11 6h1v1h-1zM13 6h1v1h-1zM17 6h1v1h-1zM21 6h1v1h-1zM24 6h1v1h-1zM26 6h3v1h-3zM30 6h1v1h-1zM2 7h1v1h-1zM8 7"
    "h1v1h-1zM12 7h2v1h-2zM15 7h1v1h-1zM18 7h4v1h-4zM24 7h1v1h-1zM30 7h1v1h-1zM2 8h7v1h-7zM10 8h1v1h-1zM12 8h1v1h-1"
    "zM14 8h1v1h-1zM16 8h1v1h-1zM18 8h1v1h-1zM20 8h1v1h-1zM22 8h1v1h-1zM24 8h7v1h-7zM10 9h5v1h-5zM18 9h3v1h-3zM22 9"
    "h1v1h-1zM2 10h1v1h-1zM4 10h2v1h-2zM7 10h3v1h-3zM13 10h1v1h-1zM19 10h4v1h-4zM24 10h1v1h-1zM27 10h1v1h-1zM29 10h"
    "2v1h-2zM4 11h3v1h-3zM9 11h1v1h-1zM11 11h3v1h-3zM15 11h2v1h-2zM21 11h2v1h-2zM24 11h3v1h-3zM30 11h1v1h-1zM2 12h2"
    "v1h-2zM7 12h4v1h-4zM13 12h1v1h-1zM16 12h1v1h-1zM18 12h1v1h-1zM23 12h1v1h-1zM25 12h1v1h-1zM28 12h2v1h-2zM5 13h3"
    "v1h-3zM10 13h6v1h-6zM20 13h7v1h-7zM30 13h1v1h-1zM2 14h4v1h-4zM8 14h1v1h-1zM11 14h4v1h-4zM19 14h3v1h-3zM27 14h2"
    "v1h-2zM3 15h1v1h-1zM5 15h3v1h-3zM10 15h4v1h-4zM16 15h2v1h-2zM21 15h1v1h-1zM24 15h1v1h-1zM28 15h3v1h-3zM2 16h1v"
    "1h-1zM4 16h2v1h-2zM8 16h1v1h-1zM10 16h1v1h-1zM14 16h2v1h-2zM19 16h4v1h-4zM24 16h1v1h-1zM28 16h3v1h-3zM3 17h2v1"
    "h-2zM9 17h1v1h-1zM11 17h1v1h-1zM13 17h2v1h-2zM17 17h2v1h-2zM24 17h3v1h-3zM29 17h1v1h-1zM2 18h2v1h-2zM7 18h2v1h"
    "-2zM10 18h1v1h-1zM13 18h2v1h-2zM16 18h1v1h-1zM20 18h1v1h-1zM22 18h2v1h-2zM26 18h2v1h-2zM29 18h1v1h-1zM4 19h1v1"
    "h-1zM6 19h1v1h-1zM10 19h2v1h-2zM17 19h1v1h-1zM19 19h1v1h-1zM22 19h1v1h-1zM25 19h1v1h-1zM27 19h3v1h-3zM2 20h1v1"
    "h-1zM6 20h3v1h-3zM10 20h3v1h-3zM15 20h3v1h-3zM19 20h2v1h-2zM23 20h3v1h-3zM28 20h1v1h-1zM4 21h2v1h-2zM11 21h1v1"
    "h-1zM13 21h5v1h-5zM19 21h2v1h-2zM22 21h3v1h-3zM26 21h1v1h-1zM28 21h1v1h-1zM3 22h2v1h-2zM8 22h2v1h-2zM12 22h1v1"
    "h-1zM14 22h3v1h-3zM19 22h2v1h-2zM22 22h7v1h-7zM10 23h1v1h-1zM12 23h2v1h-2zM18 23h1v1h-1zM20 23h3v1h-3zM26 23h5"
    "v1h-5zM2 24h7v1h-7zM10 24h2v1h-2zM13 24h2v1h-2zM16 24h1v1h-1zM20 24h3v1h-3zM24 24h1v1h-1zM26 24h2v1h-2zM29 24h"
    "1v1h-1zM2 25h1v1h-1zM8 25h1v1h-1zM10 25h2v1h-2zM15 25h2v1h-2zM22 25h1v1h-1zM26 25h2v1h-2zM29 25h1v1h-1zM2 26h1"
    "v1h-1zM4 26h3v1h-3zM8 26h1v1h-1zM11 26h1v1h-1zM13 26h1v1h-1zM17 26h3v1h-3zM22 26h5v1h-5zM28 26h1v1h-1zM2 27h1v"
    "1h-1zM4 27h3v1h-3zM8 27h1v1h-1zM10 27h1v1h-1zM14 27h2v1h-2zM17 27h2v1h-2zM21 27h2v1h-2zM25 27h3v1h-3zM30 27h1v"
    "1h-1zM2 28h1v1h-1zM4 28h3v1h-3zM8 28h1v1h-1zM10 28h1v1h-1zM12 28h1v1h-1zM14 28h3v1h-3zM20 28h1v1h-1zM25 28h1v1"
    "h-1zM28 28h1v1h-1zM30 28h1v1h-1zM2 29h1v1h-1zM8 29h1v1h-1zM11 29h2v1h-2zM15 29h4v1h-4zM22 29h1v1h-1zM24 29h1v1"
    "h-1zM26 29h2v1h-2zM29 29h1v1h-1zM2 30h7v1h-7zM10 30h1v1h-1zM13 30h3v1h-3zM17 30h1v1h-1zM21 30h2v1h-2zM24 30h2v"
    "1h-2zM27 30h1v1h-1zM29 30h1v1h-1z"
)


class StyleQuery(Input):
    page: Annotated[int, Integer(1, len(THINGS) // THINGS_ON_A_PAGE)] = 1


style_pages = Endpoints()


@style_pages.get("/style", public=True)
async def style(call: Call) -> Response:
    return _page(call, "home", decode_query(StyleQuery, call.request.query_params.multi_items(), strict=False).page)


@style_pages.get("/style/{app}", public=True)
async def hue(call: Call) -> Response:
    if call.text("app") not in HUES:
        raise NotFound
    return _page(call, call.text("app"))


def _page(call: Call, app: str, page: int = 1) -> Response:
    names = {entry.id: entry.name for entry in CATALOGUE}
    context: dict[str, Any] = {
        "app": app,
        "apps": STYLES,
        "me": {"name": "Mara Okafor", "initials": "MO", "address": "/style"},
        "htmx": True,
        "hues": HUES,
        "hue": HUES[app],
        "icons": icon_names(),
        "things": THINGS[(page - 1) * THINGS_ON_A_PAGE : page * THINGS_ON_A_PAGE],
        "more_things": f"/style?page={page + 1}" if page * THINGS_ON_A_PAGE < len(THINGS) else "",
        "lead": LEAD,
        "ballots": BALLOTS,
        "last_round": _bars(len(ROUNDS) - 1),
        "third_round": [*_bars(2), _out("City weekend", "left with 6")],
        "by_round": list(_by_round()),
        "exhausted": ["Exhausted", *(BALLOTS - sum(tally.values()) for tally in ROUNDS)],
        "names": NAMES,
        "pairs": PAIRS,
        "flow": flow(ROUNDS, MOVES, LEAD),
        "heat": _half_a_year(),
        "weeks": columns(
            WEEKLY_HOURS,
            names={2: "7 Sep", 5: "28 Sep", 8: "19 Oct", 11: "now"},
            said={5: "6:15", 11: "3:15"},
            step=2,
            unit="h",
        ),
        "low": [
            _bar("Coffee beans", "1", "of 3 bags", 33, lead=True),
            _bar("Dishwasher tabs", "4", "of 20", 20, lead=True),
        ],
        "qr": {"modules": QR_MODULES, "path": QR_PATH},
    }
    if app != "home":
        context |= {"here": names[app], "sections": SECTIONS}
    return call.public_page("style.html", {"cache-control": "no-cache"}, **context)


def _bar(
    name: str, value: str, note: str, share: float, *, lead: bool, gain: float = 0, gained: str = ""
) -> dict[str, Any]:
    return {
        "name": name, "value": value, "note": note, "share": share, "lead": lead, "gain": gain, "gained": gained,
        "out": False,
    }  # fmt: skip


def _out(name: str, note: str) -> dict[str, Any]:
    return _bar(name, "", note, 0, lead=False) | {"out": True}


def _bars(index: int) -> list[dict[str, Any]]:
    tally, before = ROUNDS[index], ROUNDS[index - 1]
    playing = sum(tally.values())
    found = []
    for name, votes in sorted(tally.items(), key=lambda each: -each[1]):
        gain = votes - before[name] if index < len(ROUNDS) - 1 else 0
        found.append(
            _bar(
                name,
                str(votes),
                f"{100 * votes / playing:.1f} %",
                100 * votes / playing,
                lead=name == LEAD,
                gain=100 * gain / playing,
                gained=f"+{gain}" if gain else "",
            )
        )
    return found


def _by_round() -> Iterable[list[str | int]]:
    for name in NAMES:
        yield [name, *(tally.get(name, "out") for tally in ROUNDS)]


def _half_a_year() -> HeatMap:
    """Three or four days a week, the same every time."""
    dice = Random(26)
    levels: dict[date, int] = {}
    titles: dict[date, str] = {}
    for ago in range(182):
        day = TODAY - timedelta(days=ago)
        if not ago or dice.random() < (0.6 if day.weekday() in (0, 2, 4) else 0.25):
            levels[day] = dice.choice((1, 2, 2, 3, 3, 4))
            titles[day] = f"{day:%A} {day.day} {day:%B}: {45 + 15 * levels[day]} minutes"
    return heat_map(levels, titles, TODAY)
