"""Who may: whoever is in a book reads and writes its notes; its admins say who is in it."""

from uuid import UUID

from potluck.table import the
from potluck.web.access import ByRow
from potluck.web.errors import Forbidden
from tests.toy.entities import Member


class AdminsOnly(Forbidden, detail="Only an admin of the book may do this"):
    """What members of a book who are not its admins are told."""


class InBook(ByRow[Member]):
    """Someone who is in the book."""

    book_id: UUID


class Writer(InBook, admits=the(Member.leaving) == False):  # noqa: E712 - a condition, not a truth value
    """Someone who is in the book, and is not about to leave it."""


class BookAdmin(InBook, needs=the(Member.admin) == True, otherwise=AdminsOnly):  # noqa: E712
    """An admin of the book."""
