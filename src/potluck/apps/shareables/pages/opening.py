"""Opening by id: the box that accepts any spelling, entering the passcode, and forgetting on this device."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from potluck.apps.shareables.access import ONE, PASSCODE_CHANGED, SHARE_COOKIE, ShareMaker, ToShareable
from potluck.apps.shareables.entities import Shareable
from potluck.apps.shareables.fields import ShortId, spelled
from potluck.apps.shareables.pages.device import (
    ANYONES_COOKIE,
    OWN_COOKIE,
    adopted,
    listed_here,
    opened_before_sign_in,
    opened_here,
    unlisted,
)
from potluck.apps.shareables.pages.frame import COOKIES_OF_ONE, address_of, days_left, home_sections, layout_context
from potluck.apps.shareables.passcodes import SessionOpened, Unlock, WrongPasscode
from potluck.apps.shareables.shareables import HOME, OwnShareable, open_session, own_shareables, shareables
from potluck.people import Throttled
from potluck.table import delete
from potluck.validation import FieldError, ValidationError
from potluck.web import (
    Form,
    Input,
    Line,
    NotFound,
    ProblemError,
    SealedCookie,
    Show,
    SignedIn,
    Writes,
    _,
    ngettext,
)

OWN_SHOWN = 50
LETTERS, DIGITS = 6, 5
FOR_VIEWERS = _("That’s the view passcode. Enter the admin passcode.")
NOT_ADMIN = _("That’s not the admin passcode.")
NEITHER = _("That’s not the right passcode.")
NOTHING_THERE = _("There’s no list or poll with this code. Check it for swapped digits.")
HOW_IT_LOOKS = _("A code has six letters and five digits, like kfm-tre-40718.")


class OpenForm(Input):
    id: Line = ""
    """A short id in any spelling, or a link."""


class TypedId(Input):
    id: ShortId


class Opening(Struct, frozen=True):
    short_id: str


class NothingThere(NotFound, field="id", detail=NOTHING_THERE):
    """No shareable has the id that was typed."""

    guessed = True


# --- the box ----------------------------------------------------------------------------------------------------------


@shareables.page("", "shareables/home.html", offline=True)
async def home(at: ShareMaker, show: Show) -> Mapping[str, Any]:
    form = show.form(OpenForm)
    if isinstance(show.refusal, NotFound) and form.is_valid:
        # The address of a shareable that does not exist.
        form = _wrong(Form.blank(OpenForm, {"id": show.path.removeprefix(f"{HOME}/")}), NOTHING_THERE)
    elif form.non_field_errors:
        form = _wrong(form, form.non_field_errors[0])
    on_device, gone = await listed_here(at)
    for cookie in (ANYONES_COOKIE, OWN_COOKIE):
        if gone and (rest := unlisted(at, cookie, gone)) is not None:
            show.set(cookie, rest)
    return {
        "sections": home_sections(""),
        "form": form,
        "on_device": on_device,
        "before": len(opened_before_sign_in(at)),
        "forgotten": show.query.get("forgotten", ""),
        **await _own(at),
    }


@shareables.form("/open", on=home, then=ONE, instead={NothingThere: home}, frees_room=True)
async def open_by_id(at: ShareMaker, sent: OpenForm) -> Writes[Opening]:
    try:
        short_id = TypedId.decode({"id": spelled(sent.id)}).id
    except ValidationError as error:
        raise ValidationError(FieldError("id", _what_is_wrong(sent.id))) from error
    if await at.store.get(Shareable.one(short_id)) is None:
        raise NothingThere
    return Writes(Opening(short_id))


def _wrong(form: Form[Any], message: str, field: str = "id") -> Form[Any]:
    return form.refused(ValidationError(FieldError(field, message)))


def _what_is_wrong(typed: str) -> str:
    """The error for something that is not a short id: how many letters or digits are missing or too many."""
    last = spelled(typed).rsplit("/", 1)[-1].lower()
    letters, digits = len(re.findall("[a-z]", last)), len(re.findall("[0-9]", last))
    if not typed.strip():
        return _("Please enter a code, like kfm-tre-40718.")
    if letters < LETTERS:
        wrong = ngettext("%(num)s letter is missing.", "%(num)s letters are missing.", LETTERS - letters)
    elif letters > LETTERS:
        wrong = ngettext("There’s %(num)s letter too many.", "There are %(num)s letters too many.", letters - LETTERS)
    elif digits < DIGITS:
        wrong = ngettext("%(num)s digit is missing.", "%(num)s digits are missing.", DIGITS - digits)
    elif digits > DIGITS:
        wrong = ngettext("There’s %(num)s digit too many.", "There are %(num)s digits too many.", digits - DIGITS)
    else:
        return HOW_IT_LOOKS
    return f"{HOW_IT_LOOKS} {wrong}"


async def _own(at: ShareMaker) -> dict[str, Any]:
    """Template values of the signed-in person's own shareables."""
    own: list[OwnShareable] = []
    now = at.core.clock()
    if at.principal is not None:
        caller = SignedIn(at.core, at.context, at.visitor, {})
        references = await own_shareables(caller)
        rows = (await at.store.page(references.query, OWN_SHOWN)).items
        own = await caller.show(OwnShareable, await references.get(rows))
    shown = [(row, row.expires_at > now, days_left(row.expires_at, now)) for row in own]
    return {"own": shown, "more": len(own) == OWN_SHOWN}


