"""Authorization: the rows that are read to admit a caller to a rule, and the conditions on them, stated once.

The conditions are evaluated on the rows as read, and checked again in the transaction of every write. An instance is an
admitted caller, with everything a rule needs, so the type of a rule's first parameter says who may call it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, get_args, get_origin
from uuid import UUID

from potluck.people.authentication import Principal
from potluck.people.entities import Account
from potluck.people.errors import AccountGone
from potluck.table import Condition, Entity, Ref, WriteRefused, check, present, the
from potluck.table.expressions.conditions import All, Among, Compared, conjuncts
from potluck.table.operations import Operation
from potluck.web.errors import Forbidden, NotFound, ProblemError
from potluck.web.http.clients import UNKNOWN, lacks_https
from potluck.web.inputs import DeclarationError
from potluck.web.live import Grant, Listener
from potluck.web.rate_limits import GUESSES
from potluck.web.unit_of_work import UnitOfWork

if TYPE_CHECKING:
    from potluck.store import Store
    from potluck.web.app import Core
    from potluck.web.http.sealed_cookies import SealedCookies

R = TypeVar("R", bound=Entity)


async def _always() -> bool:
    return True


class Visitor:
    """The caller, before access is decided: their principal if they are signed in, headers, and kept cookies."""

    __slots__ = (
        "_client",
        "_last_event_id",
        "_origin",
        "_user_agent",
        "by_cookie",
        "by_page",
        "cookies",
        "headers",
        "limited",
        "principal",
        "shows_secret",
        "still",
        "uses_client",
    )

    def __init__(
        self,
        *,
        principal: Principal | None = None,
        client: str | Callable[[], str] = UNKNOWN,
        headers: Mapping[str, str] | None = None,
        cookies: SealedCookies | None = None,
        by_page: bool = False,
        by_cookie: bool = False,
        limited: bool = True,
        origin: Callable[[], str] = str,
        last_event_id: Callable[[], str] = str,
        user_agent: Callable[[], str] = str,
        still: Callable[[], Awaitable[bool]] = _always,
    ) -> None:
        """`by_page`: a page is calling, not a program. `by_cookie`: no token was sent, so it is a browser.
        `limited=False`: code is calling, whose attempts and requests are not counted.
        `cookies` are sealed, and for pages only. `still`: whether their credential is still valid."""
        self.principal = principal
        self.headers = headers or {}
        self.cookies = cookies
        self.by_page = by_page
        self.by_cookie = by_cookie
        self.limited = limited
        self.still = still
        self.uses_client = False
        self.shows_secret = False
        self._client = client
        self._origin = origin
        self._last_event_id = last_event_id
        self._user_agent = user_agent

    def cookie(self, name: str) -> str:
        """The value of the cookie kept under this name; empty if there is none, and for a program."""
        return "" if self.cookies is None else self.cookies.get(name)

    @property
    def client(self) -> str:
        """The client that attempts are counted by. An answer that reads it is not cached."""
        self.uses_client = True
        if not isinstance(self._client, str):
            self._client = self._client()
        return self._client

    @property
    def listening(self) -> Listener:
        """The listener that their open event streams are counted for."""
        return Listener(self.principal, self.client)

    @property
    def origin(self) -> str:
        """The address they reach the suite at: https://potluck.example. An answer that reads it is not cached."""
        self.uses_client = True
        return self._origin()

    @property
    def lacks_https(self) -> bool:
        """Whether browsers deny the suite offline storage at this origin, because it is not a secure context."""
        return lacks_https(self.origin)

    @property
    def last_event_id(self) -> str:
        """The id of the last event that they were sent, if they listened before; else empty."""
        return self._last_event_id()

    @property
    def user_agent(self) -> str:
        """What names their browser or program; empty for code."""
        return self._user_agent()


