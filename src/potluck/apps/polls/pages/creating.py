"""Pages that create a poll, and change one until somebody has voted."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from starlette.responses import Response

from potluck.apps.polls.access import ADMIN_COOKIE, PollAdmin
from potluck.apps.polls.entities import Poll
from potluck.apps.polls.pages.cookies import FRESH_COOKIE, keep_key
from potluck.apps.polls.pages.frame import CHOICES, HOME, METHOD_NAMES, POLICIES, VISIBILITIES, frame, poll_frame
from potluck.apps.polls.pages.poll_form import PollForm, as_filled_in, closing_time, settings_by_form
from potluck.apps.polls.polls import (
    CHANGES,
    NewPoll,
    PollChange,
    PollMade,
    changed,
    create_poll,
    polls,
)
from potluck.apps.polls.results import turnout_of
from potluck.people import NotNow
from potluck.validation import ValidationError
from potluck.web import Call, Endpoints, Show, Writes, blank, redirect

LABELS = {
    "title": "Question",
    "candidates": "Candidates",
    "voterPolicy": "Who may vote",
    "resultsVisibility": "Who sees the results while it is open",
    "description": "Description",
    "seats": "How many are elected",
    "maxRankings": "How many each may rank",
    "method": "Counted by",
}


def _closes(typed: str) -> datetime | str:
    try:
        return closing_time(typed, "") or "No closing date"
    except ValidationError:
        return typed


IN_WORDS: dict[str, Callable[[Any], Any]] = {
    "voterPolicy": lambda value: POLICIES[value][0] if value in POLICIES else value,
    "resultsVisibility": lambda value: VISIBILITIES.get(value, value),
    "method": lambda value: METHOD_NAMES.get(value, value),
    "expires": _closes,
    "expiresAt": _closes,
}

pages = Endpoints()


@pages.get(f"{HOME}/new")
async def new_poll(call: Call) -> Response:
    return call.page("polls/new.html", form=blank(PollForm, {"voterPolicy": "open"}), **CHOICES, **frame())


@pages.post(HOME)
async def make(call: Call) -> Response:
    filled = await call.form(PollForm)
    refusal = None
    if filled.is_valid:
        try:
            new = settings_by_form(filled.value, NewPoll, call.core.clock())
            return to_new_poll(call, await call.perform(polls, create_poll, new))
        except (ValidationError, NotNow) as error:
            refusal = error
    return call.again("polls/new.html", filled, refusal, **CHOICES, **frame())


def to_new_poll(call: Call, made: PollMade) -> Response:
    """Redirects to the share page, which shows the key once; without an account, a cookie stores it too."""
    cookies = [*keep_key(call, FRESH_COOKIE, made.admin_key, made.id)]
    if call.principal is None:
        cookies += keep_key(call, ADMIN_COOKIE, made.admin_key, made.id)
    return redirect(f"{HOME}/{made.id}/share", *cookies)


@polls.page("/edit", "polls/edit.html")
async def edit_page(at: PollAdmin, poll: Poll, show: Show) -> dict[str, Any]:
    filled = show.form(PollForm, as_filled_in(poll))
    theirs = None if show.clash is None else as_filled_in(show.clash)
    closes = "expiresAt" if filled.values["expiresAt"] else "expires"
    labels = {**LABELS, closes: "Closes"}
    begun = (await turnout_of(at.store, poll.poll_id)).votes_version > 0
    return {
        **poll_frame(at, "manage"),
        "form": filled,
        "conflict": filled.conflict(show.clash, labels, theirs, IN_WORDS),
        "begun": begun,
        **CHOICES,
    }


@polls.form("/edit", then=f"{HOME}/{{poll_id}}/manage?said=changed", on=edit_page, rate_limit=CHANGES)
async def change_by_form(at: PollAdmin, poll: Poll, form: PollForm) -> Writes[Poll]:
    return changed(poll, settings_by_form(form, PollChange, at.now, poll), at.now, at.polls.random)
