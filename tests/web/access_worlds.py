"""What the access test knows of an app: a place with one of everything, and people who have no business in it.

An app gives a function that makes its AccessWorld by the app's own API. What is walked comes from the declarations.
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote
from uuid import uuid4

import httpx

from potluck.validation.errors import camel
from potluck.web.access import Access
from potluck.web.actions import Actions
from potluck.web.api_page import example
from potluck.web.app import App, AppMaker, Core
from potluck.web.declarations import Action, Declared, Listing, Page, Read
from potluck.web.http.application import Application
from potluck.web.offline import shell_address
from potluck.web.people.administration import Decision, decide
from potluck.web.people.joining_pages import joining_pages
from tests.patience import PATIENCE_SECONDS
from tests.people.operator_calls import operator_does
from tests.web.suites import API, app_with, bearer, client_at, rows_left, signed_up, suite_on

__all__ = [
    "AccessWorld", "Address", "Answer", "Headers", "Members", "Person", "Suite", "addresses_of", "example_body",
    "suite_with", "unknown_like",
]  # fmt: skip

Person = dict[str, Any]
Headers = Mapping[str, str]

QUIET_SECONDS = 0.3
PARAMETER = re.compile(r"{(\w+)}")
MAIN = re.compile(r"<main[^>]*>(.*)</main>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class Answer:
    """How a request was answered, without what is different every time."""

    status: int
    location: str | None
    kind: str
    body: str

    def __str__(self) -> str:
        """For a finding: of a page only the words of its main part, since the layout would bury them."""
        main = MAIN.search(self.body)
        words = " ".join(TAG.sub(" ", main[1]).split()) if main else self.body
        return f"{self.status} {self.location or ''} {self.kind} {words}"


@dataclass
class Suite:
    """The suite with one app, for people who come from different addresses."""

    client: httpx.AsyncClient
    application: Application
    core: Core
    app: App
    people_made: int = 0

    async def person(self, name: str = "Ada") -> Person:
        """Somebody with an account; so many from one address would be throttled."""
        self.people_made += 1
        high, low = divmod(self.people_made, 256)
        async with client_at(self.application, f"10.0.{high}.{low}") as client:
            return await signed_up(client, f"{name.lower()}.{self.people_made}@example.org", name)

    async def admin(self) -> Person:
        """Somebody who may disable and delete accounts."""
        person = await self.person("Admin")
        await operator_does(self.core, decide, Decision(email=person["email"], decided="promote"))
        return person

    async def data(self, method: str, path: str, body: Any = None, *, by: Person | Headers) -> Any:
        """What a call under /api/v1 is answered with that must succeed."""
        sent: dict[str, Any] = {} if body is None else {"json": body}
        answer = await self.client.request(method, API + path, headers=_headers(by), **sent)
        assert answer.is_success, (method, path, answer.text)
        return answer.json() if answer.content else None

    async def ask(self, method: str, path: str, by: Person | Headers, body: Any = None, **headers: str) -> Answer:
        """Any request, as a browser would like it answered if it is for a page."""
        accept = {"accept": "application/json" if path.startswith(API) else "text/html"}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent: dict[str, Any] = {} if body is None else {"json": body}
        # An event stream that opens for a stranger would never end.
        async with asyncio.timeout(PATIENCE_SECONDS):
            found = await self.client.request(method, path, headers={**accept, **named, **_headers(by)}, **sent)
        text = found.text
        # A page that asks to sign in leads back to where one was.
        for always_different in (found.headers["x-request-id"], path, quote(path), quote(path, safe="")):
            text = text.replace(always_different, "")
        return Answer(found.status_code, found.headers.get("location"), found.headers.get("content-type", ""), text)

    async def document(self) -> dict[str, Any]:
        """The API document."""
        found: dict[str, Any] = (await self.client.get("/schema/openapi.json")).json()
        return found

    async def rows(self) -> Mapping[str, Sequence[str]]:
        """Every row of every table, once consumers have caught up."""
        found = await self._rows()
        while True:
            await asyncio.sleep(QUIET_SECONDS)
            later = await self._rows()
            if later == found:
                return found
            found = later

    async def unchanged(self, before: Mapping[str, Sequence[str]]) -> bool:
        return await self._rows() == before

    async def _rows(self) -> Mapping[str, Sequence[str]]:
        # What goes on by itself: work behind the toy, and filling up ids. Whoever took one would put a shareable.
        work = {"BackgroundWork", "ShortIdPool"}
        return {name: rows for name, rows in (await rows_left(self.core.engine)).items() if name not in work}


def _headers(by: Person | Headers) -> dict[str, str]:
    return bearer(by["token"]) if "token" in by else dict(by)


@dataclass(kw_only=True)
class Members:
    """How people come to the place, and how they lose what they had there."""

    join: Callable[[], Awaitable[Person]]
    """Somebody new who may do everything there is in the place."""
    remove: Callable[[Person], Awaitable[Any]]
    demote: Callable[[Person], Awaitable[Any]]
    """They stay, without the right to manage the place."""


@dataclass(kw_only=True)
class AccessWorld:
    ids: Mapping[str, str]
    """Of a place with one of everything, by the name of the path parameter."""
    ids_elsewhere: Mapping[str, str]
    """The same of another place."""
    elsewhere: Person | Headers
    """Who may do everything in that other place."""
    outsiders: Mapping[str, Person | Headers]
    """Everybody else who has no business in the place."""
    members: Members | None = None
    open_to_anyone: frozenset[str] = frozenset()
    """What needs nobody to be known, and nothing but the address: "GET /api/v1/polls/{poll_id}"."""
    bodies: Mapping[str, Any] = field(default_factory=dict)
    """What is sent where the example of the API document would not do, by method and path."""
    ids_for: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Other ids for an action whose thing must be in another state than for the rest, by method and path."""

    def never(self, path: str) -> dict[str, str]:
        """Ids that nothing has."""
        return {name: unknown_like(self.ids.get(name, "")) for name in PARAMETER.findall(path)}


