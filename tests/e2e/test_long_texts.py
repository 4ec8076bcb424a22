"""Texts that are 40 % longer, as other languages have them, break no page on a phone: every page of the demo."""

import asyncio
from collections.abc import Iterator

import pytest
from argon2 import PasswordHasher

from potluck.commands.demo import FilledDemo, filled
from potluck.people.passwords import Passwords
from potluck.settings import Settings
from tests.e2e.browsing import SCREENS, Visit, keep_picture, open_visit
from tests.e2e.coming_in import sign_in
from tests.e2e.every_page import LOOKED_AT_BY, page_of
from tests.e2e.made_up_suite import CATALOGUES, MadeUpSuite
from tests.made_up_language import LANGUAGE, with_catalogues

pytestmark = pytest.mark.needs("chromium", "axe-core")

NARROW, PHONE = ({"width": width, "height": height} for width, height in (SCREENS["narrow"], SCREENS["phone"]))
FIRST = ("/", "/sign-up", "/sign-in", "/forgotten", "/reset", "/invitation", "/problems", "/nowhere")
PAGES = ({*LOOKED_AT_BY, *FIRST, "/account"}) - {"/schema"}

LINKS = "() => [...document.querySelectorAll('a[href^=\"/\"]')].map((link) => link.getAttribute('href'))"
# Words of a control that do not fit into it.
CLIPPED = """
() => [...document.querySelectorAll("button, .button, .chip, .badge, summary, label, legend, th, nav a")]
  .filter((each) => each.checkVisibility() && !each.closest(".hidden-text, .scroll, .scroll-x, svg")
    && each.scrollWidth - each.clientWidth > 1 && each.clientWidth > 1 && getComputedStyle(each).display !== "inline")
  .map((each) => `${each.textContent.trim().slice(0, 40)} is clipped`)
"""


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Iterator[tuple[FilledDemo, str]]:
    """A filled suite in the made-up language. Before the browser, during which no event loop can be started."""
    folder = tmp_path_factory.mktemp("made-up")
    with_catalogues(folder / CATALOGUES)
    cheap = Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    made = asyncio.run(filled(Settings(data=folder), lambda _: None, passwords=cheap))
    with MadeUpSuite(folder) as suite:
        yield made, suite.address


def test_no_page_breaks_when_its_texts_are_longer(demo, browser):
    made, address = demo
    people = {person.name: person for person in made.sign_ins}
    # What each of them has that those before do not; a visitor has addresses alone.
    windows = {
        "Mara Okafor": ["/"],
        "Leo Lindqvist": ["/", "/shareables"],
        "": [*FIRST, *(place.address for place in made.worth_a_look)],
    }
    kinds: set[str] = set()
    broken = []
    for name, first in windows.items():
        with open_visit(browser, address, "narrow", locale=LANGUAGE, service_workers="block") as visit:
            visit.forgive("status of 404")
            # The workers, which would keep pages for later.
            visit.forgive("Service Worker registration blocked")
            if name:
                sign_in(visit, people[name].email, people[name].password)
            broken += [f"{path}: {finding}" for path in walked(visit, first, kinds) for finding in squeezed(visit)]
    if broken:
        pytest.fail("\n".join(broken), pytrace=False)


def walked(visit: Visit, first: list[str], kinds: set[str]) -> Iterator[str]:
    """The first pages, and one of each kind that links lead to and no window has had, open in the window."""
    ahead = [(path, True) for path in first]
    while ahead:
        address, is_first = ahead.pop()
        path = address.partition("#")[0].partition("?")[0]
        kind = page_of(path, PAGES)
        if kind is None or (kind in kinds and not is_first):
            continue
        kinds.add(kind)
        visit.page.goto(visit.address + path, wait_until="load")
        ahead += [(link, False) for link in visit.page.evaluate(LINKS)]
        keep_picture(visit.page, f"long-{kind.strip('/').replace('/', '-')}", full_page=True)
        yield path


def squeezed(visit: Visit) -> list[str]:
    """What does not fit, at either width."""
    found = []
    for size in (NARROW, PHONE):
        visit.page.set_viewport_size(size)
        found += [f"{size['width']} px: {each}" for each in (*visit.squeezed(), *visit.page.evaluate(CLIPPED))]
    visit.page.set_viewport_size(NARROW)
    return found
