"""Places: what people share, such as a home, with all that concerns its members and invitations.

    homes = Place("chores", Home, InHome, HomeAdmin, members=Member.of_home, places=Member.of_user,
                  api="/homes", page="/chores")

This declares the actions of the JSON API and their forms: create, list, read, rename and delete homes; list members,
change their role, remove them, leave; create, list and withdraw invitations. It also declares two pages: the start
page with the caller's homes, and the settings of a home. What the suite asks of the app follows from `place = homes`:
joining by an invitation, and what to export, rename and forget with an account.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from uuid import UUID

from potluck.people.entities import InvitationOfPlace
from potluck.people.errors import NoSuchInvitation, TooMany
from potluck.table import Entity, Query, Ref
from potluck.table.entity import plan_of
from potluck.table.keys.folding import fold
from potluck.validation.field_types import Message
from potluck.web.access import SignedIn
from potluck.web.actions import Actions, PageForm, Show
from potluck.web.declarations import Redirect
from potluck.web.errors import ProblemError
from potluck.web.inputs import Edit, New
from potluck.web.invitations import InvitationMade, InvitationView, latest_first
from potluck.web.layout import initials
from potluck.web.places import derived
from potluck.web.places.access import InPlace, OwnPlaces, a, leaving_or, role_name, with_parameter
from potluck.web.places.derived import OwnMember, SureToDelete, of, rule
from potluck.web.places.membership import MOST_MEMBERS, Ended, LastManager, Leaving, PlaceWrites
from potluck.web.places.rows import MemberRow, PlaceRow
from potluck.web.translation import _
from potluck.web.views import View
from potluck.web.writes import Writes

if TYPE_CHECKING:
    from potluck.store import Store

P = TypeVar("P", bound=PlaceRow)
M = TypeVar("M", bound=MemberRow)
E = TypeVar("E", bound=Entity)

MOST_PLACES = 100

InvitationId = Annotated[UUID, Message("Invalid invitation ID format")]


Frame = Callable[[Any], Awaitable[Mapping[str, Any]]]


PlacePage = tuple[str, str, Callable[..., Awaitable[Any]] | None]
"""The path and the template of a page that every place has. Of the start page, a rule instead of ours; of the settings,
a function of the access that adds to the context."""

START: PlacePage = ("", "places/start.html", None)
SETTINGS: PlacePage = ("/settings", "places/settings.html", None)


def by_name(item: Any) -> tuple[str, str, str]:
    """Alphabetical, ignoring case and accents; the id, which is the first field of a view, breaks ties."""
    return fold(item.name), item.name, str(getattr(item, item.__struct_fields__[0]))


class Place(PlaceWrites[P, M]):
    """One kind of place: its actions, pages, views and inputs."""

    def __init__(
        self,
        app: str,
        place: type[P],
        access: type[InPlace[M]],
        manager: type[InPlace[M]],
        *,
        members: Callable[[UUID], Query[M]],
        places: Callable[[UUID], Query[M]],
        own: Callable[[UUID], Query[M]] | None = None,
        api: str,
        page: str,
        tag: str = "",
        frame: Frame | None = None,
        view: type[View[P]] | None = None,
        new: type[New[P]] | None = None,
        edit: type[Edit[P]] | None = None,
        start: PlacePage = START,
        settings: PlacePage = SETTINGS,
        create_path: str = "",
        last_manager: type[ProblemError] | None = None,
        leaving: Leaving | None = None,
        ended: Ended = lambda place, by, now: (),
        most_members: int = MOST_MEMBERS,
        most_places: int = MOST_PLACES,
        word: str = "",
    ) -> None:
        """`members` finds the member rows of a place, former members included; `places` those of a person, places they
        left included; `own` only those of places they are in, if that is a query of its own.

        `leaving(at, member)` raises if a member may not go now, or returns a condition on their row that must still
        hold when it is written. `ended(place, by, now)` gives what else is written when a place is deleted. `word` is
        what pages call the place, if it is not what its id is named after.
        """
        super().__init__(
            app, place, access, manager, members=members, places=places, own=own, ended=ended,
            last_manager=last_manager or LastManager, most_members=most_members, word=word,
        )  # fmt: skip
        self.api, self.page, self.tag = api, page, tag or app.capitalize()
        self.plural = api.rpartition("/")[2]
        self.managers = " and ".join(f"{role}s" for role in self.managing)
        self.create_path = create_path
        self.frame = frame or self._frame
        self.leaving, self.most_places = leaving, most_places
        self.view: type[View[P]] = view or derived.place_view(place, self.id, self.member)
        self.member_view: type[View[M]] = derived.member_view(self.member, self.own_id)
        # Inputs whose fields mypy cannot know: they are derived from the app's entities.
        self.new: Any = new or derived.new_of(place)
        self.edit: Any = edit or derived.edit_of(place)
        self.role_edit: Any = derived.role_edit(self.member)
        self.new_invitation: Any = derived.invitation_to(self.member)
        self.actions: Actions[P] = self._actions("", self.place.by_id, self.view)
        self.member_actions: Actions[M] = self.subject("/members", self.member.by_id, self.member_view)
        self.invitation_actions: Actions[InvitationOfPlace] = self.subject("/invitations", None, InvitationView)
        self.subjects: tuple[Actions[Any], ...] = (self.actions, self.member_actions, self.invitation_actions)
        self._managers_only = f"{self.managers.capitalize()} only."
        self._declare_place(start, settings)
        self._declare_members()
        self._declare_invitations()

    def subject(
        self, path: str, one: Callable[..., Ref[E]] | None, view: type[View[E]] | None, *, frame: Frame | None = None
    ) -> Actions[E]:
        """The actions of something in the place, at this path below it: `homes.subject("/chores", Chore.by_id, …)`."""
        return self._actions(f"/{{{self.id}}}{path}", one, view, frame)

    def _actions(
        self, path: str, one: Callable[..., Ref[E]] | None, view: type[View[E]] | None, frame: Frame | None = None
    ) -> Actions[E]:
        api, page = self.api + path, self.page + path
        return Actions(self.access, one, view, api=api, page=page, tag=self.tag, frame=frame or self.frame)

    async def memberships(self, store: Store, user_id: UUID) -> list[M]:
        """The person's member rows in every place, those they left included, as the table itself has them."""
        indexed = await store.all(self.places(user_id))
        rows = await store.get_many([self.member_ref(self.id_of(row), user_id) for row in indexed])
        return [row for row in rows if row is not None]

    async def _frame(self, at: Any) -> dict[str, Any]:
        return {"app": self.app, "here": self.tag}

    # --- the place ----------------------------------------------------------------------------------------------------

    def _declare_place(self, start: PlacePage, settings: PlacePage) -> None:
        place, noun, own, actions = self.place, self.noun, {"at": OwnPlaces}, self.actions
        member, manager = {"at": self.access, noun: place}, {"at": self.manager, noun: place}
        path, template, own_start = start
        first = own_start or rule("start", "", self._start, dict[str, Any], **own, show=Show)
        actions.page(path, template)(first)
        self.settings = rule("settings", "", self._settings, dict[str, Any], **member, show=Show)
        path, template, self._settings_context = settings
        self._settings_page = f"{self.page}/{{{self.id}}}{path}"
        actions.page(path, template)(self.settings)

        words = f"List your {self.plural}, by name."
        self.all = rule(f"own_{self.plural}", words, self._own, of(list, place), **own)
        actions.list(order=by_name)(self.all)

        words = f"Create {a(noun)}. The caller becomes its first {self.managing[0]}."
        self.create = rule(f"create_{noun}", words, self._create, of(Writes, place), **own, new=self.new)
        form = PageForm(path=self.create_path, then=f"{self.page}/{{{self.id}}}", on=first)
        actions.create(TooMany, form=form)(self.create)

        self.one = rule(f"one_{noun}", f"Get {a(noun)}.", self._one, place, **member)
        actions.read()(self.one)

        words = f"Rename {a(noun)}. {self._managers_only}"
        self.rename = rule(f"rename_{noun}", words, self._rename, of(Writes, place), **manager, change=self.edit)
        actions.change()(self.rename)
        actions.form("/name", then=self._settings_page, flash=_("Name changed."), on=self.settings)(self.rename)

        words = f"Delete {a(noun)} with everything in it. {self._managers_only}"
        self.delete = rule(f"delete_{noun}", words, self.deleting, Writes[None], **manager)
        actions.delete()(self.delete)
        by_page = rule("delete_by_page", "", self._delete_by_page, Writes[None], **manager, sure=SureToDelete)
        gone = _("The %(place)s is deleted.", place=self.word)
        actions.form("/delete", then=self.page, flash=gone, on=self.settings, frees_room=True)(by_page)

    async def _start(self, at: OwnPlaces, show: Show) -> dict[str, Any]:
        places = [(row, self.id_of(row)) for row in await self.own_views(at)]
        return {"kind": self, "places": places, "form": show.form(self.new)}

    async def own_views(self, at: SignedIn) -> list[Any]:
        """The places that the caller is in, by name, as members see them."""
        pairs = await self.of_person(at.store, at.principal.user_id)
        own = OwnMember({self.id_of(place): member for place, member in pairs})
        return sorted((self.view.show(place, own) for place, _ in pairs), key=by_name)

    async def _own(self, at: OwnPlaces) -> list[Any]:
        pairs = await self.of_person(at.store, at.principal.user_id)
        at.memberships = {self.id_of(row): member for row, member in pairs}
        return [row for row, _ in pairs]

    async def _create(self, at: OwnPlaces, new: New[P]) -> Writes[P]:
        user_id = at.principal.user_id
        await at.must_fit(self.own_places(user_id), self.most_places, f"{self.plural} of one person")
        by = {"created_by": user_id} if "created_by" in plan_of(self.place).fields else {}
        return await self.founding(at, at.make(new, **{self.id: at.new_id()}, **by))

    async def _one(self, at: InPlace[M], place: P) -> P:
        return place

    async def _rename(self, at: InPlace[M], place: P, change: Edit[P]) -> Writes[P]:
        return at.apply(place, change)

    async def _delete_by_page(self, at: InPlace[M], place: P, sure: SureToDelete) -> Writes[None]:
        return await self.deleting(at, place)

    async def _settings(self, at: InPlace[M], place: P, show: Show) -> dict[str, Any]:
        """The members; for managers also the invitations and the name."""
        manages = self.manages(at.row)
        rows = [row for row in await at.store.all(self.members(self.at_id(at))) if at.sees(row)]
        invitations = await self.valid_invitations(at) if manages else []
        naming, inviting = show.form(self.edit, place), show.form(self.new_invitation, {"role": self.roles[-1]})
        clash = show.clash if isinstance(show.clash, self.view) else None
        members: list[Any] = sorted(await at.show(self.member_view, rows), key=by_name)
        return {
            "kind": self,
            "role_name": role_name,
            "role_choices": [(role, role_name(role)) for role in reversed(self.roles)],
            "place": place,
            "home": f"{self.page}/{self.at_id(at)}",
            "settings_address": self._settings_address(at),
            "members": [(row, getattr(row, self.own_id), initials(row.name)) for row in members],
            "managers": [row.name for row in members if row.role in self.managing],
            "manages": manages,
            "you": at.principal.user_id,
            "invitations": await at.show(InvitationView, invitations),
            "inviting": inviting,
            "naming": naming,
            "conflict": naming.conflict(clash, {"name": _("Name")}),
            "made": show.done,
            "wrong": "" if naming.all_errors or inviting.all_errors or clash else str(show.refusal or ""),
            **({} if self._settings_context is None else await self._settings_context(at)),
        }

    # --- its members --------------------------------------------------------------------------------------------------

    def _declare_members(self) -> None:
        member, actions, stays = self.member, self.member_actions, f"The last {self.managing[0]} stays."
        words = f"List the members of {a(self.noun)}, by name."
        self.all_members = rule("all_members", words, self._all_members, of(Query, member), at=self.access)
        actions.list(order=by_name, live=True)(self.all_members)

        words = f"Change a member's role. {self._managers_only} {stays}"
        manager = {"at": self.manager, "member": member}
        self.change_role = rule(
            "change_role", words, self._change_role, of(Writes, member), **manager, change=self.role_edit
        )
        form = PageForm(path="/role", then=self._settings_page, flash=self._new_role, on=self.settings)
        actions.change(self.last_manager, form=form)(self.change_role)

        leaving = leaving_or(self.manager, self.access, plan_of(member).fields[self.own_id].annotation)
        words = f"Leave {a(self.noun)} or, as {a(self.managing[0])}, remove a member. {stays}"
        self.remove_member = rule("remove_member", words, self._remove, Writes[None], at=leaving, member=member)
        _, refused = self.manager.rights[-1]
        form = PageForm(path="/remove", then=self._after_removal, flash=self._removed, on=self.settings)
        actions.delete("", refused, self.last_manager, form=form)(self.remove_member)

    def _all_members(self, at: InPlace[M]) -> Query[M]:
        return self.members(self.at_id(at))

    async def _change_role(self, at: InPlace[M], member: M, change: Any) -> Writes[M]:
        return self.changing_role(at, member, change.role)

    async def _remove(self, at: InPlace[M], member: M) -> Writes[None]:
        return self.removing(at, member, None if self.leaving is None else await self.leaving(at, member))

    def _new_role(self, at: Any, member: M) -> str:
        return _("The role of %(name)s is now %(role)s.", name=member.name, role=role_name(member.role))

    def _left(self, at: Any) -> bool:
        return bool(getattr(at, self.own_id) == at.principal.user_id)

    def _after_removal(self, at: Any, _: None) -> str:
        return self.page if self._left(at) else self._settings_address(at)

    def _removed(self, at: Any, answer: None) -> str:
        if self._left(at):
            return _("You left the %(place)s.", place=self.word)
        return _("Member removed. What they added stays.")

    def _settings_address(self, at: Any) -> str:
        return self._settings_page.format(**{self.id: self.at_id(at)})

    # --- invitations --------------------------------------------------------------------------------------------------

    def _declare_invitations(self) -> None:
        actions, manager = self.invitation_actions, {"at": self.manager}
        of_invitation = with_parameter(self.manager, "invitation_id", InvitationId)
        words = f"Create an invitation. The first person with its secret can join. {self._managers_only}"
        self.invite = rule("invite", words, self._invite, Writes[InvitationMade], **manager, new=self.new_invitation)
        actions.create(TooMany, secret=True, form=PageForm(on=self.settings))(self.invite)

        words = f"List unused invitations, latest first. {self._managers_only}"
        self.open_invitations = rule(
            "open_invitations", words, self.valid_invitations, list[InvitationOfPlace], **manager
        )
        actions.list(order=latest_first)(self.open_invitations)

        words = f"Withdraw an invitation. {self._managers_only}"
        self.withdraw_invitation = rule("withdraw_invitation", words, self._withdraw, Writes[None], at=of_invitation)
        too_late = Redirect(self._settings_page, _("Too late: the invitation was used or has expired."))
        form = PageForm(
            path="/{invitation_id}/withdraw", then=self._settings_page, flash=_("Invitation withdrawn."),
            instead={NoSuchInvitation: too_late},
        )  # fmt: skip
        actions.delete("/{invitation_id}", form=form)(self.withdraw_invitation)

    async def _invite(self, at: InPlace[M], new: Any) -> Writes[InvitationMade]:
        return await self.invitations.invite(at, str(self.at_id(at)), new.role, new.email)

    async def _withdraw(self, at: Any) -> Writes[None]:
        return await self.invitations.withdraw(at, str(self.at_id(at)), at.invitation_id)
