"""What an app hands the assembly, and what the assembly hands an app."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any, ClassVar, NamedTuple, Protocol
from uuid import UUID

from msgspec import Struct

from potluck.engines import Engine
from potluck.people.authentication import Principal
from potluck.people.entities import Account, InvitationOfPlace
from potluck.people.secrets import SYSTEM_RANDOM
from potluck.people.services import People
from potluck.settings import Settings
from potluck.store import Clock, Store
from potluck.streams import Consumer, ConsumerGroup, Lease, LeaseTerms, Steps, Work, changed
from potluck.table import Table
from potluck.web.access import SignedIn
from potluck.web.actions import Actions
from potluck.web.app_entry import AppEntry
from potluck.web.count_limits import CountLimits
from potluck.web.direct_calls import Direct
from potluck.web.endpoints import Endpoints
from potluck.web.entity_fields import DeclarationError
from potluck.web.live import Live
from potluck.web.modules import declared_in
from potluck.web.offline import Shell
from potluck.web.outbound import Outbound
from potluck.web.pagination import Cursors
from potluck.web.places.access import role_name
from potluck.web.places.in_suite import Contents, PlacesInSuite
from potluck.web.places.place import Place
from potluck.web.rate_limits import RateLimiter
from potluck.web.storage_quota import StorageQuota
from potluck.web.suite_secret import derived, load_secret
from potluck.web.turns import Turns
from potluck.web.views import view_plan
from potluck.web.writes import Writes


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
    outbound: Outbound = field(default_factory=Outbound)
    random: Random = SYSTEM_RANDOM
    """What ids and secrets are made of."""

    def derived_key(self, purpose: str) -> bytes:
        """A key of 32 bytes for one purpose, derived from the suite's secret."""
        return derived(load_secret(self.settings), purpose)

    def lease(self, name: str) -> Lease:
        """The lease of this name, which one process at a time holds."""
        return Lease(self.engine, name, **self._terms._asdict())

    def consumer_group(self, name: str, *, restart_seconds: float | None = None) -> ConsumerGroup:
        """The processes that share consumers under this name."""
        # Processes on one file take turns at its lock: two of them handle fewer records than one.
        spread = self.settings.engine != "embedded"
        return ConsumerGroup(self.engine, name, terms=self._terms, spread=spread, restart_seconds=restart_seconds)

    @property
    def _terms(self) -> LeaseTerms:
        return LeaseTerms.for_takeover_within(self.settings.takeover_seconds)


class Waiting(NamedTuple):
    """One thing that waits for a person, as the home page shows it."""

    name: str
    note: str
    address: str
    icon: str
    action: str = ""
    """The word on its button."""
    at: str = ""
    """Where the button leads; by default, to the same address."""
    sends: Mapping[str, str] | None = None
    """What the button sends there as a form, to do it at once; None for a button that is a link."""


class NextStep(NamedTuple):
    """What a person who has nothing in an app yet does there first."""

    note: str
    action: str
    at: str


class Sample(NamedTuple):
    """A piece of the app with made-up content, for the front page."""

    template: str
    """One of the app's templates, which has the values as `sample`."""
    values: Mapping[str, Any] = {}
    style: str = ""
    """A style sheet in the app's folder for static files."""


class WorthALook(NamedTuple):
    """Something in a demo that people are pointed to."""

    name: str
    address: str
    """A path on this site; it may have a key in it."""
    note: str = ""


class TurnBack(Protocol):
    """Sets the clock to so long ago, until it is set again."""

    def __call__(self, *, days: float = 0, hours: float = 0, minutes: float = 0) -> None: ...


class Demo(Direct):
    """What an app fills its demo with: made-up people, who are signed in and call its rules, and a clock."""

    def __init__(self, app: "App", people: Mapping[str, Principal], ago: TurnBack) -> None:
        super().__init__(app.core, app.subjects, app.context)
        self.store, self.clock = app.core.store, app.core.clock
        self.mara, self.leo, self.noor, self.renzo, self.ida = (
            people[name] for name in ("mara", "leo", "noor", "renzo", "ida")
        )
        self.ago = ago
        """Sets the clock that they act by."""
        self.worth_a_look: list[WorthALook] = []

    def point_out(self, name: str, address: str, note: str = "") -> None:
        """Point people to something; the address is a path on this site, and may have a key in it."""
        self.worth_a_look.append(WorthALook(name, address, note))


