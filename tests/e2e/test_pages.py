"""Every page, on a phone and on a desk, in light and in dark."""

import pytest

from potluck.web.dishes import DISHES

pytestmark = pytest.mark.needs("chromium", "axe-core")

# A hue is its own set of contrasts, but the layout is the same: two windows see all of it.
BOTH_WAYS = (("phone", "light"), ("desk", "dark"))
WINDOWS = [
    *(("/", screen, theme) for screen in ("phone", "desk") for theme in ("light", "dark")),
    *(("/nowhere", *window) for window in BOTH_WAYS),
    ("/style", "phone", "dark"),
    ("/style", "desk", "light"),
    *((f"/style/{dish.id}", *window) for dish in DISHES for window in BOTH_WAYS),
]

# Which part of the page that has everything belongs to which app, for the pictures.
PARTS = {"shopping": "lists", "journal": "forms", "polls": "drawings", "shareables": "moments"}


@pytest.mark.parametrize(("path", "screen", "theme"), WINDOWS)
def test_a_page_is_accessible_and_keeps_to_its_own_host(look, path, screen, theme):
    seen = look(path, screen, theme, status=404 if path == "/nowhere" else 200)
    assert seen.violations() == []
    assert seen.overflow() == 0
    seen.picture(path.strip("/").replace("/", "-") or "home")
    if part := PARTS.get(path.rpartition("/")[2]):
        seen.picture_of(f"section[aria-labelledby={part}]", part)


@pytest.mark.parametrize("path", ["/", "/nowhere", "/style", "/style/shopping"])
@pytest.mark.parametrize("screen", ["narrow", "doubled"])
def test_a_page_fits_narrow_windows_and_doubled_type(look, path, screen):
    seen = look(path, screen, status=404 if path == "/nowhere" else 200)
    assert seen.overflow() == 0
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
