"""Voting pages: the ballot that a poll's link opens, the thanks, and changing or withdrawing one's own vote."""

from typing import Any

from starlette.responses import Response

from potluck.apps.polls.access import (
    EDIT_COOKIE,
    VOTER_COOKIE,
    ResultsHidden,
    ToPoll,
    WrongKey,
    cookie_key,
)
from potluck.apps.polls.entities import Vote
from potluck.apps.polls.keys import EDIT_KEY, VoterKeys, new_voter_key, vote_of
from potluck.apps.polls.pages.ballot_form import Ballot, ballot_of, on_ballot, ranked_in, read_ballot
from potluck.apps.polls.pages.cookies import FRESH_COOKIE, drop_key, keep_key, keep_voted
from potluck.apps.polls.pages.frame import HOME, address, link_to, poll_frame
from potluck.apps.polls.votes import (
    AccountNeeded,
    AlreadyVoted,
    CodeNeeded,
    NewVote,
    PollClosed,
    PollFull,
    VoteChange,
    cast_vote,
    change_vote,
    votes,
    withdraw_vote,
)
from potluck.people import NotNow
from potluck.validation import ValidationError, decode_tree
from potluck.web import Call, Endpoints, Form, Input, Line, blank, body_of, decode_form, must_be_form, redirect

CHANGED = "The candidates were changed after you opened the ballot. Look at them again, and rank them anew"
POLL = f"{HOME}/{{poll_id}}"

pages = Endpoints()


class BallotForm(Input):
    code: Line = ""
    ballot: Line = ""
    """A hash of the candidates when the ballot was shown."""


class KeyForm(Input):
    key: Line
    """The fragment of a link."""


@pages.get(POLL)
async def ballot(call: Call) -> Response:
    at = await call.admit(ToPoll)
    if not at.poll.is_open(at.now):
        return redirect(address(at, "/results"))
    own = await _own_vote(at)
    if own is None and await at.has_voted():
        return call.page("polls/voted.html", results=await _sees_results(at), **poll_frame(at, "vote"))
    ranked = Ballot() if own is None else ranked_in(at.poll.candidates, own.rankings)
    cookies = []
    if at.keys.voter_key is None and at.poll.voter_policy == "open":
        # Set before the form is submitted, so that submitting it twice counts as one voter.
        cookies = [*keep_key(call, VOTER_COOKIE, new_voter_key(at.polls.random))]
    return call.page("polls/ballot.html", *cookies, form=blank(BallotForm), **_on_ballot(at, ranked, own))


@pages.post(f"{POLL}/vote")
async def cast(call: Call) -> Response:
    at = await call.admit(ToPoll)
    filled, ranked = await _read_ballot(call, at)
    if filled.is_valid and filled.value.ballot not in ("", ballot_of(at.poll.candidates)):
        # The candidates were changed, as they may be before the first vote: the numbers mean others now.
        return call.page("polls/ballot.html", status=409, form=filled, **_on_ballot(at, Ballot(wrong=CHANGED)))
    refusal: Exception | None = None
    if filled.is_valid and not ranked.wrong:
        try:
            sent = {"rankings": _names(at, ranked), "code": filled.value.code.strip() or None}
            made = await call.perform(votes, cast_vote, decode_tree(NewVote, sent))
            return redirect(
                address(at, "/thanks"),
                *keep_key(call, EDIT_COOKIE, made.edit_key, at.poll_id),
                *keep_key(call, FRESH_COOKIE, made.edit_key, at.poll_id),
                *keep_voted(call, at.poll_id),
            )
        except AlreadyVoted as error:
            if at.poll.voter_policy != "codes" or await at.has_voted():
                # Submitted twice, or from another window: the first vote counts, and the page says so.
                return redirect(address(at))
            refusal = error
        except AccountNeeded:
            return redirect(f"/sign-in?next={address(at)}")
        except PollClosed:
            return redirect(address(at, "/results"))
        except (CodeNeeded, PollFull, ValidationError, NotNow) as error:
            refusal = error
    return _refused_ballot(call, at, filled, ranked, refusal)


@pages.post(f"{POLL}/vote/change")
async def change(call: Call) -> Response:
    at = await call.admit(ToPoll)
    own = await _own_vote(at)
    if own is None:
        # Withdrawn meanwhile, or somebody else's: show the empty ballot.
        return redirect(address(at))
    filled, ranked = await _read_ballot(call, at)
    refusal: Exception | None = None
    if filled.is_valid and not ranked.wrong:
        try:
            sent = decode_tree(VoteChange, {"rankings": _names(at, ranked)})
            await call.perform(votes, change_vote, sent, vote_id=own.vote_id)
            return redirect(address(at, "/thanks?said=changed"))
        except WrongKey:
            return redirect(address(at))
        except PollClosed:
            return redirect(address(at, "/results"))
        except (ValidationError, NotNow) as error:
            refusal = error
    return _refused_ballot(call, at, filled, ranked, refusal, own)


