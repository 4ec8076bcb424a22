"""How far it is from the front page to the first thing made: `python -m benchmarks.first_use CHECKOUT`, three minutes.

A browser of a phone's size goes from the front page to the first thing in each app, as a person would, here and in
another checkout: every field is typed into, every link and button is tapped. What counts as a tap, see README.md.
"""

import argparse
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, sync_playwright

from tests.needs import BROWSERS

HERE = Path(__file__).resolve().parent.parent
RESULTS = HERE / "benchmarks" / "results"
PATIENCE_SECONDS = 30.0
ROUNDS = 5
PHONE = {"width": 390, "height": 844}
# A phone of the middle class is about four times slower than a desk.
SLOWER = 4
PASSWORD = "a long quiet evening"


@dataclass
class Use:
    """What one first use took."""

    taps: int
    fields: int
    seconds: float


class Person:
    """Someone with a phone: what they touch and type is counted, and how long they wait for the machine."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.taps = self.fields = 0
        self.seconds = 0.0

    def control(self, *names: str) -> Locator:
        """The first link or button that has one of these names, whichever is there first."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            for name in names:
                pattern = re.compile(name, re.IGNORECASE)
                for role in ("button", "link", "radio"):
                    here = self.page.get_by_role(role, name=pattern)  # type: ignore[arg-type]
                    for control in here.all():
                        if control.is_visible():
                            return control
            self.page.wait_for_timeout(50)
        raise LookupError(f"none of {names} on {self.page.url}")

    def has(self, *names: str) -> bool:
        """Whether the page has such a control."""
        return any(
            control.is_visible()
            for name in names
            for role in ("button", "link")
            for control in self.page.get_by_role(role, name=re.compile(name, re.IGNORECASE)).all()  # type: ignore[arg-type]
        )

    def tap(self, *names: str, leads: bool = True) -> None:
        """Touch a link or button, and wait for the page that it leads to."""
        control = self.control(*names)
        self.taps += 1
        started = time.monotonic()
        if leads:
            with self.page.expect_navigation(wait_until="load"):
                control.click()
        else:
            control.click()
        self.seconds += time.monotonic() - started

    def choose(self, name: str) -> None:
        """Touch one of several choices, whose label is what can be seen."""
        self.page.locator("label", has_text=re.compile(f"^{name}$")).first.click()
        self.taps += 1

    def type(self, text: str, *labels: str, enter: bool = False, following: bool = False) -> None:
        """Type into a field: one tap if it does not have the focus, and is not the next one of the same form."""
        field = self.field(*labels)
        focused = field.evaluate("(field) => document.activeElement === field")
        if not focused and not following:
            self.taps += 1
        if not focused:
            field.focus()
        self.page.keyboard.insert_text(text)
        self.fields += 1
        if enter:
            self.page.keyboard.press("Enter")

    def field(self, *labels: str) -> Locator:
        for label in labels:
            for field in self.page.get_by_label(re.compile(label, re.IGNORECASE)).all():
                if field.is_visible() and field.evaluate("(field) => field.matches('input, textarea')"):
                    return field
        raise LookupError(f"none of {labels} on {self.page.url}")

    def has_field(self, *labels: str) -> bool:
        try:
            return self.field(*labels) is not None
        except LookupError:
            return False

    def sees(self, text: str) -> None:
        """Wait until what was made is on the page."""
        started = time.monotonic()
        self.page.get_by_text(text).first.wait_for(timeout=PATIENCE_SECONDS * 1000)
        self.seconds += time.monotonic() - started


def create_account(person: Person, email: str) -> None:
    person.tap("^Create an account", "^Make an account")
    following = False
    if person.has_field("What people call you"):
        person.type("Mara Okafor", "What people call you")
        following = True
    person.type(email, "^E-mail", following=following)
    person.type(PASSWORD, "^Password", following=True)
    person.tap("^Create account", "^Make my account")


def first_list_item(person: Person, email: str) -> None:
    create_account(person, email)
    person.tap("^Start a list: ", "^Shopping")
    if person.has("^Lay the table"):
        person.type("Lund Street 7", "What is the family called")
        person.tap("^Lay the table")
    person.type("Milk", "Add to the list")
    person.tap("^Add to the list", "^Add$", "^Add item", leads=False)
    person.sees("Milk")


def first_poll(person: Person, _: str) -> None:
    if not person.has("^New poll"):
        person.tap("^Polls")
    person.tap("^New poll", "^Make a poll")
    person.type("Where to in June?", "^Question")
    person.type("Lake\nForest\nSea", "^Candidates", "^Options", following=True)
    person.tap("^Make the poll", "^Create poll")
    person.sees("Where to in June?")


def first_list(person: Person, _: str) -> None:
    if not person.has("^New list"):
        person.tap("^Open by id")
    person.tap("^New list", "^New$")
    person.type("Summer picnic", "^Name", enter=True)
    person.type("Lemonade", "^Items", following=True, enter=True)
    person.tap("^Put it on the table", "^Create list")
    person.sees("Summer picnic")


