"""Numbers as the service defines them: decimal, exact to 38 digits, from 1E-130 to just under 1E126."""

import re
from decimal import Context, Decimal, Inexact, InvalidOperation

from potluck.dynamo import limits
from potluck.dynamo.errors import invalid

NOT_A_NUMBER = "The parameter cannot be converted to a numeric value"
OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
TOO_PRECISE = "Attempting to store more than 38 significant digits in a Number"

HIGHEST_EXPONENT = 125
LOWEST_EXPONENT = -130

_number_syntax = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,10})?")
_reading = Context(prec=limits.NUMBER_DIGITS, Emax=10**12, Emin=-(10**12), traps=[InvalidOperation])
_arithmetic = Context(prec=limits.NUMBER_DIGITS, Emax=10**6, Emin=-(10**6), traps=[InvalidOperation, Inexact])

# A table's numbers are mostly short and repetitive, so their canonical text and size are cached.
_REMEMBERED_NUMBERS = 16384
_REMEMBERED_LENGTH = 48
known_numbers: dict[str, tuple[str, int]] = {}


def canonical_number(text: str) -> str:
    """A number as the service returns it: plain notation, no sign on zero, no superfluous zeros."""
    return (known_numbers.get(text) or read_number(text))[0]


def read_number(text: str) -> tuple[str, int]:
    """A number's canonical text and its size in bytes; cached."""
    if text.isascii() and text.isdigit() and len(text) <= limits.NUMBER_DIGITS and text[0] != "0":
        digits = len(text.rstrip("0"))
        canonical, size = text, 1 + (digits + 1) // 2 + (digits % 2 == 0 and len(text) % 2)
    else:
        canonical, size = read_strictly(text)
    if len(text) <= _REMEMBERED_LENGTH:
        if len(known_numbers) >= _REMEMBERED_NUMBERS:
            known_numbers.clear()
        known_numbers[text] = canonical, size
    return canonical, size


def read_strictly(text: str) -> tuple[str, int]:
    """A number's canonical text and its size in bytes, without the cache or shortcuts."""
    if not text:
        invalid(NOT_A_NUMBER)
    if not _number_syntax.fullmatch(text):
        invalid(f"{NOT_A_NUMBER}: {text}")
    # The Decimal constructor keeps every digit; reading through a context would round instead of refusing.
    return _written(Decimal(text))


def _written(number: Decimal) -> tuple[str, int]:
    if not number:
        return "0", 1
    exponent = number.adjusted()
    if exponent > HIGHEST_EXPONENT:
        invalid(OVERFLOW)
    if exponent < LOWEST_EXPONENT:
        invalid(UNDERFLOW)
    digits = "".join(map(str, number.as_tuple().digits)).strip("0")
    if len(digits) > limits.NUMBER_DIGITS:
        invalid(TOO_PRECISE)
    negative = number.is_signed()
    # Digits are stored in pairs aligned on the decimal point.
    size = 1 + (len(digits) + 1) // 2 + (len(digits) % 2 == 0 and exponent % 2 == 0) + negative
    canonical = format(number.normalize(_reading), "f")
    return canonical, size


def add_numbers(left: str, right: str, subtract: bool = False) -> str:
    """The exact sum or difference of two canonical numbers, or the service's error."""
    if "." not in left and "." not in right:
        whole = str(int(left) - int(right) if subtract else int(left) + int(right))
        if len(whole) <= limits.NUMBER_DIGITS:
            return whole
    try:
        if subtract:
            total = _arithmetic.subtract(Decimal(left), Decimal(right))
        else:
            total = _arithmetic.add(Decimal(left), Decimal(right))
    except Inexact:
        # The service calls a sum that needs more than 38 digits an overflow too.
        invalid(OVERFLOW)
    return _written(total)[0]


def number_size(text: str) -> int:
    """The size in bytes, as the service counts it."""
    return (known_numbers.get(text) or read_number(text))[1]
