"""Attribute values in wire form: validity, size and equality."""

from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, NoReturn

from potluck.dynamo import limits
from potluck.dynamo.errors import DynamoError, invalid
from potluck.dynamo.numbers import add_numbers, canonical_number, known_numbers, number_size, read_number, read_strictly

__all__ = [
    "TYPES",
    "Item",
    "Value",
    "add_numbers",
    "canonical_number",
    "check_attribute_name",
    "checked_item",
    "checked_value",
    "equal",
    "item_size",
    "kind_of",
    "ordered_set",
    "utf8_length",
    "value_size",
]

Value = dict[str, Any]
Item = dict[str, Value]

TYPES = frozenset(("S", "N", "B", "SS", "NS", "BS", "BOOL", "NULL", "L", "M"))

NO_TYPE = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
SEVERAL_TYPES = (
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
)
TOO_NESTED = (
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
)
PARAMETERS_INVALID = "One or more parameter values were invalid: "

SET_ORDERS: dict[str, Callable[[str], Any]] = {"NS": Decimal, "BS": a2b_base64}

CONTAINER_BYTES = 3
ELEMENT_BYTES = 1


class _Unusual(Exception):
    """The fast pass found a value that only the careful pass can explain."""


def kind_of(value: Value) -> str:
    """The type name of a valid value."""
    return next(iter(value))


def utf8_length(text: str) -> int:
    """The size of a text in bytes, as the service counts it."""
    if text.isascii():
        return len(text)
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        raise DynamoError("SerializationException", "Strings must be valid Unicode text") from None


# --- binary ----------------------------------------------------------------------------------------------------------


def _binary_size(text: str) -> int:
    if not isinstance(text, str):
        raise DynamoError("SerializationException", "only base-64-encoded strings are convertible to bytes")
    if len(text) % 4:
        raise DynamoError(
            "SerializationException", f"Base64 encoded length is expected a multiple of 4 bytes but found: {len(text)}"
        )
    try:
        data = a2b_base64(text, strict_mode=True) if text else b""
    except (Base64Error, ValueError):
        raise DynamoError("SerializationException", "Invalid Base64 character detected") from None
    if b2a_base64(data, newline=False) != text.encode():
        raise DynamoError("SerializationException", "Invalid last non-pad Base64 character dectected")
    return len(data)


# --- whole values ----------------------------------------------------------------------------------------------------


def checked_item(item: Item) -> tuple[Item, int]:
    """The item with canonical numbers, and its size in bytes; the same object when nothing had to change."""
    try:
        # Texts are collected so that a single join checks all their types and measures all their bytes.
        texts = list(item)
        size = 0
        changed: Item | None = None
        for name, value in item.items():
            [(kind, content)] = value.items()
            if kind == "S":
                texts.append(content)
            elif kind == "N":
                canonical, number_size = known_numbers.get(content) or read_number(content)
                size += number_size
                if canonical != content:
                    if changed is None:
                        changed = item.copy()
                    changed[name] = {"N": canonical}
            elif kind == "NULL" or kind == "BOOL":
                if content is not True and (content is not False or kind == "NULL"):
                    raise _Unusual
                size += 1
            else:
                new, value_bytes = _checked(kind, content, value, texts, limits.NESTING_LEVELS - 1)
                size += value_bytes
                if new is not value:
                    if changed is None:
                        changed = item.copy()
                    changed[name] = new
        joined = "".join(texts)
        size += len(joined) if joined.isascii() else len(joined.encode())
        if "" in item or (size > limits.ATTRIBUTE_NAME_BYTES and not _names_fit(item)):
            raise _Unusual
    except (ValueError, TypeError, AttributeError, _Unusual):
        _explain_item(item)
    except DynamoError as error:
        # An earlier attribute may have an error that only the careful pass detects.
        _explain_item(item, error)
    return changed if changed is not None else item, size


def checked_value(value: Value) -> tuple[Value, int]:
    """The value with canonical numbers, and its size in bytes."""
    try:
        [(kind, content)] = value.items()
        if kind == "S":
            return value, len(content) if content.isascii() and type(content) is str else _text_size(content)
        texts: list[str] = []
        new, size = _checked(kind, content, value, texts, limits.NESTING_LEVELS - 1)
        if texts:
            joined = "".join(texts)
            size += len(joined) if joined.isascii() else len(joined.encode())
    except (ValueError, TypeError, AttributeError, _Unusual):
        _explain_value(value, limits.NESTING_LEVELS)
        raise
    except DynamoError:
        _explain_value(value, limits.NESTING_LEVELS)
        raise
    return new, size


def _text_size(text: Any) -> int:
    if type(text) is not str:
        raise _Unusual
    return utf8_length(text)


