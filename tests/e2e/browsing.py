"""A real browser on the suite: what it opens, and everything that must not happen while it looks."""

import os
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, expect, sync_playwright

from tests import references
from tests.needs import BROWSERS
from tests.patience import PATIENCE_SECONDS

__all__ = ["LOOKED_AT", "Visit", "keep_picture", "launched", "open_visit", "until_gathered"]

# Pictures of the pages, for people to look at: `PICTURES=1 pytest tests/e2e`. No test looks at one.
PICTURES = bool(os.environ.get("PICTURES"))
SCREENSHOTS = references.PACKAGES.parent.parent / "screenshots"
AXE = references.PACKAGES / "axe-core" / "axe.min.js"
# Of two lists the browser takes the last, so this one begins with what the driver leaves out by itself.
LEFT_OUT_OF_THE_BROWSER = (
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
    # Two pages of the browser's own, for an address bar that nobody sees: more work for each window than our page is.
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
)
FLAGS = (
    f"--disable-features={','.join(LEFT_OUT_OF_THE_BROWSER)}",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
TALLEST = 5000
expect.set_options(timeout=PATIENCE_SECONDS * 1000)
# What the browser says of requests that found nobody; it also looks for a new service worker by itself.
NO_NETWORK = "net::ERR|unknown error occurred when fetching the script"
# Said when a page took some seconds to draw, which is the machine's doing and not the page's.
SLOW_MACHINE = "was preloaded using link preload but not used"
SCREENS = {"phone": (390, 844), "desk": (1280, 900), "narrow": (320, 640), "doubled": (640, 450)}

LOOKED_AT: list[str] = []
"""The addresses that axe has looked at, in the test that is running."""

# The policy's own event, as a page would see it.
WATCH_POLICY = """
addEventListener("securitypolicyviolation", (event) => {
  console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
});
"""


# Controls that lie on each other. What sticks to the window lies over the page by its nature: each layer is looked at
# by itself. A control within another, and a field that its label draws, are one.
CROWDED = """
() => {
  const kinds = "a[href], button, input, select, textarea, summary";
  const layer = (each) => {
    for (let at = each; at; at = at.parentElement)
      if (["fixed", "sticky"].includes(getComputedStyle(at).position) || at.tagName === "DIALOG") return at;
    return null;
  };
  const drawn = (each) => each.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    && !each.closest(".hidden-text") && each.offsetWidth > 1;
  const named = (each) => (each.getAttribute("aria-label") ?? (each.textContent.trim() || each.name)).slice(0, 40);
  const all = [...document.querySelectorAll(kinds)].filter(drawn)
    .map((each) => ({ each, layer: layer(each), rects: [...each.getClientRects()] }));
  const on = (one, other) => one.rects.some((a) => other.rects.some((b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1));
  const within = (one, other) => one.contains(other) || other.contains(one);
  const found = [];
  all.forEach((one, index) => {
    for (const other of all.slice(index + 1))
      if (one.layer === other.layer && !within(one.each, other.each) && on(one, other))
        found.push(`${named(one.each)} lies on ${named(other.each)}`);
  });
  return found;
}
"""

# Home, one of the sections of an app, or a page that leads back to the one above it.
WAY_BACK = "() => location.pathname === '/' || !!document.querySelector('.back > a, .sections [aria-current]')"


@dataclass
class Visit:
    """One page in one window, and what went wrong there."""

    page: Page
    address: str
    named: str
    errors: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    elsewhere_too: str = ""
    """Another address that this visit leads to."""
    expected: str = ""
    forgiven: list[str] = field(default_factory=list)

    def open(self, path: str, status: int = 200) -> None:
        # The browser reports the page's own status as an error.
        self.expected = f"status of {status}"
        answer = self.page.goto(self.address + path, wait_until="load")
        assert answer is not None
        assert answer.status == status
        self.page.evaluate("document.fonts.ready.then(() => true)")

    def heard(self, message: ConsoleMessage) -> None:
        if SLOW_MACHINE in message.text:
            return
        if message.type in ("error", "warning") and not (self.expected and self.expected in message.text):
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def asked(self, url: str) -> None:
        known = (f"{self.address}/", *([f"{self.elsewhere_too}/"] if self.elsewhere_too else []))
        if urlsplit(url).scheme not in ("data", "blob") and not url.startswith(known):
            self.elsewhere.append(url)

    def check(self) -> None:
        """Up to here, nothing was refused, nothing failed, and nobody else was asked for anything."""
        errors = [each for each in self.errors if not any(re.search(said, each) for said in self.forgiven)]
        self.errors = []
        assert errors == [], errors
        assert self.elsewhere == [], self.elsewhere

    def live(self) -> None:
        """The page hears what changes. Its badge has no other words then."""
        expect(self.page.locator(".live:not(.off)")).to_have_text("Live")

    def follow(self, link: Locator, *, by: str = "click") -> None:
        """Click or tap what leads to another page, up to where that one's scripts have run, and listen."""
        with self.page.expect_navigation(wait_until="load"):
            getattr(link, by)()

    def stop_the_clock(self) -> None:
        """From the next page on, time stands still until the test lets it run, however long the test takes."""
        self.page.clock.install()
        self.page.clock.pause_at(datetime.now() + timedelta(minutes=1))

    def until_kept(self) -> None:
        """The service worker controls this page, and has saved it with its files."""
        self.page.locator("html[data-offline=ready]").wait_for(state="attached")

    def forgive(self, said: str) -> None:
        """What matches this is no error of this visit, whenever it is heard.

        The browser says it some time after it happened, and nothing tells when it has said everything.
        """
        self.forgiven.append(said)

    def without_network(self) -> None:
        """Forgive what the browser says of requests that found nobody, which is not the page's doing."""
        self.forgive(NO_NETWORK)

    def violations(self, *, contrast: bool = True, only: str | None = None) -> list[str]:
        """What axe finds against WCAG 2 A and AA, and against its own best practices; by one rule, if it is named."""
        LOOKED_AT.append(urlsplit(self.page.url).path)
        if self.page.evaluate("typeof axe === 'undefined'"):
            self.page.evaluate(AXE.read_text())
        # Without preload axe leaves out its check of a locked orientation, for which it would add styles of its own.
        rules = {"rules": {"color-contrast": {"enabled": contrast}}} if only is None else {"runOnly": [only]}
        options = {"resultTypes": ["violations"], "preload": False, **rules}
        found = self.page.evaluate("(options) => axe.run(options).then((results) => results.violations)", options)
        away = [] if self.page.evaluate(WAY_BACK) else ["there is no way back from here"]
        said = [f"{each['id']}: {node['target']} {node['failureSummary']}" for each in found for node in each["nodes"]]
        return [*away, *said]

    def overflow(self) -> int:
        """By how many pixels the page is wider than its window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))

    def squeezed(self) -> list[str]:
        """What does not fit into this window: a page that is wider, controls that lie on each other."""
        wider = self.overflow()
        return [*([f"wider by {wider} pixels"] if wider > 0 else []), *self.page.evaluate(CROWDED)]

    def buttons_on_paper(self) -> list[str]:
        """What could be pressed and is printed all the same; a row that ticks is a line with a box to tick."""
        self.page.emulate_media(media="print")
        pressed = self.page.locator("button:not([role=checkbox]), .button, input, select, textarea, summary")
        found = [
            each.inner_text() or each.get_attribute("aria-label") or "" for each in pressed.all() if each.is_visible()
        ]
        self.page.emulate_media(media="screen")
        return found

    def picture(self, name: str, *, full_page: bool = False) -> None:
        keep_picture(self.page, f"{name}-{self.named}", full_page=full_page)

    def picture_of(self, selector: str, name: str) -> None:
        """A part of the page, in a window that is tall enough for all of it."""
        if not PICTURES:
            return
        size = self.page.viewport_size
        assert size is not None
        height = self.page.evaluate("(selector) => document.querySelector(selector).offsetHeight", selector)
        self.page.set_viewport_size({"width": size["width"], "height": min(height + 240, TALLEST)})
        self.page.evaluate("(selector) => document.querySelector(selector).scrollIntoView()", selector)
        self.picture(name)
        self.page.set_viewport_size(size)


def until_gathered(page: Page, gathered: Sequence[Any], number: int = 1) -> None:
    """Wait until what the page asks for has brought so much into a list of the test."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(gathered) < number:
        assert time.monotonic() < deadline, f"{len(gathered)} of {number}"
        page.wait_for_timeout(20)


def keep_picture(page: Page, name: str, *, full_page: bool = False) -> None:
    """Keep what the page shows, if pictures are asked for."""
    if PICTURES:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        # To hide the caret, styles would be put on every field, and stay behind.
        page.screenshot(path=SCREENSHOTS / f"{name}.png", caret="initial", full_page=full_page)


@contextmanager
def launched() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        program = next(filter(None, map(shutil.which, BROWSERS)))
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def open_visit(
    browser: Browser, address: str, screen: str = "phone", theme: str = "light", **options: Any
) -> Iterator[Visit]:
    """A window of its own, which must end without an error, a refusal or a request to anybody else."""
    width, height = SCREENS[screen]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        device_scale_factor=1 if screen == "desk" else 2,
        has_touch=screen == "phone",
        color_scheme=theme,
        **options,
    )
    context.set_default_timeout(PATIENCE_SECONDS * 1000)
    context.add_init_script(WATCH_POLICY)
    page = context.new_page()
    visit = Visit(page, address, f"{screen}-{theme}")
    page.on("console", visit.heard)
    page.on("pageerror", lambda error: visit.errors.append(str(error)))
    page.on("request", lambda request: visit.asked(request.url))
    try:
        yield visit
    finally:
        context.close()
    visit.check()
