"""What each call costs, counted on both engines; the README has the same table."""

from datetime import timedelta
from pathlib import Path

import pytest

import potluck.apps.shareables
from potluck.apps.polls.results import ByMethod
from potluck.apps.polls.votes import NewVote
from potluck.apps.shareables import short_ids
from potluck.apps.shareables.app import ShareablesApp
from potluck.apps.shareables.ballots import cast_vote, poll_results
from potluck.apps.shareables.creation import Clone, NewShareable, clone_shareable, create_shareable
from potluck.apps.shareables.items import (
    ChecklistItemEdit,
    NewChecklistItem,
    NewOrder,
    Restored,
    add_item,
    change_item,
    delete_item,
    reorder_items,
    restore_item,
)
from potluck.apps.shareables.passcodes import PasscodeChange, Unlock
from potluck.apps.shareables.shareables import (
    ShareableChange,
    change_shareable,
    delete_shareable,
    one_shareable,
    open_session,
    own_shareables,
    replace_passcodes,
)
from potluck.engines.recording import Recording
from potluck.people.passwords import Passwords
from potluck.settings import Settings
from potluck.suite import opened
from potluck.web.access import Visitor
from potluck.web.commits import show
from potluck.web.declarations import Action, Listing
from potluck.web.direct_calls import Direct
from potluck.web.runner import Sent
from tests.apps.call_costs import CallCosts
from tests.apps.worlds import registered
from tests.engine_targets import BOTH, EMBEDDED
from tests.engine_targets import opened as opened_engine
from tests.people.assembly import Clock, CountingHasher

README = Path(potluck.apps.shareables.__file__).with_name("README.md")


async def measured(core, app, recording):
    """Each call with its requests, read units and write units, on shareables where everything is small."""
    direct = Direct(core, ShareablesApp.subjects, app.context)
    runner = direct.runner
    ada = Visitor(principal=await registered(core.store, "Ada", "ada@example.org"))
    nobody = Visitor()
    await app.context.pool.refill()
    costs = CallCosts(recording)

    async def told(rule, by, sent, version, ids):
        declared = direct.declared(rule)
        if isinstance(declared, Action):
            return (await runner.perform(declared, by, ids, lambda: Sent(sent, version))).view
        if isinstance(declared, Listing):
            return await direct.list(rule, by.principal, **ids)
        at, thing = await runner.admit(declared, by, ids)
        return await show(declared, at, await rule(at, *(each for each in (thing, sent) if each is not None)))

    async def cost(what, rule, by, sent=None, version=None, **ids):
        return await costs.count(what, told(rule, by, sent, version, ids))

    two = NewShareable(
        entity="checklist",
        name="Packing",
        items=[NewChecklistItem(name="Tents"), NewChecklistItem(name="Stove")],
        view_passcode="lemonade",
        admin_passcode="trestle-table",
    )
    made = await cost("lay out a checklist of two items", create_shareable, nobody, two)
    own = await cost("lay one out, signed in", create_shareable, ada, two)
    await cost("one's own, if that is one", own_shareables, ada)
    await cost("look at it, as its maker", one_shareable, ada, short_id=own.short_id)
    at = {"short_id": made.short_id}
    session = await cost("unlock", open_session, nobody, Unlock(passcode="lemonade"), **at)
    viewer, admin = (
        Visitor(headers={"Authorization": f"Bearer {token}"}) for token in (session.token, made.admin_token)
    )
    seen = await cost("look at it, with a token", one_shareable, viewer, **at)
    first, second = (each.checklist_item_id for each in seen.items)
    item = {**at, "checklist_item_id": first}
    await cost("tick", change_item, viewer, ChecklistItemEdit(done=True), 1, **item)
    await cost("edit an item", change_item, admin, ChecklistItemEdit(name="Tent"), 2, **item)
    rope = (await cost("add an item", add_item, admin, NewChecklistItem(name="Rope"), **at)).checklist_item_id
    await cost("swap two items", reorder_items, admin, NewOrder(item_ids=[second, first, rope]), **at)
    await cost("delete an item", delete_item, admin, **at, checklist_item_id=rope)
    await cost("restore an item", restore_item, admin, Restored(checklist_item_id=rope), **at)
    await told(delete_item, admin, None, None, {**at, "checklist_item_id": rope})
    await cost("give it another name", change_shareable, admin, ShareableChange(name="Packed"), 1, **at)
    longer = ShareableChange(expires_at=core.clock() + timedelta(days=100))
    await cost("keep it open for longer, with two items", change_shareable, admin, longer, 2, **at)
    await cost("another view passcode", replace_passcodes, admin, PasscodeChange(view="another"), **at)
    await cost("clone it, with two items", clone_shareable, admin, Clone(), **at)
    await cost("delete it, with two items, two sessions and a deleted item", delete_shareable, admin, **at)
    new_poll = NewShareable(entity="poll", name="Where to?", candidates=["Lake", "Hut"])
    at = {"short_id": (await cost("lay out a poll", create_shareable, nobody, new_poll)).short_id}
    await cost("look at it", one_shareable, nobody, **at)
    await cost("the first vote", cast_vote, nobody, NewVote(rankings=["Lake"]), **at)
    await cost("vote", cast_vote, nobody, NewVote(rankings=["Hut"]), **at)
    await told(poll_results, nobody, ByMethod(), None, at)
    await cost("its results, no new votes", poll_results, nobody, ByMethod(), **at)
    return costs


@pytest.mark.parametrize("engine", BOTH)
async def test_the_readme_has_what_each_call_costs(tmp_path, engine, monkeypatch):
    # A pool that is filled soon, and where no partition is found empty, whichever are picked.
    for name, small in {"POOL_PARTITIONS": 20, "POOL_DEPTH": 8, "REST_SECONDS": 0}.items():
        monkeypatch.setattr(short_ids, name, small)
    settings, passwords = Settings(data=tmp_path / "data"), Passwords(CountingHasher())
    async with opened_engine(engine, tmp_path) as target:
        recording = Recording(target)
        opening = opened(settings, [ShareablesApp], clock=Clock(), passwords=passwords, wrap=lambda _: recording)
        async with opening as (core, (app,)):
            costs = await measured(core, app, recording)
    # DynamoDB Local counts the writes of a transaction otherwise than the service does, and a query that finds nothing
    # as none.
    local = engine != EMBEDDED
    costs.must_be_in(README, but_writes=local, but_calls={"one's own, if that is one"} if local else ())
