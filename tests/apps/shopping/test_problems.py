"""Every refusal is a problem that a caller can look up."""

from potluck.apps.shopping import errors
from potluck.apps.shopping.problems import ERRORS

KINDS = [
    each
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, errors.ShoppingError) and each is not errors.ShoppingError
]


def test_every_error_is_a_problem():
    assert set(ERRORS) == set(KINDS)


def test_they_are_what_the_contract_calls_them():
    told = {error.__name__: (kind.problem.slug, kind.problem.status) for error, kind in ERRORS.items()}
    assert told == {
        "NothingThere": ("not-found", 404),
        "OnlyAdmins": ("forbidden", 403),
        "LastAdmin": ("last-admin", 409),
        "DuplicateItem": ("duplicate-item", 409),
        "AlreadyThere": ("already-exists", 409),
        "NameTaken": ("name-taken", 409),
        "AlreadyRestocked": ("already-restocked", 409),
        "NotRestockable": ("not-restockable", 409),
        "NothingToUndo": ("expired", 410),
    }


def test_what_exists_already_is_in_the_answer():
    existing = errors.AlreadyThere(None)
    assert ERRORS[errors.AlreadyThere].members(existing) == {}
    duplicate = errors.DuplicateItem("the item")
    assert ERRORS[errors.DuplicateItem].members(duplicate) == {"existing": "the item"}
