from copy import copy
from decimal import Decimal
from typing import Annotated, Literal
from urllib.parse import urlencode

import pytest
from jinja2 import Environment, StrictUndefined
from msgspec import Struct, field

from potluck.validation.errors import FieldError, ValidationError
from potluck.validation.field_types import Amount, Integer, Text
from potluck.web.forms import Form, Line, decode_form
from potluck.web.inputs import UNSET, Input, Unset


class NewNote(Input):
    title: Annotated[str, Text(1, 20, kind="raw")]
    many: Annotated[int, Integer(1, 9, "How many: 1 to 9")] = 1
    price: Annotated[Decimal, Amount(0, 100, places=2)] | None = None
    agreed: bool = True
    tags: list[Annotated[str, Text(0, 3, kind="raw")]] = field(default_factory=list)
    size: Literal["s", "m"] = "s"
    note: Annotated[str, Text(0, 50, kind="raw", trim=False)] | Unset = UNSET


def filled(**given: str | list[str]) -> Form[NewNote]:
    return decode_form(NewNote, urlencode(given, doseq=True).encode())


def test_texts_become_what_the_input_declares():
    form = filled(title="Soup", many=" 3 ", price="1.50", agreed="on", tags=["a", "b"], size="m", note="x", save="Save")
    assert form.is_valid
    assert form.value == NewNote(
        title="Soup", many=3, price=Decimal("1.50"), agreed=True, tags=["a", "b"], size="m", note="x"
    )


def test_an_empty_field_that_may_be_left_out_is_not_given():
    value = filled(title="Soup", many="", price="", note="", size="").value
    assert value == NewNote(title="Soup")


def test_a_box_that_is_not_ticked_is_absent_and_absent_is_not_false():
    assert filled(title="Soup").value.agreed is True
    assert change().value.done is UNSET
    assert change(done="on").value.done is True


def test_a_page_says_with_a_hidden_field_that_unticked_means_false():
    assert change(done="false").value.done is False
    assert change(done=["false", "true"]).value.done is True
    assert change(done=["false", "on"]).values["done"] is True


def test_a_list_of_boxes_is_absent_unless_a_hidden_field_is_sent():
    assert change().value.tags is UNSET
    assert change(tags="").value.tags == []
    assert change(tags=["", "a"]).value.tags == ["a"]
    assert change(tags=["", "a"]).values["tags"] == ["a"]


def test_python_asks_for_a_field_as_templates_do():
    form = filled(title="", many="3")
    assert form.errors.title == form.errors["title"] != ""
    assert form.errors.many == form.errors["many"] == ""
    assert (form.values.many, form.values.nothing) == ("3", "")
    assert not hasattr(form.errors, "__html__")
    assert copy(form.values).many == "3"


class NoteChange(Input):
    title: Annotated[str, Text(1, 20, "Title must be 1-20 characters", kind="raw")] | Unset = UNSET
    note: Annotated[str, Text(0, 20, "Note must be 20 characters or less", kind="raw")] | Unset | None = UNSET
    by: Annotated[str, Text(1, 20, "By must be 1-20 characters", kind="raw")] | None = None
    done: bool | Unset = UNSET
    many: Annotated[int, Integer(1, 9, "1 to 9")] | None = 1
    tags: list[Annotated[str, Text(1, 3, kind="raw")]] | Unset = UNSET


def change(**given: str | list[str]) -> Form[NoteChange]:
    return decode_form(NoteChange, urlencode(given, doseq=True).encode())


def test_texts_are_trimmed_and_blank_means_what_it_does_in_json():
    value = change(title="  Soup ", note="   ", many=" ").value
    assert (value.title, value.note, value.many) == ("Soup", None, None)
    form = change(title=" ", by="")
    assert [(each.field, each.message) for each in form.all_errors] == [
        ("title", "Title must be 1-20 characters"),
        ("by", "By must be 1-20 characters"),
    ]
    assert form.values["title"] == " "


def test_lines_end_as_they_were_typed():
    assert decode_form(NewNote, b"title=a%0D%0Ab").value.title == "a\nb"


