"""What the access test is made of: its ids, its findings, and apps from elsewhere."""

from uuid import UUID

import pytest
from chores.app import ChoresApp

from tests.web.access_worlds import Answer, unknown_like
from tests.web.place_world import app_from_elsewhere, furnish_place


def test_an_unknown_id_is_as_valid_as_a_known_one():
    assert unknown_like("2040-01-02") == "9999-12-31"
    assert UUID(unknown_like("abc-def-12345")) != UUID(unknown_like(""))


def test_a_finding_shows_what_a_page_says_and_not_its_layout():
    page = Answer(404, None, "text/html", '<nav>Apps</nav><main id="main"><h1>Not\n found</h1></main><p>Foot</p>')
    assert str(page).split("text/html ") == ["404  ", "Not found"]
    assert str(Answer(409, None, "application/problem+json", "{}")).endswith("application/problem+json {}")


def test_an_app_from_elsewhere_has_the_world_next_to_it_or_one_made_from_its_declarations(tmp_path, monkeypatch):
    assert app_from_elsewhere("") == {}
    assert app_from_elsewhere("chores.app:ChoresApp") == {ChoresApp: furnish_place}
    (tmp_path / "elsewhere_shed").mkdir()
    (tmp_path / "elsewhere_shed" / "app.py").write_text("def shed_app(core): ...")
    (tmp_path / "elsewhere_shed" / "access_world.py").write_text("async def furnish(suite): ...")
    monkeypatch.syspath_prepend(tmp_path)
    ((make, furnish),) = app_from_elsewhere("elsewhere_shed.app:shed_app").items()
    assert (make.__name__, furnish.__module__) == ("shed_app", "elsewhere_shed.access_world")
    with pytest.raises(AttributeError, match="no_app"):
        app_from_elsewhere("elsewhere_shed.app:no_app")