def _checked(kind: str, content: Any, value: Value, texts: list[str], levels: int) -> tuple[Value, int]:
    """The value or its canonical form, and its size without its texts, which are appended to `texts`."""
    if kind == "S":
        texts.append(content)
        return value, 0
    if kind == "N":
        canonical, size = known_numbers.get(content) or read_number(content)
        return (value if canonical == content else {"N": canonical}), size
    if kind == "BOOL":
        if content is not True and content is not False:
            raise _Unusual
        return value, 1
    if kind == "NULL":
        if content is not True:
            raise _Unusual
        return value, 1
    if kind == "B":
        return value, _binary_size(content)
    if kind == "M":
        return _checked_map(content, value, texts, levels)
    if kind == "L":
        return _checked_list(content, value, texts, levels)
    return _checked_set(kind, content, value, texts)


def _checked_map(content: Any, value: Value, texts: list[str], levels: int) -> tuple[Value, int]:
    if not levels or "" in content:
        raise _Unusual
    texts.extend(content)
    size = CONTAINER_BYTES + ELEMENT_BYTES * len(content)
    changed: Item | None = None
    for name, inner in content.items():
        [(kind, inside)] = inner.items()
        new, inner_size = _checked(kind, inside, inner, texts, levels - 1)
        size += inner_size
        if new is not inner:
            if changed is None:
                changed = content.copy()
            changed[name] = new
    return (value if changed is None else {"M": changed}), size


def _checked_list(content: Any, value: Value, texts: list[str], levels: int) -> tuple[Value, int]:
    if not levels or type(content) is not list:
        raise _Unusual
    size = CONTAINER_BYTES + ELEMENT_BYTES * len(content)
    changed: list[Value] | None = None
    for position, inner in enumerate(content):
        [(kind, inside)] = inner.items()
        new, inner_size = _checked(kind, inside, inner, texts, levels - 1)
        size += inner_size
        if new is not inner:
            if changed is None:
                changed = content.copy()
            changed[position] = new
    return (value if changed is None else {"L": changed}), size


def _checked_set(kind: str, content: Any, value: Value, texts: list[str]) -> tuple[Value, int]:
    if not content or type(content) is not list:
        raise _Unusual
    if kind == "SS":
        if len(set(content)) != len(content):
            raise _Unusual
        texts.extend(content)
        return _in_order(kind, content, value), 0
    if kind == "NS":
        members = [known_numbers.get(member) or read_number(member) for member in content]
        canonical = [text for text, _ in members]
        if len(set(canonical)) != len(canonical):
            raise _Unusual
        return _in_order(kind, canonical, value), sum(size for _, size in members)
    if kind == "BS":
        if len(set(content)) != len(content):
            raise _Unusual
        return _in_order(kind, content, value), sum(map(_binary_size, content))
    raise _Unusual


def _in_order(kind: str, members: list[str], value: Value) -> Value:
    ordered = ordered_set(kind, members)
    return value if ordered == value[kind] else {kind: ordered}


def ordered_set(kind: str, members: list[str]) -> list[str]:
    """The members of a set in the service's order: numbers descending, all others ascending by their bytes."""
    # UTF-8 bytes sort like code points.
    return sorted(members, key=SET_ORDERS.get(kind), reverse=kind == "NS")


# --- errors ----------------------------------------------------------------------------------------------------------


def _names_fit(item: Item) -> bool:
    return all(len(name.encode()) <= limits.ATTRIBUTE_NAME_BYTES for name in item)


def _explain_item(item: Any, error: DynamoError | None = None) -> NoReturn:
    if not isinstance(item, dict):
        _wrong_json(item, "Map")
    for name, value in item.items():
        check_attribute_name(name)
        _explain_value(value, limits.NESTING_LEVELS)
    if error is not None:
        raise error
    raise DynamoError("SerializationException", "Unexpected value type in payload")


def check_attribute_name(name: Any) -> None:
    """Refuse an invalid attribute name."""
    if not isinstance(name, str):
        _wrong_json(name, "String")
    if not name:
        invalid("Empty attribute name")
    if utf8_length(name) > limits.ATTRIBUTE_NAME_BYTES:
        invalid("Attribute name is too large, must be less than 65536 bytes")


def _explain_value(value: Any, levels: int) -> None:
    """Raise the service's error about a value; return if it has none."""
    if not isinstance(value, dict):
        raise DynamoError("SerializationException", "Unexpected value type in payload")
    # Unknown types and nulls count as absent.
    kinds = [kind for kind, content in value.items() if kind in TYPES and content is not None]
    if not kinds:
        invalid(NO_TYPE)
    for kind in kinds:
        _explain_content(kind, value[kind], levels)
    if len(kinds) > 1:
        invalid(SEVERAL_TYPES)
    if len(value) > 1:
        raise DynamoError("SerializationException", "Unexpected field in an attribute value")


