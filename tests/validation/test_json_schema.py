"""JSON Schema of inputs and views."""

from potluck.validation import Schemas
from tests.web.cellar import BottleChange, BottleView, NewBottle
from tests.web.test_view_declarations import RatedBottle


def test_an_input_is_described_by_the_types_it_is_decoded_by():
    schemas = Schemas([NewBottle, BottleChange])
    assert schemas.of_input(NewBottle) == {"$ref": "#/components/schemas/NewBottle"}
    assert schemas.of_input(BottleChange) == {"$ref": "#/components/schemas/BottleChange"}
    new, change = schemas.components["NewBottle"], schemas.components["BottleChange"]
    assert new["required"] == ["name", "colour"]
    assert new["additionalProperties"] is False
    # Blank text is too short once it is trimmed.
    assert new["properties"]["name"] == {"type": "string", "minLength": 1, "maxLength": 20, "pattern": r"\S"}
    assert new["properties"]["notes"] == {"anyOf": [{"type": "string", "maxLength": 50}, {"type": "null"}]}
    assert new["properties"]["colour"] == {"type": "string", "enum": ["red", "white"]}
    assert "required" not in change
    assert change["properties"]["version"] == {"type": "integer", "minimum": 1, "maximum": 10**15}


def test_a_view_is_described_with_its_computed_fields():
    schemas = Schemas([BottleView, RatedBottle])
    assert schemas.of_answer(RatedBottle) == {"$ref": "#/components/schemas/RatedBottle"}
    rated = schemas.components["RatedBottle"]
    assert rated["description"] == "A bottle, and what people think of it."
    assert rated["properties"] == {
        "bottleId": {"type": "string", "format": "uuid"},
        "name": {"type": "string"},
        "shouted": {"type": "string"},
        "rating": {"type": "integer"},
    }
    # What may be UNSET may be left out.
    assert rated["required"] == ["bottleId", "name", "shouted"]
