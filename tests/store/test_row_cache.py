"""A row that is read again is known by its bytes, and only where nothing that was made of it can change."""

from datetime import UTC, datetime
from typing import Annotated

import pytest
from msgspec import Meta, field

from potluck.acceleration import ALL
from potluck.engines import open_engine
from potluck.engines.recording import Recording
from potluck.store import Store
from potluck.store.row_cache import LONGEST_CACHED_ROW, RowCache
from potluck.table import Entity, ExpiresAt, Table, get, query, the

larder = Table("Larder", "PK", "SK", ttl="ttl", type_attribute="kind", names="camel")
attic = Table("Attic", "PK", "SK", type_attribute="kind", names="camel")
Name = Annotated[str, Meta(min_length=1, max_length=20)]


class Jar(Entity, table=larder, type="Jar", key=("LARDER", "JAR#{name}")):
    name: Name
    label: str
    ttl: ExpiresAt | None = None

    @get(consistent=True)
    def by_name(name: str) -> None:
        """What is in this jar?"""

    @query(consistent=True)
    def all() -> None:
        """Which jars are there?"""


class Box(Entity, table=larder, type="Box", key=("LARDER", "BOX#{name}")):
    name: Name
    contents: list[str] = field(default_factory=list)

    @get(consistent=True)
    def by_name(name: str) -> None:
        """What is in this box?"""


class AtticJar(Entity, table=attic, type="Jar", key=("LARDER", "JAR#{name}")):
    name: Name
    label: str

    @get(consistent=True)
    def by_name(name: str) -> None:
        """What is in this jar?"""


@pytest.fixture
async def store():
    engine = await open_engine("embedded")
    now = [1_000]
    made = Store(engine, lambda: datetime.fromtimestamp(now[0], UTC), accelerations=ALL)
    made.moved = now
    await made.create_tables(larder, attic)
    yield made
    await engine.close()


async def test_the_same_row_is_the_same_entity_until_it_is_written(store):
    await store.put(Jar(name="a", label="plums"))
    first = await store.get(Jar.by_name("a"))
    assert await store.get(Jar.by_name("a")) is first
    assert (await store.page(Jar.all(), 10)).items[0] is first
    await store.update(first, the(Jar.label).becomes("pears"))
    assert (await store.get(Jar.by_name("a"))).label == "pears"
    assert (await store.page(Jar.all(), 10)).items[0].label == "pears"
    await store.delete(Jar.by_name("a"))
    assert await store.get(Jar.by_name("a")) is None
    assert (await store.page(Jar.all(), 10)).items == []


async def test_what_another_store_wrote_is_seen_at_once(tmp_path):
    one, other = [await open_engine("embedded", path=tmp_path / "shared.db") for _ in range(2)]
    try:
        here, there = [Store(engine, lambda: datetime.now(UTC)) for engine in (one, other)]
        await here.create_tables(larder)
        await there.create_tables(larder)
        await here.put(Jar(name="a", label="plums"))
        for label in ("pears", "quinces", "plums"):
            seen = await here.get(Jar.by_name("a"))
            await there.update(seen, the(Jar.label).becomes(label))
            assert (await here.get(Jar.by_name("a"))).label == label
            assert [each.label for each in (await here.page(Jar.all(), 5)).items] == [label]
    finally:
        await one.close()
        await other.close()


async def test_a_known_row_expires_like_any_other(store):
    await store.put(Jar(name="a", label="milk", ttl=1_010))
    assert (await store.get(Jar.by_name("a"))).label == "milk"
    store.moved[0] = 1_010
    assert await store.get(Jar.by_name("a")) is None
    assert (await store.page(Jar.all(), 10)).items == []
    store.moved[0] = 1_009
    assert (await store.get(Jar.by_name("a"))).label == "milk"


async def test_what_holds_something_changeable_is_made_anew(store):
    await store.put(Box(name="a", contents=["string"]))
    (await store.get(Box.by_name("a"))).contents.append("buttons")
    assert (await store.get(Box.by_name("a"))).contents == ["string"]


async def test_the_same_bytes_in_another_table_are_another_kind(store):
    await store.put(Jar(name="a", label="plums"))
    await store.put(AtticJar(name="a", label="plums"))
    assert type(await store.get(Jar.by_name("a"))) is Jar
    assert type(await store.get(AtticJar.by_name("a"))) is AtticJar
    assert type(await store.get(Jar.by_name("a"))) is Jar


async def test_a_key_that_is_not_plain_is_asked_for_in_full(store):
    await store.put(Jar(name="Käse", label="cheese"))
    assert (await store.get(Jar.by_name("Käse"))).label == "cheese"
    assert [each and each.label for each in await store.get_many([Jar.by_name("Käse"), Jar.by_name("b")])] == [
        "cheese",
        None,
    ]


async def test_whoever_is_around_the_engine_sees_every_read(store):
    await store.put(Jar(name="a", label="plums"))
    recording = Recording(store.engine)
    around = Store(recording, store.clock)
    for _ in range(2):
        assert (await around.get(Jar.by_name("a"))).label == "plums"
        assert (await around.get_together(Jar.by_name("a"), Box.by_name("b")))[1] is None
        assert len((await around.page(Jar.all(), 5)).items) == 1
    assert [call.operation for call in recording.calls] == ["GetItem", "BatchGetItem", "Query"] * 2


async def test_a_closed_engine_is_said_to_be_closed(store):
    await store.engine.close()
    with pytest.raises(Exception, match="closed"):
        await store.get(Jar.by_name("a"))


def test_no_more_bytes_are_kept_than_allowed():
    unpacked = []

    def unpack(rows):
        unpacked.extend(rows)
        return [{"kind": {"S": "Jar"}, "name": {"S": "a"}, "label": {"S": row.decode()}} for row in rows]

    cache = RowCache(unpack, lambda: 0, most_bytes=100)
    members = (Jar.__plan__,)
    rows = [b"%020d" % number for number in range(50)]
    for row in rows:
        assert cache.entity(members, row).label == row.decode()
    assert sum(map(len, cache._newer)) + sum(map(len, cache._older)) <= 100
    unpacked.clear()
    assert cache.entity(members, rows[-1]).label == rows[-1].decode()
    assert unpacked == []
    assert cache.entity(members, rows[0]).label == rows[0].decode()
    assert unpacked == [rows[0]]
    long = b"x" * (LONGEST_CACHED_ROW + 1)
    cache.entity(members, long)
    assert long not in cache._newer
