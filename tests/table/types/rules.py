"""Rules that list things: a decorated one has the type that it was written with, so that other rules can call it."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, assert_type
from uuid import UUID

from gardens import Plant, Weed

from potluck.table import Query
from potluck.web.access import SignedIn
from potluck.web.actions import Actions
from potluck.web.inputs import Input
from potluck.web.pagination import OwnPages
from potluck.web.views import View


class PlantView(View[Plant]):
    name: str


class Wanted(Input):
    name: str = ""


class InBed(SignedIn):
    bed_id: UUID


plants = Actions(InBed, Plant.one, PlantView, api="/beds/{bed_id}/plants")


@plants.list("/asked")
def asked(at: InBed) -> Query[Plant]:
    return Plant.in_bed(at.bed_id)


@plants.list("/found")
async def found(at: InBed) -> Sequence[Plant]:
    return await at.store.all(Plant.in_bed(at.bed_id))


@plants.list("/read")
async def read(at: InBed) -> list[Plant]:
    return await at.store.all(Plant.in_bed(at.bed_id))


@plants.list("/chosen")
async def chosen(at: InBed, wanted: Wanted) -> Query[Plant]:
    return Plant.in_bed(at.bed_id)


@plants.list("/searched")
async def searched(at: InBed, wanted: Wanted) -> Query[Plant] | Sequence[Plant]:
    return await found(at) if wanted.name else Plant.in_bed(at.bed_id)


def paged(at: InBed, wanted: Wanted) -> OwnPages[PlantView]:
    raise NotImplementedError


async def weeds(at: InBed) -> list[Weed]:
    return []


assert_type(asked, Callable[[InBed], Query[Plant]])
assert_type(found, Callable[[InBed], Coroutine[Any, Any, Sequence[Plant]]])
assert_type(read, Callable[[InBed], Coroutine[Any, Any, list[Plant]]])
assert_type(chosen, Callable[[InBed, Wanted], Coroutine[Any, Any, Query[Plant]]])
assert_type(searched, Callable[[InBed, Wanted], Coroutine[Any, Any, Query[Plant] | Sequence[Plant]]])
assert_type(plants.list()(paged), Callable[[InBed, Wanted], OwnPages[PlantView]])
plants.list()(weeds)  # type: ignore[arg-type]


async def names(at: InBed) -> list[str]:
    return [each.name for each in (*await found(at), *await read(at))]