def first_book(person: Person, email: str) -> None:
    create_account(person, email)
    if person.has("^Add book: "):
        person.tap("^Add book: ")
    else:
        person.tap("^Library")
    if person.has_field("Title or ISBN"):
        person.type("The Left Hand of Darkness", "Title or ISBN")
        person.tap("^Add book")
        person.sees("The Left Hand of Darkness")
        return
    person.type("Hall", "What is it called")
    person.tap("^Put it up")
    person.tap("^Add the first", "^Add$")
    person.type("The Left Hand of Darkness", "^Title")
    person.tap("^Put on")
    person.sees("The Left Hand of Darkness")


def first_entry(person: Person, email: str) -> None:
    create_account(person, email)
    person.tap("^Write: ", "^Journal")
    if not person.has("^Save entry"):
        person.tap("^Write")
    for name in ("6", "Gi"):
        label = person.page.locator("label", has_text=re.compile(f"^{name}$")).first
        if label.count() and not label.locator("input").is_checked():
            person.choose(name)
    if person.has_field("Shared"):
        person.type("Guard passing felt easy.", "Shared")
    person.tap("^Save entry")
    person.sees("Guard passing felt easy.")


JOURNEYS: dict[str, Callable[[Person, str], None]] = {
    "first list item (Shopping)": first_list_item,
    "first poll": first_poll,
    "first list (Shareables)": first_list,
    "first book (Library)": first_book,
    "first entry (Journal)": first_entry,
}


@contextmanager
def served(checkout: Path, folder: Path) -> Iterator[str]:
    """The suite of a checkout, with its own environment and an empty store; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("POTLUCK_")}
    settings = {
        "POTLUCK_DATA": str(folder / "data"),
        "POTLUCK_PORT": str(port),
        "POTLUCK_OPEN_LIBRARY": "off",
        "POTLUCK_WORKERS": "1",
        # Registrations are limited per address, and here all come from one.
        "POTLUCK_PROXIES": "127.0.0.1",
    }
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [checkout / ".venv/bin/python", "-m", "potluck", "serve"],
            cwd=checkout,
            env={**kept, **settings},
            stdout=subprocess.DEVNULL,
            stderr=log,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        until_ready(address, process, folder / "log")
        first_of_all(address)
        yield address
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)


def until_ready(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            urllib.request.urlopen(f"{address}/readyz").close()
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the suite does not start:\n{log.read_text()}") from None
            time.sleep(0.1)


def first_of_all(address: str) -> None:
    """An account before the others, as the first one looks after the people here."""
    body = json.dumps({"email": "admin@example.org", "password": PASSWORD, "name": "Admin"}).encode()
    request = urllib.request.Request(f"{address}/api/v1/accounts", body, {"content-type": "application/json"})
    urllib.request.urlopen(request).close()


def used(browser: Browser, address: str, journey: Callable[[Person, str], None], email: str, folder: Path) -> Use:
    client = {"X-Forwarded-For": f"10.0.{zlib.crc32(email.encode()) % 250}.1"}
    context = browser.new_context(
        viewport=PHONE, device_scale_factor=2, has_touch=True, is_mobile=True, extra_http_headers=client
    )
    try:
        page = context.new_page()
        page.set_default_timeout(PATIENCE_SECONDS * 1000)
        context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        page.goto(address, wait_until="load")
        person = Person(page)
        try:
            journey(person, email)
        except Exception:
            page.screenshot(path=folder / "stuck.png", full_page=True)
            print(f"stuck at {page.url}: {folder / 'stuck.png'}")
            raise
        return Use(person.taps, person.fields, person.seconds)
    finally:
        context.close()


def measured(browser: Browser, checkout: Path, rounds: int, only: str) -> dict[str, Use]:
    uses: dict[str, Use] = {}
    with tempfile.TemporaryDirectory() as folder, served(checkout, Path(folder)) as address:
        for name, journey in JOURNEYS.items():
            if only not in name:
                continue
            tries = [
                used(browser, address, journey, f"person{number}.{len(uses)}@example.org", Path(tempfile.gettempdir()))
                for number in range(rounds + 1)
            ][1:]
            uses[name] = Use(tries[0].taps, tries[0].fields, statistics.median(use.seconds for use in tries))
            print(f"{name}: {uses[name].taps} taps, {uses[name].fields} fields, {uses[name].seconds:.2f} s")
    return uses


def table(before: dict[str, Use], now: dict[str, Use]) -> str:
    lines = [
        "| first use | taps before | now | typed fields before | now | seconds of the machine before | now |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {old.taps} | {new.taps} | {old.fields} | {new.fields} | {old.seconds:.1f} | {new.seconds:.1f} |"
        for name, new in now.items()
        if (old := before.get(name)) is not None
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path, help="the other checkout, with an environment in its .venv")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", default="", help="only journeys with this in their name; writes no results")
    parser.add_argument("--here", action="store_true", help="this checkout only; writes no results")
    arguments = parser.parse_args()
    with sync_playwright() as playwright:
        program = next(filter(None, map(shutil.which, BROWSERS)))
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        try:
            before = {} if arguments.here else measured(browser, arguments.checkout, arguments.rounds, arguments.only)
            now = measured(browser, HERE, arguments.rounds, arguments.only)
        finally:
            browser.close()
    text = table(before, now)
    print(text)
    if not arguments.only and not arguments.here:
        note = (
            f"Medians of {arguments.rounds} first uses each. [README.md](../README.md) says what a tap and a field are."
        )
        (RESULTS / "first_use.md").write_text(f"# From the front page to the first thing made\n\n{note}\n\n{text}")


if __name__ == "__main__":
    main()
