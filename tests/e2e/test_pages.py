"""Every page, on a phone and on a desk, in light and in dark."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from potluck.web.style import HUES
from tests.e2e.browsing import Visit, open_visit
from tests.e2e.coming_in import join, send

pytestmark = pytest.mark.needs("chromium", "axe-core")

# A hue is its own set of contrasts, but the layout is the same: two windows see all of it.
BOTH_WAYS = (("phone", "light"), ("desk", "dark"))
WINDOWS = [
    *(("/", screen, theme) for screen in ("phone", "desk") for theme in ("light", "dark")),
    *((path, *window) for path in ("/nowhere", "/developers") for window in BOTH_WAYS),
    ("/style", "phone", "dark"),
    ("/style", "desk", "light"),
    *((f"/style/{name}", *window) for name in HUES if name != "home" for window in BOTH_WAYS),
]

# What people meet, each in both themes and on both screens.
FOR_VISITORS = (
    "/sign-in",
    "/sign-up",
    "/forgotten",
    "/reset",
    "/invitation",
    "/goodbye",
    "/problems",
    "/problems/busy",
)
FOR_PEOPLE = ("/", "/account", "/account/delete", "/notes", "/notes/book")
# A list with parameters, a body with bounds, a stream.
UNFOLDED = ("notesListed", "notesAdd", "notesListedEvents")
BOOK = ("Firewood, two bags", "Matches", "Marshmallows")

PLAIN_PAGES = ("/", "/nowhere", "/sign-in", "/sign-up", "/problems", "/schema", "/style", "/style/shopping")

# Which part of the page that has everything belongs to which app, for the pictures.
PARTS = {"shopping": "lists", "journal": "forms", "polls": "drawings", "shareables": "moments"}


@pytest.mark.parametrize(("path", "screen", "theme"), WINDOWS)
def test_a_page_is_accessible_and_keeps_to_its_own_host(look, path, screen, theme):
    seen = look(path, screen, theme, status=404 if path == "/nowhere" else 200)
    assert seen.violations() == []
    assert seen.squeezed() == []
    seen.picture(path.strip("/").replace("/", "-") or "home")
    if part := PARTS.get(path.rpartition("/")[2]):
        seen.picture_of(f"section[aria-labelledby={part}]", part)


@pytest.fixture(scope="module")
def at_home(browser, address) -> Iterator[Callable[[str, str], Visit]]:
    """Opens a page in a window in which somebody is signed in, and has a book."""
    windows: dict[str, tuple[Visit, str]] = {}
    with ExitStack() as opened:

        def looked(path: str, screen: str) -> Visit:
            if screen not in windows:
                visit = opened.enter_context(open_visit(browser, address, screen))
                join(visit)
                book = send(visit, "/notes", name="Campfire")
                for title in BOOK:
                    send(visit, f"{book}/notes", title=title)
                windows[screen] = (visit, book)
            visit, book = windows[screen]
            visit.open(path.replace("/notes/book", book))
            return visit

        yield looked


def check_in_both_themes(seen: Visit, name: str) -> None:
    screen = seen.named.partition("-")[0]
    # The other theme differs in its colours only.
    for theme, only in (("light", None), ("dark", "color-contrast")):
        # Without motion, so that no colour is met halfway.
        seen.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        seen.named = f"{screen}-{theme}"
        assert seen.violations(only=only) == []
        seen.picture(name)
    assert seen.overflow() == 0
    seen.check()


@pytest.mark.parametrize("path", FOR_VISITORS)
@pytest.mark.parametrize("screen", ["phone", "desk"])
def test_what_visitors_meet_is_accessible_in_both_themes(look, path, screen):
    check_in_both_themes(look(path, screen), path.strip("/").replace("/", "-"))


# A page of many thousand elements, which axe takes its time over.
@pytest.mark.parametrize("screen", ["phone", "desk"])
def test_the_api_is_accessible_its_calls_folded_and_unfolded(look, screen):
    theme = dict(BOTH_WAYS)[screen]
    seen = look("/schema", screen, theme)
    seen.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    for call in UNFOLDED:
        seen.page.locator(f"#{call} > summary").press("Enter")
    seen.page.locator(f"#{UNFOLDED[-1]}").get_by_role("button", name="Copy").wait_for()
    assert seen.violations() == []
    assert seen.overflow() == 0
    seen.picture("schema")
    seen.check()


@pytest.mark.parametrize("path", FOR_PEOPLE)
@pytest.mark.parametrize("screen", ["phone", "desk"])
def test_what_people_meet_is_accessible_in_both_themes(at_home, path, screen):
    check_in_both_themes(at_home(path, screen), f"my-{path.strip('/').replace('/', '-') or 'home'}")


@pytest.mark.parametrize("path", FOR_PEOPLE)
def test_what_people_meet_fits_narrow_windows(at_home, path):
    seen = at_home(path, "narrow")
    assert seen.squeezed() == []
    seen.picture(f"my-{path.strip('/').replace('/', '-') or 'home'}")


@pytest.mark.parametrize("path", PLAIN_PAGES)
@pytest.mark.parametrize("screen", ["narrow", "doubled"])
def test_a_page_fits_narrow_windows_and_doubled_type(look, path, screen):
    seen = look(path, screen, status=404 if path == "/nowhere" else 200)
    assert seen.squeezed() == []
    seen.picture(path.strip("/").replace("/", "-") or "home")


def test_a_page_is_readable_in_forced_colours_and_on_paper(visit):
    forced = visit("/style/polls", forced_colors="active")
    # The colours are then the person's own, not those that axe reads in the style sheet.
    assert forced.violations(contrast=False) == []
    forced.picture("forced-colours")
    forced.picture_of("section[aria-labelledby=drawings]", "forced-colours-drawings")
    paper = visit("/style/shareables", "desk")
    paper.page.emulate_media(media="print")
    assert not paper.page.locator(".sections, .toasts, .foot").first.is_visible()
    paper.picture("paper")
    paper.picture_of("section[aria-labelledby=moments]", "paper-moments")


def test_the_pages_can_be_installed(look):
    seen = look("/")
    manifest = seen.page.evaluate(
        "fetch(document.querySelector('link[rel=manifest]').href).then((answer) => answer.json())"
    )
    assert manifest["display"] == "standalone"
    purposes = {icon["purpose"] for icon in manifest["icons"]}
    assert purposes == {"any", "maskable"}
    for icon in manifest["icons"]:
        size = seen.page.evaluate(
            """async (src) => {
              const image = new Image();
              image.src = new URL(src, document.querySelector('link[rel=manifest]').href);
              await image.decode();
              return `${image.naturalWidth}x${image.naturalHeight}`;
            }""",
            icon["src"],
        )
        assert icon["sizes"] in ("any", size)
