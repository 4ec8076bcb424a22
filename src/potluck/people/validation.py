"""Validates arguments of the services by their field types: every wrong field is found before anything is written."""

from typing import Any

import msgspec

from potluck.people.fields import Email, Name, NewPassword
from potluck.validation.errors import FieldError, ValidationError


def checked_email(email: str, field: str = "email") -> str | FieldError:
    """The address as it is stored: trimmed."""
    return _checked(Email, email, field)


def checked_name(name: str, field: str = "name") -> str | FieldError:
    """The name as it is stored: trimmed."""
    return _checked(Name, name, field)


def checked_password(password: str, field: str = "password") -> str | FieldError:
    """The password, unchanged: any characters, not too few or too many."""
    return _checked(NewPassword, password, field)


def all_valid(*checked: str | FieldError) -> list[str]:
    """The values, if all are valid; else ValidationError with every one that is not."""
    wrong = [each for each in checked if isinstance(each, FieldError)]
    if wrong:
        raise ValidationError(*wrong)
    return [each for each in checked if isinstance(each, str)]


def _checked(kind: Any, text: str, field: str) -> str | FieldError:
    """The text as a field of this type stores it, or what is wrong with it."""
    stated: dict[str, Any] = {}
    for each in kind.__metadata__:
        stated |= each.extra
    text = text.strip() if stated["trim"] else text
    try:
        msgspec.convert(text, kind)
    except msgspec.ValidationError:
        return FieldError(field, stated["message"])
    if "rule" in stated and (found := stated["rule"](text)):
        return FieldError(field, f"{field.capitalize()} {found}")
    for wrong in stated.get("check", lambda _: ())(text):
        return FieldError(field, wrong.message or stated["message"])
    return text
