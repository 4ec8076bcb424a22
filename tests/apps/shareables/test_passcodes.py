"""Passcodes: shown once, found nowhere, throttled when they are wrong; and the sessions that they open."""

import asyncio
import logging

import pytest

from potluck.apps.shareables import passcodes
from potluck.apps.shareables.passcodes import TRIES_AT, TRIES_FROM
from tests.apps.shareables.doors import ADMIN, VIEW, calls_on, data, problem
from tests.web.suites import ask

WRONG = "not the passcode"


async def unlock(calls, made, passcode, client=None):
    path = f"/shareables/{made['shortId']}/sessions"
    return await ask(client or calls.client, "POST", path, {"passcode": passcode})


async def test_each_passcode_opens_its_role_for_seven_days(calls):
    made = await calls.guarded(expiresInDays=60)
    for passcode, role in ((VIEW, "view"), (ADMIN, "admin")):
        opened = data(await unlock(calls, made, passcode), 201)
        assert (opened["role"], opened["expiresAt"]) == (role, "2040-01-08T12:00:00.000Z")
        assert (await calls.seen(made, opened["token"]))["role"] == role
    token = await calls.token(made)
    calls.clock.forward(days=7, seconds=-1)
    await calls.seen(made, token)
    calls.clock.forward(seconds=1)
    problem(await calls.ask("GET", f"/shareables/{made['shortId']}", by=token), 401, "passcode-needed")


async def test_without_a_view_passcode_the_id_is_enough_to_look(calls):
    made = await calls.made()
    assert (made["viewPasscode"], len(made["adminPasscode"])) == (None, 14)
    seen = await calls.data("GET", f"/shareables/{made['shortId']}")
    assert (seen["role"], seen["asksViewers"]) == ("view", False)
    refused = await calls.ask("DELETE", f"/shareables/{made['shortId']}")
    problem(refused, 401, "passcode-needed")
    assert refused.headers["www-authenticate"] == 'Bearer realm="potluck"'
    assert data(await unlock(calls, made, made["adminPasscode"]), 201)["role"] == "admin"


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"viewPasscode": "short"}, "viewPasscode"),
        ({"adminPasscode": "x" * 129}, "adminPasscode"),
        ({"viewPasscode": "the same", "adminPasscode": " the same "}, "adminPasscode"),
        ({"viewPasscode": "caf\u00e9 au lait", "adminPasscode": "cafe\u0301 au lait"}, "adminPasscode"),
        ({"adminPasscode": "two\nlines"}, "adminPasscode"),
    ],
)
async def test_a_passcode_has_its_bounds_and_the_two_differ(calls, said, field):
    answer = await calls.ask("POST", "/shareables", {"entity": "checklist", "name": "A", **said})
    assert [each["field"] for each in problem(answer, 422, "invalid-fields")["errors"]] == [field]
    assert await calls.rows() == []


async def test_a_new_passcode_is_not_the_other_one(calls):
    made = await calls.guarded()
    path = f"/shareables/{made['shortId']}/passcodes"
    for said, field in (
        ({"view": ADMIN}, "view"),
        ({"admin": VIEW}, "admin"),
        ({"view": "abcdef", "admin": "abcdef"}, "admin"),
    ):
        wrong = problem(await calls.ask("PUT", path, said, by=made["adminToken"]), 422, "invalid-fields")
        assert [each["field"] for each in wrong["errors"]] == [field]
    # Each may become what the other was.
    data(await calls.ask("PUT", path, {"view": ADMIN, "admin": VIEW}, by=made["adminToken"]))
    assert data(await unlock(calls, made, VIEW), 201)["role"] == "admin"


async def test_passcodes_and_tokens_are_told_once_and_found_nowhere(tmp_path, caplog):
    secrets = [VIEW, ADMIN, "another view", "another admin", WRONG]
    with caplog.at_level(logging.DEBUG):
        async with calls_on(tmp_path) as calls:
            key = {"idempotency_key": "5f0c9f2e-9a6a-4f4e-8f5c-1d2f3a4b5c6d"}
            said = {"entity": "checklist", "name": "A", "viewPasscode": VIEW, "adminPasscode": ADMIN}
            made = data(await calls.ask("POST", "/shareables", said, **key), 201)
            assert (made["viewPasscode"], made["adminPasscode"]) == (VIEW, ADMIN)
            secrets += [made["adminToken"], made["adminToken"][4:]]
            again = problem(await calls.ask("POST", "/shareables", said, **key), 409, "already-done")
            generated = await calls.made()
            secrets += [generated["adminPasscode"], await calls.token(made)]
            answers = [
                await unlock(calls, made, WRONG),
                await calls.ask("GET", f"/shareables/{made['shortId']}", by=made["adminToken"]),
                await calls.ask(
                    "PUT",
                    f"/shareables/{made['shortId']}/passcodes",
                    {"view": "another view", "admin": "another admin"},
                    by=made["adminToken"],
                ),
            ]
            assert again["made"] == made["shortId"]
            for answer in answers:
                assert not any(secret in answer.text for secret in secrets), answer.text
                assert "argon2" not in answer.text
    stored = contents_of(tmp_path)
    assert b"$argon2id$" in stored
    for secret in secrets:
        assert secret not in caplog.text
        assert secret.encode() not in stored, secret


