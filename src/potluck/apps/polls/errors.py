"""What polls refuse, in their own words; problems.py says which problem each of them is."""

__all__ = [
    "AccountNeeded",
    "AlreadyVoted",
    "CodeNeeded",
    "NoCodesAsked",
    "NoSuchPoll",
    "PollClosed",
    "PollsError",
    "ResultsHidden",
    "VotesBegun",
    "VotesComingIn",
    "WrongKey",
]


class PollsError(Exception):
    """Whatever is refused here; its text may be shown to the person it is refused to."""


class NoSuchPoll(PollsError):
    """It never was, or is deleted, or has no address of its own: the three are told alike."""

    def __init__(self) -> None:
        super().__init__("There is no such poll")


class WrongKey(PollsError):
    """The key is missing or another's: the poll's, or the vote's. That there is no such vote is told alike."""

    def __init__(self, needed: str) -> None:
        super().__init__(needed)

    @classmethod
    def of_poll(cls) -> "WrongKey":
        return cls("Only who made the poll may do this, with its admin key or signed in")

    @classmethod
    def of_vote(cls) -> "WrongKey":
        return cls("Only who cast the vote may do this, with its edit key")


class PollClosed(PollsError):
    """Votes are neither taken nor changed any more."""

    def __init__(self) -> None:
        super().__init__("This poll is closed")


class AlreadyVoted(PollsError):
    """This voter has a vote in this poll."""

    def __init__(self) -> None:
        super().__init__("You have voted in this poll already")


class CodeNeeded(PollsError):
    """The poll asks for a code, and none of its own was given."""

    def __init__(self) -> None:
        super().__init__("This poll asks for one of its codes")


class AccountNeeded(PollsError):
    """The poll is for people who are signed in."""

    def __init__(self) -> None:
        super().__init__("Sign in to vote in this poll")


class ResultsHidden(PollsError):
    """The caller may not see the results, or not yet; `until` says what they wait for."""

    SAID = {  # noqa: RUF012 - never written
        "afterVote": "You see the results when you have voted, or when the poll is closed",
        "afterClose": "The results are shown when the poll is closed",
        "admin": "Only who made the poll sees its results",
    }

    def __init__(self, until: str) -> None:
        super().__init__(self.SAID[until])
        self.until = until


class VotesBegun(PollsError):
    """Somebody has voted on the poll as it is, so it stays as it is."""

    def __init__(self) -> None:
        super().__init__("Somebody has voted, so the poll cannot be changed any more")


class NoCodesAsked(PollsError):
    """Codes would open nothing."""

    def __init__(self) -> None:
        super().__init__("This poll asks for no codes")


class VotesComingIn(PollsError):
    """The votes changed all the time while they were read, so nothing certain can be said of them."""

    def __init__(self) -> None:
        super().__init__("Votes kept coming in while they were recounted")
