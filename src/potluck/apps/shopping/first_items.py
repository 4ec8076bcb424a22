"""What someone without a household begins with: their first items, and a name for the household that these make."""

from collections.abc import Iterator

from potluck.apps.shopping.fields import FamilyId, Lines, Name
from potluck.apps.shopping.line_parser import line_errors, read_lines
from potluck.validation import FieldError
from potluck.web import Input, _

# Of the person's name, in the name of their household.
LONGEST_FIRST_NAME = 60


class FirstItems(Input):
    name: Name
    """What the household is called."""
    family_id: FamilyId
    """Chosen by the form, so that submitting it twice makes one household."""
    lines: Lines = ""
    suggested: Lines = ""
    empty: bool = False
    """Whether to begin without items."""

    @property
    def items(self) -> str:
        return "\n".join(filter(None, (self.suggested, self.lines)))

    @staticmethod
    def check(first: "FirstItems") -> Iterator[FieldError]:
        lines = read_lines(first.items)
        if lines or not first.empty:
            yield from (FieldError("lines" if lines else "suggested", message) for message in line_errors(lines))


def household_name(person: str) -> str:
    """What a household is called until someone renames it, after the person who creates it."""
    first_name = (person.split() or [person])[0]
    return _("%(name)s’s household", name=first_name[:LONGEST_FIRST_NAME])
