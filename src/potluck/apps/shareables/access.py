"""Who may do what: every call reads the shareable consistently, together with the session of the token in the request.

A session is valid until the passcode that opened it is replaced. Without a view passcode, anyone who has the id may
view the shareable. A person who created it while signed in is its admin.
"""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from potluck.apps.shareables.context import ShareablesContext
from potluck.apps.shareables.entities import Shareable, ShareSession
from potluck.apps.shareables.fields import BEFORE_ID, Role, ShortId
from potluck.people import hash_of
from potluck.table import Condition, Operation, Ref, WriteRefused, check, the
from potluck.web import Access, NotFound, ProblemError, SealedCookie, _

TOKEN = {
    "Authorization": "`Bearer` and the `token` of a session of this shareable, or of an account: the account that"
    " created it is its admin."
}
ONE = f"{BEFORE_ID}{{short_id}}"
# Its path is the shareable, so browsers send it only to that shareable's pages.
SHARE_COOKIE = SealedCookie("potluck-share", path=ONE, days=7)
SHARE_TOKEN = re.compile(r"plu_[0-9a-f]{64}")
BEARER = "bearer "
PASSCODE_CHANGED = _("The passcode was changed. Ask for the new one.")


class PasscodeNeeded(
    ProblemError,
    slug="passcode-needed",
    status=401,
    title="Passcode needed",
    remedy="Send the passcode to its `sessions`, and the token in the answer as Authorization: Bearer.",
):
    """This shareable needs a passcode, and the request had no session, or one that is no longer valid: a session ends
    after seven days, or when the passcode that opened it is replaced."""

    @classmethod
    def at(cls, short_id: str, page: str = "unlock", detail: str | None = None) -> "PasscodeNeeded":
        """The error, with a link to the page that asks for this shareable's passcode."""
        error = cls(detail)
        error.way_in = (f"{BEFORE_ID}{short_id}/{page}", _("Enter passcode"))
        return error


class ShareableAdminsOnly(ProblemError, slug="forbidden", detail="Only an admin may do this, with the admin passcode"):
    """The caller has only the view passcode."""

    @classmethod
    def at(cls, short_id: str) -> "ShareableAdminsOnly":
        """The error, with a link to the page that asks for this shareable's admin passcode."""
        error = cls()
        error.way_in = (f"{BEFORE_ID}{short_id}/manage", _("Enter admin passcode"))
        return error


class Expired(
    ProblemError,
    slug="shareable-expired",
    status=410,
    title="Expired",
    remedy="An admin can clone it, with the admin passcode.",
    detail="It has expired: only its admins can read and clone it",
):
    """This has expired. For a year its admins can still read, clone and delete it; then it is deleted."""


class ShareMaker(Access):
    """Anyone, signed in or not."""

    needs_account = True
    unlisted = True

    @property
    def services(self) -> ShareablesContext:
        context: ShareablesContext = self.context
        return context


