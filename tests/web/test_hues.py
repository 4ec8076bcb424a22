"""An app beyond the five names its hue in its entry, and what it names has to be there."""

import pytest

from potluck.web.app_entry import AppEntry
from potluck.web.entity_fields import DeclarationError
from potluck.web.hues import hues_address, must_be_shown, stylesheet
from tests.toy import NotesApp
from tests.web.suites import suite_on


def entry(**other):
    return AppEntry("chores", "Chores", other.pop("icon", "check"), "What is to be done.", "/chores", **other)


def test_an_app_that_names_no_hue_needs_no_sheet():
    assert stylesheet([entry()]) == ""
    assert hues_address([entry()]) == ""


def test_another_wears_the_hue_that_it_names():
    text = stylesheet([AppEntry("polls", "Polls", "vote", "…", "/polls"), entry(hue="beet")])
    assert text.startswith('[data-app="chores"] { --accent: var(--beet); --accent-strong: var(--beet-strong);')
    assert text.count("[data-app=") == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (entry(hue="mauve"), "chores: there is no hue mauve"),
        (entry(icon="unicorn"), "chores: there is no icon unicorn; add it to tools/vendored.toml, then `make vendor`"),
    ],
)
def test_what_pages_do_not_have_is_refused_when_the_suite_is_put_together(wrong, message):
    with pytest.raises(DeclarationError, match=message):
        must_be_shown([entry(), wrong])


async def test_the_sheet_is_linked_and_served_where_an_app_needs_it(tmp_path):
    async with suite_on(tmp_path, [NotesApp]) as (client, _):
        page = (await client.get("/", headers={"accept": "text/html"})).text
        address = page.partition('href="/hues.css')[2].partition('"')[0]
        sheet = await client.get(f"/hues.css{address}")
    assert sheet.headers["content-type"].startswith("text/css")
    assert '[data-app="notes"]' in sheet.text
    assert "For the people around your table" in page
