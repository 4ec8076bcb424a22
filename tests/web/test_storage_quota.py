"""The store refuses strangers first, long before it is full, and never what frees room."""

from uuid import uuid4

import pytest

from potluck.people.errors import NoRoom
from potluck.settings import Settings
from potluck.web import storage_quota as quota_module
from potluck.web.storage_quota import MB, Measured, StorageQuota, storage_quota_of
from tests.apps.polls.doors import CANDIDATES, FROM_HERE, Calls, calls_on, data, problem
from tests.web.suites import PASSWORD

BUDGET = 1_000 * MB
PLENTY = 100_000 * MB


def refused(quota: StorageQuota) -> tuple[bool, bool]:
    """Whether strangers are, and whether people who are signed in are."""

    def is_refused(stranger: bool) -> bool:
        try:
            quota.must_have_room(stranger=stranger)
        except NoRoom:
            return True
        return False

    return is_refused(True), is_refused(False)


@pytest.mark.parametrize(
    ("used", "free", "disk", "expected"),
    [
        (0, PLENTY, PLENTY, (False, False)),
        (499 * MB, PLENTY, PLENTY, (False, False)),
        (500 * MB, PLENTY, PLENTY, (True, False)),
        (999 * MB, PLENTY, PLENTY, (True, False)),
        (1_000 * MB, PLENTY, PLENTY, (True, True)),
        (0, 999 * MB, PLENTY, (True, False)),
        (0, 199 * MB, PLENTY, (True, True)),
        # On a small disk a part of it: one with 1 GB in all would take nothing of anybody.
        (0, 500 * MB, 1_000 * MB, (False, False)),
        (0, 99 * MB, 1_000 * MB, (True, False)),
        (0, 19 * MB, 1_000 * MB, (True, True)),
    ],
)
def test_strangers_are_refused_first(used, free, disk, expected):
    assert refused(StorageQuota(BUDGET, lambda: Measured(used, free, disk))) == expected


def test_it_is_measured_now_and_then_and_not_for_every_write():
    measured, now = [], [0.0]

    def measure() -> Measured:
        measured.append(now[0])
        return Measured(0, PLENTY, PLENTY)

    quota = StorageQuota(BUDGET, measure, lambda: now[0])
    for now[0] in (0.0, 0.5, 0.9, 1.0, 1.5):
        quota.must_have_room(stranger=True)
    assert measured == [0.0, 1.0]


def test_a_store_that_is_not_here_is_not_measured(tmp_path):
    assert refused(storage_quota_of(Settings(data=tmp_path), object())) == (False, False)


@pytest.fixture
async def calls(tmp_path):
    async with calls_on(tmp_path) as calls:
        yield calls


async def test_what_is_written_is_measured(calls: Calls):
    quota = storage_quota_of(calls.application.state.settings, calls.engine)
    assert quota._measure is not None
    before = quota._measure().used
    poll = await calls.poll(voterPolicy="codes")
    admin = {"X_Admin_Key": poll["adminKey"]}
    data(await calls.ask("POST", f"/polls/{poll['id']}/codes", {"count": 1000}, **admin), 201)
    assert quota._measure().used > before + 100_000


def fill(calls: Calls, monkeypatch: pytest.MonkeyPatch, used: float) -> None:
    """From now on the store is so full, as a part of its budget."""
    quota: StorageQuota = calls.application.state.core.storage_quota
    budget = calls.application.state.settings.store_budget
    monkeypatch.setattr(quota, "_measure", lambda: Measured(int(used * budget), PLENTY, PLENTY))
    monkeypatch.setattr(quota_module, "MEASURED_EVERY_SECONDS", 0.0)


