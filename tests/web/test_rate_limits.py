"""How much one caller may do."""

from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID, uuid4

import pytest

from potluck.people.authentication import Principal
from potluck.people.errors import Throttled
from potluck.people.secrets import new_id
from potluck.people.throttling import RateLimit
from potluck.table import Entity, Table, get, put
from potluck.validation.field_types import Integer, Text
from potluck.web.access import Anyone, SignedIn, Visitor
from potluck.web.actions import Actions
from potluck.web.app import App
from potluck.web.endpoints import Call, Endpoints
from potluck.web.http.responses import redirect
from potluck.web.inputs import Input
from potluck.web.openapi import calls_of
from potluck.web.rate_limits import DEFAULT_LIMIT, FORMS, SIGNED_IN_TIMES, RateLimiter
from potluck.web.views import View
from potluck.web.writes import Writes
from tests.people.assembly import Clock
from tests.web.suites import app_with, ask, client_at, data, problem, signed_up, suite_on

HIS, HERS = Visitor(client="192.0.2.1"), Visitor(client="192.0.2.2")
THREE = RateLimit("three", 3, timedelta(seconds=30))


@pytest.fixture
def clock() -> Clock:
    return Clock()


def times(limiter: RateLimiter, limit: RateLimit, by: Visitor, most: int = 100) -> int:
    """How often it is allowed at once."""
    for number in range(most):
        try:
            limiter.take(limit, by)
        except Throttled:
            return number
    return most


def test_each_client_has_as_much_and_nobody_else_less(clock):
    limiter = RateLimiter(clock)
    assert (times(limiter, THREE, HIS), times(limiter, THREE, HERS)) == (3, 3)


def test_it_comes_back_little_by_little(clock):
    limiter = RateLimiter(clock)
    times(limiter, THREE, HIS)
    with pytest.raises(Throttled) as refused:
        limiter.take(THREE, HIS)
    assert refused.value.retry_after == 10
    clock.forward(seconds=10)
    assert times(limiter, THREE, HIS) == 1
    clock.forward(days=1)
    assert times(limiter, THREE, HIS) == 3


def test_what_was_refused_does_not_count(clock):
    limiter = RateLimiter(clock)
    times(limiter, THREE, HIS)
    for _ in range(50):
        with pytest.raises(Throttled):
            limiter.take(THREE, HIS)
    clock.forward(seconds=10)
    limiter.take(THREE, HIS)


def test_what_makes_many_counts_as_many_and_what_shares_a_name_shares_the_amount(clock):
    limiter = RateLimiter(clock)
    many = RateLimit("three", 3, timedelta(seconds=30), weight=lambda count: count)
    limiter.take(many, HIS, 2)
    with pytest.raises(Throttled):
        limiter.take(many, HIS, 2)
    assert times(limiter, THREE, HIS) == 1


def person(user_id: UUID) -> Principal:
    return Principal(kind="session", user_id=user_id, name="Ada", hash="", session_epoch=1, expires_at=None)


def test_somebody_who_is_signed_in_has_more_by_their_account_wherever_they_are(clock):
    limiter = RateLimiter(clock)
    ada = person(uuid4())
    times(limiter, THREE, HIS)
    here, there = (Visitor(principal=ada, client=each.client) for each in (HIS, HERS))
    assert times(limiter, THREE, here) == 3 * SIGNED_IN_TIMES
    assert times(limiter, THREE, there) == 0


def test_a_clock_that_is_set_back_locks_nobody_out(clock):
    limiter = RateLimiter(clock)
    times(limiter, THREE, HIS)
    clock.forward(days=-1)
    assert times(limiter, THREE, HIS) == 0
    clock.forward(seconds=10)
    assert times(limiter, THREE, HIS) == 1


def test_it_remembers_only_so_many(clock):
    limiter = RateLimiter(clock, most_counted=10)
    for number in range(1000):
        times(limiter, THREE, Visitor(client=f"192.0.2.{number}"))
    assert len(limiter._whole_at) == 10
    # Those that were seen last are those that it knows.
    assert times(limiter, THREE, Visitor(client="192.0.2.999")) == 0


# --- by declaration ---------------------------------------------------------------------------------------------------

wall = Table("Wall", "PK", "SK", type_attribute="type")


class Note(Entity, table=wall, type="Note", key=("NOTE#{note_id}", "NOTE")):
    note_id: UUID
    text: Annotated[str, Text(1, 20, "Text must have 1 to 20 characters", kind="raw")]

    @get(consistent=True)
    def by_id(note_id: UUID) -> None:
        """What does it say?"""


class NewNote(Input):
    text: Annotated[str, Text(1, 20, "Text must have 1 to 20 characters", kind="raw")]


class Letters(Input):
    count: Annotated[int, Integer(1, 100, "1 to 100")]


