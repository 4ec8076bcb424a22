"""The suite answers as it was recorded: a scripted session of every call and page, compared with `recording/`."""

from pathlib import Path
from typing import NamedTuple

import pytest
import pytest_asyncio

from tests.differential.chapters import CHAPTERS
from tests.differential.differences import Difference, differences, report, unexpected
from tests.differential.intended import Rule, load_rules
from tests.differential.recording import load
from tests.differential.routes import not_played
from tests.differential.script import Played, play

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Session(NamedTuple):
    played: list[Played]
    left: list[Difference]
    rules: list[Rule]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Every chapter, and the differences that no rule accepts."""
    rules = load_rules()
    played, left = [], []
    for number, (name, (chapter, options)) in enumerate(CHAPTERS.items()):
        folder: Path = tmp_path_factory.mktemp(f"chapter{number}")
        played.append(await play(name, chapter, folder, **options))
        left += unexpected(differences(load(name), played[-1].entries, rules), rules)
    return Session(played, left, rules)


async def test_everything_is_answered_as_it_was_recorded(session):
    if session.left:
        pytest.fail(report(session.left), pytrace=False)


async def test_every_rule_is_about_something(session):
    assert [rule.why for rule in session.rules if not rule.used] == [], "Take these out of intended.toml"


async def test_every_address_is_answered_once_and_refused_once(session):
    assert not_played(session.played) == {}


# --- the comparison itself --------------------------------------------------------------------------------------------


async def test_a_difference_is_told_and_can_be_accepted():
    was = {"step": "a/b", "status": 200, "html": ["<form>", "<input name='x'>"], "json": {"items": [{"name": "A"}]}}
    now = {"step": "a/b", "status": 404, "html": ["<form>"], "json": {"items": [{"name": "B"}]}}
    found = differences([was], [now])
    assert [item.where for item in found] == ["status", "html", "json/items/0/name"]
    assert "<input name='x'>" in report(found)
    rules = [Rule("because", "a/*", "status", accept="^404$"), Rule("because", "a/*", "headers/*", accept="")]
    assert [item.where for item in unexpected(found, rules)] == ["html", "json/items/0/name"]
    assert [rule.used for rule in rules] == [True, False]


async def test_a_member_that_is_null_is_not_an_absent_one():
    found = differences([{"step": "a/b", "json": {"a": 1}}], [{"step": "a/b", "json": {"a": 1, "b": None}}])
    assert [(item.where, item.was, item.now) for item in found] == [("json/b", "(absent)", "null")]


async def test_a_class_of_differences_is_left_out_by_one_rule():
    was = {"step": "a/b", "headers": {"location": "/x?said=saved&of=1"}, "html": ["<p>Not like this</p>"]}
    now = {"step": "a/b", "headers": {"location": "/x"}, "html": ["<p>Refused</p>"], "cookies": ["flash=<value>"]}
    rules = [
        Rule("a flash cookie says it", where="headers/location", replace="[?&](said|of)=[^&#]*"),
        Rule("a flash cookie says it", where="cookies", drop="^flash="),
        Rule("another title", replace="Not like this", by="Refused"),
    ]
    assert len(differences([was], [now])) == 3
    assert differences([was], [now], rules) == []
    assert all(rule.used for rule in rules)


async def test_an_id_may_be_named_for_another_step():
    was = [{"step": "a", "text": ["made ⟦id of a⟧"]}, {"step": "b", "text": ["⟦id of a⟧ and ⟦id of b⟧"]}]
    now = [{"step": "a", "text": ["made"]}, {"step": "b", "text": ["⟦id of b⟧ and ⟦id 2 of b⟧"]}]
    assert [item.step for item in differences(was, now)] == ["a"]
    mixed = [{"step": "a", "text": ["made ⟦id of a⟧"]}, {"step": "b", "text": ["⟦id of a⟧ and ⟦id of a⟧"]}]
    assert [item.step for item in differences(was, mixed)] == ["b"]
