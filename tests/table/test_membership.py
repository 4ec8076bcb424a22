"""A row is in a question's answer by itself exactly if the engine finds it there."""

import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from potluck.store import Store
from potluck.table import (
    Entity,
    Query,
    Range,
    Request,
    StartsWith,
    Table,
    put,
    query,
    the,
)
from potluck.table.membership import AnyQuery, Membership
from tests.engine_targets import EMBEDDED
from tests.stores import NOW, recorded_store
from tests.web.live.boards import Board, Card, Hanging, Pin, WholeBoard, boards

SECOND = int(NOW.timestamp())

scores = Table("Scores", "PK", "SK", numbers=("PK", "SK"))


class Score(Entity, table=scores, key=("{game}", "{points}")):
    """How many points."""

    game: int
    points: int

    @query()
    def of_game(game: int) -> None:
        """Which scores does a game have?"""


def some_rows(seed: int) -> list[Entity]:
    chance = random.Random(seed)
    rows: list[Entity] = [Board(board="b", title="B"), Pin(board="b", pin="a1"), Pin(board="c", pin="a2")]
    for board in "bc":
        for number in range(12):
            rows.append(
                Card(
                    board=board,
                    card=f"{chance.choice('abc')}{number}",
                    owner=chance.choice(["ann", "bob", "nobody"]),
                    text=chance.choice(["", "x", "y"]),
                    hidden=chance.random() < 0.5,
                    expires_at=chance.choice([None, SECOND, SECOND + 1]),
                )
            )
    return rows


QUESTIONS: dict[str, AnyQuery] = {
    "partition": Card.on_board("b"),
    "nobody's partition": Card.on_board("z"),
    "range": Card.between("b", Range("a3", "b5")),
    "open range": Card.between("b", Range(high="b", high_open=True)),
    "from": Card.between("b", Range("b")),
    "beginning": Card.beginning("b", StartsWith("a")),
    "declared filter": Card.saying("b", "x"),
    "filter": Card.on_board("b").where((the(Card.text) == "x") | ~(the(Card.hidden) == True)),  # noqa: E712
    "filter by order": Card.on_board("c").where(the(Card.text).begins_with("x") & (the(Card.rank) < 2)),
    "index": Card.of_owner("ann"),
    "filtered index": Card.of_owner("bob").where(the(Card.text).among("x", "y")),
    "several kinds": Hanging.on_board("b"),
    "collection": WholeBoard.whole("b"),
}


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with recorded_store(EMBEDDED, tmp_path, boards, scores) as (store, _):
        yield store


async def found_alone(store: Store, asked: AnyQuery) -> list[Any]:
    membership = Membership(asked)
    rows = (await store.repeat(Request("Scan", {"TableName": membership.table.name})))["Items"]
    entities = [membership.entity(row, SECOND) for row in rows]
    return [entity for entity in entities if entity is not None]


@pytest.mark.parametrize("name", QUESTIONS)
async def test_a_row_is_a_member_if_the_engine_finds_it(store: Store, name: str) -> None:
    asked = QUESTIONS[name]
    for seed in range(3):
        await store.write_each(put(row) for row in some_rows(seed))
        found = await store.all(asked.query if not isinstance(asked, Query) else asked)  # type: ignore[union-attr]
        assert sorted(map(repr, await found_alone(store, asked))) == sorted(map(repr, found))
    assert found or name == "nobody's partition"


async def test_numbers_are_compared_as_numbers(store: Store) -> None:
    rows = [Score(game=game, points=points) for game in (1, 10) for points in (-5, 0, 9, 10, 100)]
    await store.write_each(put(row) for row in rows)
    query = Score.of_game(10)
    assert sorted(map(repr, await found_alone(store, query))) == sorted(map(repr, await store.all(query)))


async def test_a_reference_has_one_member(store: Store) -> None:
    await store.write_each(put(row) for row in some_rows(1))
    (board,) = await found_alone(store, Board.by_name("b"))
    assert board == Board(board="b", title="B")
    assert await found_alone(store, Board.by_name("z")) == []


def test_what_was_decoded_for_one_is_there_for_the_next() -> None:
    card = Card(board="b", card="a1", owner="ann")
    row = Card.__plan__.coding.encode(card)  # type: ignore[attr-defined]
    decoded: dict[Any, Any] = {}
    first = Membership(Card.on_board("b")).entity(row, SECOND, decoded)
    assert first == card
    assert Membership(Card.of_owner("ann")).entity(row, SECOND, decoded) is first
