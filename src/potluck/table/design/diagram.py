"""The entities of a design as a mermaid ER diagram."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from potluck.table.design.relations import key_fields, relations
from potluck.table.entity import EntityPlan
from potluck.table.fields import FieldPlan, Kind
from potluck.table.tables import Table

TYPES = {
    Kind.TEXT: "text",
    Kind.INTEGER: "integer",
    Kind.DECIMAL: "decimal",
    Kind.FLOAT: "number",
    Kind.BOOLEAN: "boolean",
    Kind.BYTES: "bytes",
    Kind.UUID: "UUID",
    Kind.TIME: "time",
    Kind.DATE: "date",
    Kind.LITERAL: "choice",
    Kind.ENUM: "choice",
    Kind.MAP: "map",
    Kind.STRUCT: "record",
    Kind.ANY: "any",
}


def mermaid(tables: Sequence[Table], *, only_keys: bool = False) -> str:
    """An ER diagram of all entities of these tables: their attributes, the keys these are in, and their relations.

    With `only_keys` it shows only attributes that are in a key or lead to another entity.
    """
    entities = [plan for table in tables for plan in table.entities]
    names = _names(entities)
    lines = ["erDiagram"]
    for table in tables:
        drawn = relations(table.entities)
        for relation in drawn:
            parent = "|o" if relation.optional else "||"
            child = "o{" if relation.many else "o|"
            line = "--" if relation.contains else ".."
            by = "contains" if relation.contains else relation.child.fields[relation.via[-1]].attribute
            lines.append(f'    {names[relation.parent]} {parent}{line}{child} {names[relation.child]} : "{by}"')
        for plan in table.entities:
            leading = {name for relation in drawn if relation.child is plan for name in relation.via}
            lines.append(f"    {names[plan]} {{")
            for field in plan.fields.values():
                marks, places = _marks(plan, field, leading), _places(plan, field)
                if marks or places or not only_keys:
                    lines.append(f"        {_attribute(field, marks, places)}")
            lines.append("    }")
    return "\n".join(lines) + "\n"


def _names(entities: Sequence[EntityPlan]) -> dict[EntityPlan, str]:
    """Each entity's name, preceded by its table's where two tables have entities of the same name."""
    uses = Counter(plan.name for plan in entities)
    # Quoted, because Mermaid has reserved words: an entity may be called Class or One.
    return {plan: f'"{plan.name}"' if uses[plan.name] == 1 else f'"{plan.table.name} {plan.name}"' for plan in entities}


def _marks(plan: EntityPlan, field: FieldPlan, leading: set[str]) -> list[str]:
    """The key marks of a field in Mermaid's syntax."""
    marks = {
        "PK": field.name in key_fields(plan),
        "FK": field.name in leading,
        "UK": field.unique is not None,
    }
    return [mark for mark, there in marks.items() if there]


def _places(plan: EntityPlan, field: FieldPlan) -> list[str]:
    """The key attributes that the field is a part of."""
    places = []
    for key in (plan.key, *plan.indexes.values()):
        if field.name in key.partition.fields:
            places.append(key.partition_attribute)
        if key.sort_attribute is not None and any(field.name in template.fields for template in key.sort):
            places.append(key.sort_attribute)
    return places


def _attribute(field: FieldPlan, marks: list[str], places: list[str]) -> str:
    words = [_type(field), _attribute_name(field)]
    if marks:
        words.append(", ".join(marks))
    if places:
        words.append(f'"{", ".join(places)}"')
    return " ".join(words)


def _attribute_name(field: FieldPlan) -> str:
    """The name in letters, digits, dashes and underscores, as Mermaid requires."""
    name = re.sub("[^A-Za-z0-9_-]", "_", field.attribute)
    is_word_of_its_own = name.upper() in ("PK", "FK", "UK")
    return f"_{name}" if is_word_of_its_own or not name[0].isalpha() else name


def _type(field: FieldPlan) -> str:
    if field.kind in (Kind.LIST, Kind.SET):
        assert field.element is not None
        return f"{_type(field.element)}[]"
    return TYPES[field.kind]