async def test_when_half_is_used_strangers_write_no_more_and_others_do(calls: Calls, monkeypatch):
    poll, ada = await calls.poll(), await calls.person()
    vote = await calls.vote(poll)
    fill(calls, monkeypatch, 0.6)
    new = {"title": "Where to?", "candidates": CANDIDATES}
    before = await calls.rows()
    full = await calls.ask("POST", "/polls", new)
    told = problem(full, 503, "no-room")
    assert int(full.headers["retry-after"]) > 0
    assert "not signed in" in told["detail"]
    problem(await calls.ask("POST", f"/polls/{poll['id']}/votes", {"rankings": CANDIDATES}), 503, "no-room")
    account = {"email": "ben@example.org", "password": PASSWORD, "name": "Ben"}
    problem(await calls.ask("POST", "/accounts", account), 503, "no-room")
    assert await calls.rows() == before
    # They read, and delete what is theirs.
    data(await calls.ask("GET", f"/polls/{poll['id']}/results"))
    data(await calls.ask("DELETE", f"/polls/{poll['id']}/votes/{vote['id']}", X_Edit_Key=vote["editKey"]), 204)
    data(await calls.ask("DELETE", f"/polls/{poll['id']}", X_Admin_Key=poll["adminKey"]), 204)
    # Whoever has an account signs in and goes on.
    signed_in = data(await calls.ask("POST", "/sessions", {"email": ada["email"], "password": PASSWORD}), 201)
    data(await calls.ask("POST", "/polls", new, by=signed_in), 201)


async def test_when_all_is_used_people_can_still_sign_in_delete_and_leave(calls: Calls, monkeypatch):
    ada = await calls.person()
    poll = await calls.poll(by=ada)
    fill(calls, monkeypatch, 1.0)
    new = {"title": "Where to?", "candidates": CANDIDATES}
    problem(await calls.ask("POST", "/polls", new, by=ada), 503, "no-room")
    again = data(await calls.ask("POST", "/sessions", {"email": ada["email"], "password": PASSWORD}), 201)
    data(await calls.ask("DELETE", f"/polls/{poll['id']}", by=again), 204)
    data(await calls.ask("POST", "/me/delete", {"password": PASSWORD}, by=again), 204)


async def test_when_all_is_used_people_can_still_lock_others_out(calls: Calls, monkeypatch):
    ada = await calls.person()
    token = data(await calls.ask("POST", "/me/tokens", {"name": "Clock"}, by=ada), 201)
    fill(calls, monkeypatch, 1.0)
    change = {"current": PASSWORD, "new": "battery staple"}
    assert data(await calls.ask("PUT", "/me/password", change, by=ada)) == {"tokensLeft": 0}
    data(await calls.ask("GET", "/me", by=token), 401)


async def test_when_all_is_used_the_pages_of_the_account_take_no_more_either(calls: Calls, monkeypatch):
    ada = await calls.person()
    async with calls.browser() as browser:
        said = {"email": ada["email"], "password": PASSWORD}
        assert (await browser.post("/sign-in", data=said, headers=FROM_HERE)).status_code == 303
        fill(calls, monkeypatch, 1.0)
        before = await calls.rows()
        forms = {
            "tokens": {"name": "Clock", "key": str(uuid4())},
            "name": {"name": "Ada, Countess of Lovelace", "version": "1"},
            "email": {"email": "countess@example.org", "password": PASSWORD},
        }
        for form, filled in forms.items():
            refused = await browser.post(f"/account/{form}", data=filled, headers=FROM_HERE)
            assert refused.status_code == 503, form
            assert "There is no room for more just now" in refused.text
        assert await calls.rows() == before


async def test_pages_say_so_and_lose_nothing_of_what_was_typed(calls: Calls, monkeypatch):
    fill(calls, monkeypatch, 0.6)
    async with calls.browser() as browser:
        headers = FROM_HERE | {"accept": "text/html"}
        filled = {"title": "Where to, this once?", "candidates": "\n".join(CANDIDATES)}
        refused = await browser.post("/polls", data=filled, headers=headers)
        assert refused.status_code == 503
        assert "There is no room for more just now" in refused.text
        assert "Where to, this once?" in refused.text
        account = {"email": "ben@example.org", "password": PASSWORD, "name": "Ben"}
        refused = await browser.post("/sign-up", data=account, headers=headers)
        assert refused.status_code == 503
        assert "There is no room for more just now" in refused.text
        assert "ben@example.org" in refused.text