@dataclass(slots=True)
class HomeCard:
    """What an app has to say to a person on the home page."""

    fact: str = ""
    """A few words under its plate: "7 to buy"."""
    waiting: list[Waiting] = field(default_factory=list)
    next_step: NextStep | None = None
    """Only for someone who has nothing in the app yet."""

    def add(
        self,
        name: str,
        note: str,
        address: str,
        icon: str,
        action: str = "",
        *,
        at: str = "",
        sends: Mapping[str, str] | None = None,
    ) -> None:
        """Something that waits for the person, at this address; `action` is the word on its button.

        The button leads to `at`, or sends a form there, which leads back to the home page if it ends with `?next=/`.
        """
        self.waiting.append(Waiting(name, note, address, icon, action, at or address, sends))

    @classmethod
    def first(cls, note: str, action: str, at: str) -> "HomeCard":
        """The card of an app in which the person has nothing yet: a sentence, and a button that leads to the first."""
        return cls(next_step=NextStep(note, action, at))


class BackgroundWork(Protocol):
    """A background task that runs until it is cancelled; if it fails, it is restarted."""

    @property
    def name(self) -> str: ...
    async def run(self) -> None: ...

    async def once(self) -> None:
        """Do what is due now, for those who call it on a schedule instead."""
        ...


