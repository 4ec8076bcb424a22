"""The page that the link opens: the ballot, thanks for it, and one's own vote while it can be changed."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from litestar import Response, get, post
from litestar.params import FromPath, FromQuery
from litestar.response import Template
from litestar.status_codes import HTTP_409_CONFLICT
from litestar.types import ControllerRouterHandler

from potluck.apps.polls.entities import Poll
from potluck.apps.polls.errors import (
    AccountNeeded,
    AlreadyVoted,
    CodeNeeded,
    NoSuchPoll,
    PollClosed,
    PollsError,
    ResultsHidden,
    WrongKey,
)
from potluck.apps.polls.keys import Credentials, new_voter_key, vote_of
from potluck.apps.polls.pages.around import HOME, POLL, AnyRequest, Refusal, poll_page, refused
from potluck.apps.polls.pages.carrying import EDIT, FRESH, VOTER, carried, credentials, dropped, kept
from potluck.apps.polls.pages.ranks import Ballot, ballot_of, ordinal, ranked_in, read_ballot
from potluck.apps.polls.pages.sharing import link_to
from potluck.apps.polls.service import Polls
from potluck.apps.polls.views import VoteShown, is_open
from potluck.people.authentication import Principal
from potluck.people.errors import PeopleError
from potluck.people.secrets import system_random
from potluck.web.bodies import Body
from potluck.web.callers import Door
from potluck.web.forms import Form, Line, blank, form
from potluck.web.people.showing import led_on

__all__ = ["PAGES"]

# With more candidates than this, a list of places beside each would be longer than the ballot; a number is typed.
MOST_PLACES_LISTED = 20
CHANGED = "The candidates were changed after you opened the ballot. Look at them again, and rank them anew"


class Voting(Body):
    code: Line = ""
    ballot: Line = ""
    """Which candidates the numbers meant when the ballot was shown."""


class Held(Body):
    key: Line


@get(POLL, include_in_schema=False)
async def ballot(
    poll_id: FromPath[UUID], request: AnyRequest, visitor: Principal | None, polls: Polls, door: Door
) -> Response[Any]:
    by = credentials(request, visitor)
    poll = await polls.admission.poll(poll_id)
    if not is_open(poll, polls.clock()):
        return led_on(f"{HOME}/{poll_id}/results")
    own = await _own(polls, by, poll_id)
    if own is None and await polls.admission.has_voted(by, poll):
        return poll_page("voted", by, poll, "vote", polls.clock(), results=await _sees_results(polls, by, poll))
    filled = Ballot() if own is None else ranked_in(poll.candidates, own.rankings)
    answer = _ballot_page(by, poll, polls, filled, blank(Voting), own=own)
    if by.voter_key is None and poll.voter_policy == "open":
        # Before the form is sent, so that a form that is sent twice is one voter's.
        answer.cookies = [kept(request, door, VOTER, new_voter_key(system_random))]
    return answer


@post(f"{POLL}/vote", include_in_schema=False)
async def cast(
    poll_id: FromPath[UUID], request: AnyRequest, visitor: Principal | None, polls: Polls, door: Door
) -> Response[Any]:
    filled = await form(Voting, request)
    poll = await polls.admission.poll(poll_id)
    said = read_ballot(await request.body(), poll.candidates)
    by = credentials(request, visitor, filled.value.code.strip() if filled.good else None)
    if filled.good and filled.value.ballot not in ("", ballot_of(poll.candidates)):
        # Before the first vote, whoever made the poll may change it: these numbers mean others now.
        return _ballot_page(by, poll, polls, Ballot(wrong=CHANGED), filled, own=None, status=HTTP_409_CONFLICT)
    refusal: Refusal | None = None
    if filled.good and not said.wrong:
        try:
            made = await polls.votes.cast(by, poll_id, [poll.candidates[number - 1] for number in said.ranking])
        except AlreadyVoted as error:
            if poll.voter_policy != "codes" or await polls.admission.has_voted(credentials(request, visitor), poll):
                # Sent twice, or from another window: the first one counts, and the page says so.
                return led_on(f"{HOME}/{poll_id}")
            refusal = error
        except AccountNeeded:
            return led_on(f"/sign-in?next={HOME}/{poll_id}")
        except PollClosed:
            return led_on(f"{HOME}/{poll_id}/results")
        except (PeopleError, PollsError) as error:
            refusal = error
        else:
            key = made.edit_key
            return led_on(
                f"{HOME}/{poll_id}/thanks",
                kept(request, door, EDIT, key, poll_id),
                kept(request, door, FRESH, key, poll_id),
            )
    return _again(by, poll, polls, said, filled, refusal)


@post(f"{POLL}/vote/change", include_in_schema=False)
async def change(
    poll_id: FromPath[UUID], request: AnyRequest, visitor: Principal | None, polls: Polls
) -> Response[Any]:
    filled = await form(Voting, request)
    by = credentials(request, visitor)
    poll = await polls.admission.poll(poll_id)
    own = await _own(polls, by, poll_id)
    if own is None:
        # Withdrawn meanwhile, or another's: what is left is to vote.
        return led_on(f"{HOME}/{poll_id}")
    said = read_ballot(await request.body(), poll.candidates)
    refusal: Refusal | None = None
    if not said.wrong:
        try:
            rankings = [poll.candidates[number - 1] for number in said.ranking]
            await polls.votes.change(by, poll_id, own.id, rankings)
        except (PeopleError, PollsError) as error:
            if isinstance(error, PollClosed):
                return led_on(f"{HOME}/{poll_id}/results")
            refusal = error
        else:
            return led_on(f"{HOME}/{poll_id}/thanks?said=changed")
    return _again(by, poll, polls, said, filled, refusal, own=own)


@post(f"{POLL}/vote/withdraw", include_in_schema=False)
async def withdraw(
    poll_id: FromPath[UUID], request: AnyRequest, visitor: Principal | None, polls: Polls, door: Door
) -> Response[Any]:
    by = credentials(request, visitor)
    vote_id = vote_of(by.edit_key)
    try:
        if vote_id is None:
            raise WrongKey.of_vote()
        await polls.votes.withdraw(by, poll_id, vote_id)
    except WrongKey:
        # Withdrawn already, by the same form sent twice perhaps: what is left is to vote.
        return led_on(f"{HOME}/{poll_id}")
    except PollClosed:
        return led_on(f"{HOME}/{poll_id}/results")
    return led_on(f"{HOME}/{poll_id}/thanks?said=withdrawn", dropped(request, door, EDIT, poll_id))


@get(f"{POLL}/thanks", include_in_schema=False)
async def thanks(
    poll_id: FromPath[UUID],
    request: AnyRequest,
    visitor: Principal | None,
    polls: Polls,
    door: Door,
    said: FromQuery[str] = "",
) -> Response[Any]:
    by = credentials(request, visitor)
    poll = await polls.admission.poll(poll_id)
    own = await _own(polls, by, poll_id)
    if own is None and said != "withdrawn":
        return led_on(f"{HOME}/{poll_id}")
    fresh = carried(request, FRESH)
    edit_link = ""
    if fresh is not None and fresh.startswith("ple_"):
        edit_link = link_to(request, door, f"{poll_id}/mine#{fresh}")
    answer = poll_page(
        "thanks",
        by,
        poll,
        "vote",
        polls.clock(),
        own=own,
        said=said,
        edit_link=edit_link,
        results=await _sees_results(polls, by, poll),
    )
    if fresh is not None:
        answer.cookies = [dropped(request, door, FRESH, poll_id)]
    return answer


@get(f"{POLL}/mine", include_in_schema=False)
async def mine(poll_id: FromPath[UUID], request: AnyRequest, visitor: Principal | None, polls: Polls) -> Template:
    by = credentials(request, visitor)
    poll = await polls.admission.poll(poll_id)
    return poll_page("mine", by, poll, "vote", polls.clock(), form=blank(Held))


@post(f"{POLL}/mine", include_in_schema=False)
async def take_up(
    poll_id: FromPath[UUID], request: AnyRequest, visitor: Principal | None, polls: Polls, door: Door
) -> Response[Any]:
    filled = await form(Held, request)
    by = credentials(request, visitor)
    poll = await polls.admission.poll(poll_id)
    refusal: Refusal | None = None
    if filled.good:
        key = filled.value.key.strip()
        try:
            await polls.votes.own(Credentials(edit_key=key), poll_id)
        except WrongKey as error:
            refusal = error
        else:
            return led_on(f"{HOME}/{poll_id}", kept(request, door, EDIT, key, poll_id))
    again = refused(filled, refusal, {WrongKey: "key"})
    return poll_page("mine", by, poll, "vote", polls.clock(), status=again.status, form=again.form)


# --- what these share ------------------------------------------------------------------------------------------------


async def _own(polls: Polls, by: Credentials, poll_id: UUID) -> VoteShown | None:
    """The vote whose key this browser has, if there is one."""
    if by.edit_key is None:
        return None
    try:
        return await polls.votes.own(by, poll_id)
    except WrongKey:
        return None


async def _sees_results(polls: Polls, by: Credentials, poll: Poll) -> bool:
    try:
        await polls.admission.must_see_results(by, poll, polls.clock())
    except ResultsHidden:
        return False
    return True


def _again(
    by: Credentials,
    poll: Poll,
    polls: Polls,
    said: Ballot,
    filled: Form[Any],
    refusal: Refusal | None,
    *,
    own: VoteShown | None = None,
) -> Template:
    """The ballot once more, as it was filled in, with what is wrong."""
    if isinstance(refusal, NoSuchPoll):
        raise refusal
    again = refused(filled, refusal, BESIDE)
    return _ballot_page(by, poll, polls, said, again.form, own=own, status=again.status)


BESIDE: Mapping[type[Exception], str] = {CodeNeeded: "code", AlreadyVoted: "code"}


def _ballot_page(
    by: Credentials,
    poll: Poll,
    polls: Polls,
    said: Ballot,
    filled: Form[Any],
    *,
    own: VoteShown | None,
    status: int = 200,
) -> Template:
    most = min(poll.max_rankings or len(poll.candidates), len(poll.candidates))
    ranked = list(said.ranking)
    order = [*ranked, *(number for number in range(1, len(poll.candidates) + 1) if number not in ranked)]
    return poll_page(
        "ballot",
        by,
        poll,
        "vote",
        polls.clock(),
        status=status,
        form=filled,
        said=said,
        order=order,
        ranked=len(ranked),
        ballot=ballot_of(poll.candidates),
        most=most,
        places=[(str(place), ordinal(place)) for place in range(1, most + 1)] if most <= MOST_PLACES_LISTED else [],
        wrong=said.wrong or next((each.message for each in filled.wrong if each.field.startswith("rankings")), ""),
        own=own,
        sign_in_first=poll.voter_policy == "accounts" and by.caller is None,
    )


PAGES: list[ControllerRouterHandler] = [ballot, cast, change, withdraw, thanks, mine, take_up]
