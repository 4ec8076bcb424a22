"""Which problem each of the polls' errors is, for the assembly."""

from potluck.apps.polls import errors
from potluck.web.errors import CHALLENGE, NOT_FOUND, NOT_SIGNED_IN, Kind, Problem

__all__ = ["ERRORS"]

WRONG_KEY = Problem(
    "wrong-key",
    403,
    "Not with this key",
    "A poll can be changed by whoever made it, and a vote by whoever cast it. Each got a key for that, once, and this"
    " request carried none, or another one.",
    "Send the poll's key as X-Admin-Key, or the vote's as X-Edit-Key. Who made a poll signed in needs no key.",
)
POLL_CLOSED = Problem(
    "poll-closed",
    409,
    "The poll is closed",
    "Its time is over, or whoever made it has closed it. Votes are neither taken nor changed after that, and its"
    " results are final.",
)
ALREADY_VOTED = Problem(
    "already-voted",
    409,
    "You have voted",
    "Everybody has one vote in a poll, and there is one from you. This one was not counted.",
    "Change or withdraw the first one, with the edit key that you got for it.",
)
CODE_NEEDED = Problem(
    "code-needed",
    403,
    "A code is needed",
    "Whoever made this poll has handed out codes, each good for one vote. The request carried none of them.",
    "Send the code you were given. Case, spaces and dashes make no difference.",
)
RESULTS_HIDDEN = Problem(
    "results-hidden",
    403,
    "Results are not shown",
    "Whoever made the poll decides who sees its results, and when: always, after voting, after closing, or only they.",
)
VOTES_BEGUN = Problem(
    "votes-begun",
    409,
    "Voting has begun",
    "Nobody's vote may come to mean something else, so from the first vote on a poll stays as it is.",
    "Close it, or duplicate it and change the copy.",
)
NO_CODES_ASKED = Problem(
    "no-codes-asked",
    409,
    "No codes here",
    "Anyone, or anyone who is signed in, may vote in this poll, so a code would open nothing.",
    "Before the first vote, the poll can be changed to ask for codes.",
)
VOTES_COMING_IN = Problem(
    "votes-coming-in",
    409,
    "Votes are coming in",
    "To compare a recount with the counts, the votes must stand still for as long as reading them takes.",
    "Try again in a quieter moment, or close the poll first.",
)

ERRORS: dict[type[Exception], Kind] = {
    errors.NoSuchPoll: Kind(NOT_FOUND, detail=NOT_FOUND.explanation),
    errors.WrongKey: Kind(WRONG_KEY),
    errors.PollClosed: Kind(POLL_CLOSED),
    errors.AlreadyVoted: Kind(ALREADY_VOTED),
    errors.CodeNeeded: Kind(CODE_NEEDED),
    errors.AccountNeeded: Kind(NOT_SIGNED_IN, headers=lambda _: {"www-authenticate": CHALLENGE}),
    errors.ResultsHidden: Kind(RESULTS_HIDDEN, members=lambda error: {"resultsVisibility": error.until}),
    errors.VotesBegun: Kind(VOTES_BEGUN),
    errors.NoCodesAsked: Kind(NO_CODES_ASKED),
    errors.VotesComingIn: Kind(VOTES_COMING_IN),
}
