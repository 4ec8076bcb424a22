"""What an entity refuses although the input allowed it: answered as a wrong field of the input, and logged as a defect.

`New` and `Change` are compared with their entity at import. An `Input` of another kind cannot be: which of its values
end up in which field is for the rule to say.
"""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from potluck.table import InvalidValue
from potluck.validation.errors import FieldError, ValidationError, label_of
from potluck.web.declarations import Declared
from potluck.web.inputs import UNSET, Input

log = logging.getLogger(__name__)


@contextmanager
def named_by_field(declared: Declared, sent: Input | None) -> Iterator[None]:
    """Turns a value that an entity refuses into ValidationError, if it is one that was sent; any other is a defect."""
    try:
        yield
    except InvalidValue as refusal:
        name = None if sent is None else _sent_as(declared, sent, refusal)
        if name is None:
            raise
        log.warning("%s: the input allows what the entity refuses: %s", declared.name, refusal)
        raise ValidationError(FieldError(name, f"{label_of(name)} is not allowed: {refusal.why}")) from refusal


def _sent_as(declared: Declared, sent: Input, refusal: InvalidValue) -> str | None:
    """The name, as callers write it, of the field whose value was refused."""
    own = any(entity.__name__ == refusal.entity for entity in declared.subject.entities)
    named = re.match(r"\w*", refusal.field)
    assert named is not None
    by_name = None
    for field in msgspec.structs.fields(type(sent)):
        value = getattr(sent, field.name)
        if value is UNSET or value is None:
            continue
        if type(value) is type(refusal.value) and value == refusal.value:
            return field.encode_name
        if own and field.name == named[0]:
            by_name = field.encode_name
    return by_name
