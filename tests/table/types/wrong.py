"""Every line here that ends in `error:` has exactly the errors it names, and no other line has one."""

from uuid import UUID

from gardens import Bed, Growing, Harvest, Plant, Weed, WholeBed

from potluck.store import Store
from potluck.table import (
    Change,
    Entity,
    ItemCollection,
    Query,
    Range,
    Ref,
    StartsWith,
    check,
    delete,
    put,
    query,
    the,
    update,
    upsert,
)


def entities(bed_id: UUID) -> None:
    Bed(bed_id=bed_id, nam="By the wall")  # error: call-arg
    Bed(bed_id=bed_id)  # error: call-arg
    Bed(bed_id="by the wall", name="By the wall")  # error: arg-type
    Bed(bed_id, "By the wall")  # error: call-arg
    bed = Bed(bed_id=bed_id, name="By the wall")
    bed.name = "By the pond"  # error: misc
    print(bed.nam)  # error: attr-defined
    Plant(bed_id=bed_id, plant_id=bed_id, name="Pea", height=1, state="lost")  # error: arg-type
    Plant(bed_id=bed_id, plant_id=bed_id, name="Pea", height=None)  # error: arg-type


def questions(bed_id: UUID, plant_id: UUID) -> None:
    Bed.one("by the wall")  # error: arg-type
    Bed.one()  # error: call-arg
    Bed.one(bed_id, plant_id)  # error: call-arg
    Bed.one(plant_id=plant_id)  # error: call-arg
    Bed.two(bed_id)  # error: attr-defined
    Plant.one(bed_id)  # error: call-arg
    Plant.of_height(bed_id, 3)  # error: arg-type
    Plant.of_height(bed_id, Range("a", "b"))  # error: arg-type
    Plant.of_height(bed_id, StartsWith("3"))  # error: arg-type
    Weed.named(bed_id, "cl")  # error: arg-type
    Growing.by_height(bed_id, 3)  # error: call-arg
    WholeBed.of("by the wall")  # error: arg-type
    print(Harvest.one(bed_id, "Pea").picked)  # error: attr-defined
    plant: Ref[Plant] = Bed.one(bed_id)  # error: assignment
    only_plants: Query[Plant] = Growing.by_height(bed_id)  # error: assignment
    anything: Query[Entity] = Plant.one(bed_id, plant_id)  # error: assignment
    print(plant, only_plants, anything)


def conditions_and_changes(plant: Plant) -> None:
    the(Plant.heigth).becomes(3)  # error: attr-defined
    the(Plant.height).becomes("high")  # error: arg-type
    the(Plant.height).becomes(None)  # error: arg-type
    the(Plant.state).becomes("lost")  # error: arg-type
    the(Plant.state).among("planned", "lost")  # error: arg-type
    the(Plant.height).between(1, "2")  # error: arg-type
    the(Plant.name).still(7)  # error: arg-type
    the(Plant.height).add("1")  # error: arg-type
    the(Plant.tags).include(7)  # error: arg-type
    the(Plant.name).include("P")  # error: misc, call-overload
    put(plant, when=the(Plant.name) > 3)  # error: operator
    put(plant, when=the(Plant.name) == 3)  # error: arg-type
    put(plant, when=the(Plant.name).becomes("Bean"))  # error: arg-type
    update(plant, the(Plant.name) == "Bean")  # error: arg-type
    update("Pea", the(Plant.name).becomes("Bean"))  # error: arg-type
    delete("Pea")  # error: arg-type
    check(plant)  # error: call-arg
    upsert(plant, the(Plant.name).becomes("Bean"))  # error: arg-type
    Plant.in_bed(plant.bed_id).where(the(Plant.name) == 3)  # error: arg-type


async def reading(store: Store, bed_id: UUID) -> None:
    found = await store.get(Bed.one(bed_id))
    print(found.name)  # error: union-attr
    plant: Plant = await store.one(Bed.one(bed_id))  # error: arg-type
    plants: list[Plant] = await store.all(Weed.named(bed_id, StartsWith("c")))  # error: arg-type
    many: list[Plant | None] = await store.get_many([Bed.one(bed_id)])  # error: list-item
    await store.get_together(Bed.one(bed_id))  # error: call-overload
    bed_and_plant: tuple[Bed | None, Weed | None]
    bed_and_plant = await store.get_together(Bed.one(bed_id), Plant.one(bed_id, bed_id))  # error: arg-type
    print(bed_and_plant)
    for grown in (await store.page(Growing.by_height(bed_id), 5)).items:
        print(grown.plant_id)  # error: union-attr
    await store.page(Plant.in_bed(bed_id), "5")  # error: arg-type
    await store.get(Plant.in_bed(bed_id))  # error: arg-type
    await store.all(Plant.one(bed_id, bed_id))  # error: arg-type
    await store.all(WholeBed.of(bed_id))  # error: arg-type
    await store.gather(Plant.in_bed(bed_id))  # error: arg-type
    whole = await store.gather(WholeBed.of(bed_id))
    assert whole is not None
    print(whole.flowers)  # error: attr-defined
    bed: Plant = whole.bed  # error: assignment
    for weed in whole.weeds:
        print(weed.plant_id)  # error: attr-defined
    print(plant, plants, many, bed)


async def writing(store: Store, bed: Bed, plant: Plant) -> None:
    await store.put(Bed.one(bed.bed_id))  # error: type-var
    written: Plant = await store.put(bed)  # error: arg-type
    changed: Plant = await store.update(Bed.one(bed.bed_id), the(Bed.visits).add(1))  # error: arg-type
    await store.modify(Bed.one(bed.bed_id), grown)  # error: arg-type
    await store.update(Growing.by_height(bed.bed_id), the(Plant.height).becomes(3))  # error: arg-type
    await store.modify(Plant.one(bed.bed_id, plant.plant_id), lambda one: [one.visits])  # error: attr-defined
    await store.transact(bed)  # error: arg-type
    await store.upsert(plant, the(Plant.height).becomes(3))  # error: arg-type
    picked: Plant = await store.upsert(Harvest.one(bed.bed_id, "Pea"), the(Harvest.picked).add(1))  # error: arg-type
    await store.upsert(Harvest.one(bed.bed_id, "Pea"), the(Harvest.picked) == 1)  # error: arg-type
    print(picked)
    print(written, changed, plant)


def grown(plant: Plant) -> list[Change]:
    return [the(Plant.height).becomes(plant.height + 1)]


class Wrong(ItemCollection):
    """A collection whose questions are not asked so."""

    bed: Bed

    @query("GSI1", fliter=("name",))  # error: call-arg
    def misspelt(bed_id: UUID) -> None:
        """What is in this bed?"""

    @query()  # error: arg-type
    def answered(bed_id: UUID) -> Bed:  # error: empty-body
        """What is in this bed?"""


WholeBed(bed=Bed(bed_id=UUID(int=1), name="By the wall"), plants=[])  # error: call-arg
WholeBed(bed=Bed(bed_id=UUID(int=1), name="By the wall"), plants=[], weeds=[], moles=[])  # error: call-arg
