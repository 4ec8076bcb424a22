"""Which entities belong to which, as far as the keys prove it.

An entity refers to another if it has every id of the other's primary key, if it is in the partition that the other
represents, or if it has the id that is named after the other: a `thread_id` leads to the AIThread.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from potluck.table.entity import EntityPlan
from potluck.table.fields import Kind
from potluck.table.keys import KeyTemplate


@dataclass(frozen=True, slots=True)
class Relation:
    """Every `child` has a `parent`, or may have one."""

    parent: EntityPlan
    child: EntityPlan
    via: tuple[str, ...]  # the child's fields that lead to the parent
    contains: bool  # the child's key continues the parent's, in the same partition
    optional: bool  # a child may have no such parent
    many: bool  # a parent may have many such children


def key_fields(plan: EntityPlan) -> tuple[str, ...]:
    """The fields of the primary key, in its order."""
    templates = (plan.key.partition, *plan.key.sort)
    return tuple(dict.fromkeys(name for template in templates for name in template.fields))


def relations(entities: Sequence[EntityPlan]) -> list[Relation]:
    """All relations between these entities, in the order of the children."""
    all_found = {
        (child, parent): via
        for child in entities
        for parent in entities
        if not _same_key(child, parent) and (via := _via(child, parent, entities))
    }
    # Of two that refer to each other, only one belongs to the other.
    references = {
        (child, parent): via
        for (child, parent), via in all_found.items()
        if (parent, child) not in all_found or _first(child, parent, entities) is parent
    }
    drawn = []
    for child in entities:
        parents = {parent: via for (one, parent), via in references.items() if one is child}
        for parent, via in _nearest(child, parents).items():
            alternatives = [other for other in parents if _same_key(other, parent)]
            drawn.append(
                Relation(
                    parent=parent,
                    child=child,
                    via=via,
                    contains=_goes_on(parent, child),
                    optional=len(alternatives) > 1 or _is_optional(child, via),
                    many=(parent, child) not in all_found and not set(key_fields(child)) <= set(via),
                )
            )
    return drawn


def _via(child: EntityPlan, parent: EntityPlan, entities: Sequence[EntityPlan]) -> tuple[str, ...]:
    """The child's fields that lead to the parent; empty if none certainly do."""
    names = key_fields(parent)
    if _stands_for_partition(parent) and _same_shape(parent.key.partition, child.key.partition):
        return child.key.partition.fields
    if not names or not _is_id(parent, names[-1]):
        return ()
    held = [name for name in names if name in child.fields and child.fields[name].kind is parent.fields[name].kind]
    # Text fields of the same name may mean different things; ids and times are not shared by chance.
    if len(held) == len(names) and all(_is_id(parent, name) or parent.fields[name].kind is Kind.TIME for name in names):
        return names
    return (names[-1],) if names[-1] in held and parent in _called_by(names[-1], entities) else ()


def _called_by(name: str, entities: Sequence[EntityPlan]) -> list[EntityPlan]:
    """The entities that an id is named after, as store_id is after Store; empty if that is not certain."""
    stem = _stem(name)
    known = [plan for plan in entities if key_fields(plan)[-1:] == (name,) and plan.fields[name].kind is Kind.UUID]
    exactly = [plan for plan in known if _plain(plan.name) == stem]
    roughly = [plan for plan in known if stem and _plain(plan.name).endswith(stem)]
    called = exactly or roughly
    return called if called and all(_same_key(called[0], plan) for plan in called) else []


def _nearest(child: EntityPlan, parents: dict[EntityPlan, tuple[str, ...]]) -> dict[EntityPlan, tuple[str, ...]]:
    """The parents that the child does not already reach through a nearer or clearer one."""
    nearest = {}
    for parent, via in parents.items():
        nearer = any(
            set(via) < set(other)
            and not _is_optional(child, other)
            and _goes_on(rival, child) >= _goes_on(parent, child)
            for rival, other in parents.items()
        )
        rivals = [rival for rival, other in parents.items() if set(other) == set(via) and not _same_key(rival, parent)]
        outdone = any(
            (_is_whole(rival, via), _is_named(rival)) > (_is_whole(parent, via), _is_named(parent)) for rival in rivals
        )
        if not nearer and not outdone:
            nearest[parent] = via
    return nearest


def _is_whole(parent: EntityPlan, via: tuple[str, ...]) -> bool:
    return len(via) == len(key_fields(parent))


def _first(one: EntityPlan, other: EntityPlan, entities: Sequence[EntityPlan]) -> EntityPlan:
    """Of two that refer to each other, the one that the other belongs to."""
    return min((one, other), key=lambda plan: (len(key_fields(plan)), not _is_named(plan), entities.index(plan)))


def _is_named(plan: EntityPlan) -> bool:
    """Whether the id at the end of its key is named after the entity, or after the literal before it."""
    name = key_fields(plan)[-1]
    template = next(template for template in (*plan.key.sort, plan.key.partition) if name in template.fields)
    before = template.literals[template.fields.index(name)].strip("#").rpartition("#")[2]
    return bool(_stem(name)) and _stem(name) in (_plain(plan.name), _plain(before))


def _goes_on(parent: EntityPlan, child: EntityPlan) -> bool:
    if not _same_shape(parent.key.partition, child.key.partition):
        return False
    return _stands_for_partition(parent) or any(
        theirs.text.startswith(f"{ours.text}#") for ours in parent.key.sort for theirs in child.key.sort
    )


def _stands_for_partition(plan: EntityPlan) -> bool:
    return bool(plan.key.partition.fields) and set(key_fields(plan)) == set(plan.key.partition.fields)


def _is_optional(child: EntityPlan, via: tuple[str, ...]) -> bool:
    return any(child.fields[name].optional for name in via)


def _is_id(plan: EntityPlan, name: str) -> bool:
    return plan.fields[name].kind is Kind.UUID or name == "id" or name.endswith("_id")


def _stem(name: str) -> str:
    return _plain(re.sub("_?id$", "", name))


def _plain(text: str) -> str:
    return re.sub("[^a-z0-9]", "", text.lower())


def _same_shape(one: KeyTemplate, other: KeyTemplate) -> bool:
    """Whether they differ at most in the names of their fields."""
    forms = [[component.form.name for component in template.components] for template in (one, other)]
    return one.literals == other.literals and forms[0] == forms[1]


def _same_key(one: EntityPlan, other: EntityPlan) -> bool:
    keys = [(plan.key.partition.text, *(template.text for template in plan.key.sort)) for plan in (one, other)]
    return keys[0] == keys[1]
