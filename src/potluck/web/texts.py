"""What addresses and forms can only give as text, as JSON would have given it."""

import re
from collections.abc import Sequence
from typing import Any

from potluck.web.shapes import Choice, Exact, Many, Moment, Nullable, Number, Shape, Truth, Whole, Written

__all__ = ["from_text", "from_texts"]

WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")
# JSON's numbers, as long as people write them.
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,40})(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,3})?")
MINUTE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}")

TRUTHS = {"true": True, "false": False}


def from_text(shape: Shape, text: str) -> Any:
    """The value that the text stands for; the text itself, where it stands for none and will be refused."""
    match shape:
        case Nullable():
            return from_text(shape.inner, text)
        case Whole():
            return int(text) if WHOLE.fullmatch(text) else text
        case Number() | Exact():
            return Written(text) if NUMBER.fullmatch(text) else text
        case Truth():
            return TRUTHS.get(text, text)
        case Choice() if text not in shape.values and WHOLE.fullmatch(text):
            return int(text)
        case Moment(local=True) if MINUTE.fullmatch(text):
            # Browsers leave the seconds out.
            return f"{text}:00"
    return text


def from_texts(shape: Shape, texts: Sequence[str]) -> Any:
    """The same for what may be given more than once; a list of texts stands for nothing that is not a list."""
    inner = shape.inner if isinstance(shape, Nullable) else shape
    if isinstance(inner, Many):
        return [from_text(inner.item, text) if inner.item else text for text in texts]
    return from_text(inner, texts[0]) if len(texts) == 1 else list(texts)
