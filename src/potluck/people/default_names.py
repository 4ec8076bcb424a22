"""The name of someone who registers without giving one."""

import re

from potluck.people.fields import LONGEST_NAME

SEPARATORS = re.compile(r"[._\-\s]+")


def name_in(email: str) -> str:
    """The part of an address before the @ as a name: Mara Okafor for mara.okafor+potluck@example.org."""
    part = email.rpartition("@")[0]
    words = [word for word in SEPARATORS.split(part.partition("+")[0]) if word]
    return (" ".join(word[0].upper() + word[1:] for word in words) or part)[:LONGEST_NAME].strip()
