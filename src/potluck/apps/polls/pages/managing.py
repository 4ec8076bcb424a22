"""Pages that manage a poll: closing, reopening, codes, copying, recounting, deleting."""

from typing import Annotated, Any

from starlette.responses import Response

from potluck.apps.polls.access import ADMIN_COOKIE, PollAdmin, ToPoll, WrongKey
from potluck.apps.polls.entities import Poll
from potluck.apps.polls.fields import MOST_CODES
from potluck.apps.polls.keys import VoterKeys
from potluck.apps.polls.pages.cookies import drop_key, keep_key
from potluck.apps.polls.pages.creating import to_new_poll
from potluck.apps.polls.pages.frame import HOME, POLICIES, VISIBILITIES, address, poll_frame
from potluck.apps.polls.pages.poll_form import as_typed, closing_time
from potluck.apps.polls.pages.voting import POLL, KeyForm
from potluck.apps.polls.polls import (
    NewCodes,
    NoCodesAsked,
    Reopening,
    delete_poll,
    duplicate_poll,
    make_codes,
    polls,
    reopen_poll,
)
from potluck.apps.polls.results import VotesComingIn, audited, turnout_of
from potluck.people import NotNow, TooMany
from potluck.validation import Integer, ValidationError
from potluck.web import Call, Endpoints, Input, Line, blank, redirect

USUAL_CODES = 10
MANAGE = "polls/manage.html"
SAID = {
    "changed": "The poll is changed.",
    "closed": "The poll is closed, and its results are final.",
    "reopened": "The poll is open again.",
}

pages = Endpoints()


class ReopenForm(Input):
    expires: Line = ""
    expires_at: Line = ""


class CodesForm(Input):
    count: Annotated[int, Integer(1, MOST_CODES, f"There can be 1 to {MOST_CODES:,} at a time")]


@pages.get(f"{POLL}/manage")
async def manage(call: Call) -> Response:
    at = await call.admit(ToPoll)
    if not at.keys.administers(at.poll):
        return call.page("polls/key.html", form=blank(KeyForm), **poll_frame(at, "manage"))
    return call.page(MANAGE, **await _managed(at, said=SAID.get(call.query.get("said", ""), "")))


@pages.post(f"{POLL}/manage")
async def take_key(call: Call) -> Response:
    at = await call.admit(ToPoll)
    filled = await call.form(KeyForm)
    refusal = None
    if filled.is_valid:
        key = filled.value.key.strip()
        if VoterKeys(admin_key=key).administers(at.poll):
            return redirect(address(at, "/manage"), *keep_key(call, ADMIN_COOKIE, key, at.poll_id))
        refusal = WrongKey.of_poll()
    return call.again("polls/key.html", filled, refusal, "key", **poll_frame(at, "manage"))


@pages.post(f"{POLL}/reopen")
async def reopen(call: Call) -> Response:
    at = await call.admit(PollAdmin)
    filled = await call.form(ReopenForm)
    refusal = None
    if filled.is_valid:
        try:
            until = closing_time(filled.value.expires, filled.value.expires_at)
            await call.perform(polls, reopen_poll, Reopening(expires_at=until))
            return redirect(address(at, "/manage?said=reopened"))
        except (ValidationError, NotNow) as error:
            refusal = error
    return call.again(MANAGE, filled, refusal, form_name="until", **await _managed(at))


@pages.post(f"{POLL}/codes")
async def codes(call: Call) -> Response:
    """Responds with the codes instead of redirecting: they are stored nowhere, and never shown again."""
    at = await call.admit(PollAdmin)
    filled = await call.form(CodesForm)
    refusal = None
    if filled.is_valid:
        try:
            made = await call.perform(polls, make_codes, NewCodes(count=filled.value.count))
            return call.page(MANAGE, **await _managed(at, codes=made))
        except (NoCodesAsked, TooMany, NotNow) as error:
            refusal = error
    return call.again(MANAGE, filled, refusal, **await _managed(at))


@pages.post(f"{POLL}/duplicate")
async def duplicate(call: Call) -> Response:
    return to_new_poll(call, await call.perform(polls, duplicate_poll))


@pages.post(f"{POLL}/recount")
async def recount(call: Call) -> Response:
    at = await call.admit(PollAdmin)
    try:
        audit = await audited(at.polls, at.poll)
    except VotesComingIn as refusal:
        return call.page(MANAGE, status=refusal.problem.status, **await _managed(at, coming_in=True))
    return call.page(MANAGE, **await _managed(at, audit=audit))


@polls.page("/delete", "polls/delete.html")
async def delete_page(at: PollAdmin, poll: Poll) -> dict[str, Any]:
    return {**poll_frame(at, "manage"), "turnout": await turnout_of(at.store, poll.poll_id)}


@pages.post(f"{POLL}/delete")
async def delete(call: Call) -> Response:
    at = await call.admit(PollAdmin)
    await call.perform(polls, delete_poll)
    return redirect(f"{HOME}?said=deleted", *drop_key(call, ADMIN_COOKIE, at.poll_id))


async def _managed(at: ToPoll, **context: Any) -> dict[str, Any]:
    """Template values of the manage page."""
    poll = at.poll
    to_come = poll.expires_at if poll.expires_at is not None and poll.expires_at > at.now else None
    return {
        **poll_frame(at, "manage"),
        "turnout": await turnout_of(at.store, at.poll_id),
        "policy": POLICIES[poll.voter_policy],
        "visibility": VISIBILITIES[poll.results_visibility],
        "form": blank(CodesForm, {"count": USUAL_CODES}),
        "until": blank(ReopenForm, as_typed(to_come)),
        "most_codes": MOST_CODES,
        "codes": None,
        "audit": None,
        "coming_in": False,
        "said": "",
        "by_key": at.principal is None or at.principal.user_id != poll.creator_id,
        **context,
    }