class ToShareable(ShareMaker):
    """Anyone who has the id of an existing shareable."""

    headers = TOKEN
    preview = "shareables/preview.html"
    kinds = frozenset({"checklist", "poll"})
    """The kinds of shareable that this access admits."""

    short_id: ShortId

    @cached_property
    def token_hash(self) -> str | None:
        """The hash of the session token: from a cookie for pages, from the Authorization header for the API."""
        if self.visitor.by_page:
            token = SHARE_COOKIE.value(self.visitor)
        else:
            header = self.visitor.headers.get("Authorization", "")
            token = header[len(BEARER) :].strip() if header[: len(BEARER)].lower() == BEARER else ""
        return hash_of(token) if SHARE_TOKEN.fullmatch(token) else None

    def reads(self) -> Sequence[Ref[Any]]:
        shareable = Shareable.one(self.short_id)
        if self.token_hash is None:
            return (shareable,)
        return (shareable, ShareSession.one(self.short_id, self.token_hash))

    async def admit(self, *rows: Any) -> None:
        self.session: ShareSession | None = rows[1] if len(rows) > 1 else None
        self.must_admit(rows[0])
        self.shareable: Shareable = rows[0]

    def must_admit(self, shareable: Shareable | None) -> None:
        """Raise unless the caller may use the shareable, as just read or as a refused write found it."""
        if shareable is None or shareable.entity not in self.kinds:
            raise NotFound

    def refuse(self, refusal: WriteRefused) -> None:
        if refusal.operation is None or refusal.operation.plan.cls is not Shareable:
            super().refuse(refusal)
        self.must_admit(refusal.current)

    # --- the caller's role -----------------------------------------------------------------------------------------

    @property
    def role(self) -> Role | None:
        return self.role_in(self.shareable)

    def role_in(self, shareable: Shareable) -> Role | None:
        """The caller's role in the shareable as it is now."""
        return self._proven_role(shareable) or ("view" if shareable.view_passcode is None else None)

    def _proven_role(self, shareable: Shareable) -> Role | None:
        """The role proven by a session, or by having created it; None for a caller who only has the id."""
        if self.principal is not None and self.principal.user_id == shareable.creator_id:
            return "admin"
        if self.session is None or self.passcode_changed(shareable):
            return None
        return self.session.role

    def passcode_changed(self, shareable: Shareable) -> bool:
        """Whether the caller has a session whose passcode has been replaced."""
        session = self.session
        return session is not None and session.passcode != shareable.passcode_of(session.role)

    def _role_holds(self) -> Condition:
        """The condition that the caller still has this role, for a write."""
        match self._proven_role(self.shareable), self.session:
            case "admin", ShareSession() as session if session.role == "admin":
                return the(Shareable.admin_passcode) == session.passcode
            case "admin", _:
                assert self.principal is not None
                return the(Shareable.creator_id) == self.principal.user_id
            case "view", ShareSession() as session:
                return the(Shareable.view_passcode) == session.passcode
        return the(Shareable.view_passcode).is_none()


class Reader(ToShareable):
    """Anyone who may view it: viewers until it expires, admins after that too."""

    admins_only = False
    while_open = False
    """Whether expiry ends this for admins too."""
    fenced = False
    """Whether each row that the caller writes refuses those who were admitted by an earlier version of the shareable
    (`fences.py`), so that its own row, which very many would check at once, is not checked."""

    def must_admit(self, shareable: Shareable | None) -> None:
        super().must_admit(shareable)
        assert shareable is not None
        role = self.role_in(shareable)
        if role is None:
            raise PasscodeNeeded.at(self.short_id, detail=self._why_locked_out(shareable))
        if shareable.expired(self.now) and (role == "view" or self.while_open):
            raise Expired
        if self.admins_only and role == "view":
            self.refuse_viewer(shareable)

    def refuse_viewer(self, shareable: Shareable) -> None:
        """Refuse what only admins may do; a caller without a session may be an admin whose session is over."""
        if self._proven_role(shareable) is not None:
            raise ShareableAdminsOnly.at(self.short_id)
        raise PasscodeNeeded.at(self.short_id, "manage", self._why_locked_out(shareable))

    def _why_locked_out(self, shareable: Shareable) -> str | None:
        return PASSCODE_CHANGED if self.passcode_changed(shareable) else None

    def allowed(self) -> Condition:
        """The condition that the caller is still admitted, checked in the transaction of a write that is not fenced."""
        if self.while_open or self.role == "view":
            return self._role_holds() & (the(Shareable.expires_at) > self.now)
        return self._role_holds()

    def checks(self) -> Sequence[Operation]:
        if self.fenced:
            return super().checks()
        return (*super().checks(), check(Shareable.one(self.short_id), when=self.allowed()))

    def grant_row(self) -> Ref[Any] | None:
        return Shareable.one(self.short_id)

    def entitles(self, row: Any) -> bool:
        return self.role_in(row) is not None

    @classmethod
    def refusals(cls) -> Sequence[type[Exception]]:
        return [PasscodeNeeded, Expired, *([ShareableAdminsOnly] if cls.admins_only else [])]


class Participant(Reader):
    """Anyone who may view it, until it expires."""

    while_open = True


class Keeper(Reader):
    """Its admins, even after it has expired."""

    admins_only = True


class Editor(Keeper):
    """Its admins, until it expires."""

    while_open = True
