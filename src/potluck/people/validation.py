"""Validates arguments of the services by their field types: every wrong field is found before anything is written."""

from typing import Any

import msgspec

from potluck.people.errors import InvalidFields, WrongField
from potluck.people.fields import Email, Name, NewPassword

__all__ = ["all_valid", "checked_email", "checked_name", "checked_password"]


def checked_email(email: str, field: str = "email") -> str | WrongField:
    """The address as it is stored: trimmed."""
    return _checked(Email, email, field)


def checked_name(name: str, field: str = "name") -> str | WrongField:
    """The name as it is stored: trimmed."""
    return _checked(Name, name, field)


def checked_password(password: str, field: str = "password") -> str | WrongField:
    """The password, unchanged: any characters, not too few or too many."""
    return _checked(NewPassword, password, field)


def all_valid(*checked: str | WrongField) -> list[str]:
    """The values, if all are valid; else InvalidFields with every one that is not."""
    wrong = [each for each in checked if isinstance(each, WrongField)]
    if wrong:
        raise InvalidFields(*wrong)
    return [each for each in checked if isinstance(each, str)]


def _checked(kind: Any, text: str, field: str) -> str | WrongField:
    """The text as a field of this type stores it, or what is wrong with it."""
    stated: dict[str, Any] = {}
    for each in kind.__metadata__:
        stated |= each.extra
    text = text.strip() if stated["trim"] else text
    try:
        msgspec.convert(text, kind)
    except msgspec.ValidationError:
        return WrongField(field, stated["message"])
    if "rule" in stated and (found := stated["rule"](text)):
        return WrongField(field, f"{field.capitalize()} {found}")
    for wrong in stated.get("check", lambda _: ())(text):
        return WrongField(field, wrong.message or stated["message"])
    return text