class App:
    """One app, whole. Adding an app is a folder, and a line in the assembly, which makes an instance on its core.

    What the suite asks of it are methods. An app with a place answers with that what it does not override.
    """

    name: ClassVar[str]
    tables: ClassVar[Sequence[Table]] = ()
    modules: ClassVar[Sequence[ModuleType]] = ()
    """Its modules that declare something: their rules, pages and plain endpoints are what it does."""
    subjects: Sequence[Actions[Any]] = ()
    """What these declare, and subjects that are in no module."""
    endpoints: Sequence[Endpoints] = ()
    title: ClassVar[str] = ""
    """Its name in the navigation and on the home page; without one, it is in neither."""
    icon: ClassVar[str] = ""
    does: ClassVar[str] = ""
    """A sentence that says what it is for."""
    address: ClassVar[str] = ""
    """Where it begins."""
    hue: ClassVar[str] = ""
    """One of those in hues.py; the five apps have theirs by their name, in tokens.css."""
    sample: ClassVar[Sample | None] = None
    """A piece of it for people who have never seen it."""
    templates: ClassVar[Path | None] = None
    """The folder of its templates; the folder `static` next to it has its scripts and style sheets."""
    shell: ClassVar[Shell | None] = None
    """What its addresses open with when there is no network, for an app that stores its data itself. What browsers save
    of the other pages is declared with each: `@subject.page(…, offline=True)`."""
    borrowed_templates: ClassVar[Sequence[Path]] = ()
    """Template folders of other apps that its pages use, with their static files, whether or not those are served."""
    place: ClassVar[Place[Any, Any] | None] = None
    """What people share there."""
    contents: ClassVar[Contents] = ()
    """The other things in a place, by their name in the export, each with the query that finds them and the view that
    shows them: they are exported with the place, and deleted after it."""
    joined_page: str = ""
    """The page that a new member is led to, with fields of what joining answered in braces. The app's invitations then
    have a button on their page; without it, an app that invites people serves `POST {address}/invitation`."""
    welcome: ClassVar[str] = "You’re in."
    """What that page says, once, to a new member."""

    def __init_subclass__(cls) -> None:
        _must_show_alone(cls)
        subjects, endpoints = declared_in(cls.modules)
        cls.subjects = tuple(dict.fromkeys([*subjects, *cls.subjects]))
        cls.endpoints = tuple(dict.fromkeys([*endpoints, *cls.endpoints]))

    def __init__(self, core: Core) -> None:
        self.core = core
        self.places = None if self.place is None else PlacesInSuite(self.place, core, self.contents)
        if self.place is not None and not self.joined_page:
            self.joined_page = f"{self.place.page}/{{{self.place.id}}}"
        self.context = self.make_context()

    @property
    def entry(self) -> AppEntry | None:
        """Its place in the navigation and on the home page."""
        return AppEntry(self.name, self.title, self.icon, self.does, self.address, self.hue) if self.title else None

    def make_context(self) -> Any:
        """What its rules get in addition to the core, as `at.context`."""
        return None

    # --- in the background --------------------------------------------------------------------------------------------

    def consumers(self) -> Sequence[Consumer]:
        """What follows from changes of its tables."""
        return ()

    def all_consumers(self) -> list[Consumer]:
        """Its consumers, and the one that follows account names: per app, so that none waits for another's failure."""
        consumers = [*([] if self.places is None else self.places.consumers), *self.consumers()]
        if self.places is None and type(self).account_renamed is App.account_renamed:
            return consumers
        renamed = changed(Account, Account.name, Account.email, do=self.account_renamed)
        # A missed name is corrected by the account's next change, and new rows get today's.
        return [*consumers, Consumer(f"{self.name}-names", renamed, lost=None, steps=self.renaming_steps)]

    def background(self) -> Sequence[BackgroundWork]:
        """Background work that follows no stream."""
        return ()

    def stop(self) -> None:
        """End what requests in progress wait for, because the server is stopping."""

    # --- accounts -----------------------------------------------------------------------------------------------------

    @property
    def renaming_steps(self) -> Sequence[Steps[Any]]:
        """The kinds of long work that `account_renamed` returns."""
        return ()

    async def account_renamed(self, before: Account, after: Account) -> Work[Any] | None:
        """Copy a new name or e-mail address from an account to the app's own rows, or return the work. Idempotent."""
        if self.places is not None:
            await self.places.account_renamed(before, after)
        return None

    async def export(self, user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
        """Everything the person owns: rows, each with the name of its table in the export, table after table."""
        if self.places is not None:
            async for row in self.places.export(user_id):
                yield row

    async def still_needed(self, user_id: UUID) -> Sequence[str]:
        """The names of places that need this person; while there are any, the account cannot be deleted."""
        return [] if self.places is None else await self.places.still_needed(user_id)

    async def forget(self, user_id: UUID) -> None:
        """Delete everything that is only theirs. Idempotent: it is called again after an interruption."""
        if self.places is not None:
            await self.places.forget(user_id)

    # --- invitations --------------------------------------------------------------------------------------------------

    async def place_name(self, place: str) -> str | None:
        """The name of an invitation's place, for the person who holds the link; None if it no longer exists."""
        return None if self.places is None else await self.places.place_name(place)

    def role_in_words(self, role: str) -> str:
        """The role of an invitation, as its page shows it."""
        return role_name(role)

    @property
    def invites(self) -> bool:
        """Whether it has invitations."""
        return self.place is not None or type(self).join is not App.join

    async def join(self, at: SignedIn, invitation: InvitationOfPlace) -> Writes[Any] | None:
        """Join by one of its invitations; the answer has the id of the place. None if it is no longer valid."""
        assert self.place is not None
        return await self.place.join(at, invitation)

    # --- people see ---------------------------------------------------------------------------------------------------

    async def home_card(self, caller: Principal) -> HomeCard:
        """What it has to say to a person on the home page; by default, the plate alone."""
        return HomeCard()

    async def demo(self, demo: Demo) -> None:
        """Fill the app with believable data, through the same rules that everyone uses."""


AppMaker = Callable[[Core], App]


def _must_show_alone(app: type[App]) -> None:
    """DeclarationError if a view in `contents` needs a lookup: an export has no `at` to load one with."""
    for name, _, view in app.contents:
        lookup = view_plan(view).lookup
        if lookup is not None:
            raise DeclarationError(
                f"{app.__name__}.contents, {name}: {view.__name__} needs the lookup {lookup.__name__}, which an export"
                " does not load; write a view for the export, without fields that need it"
            )
