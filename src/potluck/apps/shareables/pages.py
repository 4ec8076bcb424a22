"""The pages: opening by id, laying one out and its share card, unlocking, the list, and what is left of it."""

from collections.abc import Sequence
from typing import Annotated, Any

from starlette.responses import Response

from potluck.apps.polls.keys import new_voter_key
from potluck.apps.polls.pages.ranks import read_ballot
from potluck.apps.polls.results import current_record
from potluck.apps.polls.votes import AlreadyVoted, NewVote
from potluck.apps.shareables.access import SHARE_COOKIE, Editor, Expired, Keeper, PasscodeNeeded, Reader, ToShareable
from potluck.apps.shareables.ballots import VOTER_COOKIE, Voter, ballots, cast_vote
from potluck.apps.shareables.fields import MOST_ITEMS, ShortId, spelled
from potluck.apps.shareables.laying_out import (
    Clone,
    NewShareable,
    ShareableMade,
    clone_shareable,
    create_shareable,
)
from potluck.apps.shareables.live import LiveShareable
from potluck.apps.shareables.passcodes import SESSION_LASTS, PasscodeChange, Unlock, WrongPasscode
from potluck.apps.shareables.shareables import (
    HOME,
    OwnShareable,
    ShareableView,
    open_session,
    own_shareables,
    replace_passcodes,
    shareables,
)
from potluck.field_types import Text
from potluck.people.errors import InvalidFields, Throttled
from potluck.web.access import SignedIn
from potluck.web.api import MaybeSince
from potluck.web.endpoints import Call, Endpoints
from potluck.web.forms import Form, Line, blank
from potluck.web.http.responses import Cookie, redirect
from potluck.web.inputs import Input
from potluck.web.qr import qr_code
from potluck.web.requests import body_of, must_be_form
from potluck.web.schema import decode_query, path_value, schema_of
from potluck.web.schema.decoding import decode_tree

__all__ = ["pages"]

ONE = f"{HOME}/{{short_id}}"
LIVES = (("1", "a day"), ("7", "a week"), ("30", "30 days"), ("90", "90 days"), ("365", "a year"))
# Nothing of it is to be found by searching.
UNLISTED = {"x-robots-tag": "noindex"}
OWN_SHOWN = 50
VOTER_KEPT_SECONDS = 400 * 24 * 3600

pages = Endpoints()


class OpenForm(Input):
    id: Line = ""
    """In any spelling, or a link."""


class NewForm(Input):
    entity: Line = "checklist"
    name: Line = ""
    note: Line = ""
    lines: Annotated[str, Text(0, 100_000, "That is more than fits on a list", trim=False)] = ""
    """Items or candidates, one in each line."""
    days: Line = "30"
    view_passcode: Line = ""
    admin_passcode: Line = ""

    def as_sent(self) -> dict[str, Any]:
        """The same as a program would send it."""
        lines = [each.strip() for each in self.lines.splitlines() if each.strip()]
        inside = {"candidates": lines} if self.entity == "poll" else {"items": [{"name": each} for each in lines]}
        passcodes = {"viewPasscode": self.view_passcode or None, "adminPasscode": self.admin_passcode or None}
        days = int(self.days) if self.days.isdecimal() else self.days
        common = {"entity": self.entity, "name": self.name, "note": self.note or None, "expiresInDays": days}
        return {**common, **inside, **passcodes}


class PasscodesForm(Input):
    view: Line = ""
    admin: Line = ""
    open: bool = False
    """Whether viewers need none from now on."""


class CloneForm(Input):
    name: Line = ""
    days: Line = "30"
    keep_ticks: bool = False


# --- laying one out ---------------------------------------------------------------------------------------------------


@pages.get(HOME)
async def home(call: Call) -> Response:
    return call.page("shareables/home.html", form=blank(OpenForm), **await _home(call))


