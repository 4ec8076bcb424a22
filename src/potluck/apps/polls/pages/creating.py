"""Pages that create a poll, and change one until the first vote."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from potluck.apps.polls.access import ADMIN_COOKIE, HOME, POLL, PollAdmin, PollMaker
from potluck.apps.polls.entities import Poll
from potluck.apps.polls.pages.cookies import FRESH_COOKIE
from potluck.apps.polls.pages.frame import CHOICES, METHOD_NAMES, POLICIES, VISIBILITIES, frame, poll_frame
from potluck.apps.polls.pages.poll_form import PollForm, as_filled_in, closing_time, settings_by_form
from potluck.apps.polls.polls import CHANGES, PollChange, changed, create_poll, duplicate_poll, polls
from potluck.apps.polls.results import turnout_of
from potluck.validation import ValidationError
from potluck.web import SealedCookie, Show, Writes, _

LABELS = {
    "title": _("Question"),
    "candidates": _("Options"),
    "voterPolicy": _("Who can vote"),
    "resultsVisibility": _("Who can see the results while it’s open"),
    "description": _("Description"),
    "seats": _("Number of winners"),
    "maxRankings": _("Most options to rank"),
    "method": _("Counting method"),
}


def _end_in_words(typed: str) -> datetime | str:
    try:
        return closing_time(typed, "") or _("No closing date")
    except ValidationError:
        return typed


IN_WORDS: dict[str, Callable[[Any], Any]] = {
    "voterPolicy": lambda value: POLICIES[value][0] if value in POLICIES else value,
    "resultsVisibility": lambda value: VISIBILITIES.get(value, value),
    "method": lambda value: METHOD_NAMES.get(value, value),
    "expires": _end_in_words,
    "expiresAt": _end_in_words,
}


@polls.page("/new", "polls/new.html")
async def new_poll(at: PollMaker, show: Show) -> Mapping[str, Any]:
    return {"form": show.form(PollForm, {"voterPolicy": "open"}), **CHOICES, **frame("/new")}


# The share page shows the key once; without an account, a cookie holds it too.
NEW_POLL = f"{HOME}/{{id}}"
KEYS_OF_NEW: Mapping[SealedCookie, Any] = {
    replace(FRESH_COOKIE, path=NEW_POLL): "admin_key",
    replace(ADMIN_COOKIE, path=NEW_POLL): lambda at, poll: poll.admin_key if at.principal is None else None,
}

polls.form("", takes=PollForm, on=new_poll, then=f"{NEW_POLL}/share", sets=KEYS_OF_NEW)(create_poll)
polls.form("/duplicate", then=f"{NEW_POLL}/share", sets=KEYS_OF_NEW)(duplicate_poll)


@polls.page("/edit", "polls/edit.html")
async def edit_page(at: PollAdmin, poll: Poll, show: Show) -> dict[str, Any]:
    form = show.form(PollForm, as_filled_in(poll))
    theirs = None if show.clash is None else as_filled_in(show.clash)
    end = "expiresAt" if form.values["expiresAt"] else "expires"
    return {
        **poll_frame(at, "manage"),
        "form": form,
        "conflict": form.conflict(show.clash, {**LABELS, end: _("Closing date")}, theirs, IN_WORDS),
        "begun": (await turnout_of(at.store, poll.poll_id)).votes_version > 0,
        **CHOICES,
    }


@polls.form("/edit", then=f"{POLL}/manage", flash=_("Poll saved."), on=edit_page, rate_limit=CHANGES)
async def change_by_form(at: PollAdmin, poll: Poll, form: PollForm) -> Writes[Poll]:
    return changed(poll, settings_by_form(form, PollChange, at.now, poll), at.now, at.polls.random)