# --- the passcode -----------------------------------------------------------------------------------------------------


@shareables.page("/unlock", "shareables/unlock.html")
async def unlock_page(at: ToShareable, shareable: Shareable, show: Show) -> Mapping[str, Any]:
    return _locked(at, show)


@shareables.page("/manage", "shareables/unlock.html")
async def manage_page(at: ToShareable, shareable: Shareable, show: Show) -> Any:
    """Asks a viewer for the admin passcode; what they have unlocked stays unlocked."""
    opened = show.done
    is_admin = at.role == "admin" or (isinstance(opened, SessionOpened) and opened.role == "admin")
    if is_admin and show.refusal is None:
        return show.redirect(address_of(at.short_id))
    context = _locked(at, show, manage=True)
    if isinstance(opened, SessionOpened):
        form = _wrong(context["form"], FOR_VIEWERS, "passcode")
        return show.template("shareables/unlock.html", {**context, "form": form}, status=403)
    return context


shareables.form(
    "/unlock", on=unlock_page, then=ONE, sets={SHARE_COOKIE: "token"}, instead={WrongPasscode: unlock_page}
)(open_session)
shareables.form("/manage", on=manage_page, then="", sets={SHARE_COOKIE: "token"}, instead={WrongPasscode: manage_page})(
    open_session
)


def _wrong_passcode(error: WrongPasscode, wrong: str) -> str:
    left = error.members["triesLeft"]
    if not left:
        return f"{wrong} {_('Wait a while before you try again.')}"
    tries = ngettext("You have %(num)s try left before a pause.", "You have %(num)s tries left before a pause.", left)
    return f"{wrong} {tries}"


def _locked(at: ToShareable, show: Show, *, manage: bool = False) -> dict[str, Any]:
    """Template values of the unlock page: nothing of the contents, not even the name."""
    context = layout_context(at)
    manage = manage or at.shareable.view_passcode is None
    form, refusal = show.form(Unlock), show.refusal
    if isinstance(refusal, WrongPasscode):
        form = _wrong(Form.blank(Unlock), _wrong_passcode(refusal, NOT_ADMIN if manage else NEITHER), "passcode")
    return {name: context[name] for name in ("address", "kind")} | {
        "short_id": at.short_id,
        "manage": manage,
        "changed": PASSCODE_CHANGED if at.passcode_changed(at.shareable) else "",
        "form": form,
        "pause": refusal.retry_after if isinstance(refusal, Throttled) else 0,
    }


# --- forgetting -------------------------------------------------------------------------------------------------------


class Leaver(ToShareable):
    """Anyone who has the id of a shareable, or whose browser lists one that has been deleted."""

    async def admit(self, *rows: Any) -> None:
        try:
            await super().admit(*rows)
        except NotFound:
            if self.short_id not in {entry.short_id for entry in opened_here(self)}:
                raise


def _without_it(cookie: SealedCookie) -> Callable[[Any, Any], str | None]:
    return lambda at, answer: unlisted(at, cookie, [at.short_id])


@shareables.form(
    "/{short_id}/leave",
    then=f"{HOME}?forgotten=left",
    flash=_("Forgotten on this device."),
    sets={cookie: _without_it(cookie) for cookie in (ANYONES_COOKIE, OWN_COOKIE)},
    drops=COOKIES_OF_ONE,
    frees_room=True,
)
async def leave(at: Leaver) -> Writes[None]:
    return Writes(None, *([] if at.session is None else [delete(at.session)]))


@shareables.form(
    "/adopt",
    then=HOME,
    sets={
        OWN_COOKIE: lambda at, answer: adopted(at),
        ANYONES_COOKIE: lambda at, answer: "" if opened_before_sign_in(at) else None,
    },
    frees_room=True,
)
async def adopt(at: ShareMaker) -> Writes[None]:
    """Add what was opened here before this person signed in to their own list, at their request."""
    return Writes(None)


class SignOutInstead(
    ProblemError, slug="forbidden", detail="Sign out instead: what you opened here works for your account only"
):
    """What a signed-in person opened works only for them."""


@shareables.form(
    "/forget",
    then=f"{HOME}?forgotten=all",
    flash=_("Everything you opened on this device is forgotten."),
    drops_anonymous=True,
    instead={SignOutInstead: "/account"},
    frees_room=True,
)
async def forget(at: ShareMaker) -> Writes[None]:
    """Forget everything that was opened on this device."""
    if at.principal is not None:
        raise SignOutInstead
    return Writes(None)
