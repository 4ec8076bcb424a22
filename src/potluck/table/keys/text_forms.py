"""Text in keys: unchanged, folded, collated, or one of a few choices; never with "#", which separates components."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from potluck.table.errors import DesignError, InvalidValue
from potluck.table.fields import FieldPlan, Kind
from potluck.table.keys.collation import COLLATED_EXTRA_BYTES, collate
from potluck.table.keys.folding import FOLDED_BYTES_PER_CHARACTER, LONGEST_CHARACTER, caseless, fold
from potluck.table.keys.forms import KeyEncoding, KeySpan, discrete, expected_other, misspelt

if TYPE_CHECKING:
    from potluck.table.keys.ranges import Range

Normalize = Callable[[str, int | None], str]
"""Writes a text in another form, cut to this many bytes."""

ESCAPED = r'(?:[^"#]|"[!~])'
"""A pattern for one escaped character."""


def escape(text: str) -> str:
    """The text without "#": order, prefixes and distinctness are preserved, and plain text is unchanged."""
    # Each code begins with '"', which sorts right before "#"; "!" and "~" keep the two codes in order.
    return text.replace('"', '"!').replace("#", '"~')


def unescape(text: str) -> str:
    return text.replace('"~', "#").replace('"!', '"')


def text_form(field: FieldPlan, spec: str) -> KeyEncoding:
    kind = spec.partition(" ")[0]
    if kind == "folded":
        return _normalized(field, spec, fold)
    if kind == "collated":
        # A prefix does not determine the collated prefix: "The" may be an article.
        return replace(_normalized(field, spec, collate, COLLATED_EXTRA_BYTES), begins=None)
    if spec == "caseless":
        return _caseless(field)
    if spec:
        forms = ", ".join(f"{{{field.name}{form}}}" for form in ("", ":caseless", ":folded"))
        raise misspelt(field, spec, f"{forms} or {{{field.name}:collated}}")
    shortest, longest = field.min_length or 0, field.max_length
    if longest is None:
        raise DesignError(
            f"{field.where} is in a key, so it needs a maximum length: Annotated[str, Meta(max_length=...)]"
        )

    def encode(value: str) -> str:
        if type(value) is not str or not value.isascii():
            value = valid_text(field, value)
        if not shortest <= len(value) <= longest:
            raise InvalidValue(field.entity, field.name, f"{len(value)} characters, not {shortest} to {longest}")
        return value.replace('"', '"!').replace("#", '"~')

    def span(bounds: Range[str]) -> KeySpan | None:
        low, high = bounds.low, bounds.high
        loose = False
        if low is not None:
            low = valid_text(field, low)
            # No value is longer than `longest`, so a longer bound is cut; what is left sorts before the bound.
            after = bounds.low_open or len(low) > longest
            loose = after and len(low) >= longest
            low = escape(low[:longest]) + ("\0" if after and not loose else "")
        if high is not None:
            high = escape(valid_text(field, high)[:longest])
        return KeySpan(low, high, bounds.high_open and len(bounds.high or "") <= longest, loose)

    def begins(text: str) -> str | None:
        text = valid_text(field, text)
        return escape(text) if len(text) <= longest else None

    return KeyEncoding(
        name="text",
        encode=encode,
        decode=unescape,
        max_bytes=longest * LONGEST_CHARACTER,
        pattern=f"{ESCAPED}{{{shortest},{longest}}}",
        span=span,
        begins=begins,
    )


def _caseless(field: FieldPlan) -> KeyEncoding:
    if field.max_length is None:
        raise DesignError(
            f"{field.where} is in a key, so it needs a maximum length: Annotated[str, Meta(max_length=...)]"
        )
    return KeyEncoding(
        name="caseless",
        encode=lambda value: escape(caseless(valid_text(field, value))),
        decode=None,
        max_bytes=field.max_length * FOLDED_BYTES_PER_CHARACTER,
        pattern=f"{ESCAPED}*",
        compared_as=lambda value: caseless(valid_text(field, value)),
    )


def _normalized(field: FieldPlan, spec: str, normalize: Normalize, extra_bytes: int = 0) -> KeyEncoding:
    """A form that loses the spelling, cut if the spec says so: `folded 400`."""
    kind = spec.partition(" ")[0]
    most = re.fullmatch(f"{kind}(?: ([0-9]{{2,4}}))?", spec)
    if most is None:
        raise misspelt(field, spec, f"{{{field.name}:{kind}}}, or {{{field.name}:{kind} 400}} to cut it to 400 bytes")
    if most[1] is not None:
        max_bytes = int(most[1])
    elif field.max_length is not None:
        # Large enough that no allowed value is ever cut; see how `cut` does it.
        max_bytes = field.max_length * FOLDED_BYTES_PER_CHARACTER + extra_bytes + LONGEST_CHARACTER - 1
    else:
        raise DesignError(
            f"{field.where} is in a key, so it needs a maximum length: Annotated[str, Meta(max_length=...)], "
            f"or where to cut it: {{{field.name}:{kind} 400}}"
        )

    def encode(value: str) -> str:
        return normalize(valid_text(field, value), max_bytes)

    def whole(value: str) -> str:
        return normalize(valid_text(field, value), None)

    def span(bounds: Range[str]) -> KeySpan | None:
        low = None if bounds.low is None else encode(bounds.low)
        high = None if bounds.high is None else encode(bounds.high)
        low_cut, high_cut = (text is not None and lost_its_end(text) for text in (low, high))
        if low is not None and bounds.low_open and not low_cut:
            low += "$"  # sorts after the text itself, alone or followed by "#", and before every longer text
        return KeySpan(low, high, bounds.high_open and not high_cut, low_cut or high_cut)

    form = KeyEncoding(
        name=spec,
        encode=encode,
        decode=None,
        max_bytes=max_bytes,
        pattern=r"[^\x00-#A-Z]*",
        span=span,
        sorts_before_separator=True,
        begins=encode,
        compared_as=whole,
        whole_below=max_bytes - LONGEST_CHARACTER + 1,
    )
    lost_its_end = form.lost_its_end
    return form


def custom_form(field: FieldPlan) -> KeyEncoding:
    custom = field.in_keys
    assert custom is not None

    def encode(value: Any) -> str:
        try:
            written = custom.encode(value)
            faithful = custom.decode(written) == value
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            why = f"{value!r:.100} cannot be written in a key: {error}"
            raise InvalidValue(field.entity, field.name, why) from error
        if not faithful:
            why = f"{value!r:.100} is written {written!r:.100} in keys, which does not decode to the same value"
            raise InvalidValue(field.entity, field.name, why)
        text = escape(valid_text(field, written))
        if len(text.encode()) > custom.max_bytes:
            raise InvalidValue(field.entity, field.name, f"{text!r:.100} has more than {custom.max_bytes} bytes")
        return text

    def decode(text: str) -> Any:
        return custom.decode(unescape(text))

    return KeyEncoding("custom", encode, decode, custom.max_bytes, f"{ESCAPED}*")


def choice_form(field: FieldPlan, spec: str) -> KeyEncoding:
    if spec:
        raise misspelt(field, spec, f"{{{field.name}}}")
    is_enum, is_text = field.kind is Kind.ENUM, field.wire == "S"
    values = {str(choice.value if is_enum else choice): choice for choice in field.choices}
    written = {value: escape(text) for text, value in values.items()}
    in_order = sorted(written.values())

    def encode(value: Any) -> str:
        # True == 1, so equality alone would let a bool pass for a number.
        if type(value) is not bool:
            try:
                return written[value]
            except (KeyError, TypeError):
                pass
        why = f"{value!r:.100} is none of {', '.join(map(repr, field.choices))}"
        raise InvalidValue(field.entity, field.name, why)

    def decode(text: str) -> Any:
        return values[unescape(text)]

    def floor(bound: Any) -> str | None:
        place = bisect_right(in_order, escape(valid_text(field, bound)))
        return unescape(in_order[place - 1]) if place else None

    def step(value: str, by: int) -> str | None:
        place = in_order.index(escape(value)) + by
        return unescape(in_order[place]) if 0 <= place < len(in_order) else None

    return KeyEncoding(
        name="choice",
        encode=encode,
        decode=decode,
        max_bytes=max(len(text.encode()) for text in in_order),
        pattern="|".join(re.escape(text) for text in in_order),
        prefix_free=not any(b.startswith(a) for a in in_order for b in in_order if a is not b),
        stored_text=all(escape(text) == text for text in values),
        span=discrete(encode, floor, step) if is_text and not is_enum else None,
    )


def valid_text(field: FieldPlan, value: Any) -> str:
    if not isinstance(value, str):
        raise expected_other(field, value)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            why = "the text is not valid Unicode: it holds half of a surrogate pair"
            raise InvalidValue(field.entity, field.name, why) from None
    # A member of a text Enum would be formatted as its name.
    return value if type(value) is str else str.__str__(value)
