"""Views show what they list, and are held to their entity when they are defined."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import msgspec
import pytest

from potluck.web.inputs import UNSET, Unset
from potluck.web.views import DeclarationError, View, computed, view_plan
from tests.web.cellar import Bottle, BottleView, Shelf

CELLAR, BAROLO, CHABLIS = UUID(int=1), UUID(int=2), UUID(int=3)
NOW = datetime(2026, 5, 17, tzinfo=UTC)


def bottle(bottle_id: UUID = BAROLO, name: str = "Barolo", **given: Any) -> Bottle:
    return Bottle(cellar_id=CELLAR, bottle_id=bottle_id, name=name, colour="red", made_at=NOW, secret="x", **given)


@dataclass(frozen=True)
class Ratings:
    by_bottle: dict[UUID, int]

    @staticmethod
    async def load(at: list[str], items: Sequence[Bottle]) -> "Ratings":
        at.append(f"loaded for {len(items)}")
        return Ratings({item.bottle_id: len(item.name) for item in items})


class RatedBottle(View[Bottle]):
    """A bottle, and what people think of it."""

    bottle_id: UUID
    name: str

    @computed
    def shouted(item: Bottle) -> str:
        return item.name.upper()

    @computed
    def rating(item: Bottle, ratings: Ratings) -> int | Unset:
        return ratings.by_bottle.get(item.bottle_id, 0) if item.colour == "red" else UNSET


def refused(message: str):
    return pytest.raises(DeclarationError, match=message)


def as_json(view: Any) -> Any:
    return json.loads(msgspec.json.encode(view))


def test_a_view_shows_the_fields_it_lists_in_camel_case_and_nothing_else():
    assert as_json(BottleView.show(bottle())) == {
        "bottleId": str(BAROLO),
        "name": "Barolo",
        "colour": "red",
        "notes": None,
        "version": 1,
        "madeAt": "2026-05-17T00:00:00Z",
    }


def test_a_view_without_some_fields_shows_all_others_of_the_entity():
    class BottleRow(View[Bottle], without=("secret", "cellar_id")):
        @computed
        def name(item: Bottle) -> str:
            return item.name.upper()

    shown = as_json(BottleRow.show(bottle()))
    assert set(BottleRow.__struct_fields__) == set(Bottle.__struct_fields__) - {"secret", "cellar_id"}
    assert (shown["name"], shown["version"]) == ("BAROLO", 1)
    with refused("Bottle has no field secrte .did you mean secret"):

        class Misspelt(View[Bottle], without=("secrte",)):
            pass


async def test_a_lookup_is_loaded_once_for_all_items_of_an_answer():
    at: list[str] = []
    shown = await view_plan(RatedBottle).show_many(at, [bottle(), bottle(CHABLIS, "Chablis")])
    assert [(each.shouted, each.rating) for each in shown] == [("BAROLO", 6), ("CHABLIS", 7)]
    assert at == ["loaded for 2"]


async def test_a_view_without_a_lookup_loads_nothing():
    assert await view_plan(BottleView).load(None, [bottle()]) is None
    assert [each.name for each in await view_plan(BottleView).show_many(None, [bottle()])] == ["Barolo"]


def test_what_is_computed_to_be_unset_is_left_out():
    white = msgspec.structs.replace(bottle(), colour="white")
    shown = RatedBottle.show(white, Ratings({}))
    assert as_json(shown) == {"bottleId": str(BAROLO), "name": "Barolo", "shouted": "BAROLO"}


def test_views_are_compared_by_value():
    show = RatedBottle.show
    assert show(bottle(), Ratings({})) == show(bottle(), Ratings({}))
    assert show(bottle(), Ratings({})) != show(bottle(), Ratings({BAROLO: 5}))


def test_a_view_that_derives_from_another_shows_more():
    class Labelled(RatedBottle):
        notes: str | None

        @computed
        def label(item: Bottle) -> str:
            return f"{item.name} {item.year}"

    shown = Labelled.show(bottle(notes="Dry"), Ratings({BAROLO: 5}))
    assert as_json(shown) == {
        "bottleId": str(BAROLO),
        "name": "Barolo",
        "shouted": "BAROLO",
        "rating": 5,
        "notes": "Dry",
        "label": "Barolo 2000",
    }


def test_a_field_that_the_entity_does_not_have_is_refused_with_the_one_that_was_meant():
    with refused(r"Misspelt.nmae: Bottle has no field nmae \(did you mean name\?\)\. A calculated field is"):

        class Misspelt(View[Bottle]):
            nmae: str


def test_a_type_that_the_entity_exceeds_is_refused():
    with refused("Sure.notes: Bottle.notes can also be None"):

        class Sure(View[Bottle]):
            notes: str

    with refused("Typed.year: Bottle.year can also be int"):

        class Typed(View[Bottle]):
            year: str


def test_a_computed_field_says_what_it_returns():
    with refused("Silent.label: annotate what it returns"):

        class Silent(View[Bottle]):
            @computed
            def label(item: Bottle):
                return item.name


def test_a_computed_field_is_of_the_entity_of_its_view():
    with refused("Other.label: it is given a Bottle, not a Shelf"):

        class Other(View[Bottle]):
            @computed
            def label(item: Shelf) -> str:
                return item.name


def test_a_lookup_is_a_class_that_loads():
    with refused("Counted.label: names must be of a class with an async class method `load"):

        class Counted(View[Bottle]):
            @computed
            def label(item: Bottle, names: dict[str, str]) -> str:
                return names[item.name]


class OfAnInstance:
    async def load(self, at: Any, items: Sequence[Any]) -> None: ...


class NotAsync:
    @classmethod
    def load(cls, at: Any, items: Sequence[Any]) -> None: ...


@pytest.mark.parametrize("lookup", [OfAnInstance, NotAsync])
def test_a_lookup_is_loaded_by_an_async_method_of_its_class(lookup):
    with refused("Counted.label: found must be of a class with an async class method `load"):

        class Counted(View[Bottle]):
            @computed
            def label(item: Bottle, found: lookup) -> str:
                return str(found)


def test_a_view_has_one_lookup():
    class Prices:
        @staticmethod
        async def load(at: Any, items: Sequence[Bottle]) -> "Prices":
            return Prices()

    with refused("Both: it has lookups Prices, Ratings; combine them into one class"):

        class Both(View[Bottle]):
            @computed
            def rating(item: Bottle, ratings: Ratings) -> int:
                return 0

            @computed
            def price(item: Bottle, prices: Prices) -> int:
                return 0


def test_a_function_of_more_than_item_and_lookup_is_refused():
    with refused("Greedy.label: it is a function of the item, or of the item and a lookup"):

        class Greedy(View[Bottle]):
            @computed
            def label(item: Bottle, ratings: Ratings, more: int) -> str:
                return ""


def test_the_fields_of_a_view_have_no_other_names_and_no_defaults():
    with refused("Renamed: the fields of a view are always in camelCase"):

        class Renamed(View[Bottle], rename="pascal"):
            name: str

    with refused("Named.name: its value is the entity's"):

        class Named(View[Bottle]):
            name: str = msgspec.field(name="title")


def test_a_view_of_no_entity_has_no_plan():
    class Nothing(View):  # type: ignore[type-arg]
        pass

    with refused("Nothing is of no entity"):
        view_plan(Nothing)


@dataclass(frozen=True)
class AsOf:
    year: int

    same_for_all = True

    @staticmethod
    async def load(at: Any, items: Sequence[Bottle]) -> "AsOf":
        return AsOf(2026)


class AgedBottle(View[Bottle]):
    name: str

    @computed
    def age(bottle: Bottle, as_of: AsOf) -> int:
        return as_of.year - bottle.made_at.year


def test_a_lookup_says_whether_it_is_the_same_for_all_callers():
    assert view_plan(BottleView).same_for_all
    assert view_plan(AgedBottle).same_for_all
    assert not view_plan(RatedBottle).same_for_all
