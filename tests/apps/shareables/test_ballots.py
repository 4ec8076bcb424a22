"""Polls inside shareables: the rules of polls, behind the shareable's id, passcodes and expiry."""

from uuid import UUID

from potluck.apps.polls.entities import Poll
from potluck.apps.shareables.entities import Shareable
from potluck.store import Store
from tests.apps.shareables.doors import VIEW, data, problem
from tests.patience import until


async def test_it_is_voted_and_counted_behind_its_passcode(calls):
    made = await calls.poll("Lake", "Hut", "Sea", viewPasscode=VIEW, maxRankings=2, note="June")
    path = f"/shareables/{made['shortId']}"
    viewer = await calls.token(made)
    seen = await calls.seen(made, viewer)
    assert "items" not in seen
    assert seen["poll"]["candidates"] == ["Lake", "Hut", "Sea"]
    assert sorted(seen["poll"]["lotOrder"]) == ["Hut", "Lake", "Sea"]
    problem(await calls.ask("POST", f"{path}/votes", {"rankings": ["Hut"]}), 401, "passcode-needed")
    said = {"rankings": ["Hut", "Sea"], "voterKey": "one"}
    vote = await calls.data("POST", f"{path}/votes", said, 201, by=viewer)
    problem(await calls.ask("POST", f"{path}/votes", said, by=viewer), 409, "already-voted")
    too_many = {"rankings": ["Hut", "Sea", "Lake"]}
    problem(await calls.ask("POST", f"{path}/votes", too_many, by=viewer), 422, "invalid-fields")
    await calls.data("POST", f"{path}/votes", {"rankings": ["Lake"]}, 201, by=viewer)
    problem(await calls.ask("PUT", f"{path}/votes/{vote['id']}", {"rankings": ["Sea"]}, by=viewer), 403, "wrong-key")
    changed = await calls.ask(
        "PUT", f"{path}/votes/{vote['id']}", {"rankings": ["Lake"]}, by=viewer, x_edit_key=vote["editKey"]
    )
    assert data(changed)["rankings"] == ["Lake"]
    # The longer a count took, the later is the next.
    calls.clock.forward(minutes=5)
    results = await calls.data("GET", f"{path}/results", by=viewer)
    assert (results["status"], results["votes"], results["winners"]) == ("live", 2, ["Lake"])
    assert (await calls.ask("GET", f"{path}/results.csv", by=viewer)).headers["content-type"].startswith("text/csv")
    assert (await calls.data("GET", f"{path}/ballots?format=json", by=viewer))["ballots"]
    withdrawn = await calls.ask("DELETE", f"{path}/votes/{vote['id']}", by=viewer, x_edit_key=vote["editKey"])
    data(withdrawn, 204)
    calls.clock.forward(minutes=5)

    async def one_is_counted():
        return (await calls.data("GET", f"{path}/results", by=viewer))["votes"] == 1

    # For a count that takes longer than two seconds its reader does not wait.
    await until(one_is_counted)


async def test_under_its_own_address_there_is_none(calls):
    ada = await calls.person()
    made = await calls.poll(by=ada)
    shareable = await Store(calls.engine, calls.clock).one(Shareable.one(made["shortId"]))
    for method, below, body in (
        ("GET", "", None),
        ("GET", "/results", None),
        ("POST", "/votes", {"rankings": ["Hut"]}),
        ("DELETE", "", None),
        ("POST", "/close", None),
    ):
        for by in (None, ada):
            problem(await calls.ask(method, f"/polls/{shareable.poll_id}{below}", body, by=by), 404, "not-found")
    assert (await calls.data("GET", "/polls", by=ada))["items"] == []
    # And a poll that was made there has no place here.
    own = await calls.data("POST", "/polls", {"title": "Own", "candidates": ["A", "B"]}, 201)
    assert (await calls.data("GET", f"/polls/{own['id']}"))["title"] == "Own"


async def test_it_ends_when_the_shareable_does_and_then_its_admins_see_the_result(calls):
    made = await calls.poll(expiresInDays=5)
    path, by = f"/shareables/{made['shortId']}", made["adminToken"]
    await calls.data("POST", f"{path}/votes", {"rankings": ["Hut"]}, 201)
    # Though somebody has voted, it may be open for longer, and be called something else.
    await calls.data("PATCH", path, {"expiresAt": "2040-01-07T12:00:00Z", "name": "Whither?", "version": 1}, by=by)
    store = Store(calls.engine, calls.clock)
    poll_id = (await store.one(Shareable.one(made["shortId"]))).poll_id
    assert isinstance(poll_id, UUID)
    poll = await store.one(Poll.one(poll_id))
    assert (poll.title, poll.expires_at.isoformat()) == ("Whither?", "2040-01-07T12:00:00+00:00")
    calls.clock.forward(days=6, seconds=-1)
    await calls.data("POST", f"{path}/votes", {"rankings": ["Sea"]}, 201)
    calls.clock.forward(seconds=1)
    problem(await calls.ask("POST", f"{path}/votes", {"rankings": ["Sea"]}), 410, "shareable-expired")
    problem(await calls.ask("GET", f"{path}/results"), 410, "shareable-expired")
    results = await calls.data("GET", f"{path}/results", by=by)
    assert (results["status"], results["votes"]) == ("final", 2)
