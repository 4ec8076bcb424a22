"""Who may do what: every call reads the shareable consistently, together with the session whose token it carries.

A session is valid while the passcode that opened it is still the shareable's. Without a view passcode, anyone who has
the id may view it. Whoever created a shareable while signed in is its admin.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from potluck.apps.shareables.context import ShareablesContext
from potluck.apps.shareables.entities import Shareable, ShareSession
from potluck.apps.shareables.fields import BEFORE_ID, Role, ShortId
from potluck.people import Account, AccountGone, hash_of
from potluck.table import Condition, Operation, Ref, WriteRefused, check, the
from potluck.web import Forbidden, Grant, Maker, NotFound, ProblemError, SealedCookie, Visitor

TOKEN = {
    "Authorization": "`Bearer` and the `token` of a session of this shareable, or that of a person: who made it signed"
    " in is its admin."
}
ONE = f"{BEFORE_ID}{{short_id}}"
# Its path is the shareable, so browsers send it only to that shareable's pages.
SHARE_COOKIE = SealedCookie("potluck-share", path=ONE, days=7)
SHARE_TOKEN = re.compile(r"plu_[0-9a-f]{64}")
BEARER = "bearer "
PASSCODE_CHANGED = "The passcode was changed. Ask for the new one."


class PasscodeNeeded(
    ProblemError,
    slug="passcode-needed",
    status=401,
    title="A passcode is needed",
    remedy="Send the passcode to its `sessions`, and then the token that it gives as Authorization: Bearer.",
):
    """Whoever made this asks for a passcode, and the request carried no session, or one that is over: a session ends
    after seven days, and when the passcode that opened it is replaced."""

    @classmethod
    def at(cls, short_id: str, page: str = "unlock", detail: str | None = None) -> "PasscodeNeeded":
        """The error, with a link to the page that asks for this shareable's passcode."""
        found = cls(detail)
        found.way_in = (f"{BEFORE_ID}{short_id}/{page}", "Enter the passcode")
        return found


class ShareableAdminsOnly(Forbidden, detail="Only an admin may do this, with the admin passcode"):
    """The caller has only the view passcode."""

    @classmethod
    def at(cls, short_id: str) -> "ShareableAdminsOnly":
        """The error, with a link to the page that asks for this shareable's admin passcode."""
        found = cls()
        found.way_in = (f"{BEFORE_ID}{short_id}/manage", "Enter the admin passcode")
        return found


class Expired(
    ProblemError,
    slug="shareable-expired",
    status=410,
    title="It has been cleared away",
    remedy="Whoever has the admin passcode can clone it.",
    detail="Its time is over: it can be read and cloned by its admins alone",
):
    """It was open until a time that has passed. For a year after that its admins can read, clone and delete it; then it
    is gone for everybody."""


class ShareMaker(Maker):
    """Anybody, signed in or not."""

    unlisted = True

    @property
    def services(self) -> ShareablesContext:
        found: ShareablesContext = self.context
        return found


class ToShareable(ShareMaker):
    """Anybody who has the id of an existing shareable."""

    headers = TOKEN
    preview = "shareables/preview.html"
    kinds = frozenset({"checklist", "poll"})
    """The kinds of shareable that this access admits."""

    short_id: ShortId

    def __init__(self, core: Any, context: Any, visitor: Visitor, ids: Mapping[str, Any]) -> None:
        super().__init__(core, context, visitor, ids)
        token = _token(visitor)
        self.token_hash = None if token is None else hash_of(token)

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
        if refusal.operation is not None and refusal.operation.plan.cls is Account:
            raise AccountGone from refusal
        current: Any = refusal.current
        self.must_admit(current)

    # --- what the caller is ----------------------------------------------------------------------------------------

    @property
    def role(self) -> Role | None:
        return self.role_in(self.shareable)

    def role_in(self, shareable: Shareable) -> Role | None:
        """The caller's role, given the shareable as it is now."""
        return self._known_as(shareable) or ("view" if shareable.view_passcode is None else None)

    def _known_as(self, shareable: Shareable) -> Role | None:
        """The role proven by a session, or by having created it; None for a caller who only knows the id."""
        if self.principal is not None and self.principal.user_id == shareable.creator_id:
            return "admin"
        session = self.session
        counts = session is not None and session.passcode == shareable.passcode_of(session.role)
        return session.role if session is not None and counts else None

    def passcode_changed(self, shareable: Shareable) -> bool:
        """Whether the caller has a session whose passcode has been replaced."""
        session = self.session
        return session is not None and session.passcode != shareable.passcode_of(session.role)

    def _still(self) -> Condition:
        """The condition that the caller's role still holds, for a write."""
        match self._known_as(self.shareable), self.session:
            case "admin", ShareSession() as session if session.role == "admin":
                return the(Shareable.admin_passcode) == session.passcode
            case "admin", _:
                assert self.principal is not None
                return the(Shareable.creator_id) == self.principal.user_id
            case "view", ShareSession() as session:
                return the(Shareable.view_passcode) == session.passcode
        return the(Shareable.view_passcode).is_none()


class Reader(ToShareable):
    """Whoever may view it: viewers until it expires, admins after that too."""

    admins_only = False
    while_open = False
    """Whether expiry ends this for admins too."""

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
        """Refuse what only admins may do; a caller without a session may be an admin whose session has ended."""
        if self._known_as(shareable) is not None:
            raise ShareableAdminsOnly.at(self.short_id)
        raise PasscodeNeeded.at(self.short_id, "manage", self._why_locked_out(shareable))

    def _why_locked_out(self, shareable: Shareable) -> str | None:
        return PASSCODE_CHANGED if self.passcode_changed(shareable) else None

    def allowed(self) -> Condition:
        """The condition that the caller is still admitted, checked in the transaction of every write."""
        if self.while_open or self.role == "view":
            return self._still() & (the(Shareable.expires_at) > self.now)
        return self._still()

    def checks(self) -> Sequence[Operation]:
        return (*super().checks(), check(Shareable.one(self.short_id), when=self.allowed()))

    def right(self) -> Grant | None:
        return Grant(Shareable.one(self.short_id), lambda row: self.role_in(row) is not None)

    @classmethod
    def refusals(cls) -> Sequence[type[Exception]]:
        return [PasscodeNeeded, Expired, *([Forbidden] if cls.admins_only else [])]


class Participant(Reader):
    """Whoever may view it, until it expires."""

    while_open = True


class Keeper(Reader):
    """Its admins, even after it has expired."""

    admins_only = True


class Editor(Keeper):
    """Its admins, until it expires."""

    while_open = True


def _token(visitor: Visitor) -> str | None:
    """The session token: from a cookie for pages, from the Authorization header for the API."""
    if visitor.by_page:
        given = SHARE_COOKIE.value(visitor)
    else:
        given = visitor.headers.get("Authorization", "")
        given = given[len(BEARER) :].strip() if given[: len(BEARER)].lower() == BEARER else ""
    return given if SHARE_TOKEN.fullmatch(given) else None
