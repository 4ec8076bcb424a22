"""The name of someone who registers without giving one."""

import re

from potluck.people.fields import LONGEST_NAME
from potluck.validation.characters import one_line

SEPARATORS = re.compile(r"[._\-\s]+")


def name_in(email: str) -> str:
    """The part of an address before the @ as a name: Mara Okafor for mara.okafor+potluck@example.org."""
    part, _, domain = email.rpartition("@")
    words = [word for word in SEPARATORS.split(part.partition("+")[0]) if word]
    name = (" ".join(word[0].upper() + word[1:] for word in words) or part)[:LONGEST_NAME].strip()
    # A mailbox may be of marks alone, which no name may be.
    return next((text for text in (name, domain[:LONGEST_NAME]) if one_line(text) is None), name)
