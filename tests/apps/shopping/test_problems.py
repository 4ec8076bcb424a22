"""Every refusal is a problem that a caller can look up."""

from potluck.apps.shopping.app import ShoppingApp
from potluck.apps.shopping.conflicts import IdTaken
from potluck.web.errors import ProblemError


def kinds(error):
    """The problems of Shopping's own modules."""
    for each in error.__subclasses__():
        if each.__module__.startswith("potluck.apps.shopping."):
            yield each
        yield from kinds(each)


def test_they_are_what_the_contract_calls_them():
    told = {each.__name__: (each.problem.slug, each.problem.status) for each in kinds(ProblemError)}
    assert told == {
        "LastAdmin": ("last-admin", 409),
        "DuplicateItem": ("duplicate-item", 409),
        "IdTaken": ("already-exists", 409),
        "NameTaken": ("name-taken", 409),
        "AlreadyRestocked": ("already-restocked", 409),
        "NotRestockable": ("not-restockable", 409),
        "NothingToUndo": ("expired", 410),
    }


def test_each_is_declared_by_a_rule_so_that_it_has_a_page():
    declared = {each.slug for subject in ShoppingApp.subjects for rule in subject.declared for each in rule.problems}
    own = {each.problem.slug for each in kinds(ProblemError)}
    assert own <= declared


def test_what_exists_already_is_in_the_answer():
    assert IdTaken(None).members == {}
    assert IdTaken("the item").members == {"existing": "the item"}
