"""One browser that several people use, one after the other: who finds a vote or a poll that was given there."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.apps.polls.doors import CANDIDATES, FROM_HERE, Calls, calls_on, data
from tests.web.suites import PASSWORD, signed_up

# What happens at the browser, with the vote or the poll somewhere in it, and whether it is found there afterwards.
ORDERS = {
    "given": True,
    "given, ada signs in": True,
    "given, ada signs in, signs out": False,
    "given, ada signs in, signs out, ben signs in": False,
    "given, ada signs in, signs out, ada signs in": True,
    "given, ada signs in, ben signs in": False,
    "given, ada signs in, the session expires": False,
    "given, ada signs in, the session expires, ben signs in": False,
    "given, ada signs up": True,
    "given, ada signs up, signs out": False,
    "ada signs in, given": True,
    "ada signs in, given, signs out": False,
    "ada signs in, given, signs out by a program": False,
    "ada signs in, given, signs out, ben signs in": False,
    "ada signs in, given, signs out, ada signs in": True,
    "ada signs in, given, ben signs in": False,
    "ada signs in, given, ben signs in, signs out, ada signs in": True,
    "ada signs in, given, the session expires": False,
    "ada signs in, given, the session expires, ben signs in": False,
    "ada signs in, given, the session is ended elsewhere": False,
    "ada signs in, given, the session is ended elsewhere, ben signs in": False,
    "ada signs in, given, the cookie of the session is lost": False,
    "ada signs in, given, the password is changed": True,
    "ada signs in, given, the account is deleted": False,
    "ada signs in, signs out, given, ben signs in, signs out, ada signs in": False,
}


@pytest.fixture
async def calls(tmp_path: Path) -> AsyncIterator[Calls]:
    async with calls_on(tmp_path) as calls:
        yield calls


class Device:
    """A browser, and what its people do with it."""

    def __init__(self, calls, browser, number, poll, code=None):
        self.calls, self.browser = calls, browser
        self.number = number
        self.admin_key, self.poll = poll["adminKey"], f"/polls/{poll['id']}"
        self.code = {} if code is None else {"code": code}

    def address_of(self, who):
        return f"{who}{self.number}@example.org"

    async def send(self, path, **fields):
        answer = await self.browser.post(path, data=fields, headers=FROM_HERE)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    async def text(self, path):
        return (await self.browser.get(path, headers={"accept": "text/html"})).text

    async def does(self, step):
        match step.split(maxsplit=1):
            case [who, "signs in"]:
                await self.send("/sign-in", email=self.address_of(who), password=PASSWORD)
            case [who, "signs up"]:
                await self.send("/sign-up", email=self.address_of(f"new-{who}"), name=who, password=PASSWORD)
            case ["signs", "out"]:
                await self.send("/sign-out")
            case ["signs", "out by a program"]:
                assert (await self.browser.delete("/api/v1/sessions/current", headers=FROM_HERE)).status_code == 204
            case ["the", "session expires"]:
                self.calls.clock.forward(days=31)
            case ["the", "session is ended elsewhere"]:
                said = {"email": self.address_of("ada"), "password": PASSWORD}
                elsewhere = data(await self.calls.ask("POST", "/sessions", said), 201)
                await self.calls.ask("POST", "/me/sessions/end-others", by=elsewhere)
            case ["the", "cookie of the session is lost"]:
                self.browser.cookies.delete("potluck")
            case ["the", "password is changed"]:
                await self.send("/account/password", current=PASSWORD, new="battery staple")
            case ["the", "account is deleted"]:
                await self.send("/account/delete", password=PASSWORD, sure="true")
            case _:
                raise AssertionError(step)

    async def votes(self):
        await self.text(self.poll)
        await self.send(f"{self.poll}/vote", **{"rank-1": "1"}, **self.code)

    async def shows_vote(self, found):
        assert ("Change vote" in await self.text(self.poll)) is found
        # Only who has voted sees them.
        assert ((await self.browser.get(f"{self.poll}/results")).status_code == 200) is found
        if not found:
            assert (await self.browser.get(f"{self.poll}/thanks")).status_code == 303
            await self.send(f"{self.poll}/vote/change", **{"rank-3": "1"})
            await self.send(f"{self.poll}/vote/withdraw")
        counted = data(await self.calls.ask("GET", f"{self.poll}/results", x_admin_key=self.admin_key))
        assert (counted["votes"], counted["winners"]) == (1, [CANDIDATES[0]])

    async def takes_key(self):
        await self.send(f"{self.poll}/manage", key=self.admin_key)

    async def shows_poll(self, found):
        assert ("Close the poll" in await self.text(f"{self.poll}/manage")) is found
        closed = await self.browser.post(f"{self.poll}/close", headers=FROM_HERE)
        assert (closed.status_code == 303) is found


GIVEN = {
    "a vote": ("open", Device.votes, Device.shows_vote),
    "a vote by code": ("codes", Device.votes, Device.shows_vote),
    "a vote of an account": ("accounts", Device.votes, Device.shows_vote),
    "the key of a poll": ("open", Device.takes_key, Device.shows_poll),
}


@pytest.mark.parametrize("thing", GIVEN)
async def test_what_somebody_was_given_is_found_by_them_alone(calls, thing):
    policy, give, check = GIVEN[thing]
    wrong = []
    for number, (order, found) in enumerate(ORDERS.items()):
        if policy == "accounts" and not order.startswith("ada signs in, given"):
            continue
        # Nobody here signs in too often.
        calls.clock.forward(hours=1)
        for name in ("ada", "ben"):
            await signed_up(calls.client, f"{name}{number}@example.org", name)
        poll = await calls.poll(voterPolicy=policy, resultsVisibility="afterVote")
        code = None
        if policy == "codes":
            said = await calls.ask("POST", f"/polls/{poll['id']}/codes", {"count": 1}, x_admin_key=poll["adminKey"])
            (code,) = data(said, 201)["codes"]
        async with calls.browser() as browser:
            device = Device(calls, browser, number, poll, code)
            for step in order.split(", "):
                await (give(device) if step == "given" else device.does(step))
            try:
                await check(device, found)
            except AssertionError:
                wrong.append(order)
    assert wrong == []


async def test_a_cookie_is_no_key_that_could_be_taken_elsewhere(calls):
    """Whoever sits at the device can read its cookies, and try them at another door."""
    async with calls.browser() as browser:
        device = Device(calls, browser, 0, await calls.poll())
        await device.votes()
        await device.takes_key()
        values = [each.value for each in browser.cookies.jar]
        assert len(values) >= 4
        assert not any(key in value for value in values for key in ("pla_", "ple_", "plv_", device.admin_key[4:]))
