"""Text from addresses and forms, converted to what JSON would have given."""

import re
from collections.abc import Sequence
from typing import Any

from potluck.validation import types
from potluck.validation.types import SchemaType

__all__ = ["from_text", "from_texts"]

WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")
# JSON's numbers, up to the length that people write.
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,40})(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,3})?")
MINUTE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}")

TRUTHS = {"true": True, "false": False}


def from_text(expected: SchemaType, text: str) -> Any:
    """The value that the text stands for; if it stands for none, the text itself, which is then refused."""
    match expected:
        case types.NullableType():
            return from_text(expected.inner, text)
        case types.IntegerType():
            return int(text) if WHOLE.fullmatch(text) else text
        case types.FloatType() | types.DecimalType():
            return types.NumberText(text) if NUMBER.fullmatch(text) else text
        case types.BooleanType():
            return TRUTHS.get(text, text)
        case types.ChoiceType() if text not in expected.values and WHOLE.fullmatch(text):
            return int(text)
        case types.DateTimeType(local=True) if MINUTE.fullmatch(text):
            # Browsers leave the seconds out.
            return f"{text}:00"
    return text


def from_texts(expected: SchemaType, texts: Sequence[str]) -> Any:
    """The same for what may be repeated; where no list is expected, repeated texts stay a list and are refused."""
    inner = expected.inner if isinstance(expected, types.NullableType) else expected
    if isinstance(inner, types.ListType):
        return [from_text(inner.item, text) if inner.item else text for text in texts]
    return from_text(inner, texts[0]) if len(texts) == 1 else list(texts)
