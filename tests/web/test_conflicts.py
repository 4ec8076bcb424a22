"""Conflicts between a form and what was saved meanwhile, without any page."""

from typing import Any

import pytest

from potluck.web.conflicts import chosen, conflict_between, fingerprints

LABELS = {"name": "Name", "tags": "Tags", "open": "Open"}


def between(mine: dict[str, Any], theirs: dict[str, Any], base: dict[str, Any] | None) -> Any:
    return conflict_between(mine, theirs, "" if base is None else fingerprints(base), 2, LABELS, {})


@pytest.mark.parametrize(
    ("mine", "theirs", "base", "kept"),
    [
        ("b", "a", "a", "mine"),
        ("a", "b", "a", "theirs"),
        ("b", "c", "a", None),
        # Not known: asked.
        ("b", "c", None, None),
    ],
)
def test_what_only_one_of_them_changed_is_kept(mine, theirs, base, kept):
    (field,) = between({"name": mine}, {"name": theirs}, None if base is None else {"name": base}).fields
    assert (field.mine, field.theirs, field.kept) == (mine, theirs, kept)


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [("a\r\nb", "a\nb"), (" a ", "a"), (["b", "a"], ["a", "b"]), (("a",), ["a"]), (True, True)],
)
def test_what_a_browser_sends_otherwise_is_no_difference(mine, theirs):
    assert between({"name": mine}, {"name": theirs}, {"name": "x"}).fields == []


def test_values_of_several_and_of_none_come_back_as_they_were():
    asked = between({"tags": ["x", "y"], "open": True}, {"tags": [], "open": False}, None)
    assert asked.sent == [("tags", "x"), ("tags", "y"), ("open", "true"), ("theirs:tags", ""), ("theirs:open", "false")]


def test_a_field_that_nobody_is_asked_about_is_not_undone():
    loaded = {"name": "a", "hidden": "1", "own": "1"}
    asked = between({**loaded, "name": "b", "own": "2"}, {**loaded, "hidden": "2"}, loaded)
    assert dict(asked.sent) == {"name": "b", "hidden": "2", "own": "2", "theirs:name": "a"}


def test_without_a_choice_what_was_saved_stays_and_what_was_typed_can_be_edited():
    sent = {"name": ["mine"], "theirs:name": ["theirs"]}
    assert chosen(dict(sent), editing=False)["name"] == ["theirs"]
    assert chosen(dict(sent), editing=True)["name"] == ["mine"]
    assert chosen({**sent, "keep:name": ["mine"]}, editing=False)["name"] == ["mine"]
    assert chosen({**sent, "keep:name": ["theirs"]}, editing=True)["name"] == ["theirs"]
