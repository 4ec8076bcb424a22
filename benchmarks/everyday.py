"""An ordinary day in all five apps, as calls of the API: what people do, by the names that cost tables use.

    async for call in everyday(client): …     # a Call: app, what, and the answer

Each call is made when the iterator is advanced, so that its cost can be counted before the next one.
"""

from collections.abc import AsyncIterator
from typing import Any, NamedTuple
from uuid import uuid4

import httpx

__all__ = ["API", "Call", "everyday"]

API = "/api/v1"
PASSWORD = "correct horse battery"
METRICS = {"durationMinutes": 60, "intensity": 5, "rounds": 3, "giOrNoGi": "gi"}
SESSION = "We drilled the armbar from closed guard, then rolled four rounds. My hips were late every time."


class Call(NamedTuple):
    """One thing that a person did."""

    app: str
    what: str
    answer: httpx.Response

    @property
    def data(self) -> Any:
        return self.answer.json() if self.answer.content else None


class _Person:
    """Someone with a token, who sends writes with an Idempotency-Key as the pages do."""

    def __init__(self, client: httpx.AsyncClient, token: str | None = None) -> None:
        self._client = client
        self.token = token

    async def call(self, app: str, what: str, method: str, path: str, body: Any = None) -> Call:
        headers = {} if self.token is None else {"authorization": f"Bearer {self.token}"}
        if method != "GET":
            headers["idempotency-key"] = str(uuid4())
        answer = await self._client.request(method, API + path, json=body, headers=headers)
        if answer.status_code >= 400:
            raise RuntimeError(f"{app}, {what}: {answer.status_code} {answer.text}")
        return Call(app, what, answer)


async def everyday(client: httpx.AsyncClient) -> AsyncIterator[Call]:
    """Two people use every app."""
    visitor = _Person(client)
    people = []
    emails = [f"{name}-{uuid4().hex[:8]}@example.org" for name in ("ada", "bo")]
    for email in emails:
        body = {"email": email, "password": PASSWORD, "name": email.partition("-")[0].title()}
        call = await visitor.call("people", "register", "POST", "/accounts", body)
        yield call
        people.append(_Person(client, call.data["token"]))
    ada, bo = people
    yield await visitor.call("people", "sign in", "POST", "/sessions", {"email": emails[0], "password": PASSWORD})
    yield await ada.call("people", "who am I", "GET", "/me")
    for part in (_shopping, _polls, _library, _journal, _shareables):
        async for call in part(visitor, ada, bo, emails[1]):
            yield call
    yield await ada.call("people", "another name", "PATCH", "/me", {"name": "Ada L.", "version": 1})
    yield await ada.call("people", "export", "GET", "/me/export")
    yield await bo.call("people", "delete an account", "POST", "/me/delete", {"password": PASSWORD})


async def _joined(app: str, invited: Call, by: _Person) -> Call:
    return await by.call(app, "accept an invitation", "POST", "/invitations/accept", {"token": invited.data["token"]})


async def _shopping(visitor: _Person, ada: _Person, bo: _Person, email: str) -> AsyncIterator[Call]:
    app = "shopping"
    call = await ada.call(app, "make a family", "POST", "/families", {"name": "Lovelace"})
    yield call
    at = f"/families/{call.data['familyId']}"
    invited = await ada.call(app, "invite", "POST", f"{at}/invitations", {"email": email, "role": "member"})
    yield invited
    yield await _joined(app, invited, bo)
    store = await ada.call(app, "add a store", "POST", f"{at}/stores", {"name": "Grocer"})
    yield store
    cellar = await ada.call(app, "add a location", "POST", f"{at}/locations", {"name": "Cellar"})
    yield cellar
    milk = await ada.call(
        app,
        "add to the inventory",
        "POST",
        f"{at}/inventory",
        {"name": "Milk", "locationId": cellar.data["locationId"]},
    )
    yield milk
    item = await ada.call(app, "add to the list", "POST", f"{at}/shopping-list", {"name": "Bread"})
    yield item
    yield await ada.call(
        app,
        "add from the inventory",
        "POST",
        f"{at}/shopping-list",
        {"itemId": milk.data["itemId"], "storeId": store.data["storeId"]},
    )
    looked = await bo.call(app, "look at the list", "GET", f"{at}/shopping-list")
    yield looked
    status = {"status": "purchased", "version": 1}
    bread = f"{at}/shopping-list/{item.data['shoppingItemId']}"
    yield await ada.call(app, "check off", "PATCH", f"{bread}/status", status)
    yield await ada.call(app, "look at the inventory", "GET", f"{at}/inventory")
    adjusted = {"by": 1}
    yield await ada.call(app, "adjust the inventory", "POST", f"{at}/inventory/{milk.data['itemId']}/adjust", adjusted)
    yield await ada.call(app, "clear what was purchased", "POST", f"{at}/shopping-list/clear-purchased")
    yield await bo.call(
        app, "changes of the list", "GET", f"{at}/shopping-list/changes?since={looked.data['position']}"
    )
    yield await ada.call(app, "delete a family", "DELETE", at)


