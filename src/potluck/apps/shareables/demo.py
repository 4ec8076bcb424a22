"""Demo shareables: a half-done packing list, a poll, and a list that has expired."""

from collections.abc import Sequence
from typing import Any

from potluck.apps.polls.votes import NewVote
from potluck.apps.shareables.ballots import cast_vote
from potluck.apps.shareables.creation import NewShareable, create_shareable
from potluck.apps.shareables.items import ChecklistItemEdit, NewChecklistItem, change_item
from potluck.apps.shareables.shareables import HOME, one_shareable
from potluck.web import Demo, Direct, Guests, WorthALook

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


def demo_of(direct: Direct) -> Demo:
    """The function that fills shareables with demo data, through their rules."""

    async def demo(guests: Guests) -> Sequence[WorthALook]:
        guests.ago(days=14)
        await direct.do(create_shareable, guests.mara, STALL)
        guests.ago(days=6)
        packing = await direct.do(create_shareable, guests.mara, PACKING)
        await _ticked(direct, guests, packing)
        guests.ago(days=2)
        songs = await direct.do(create_shareable, guests.leo, SONGS)
        assert isinstance(SONGS.candidates, list)
        for hours, ranking in enumerate(SINGERS):
            guests.ago(hours=40 - 7 * hours)
            vote = NewVote(rankings=[SONGS.candidates[place] for place in ranking])
            await direct.do(cast_vote, None, vote, short_id=songs.short_id)
        return [
            _look(f"{packing.name} (Mara’s, whoever has the id ticks)", packing),
            _look(f"{songs.name} (Leo’s)", songs),
        ]

    return demo


async def _ticked(direct: Direct, guests: Guests, packing: Any) -> None:
    items = (await direct.read(one_shareable, None, short_id=packing.short_id)).items
    for hours, place in enumerate(PACKED):
        guests.ago(hours=90 - 20 * hours)
        item_id = items[place].checklist_item_id
        done = ChecklistItemEdit(done=True)
        await direct.do(change_item, None, done, version=1, short_id=packing.short_id, checklist_item_id=item_id)


def _look(name: str, made: Any) -> WorthALook:
    return WorthALook(name, f"{HOME}/{made.short_id}", f"Its admin passcode: {made.admin_passcode}")