def test_everything_wrong_is_told_at_once_and_what_was_typed_is_kept():
    form = filled(title="", many="lots", price="1,5", tags=["long", "a"], agreed="on")
    assert not form.is_valid
    assert form.errors["title"] == "Title must have 1 to 20 characters"
    assert form.errors["many"] == "How many: 1 to 9"
    assert form.errors["price"] == "Price must be a number from 0 to 100 with at most 2 decimal places"
    assert form.errors["tags"] == "Each entry of tags must have at most 3 characters"
    assert form.errors["size"] == ""
    assert [form.values[name] for name in ("many", "price", "tags", "agreed")] == ["lots", "1,5", ["long", "a"], True]
    with pytest.raises(ValidationError):
        _ = form.value


def test_what_a_service_refuses_stands_beside_its_field_or_above_the_form():
    form = filled(title="Soup").refused(ValidationError(FieldError("title", "This title is taken")))
    assert form.errors["title"] == "This title is taken"
    assert form.non_field_errors == ()
    assert filled(title="Soup").refused("The e-mail address or the password is wrong").non_field_errors == (
        "The e-mail address or the password is wrong",
    )


def test_a_template_can_ask_for_any_field():
    environment = Environment(undefined=StrictUndefined, autoescape=True)
    template = environment.from_string("{{ form.values.title }}|{{ form.errors.title }}|{{ form.values.items }}")
    assert template.render(form=Form.blank(NewNote, {"title": "<Soup>"})) == "&lt;Soup&gt;||"
    assert template.render(form=filled(title="")) == "|Title must have 1 to 20 characters|"


@pytest.mark.parametrize("raw", [b"title=%ff", b"title=\xff", b"a=1&" * 2000])
def test_what_no_browser_sends_is_refused_and_not_an_error_of_ours(raw):
    form = decode_form(NewNote, raw)
    assert not form.is_valid
    assert form.non_field_errors


class Size(Input):
    width: Annotated[int, Integer(1, 9, "Width: 1 to 9")]
    height: int = 1


class NewBox(Input):
    name: Line = ""
    size: Size


def test_a_form_has_the_fields_of_a_struct_under_their_own_names():
    form = decode_form(NewBox, b"name=Red&width=3")
    assert form.value == NewBox(name="Red", size=Size(width=3))
    assert [form.values[name] for name in ("name", "width", "height")] == ["Red", "3", ""]
    assert Form.texts_of(NewBox, form.value) == {"name": "Red", "width": "3", "height": "1"}


def test_errors_within_a_struct_are_shown_next_to_the_fields():
    form = decode_form(NewBox, b"name=Red&width=0")
    assert (form.errors["width"], form.non_field_errors) == ("Width: 1 to 9", ())
    refused = decode_form(NewBox, b"width=3").refused(ValidationError(FieldError("size.height", "Too high")))
    assert (refused.errors["height"], refused.non_field_errors) == ("Too high", ())


def test_a_form_cannot_hold_what_it_could_not_tell_apart():
    class Nested(Input):
        box: NewBox

    class MayHold(Input):
        size: Size | Unset = UNSET

    class Twice(NewBox):
        width: int = 1

    for kind, complaint in ((Nested, "more than a form"), (MayHold, "more than a form"), (Twice, "two fields")):
        with pytest.raises(TypeError, match=complaint):
            Form.blank(kind)


def test_a_form_shows_the_fields_of_the_thing_that_it_changes():
    class Thing(Struct):
        name: str
        amount: int | None
        tags: tuple[str, ...]
        done: bool
        secret: str = "not in the form"

    class ThingChange(Input):
        name: Annotated[str, Text(1, 50, kind="raw")]
        amount: int | None = None
        tags: tuple[str, ...] = ()
        done: bool = False
        confirmed: bool = False

    thing = Thing("Tea", None, ("a", "b"), True)
    assert Form.texts_of(ThingChange, thing) == {"name": "Tea", "amount": "", "tags": ["a", "b"], "done": True}
    assert Form.blank(ThingChange, thing).values["name"] == "Tea"
    assert Form.texts_of(ThingChange, None) == {}
