"""Everything on the page that has everything, with nothing but a keyboard."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.needs("chromium", "axe-core")

# Of radio buttons with one name, Tab reaches one; arrows reach the others.
REACHABLE = """
() => {
  const kinds = 'a[href], button:not([disabled]), input:not([type=hidden]), textarea, select, summary, [tabindex="0"]';
  const groups = new Set();
  return [...document.querySelectorAll(kinds)].filter((element) => {
    if (!element.checkVisibility()) return false;
    if (element.type !== 'radio') return true;
    if (groups.has(element.name)) return false;
    return groups.add(element.name);
  }).length;
}
"""

FOCUSED = """
() => {
  const element = document.activeElement;
  if (element === document.body) return null;
  const seen = element.matches('.chip-box input, .scale input') ? element.nextElementSibling : element;
  const style = getComputedStyle(seen);
  const box = seen.getBoundingClientRect();
  const top = document.querySelector('.top').getBoundingClientRect();
  const bar = document.querySelector('.sections');
  const floor = bar && getComputedStyle(bar).position === 'fixed' ? bar.getBoundingClientRect().top : innerHeight;
  const apart = element.closest('.top, .sections, .skip');
  // Of a large field, the browser brings the line into sight that is written on.
  const room = element.matches('textarea') ? box.height - 60 : 1;
  element.dataset.reached = (Number(element.dataset.reached) || 0) + 1;
  return {
    what: element.outerHTML.slice(0, 120),
    times: Number(element.dataset.reached),
    ring: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 3,
    clear: Boolean(apart) || (box.top >= top.bottom - room && box.bottom <= floor + room),
  };
}
"""


@pytest.mark.parametrize("path", ["/style/journal", "/schema"])
@pytest.mark.parametrize("screen", ["phone", "desk"])
def test_tab_reaches_everything_and_shows_where_it_is(visit, path, screen):
    page = visit(path, screen).page
    expected = page.evaluate(REACHABLE)
    reached = []
    while (found := (page.keyboard.press("Tab"), page.evaluate(FOCUSED))[1]) and found["times"] == 1:
        reached.append(found)
    assert len(reached) == expected > 40
    assert [each["what"] for each in reached if not each["ring"]] == []
    assert [each["what"] for each in reached if not each["clear"]] == []


def test_the_first_tab_offers_to_skip_to_the_content(visit):
    page = visit("/style").page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_a_stepper_takes_arrows_and_keeps_to_its_bounds(visit):
    page = visit("/style").page
    stepper = page.get_by_role("group", name="How many: Flat parsley")
    changes = page.evaluate_handle(
        "() => { const seen = []; addEventListener('change', (e) => seen.push(e.target.value)); return seen; }"
    )
    stepper.get_by_role("button", name="One more").focus()
    for key in ("Enter", "ArrowUp", "ArrowDown", "Home", "ArrowDown"):
        page.keyboard.press(key)
    # The last press is below the least, so nothing changes.
    assert changes.json_value() == ["2", "3", "2", "1"]
    field = stepper.get_by_role("spinbutton")
    assert field.input_value() == "1"
    assert stepper.get_by_role("button", name="One less").get_attribute("aria-disabled") == "true"
    # Typed, it is the number that was typed; what is none is what it was before.
    for typed, taken in (("37", "37"), ("", "37"), ("0", "1")):
        field.fill(typed)
        field.blur()
        assert field.input_value() == taken
    assert stepper.get_by_role("button", name="One less").get_attribute("aria-disabled") == "true"


def test_a_row_is_ticked_by_its_whole_label(visit):
    page = visit("/style").page
    page.get_by_text("on the vine").click()
    tick = page.get_by_role("checkbox", name="Tomatoes")
    assert tick.is_checked()
    tick.press("Space")
    assert not tick.is_checked()
