"""ISBNs: ten or thirteen digits, the last of them a check digit; stored with thirteen."""

import re

from potluck.web import _

# Separators between the groups: hyphens and dashes of all kinds, dots, spaces.
BETWEEN = re.compile(r"[\s.\-\u00ad\u2010-\u2015\u2212]+")
LABEL = re.compile(r"^isbn(-?1[03])?:?", re.IGNORECASE)
TEN = re.compile("[0-9]{9}[0-9X]")
THIRTEEN = re.compile("97[89][0-9]{10}")
# Fewer digits may be a title, such as "1984".
NUMBER = re.compile("[0-9]{8,}[0-9xX]")
PREFIX = "978"


class BadIsbn(ValueError):
    """A text is not an ISBN; the reason tells the person who typed it why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def isbn_13(text: str) -> str:
    """The thirteen digits of an ISBN in any spelling; BadIsbn with the reason if it is not one.

    Spreadsheets drop the leading zeros of an ISBN-10. Up to two are restored if the check digit then matches.
    """
    digits = BETWEEN.sub("", LABEL.sub("", text.strip())).upper()
    if not re.fullmatch("[0-9]*X?", digits):
        raise BadIsbn(_("An ISBN has only digits, and sometimes an X at the end."))
    if len(digits) in (8, 9) and TEN.fullmatch(padded := digits.rjust(10, "0")) and _check_10(padded[:9]) == digits[-1]:
        digits = padded
    if TEN.fullmatch(digits):
        expected = _check_10(digits[:9])
        if digits[9] != expected:
            raise BadIsbn(_wrong_digit(9, expected))
        return PREFIX + digits[:9] + check_digit(PREFIX + digits[:9])
    if len(digits) == 13 and "X" not in digits:
        if not THIRTEEN.fullmatch(digits):
            raise BadIsbn(_("An ISBN with 13 digits begins with 978 or 979. This is the barcode of another product."))
        expected = check_digit(digits[:12])
        if digits[12] != expected:
            raise BadIsbn(_wrong_digit(12, expected))
        return digits
    raise BadIsbn(_("An ISBN has 10 or 13 digits. This has %(number)s.", number=len(digits)))


def is_meant_as_isbn(text: str) -> bool:
    """Whether a text is meant as an ISBN, valid or not."""
    return bool(NUMBER.fullmatch(BETWEEN.sub("", LABEL.sub("", text.strip()))))


def _wrong_digit(others: int, expected: str) -> str:
    return _(
        "The last digit doesn’t match the others. After these %(others)s, it would be %(digit)s.",
        others=others,
        digit=expected,
    )


def _check_10(nine: str) -> str:
    rest = sum(weight * int(digit) for weight, digit in zip(range(10, 1, -1), nine, strict=True)) % 11
    return "0123456789X"[(11 - rest) % 11]


def check_digit(twelve: str) -> str:
    """The check digit of an ISBN-13."""
    return str(-sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(twelve)) % 10)