def _explain_content(kind: str, content: Any, levels: int) -> None:
    if kind in ("SS", "NS", "BS"):
        _explain_set(kind, content)
    elif kind == "S":
        if not isinstance(content, str):
            _wrong_json(content, "String")
        utf8_length(content)
    elif kind == "N":
        if not isinstance(content, str):
            _wrong_json(content, "String")
        read_strictly(content)
    elif kind == "B":
        _binary_size(content)
    elif kind == "NULL":
        if content is not True:
            invalid(PARAMETERS_INVALID + "Null attribute value types must have the value of true")
    elif kind == "BOOL":
        if content is not True and content is not False:
            _wrong_json(content, "Boolean")
    else:
        inner: Iterable[Any]
        if kind == "M":
            if not isinstance(content, dict):
                _wrong_json(content, "Map")
            for name in content:
                check_attribute_name(name)
            inner = content.values()
        else:
            if not isinstance(content, list):
                _wrong_json(content, "List")
            inner = content
        if levels <= 1:
            invalid(TOO_NESTED)
        for element in inner:
            _explain_value(element, levels - 1)


def _explain_set(kind: str, content: Any) -> None:
    if not isinstance(content, list):
        _wrong_json(content, "List")
    if not content:
        emptiness = {
            "SS": "An string set  may not be empty",
            "NS": "An number set  may not be empty",
            "BS": "Binary sets should not be empty",
        }
        invalid(PARAMETERS_INVALID + emptiness[kind])
    for member in content:
        if not isinstance(member, str):
            _wrong_json(member, "String")
    if kind == "NS":
        if len({read_strictly(member)[0] for member in content}) != len(content):
            invalid("Input collection contains duplicates")
        return
    for member in content:
        if kind == "BS":
            _binary_size(member)
        else:
            utf8_length(member)
    if len(set(content)) != len(content):
        shown = f"[{', '.join(content)}]"
        ending = " contains duplicates." if kind == "SS" else "of type BS contains duplicates."
        invalid(f"{PARAMETERS_INVALID}Input collection {shown}{ending}")


def _wrong_json(value: Any, wanted: str) -> NoReturn:
    if value is True or value is False:
        name = f"{str(value).upper()}_VALUE cannot be converted to {wanted}"
    elif isinstance(value, int):
        name = f"NUMBER_VALUE cannot be converted to {wanted}"
    elif isinstance(value, float):
        name = f"DECIMAL_VALUE cannot be converted to {wanted}"
    elif isinstance(value, str):
        name = f"STRING_VALUE cannot be converted to {wanted}"
    elif isinstance(value, dict):
        name = "Start of structure or map found where not expected"
    else:
        name = f"Unrecognized collection type class java.lang.{wanted}"
    raise DynamoError("SerializationException", name)


# --- sizes and sameness of valid values ------------------------------------------------------------------------------


def item_size(item: Item) -> int:
    """The size in bytes, as the service counts it, of an item that is known to be valid."""
    texts = list(item)
    size = 0
    for value in item.values():
        [(kind, content)] = value.items()
        if kind == "S":
            texts.append(content)
        elif kind == "N":
            size += (known_numbers.get(content) or read_number(content))[1]
        else:
            size += _size(value, texts)
    joined = "".join(texts)
    return size + (len(joined) if joined.isascii() else len(joined.encode()))


def value_size(value: Value) -> int:
    """The size in bytes, as the service counts it, of a value that is known to be valid."""
    texts: list[str] = []
    size = _size(value, texts)
    joined = "".join(texts)
    return size + (len(joined) if joined.isascii() else len(joined.encode()))


def _size(value: Value, texts: list[str]) -> int:
    [(kind, content)] = value.items()
    if kind == "S":
        texts.append(content)
        return 0
    if kind == "N":
        return (known_numbers.get(content) or read_number(content))[1]
    if kind == "BOOL" or kind == "NULL":
        return 1
    if kind == "B":
        return _decoded_length(content)
    if kind == "M":
        texts.extend(content)
        size = CONTAINER_BYTES + ELEMENT_BYTES * len(content)
        for inner in content.values():
            size += _size(inner, texts)
        return size
    if kind == "L":
        size = CONTAINER_BYTES + ELEMENT_BYTES * len(content)
        for inner in content:
            size += _size(inner, texts)
        return size
    if kind == "SS":
        texts.extend(content)
        return 0
    return sum(map(number_size if kind == "NS" else _decoded_length, content))


def _decoded_length(text: str) -> int:
    return len(text) // 4 * 3 - text.endswith("=") - text.endswith("==")


def equal(left: Value, right: Value) -> bool:
    """Whether the service considers two valid values equal: sets have no order."""
    if left == right:
        return True
    [(kind, ours)] = left.items()
    theirs = right.get(kind)
    # Numbers are canonical and base64 is unique, so different texts are different values.
    if theirs is None or kind in ("S", "N", "B", "BOOL", "NULL") or len(ours) != len(theirs):
        return False
    if kind == "L":
        return all(map(equal, ours, theirs))
    if kind == "M":
        return all(name in theirs and equal(inner, theirs[name]) for name, inner in ours.items())
    return set(ours) == set(theirs)
