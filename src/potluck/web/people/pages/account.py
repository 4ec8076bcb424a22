"""The page of one's account, its forms, and the pages for leaving."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from starlette.responses import Response

from potluck.people.entities import IdentityOfUser
from potluck.people.errors import AlreadyDone, NoSuchToken, StillNeeded
from potluck.people.fields import AnyPassword
from potluck.people.identities import identities_of
from potluck.people.sessions import valid_sessions
from potluck.validation.errors import FieldError, ValidationError
from potluck.web.access import Anyone
from potluck.web.actions import Actions, Show
from potluck.web.cookies import SESSION
from potluck.web.endpoints import Call, Endpoints
from potluck.web.forms import Form
from potluck.web.http.responses import redirect
from potluck.web.inputs import FormOf
from potluck.web.invitations import CARRIED_INVITATION
from potluck.web.layout import ACCOUNT
from potluck.web.people.access import AccountOwner, OwnAccount
from potluck.web.people.accounts import (
    Confirmation,
    EmailChange,
    MeChange,
    PasswordChange,
    change_email,
    change_me,
    change_password,
    leave,
    me,
)
from potluck.web.people.context import PeopleContext
from potluck.web.people.provider import Linking, Unlinking
from potluck.web.people.sessions import SessionView, end_others, own_sessions
from potluck.web.people.tokens import NewToken, TokenMade, new_token, own_tokens, revoke_token, tokens
from potluck.web.translation import _
from potluck.web.writes import Writes


class NewTokenForm(NewToken):
    key: UUID
    """The id of the new token, so that a form that is sent twice makes no second one."""


class LeavingForm(FormOf[Confirmation]):
    password: AnyPassword
    sure: bool = False

    def as_input(self, at: OwnAccount) -> Confirmation:
        if not self.sure:
            raise ValidationError(FieldError("form", _("Tick the box first: this can’t be undone")))
        return Confirmation(password=self.password)


@me.page("", "people/account.html")
async def account_page(at: OwnAccount, show: Show) -> Mapping[str, Any]:
    account = at.account
    # The form was sent twice, and the token is in the list.
    made_before = isinstance(show.refusal, AlreadyDone)
    name = show.form(MeChange, {"name": account.name, "version": account.version})
    context = {
        "account": account,
        "forms": {
            "name": name,
            "email": show.form(EmailChange),
            # Ticked by default: a token that ended needlessly can be made again; one of an intruder would live on.
            "password": show.form(PasswordChange, {"endTokens": True}),
            "token": Form.blank(NewTokenForm) if made_before else show.form(NewTokenForm),
        },
        "sessions": await at.show(SessionView, await valid_sessions(at.store, account.user_id)),
        "tokens": await own_tokens(at),
        "key": str(at.new_id()),
        "made": show.done,
        "conflict": name.conflict(show.clash, {"name": _("Your name")}),
        "done": "token-before" if made_before else show.query.get("done", ""),
        "plain": at.visitor.lacks_https,
        "provider": await provider_card(at, show.form(Linking), show.form(Unlinking)),
    }
    return show.template("people/account.html", context, 200) if made_before else context


class ProviderCard(NamedTuple):
    """What the pages of an account say about the identity provider."""

    name: str
    linked: Sequence[IdentityOfUser]
    """At this provider first; what is left from another one cannot be used."""
    is_linked: bool
    """Whether this provider is among them."""
    confirms: bool
    """Whether a fresh sign-in there takes the place of their password."""
    has_confirmed: bool
    """Whether they have just signed in there again."""
    passwords: bool
    linking: Form[Any]
    unlinking: Form[Any]


async def provider_card(at: OwnAccount, linking: Form[Any], unlinking: Form[Any]) -> ProviderCard | None:
    """What there is to say to this person; None where there is no identity provider."""
    provider, passwords = at.core.people.provider, at.core.settings.passwords
    if provider is None:
        return None
    linked = await identities_of(at.store, at.account.user_id)
    is_linked = any(identity.issuer == provider.issuer for identity in linked)
    return ProviderCard(
        name=provider.name,
        linked=sorted(linked, key=lambda identity: identity.issuer != provider.issuer),
        is_linked=is_linked,
        confirms=is_linked and not (passwords and at.account.password_hash is not None),
        has_confirmed=at.has_confirmed,
        passwords=passwords,
        linking=linking,
        unlinking=unlinking,
    )


me.form("/name", on=account_page, then=f"{ACCOUNT}?done=name")(change_me)
me.form("/email", on=account_page, then=f"{ACCOUNT}?done=email")(change_email)
me.form("/password", on=account_page, then=f"{ACCOUNT}?done=password")(change_password)
own_sessions.form("/end-others", on=account_page, then=f"{ACCOUNT}?done=sessions")(end_others)


@tokens.form("", on=account_page, then="")
async def make_token_here(at: AccountOwner, new: NewTokenForm) -> Writes[TokenMade]:
    """The one form that does not redirect: the secret is shown only now, and may be in no URL."""
    return await new_token(at, new.name, new.key)


revoked = f"{ACCOUNT}?done=token"
# Revoked already, in another window.
tokens.form("/{token_id}/revoke", then=revoked, instead={NoSuchToken: revoked})(revoke_token)


# --- exporting, leaving -----------------------------------------------------------------------------------------------

files = Endpoints()


@files.post(f"{ACCOUNT}/export")
async def export(call: Call) -> Response:
    context: PeopleContext = call.context
    return (await context.exports.make(call.signed_in().user_id)).response()


@me.page("/delete", "people/delete.html")
async def leaving_page(at: OwnAccount, show: Show) -> dict[str, Any]:
    places = show.refusal.places if isinstance(show.refusal, StillNeeded) else ()
    return {
        "form": show.form(LeavingForm),
        "places": places,
        "account": at.account,
        "provider": await provider_card(at, Form.blank(Linking), Form.blank(Unlinking)),
    }


def redirect_out(address: str) -> Response:
    """A redirect for someone who has just left, which also clears what our pages stored in the browser."""
    return redirect(address, headers={"clear-site-data": '"storage"'})


me.form(
    "/delete",
    takes=LeavingForm,
    on=leaving_page,
    then=lambda at, _: redirect_out("/goodbye"),
    drops=(SESSION, CARRIED_INVITATION),
)(leave)

goodbyes: Actions[Any] = Actions(Anyone, page="/goodbye")


@goodbyes.page("", "people/goodbye.html")
async def goodbye(at: Anyone) -> dict[str, Any]:
    return {}