class Access(UnitOfWork):
    """An admitted caller; subclasses decide who is admitted.

    Annotations declare the path parameters it needs: `family_id: FamilyId`. A rule at an address without one of them
    is a DeclarationError, unless the attribute has a default or is in `finds_by`. Request headers that decide access
    are named in `headers`, each with its description for the API document.
    """

    headers: ClassVar[Mapping[str, str]] = {}
    finds_by: ClassVar[tuple[str, ...]] = ()
    """Attributes that things are found by besides the path, set by `admit`: such as the owner of a shared thing."""
    needs_principal: ClassVar[bool] = False
    anonymous: ClassVar[bool] = False
    """Whether callers are treated as signed out: no session and no token is looked up."""
    unlisted: ClassVar[bool] = False
    """Whether search engines are asked not to list its pages: only people who were given the link should find them."""
    preview: ClassVar[str] = ""
    """The template that a link preview gets in place of its pages, whether or not the path names something."""
    needs_account: ClassVar[bool] = False
    """Whether the account of a caller who is signed in must still exist when a write commits."""

    visitor: Visitor
    _account: Account | None = None
    thing: Any = None
    """The thing that the path names, where `admit` finds it. None if it does not exist."""

    def __init__(self, core: Core, context: Any, visitor: Visitor, ids: Mapping[str, Any]) -> None:
        self.core = core
        self.context = context
        self.store = core.store
        self.visitor = visitor
        self.principal = visitor.principal
        self.__dict__.update(ids)

    def reads(self) -> Sequence[Ref[Any]]:
        """The rows that decide whether the caller is admitted, read consistently, with the thing of the path."""
        return ()

    async def admit(self, *rows: Any) -> None:
        """Given those rows, raise unless the caller is admitted: NotFound for a stranger."""

    async def readmit(self) -> None:
        """Read the rows that decide, and raise unless the caller is admitted now."""
        await self.admit(*await read_together(self.store, self.reads()))

    async def admit_or_count(self, *rows: Any) -> None:
        """Admit the caller. Where no account is needed, an id of nothing counts as a guess: Throttled after too many.

        What exists is never refused for guesses: people who share an address share the count.
        """
        try:
            await self.admit(*rows)
        except NotFound:
            if not self.needs_principal:
                self.core.rate_limiter.take(GUESSES, self.visitor)
            raise

    def checks(self) -> Sequence[Operation]:
        """Condition checks that the caller is still admitted, for the transaction of a write."""
        if not self.needs_account or self.principal is None:
            return ()
        # Nothing is started for a person whose account is being deleted.
        account = self._account
        when = present if account is None else the(Account.version).still(account.version)
        return (check(Account.by_id(self.principal.user_id), when=when),)

    def refuse(self, refusal: WriteRefused) -> None:
        """Raise what a failed check means to the caller; return if they are admitted after all."""
        if refusal.operation is None or refusal.operation.plan.cls is not Account:
            raise NotFound from refusal
        if refusal.current is None:
            raise AccountGone from refusal

    def grant_row(self) -> Ref[Any] | None:
        """The row that entitles the caller to follow live updates, if access depends on one."""
        return None

    def entitles(self, row: Any) -> bool:
        """Whether that row, as it was at some time, gives the caller access."""
        return True

    def grant(self) -> Grant | None:
        """What the caller must have had all the time to follow live updates; None if access depends on no row."""
        row = self.grant_row()
        return None if row is None else Grant(row, self.entitles)

    @property
    def follower(self) -> UUID | None:
        """The user id that live positions are bound to; None for public lists."""
        return self.principal.user_id if self.needs_principal and self.principal is not None else None

    def sees(self, thing: Any) -> bool:
        """Whether the caller may see this thing; one they may not see is 404, in no list and in no event."""
        return True

    async def redact_event(self, entity: Any, deleted: bool) -> Any:
        """What an event shows of an entity as the log has it; None to hide it. `deleted`: it left the list.

        Override it where the caller may not see now what they could have seen then.
        """
        return entity

    @classmethod
    def refusals(cls) -> Sequence[type[Exception]]:
        """The errors that callers can be refused with in addition to 401 and 404, for the API document."""
        return ()


class Anyone(Access):
    """Any caller, signed in or not."""


class Nobody(Anyone):
    """Any caller, treated as signed out: for registering and signing in."""

    anonymous = True


class SignedIn(Access):
    """Someone who is signed in, or a program with their API token."""

    needs_principal = True
    needs_account = True

    principal: Principal

    async def own_account(self) -> Account:
        """The caller's account; if it changes before the rule's writes commit, the rule runs again.

        So what is copied from it is current; later changes follow by `App.account_renamed`. An access with other
        `checks` adds those of super().
        """
        return self.own_account_as_read(await self.store.get(Account.by_id(self.principal.user_id)))

    def own_account_as_read(self, account: Account | None) -> Account:
        """The caller's account, where a rule read it together with other rows."""
        if account is None:
            raise AccountGone
        self._account = account
        return account


