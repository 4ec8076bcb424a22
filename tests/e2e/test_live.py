"""A list that several look at: two browsers, at two processes on one store."""

import re
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.e2e.browsing import Visit
from tests.e2e.cables import Cable, cable_to
from tests.e2e.coming_in import join, send, sign_in
from tests.e2e.toys import Toy
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.needs("chromium", "axe-core")

SECONDS = 1000
# Collects what streams bring.
HEARD = """
window.heard = "";
const { decode } = TextDecoder.prototype;
TextDecoder.prototype.decode = function (...given) {
  const text = decode.apply(this, given);
  window.heard += text;
  return text;
};
"""
RESET = "event: reset\ndata: {}\n\n"
# How often a stream is checked that tells nothing, with what it takes to hear of it.
RECHECKED_WITHIN = 15 + 2


@pytest.fixture(scope="module")
def servers(tmp_path_factory) -> Iterator[tuple[Toy, Toy]]:
    folder = tmp_path_factory.mktemp("shared")
    with Toy(folder) as one, Toy(folder) as other:
        yield one, other


@pytest.fixture
def cable(servers) -> Iterator[Cable]:
    """From one of the browsers to its server."""
    with cable_to(servers[1].port) as cable:
        yield cable


@pytest.fixture
def both(visit, servers, cable) -> tuple[Visit, Visit]:
    """The same book in two browsers, each at a server of its own, both live."""
    here, there = visit("/", at=servers[0].address), visit("/", "desk", at=cable.address)
    sign_in(there, join(here))
    book = urlsplit(send(here, "/notes", name="Campfire")).path
    for window in (here, there):
        window.open(book)
        window.live()
    return here, there


def titles(window):
    return window.page.locator("#notes .row-name").all_inner_texts()


def add(window, *names):
    for name in names:
        window.page.get_by_label("Add a note").first.fill(name)
        window.page.keyboard.press("Enter")
        window.page.locator("#notes .row-name", has_text=name).wait_for()
        # The stream may bring the row before the answer does, and until then the form takes nothing else.
        window.page.locator("#adding:not([aria-busy])").wait_for()


def retitle(window, name, to):
    field = window.page.get_by_label(f"Title of {name}", exact=True)
    field.fill(to)
    field.press("Enter")
    window.page.locator("#notes .row-name", has_text=to).wait_for()


def remove(window, name):
    window.page.get_by_role("button", name=f"Delete {name}").click()
    window.page.locator("#notes .row-name", has_text=name).wait_for(state="detached")


def until_same(one, other, within=PATIENCE_SECONDS):
    """Both show the same rows, each once, in the same order."""
    end = time.monotonic() + within
    while titles(one) != titles(other) and time.monotonic() < end:
        time.sleep(0.05)
    ids = "[...document.querySelectorAll('#notes > li')].map((row) => `${row.id} ${row.dataset.version}`)"
    assert one.page.evaluate(ids) == other.page.evaluate(ids)
    assert titles(one) == titles(other)
    assert len(set(titles(one))) == len(titles(one))


def test_a_change_in_one_browser_appears_in_the_other_once(both):
    here, there = both
    add(here, "Firewood", "Matches")
    there.page.locator("#notes .row-name", has_text="Matches").wait_for()
    until_same(here, there)
    retitle(there, "Firewood", "Dry firewood")
    here.page.locator("#notes .row-name", has_text="Dry firewood").wait_for()
    remove(here, "Matches")
    there.page.locator("#notes .row-name", has_text="Matches").wait_for(state="detached")
    until_same(here, there)
    # The form is empty again, and the number beside the name counts.
    assert here.page.get_by_label("Add a note").first.input_value() == ""
    for window in both:
        expect(window.page.locator("[data-live-count]")).to_have_text("1")
        assert window.violations() == []
    there.picture("live")


def test_what_somebody_types_is_not_taken_from_under_their_hands(both):
    here, there = both
    add(here, "Firewood")
    field = there.page.get_by_label("Title of Firewood", exact=True)
    field.fill("Firewood, two bags")
    retitle(here, "Firewood", "Dry firewood")
    # The change is there, and waits.
    add(here, "Matches")
    there.page.locator("#notes .row-name", has_text="Matches").wait_for()
    assert field.input_value() == "Firewood, two bags"
    there.expected = "status of 409"
    field.press("Enter")
    there.page.get_by_role("heading", name="Which version do you want to keep?").wait_for()
    there.picture("changed-twice")
    there.page.get_by_role("radio", name="Firewood, two bags").check()
    there.follow(there.page.get_by_role("button", name="Save"))
    here.page.locator("#notes .row-name", has_text="Firewood, two bags").wait_for()
    there.live()
    until_same(here, there)