async def _polls(visitor: _Person, ada: _Person, bo: _Person, email: str) -> AsyncIterator[Call]:
    app = "polls"
    body = {"title": "Where to?", "candidates": ["Lake cabin", "Mountain hut", "Sea"]}
    made = await ada.call(app, "make a poll", "POST", "/polls", body)
    yield made
    at = f"/polls/{made.data['id']}"
    yield await visitor.call(app, "look at a poll", "GET", at)
    yield await visitor.call(app, "the first vote", "POST", f"{at}/votes", {"rankings": ["Sea", "Lake cabin"]})
    yield await visitor.call(app, "vote", "POST", f"{at}/votes", {"rankings": ["Lake cabin", "Sea"]})
    yield await visitor.call(app, "results, new votes", "GET", f"{at}/results")
    yield await visitor.call(app, "results, no new votes", "GET", f"{at}/results")
    yield await ada.call(app, "my polls", "GET", "/polls")
    yield await ada.call(app, "close a poll", "POST", f"{at}/close")
    yield await ada.call(app, "delete a poll", "DELETE", at)


async def _library(visitor: _Person, ada: _Person, bo: _Person, email: str) -> AsyncIterator[Call]:
    app = "library"
    made = await ada.call(app, "make a library", "POST", "/libraries", {"libraryName": "Home"})
    yield made
    at = f"/libraries/{made.data['libraryId']}"
    yield await ada.call(app, "make a collection", "POST", f"{at}/collections", {"name": "Amber"})
    book = await ada.call(app, "add a book", "POST", f"{at}/books", {"title": "Nine Princes in Amber"})
    yield book
    item = f"{at}/items/{book.data['itemId']}"
    invited = await ada.call(app, "share", "POST", f"{at}/shares", {"email": email})
    yield invited
    yield await _joined(app, invited, bo)
    yield await bo.call(app, "look at a library", "GET", f"{at}/items")
    yield await ada.call(app, "look at an item", "GET", item)
    yield await ada.call(app, "lend", "POST", f"{item}/lend", {"to": "Ida"})
    yield await ada.call(app, "who has what", "GET", "/loans")
    yield await ada.call(app, "give back", "POST", f"{item}/return")
    yield await ada.call(app, "search", "GET", "/library-search?q=amber")
    yield await ada.call(app, "rename a library", "PATCH", at, {"libraryName": "Attic", "version": 1})


async def _journal(visitor: _Person, ada: _Person, bo: _Person, email: str) -> AsyncIterator[Call]:
    app = "journal"
    invited = await ada.call(app, "invite a coach", "POST", "/journal/links", {"coachEmail": email})
    yield invited
    yield await _joined(app, invited, bo)
    body = {"sections": {"shared": SESSION, "private": "The left knee again."}, "sessionMetrics": METRICS}
    entry = await ada.call(app, "write an entry", "POST", "/journal/entries", body)
    yield entry
    at = f"/journal/entries/{entry.data['entryId']}"
    yield await ada.call(app, "my entries", "GET", "/journal/entries")
    yield await ada.call(app, "read an entry", "GET", at)
    yield await bo.call(app, "comment", "POST", f"{at}/comments", {"body": "Hips first, then the grip."})
    yield await ada.call(app, "read comments", "GET", f"{at}/comments")
    yield await ada.call(app, "search", "GET", "/journal/search?q=armbar")
    yield await ada.call(app, "statistics", "GET", "/journal/stats")
    thread = await ada.call(app, "begin a conversation", "POST", "/journal/ai/threads", {"scope": "private"})
    yield thread
    messages = f"/journal/ai/threads/{thread.data['threadId']}/messages"
    yield await ada.call(app, "ask", "POST", messages, {"content": "armbar"})


async def _shareables(visitor: _Person, ada: _Person, bo: _Person, email: str) -> AsyncIterator[Call]:
    app = "shareables"
    body: dict[str, Any] = {"name": "Picnic", "entity": "checklist", "items": [{"name": "Salad"}, {"name": "Bread"}]}
    made = await ada.call(app, "make a checklist", "POST", "/shareables", body)
    yield made
    at = f"/shareables/{made.data['shortId']}"
    maker = _Person(ada._client, made.data["adminToken"])
    seen = await maker.call(app, "look at a checklist", "GET", at)
    yield seen
    item = seen.data["items"][0]
    ticked = {"done": True, "version": item["version"]}
    yield await maker.call(app, "tick", "PATCH", f"{at}/items/{item['checklistItemId']}", ticked)
    yield await maker.call(app, "add an item", "POST", f"{at}/items", {"name": "Lemonade"})
    poll = {"name": "Which day?", "entity": "poll", "candidates": ["Saturday", "Sunday"]}
    made = await ada.call(app, "make a poll", "POST", "/shareables", poll)
    yield made
    at = f"/shareables/{made.data['shortId']}"
    voter = _Person(ada._client, made.data["adminToken"])
    yield await voter.call(app, "the first vote", "POST", f"{at}/votes", {"rankings": ["Sunday"]})
    guest = _Person(ada._client, made.data["adminToken"])
    yield await guest.call(app, "vote", "POST", f"{at}/votes", {"rankings": ["Saturday"]})
    yield await voter.call(app, "results", "GET", f"{at}/results")
    yield await ada.call(app, "my shareables", "GET", "/shareables")
    yield await voter.call(app, "delete a poll", "DELETE", at)