class ByRow(SignedIn, Generic[R]):
    """Someone who has a row of their own in the place that the path names.

        class InFamily(ByRow[Member], admits=the(Member.status) == "active"):
            \"\"\"A member of the family in the path.\"\"\"

            family_id: FamilyId

        class FamilyAdmin(InFamily, needs=the(Member.role) == "admin", otherwise=AdminsOnly):
            \"\"\"An admin of the family in the path.\"\"\"

    The row is found by the entity's `by_id`: its parameters are those of the path and one more, the caller's id.
    A caller who does not meet `admits` gets 404; one who does not meet `needs` gets the problem named by `otherwise`.
    """

    entity: ClassVar[type[Entity]]
    admits: ClassVar[Condition | None] = None
    rights: ClassVar[tuple[tuple[Condition, type[ProblemError]], ...]] = ()
    own_parameter: ClassVar[str]

    row: R
    _ref: Ref[R] | None = None

    def __init_subclass__(
        cls,
        *,
        admits: Condition | None = None,
        needs: Condition | None = None,
        otherwise: type[ProblemError] = Forbidden,
    ) -> None:
        super().__init_subclass__()
        if admits is not None:
            cls.admits = admits
        if needs is not None:
            cls.rights = (*cls.rights, (needs, otherwise))
        for base in vars(cls).get("__orig_bases__", ()):
            origin = get_origin(base)
            if isinstance(origin, type) and issubclass(origin, ByRow) and isinstance(get_args(base)[0], type):
                cls.entity = get_args(base)[0]
                cls.own_parameter = _own_parameter(cls)
        for part in _conditions(cls):
            if not isinstance(part, Among) and not (isinstance(part, Compared) and part.operator == "="):
                raise DeclarationError(
                    f"{cls.__name__}: access is decided by `the(field) == value` or `.among(...)`, not by {part}"
                )

    def ref(self) -> Ref[R]:
        """The caller's own row."""
        if self._ref is None:
            by_id = _by_id(self.entity)
            own = self.own_parameter
            self._ref = by_id.refer(
                *[self.principal.user_id if name == own else getattr(self, name) for name in by_id.names]
            )
        return self._ref

    def reads(self) -> Sequence[Ref[Any]]:
        return (self.ref(),)

    def effective_access(self) -> type[ByRow[R]]:
        """The access whose conditions this caller must meet; override it where that depends on the path."""
        return type(self)

    async def admit(self, *rows: Any) -> None:
        (row,) = rows
        self.effective_access().must_admit(row)
        self.row = row

    @classmethod
    def must_admit(cls, row: Any) -> None:
        """Raise unless this row, as read or as a refused write found it, grants this access."""
        if row is None or not meets(row, cls.admits):
            raise NotFound
        for condition, problem in cls.rights:
            if not meets(row, condition):
                raise problem

    def checks(self) -> Sequence[Operation]:
        own_row = check(self.ref(), when=_check_of(self.effective_access()))
        # The row admits them; the account counts only where the rule read it.
        return (own_row,) if self._account is None else (own_row, *super().checks())

    def refuse(self, refusal: WriteRefused) -> None:
        if self._account is not None and refusal.operation is not None and refusal.operation.plan.cls is Account:
            super().refuse(refusal)
        else:
            self.effective_access().must_admit(refusal.current)

    def grant_row(self) -> Ref[Any] | None:
        return self.ref()

    def entitles(self, row: Any) -> bool:
        return all(meets(row, condition) for condition in _conditions(self.effective_access()))

    @classmethod
    def refusals(cls) -> Sequence[type[Exception]]:
        return [otherwise for _, otherwise in cls.rights]


async def read_together(store: Store, refs: Sequence[Ref[Any]]) -> Sequence[Any]:
    """The rows, read in one request; an access and the path may name the same one."""
    if not refs:
        return ()
    first = refs[0]
    if len(refs) == 1:
        return (await store.get(first),)
    if all(ref.key == first.key and ref.members is first.members for ref in refs):
        return [await store.get(first)] * len(refs)
    return await store.get_many(refs)


def _own_parameter(access: type[ByRow[Any]]) -> str:
    """Which parameter of the entity's `by_id` is the caller's id: the one that the access does not annotate."""
    names = _by_id(access.entity).names
    own = [name for name in names if name not in access.__annotations__]
    if len(own) != 1:
        raise DeclarationError(
            f"{access.__name__}: annotate all parameters of {access.entity.__name__}.by_id but the caller's own id,"
            f" of {names}; without annotation are {own}"
        )
    return str(own[0])


def _by_id(entity: Any) -> Any:
    """The access pattern by which an entity is found: what `Entity.by_id` is bound to."""
    return entity.by_id.__self__


_checks: dict[type[Any], Condition] = {}


def _check_of(access: type[ByRow[Any]]) -> Condition:
    """The condition of every write by this access; one object, so that its expression is built once."""
    known = _checks.get(access)
    if known is None:
        parts = _conditions(access)
        known = _checks[access] = All(parts) if len(parts) > 1 else parts[0] if parts else present
    return known


def _conditions(access: type[ByRow[Any]]) -> tuple[Condition, ...]:
    return tuple(
        part for condition in (access.admits, *(one for one, _ in access.rights)) for part in conjuncts(condition)
    )


def meets(row: Entity, condition: Condition | None) -> bool:
    """Whether an entity in memory meets a condition; the same one that the store checks in a write."""
    for part in conjuncts(condition):
        if isinstance(part, Compared):
            if getattr(row, part.field.name) != part.operand:
                return False
        elif not isinstance(part, Among) or getattr(row, part.field.name) not in part.values:
            return False
    return True
