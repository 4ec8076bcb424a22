"""Inputs are held to their entity when they are defined."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

import msgspec
import pytest

from potluck.table import InvalidValue
from potluck.table.entity import plan_of
from potluck.table.fields import stored_value
from potluck.validation.decoding import decode_tree
from potluck.validation.errors import FieldError, ValidationError
from potluck.web.inputs import UNSET, DeclarationError, Edit, Input, New, Unset, Versioned, merged
from tests.web.cellar import Bottle, BottleChange, BottleName, NewBottle, Notes, Shelf


def refused(message: str):
    return pytest.raises(DeclarationError, match=message)


def test_a_new_thing_has_the_fields_that_a_caller_may_choose():
    new = NewBottle(name="Barolo", colour="red")
    assert new.notes is None
    assert new.bottle_id is UNSET
    assert NewBottle.__entity__ is Bottle
    assert new == NewBottle(name="Barolo", colour="red")


def test_a_change_brings_the_version_that_was_seen():
    assert BottleChange(name="Barolo", version=3).version == 3
    assert BottleChange(name="Barolo").version is UNSET
    assert issubclass(BottleChange, Versioned)


class Label(msgspec.Struct, frozen=True):
    front: str
    back: str = ""


class Labelled(msgspec.Struct, frozen=True):
    label: Label
    name: str = "Barolo"
    version: int = 1


class LabelChange(Input):
    front: str | Unset = UNSET
    back: str | Unset = UNSET


class LabelledChange(Versioned):
    label: LabelChange | Unset = UNSET
    name: str | Unset = UNSET


class AnyOfLabel(Input, changes=Label):
    pass


def test_an_input_that_changes_a_struct_has_its_fields_and_none_need_be_sent():
    change = decode_tree(AnyOfLabel, {"back": "Vegan"})
    assert merged(Label("Barolo", "Contains sulphites"), change) == Label("Barolo", "Vegan")
    with pytest.raises(ValidationError, match="Front must be text"):
        decode_tree(AnyOfLabel, {"front": 1})


def test_what_is_sent_of_an_input_inside_changes_that_part_and_no_more():
    before = Labelled(Label("Barolo", "Contains sulphites"))
    change = LabelledChange(version=1, label=LabelChange(front="Barolo 2019"))
    assert merged(before, change) == Labelled(Label("Barolo 2019", "Contains sulphites"))
    assert merged(before, LabelledChange()) == before


def test_the_names_that_callers_use_are_in_camel_case():
    assert NewBottle.__struct_encode_fields__ == ("name", "colour", "notes", "litres", "bottleId")


def test_an_entity_and_its_input_share_one_type():
    fields = plan_of(Bottle).fields
    assert (fields["name"].min_length, fields["name"].max_length) == (1, 20)
    assert (fields["litres"].ge, fields["litres"].le) == (0, 10)
    assert (fields["year"].ge, fields["year"].le) == (1800, 2100)
    assert stored_value(fields["name"], "Barolo") == {"S": "Barolo"}
    for name, wrong in (("name", "x" * 21), ("litres", Decimal(11)), ("year", 1799)):
        with pytest.raises(InvalidValue):
            stored_value(fields[name], wrong)


def test_a_field_that_the_entity_does_not_have_is_refused_with_the_one_that_was_meant():
    with refused(r"Misspelt.nmae: Bottle has no field nmae \(did you mean name\?\)\. A value that is not a field"):

        class Misspelt(New[Bottle]):
            nmae: BottleName


def test_a_field_that_only_an_input_has_is_refused_in_a_change():
    with refused("Bottle has no field allow_duplicate"):

        class Extra(Edit[Bottle]):
            allow_duplicate: bool = False


def test_a_value_that_the_entity_cannot_hold_is_refused():
    with refused("Nameless.name: Bottle.name cannot hold None"):

        class Nameless(New[Bottle]):
            name: BottleName | None = None

    with refused("Rose.colour: Bottle.colour cannot hold 'rose'"):

        class Rose(New[Bottle]):
            colour: Literal["red", "rose"]

    with refused("Free.colour: Bottle.colour cannot hold str"):

        class Free(New[Bottle]):
            colour: str

    with refused("Numbered.notes: Bottle.notes cannot hold int"):

        class Numbered(New[Bottle]):
            notes: int


def test_fewer_choices_than_the_entity_has_are_allowed():
    class Red(New[Bottle]):
        colour: Literal["red"]

    assert Red(colour="red").colour == "red"


def test_the_version_is_chosen_by_nobody():
    with refused("Chosen.version: the version is incremented by every write"):

        class Chosen(New[Bottle]):
            version: int


def test_a_change_of_what_has_no_version_is_refused():
    with refused("Shelf has no field of type Version"):

        class ShelfChange(Edit[Shelf]):
            name: BottleName | Unset = UNSET


def test_a_key_never_changes():
    with refused("it is part of the key of Bottle"):

        class Moved(Edit[Bottle]):
            cellar_id: UUID | Unset = UNSET


def test_not_sending_a_field_of_a_change_must_not_change_it():
    with refused(r"Emptied.notes: not sending it would set None; write `\| Unset = UNSET`"):

        class Emptied(Edit[Bottle]):
            notes: Notes | None = None


def test_an_input_that_derives_from_another_is_held_to_the_same_entity():
    with refused("Bottle has no field corks"):

        class Corked(NewBottle):
            corks: int


def test_a_check_is_a_static_method_of_what_was_sent():
    with refused("Wrong.check: write `@staticmethod"):

        class Wrong(Input):
            first: int

            def check(self) -> Iterable[FieldError]:
                return []


def test_an_input_of_no_entity_declares_what_it_likes():
    class Filter(Input):
        store_id: Annotated[UUID, msgspec.Meta()] | Unset = UNSET

    assert Filter().store_id is UNSET


def test_bounds_that_are_wider_than_the_entitys_are_refused_at_import():
    """What such an input takes, the row would refuse: too late for a clear answer."""
    with pytest.raises(DeclarationError, match="has bounds that this does not state"):

        class Loose(New[Bottle]):
            name: str
