"""Opening by id: the box that accepts any spelling, entering the passcode, and forgetting it on this device."""

import re
from typing import Any

from starlette.responses import Response

from potluck.apps.shareables.access import PASSCODE_CHANGED, ToShareable
from potluck.apps.shareables.entities import Shareable
from potluck.apps.shareables.fields import ShortId, spelled
from potluck.apps.shareables.pages.device import (
    adopt_opened,
    forget_opened,
    listed_here,
    opened_before_sign_in,
    opened_here,
)
from potluck.apps.shareables.pages.frame import (
    ONE,
    address_of,
    days_left,
    forget_one,
    keep_session,
    layout_context,
    page,
)
from potluck.apps.shareables.passcodes import Unlock, WrongPasscode
from potluck.apps.shareables.shareables import (
    HOME,
    OwnShareable,
    open_session,
    own_shareables,
    shareables,
)
from potluck.people import Throttled
from potluck.validation import FieldError, ValidationError, path_value, schema_of
from potluck.web import GUESSES, Call, Endpoints, Form, Input, Line, NotFound, SignedIn, blank, in_words, redirect

OWN_SHOWN = 50
LETTERS, DIGITS = 6, 5
FOR_VIEWERS = "That’s the view passcode. Enter the admin passcode."
NOT_ADMIN = "That’s not the admin passcode"

pages = Endpoints()


class OpenForm(Input):
    id: Line = ""
    """A short id in any spelling, or a link."""


# --- the box ----------------------------------------------------------------------------------------------------------


@pages.get(HOME)
async def home(call: Call) -> Response:
    return await _home(call, form=blank(OpenForm))


@pages.post(f"{HOME}/open")
async def open_by_id(call: Call) -> Response:
    filled = await call.form(OpenForm)
    if not filled.is_valid:
        return await _home_again(call, filled, 422, _what_is_wrong(""))
    found = path_value(schema_of(ShortId), "id", filled.value.id)
    if not isinstance(found, str):
        return await _home_again(call, filled, 422, _what_is_wrong(filled.value.id))
    if await call.core.store.get(Shareable.one(found)) is None:
        try:
            call.core.rate_limiter.take(GUESSES, call.visitor)
        except Throttled as error:
            refused = call.refused(filled, error, "id")
            return await _home(call, status=429, headers=refused.headers, form=refused.form)
        return await nothing_there(call, filled.value.id)
    return redirect(address_of(found))


async def nothing_there(call: Call, typed: str) -> Response:
    """The home page again, saying that nothing has this id."""
    filled = blank(OpenForm, {"id": typed})
    return await _home_again(call, filled, 404, "Nothing on the table has this id. Two digits swapped, perhaps?")


async def _home_again(call: Call, filled: Form[Any], status: int, wrong: str) -> Response:
    refused = filled.refused(ValidationError(FieldError("id", wrong)))
    return await _home(call, status=status, form=refused)


async def _home(call: Call, **shown: Any) -> Response:
    on_device, dropped = await listed_here(call)
    before = len(opened_before_sign_in(call.visitor))
    return page(call, "home", *dropped, on_device=on_device, before=before, **shown, **await _own(call))


def _what_is_wrong(typed: str) -> str:
    """A message that says how many letters or digits are missing or too many."""
    last = spelled(typed).rsplit("/", 1)[-1].lower()
    letters, digits = len(re.findall("[a-z]", last)), len(re.findall("[0-9]", last))
    rule = "Three letters, three letters, five digits"
    for count, wanted, one in ((letters, LETTERS, "letter"), (digits, DIGITS, "digit")):
        if count != wanted and typed.strip():
            number = abs(wanted - count)
            many = f"{in_words(number)} {one}{'' if number == 1 else 's'}"
            if count > wanted:
                return f"{rule}: there {'is' if number == 1 else 'are'} {many} too many."
            return f"{rule}: {many} {'is' if number == 1 else 'are'} missing."
    return f"{rule}, as in kfm-tre-40718."


async def _own(call: Call) -> dict[str, Any]:
    """What the home page shows: the signed-in person's shareables, and what was just done."""
    own: list[Any] = []
    now = call.core.clock()
    if call.principal is not None:
        at = await call.admit(SignedIn)
        found = await own_shareables(at)
        rows = (await at.store.page(found.query, OWN_SHOWN)).items
        own = await at.show(OwnShareable, await found.get(rows))
    shown = [(each, each.expires_at > now, days_left(each.expires_at, now)) for each in own]
    return {"own": shown, "more": len(own) == OWN_SHOWN, "done": call.query.get("said", "")}


