"""Demo shareables: a half-done packing list, a poll, and a list that has expired."""

from typing import Any

from potluck.apps.polls.votes import NewVote
from potluck.apps.shareables.ballots import cast_vote
from potluck.apps.shareables.creation import NewShareable, create_shareable
from potluck.apps.shareables.items import ChecklistItemEdit, NewChecklistItem, change_item
from potluck.apps.shareables.shareables import HOME, one_shareable
from potluck.web import Demo

# Everything below is made up.

PACKING = NewShareable(
    entity="checklist",
    name="Campfire packing list",
    note="Hut above Lindvik, Friday to Sunday. Bring what your row says, and one song.",
    items=[
        NewChecklistItem(name="Two tents, the green one and the one that leaks less", note="poles are in the blue bag"),
        NewChecklistItem(name="Stove and three gas cartridges"),
        NewChecklistItem(name="Head torches", note="one each, and spare batteries"),
        NewChecklistItem(name="Marshmallows", note="more than last time"),
        NewChecklistItem(name="First-aid kit"),
        NewChecklistItem(name="קומקום גדול", note="the big kettle, from Noa"),
        NewChecklistItem(name="Rope, 20 m"),
    ],
    expires_in_days=10,
)
PACKED = (4, 1, 0)  # In the order in which they were ticked.

SONGS = NewShareable(
    entity="poll",
    name="Which song at the fire?",
    candidates=["The one with the boat", "Bella ciao", "Whatever Leo can play"],
    expires_in_days=10,
)
SINGERS = ((0, 1), (0, 2), (1, 0), (2,), (0, 1, 2))

STALL = NewShareable(
    entity="checklist",
    name="Summer fair, our stall",
    items=[
        NewChecklistItem(name=name) for name in ("Long table, four trestles", "Bunting", "Lemonade, the cloudy kind")
    ],
    expires_in_days=7,
)


async def fill(demo: Demo) -> None:
    demo.ago(days=14)
    await demo.do(create_shareable, demo.mara, STALL)
    demo.ago(days=6)
    packing = await demo.do(create_shareable, demo.mara, PACKING)
    await _ticked(demo, packing)
    demo.ago(days=2)
    songs = await demo.do(create_shareable, demo.leo, SONGS)
    assert isinstance(SONGS.candidates, list)
    for hours, ranking in enumerate(SINGERS):
        demo.ago(hours=40 - 7 * hours)
        vote = NewVote(rankings=[SONGS.candidates[place] for place in ranking])
        await demo.do(cast_vote, None, vote, short_id=songs.short_id)
    _point_out(demo, f"{packing.name} (Mara’s, anyone with the id ticks)", packing)
    _point_out(demo, f"{songs.name} (Leo’s)", songs)


async def _ticked(demo: Demo, packing: Any) -> None:
    items = (await demo.read(one_shareable, None, short_id=packing.short_id)).items
    for hours, place in enumerate(PACKED):
        demo.ago(hours=90 - 20 * hours)
        item_id = items[place].checklist_item_id
        done = ChecklistItemEdit(done=True)
        await demo.do(change_item, None, done, version=1, short_id=packing.short_id, checklist_item_id=item_id)


def _point_out(demo: Demo, name: str, shareable: Any) -> None:
    demo.point_out(name, f"{HOME}/{shareable.short_id}", f"Its admin passcode: {shareable.admin_passcode}")
