"""Triggers: which changes concern a consumer, and the entities that its functions get."""

from typing import Any

import pytest
from msgspec.structs import replace

from potluck.streams import Record, Trigger, changed, created, deleted
from potluck.table import DesignError, Entity, put
from potluck.table.entity import plan_of
from potluck.table.operations import Operation
from tests.web.live.boards import Board, Card

CARD = Card(board="b", card="c", text="old")
BOARD = Board(board="b", title="first")
EXPIRED = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}


class Calls:
    """What a function of a consumer was called with."""

    def __init__(self) -> None:
        self.seen: list[tuple[Entity, ...]] = []

    async def one(self, entity: Entity) -> None:
        self.seen.append((entity,))

    async def both(self, before: Entity, after: Entity) -> None:
        self.seen.append((before, after))


def record(old: Entity | None, new: Entity | None, expired: bool = False) -> Record:
    images = {"OldImage": old, "NewImage": new}
    told = {name: plan_of(each).coding.encode(each) for name, each in images.items() if each is not None}
    about: dict[str, Any] = {"userIdentity": EXPIRED} if expired else {}
    return Record("Boards", {"dynamodb": told, **about})


async def seen(trigger: Trigger, calls: Calls, of: Record) -> list[tuple[Entity, ...]]:
    calls.seen.clear()
    await trigger.handle(of)
    assert trigger.concerns(of) or not calls.seen
    return calls.seen


async def test_created_gets_what_is_new_and_nothing_else() -> None:
    calls = Calls()
    trigger = created(Card, do=calls.one)
    assert await seen(trigger, calls, record(None, CARD)) == [(CARD,)]
    for other in (record(CARD, replace(CARD, text="new")), record(CARD, None), record(None, BOARD)):
        assert not trigger.concerns(other)
        assert await seen(trigger, calls, other) == []


@pytest.mark.parametrize(("expired", "wanted"), [(None, [True, True]), (True, [False, True]), (False, [True, False])])
async def test_deleted_gets_what_was_there_and_says_whether_expiry_counts(
    expired: bool | None, wanted: list[bool]
) -> None:
    calls = Calls()
    trigger = deleted(Card, do=calls.one, expired=expired)
    gone = [record(CARD, None), record(CARD, None, expired=True)]
    assert [trigger.concerns(each) for each in gone] == wanted
    assert [await seen(trigger, calls, each) == [(CARD,)] for each in gone] == wanted
    assert not any(map(trigger.concerns, (record(None, CARD), record(CARD, CARD), record(BOARD, None))))


async def test_changed_gets_both_if_one_of_the_fields_differs() -> None:
    calls = Calls()
    trigger = changed(Card, Card.text, Card.rank, do=calls.both)
    after = replace(CARD, rank=2)
    assert await seen(trigger, calls, record(CARD, after)) == [(CARD, after)]
    for other in (record(CARD, replace(CARD, secret="x")), record(None, CARD), record(CARD, None)):
        assert not trigger.concerns(other)
        assert await seen(trigger, calls, other) == []
    everything = changed(Card, do=calls.both)
    assert await seen(everything, calls, record(CARD, replace(CARD, secret="x"))) != []


async def test_a_default_that_a_row_leaves_out_is_no_change() -> None:
    calls = Calls()
    trigger = changed(Card, Card.rank, do=calls.both)
    change = record(CARD, replace(CARD, text="new"))
    del change.wire["dynamodb"]["OldImage"]["rank"]
    assert await seen(trigger, calls, change) == []


async def test_where_picks_by_the_entity() -> None:
    calls = Calls()
    hidden = replace(CARD, hidden=True)
    for trigger, old in ((created(Card, do=calls.one, where=lambda card: card.hidden), None),):
        assert trigger.concerns(record(old, hidden))
        assert not trigger.concerns(record(old, CARD))
        assert await seen(trigger, calls, record(old, CARD)) == []
    trigger = changed(Card, Card.text, do=calls.both, where=lambda card: card.hidden)
    after = replace(hidden, text="new")
    assert await seen(trigger, calls, record(CARD, after)) == [(CARD, after)]
    assert not trigger.concerns(record(hidden, replace(CARD, text="new")))


async def test_a_row_that_cannot_be_decoded_is_handed_over_and_fails_there() -> None:
    trigger = created(Card, do=Calls().one, where=lambda card: card.hidden)
    broken = record(None, CARD)
    broken.wire["dynamodb"]["NewImage"]["rank"] = {"S": "one"}
    assert trigger.concerns(broken)
    with pytest.raises(Exception, match="rank"):
        await trigger.handle(broken)


async def test_a_function_may_return_operations() -> None:
    async def copied(card: Card) -> list[Operation]:
        return [put(replace(card, card="copy"))]

    (operation,) = await created(Card, do=copied).handle(record(None, CARD))
    assert operation.name == "put Card"


def test_fields_of_another_entity_and_of_the_key_are_refused_when_declared() -> None:
    with pytest.raises(DesignError, match="takes fields of Card"):
        changed(Card, Board.title, do=Calls().both)
    with pytest.raises(DesignError, match="takes fields of Card"):
        changed(Card, "text", do=Calls().both)
    with pytest.raises(DesignError, match="part of the key"):
        changed(Card, Card.card, do=Calls().both)