def test_no_row_is_replaced_between_press_and_release(both):
    here, there = both
    add(here, "Firewood")
    there.page.add_init_script(HEARD)
    # However long the test takes, the button is not held for long.
    there.stop_the_clock()
    there.page.reload()
    there.live()
    delete = there.page.get_by_role("button", name="Delete Firewood")
    delete.hover()
    pressed = delete.element_handle()
    there.page.mouse.down()
    retitle(here, "Firewood", "Dry firewood")
    there.page.wait_for_function("() => heard.includes('Dry firewood')")
    assert pressed.evaluate("(button) => button.isConnected")
    assert titles(there) == ["Firewood"]
    there.page.mouse.up()
    here.page.locator("#notes .row-name").wait_for(state="detached")
    there.page.clock.run_for(1)
    until_same(here, there)


def offline_for(both, cable, seconds):
    here, there = both
    add(here, "Firewood", "Matches", "Water")
    there.page.locator("#notes .row-name", has_text="Water").wait_for()
    cable.pull()
    there.page.context.set_offline(True)
    there.page.locator(".live", has_text="Updated").wait_for()
    there.page.get_by_text("You’re offline").wait_for()
    there.picture("live-no-signal")
    add(here, "Marshmallows", "Sticks")
    retitle(here, "Firewood", "Dry firewood")
    remove(here, "Matches")
    time.sleep(seconds)
    assert "Sticks" not in titles(there)
    cable.put_back()
    there.page.context.set_offline(False)
    there.live()
    until_same(here, there)
    add(here, "Guitar")
    there.page.locator("#notes .row-name", has_text="Guitar").wait_for()
    until_same(here, there)
    there.without_network()


def test_after_a_time_without_signal_nothing_is_missing_or_doubled(both, cable):
    offline_for(both, cable, 1)


@pytest.mark.soak
def test_after_a_minute_without_signal_nothing_is_missing_or_doubled(both, cable):
    offline_for(both, cable, 60)


def test_after_a_restart_of_its_server_nothing_is_missing_or_doubled(both, servers):
    here, there = both
    add(here, "Firewood", "Matches")
    there.page.locator("#notes .row-name", has_text="Matches").wait_for()
    servers[1].stop()
    there.page.locator(".live", has_text="Updated").wait_for()
    add(here, "Water")
    remove(here, "Matches")
    servers[1].start()
    there.live()
    until_same(here, there)
    retitle(here, "Firewood", "Dry firewood")
    there.page.locator("#notes .row-name", has_text="Dry firewood").wait_for()
    until_same(here, there)
    there.without_network()


def test_a_script_that_comes_late_costs_nothing_but_time(both):
    here, there = both

    def slowly(route):
        time.sleep(0.5)
        route.continue_()

    there.page.route(re.compile("kit/live.js"), slowly)
    there.page.reload(wait_until="commit")
    add(here, "Firewood")
    there.live()
    there.page.locator("#notes .row-name", has_text="Firewood").wait_for()
    until_same(here, there)


def test_a_page_whose_stream_never_began_reads_again_when_signal_is_back(both):
    here, there = both
    events = re.compile(r"/events\?")
    there.page.route(events, lambda route: route.abort())
    there.page.reload()
    add(here, "Firewood")
    there.page.unroute(events)
    there.page.context.set_offline(True)
    there.page.context.set_offline(False)
    there.page.locator("#notes .row-name", has_text="Firewood").wait_for()
    there.live()
    add(here, "Matches")
    there.page.locator("#notes .row-name", has_text="Matches").wait_for()
    until_same(here, there)
    there.without_network()


def test_a_position_that_is_too_old_has_the_list_read_again(both):
    here, there = both
    add(here, "Firewood", "Matches")
    events = re.compile(r"/events\?")
    there.page.route(events, lambda route: route.abort())
    there.page.reload()
    remove(here, "Matches")
    retitle(here, "Firewood", "Dry firewood")
    add(here, "Water")
    assert titles(there) != titles(here)
    there.page.unroute(events)
    there.page.route(events, lambda route: route.fulfill(content_type="text/event-stream", body=RESET))
    until_same(here, there)
    there.without_network()


def test_signed_out_elsewhere_it_hears_no_more_and_says_so(both):
    here, there = both
    add(here, "Firewood")
    there.page.locator("#notes .row-name", has_text="Firewood").wait_for()
    there.expected = "status of 401"
    send(here, "/account/sessions/end-others")
    # What follows is asked about before it is told.
    add(here, "Secret plans")
    there.page.get_by_text("You no longer have access").wait_for()
    assert titles(there) == ["Firewood"]
    assert there.violations() == []
    there.picture("live-over")
    there.without_network()


@pytest.mark.soak
def test_signed_out_elsewhere_a_quiet_stream_ends_within_fifteen_seconds(both):
    here, there = both
    there.expected = "status of 401"
    send(here, "/account/sessions/end-others")
    there.page.get_by_text("You no longer have access").wait_for(timeout=RECHECKED_WITHIN * SECONDS)
    there.without_network()
