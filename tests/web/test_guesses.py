"""Ids, codes and links of nothing: whoever tries many is slowed down, and what exists is open to everybody."""

import itertools
from uuid import uuid4

import pytest

from potluck.web.rate_limits import GUESSES, SIGNED_IN_TIMES
from tests.apps.shareables.doors import calls_on
from tests.web.suites import API, bearer

FROM_PAGE = {"sec-fetch-site": "same-origin"}
SECRETS = (f"{number:064x}" for number in itertools.count())
SHORT_IDS = (f"zzz-zzz-{number:05}" for number in itertools.count())


@pytest.fixture
async def calls(tmp_path):
    async with calls_on(tmp_path) as calls:
        yield calls


async def poll_with_codes(calls):
    new = {"title": "Where to?", "candidates": ["Sea", "Hut"], "voterPolicy": "codes"}
    return await calls.data("POST", "/polls", new, 201)


def vote(code):
    return {"rankings": ["Sea"], "code": code}


async def guess_short_id(client, calls, poll):
    return await client.get(f"{API}/shareables/{next(SHORT_IDS)}")


async def guess_stream(client, calls, poll):
    return await client.get(f"{API}/shareables/{next(SHORT_IDS)}/events")


async def guess_passcode(client, calls, poll):
    return await client.post(f"{API}/shareables/{next(SHORT_IDS)}/sessions", json={"passcode": "lemonade"})


async def guess_page(client, calls, poll):
    return await client.get(f"/shareables/{next(SHORT_IDS)}")


async def guess_unlock_page(client, calls, poll):
    return await client.get(f"/shareables/{next(SHORT_IDS)}/unlock")


async def guess_in_the_box(client, calls, poll):
    return await client.post("/shareables/open", data={"id": next(SHORT_IDS)}, headers=FROM_PAGE)


async def guess_poll(client, calls, poll):
    return await client.get(f"{API}/polls/{uuid4()}")


async def guess_poll_page(client, calls, poll):
    return await client.get(f"/polls/{uuid4()}")


async def guess_code(client, calls, poll):
    return await client.post(f"{API}/polls/{poll['id']}/votes", json=vote(next(SECRETS)[-10:]))


async def guess_invitation(client, calls, poll):
    return await client.post(f"{API}/invitations/look", json={"token": f"pli_{next(SECRETS)}"})


async def guess_invitation_on_its_page(client, calls, poll):
    return await client.post("/invitation", data={"invitation": f"pli_{next(SECRETS)}"}, headers=FROM_PAGE)


async def guess_reset(client, calls, poll):
    body = {"token": f"plr_{next(SECRETS)}", "new": "quite another one"}
    return await client.post(f"{API}/password-resets", json=body)


async def guess_reset_on_its_page(client, calls, poll):
    body = {"token": f"plr_{next(SECRETS)}", "new": "quite another one"}
    return await client.post("/reset", data=body, headers=FROM_PAGE)


EVERY_GUESS = [
    guess_short_id,
    guess_stream,
    guess_passcode,
    guess_page,
    guess_unlock_page,
    guess_in_the_box,
    guess_poll,
    guess_poll_page,
    guess_code,
    guess_invitation,
    guess_invitation_on_its_page,
    guess_reset,
    guess_reset_on_its_page,
]


@pytest.mark.parametrize("guess", EVERY_GUESS)
async def test_a_client_guesses_only_so_often_and_what_exists_is_open_to_all(calls, guess):
    made, poll = await calls.made(), await poll_with_codes(calls)
    told = await calls.data("POST", f"/polls/{poll['id']}/codes", {"count": 1}, 201, x_admin_key=poll["adminKey"])
    async with calls.from_address("192.0.2.7") as theirs, calls.from_address("192.0.2.8") as others:
        answers = [await guess(theirs, calls, poll) for _ in range(GUESSES.amount)]
        assert {each.status_code for each in answers} <= {403, 404, 410, 422}, answers[0].text
        refused = await guess(theirs, calls, poll)
        assert refused.status_code == 429
        assert 0 < int(refused.headers["retry-after"]) <= GUESSES.per.total_seconds()
        assert (await guess(others, calls, poll)).status_code == answers[0].status_code
        # Behind the same address, someone has the link, or the code.
        for path in (
            f"{API}/shareables/{made['shortId']}",
            f"/shareables/{made['shortId']}",
            f"{API}/polls/{poll['id']}",
        ):
            assert (await theirs.get(path)).status_code == 200
        assert (await theirs.get(f"{API}/polls/{poll['id']}")).status_code == 200
        opened = await theirs.post("/shareables/open", data={"id": made["shortId"]}, headers=FROM_PAGE)
        assert opened.status_code == 303
        # The page has set cookies, with which a program's calls would be refused.
        theirs.cookies.clear()
        assert (await theirs.post(f"{API}/polls/{poll['id']}/votes", json=vote(*told["codes"]))).status_code == 201
        calls.clock.forward(minutes=1)
        assert (await guess(theirs, calls, poll)).status_code == answers[0].status_code


async def test_all_kinds_of_guesses_count_together(calls):
    poll = await poll_with_codes(calls)
    async with calls.from_address("192.0.2.7") as theirs:
        for guess in itertools.islice(itertools.cycle(EVERY_GUESS), GUESSES.amount):
            assert (await guess(theirs, calls, poll)).status_code != 429
        for guess in EVERY_GUESS:
            assert (await guess(theirs, calls, poll)).status_code == 429


async def test_someone_signed_in_is_counted_by_account_and_may_be_wrong_more_often(calls):
    ada = await calls.person()
    async with calls.from_address("192.0.2.7") as theirs:
        for _ in range(GUESSES.amount + 1):
            await guess_poll(theirs, calls, None)
        assert (await guess_poll(theirs, calls, None)).status_code == 429
        answer = await theirs.get(f"{API}/polls/{uuid4()}", headers=bearer(ada))
        assert answer.status_code == 404
    assert SIGNED_IN_TIMES > 1
