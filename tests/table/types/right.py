"""Everything here is used as it is meant to be: no line has an error, and every answer has the type that is said."""

from datetime import UTC, datetime
from typing import assert_type
from uuid import UUID

from gardens import Bed, Growing, Harvest, Plant, Weed, WholeBed

from potluck.store import QueryPage, Store
from potluck.table import (
    Change,
    Condition,
    Entity,
    Gather,
    Query,
    Range,
    Ref,
    Request,
    StartsWith,
    Transaction,
    absent,
    check,
    delete,
    present,
    put,
    the,
    update,
    upsert,
)


def entities(bed_id: UUID) -> None:
    bed = Bed(bed_id=bed_id, name="By the wall")
    assert_type(bed.bed_id, UUID)
    assert_type(bed.version, int)
    plant = Plant(bed_id=bed_id, plant_id=bed_id, name="Pea", height=3, planted_at=datetime.now(UTC))
    assert_type(plant.note, str | None)
    assert_type(plant.planted_at, datetime | None)
    assert_type(plant.climbs, bool)


def questions(bed_id: UUID, plant_id: UUID) -> None:
    assert_type(Bed.one(bed_id), Ref[Bed])
    assert_type(Plant.one(bed_id, plant_id=plant_id), Ref[Plant])
    assert_type(Plant.in_bed(bed_id), Query[Plant])
    assert_type(Plant.of_height(bed_id, Range(1, 20)).reversed(), Query[Plant])
    assert_type(Weed.named(bed_id, StartsWith("cl")), Query[Weed])
    assert_type(Growing.by_height(bed_id), Query[Plant | Weed])
    assert_type(Growing.in_bed(bed_id).consistently(), Query[Plant | Weed])
    assert_type(WholeBed.of(bed_id), Gather[WholeBed])
    assert_type(Plant.in_bed(bed_id).where(the(Plant.height) > 3).request(limit=5), Request)


def questions_of_an_instance(bed: Bed, plant: Plant) -> None:
    assert_type(bed.one(bed.bed_id), Ref[Bed])
    assert_type(plant.in_bed(bed.bed_id), Query[Plant])


def anything(bed_id: UUID) -> None:
    one: Ref[Entity] = Bed.one(bed_id)
    several: list[Query[Entity]] = [Plant.in_bed(bed_id), Weed.named(bed_id, StartsWith("cl"))]
    either: Query[Plant | Weed] = Plant.in_bed(bed_id)
    print(one, several, either)


async def listed(store: Store, query: Query[Entity]) -> list[Entity]:
    return await store.all(query)


def conditions_and_changes() -> None:
    assert_type(the(Plant.state) == "growing", Condition)
    assert_type((the(Plant.height) >= 3) & ~the(Plant.note).is_none() | (the(Plant.name) != "Pea"), Condition)
    assert_type(the(Plant.state).among("planned", "growing"), Condition)
    assert_type(the(Plant.height) < the(Plant.version), Condition)
    assert_type(the(Plant.note).becomes(None), Change)
    assert_type(the(Plant.state).becomes("eaten"), Change)
    assert_type(the(Bed.visits).add(1), Change)
    assert_type(the(Plant.tags).include("climbs", "sweet"), Change)


async def reading(store: Store, bed_id: UUID) -> None:
    assert_type(await store.get(Bed.one(bed_id)), Bed | None)
    assert_type(await store.one(Bed.one(bed_id)), Bed)
    assert_type(await store.get_many([Plant.one(bed_id, bed_id)]), list[Plant | None])
    bed, plant, harvest = Bed.one(bed_id), Plant.one(bed_id, bed_id), Harvest.one(bed_id, "Pea")
    assert_type(await store.get_together(bed, plant), tuple[Bed | None, Plant | None])
    assert_type(await store.get_together(bed, plant, harvest), tuple[Bed | None, Plant | None, Harvest | None])
    assert_type(await store.snapshot(bed), tuple[Bed | None])
    assert_type(await store.snapshot(bed, plant), tuple[Bed | None, Plant | None])
    assert_type(await store.snapshot(bed, plant, harvest), tuple[Bed | None, Plant | None, Harvest | None])
    print(await store.one(Bed.one(bed_id)), await store.get(plant), await listed(store, Plant.in_bed(bed_id)))
    print(*await store.all(Growing.by_height(bed_id)), await store.first(Plant.in_bed(bed_id)))
    assert_type(await store.all(Plant.in_bed(bed_id)), list[Plant])
    assert_type(await store.first(Plant.in_bed(bed_id)), Plant | None)
    assert_type(await store.count(Plant.in_bed(bed_id)), int)
    assert_type(await store.page(Growing.by_height(bed_id), 10), QueryPage[Plant | Weed])
    async for grown in store.each(Growing.by_height(bed_id)):
        assert_type(grown, Plant | Weed)
    whole = await store.gather(WholeBed.of(bed_id))
    assert_type(whole, WholeBed | None)
    if whole is not None:
        assert_type(whole.bed, Bed)
        assert_type(whole.weeds, list[Weed])


async def writing(store: Store, bed: Bed, plant: Plant) -> None:
    assert_type(await store.put(bed, when=absent), Bed)
    assert_type(await store.update(plant, the(Plant.height).becomes(4)), Plant)
    assert_type(await store.update(Bed.one(bed.bed_id), the(Bed.visits).add(1)), Bed)
    assert_type(await store.modify(Plant.one(bed.bed_id, plant.plant_id), grown), Plant)
    await store.modify(Plant.one(bed.bed_id, plant.plant_id), lambda one: [the(Plant.height).becomes(one.height + 1)])
    await store.delete(plant, when=present)
    picked = Harvest.one(bed.bed_id, "Pea")
    assert_type(await store.upsert(picked, the(Harvest.picked).add(3), the(Harvest.pickers).include("ann")), Harvest)
    operations = [
        put(plant, when=absent),
        update(bed, the(Bed.name).becomes("By the pond"), when=the(Bed.name) == "By the wall"),
        delete(Plant.one(bed.bed_id, plant.plant_id)),
        check(bed, when=present),
        upsert(picked, the(Harvest.picked).add(1)),
    ]
    await store.transact(*operations)
    await store.write_each(operations)
    assert_type(Transaction(*operations).request(0), Request)


def grown(plant: Plant) -> list[Change]:
    return [the(Plant.height).becomes(plant.height + 1)]
