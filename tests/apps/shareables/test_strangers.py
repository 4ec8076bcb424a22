"""What whoever has no account may take: so many shareables an hour, long ones for more; and nobody else is kept out."""

import asyncio

from potluck.apps.shareables import creation
from potluck.apps.shareables.shareables import shareables
from potluck.web.rate_limits import RateLimit
from tests.apps.shareables.doors import data, problem
from tests.web.suites import ask

SHORT = {"entity": "checklist", "name": "A"}


async def laid_out(client, body=SHORT, **options):
    return await ask(client, "POST", "/shareables", body, **options)


async def test_a_client_lays_out_so_many_an_hour_and_others_go_on(calls):
    most = creation.SHAREABLES.amount
    # As many as a hundred items with notes take: each counts for several.
    long = {**SHORT, "items": [{"name": "x" * 200, "note": "y" * 2000} for _ in range(90)]}
    weight = 1 + 90 * 2200 // creation.CHARACTERS_OF_ONE
    for _ in range(most // weight):
        data(await laid_out(calls.client, long), 201)
    left = most % weight
    answers = await asyncio.gather(*(laid_out(calls.client) for _ in range(left + 5)))
    assert sorted(each.status_code for each in answers) == [201] * left + [429] * 5
    refused = await laid_out(calls.client)
    assert problem(refused, 429, "throttled")
    assert int(refused.headers["retry-after"]) >= 1
    async with calls.from_address("192.0.2.7") as elsewhere:
        data(await laid_out(elsewhere), 201)
    ada = await calls.person()
    data(await laid_out(calls.client, by=ada), 201)
    calls.clock.forward(hours=1)
    data(await laid_out(calls.client), 201)


async def test_who_has_laid_out_all_they_may_still_deletes(calls):
    made = await calls.made()
    refused = None
    while refused is None or refused.status_code == 201:
        refused = await laid_out(calls.client)
    problem(refused, 429, "throttled")
    data(await calls.ask("DELETE", f"/shareables/{made['shortId']}", by=made["adminToken"]), 204)


def test_every_action_of_shareables_that_makes_something_has_a_rate_limit():
    assert isinstance(creation.CLONES, RateLimit)
    declared = {each.rule.__name__: each for each in shareables.declared}
    assert declared["create_shareable"].rate_limit is creation.SHAREABLES
    assert declared["clone_shareable"].rate_limit is creation.CLONES
    assert declared["delete_shareable"].frees_room
