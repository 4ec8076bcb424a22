"""A value of another kind is answered with the kind it must be, for every field of every app."""

from collections.abc import Iterator

import pytest

import potluck.suite  # noqa: F401 - so that every app has declared its inputs
from potluck.validation import compound_types, schema_of, types
from potluck.validation.compound_types import without_null
from potluck.validation.errors import label_of
from potluck.web.inputs import Input

# What the field must be, and a value that is not.
KINDS = [
    (types.TextType, 5, "must be text"),
    (types.TextType, ["x"], "must be text"),
    (compound_types.ListType, "x", "must be a list"),
    (compound_types.ListType, {"0": "x"}, "must be a list"),
    (compound_types.MapType, ["x"], "must be an object"),
    (compound_types.ObjectType, "x", "must be an object"),
]


def inputs(kind: type[Input] = Input) -> Iterator[type[Input]]:
    for each in kind.__subclasses__():
        if each.__module__.startswith("potluck."):
            yield each
        yield from inputs(each)


def fields_of(kind: type[types.SchemaType]) -> list[tuple[str, compound_types.ObjectField]]:
    found = []
    for each in inputs():
        expected = schema_of(each)
        if isinstance(expected, compound_types.ObjectType):
            found += [(each.__name__, f) for f in expected.fields.values() if isinstance(without_null(f.type), kind)]
    return found


@pytest.mark.parametrize(("kind", "value", "said"), KINDS)
def test_every_field_says_which_kind_it_must_be(kind, value, said):
    fields = fields_of(kind)
    for name, field in fields:
        (wrong,) = field.type.errors(value, field.name, label_of(field.name))
        assert (wrong.field, wrong.message) == (field.name, f"{label_of(field.name)} {said}"), name
    if kind in (types.TextType, compound_types.ListType):
        assert len(fields) > 5


def test_null_is_nothing_rather_than_another_kind():
    # A design document's message stays for what is left empty.
    wrong = [*types.TextType(least=1, most=100, message="Name must be 1-100 characters").errors(None, "name")]
    assert [each.message for each in wrong] == ["Name must be 1-100 characters"]
