"""A page that shows every component, in every hue: for those who build pages, and for the tests that look at them."""

from collections.abc import Iterable
from datetime import date, timedelta
from random import Random
from typing import Annotated, Any

from starlette.responses import Response

from potluck.validation import decode_query
from potluck.validation.field_types import Integer
from potluck.web.conflicts import conflict_between, fingerprints
from potluck.web.drawings import HeatMap, VoteMove, columns, flow, heat_map
from potluck.web.endpoints import Call, Endpoints
from potluck.web.errors import NotFound
from potluck.web.inputs import Input
from potluck.web.layout import icon_names
from potluck.web.qr import qr_code

# Everything below is made up.

HUES = {
    "home": "Paprika",
    "shareables": "Saffron",
    "shopping": "Basil",
    "journal": "Blueberry",
    "polls": "Beet",
    "library": "Juniper",
}

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
        VoteMove("Barbecue at home", "Lake cabin", 1),
        VoteMove("Barbecue at home", "City weekend", 1),
        VoteMove("Barbecue at home", None, 1),
    ),
    (VoteMove("City weekend", "Mountain hut", 3), VoteMove("City weekend", "Seaside camp", 3)),
    (
        VoteMove("Seaside camp", "Lake cabin", 7),
        VoteMove("Seaside camp", "Mountain hut", 3),
        VoteMove("Seaside camp", None, 2),
    ),
)
BALLOTS = sum(ROUNDS[0].values())
PAIRS = ((0, 20, 25, 27, 34), (18, 0, 18, 32, 35), (12, 21, 0, 22, 30), (12, 6, 18, 0, 17), (3, 3, 3, 3, 0))

# Half a year of training.
TODAY = date(2026, 11, 13)
WEEKLY_HOURS = (1.75, 2.5, 2, 4.5, 4.25, 6.25, 2.75, 5, 4, 6, 5.5, 3.25)

THINGS = ("Bananas", "Coffee beans", "Yoghurt", "Dish soap", "Eggs", "Rice paper", "Oat milk", "Lemons", "Butter")
THINGS_ON_A_PAGE = 3

SHARED = "https://potluck.example/s/kfm-tre-40718"


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
    served = call.site.templates.catalogue
    context: dict[str, Any] = {
        "app": app,
        "apps": [entry._replace(address=f"/style/{entry.id}") for entry in served if entry.id in HUES],
        "me": {"name": "Mara Okafor", "initials": "MO", "address": "/style"},
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
        "qr": qr_code(SHARED),
        "conflict": conflict_between(
            {"quantity": "3 litres", "store": "Corner shop"},
            {"quantity": "2 litres", "store": "Market"},
            fingerprints({"quantity": "1 litre", "store": "Corner shop"}),
            2,
            {"quantity": "Quantity", "store": "Store"},
            {},
        ),
    }
    if app != "home":
        context |= {"here": app.capitalize(), "sections": SECTIONS}
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
    candidates = []
    for name, votes in sorted(tally.items(), key=lambda item: -item[1]):
        gain = votes - before[name] if index < len(ROUNDS) - 1 else 0
        candidates.append(
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
    return candidates


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
