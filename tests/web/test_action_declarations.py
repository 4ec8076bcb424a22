"""A declaration that cannot work is refused when it is imported, with what to write instead."""

from collections.abc import Sequence
from uuid import UUID

import pytest
from msgspec import Struct

from potluck.table import Query
from potluck.web.access import SignedIn
from potluck.web.actions import Actions
from potluck.web.inputs import DeclarationError, Input
from potluck.web.views import View
from tests.toy.access import InBook
from tests.toy.entities import Note


class NoteView(View[Note]):
    title: str


class Wanted(Input):
    title: str = ""


class Total(Struct):
    count: int


def counted(shown: Sequence[object]) -> Total:
    return Total(len(shown))


def refused(message: str):
    return pytest.raises(DeclarationError, match=message)


@pytest.fixture
def notes() -> Actions[Note]:
    return Actions(InBook, Note.by_id, NoteView, api="/books/{book_id}/notes", tag="Notes")


def test_what_is_worked_out_from_the_whole_list_needs_the_whole(notes):
    def listed(at: InBook) -> Query[Note]:
        """Every note."""
        return Note.of_book(at.book_id)

    with refused("listed: `also` needs the whole list"):
        notes.list(also=counted)(listed)
    notes.list(also=counted, order=lambda note: (note.title,))(listed)


def test_a_live_list_that_can_be_filtered_names_its_query(notes):
    def listed(at: InBook, wanted: Wanted) -> Query[Note]:
        """Every note."""
        return Note.of_book(at.book_id)

    with refused("listed: say which query is live"):
        notes.list(live=True)(listed)


def test_a_rule_says_who_may_call_it(notes):
    async def read(note: Note) -> Note:
        """One note."""
        return note

    with refused("read: the first parameter must be an Access"):
        notes.read()(read)


def test_a_rule_for_programs_is_documented(notes):
    async def read(at: InBook, note: Note) -> Note:
        return note

    with refused("read: write a docstring"):
        notes.read()(read)


def test_every_parameter_of_the_path_is_known(notes):
    async def read(at: InBook, note: Note) -> Note:
        """One note."""
        return note

    with refused(r"read: nothing says what \['part'\] of the path are"):
        notes.read("/{part}")(read)


def test_a_rule_takes_what_can_be_sent(notes):
    async def read(at: InBook, note: Note, user_id: UUID) -> Note:
        """One note."""
        return note

    with refused("neither an Input nor the subject's entity"):
        notes.read()(read)


def test_the_address_of_a_subject_has_all_but_its_own_id():
    with refused("all parameters of .* but the last"):
        Actions(SignedIn, Note.by_id, NoteView, api="/notes", tag="Notes")