def contents_of(folder):
    """The bytes of every file."""
    return b"".join(each.read_bytes() for each in folder.rglob("*") if each.is_file())


async def test_a_replaced_passcode_ends_its_own_sessions_at_once_and_no_others(calls):
    made = await calls.guarded()
    path = f"/shareables/{made['shortId']}"
    viewers = [await calls.token(made, VIEW) for _ in range(2)]
    admins = [made["adminToken"], await calls.token(made, ADMIN)]
    await calls.data("PUT", f"{path}/passcodes", {"view": "another one"}, by=admins[0])
    for token in viewers:
        problem(await calls.ask("GET", path, by=token), 401, "passcode-needed")
    for token in admins:
        await calls.seen(made, token)
    viewer = await calls.token(made, "another one")
    await calls.data("PUT", f"{path}/passcodes", {"admin": "another admin"}, by=admins[1])
    for token in admins:
        problem(await calls.ask("GET", path, by=token), 401, "passcode-needed")
    await calls.seen(made, viewer)
    # The same passcode, set again, is another: who had it has to give it again.
    admin = await calls.token(made, "another admin")
    await calls.data("PUT", f"{path}/passcodes", {"view": "another one"}, by=admin)
    problem(await calls.ask("GET", path, by=viewer), 401, "passcode-needed")
    # Without one, whoever has the id looks.
    await calls.data("PUT", f"{path}/passcodes", {"view": None}, by=admin)
    assert (await calls.data("GET", path))["role"] == "view"


async def test_a_write_that_met_a_new_passcode_is_not_done(tmp_path):
    from tests.apps.worlds import Meanwhile

    async with calls_on(tmp_path, wrap=Meanwhile) as calls:
        made = await calls.guarded()
        path = f"/shareables/{made['shortId']}"
        (item, _) = (await calls.seen(made))["items"]
        viewer, admin = await calls.token(made), await calls.token(made, ADMIN)

        async def replace():
            await calls.data("PUT", f"{path}/passcodes", {"view": "another one", "admin": "and another"}, by=admin)

        calls.engine.first = replace
        tick = {"done": True, "version": 1}
        refused = await calls.ask("PATCH", f"{path}/items/{item['checklistItemId']}", tick, by=viewer)
        problem(refused, 401, "passcode-needed")
        again = await calls.token(made, "and another")
        assert not any(each["done"] for each in (await calls.seen(made, again))["items"])


# --- guessing ---------------------------------------------------------------------------------------------------------


async def test_wrong_tries_of_a_client_are_few_and_say_how_many_are_left(calls):
    made = await calls.guarded()
    for left in range(TRIES_FROM.amount - 1, -1, -1):
        wrong = problem(await unlock(calls, made, WRONG), 401, "wrong-passcode")
        assert (wrong["triesLeft"], wrong["detail"]) == (left, "That is not one of the two passcodes")
    throttled = await unlock(calls, made, VIEW)
    problem(throttled, 429, "throttled")
    assert int(throttled.headers["retry-after"]) == 60
    # Whoever is in stays in, and another client has tries of its own.
    await calls.seen(made)
    async with calls.from_address("192.0.2.9") as elsewhere:
        data(await unlock(calls, made, VIEW, elsewhere), 201)
    calls.clock.forward(minutes=1)
    data(await unlock(calls, made, VIEW), 201)


async def test_right_tries_are_not_counted(calls):
    made = await calls.guarded()
    for _ in range(3 * TRIES_FROM.amount):
        data(await unlock(calls, made, VIEW), 201)


