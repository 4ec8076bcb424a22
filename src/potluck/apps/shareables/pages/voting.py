"""The poll in a shareable: its ballot and its results, made of the page parts of the polls app."""

from collections.abc import Sequence
from typing import Any, TypeVar

from starlette.responses import Response

from potluck.apps.polls.access import WrongKey
from potluck.apps.polls.entities import Vote
from potluck.apps.polls.keys import new_voter_key, vote_of
from potluck.apps.polls.pages.ballot_form import Ballot, on_ballot, ranked_in, read_ballot
from potluck.apps.polls.pages.frame import METHOD_NAMES
from potluck.apps.polls.pages.frame import ballots as in_ballots
from potluck.apps.polls.pages.results import outcome_shown
from potluck.apps.polls.pages.voting import BallotForm
from potluck.apps.polls.polls import view_of
from potluck.apps.polls.results import ByMethod, InFormat
from potluck.apps.polls.votes import AlreadyVoted, NewVote, VoteChange
from potluck.apps.shareables.access import Expired, PasscodeNeeded
from potluck.apps.shareables.ballots import (
    VOTE_COOKIE,
    VOTER_COOKIE,
    InPoll,
    Voter,
    ballots,
    cast_vote,
    change_vote,
    poll_ballots,
    results_table,
    withdraw_vote,
)
from potluck.apps.shareables.live import LiveShareable
from potluck.apps.shareables.pages.frame import ONE, address_of, layout_context, page, vote_sections
from potluck.people import NotNow
from potluck.validation import ValidationError, decode_query, decode_tree
from potluck.web import Call, Cookie, Endpoints, Form, Input, blank, body_of, decode_form, must_be_form, redirect

# Browsers keep no cookie longer than 400 days.
KEPT_SECONDS = 400 * 24 * 3600
In = TypeVar("In", bound=Input)

pages = Endpoints()


async def poll_page(call: Call, context: dict[str, Any], listed: Sequence[Cookie]) -> Response:
    """The ballot, for somebody who may vote; with the cookies that list the poll on this device."""
    at = await call.admit(Voter)
    own = await _own_vote(at)
    if own is None and at.keys.voter_key is not None and await _has_voted(at):
        return redirect(f"{address_of(at.short_id)}/results?said=before", *listed)
    ranked = Ballot() if own is None else ranked_in(at.poll.candidates, own.rankings)
    cookies = [*listed]
    if at.keys.voter_key is None:
        # Set before the form is sent, so that sending it twice is one voter's doing.
        key = new_voter_key(at.services.random)
        cookies += [*call.keep(VOTER_COOKIE, key, KEPT_SECONDS, address_of(at.short_id))]
    return page(call, "poll", *cookies, form=blank(BallotForm), **context, **_on_ballot(at, ranked, own))


@pages.post(f"{ONE}/vote")
async def vote(call: Call) -> Response:
    at = await call.admit(Voter)
    filled, ranked = await _read(call, at)
    refusal: Exception | None = None
    if not ranked.wrong:
        key = at.keys.voter_key or new_voter_key(at.services.random)
        try:
            sent = decode_tree(NewVote, {"rankings": _names(at, ranked), "voterKey": key})
            made = await call.perform(ballots, cast_vote, sent)
            address = address_of(at.short_id)
            kept = [
                cookie
                for name, value in ((VOTER_COOKIE, key), (VOTE_COOKIE, made.edit_key))
                for cookie in call.keep(name, value, KEPT_SECONDS, address)
            ]
            return redirect(f"{address}/results?said=voted", *kept)
        except AlreadyVoted:
            # Sent twice, or from another window: the first one counts, and the page says so.
            return redirect(f"{address_of(at.short_id)}/results?said=before")
        except (ValidationError, NotNow) as error:
            refusal = error
    return await _refused(call, at, filled, ranked, refusal)


@pages.post(f"{ONE}/vote/change")
async def change(call: Call) -> Response:
    at = await call.admit(Voter)
    own = await _own_vote(at)
    if own is None:
        # Withdrawn meanwhile, or not theirs: they can only vote anew.
        return redirect(address_of(at.short_id))
    filled, ranked = await _read(call, at)
    refusal: Exception | None = None
    if not ranked.wrong:
        try:
            sent = decode_tree(VoteChange, {"rankings": _names(at, ranked)})
            await call.perform(ballots, change_vote, sent, vote_id=own.vote_id)
            return redirect(f"{address_of(at.short_id)}/results?said=changed")
        except WrongKey:
            return redirect(address_of(at.short_id))
        except (ValidationError, NotNow) as error:
            refusal = error
    return await _refused(call, at, filled, ranked, refusal, own)