@pages.post(f"{POLL}/vote/withdraw")
async def withdraw(call: Call) -> Response:
    at = await call.admit(ToPoll)
    vote_id = vote_of(at.keys.edit_key)
    try:
        if vote_id is None:
            raise WrongKey.of_vote()
        await call.perform(votes, withdraw_vote, vote_id=vote_id)
    except WrongKey:
        # Withdrawn already, perhaps by the same form submitted twice: show the empty ballot.
        return redirect(address(at))
    except PollClosed:
        return redirect(address(at, "/results"))
    return redirect(
        address(at, "/thanks?said=withdrawn"),
        *drop_key(call, EDIT_COOKIE, at.poll_id),
        *keep_voted(call, at.poll_id, voted=False),
    )


@pages.get(f"{POLL}/thanks")
async def thanks(call: Call) -> Response:
    at = await call.admit(ToPoll)
    own, said = await _own_vote(at), call.query.get("said", "")
    if own is None and said != "withdrawn":
        return redirect(address(at))
    fresh = cookie_key(call.visitor, FRESH_COOKIE)
    linked = fresh is not None and fresh.startswith(EDIT_KEY)
    return call.page(
        "polls/thanks.html",
        *([] if fresh is None else drop_key(call, FRESH_COOKIE, at.poll_id)),
        own=own,
        said=said,
        edit_link=link_to(call, at, f"/mine#{fresh}") if linked else "",
        results=await _sees_results(at),
        **poll_frame(at, "vote"),
    )


@pages.get(f"{POLL}/mine")
async def mine(call: Call) -> Response:
    at = await call.admit(ToPoll)
    return call.page("polls/mine.html", form=blank(KeyForm), **poll_frame(at, "vote"))


@pages.post(f"{POLL}/mine")
async def take_key(call: Call) -> Response:
    at = await call.admit(ToPoll)
    filled = await call.form(KeyForm)
    refusal = None
    if filled.is_valid:
        key = filled.value.key.strip()
        if await _own_vote(at, VoterKeys(edit_key=key)) is not None:
            return redirect(address(at), *keep_key(call, EDIT_COOKIE, key, at.poll_id), *keep_voted(call, at.poll_id))
        refusal = WrongKey.of_vote()
    return call.again("polls/mine.html", filled, refusal, "key", **poll_frame(at, "vote"))


# --- what these share -------------------------------------------------------------------------------------------------


async def _own_vote(at: ToPoll, by: VoterKeys | None = None) -> Vote | None:
    """The vote that the edit key in `by` belongs to; by default, the key in this browser's cookie."""
    by = by or at.keys
    vote_id = vote_of(by.edit_key)
    vote = None if vote_id is None else await at.store.get(Vote.one(at.poll_id, vote_id))
    return vote if vote is not None and by.holds(vote) else None


async def _sees_results(at: ToPoll) -> bool:
    try:
        await at.must_see_results()
    except ResultsHidden:
        return False
    return True


async def _read_ballot(call: Call, at: ToPoll) -> tuple[Form[BallotForm], Ballot]:
    must_be_form(call.request)
    raw = await body_of(call.request)
    return decode_form(BallotForm, raw), read_ballot(raw, at.poll.candidates)


def _names(at: ToPoll, ranked: Ballot) -> list[str]:
    return [at.poll.candidates[number - 1] for number in ranked.ranking]


def _refused_ballot(
    call: Call, at: ToPoll, filled: Form[BallotForm], ranked: Ballot, refusal: Exception | None, own: Vote | None = None
) -> Response:
    """The ballot again, as it was filled in, with the errors."""
    wrong = refusal.errors if isinstance(refusal, ValidationError) else ()
    about_ranking = next((each.message for each in wrong if each.field.startswith("rankings")), "")
    context = _on_ballot(at, ranked, own)
    return call.again("polls/ballot.html", filled, refusal, **{**context, "wrong": ranked.wrong or about_ranking})


def _on_ballot(at: ToPoll, ranked: Ballot, own: Vote | None = None) -> dict[str, Any]:
    """Template values of polls/ballot.html for this filled-in ballot."""
    return {
        **poll_frame(at, "vote"),
        **on_ballot(at.poll, ranked),
        "own": own,
        "sign_in_first": at.poll.voter_policy == "accounts" and at.principal is None,
    }
