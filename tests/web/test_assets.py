"""Static files: one digest for all of them, which changes when any of them does."""

import pytest

from potluck.web.assets import Assets, assets_of
from tests.web.suites import suite_on


def files(folder, **contents):
    for name, content in contents.items():
        (folder / f"{name}.js").write_text(content)
    return Assets({"web/static": folder})


def test_the_addresses_of_all_files_change_when_one_of_them_does(tmp_path):
    before = files(tmp_path, one="1", two="2")
    assert before.address("one.js") == files(tmp_path, one="1", two="2").address("one.js")
    assert before.address("one.js") != files(tmp_path, two="22").address("one.js")


def test_an_address_mirrors_the_source_tree():
    folders = assets_of([])
    assert folders.address("js/start.js") == f"/static/{folders.digest}/web/static/js/start.js"


def test_a_file_that_is_not_there_has_no_address():
    with pytest.raises(FileNotFoundError):
        assets_of([]).address("js/strat.js")


async def test_a_page_from_before_an_update_gets_the_current_file_which_it_must_not_cache(tmp_path):
    async with suite_on(tmp_path) as (client, _):
        address = assets_of([]).address("js/start.js")
        now = await client.get(address)
        before = await client.get(address.replace(assets_of([]).digest, "0" * 12))
    assert now.text == before.text
    assert "immutable" in now.headers["cache-control"]
    assert before.headers["cache-control"] == "no-cache"
