"""The pages for admins: everyone by name, those who wait for approval, and one person's account."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from potluck.people.entities import Account
from potluck.people.errors import WrongStatus
from potluck.people.fields import AnyPassword
from potluck.validation.errors import FieldError, ValidationError
from potluck.web.actions import Show
from potluck.web.forms import Form
from potluck.web.inputs import FormOf
from potluck.web.people.access import Admin
from potluck.web.people.administration import (
    AdminsPassword,
    PeopleFilter,
    PersonView,
    approve,
    decline,
    delete_person,
    demote,
    disable,
    enable,
    page_of_people,
    people,
    promote,
    reset_password,
)
from potluck.web.people.pages.account import provider_card
from potluck.web.people.provider import Linking, Unlinking
from potluck.web.translation import _

ON_ONE_PAGE = 50
MOST_TO_APPROVE = 20
PEOPLE_PAGE = "/people"
PERSON = f"{PEOPLE_PAGE}/{{user_id}}"


class DeletionForm(FormOf[AdminsPassword]):
    password: AnyPassword
    sure: bool = False

    def as_input(self, at: Admin) -> AdminsPassword:
        if not self.sure:
            raise ValidationError(FieldError("form", _("Tick the box first: this can’t be undone")))
        return AdminsPassword(password=self.password)


@people.page("", "people/people.html")
async def people_page(at: Admin, filter: PeopleFilter, show: Show) -> Mapping[str, Any]:
    asked = {"status": filter.status, "q": filter.q}
    sealed_for = f"{at.principal.user_id} people {asked}"
    after = at.core.cursors.unseal_or_start(show.query.get("after", ""), sealed_for)
    found, following = await page_of_people(at, filter, ON_ONE_PAGE, after)
    waiting: list[PersonView] = []
    if filter.status != "waiting":
        waiting, _ = await page_of_people(at, PeopleFilter(status="waiting"), MOST_TO_APPROVE, None)
    more = "" if following is None else at.core.cursors.seal(following, sealed_for)
    return {
        "people": found,
        "filter": filter,
        "waiting": waiting,
        "later": after is not None,
        "more": more and f"{PEOPLE_PAGE}?{urlencode({**asked, 'after': more})}",
        "own_id": at.principal.user_id,
    }


@people.page("", "people/person.html")
async def person_page(at: Admin, account: Account, show: Show) -> Mapping[str, Any]:
    (person,) = await at.show(PersonView, [account])
    link = "" if show.done is None else f"{at.visitor.origin}/reset#{show.done.token}"
    return {
        "person_shown": person,
        "own": account.user_id == at.principal.user_id,
        "email": at.account.email,
        "reset": show.form(AdminsPassword),
        "link": link,
        "until": None if show.done is None else show.done.expires_at,
        "passwords": at.core.settings.passwords,
        "provider": await provider_card(at, Form.blank(Linking), Form.blank(Unlinking)),
    }


@people.page("/delete", "people/person_delete.html")
async def deletion_page(at: Admin, account: Account, show: Show) -> Mapping[str, Any]:
    (person,) = await at.show(PersonView, [account])
    return {
        "person_shown": person,
        "email": at.account.email,
        "form": show.form(DeletionForm),
        "provider": await provider_card(at, Form.blank(Linking), Form.blank(Unlinking)),
    }


approved, declined = _("Account approved."), _("Account declined and deleted.")
# Another admin has decided about it meanwhile.
people.form("/approve", on=person_page, then=PEOPLE_PAGE, flash=approved)(approve)
people.form("/decline", then=PEOPLE_PAGE, flash=declined, instead={WrongStatus: PEOPLE_PAGE})(decline)
people.form("/disable", on=person_page, then=PERSON, flash=_("Account disabled."))(disable)
people.form("/enable", on=person_page, then=PERSON, flash=_("Account enabled again."))(enable)
people.form("/promote", on=person_page, then=PERSON, flash=_("This person is now an admin."))(promote)
people.form("/demote", on=person_page, then=PERSON, flash=_("This person is no longer an admin."))(demote)
# It does not redirect: the link is shown only now, and may be in no URL.
people.form("/reset", on=person_page, then="")(reset_password)
people.form("/delete", takes=DeletionForm, on=deletion_page, then=PEOPLE_PAGE, flash=_("Account deleted."))(
    delete_person
)