@pages.post(f"{HOME}/open")
async def open_by_id(call: Call) -> Response:
    filled = await call.form(OpenForm)
    found = path_value(schema_of(ShortId), "id", filled.value.id) if filled.good else ""
    if isinstance(found, str):
        return redirect(f"{HOME}/{found}")
    return call.again("shareables/home.html", filled, InvalidFields(found), **await _home(call))


@pages.get(f"{HOME}/new")
async def new(call: Call) -> Response:
    return call.page("shareables/new.html", form=blank(NewForm), lives=LIVES, most_items=MOST_ITEMS)


@pages.post(HOME)
async def make(call: Call) -> Response:
    filled = await call.form(NewForm)
    refusal: Exception | None = None
    if filled.good:
        try:
            sent = decode_tree(NewShareable, filled.value.as_sent())
            return _made(call, await call.perform(shareables, create_shareable, sent))
        except (InvalidFields, Throttled) as error:
            refusal = error
    return call.again("shareables/new.html", filled, refusal, lives=LIVES, most_items=MOST_ITEMS)


def _made(call: Call, made: ShareableMade) -> Response:
    """The share card, once: its passcodes are in no address, and nowhere else."""
    cookies = _session(call, made.short_id, made.admin_token)
    qr = qr_code(made.url)
    return call.page("shareables/made.html", *cookies, headers=UNLISTED, made=made, qr=qr, address=_address(made))


# --- opening one ------------------------------------------------------------------------------------------------------


@pages.get(ONE)
async def look(call: Call) -> Response:
    short_id = spelled(call.text("short_id"))
    if short_id != call.text("short_id"):
        return redirect(f"{HOME}/{short_id}")
    try:
        at = await call.admit(Reader)
    except PasscodeNeeded:
        return redirect(f"{HOME}/{short_id}/unlock")
    except Expired as over:
        address = f"{HOME}/{short_id}"
        return call.page("shareables/over.html", status=over.problem.status, headers=UNLISTED, address=address)
    return call.page("shareables/list.html", headers=UNLISTED, **await _looked_at(at))


@pages.get(f"{ONE}/events")
async def events(call: Call) -> Response:
    at = await call.admit(Reader)
    since = decode_query(MaybeSince, call.request.query_params.multi_items(), strict=False).since
    return LiveShareable(at).stream(since or None, whole=False)


@pages.get(f"{ONE}/unlock")
async def unlock_page(call: Call) -> Response:
    at = await call.admit(ToShareable)
    return call.page("shareables/unlock.html", headers=UNLISTED, form=blank(Unlock), address=_address(at))


@pages.post(f"{ONE}/unlock")
async def unlock(call: Call) -> Response:
    at = await call.admit(ToShareable)
    filled = await call.form(Unlock)
    refusal: Exception | None = None
    if filled.good:
        try:
            opened = await call.perform(shareables, open_session, filled.value)
            return redirect(_address(at), *_session(call, at.short_id, opened.token))
        except (WrongPasscode, Throttled) as error:
            refusal = error
    return call.again("shareables/unlock.html", filled, refusal, "passcode", address=_address(at))


@pages.post(f"{ONE}/leave")
async def leave(call: Call) -> Response:
    at = await call.admit(ToShareable)
    if at.session is not None:
        await call.core.store.delete(at.session)
    return redirect(HOME, *_session(call, at.short_id, ""))


# --- looking after it -------------------------------------------------------------------------------------------------


@pages.post(f"{ONE}/passcodes")
async def passcodes(call: Call) -> Response:
    at = await call.admit(Editor)
    filled = await call.form(PasscodesForm)
    refusal: Exception | None = None
    if filled.good:
        said = filled.value
        given: dict[str, str | None] = {"admin": said.admin} if said.admin else {}
        given |= {"view": None} if said.open else {"view": said.view} if said.view else {}
        try:
            await call.perform(shareables, replace_passcodes, decode_tree(PasscodeChange, given))
            if not said.admin:
                return redirect(_address(at))
            # Their own session went with the old one.
            opened = await call.perform(shareables, open_session, Unlock(passcode=said.admin))
            return redirect(_address(at), *_session(call, at.short_id, opened.token))
        except (InvalidFields, Throttled) as error:
            refusal = error
    return await _again(call, at, filled, refusal)