@pages.post(f"{ONE}/vote/withdraw")
async def withdraw(call: Call) -> Response:
    at = await call.admit(Voter)
    own = await _own_vote(at)
    address = address_of(at.short_id)
    if own is None:
        return redirect(address)
    await call.perform(ballots, withdraw_vote, vote_id=own.vote_id)
    return redirect(f"{address}/results?said=withdrawn", *call.drop(VOTE_COOKIE, address))


# --- the results ------------------------------------------------------------------------------------------------------


@pages.get(f"{ONE}/results")
async def results(call: Call) -> Response:
    try:
        at = await call.admit(InPoll)
    except (PasscodeNeeded, Expired):
        # The shareable's own page says why.
        return redirect(address_of(call.text("short_id")))
    position = await at.position(*LiveShareable(at).lists)
    said = call.query.get("said", "")
    return page(
        call,
        "results",
        **layout_context(at),
        **_poll(at),
        **await outcome_shown(at.services.polls, at.poll.poll_id, call.query),
        position=position,
        people=await at.services.presence.people(at.short_id),
        sections=vote_sections(at, "results") if at.poll.is_open(at.now) else [],
        told=said,
    )


@pages.get(f"{ONE}/results.csv")
async def table(call: Call) -> Response:
    return await results_table(await call.admit(InPoll), _query(call, ByMethod))


@pages.get(f"{ONE}/ballots")
async def ballot_file(call: Call) -> Response:
    return await poll_ballots(await call.admit(InPoll), _query(call, InFormat))


# --- what these share -------------------------------------------------------------------------------------------------


async def _own_vote(at: Voter) -> Vote | None:
    """The vote whose key this browser has."""
    vote_id = vote_of(at.keys.edit_key)
    found = None if vote_id is None else await at.store.get(Vote.one(at.poll.poll_id, vote_id))
    return found if found is not None and at.keys.holds(found) else None


async def _has_voted(at: Voter) -> bool:
    vote_id = at.services.polls.voters.vote_id(at.poll, at.keys)
    return vote_id is not None and await at.store.get(Vote.one(at.poll.poll_id, vote_id)) is not None


async def _read(call: Call, at: Voter) -> tuple[Form[BallotForm], Ballot]:
    must_be_form(call.request)
    raw = await body_of(call.request)
    return decode_form(BallotForm, raw), read_ballot(raw, at.poll.candidates)


def _names(at: Voter, ranked: Ballot) -> list[str]:
    return [at.poll.candidates[number - 1] for number in ranked.ranking]


async def _refused(
    call: Call, at: Voter, filled: Form[BallotForm], ranked: Ballot, refusal: Exception | None, own: Vote | None = None
) -> Response:
    """The ballot again, as it was filled in, with its errors."""
    wrong = refusal.errors if isinstance(refusal, ValidationError) else ()
    about_ranking = next((each.message for each in wrong if each.field.startswith("rankings")), "")
    refused = call.refused(filled, refusal)
    position = await at.position(*LiveShareable(at).lists)
    shown = {
        **layout_context(at),
        **_on_ballot(at, ranked, own),
        "wrong": ranked.wrong or about_ranking,
        "form": refused.form,
        "position": position,
        "people": await at.services.presence.people(at.short_id),
    }
    return page(call, "poll", status=refused.status, headers=refused.headers, **shown)


def _on_ballot(at: Voter, ranked: Ballot, own: Vote | None) -> dict[str, Any]:
    return {
        **_poll(at),
        **on_ballot(at.poll, ranked),
        "own": own,
        "sign_in_first": False,
        "sections": vote_sections(at, "vote"),
    }


def _poll(at: InPoll) -> dict[str, Any]:
    return {"poll": view_of(at.poll, at.now), "methods": METHOD_NAMES, "ballots": in_ballots}


def _query(call: Call, kind: type[In]) -> In:
    """The query parameters, without empty ones."""
    return decode_query(kind, [each for each in call.request.query_params.multi_items() if each[1]], strict=False)
