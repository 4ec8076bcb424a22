"""Every refusal of polls is a problem with a status and an explanation."""

import inspect

from potluck.apps.polls import errors
from potluck.apps.polls.problems import ERRORS
from potluck.web.errors import PROBLEMS


def test_every_error_is_a_problem():
    raised = {
        each
        for _, each in inspect.getmembers(errors, inspect.isclass)
        if issubclass(each, errors.PollsError) and each is not errors.PollsError
    }
    assert set(ERRORS) == raised


def test_the_statuses_are_those_of_the_contract():
    told = {kind.problem.slug: kind.problem.status for kind in ERRORS.values()}
    assert told == {
        "not-found": 404,
        "wrong-key": 403,
        "poll-closed": 409,
        "already-voted": 409,
        "code-needed": 403,
        "not-signed-in": 401,
        "results-hidden": 403,
        "votes-begun": 409,
        "no-codes-asked": 409,
        "votes-coming-in": 409,
    }


def test_no_problem_of_polls_has_the_address_of_another():
    shared = {each.slug: each for each in PROBLEMS}
    for kind in ERRORS.values():
        assert shared.get(kind.problem.slug, kind.problem) is kind.problem


def test_what_hides_results_is_said():
    hidden = errors.ResultsHidden("afterVote")
    assert ERRORS[errors.ResultsHidden].members(hidden) == {"resultsVisibility": "afterVote"}
    assert "when you have voted" in str(hidden)