@pages.post(f"{ONE}/clone")
async def clone(call: Call) -> Response:
    at = await call.admit(Keeper)
    filled = await call.form(CloneForm)
    refusal: Exception | None = None
    if filled.good:
        said = filled.value
        days = int(said.days) if said.days.isdecimal() else said.days
        sent = {"expiresInDays": days, "keepTicks": said.keep_ticks} | ({"name": said.name} if said.name else {})
        try:
            return _made(call, await call.perform(shareables, clone_shareable, decode_tree(Clone, sent)))
        except (InvalidFields, Throttled) as error:
            refusal = error
    return await _again(call, at, filled, refusal)


@pages.post(f"{ONE}/vote")
async def vote(call: Call) -> Response:
    at = await call.admit(Voter)
    must_be_form(call.request.headers)
    ranked = read_ballot(await body_of(call.request), at.poll.candidates)
    wrong = ranked.wrong
    if not wrong:
        rankings = [at.poll.candidates[number - 1] for number in ranked.ranking]
        key = at.keys.voter_key or new_voter_key(at.services.random)
        try:
            await call.perform(ballots, cast_vote, decode_tree(NewVote, {"rankings": rankings, "voterKey": key}))
            kept = call.keep(VOTER_COOKIE, key, VOTER_KEPT_SECONDS, _address(at))
            return redirect(f"{_address(at)}?said=voted", *kept)
        except (AlreadyVoted, InvalidFields) as error:
            wrong = str(error)
    return call.page("shareables/list.html", status=409, headers=UNLISTED, **await _looked_at(at, wrong=wrong))


# --- what these share -------------------------------------------------------------------------------------------------


async def _home(call: Call) -> dict[str, Any]:
    own: list[Any] = []
    if call.principal is not None:
        at = await call.admit(SignedIn)
        found = own_shareables(at)
        rows = (await at.rows.page(found.query, OWN_SHOWN)).items
        own = await at.show(OwnShareable, await found.get(rows))
    return {"own": own, "said": call.query.get("said", "")}


async def _looked_at(at: Reader, **context: Any) -> dict[str, Any]:
    """What the page shows of a shareable to whoever looks at it."""
    position = await at.core.live.position(*LiveShareable(at).lists)
    (shown,) = await at.show(ShareableView, [at.shareable])
    record = None
    if at.shareable.poll_id is not None:
        record = (await current_record(at.services.polls, at.shareable.poll_id)).results
    return {
        "it": shown,
        "address": _address(at),
        "position": position,
        "results": record,
        "people": await at.services.presence.people(at.short_id),
        "passcodes": blank(PasscodesForm),
        "clone": blank(CloneForm),
        "lives": LIVES,
        "wrong": "",
        **context,
    }


async def _again(call: Call, at: Reader, filled: Form[Any], refusal: Exception | None) -> Response:
    refused = call.refused(filled, refusal)
    wrong = " ".join(each.message for each in refused.form.wrong) or str(refusal)
    context = await _looked_at(at, wrong=wrong)
    return call.page("shareables/list.html", status=refused.status, headers={**UNLISTED, **refused.headers}, **context)


def _address(of: ToShareable | ShareableMade) -> str:
    return f"{HOME}/{of.short_id}"


def _session(call: Call, short_id: str, token: str) -> Sequence[Cookie]:
    """The cookies of a session, sent to the pages of that shareable alone; an empty token takes it away."""
    return call.keep(SHARE_COOKIE, token, int(SESSION_LASTS.total_seconds()), f"{HOME}/{short_id}")