def unknown_like(known: str) -> str:
    """An id that nothing has and that is valid where this one is: a day for a day, otherwise a UUID."""
    try:
        date.fromisoformat(known)
    except ValueError:
        return str(uuid4())
    return date.max.isoformat()


@dataclass(frozen=True)
class Address:
    """One method at one path, and who may."""

    method: str
    path: str
    kind: Literal["api", "page", "form", "rows", "endpoint"]
    access: type[Access] | None
    """None for a plain endpoint, which admits callers itself."""
    declared: Declared | None = None

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(PARAMETER.findall(self.path))

    @property
    def needs_principal(self) -> bool:
        return self.access is not None and self.access.needs_principal

    @property
    def thing_id(self) -> str | None:
        """The parameter that names a thing in the place; None if the call is about the place itself."""
        if self.declared is None or not self.declared.on_thing or len(self.names) < 2:
            return None
        return self.declared.subject.id

    def to(self, ids: Mapping[str, str]) -> str:
        return self.path.format_map(ids)


class _Camel(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return f"{{{camel(name)}}}"


def example_body(document: Mapping[str, Any], address: Address) -> Any:
    """What a call can be sent, by its example in the API document; None if it takes no body."""
    operation = document["paths"][address.to(_Camel())][address.method.lower()]
    if "requestBody" not in operation:
        return None
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    return example(schema, document["components"]["schemas"])


def addresses_of(app: App) -> list[Address]:
    """Everything an app is asked by: what its subjects declare, plain endpoints, and the button of its invitations."""
    found = [each for subject in (*app.subjects, *joining_pages([app])) for each in _declared(subject)]
    for endpoints in app.endpoints:
        found += (Address(each.method, each.path, "endpoint", None) for each in endpoints.declared)
    if app.shell is not None:
        found.append(Address("GET", shell_address(app.address), "endpoint", None))
    return found


def _declared(subject: Actions[Any]) -> Iterator[Address]:
    for each in subject.declared:
        if each.path is not None:
            path = API + each.path
            if isinstance(each, Action):
                yield Address(each.method, path, "api", each.access, each)
            elif isinstance(each, Read | Listing):
                yield Address("GET", path, "api", each.access, each)
            if isinstance(each, Listing) and each.live is not None:
                yield Address("GET", f"{path}/events", "api", each.access, each)
                yield Address("GET", f"{path}/changes", "api", each.access, each)
        if isinstance(each, Page) and each.address is not None:
            yield Address("GET", each.address, "page", each.access, each)
        if isinstance(each, Action) and each.form_path is not None:
            yield Address("POST", each.form_path, "form", each.access, each)
        if isinstance(each, Listing) and each.row_events is not None:
            yield Address("GET", each.row_events, "rows", each.access, each)


@contextlib.asynccontextmanager
async def suite_with(folder: Path, make: AppMaker, *, built_in: bool = False) -> AsyncIterator[Suite]:
    """The suite with this app alone; without any, if every suite has what this one declares."""
    made: list[tuple[Core, App]] = []

    def known(core: Core) -> App:
        made.append((core, make(core)))
        return app_with("none")(core) if built_in else made[0][1]

    async with suite_on(folder, (known,)) as (client, application):
        yield Suite(client, application, *made[0])
