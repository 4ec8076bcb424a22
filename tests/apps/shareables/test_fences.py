"""Fences: what is under way when access ends is refused, and no tick checks the row that everyone shares."""

import pytest

from potluck.apps.polls.entities import Poll, Shard
from potluck.apps.shareables.entities import ChecklistItem, Shareable
from potluck.store import Store
from tests.apps.shareables.doors import ADMIN, VIEW, calls_on, data, problem
from tests.apps.worlds import Meanwhile, meanwhile


@pytest.fixture
async def interrupted(tmp_path):
    """Where something else can be done between the reads of a call and its transaction."""
    async with calls_on(tmp_path, wrap=Meanwhile) as calls:
        yield calls


def store_of(calls) -> Store:
    store: Store = calls.application.state.core.store
    return store


def before_the_next_write(calls, first):
    meanwhile(store_of(calls), first)


async def first_item(calls, made, token=None):
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    seen = data(await calls.ask("GET", f"/shareables/{made['shortId']}", **headers))
    return f"/shareables/{made['shortId']}/items/{seen['items'][0]['checklistItemId']}", headers


CHANGES = {
    "ticking is turned off": ("PATCH", "", {"viewersCanTick": False, "version": 1}, (403, "ticking-off")),
    "the passcode is replaced": ("PUT", "/passcodes", {"view": "another-one"}, (401, "passcode-needed")),
    "it ends earlier": ("PATCH", "", {"expiresAt": "2040-01-01T12:00:01Z", "version": 1}, (200, None)),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_tick_that_was_under_way_when_access_changed_is_decided_by_the_new_access(interrupted, change):
    calls = interrupted
    made = await calls.guarded()
    token = await calls.token(made, VIEW)
    item, viewer = await first_item(calls, made, token)
    admin = {"Authorization": f"Bearer {made['adminToken']}"}
    method, path, body, (status, slug) = CHANGES[change]

    async def changed():
        data(await calls.ask(method, f"/shareables/{made['shortId']}{path}", body, **admin))
        # The change was answered: from here on no one may tick by the former access.
        row = await store_of(calls).one(Shareable.one(made["shortId"]))
        items = await store_of(calls).all(ChecklistItem.of(made["shortId"]))
        assert {each.fence for each in items} == {row.version - 1}

    before_the_next_write(calls, changed)
    answer = await calls.ask("PATCH", item, {"done": True, "version": 1}, **viewer)
    if slug is None:
        assert data(answer, status)["done"]
    else:
        problem(answer, status, slug)
        items = await store_of(calls).all(ChecklistItem.of(made["shortId"]))
        assert not any(each.done for each in items)


@pytest.mark.parametrize(
    "change", [{"name": "Packed"}, {"expiresAt": "2040-06-01T12:00:00Z"}, {"note": "Soon"}, {"viewersCanTick": True}]
)
async def test_what_ends_no_one_s_access_raises_no_fence(interrupted, change):
    calls = interrupted
    made = await calls.guarded()
    admin = {"Authorization": f"Bearer {made['adminToken']}"}
    data(await calls.ask("PATCH", f"/shareables/{made['shortId']}", {**change, "version": 1}, **admin))
    assert {each.fence for each in await store_of(calls).all(ChecklistItem.of(made["shortId"]))} == {0}


async def test_an_item_that_is_added_later_has_the_fence_too(interrupted):
    calls = interrupted
    made = await calls.guarded()
    path, admin = f"/shareables/{made['shortId']}", {"Authorization": f"Bearer {made['adminToken']}"}
    data(await calls.ask("PUT", f"{path}/passcodes", {"view": "another-one"}, **admin))
    data(await calls.ask("POST", f"{path}/items", {"name": "Rope"}, **admin), 201)
    assert {each.fence for each in await store_of(calls).all(ChecklistItem.of(made["shortId"]))} == {1}


async def test_items_from_before_there_were_fences_are_ticked_and_locked(interrupted):
    calls = interrupted
    made = await calls.guarded()
    path, admin = f"/shareables/{made['shortId']}", {"Authorization": f"Bearer {made['adminToken']}"}
    # As lists of earlier stores are: the shareable was changed, and no item has a fence.
    for version in (1, 2, 3):
        data(await calls.ask("PATCH", path, {"name": f"Packing {version}", "version": version}, **admin))
    token = await calls.token(made, VIEW)
    item, viewer = await first_item(calls, made, token)
    data(await calls.ask("PATCH", item, {"done": True, "version": 1}, **viewer))
    data(await calls.ask("PATCH", path, {"viewersCanTick": False, "version": 4}, **admin))
    problem(await calls.ask("PATCH", item, {"done": False, "version": 2}, **viewer), 403, "ticking-off")
    data(await calls.ask("PATCH", item, {"done": False, "version": 2}, **admin))


async def test_a_vote_that_was_under_way_when_the_passcode_was_replaced_is_refused(interrupted):
    calls = interrupted
    made = await calls.poll(viewPasscode=VIEW, adminPasscode=ADMIN)
    path, admin = f"/shareables/{made['shortId']}", {"Authorization": f"Bearer {made['adminToken']}"}
    viewer = {"Authorization": f"Bearer {await calls.token(made, VIEW)}"}
    for under_way in ("the first vote", "a later one"):
        passcode = f"passcode of {under_way}"

        async def replaced(passcode=passcode):
            data(await calls.ask("PUT", f"{path}/passcodes", {"view": passcode}, **admin))

        before_the_next_write(calls, replaced)
        problem(await calls.ask("POST", f"{path}/votes", {"rankings": ["Hut"]}, **viewer), 401, "passcode-needed")
        viewer = {"Authorization": f"Bearer {await calls.token(made, passcode)}"}
        cast = data(await calls.ask("POST", f"{path}/votes", {"rankings": ["Hut"]}, **viewer), 201)
        assert cast["editKey"]
    store = store_of(calls)
    poll_id = (await store.one(Shareable.one(made["shortId"]))).poll_id
    poll = await store.one(Poll.one(poll_id))
    shards = await store.all(Shard.of_poll(poll_id))
    assert {shard.access_fence for shard in shards} == {poll.access_fence} == {2}
    assert sum(shard.votes for shard in shards) == 2


async def test_a_tick_is_one_transaction_that_does_not_touch_the_shareable(interrupted):
    calls = interrupted
    made = await calls.made()
    item, _ = await first_item(calls, made)
    writes = []
    engine = store_of(calls).engine
    call = engine.call

    async def noting(operation, request):
        actions = [next(iter(action.values())) for action in request.get("TransactItems", ())]
        # Consumers save their positions meanwhile, in a table of their own.
        keys = [action["Key"]["pk"]["S"] for action in actions if action["TableName"] == "Shareables"]
        writes.extend([keys] if keys else [])
        return await call(operation, request)

    engine.call = noting
    data(await calls.ask("PATCH", item, {"done": True, "version": 1}))
    assert [[key.partition("#")[0] for key in keys] for keys in writes] == [["checklist_item"]]