class NoteView(View[Note]):
    note_id: UUID
    text: str


class Anybody(Anyone):
    """Anybody."""

    note_id: UUID


notes = Actions(Anybody, Note.by_id, NoteView, api="/wall", page="/wall", tag="Wall")


@notes.create()
async def pin(at: Anyone, new: NewNote) -> Writes[Note]:
    """Pin a note; nobody has to be signed in."""
    note = Note(note_id=new_id(), text=new.text)
    return Writes(note, put(note))


@notes.action("POST", "/letters", rate_limit=RateLimit("letters", 100, weight=lambda sent: sent.count))
async def write_letters(at: Anyone, sent: Letters) -> Writes[None]:
    """Write so many letters."""
    return Writes(None)


@notes.action("POST", "/signed")
async def sign(at: SignedIn) -> Writes[None]:
    """Sign it."""
    return Writes(None)


@notes.action("DELETE", "/signed", frees_room=True)
async def take_back(at: SignedIn) -> Writes[None]:
    """Take it back."""
    return Writes(None)


endpoints = Endpoints()


@endpoints.post("/wall/plain")
async def plain(call: Call) -> Any:
    return redirect("/")


def wall_app(core: Any) -> App:
    return app_with("wall", tables=[wall], subjects=[notes], endpoints=[endpoints])(core)


async def test_what_anybody_may_do_has_a_limit_without_saying_so(tmp_path):
    async with suite_on(tmp_path, [wall_app]) as (client, application), client_at(application, "192.0.2.7") as other:
        limiter = application.state.core.rate_limiter
        for _ in range(DEFAULT_LIMIT.amount - 1):
            limiter.take(DEFAULT_LIMIT, Visitor(client="127.0.0.1"))
        data(await ask(client, "POST", "/wall", {"text": "Hello"}), 201)
        refused = await ask(client, "POST", "/wall", {"text": "Hello"})
        problem(refused, 429, "throttled")
        assert int(refused.headers["retry-after"]) > 0
        data(await ask(other, "POST", "/wall", {"text": "Hello"}), 201)
        ada = await signed_up(other)
        data(await ask(client, "POST", "/wall", {"text": "Hello"}, by=ada), 201)


async def test_one_account_writes_only_so_much_and_goes_on_deleting(tmp_path):
    """Where registration is open, an account is no more than a stranger with a name."""
    async with suite_on(tmp_path, [wall_app]) as (client, application):
        ada, bo = [await signed_up(client, f"{name}@example.org", name) for name in ("Ada", "Bo")]
        busy = Visitor(principal=person(UUID(ada["userId"])))
        for _ in range(SIGNED_IN_TIMES * DEFAULT_LIMIT.amount - 1):
            application.state.core.rate_limiter.take(DEFAULT_LIMIT, busy)
        data(await ask(client, "POST", "/wall/signed", by=ada), 204)
        problem(await ask(client, "POST", "/wall/signed", by=ada), 429, "throttled")
        data(await ask(client, "DELETE", "/wall/signed", by=ada), 204)
        data(await ask(client, "POST", "/wall/signed", by=bo), 204)


async def test_an_action_says_how_much_it_is(tmp_path):
    async with suite_on(tmp_path, [wall_app]) as (client, _):
        data(await ask(client, "POST", "/wall/letters", {"count": 60}), 204)
        problem(await ask(client, "POST", "/wall/letters", {"count": 41}), 429, "throttled")
        # What cannot be taken at all is told first, and does not count.
        problem(await ask(client, "POST", "/wall/letters", {"count": 101}), 422, "invalid-fields")
        data(await ask(client, "POST", "/wall/letters", {"count": 40}), 204)


async def test_a_kept_answer_is_given_again_though_there_is_nothing_left(tmp_path):
    async with suite_on(tmp_path, [wall_app]) as (client, _):
        key = str(uuid4())
        sent = ("POST", "/wall/letters", {"count": 100})
        data(await ask(client, *sent, idempotency_key=key), 204)
        data(await ask(client, *sent, idempotency_key=key), 204)
        problem(await ask(client, *sent), 429, "throttled")


async def test_a_plain_endpoint_has_a_limit_as_well(tmp_path):
    async with suite_on(tmp_path, [wall_app]) as (client, application):
        assert (await client.post("/wall/plain")).status_code == 303
        for _ in range(FORMS.amount - 1):
            application.state.core.rate_limiter.take(FORMS, Visitor(client="127.0.0.1"))
        problem(await client.post("/wall/plain"), 429, "throttled")


def test_the_document_says_so_where_it_can_happen():
    told = {call.name: 429 in {each.status for each in call.all_problems} for call in calls_of([notes])}
    assert told == {"pin": True, "writeLetters": True, "sign": True, "takeBack": False}