# --- the passcode -----------------------------------------------------------------------------------------------------


@pages.get(f"{ONE}/unlock")
async def unlock_page(call: Call) -> Response:
    at = await call.admit(ToShareable)
    return page(call, "unlock", form=blank(Unlock), pause=0, **_locked(at))


@pages.post(f"{ONE}/unlock")
async def unlock(call: Call) -> Response:
    return await _unlocked(call, manage=False)


@pages.get(f"{ONE}/manage")
async def manage_page(call: Call) -> Response:
    """Asks a viewer for the admin passcode; whatever they have unlocked stays unlocked."""
    at = await call.admit(ToShareable)
    if at.role == "admin":
        return redirect(address_of(at.short_id))
    return page(call, "unlock", form=blank(Unlock), pause=0, **_locked(at, manage=True))


@pages.post(f"{ONE}/manage")
async def manage(call: Call) -> Response:
    return await _unlocked(call, manage=True)


async def _unlocked(call: Call, *, manage: bool) -> Response:
    """Open a session by the passcode that was sent; to manage, it must be an admin's."""
    at = await call.admit(ToShareable)
    filled = await call.form(Unlock)
    locked = _locked(at, manage=manage)
    pause = 0
    refusal: Exception | None = None
    if filled.is_valid:
        try:
            opened = await call.perform(shareables, open_session, filled.value)
            session = keep_session(call, at.short_id, opened.token)
            if opened.role == "admin" or not manage:
                return redirect(address_of(at.short_id), *session)
            wrong = filled.refused(ValidationError(FieldError("passcode", FOR_VIEWERS)))
            return page(call, "unlock", *session, status=403, form=wrong, pause=0, **locked)
        except WrongPasscode as error:
            wrong = filled.refused(
                ValidationError(
                    FieldError("passcode", _wrong_passcode(error, NOT_ADMIN if locked["manage"] else str(error)))
                )
            )
            return page(call, "unlock", status=401, form=wrong, pause=0, **locked)
        except Throttled as error:
            refusal, pause = error, error.retry_after
    refused = call.refused(filled, refusal)
    shown = {**locked, "form": refused.form, "pause": pause}
    return page(call, "unlock", status=refused.status, headers=refused.headers, **shown)


def _wrong_passcode(error: WrongPasscode, wrong: str) -> str:
    left = error.members["triesLeft"]
    # With one attempt left, it may be the stricter limit that is reached, whose pause is longer.
    pause = "a pause" if left == 1 else "a minute’s pause"
    tries = f"{in_words(left).capitalize()} {'try' if left == 1 else 'tries'} left, then {pause}."
    return f"{wrong}. {tries if left else 'The next try is after a pause.'}"


def _locked(at: ToShareable, *, manage: bool = False) -> dict[str, Any]:
    """What the unlock page may show: nothing of the contents, not even the name."""
    said = layout_context(at)
    return {name: said[name] for name in ("address", "kind")} | {
        "short_id": at.short_id,
        "manage": manage or at.shareable.view_passcode is None,
        "changed": PASSCODE_CHANGED if at.passcode_changed(at.shareable) else "",
    }


# --- forgetting -------------------------------------------------------------------------------------------------------


@pages.post(f"{ONE}/leave")
async def leave(call: Call) -> Response:
    short_id = spelled(call.text("short_id"))
    try:
        at = await call.admit(ToShareable)
    except NotFound:
        # Deleted since this browser listed it.
        if short_id not in {each.short_id for each in opened_here(call.visitor)}:
            raise
    else:
        if at.session is not None:
            await call.core.store.delete(at.session)
    return redirect(f"{HOME}?said=left", *forget_one(call, short_id), *forget_opened(call, short_id))


@pages.post(f"{HOME}/adopt")
async def adopt(call: Call) -> Response:
    """List what was opened here before this person signed in, because they say that it is theirs."""
    return redirect(HOME, *adopt_opened(call))


@pages.post(f"{HOME}/forget")
async def forget(call: Call) -> Response:
    """Forget everything opened on this device. Signed-in people sign out instead: their cookies work for them only."""
    if call.principal is not None:
        return redirect("/account")
    return redirect(f"{HOME}?said=forgotten", *call.forget())
