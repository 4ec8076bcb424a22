"""How an uploaded file is read: older versions of its format, and errors that name places in the file."""

import json
from typing import Any, Protocol

from potluck.validation.errors import FieldError

# The possible ends of a file that is cut off within a word.
WORDS = ("true", "false", "null", "-")
LONGEST_ESCAPE = 6


class FileRules(Protocol):
    """An input that is a file: one with `not_json` and these three static methods."""

    not_json: str
    """The message for a file that is not JSON."""

    def cut_off(self, text: str) -> str:
        """The message for a file that is cut off."""

    def upgraded(self, tree: Any) -> Any:
        """Parsed JSON of an older version of the format, as today's."""

    def explained(self, tree: Any, wrong: FieldError) -> FieldError:
        """An error with its place in the parsed file."""


def read_until(raw: bytes) -> str | None:
    """The text of a file that is JSON but cut off; None for any other file."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            return None
        text = raw[: error.start].decode()
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return text if _is_at_the_end(text, error) else None
    except (ValueError, RecursionError):
        pass
    return None


def _is_at_the_end(text: str, error: json.JSONDecodeError) -> bool:
    if error.msg.startswith("Unterminated string"):
        return True
    left = text[error.pos : error.pos + LONGEST_ESCAPE + 1].rstrip()
    if len(text.rstrip()) - error.pos > LONGEST_ESCAPE:
        return False
    return not left or error.msg.startswith("Invalid \\") or any(word.startswith(left) for word in WORDS)
