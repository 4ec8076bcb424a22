"""Signing in tells nobody who has an account, and guessing is slow: for a client, and for an account."""

from potluck.people.throttling import REGISTRATIONS, SIGN_INS_FROM, SIGN_INS_TO
from tests.web.people.doors import PASSWORD, doors_on

WRONG = "wrong horse!"


def but_for_the_number(answer):
    body = answer.json()
    assert body.pop("requestId") == answer.headers["x-request-id"]
    headers = {name: value for name, value in answer.headers.items() if name != "x-request-id"}
    return answer.status_code, body, headers


async def test_a_wrong_password_and_an_unknown_address_are_answered_alike(doors):
    await doors.join()
    wrong = await doors.sign_in(password=WRONG)
    unknown = await doors.sign_in("nobody@example.org")
    no_address = await doors.sign_in("nobody")
    assert but_for_the_number(wrong) == but_for_the_number(unknown) == but_for_the_number(no_address)
    assert (wrong.status_code, wrong.json()["type"]) == (401, "/problems/wrong-credentials")
    assert len(wrong.content) == len(unknown.content)


async def test_a_client_that_guesses_is_throttled_and_the_right_person_elsewhere_gets_in(doors):
    await doors.join()
    for _ in range(SIGN_INS_FROM.amount):
        assert (await doors.sign_in(password=WRONG)).status_code == 401
    refused = await doors.sign_in()
    assert (refused.status_code, refused.json()["type"]) == (429, "/problems/throttled")
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    async with doors.elsewhere("192.0.2.7") as elsewhere:
        assert (await doors.sign_in(at=elsewhere)).status_code == 201
    doors.clock.forward(seconds=int(refused.headers["retry-after"]))
    assert (await doors.sign_in()).status_code == 201


async def test_a_forged_address_does_not_get_round_the_throttle(doors):
    await doors.join()
    statuses = [
        (
            await doors.ask(
                "POST",
                "/sessions",
                {"email": "ada@example.org", "password": WRONG},
                x_forwarded_for=f"198.51.100.{each}",
                forwarded=f"for=198.51.100.{each}",
            )
        ).status_code
        for each in range(SIGN_INS_FROM.amount + 3)
    ]
    assert statuses == [401] * SIGN_INS_FROM.amount + [429] * 3


async def test_behind_a_proxy_that_is_believed_each_client_is_counted_and_what_they_forge_is_not(tmp_path):
    from potluck.settings import Settings

    proxies = Settings.from_environment({"POTLUCK_PROXIES": "127.0.0.1"}).proxies
    async with doors_on(tmp_path, proxies=proxies) as doors:
        await doors.join()

        async def guess(forwarded):
            body = {"email": "ada@example.org", "password": WRONG}
            return (await doors.ask("POST", "/sessions", body, x_forwarded_for=forwarded)).status_code

        forged = [await guess(f"198.51.100.{each}, 203.0.113.5") for each in range(SIGN_INS_FROM.amount + 2)]
        assert forged == [401] * SIGN_INS_FROM.amount + [429] * 2
        assert await guess("203.0.113.6") == 401


async def test_an_account_that_many_clients_guess_at_is_slowed_down_and_its_owner_still_gets_in(doors):
    await doors.join()
    statuses = []
    for client in range(SIGN_INS_TO.amount // 10):
        async with doors.elsewhere(f"198.51.100.{client}") as guesser:
            statuses += [(await doors.sign_in(password=WRONG, at=guesser)).status_code for _ in range(10)]
    assert set(statuses) == {401}
    async with doors.elsewhere("198.51.100.200") as another:
        slowed = [(await doors.sign_in(password=WRONG, at=another)).status_code for _ in range(4)]
    assert slowed == [401, 401, 429, 429]
    async with doors.elsewhere("192.0.2.7") as elsewhere:
        assert (await doors.sign_in(at=elsewhere)).status_code == 201


async def test_one_client_registers_only_so_many(doors):
    async def register(each):
        body = {"email": f"{each}@example.org", "password": PASSWORD, "name": "Ada"}
        return (await doors.ask("POST", "/accounts", body)).status_code

    statuses = [await register(each) for each in range(REGISTRATIONS.amount + 1)]
    assert statuses == [201] * REGISTRATIONS.amount + [429]
