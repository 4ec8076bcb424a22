"""What an app hands the assembly, and what the assembly hands an app."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from msgspec import Struct

from potluck.engines import Engine
from potluck.people.authentication import Principal
from potluck.people.entities import Account
from potluck.people.services import People
from potluck.settings import Settings
from potluck.store import Clock, Store
from potluck.streams import Consumer, changed, nothing_to_rebuild
from potluck.table import Table
from potluck.web.actions import Actions
from potluck.web.app_entry import AppEntry
from potluck.web.count_limits import CountLimits
from potluck.web.endpoints import Endpoints
from potluck.web.invitations import Join
from potluck.web.live import Live
from potluck.web.modules import Modules
from potluck.web.pagination import Cursors
from potluck.web.places.in_suite import PlacesInSuite
from potluck.web.rate_limits import RateLimiter
from potluck.web.storage_quota import StorageQuota
from potluck.web.suite_secret import derived, load_secret
from potluck.web.turns import Turns


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """The services that every app is given."""

    settings: Settings
    engine: Engine
    store: Store
    clock: Clock
    people: People
    live: Live
    cursors: Cursors
    rate_limiter: RateLimiter
    count_limits: CountLimits
    storage_quota: StorageQuota
    turns: Turns = field(default_factory=Turns)

    def derived_key(self, purpose: str) -> bytes:
        """A key of 32 bytes for one purpose, derived from the suite's secret."""
        return derived(load_secret(self.settings), purpose)


class Waiting(NamedTuple):
    """One thing that waits for a person, as the home page shows it."""

    name: str
    note: str
    address: str
    icon: str
    action: str = ""
    """The word on its button, which leads to the same address."""


class WorthALook(NamedTuple):
    """Something in a demo that people are pointed to."""

    name: str
    address: str
    """A path on this site; it may have a key in it."""
    note: str = ""


class TurnBack(Protocol):
    """Sets the clock to so long ago, until it is set again."""

    def __call__(self, *, days: float = 0, hours: float = 0, minutes: float = 0) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Guests:
    """The made-up people of a demo, each signed in, and `ago`, which sets the clock that they act by."""

    mara: Principal
    leo: Principal
    noor: Principal
    renzo: Principal
    ida: Principal
    ago: TurnBack


class HomeCard(NamedTuple):
    """What an app has to say to a person on the home page."""

    fact: str = ""
    """A few words under its plate: "7 to buy"."""
    waiting: Sequence[Waiting] = ()


class BackgroundWork(Protocol):
    """A background task that runs until it is cancelled; if it fails, it is restarted."""

    @property
    def name(self) -> str: ...
    async def run(self) -> None: ...


Export = Callable[[UUID], AsyncIterator[tuple[str, Struct]]]
"""Yields everything a person owns: rows, each with the name of its table in the export, table after table."""


Demo = Callable[[Guests], Awaitable[Sequence[WorthALook]]]
"""Fills the app with believable data of these people, through the same rules that everyone uses."""


def nothing_to_stop() -> None:
    """Its requests are answered soon."""


async def nothing_to_export(user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
    """Nothing of theirs is here."""
    return
    yield  # makes this an async generator


async def needed_nowhere(user_id: UUID) -> list[str]:
    """No place depends on one person."""
    return []


async def nothing_to_forget(user_id: UUID) -> None:
    """Nothing here is a person's alone."""


async def unnamed_place(place: str) -> str | None:
    """The invitation does not name the place."""
    return None


def role_as_it_is(role: str) -> str:
    """The word for the role says what it is."""
    return role


async def empty_card(caller: Principal) -> HomeCard:
    """The plate alone."""
    return HomeCard()


ANSWERED_BY_PLACE = frozenset(
    {"account_renamed", "export", "forget", "join", "joined_page", "place_name", "still_needed"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """One app, whole: adding an app is a folder, and a line in the assembly."""

    name: str
    tables: Sequence[Table]
    place: PlacesInSuite[Any, Any] | None = None
    """What people share there. It answers the suite where the app itself does not."""
    modules: Modules | None = None
    """Its modules that declare something: their rules, pages and plain endpoints are what it does."""
    subjects: Sequence[Actions[Any]] = ()
    """The rules of subjects that are in no module, such as those that are made for each suite."""
    endpoints: Sequence[Endpoints] = ()
    """The same for plain endpoints."""
    context: Any = None
    """What its rules are given besides the core, as `at.context`."""
    templates: Path | None = None
    """The folder of its templates; the folder `static` next to it has its scripts and style sheets."""
    borrowed_templates: Sequence[Path] = ()
    """Template folders of other apps that its pages use, with their static files, whether or not those are served."""
    entry: AppEntry | None = None
    """Its place in the navigation and on the home page."""
    consumers: Sequence[Consumer] = ()
    """What follows from changes of its tables."""
    account_renamed: Callable[[Account, Account], Awaitable[None]] | None = None
    """Copies a new name or e-mail address from an account, before and after, to the app's own rows. Idempotent."""
    background: Sequence[BackgroundWork] = ()
    """Background work that follows no stream."""
    stop: Callable[[], None] = nothing_to_stop
    """End what requests in progress wait for, because the server is stopping."""
    export: Export = nothing_to_export
    still_needed: Callable[[UUID], Awaitable[list[str]]] = needed_nowhere
    """The names of places that need this person; while there are any, the account cannot be deleted."""
    forget: Callable[[UUID], Awaitable[None]] = nothing_to_forget
    """Delete everything that is only theirs. Idempotent: it is called again after an interruption."""
    place_name: Callable[[str], Awaitable[str | None]] = unnamed_place
    """The name of an invitation's place, for the person who holds the link; None if it no longer exists."""
    role_in_words: Callable[[str], str] = role_as_it_is
    """The role of an invitation, as its page names it after "As a"."""
    join: Join | None = None
    """What joining by one of its invitations writes; None if it invites no one."""
    joined_page: Callable[[Any], str] | None = None
    """The address of the page that a new member is led to, made of what `join` answered. Its invitations then have a
    button on their page; without it, an app that invites people serves `POST {entry.address}/invitation`."""
    welcome: str = "You’re in."
    """What that page says, once, to a new member."""
    home_card: Callable[[Principal], Awaitable[HomeCard]] = empty_card
    demo: Demo | None = None

    def __post_init__(self) -> None:
        if self.modules is not None:
            object.__setattr__(self, "subjects", (*self.modules.subjects, *self.subjects))
            object.__setattr__(self, "endpoints", (*self.modules.endpoints, *self.endpoints))
        place = self.place
        if place is None:
            return
        for each in fields(self):
            if each.name in ANSWERED_BY_PLACE and getattr(self, each.name) is each.default:
                object.__setattr__(self, each.name, getattr(place, each.name))
        object.__setattr__(self, "consumers", (*place.consumers, *self.consumers))

    def all_consumers(self) -> list[Consumer]:
        """Its consumers, and the one that follows account names: per app, so that none waits for another's failure."""
        if self.account_renamed is None:
            return [*self.consumers]
        renamed = changed(Account, Account.name, Account.email, do=self.account_renamed)
        # A missed name is corrected by the account's next change, and new rows get today's.
        return [*self.consumers, Consumer(f"{self.name}-names", renamed, lost=nothing_to_rebuild)]


AppMaker = Callable[[Core], App]