async def test_wrong_tries_at_one_shareable_from_everywhere_are_counted_more_slowly(calls, monkeypatch):
    monkeypatch.setattr(passcodes, "TRIES_AT", passcodes.RateLimit("unlock", 6, TRIES_AT.per))
    made, other = await calls.guarded(), await calls.guarded()
    for number in range(6):
        async with calls.from_address(f"192.0.2.{number}") as client:
            problem(await unlock(calls, made, WRONG, client), 401, "wrong-passcode")
    async with calls.from_address("192.0.2.77") as client:
        # The right person, at a client of their own, is not locked out.
        assert problem(await unlock(calls, made, WRONG, client), 401, "wrong-passcode")["triesLeft"] == 1
        data(await unlock(calls, made, VIEW, client), 201)
        problem(await unlock(calls, made, WRONG, client), 401, "wrong-passcode")
        problem(await unlock(calls, made, WRONG, client), 429, "throttled")
        problem(await unlock(calls, other, WRONG, client), 401, "wrong-passcode")
    await calls.seen(made)


async def test_many_who_come_at_once_behind_one_address_are_not_taken_for_one_who_guesses(calls):
    made = await calls.guarded()
    for _ in range(TRIES_FROM.amount - 1):
        problem(await unlock(calls, made, WRONG), 401, "wrong-passcode")
    answers = await asyncio.gather(*(unlock(calls, made, VIEW) for _ in range(60)))
    assert {each.status_code for each in answers} == {201}
    problem(await unlock(calls, made, WRONG), 401, "wrong-passcode")
    problem(await unlock(calls, made, VIEW), 429, "throttled")


async def test_tries_at_once_are_counted_before_they_are_looked_at(calls):
    made = await calls.guarded()
    answers = await asyncio.gather(*(unlock(calls, made, WRONG) for _ in range(30)))
    assert sorted(each.status_code for each in answers) == [401] * TRIES_FROM.amount + [429] * (30 - TRIES_FROM.amount)


@pytest.mark.parametrize("guarded", [True, False])
async def test_a_wrong_passcode_costs_the_same_whatever_there_is(calls, guarded):
    made = await (calls.guarded() if guarded else calls.made())
    calls.hasher.computed.clear()
    await unlock(calls, made, WRONG)
    assert calls.hasher.computed == ["verify", "verify"]
    calls.hasher.computed.clear()
    await unlock(calls, made, "x")
    assert calls.hasher.computed == ["verify", "verify"]


async def test_a_try_is_counted_though_it_has_a_key(calls):
    made = await calls.guarded()
    path, key = f"/shareables/{made['shortId']}/sessions", "5f0c9f2e-9a6a-4f4e-8f5c-1d2f3a4b5c6d"
    statuses = [(await calls.ask("POST", path, {"passcode": WRONG}, idempotency_key=key)).status_code for _ in range(6)]
    assert statuses == [401] * 5 + [429]


SPELLINGS = (str.upper, lambda code: code.replace("-", ""), lambda code: f"  {code.replace('-', ' ')} ", str.title)


async def test_a_generated_passcode_opens_in_any_spelling(calls):
    made = await calls.made()
    for spelled in SPELLINGS:
        assert data(await unlock(calls, made, spelled(made["adminPasscode"])), 201)["role"] == "admin"
    # As someone reads it from a note: o for 0, i or l for 1; and as a Japanese keyboard types it.
    alike = made["adminPasscode"].replace("0", "O").replace("1", "l")
    assert data(await unlock(calls, made, alike), 201)["role"] == "admin"
    wide = made["adminPasscode"].translate({ord(sign): ord(sign) + 0xFEE0 for sign in passcodes.ALPHABET})
    assert data(await unlock(calls, made, wide), 201)["role"] == "admin"


async def test_a_passcode_that_a_person_chose_opens_only_as_they_chose_it(calls):
    made = await calls.made(adminPasscode="Trestle Table")
    for typed in ("trestle table", "TrestleTable"):
        problem(await unlock(calls, made, typed), 401, "wrong-passcode")
    assert data(await unlock(calls, made, "Trestle Table"), 201)["role"] == "admin"


async def test_two_spellings_of_one_generated_passcode_do_not_count_as_two(calls):
    code = "k3mq-9txv-2hd7"
    both = {"entity": "checklist", "name": "A", "viewPasscode": code, "adminPasscode": code.upper()}
    problem(await calls.ask("POST", "/shareables", both), 422, "invalid-fields")
    made = await calls.made(viewPasscode=code)
    changed = {"admin": "K3MQ 9TXV 2HD7"}
    path = f"/shareables/{made['shortId']}/passcodes"
    problem(await calls.ask("PUT", path, changed, by=made["adminToken"]), 422, "invalid-fields")
