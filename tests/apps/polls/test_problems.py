"""Every refusal of polls is a problem with a status and an explanation."""

from potluck.apps.polls.access import ResultsHidden, WrongKey
from potluck.apps.polls.polls import NoCodesAsked, VotesBegun
from potluck.apps.polls.results import VotesComingIn
from potluck.apps.polls.votes import AccountNeeded, AlreadyVoted, CodeNeeded, PollClosed
from potluck.web.errors import PROBLEMS

REFUSALS = (
    WrongKey,
    PollClosed,
    AlreadyVoted,
    CodeNeeded,
    AccountNeeded,
    ResultsHidden,
    VotesBegun,
    NoCodesAsked,
    VotesComingIn,
)


def test_the_statuses_are_those_of_the_contract():
    assert {each.problem.slug: each.problem.status for each in REFUSALS} == {
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
    for each in REFUSALS:
        assert shared.get(each.problem.slug, each.problem) is each.problem


def test_what_hides_results_is_said():
    hidden = ResultsHidden("afterVote")
    assert hidden.members == {"resultsVisibility": "afterVote"}
    assert "once you have voted" in str(hidden)
