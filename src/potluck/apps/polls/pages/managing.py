"""Pages that manage a poll: closing, reopening, codes, recounting, deleting."""

from collections.abc import Mapping
from typing import Any

from potluck.apps.polls.access import ADMIN_COOKIE, HOME, POLL, PollAdmin, ToPoll, WrongTypedKey
from potluck.apps.polls.entities import Poll
from potluck.apps.polls.fields import MOST_CODES
from potluck.apps.polls.keys import VoterKeys
from potluck.apps.polls.pages.frame import POLICIES, VISIBILITIES, poll_frame
from potluck.apps.polls.pages.poll_form import as_typed, closing_time
from potluck.apps.polls.pages.voting import KeyForm
from potluck.apps.polls.polls import CodesMade, NewCodes, Reopening, delete_poll, make_codes, polls, reopen_poll
from potluck.apps.polls.results import Audit, VotesComingIn, audited, turnout_of
from potluck.web import FormOf, Line, Show, Writes, _

USUAL_CODES = 10
MANAGE = f"{POLL}/manage"


class ReopenForm(FormOf[Reopening]):
    expires: Line = ""
    expires_at: Line = ""

    def as_input(self, at: PollAdmin) -> Reopening:
        return Reopening(expires_at=closing_time(self.expires, self.expires_at))


@polls.page("/manage", "polls/manage.html")
async def manage(at: ToPoll, poll: Poll, show: Show) -> Mapping[str, Any]:
    if not at.keys.administers(poll):
        return show.template("polls/key.html", {"form": show.form(KeyForm), **poll_frame(at, "manage")})
    end = poll.expires_at if poll.expires_at is not None and poll.expires_at > at.now else None
    return {
        **poll_frame(at, "manage"),
        "turnout": await turnout_of(at.store, at.poll_id),
        "policy": POLICIES[poll.voter_policy],
        "visibility": VISIBILITIES[poll.results_visibility],
        "form": show.form(NewCodes, {"count": USUAL_CODES}),
        "until": show.form(ReopenForm, as_typed(end)),
        "most_codes": MOST_CODES,
        # Shown in the response itself, without a redirect: codes are not stored, and never shown again.
        "codes": show.done if isinstance(show.done, CodesMade) else None,
        "audit": show.done if isinstance(show.done, Audit) else None,
        "coming_in": isinstance(show.refusal, VotesComingIn),
        "by_key": at.principal is None or at.principal.user_id != poll.creator_id,
    }


@polls.form("/manage", on=manage, then=MANAGE, sets={ADMIN_COOKIE: "key"}, frees_room=True)
async def take_admin_key(at: ToPoll, poll: Poll, sent: KeyForm) -> Writes[KeyForm]:
    key = sent.key.strip()
    if not VoterKeys(admin_key=key).administers(poll):
        raise WrongTypedKey.of_poll()
    return Writes(KeyForm(key=key))


polls.form("/reopen", takes=ReopenForm, on=manage, then=MANAGE, flash=_("The poll is open again."))(reopen_poll)
polls.form("/codes", on=manage, then="")(make_codes)


@polls.form("/recount", on=manage, then="", frees_room=True)
async def recount(at: PollAdmin, poll: Poll) -> Writes[Audit]:
    return Writes(await audited(at.polls, poll))


@polls.page("/delete", "polls/delete.html")
async def delete_page(at: PollAdmin, poll: Poll) -> Mapping[str, Any]:
    return {**poll_frame(at, "manage"), "turnout": await turnout_of(at.store, poll.poll_id)}


polls.form("/delete", then=HOME, drops=ADMIN_COOKIE, flash=_("Poll and votes deleted."))(delete_poll)
