"""A declaration that cannot work is refused when it is imported, with what to write instead."""

import re
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar
from uuid import UUID

import pytest
from msgspec import Struct

from potluck.table import Entity, Query
from potluck.web.access import SignedIn
from potluck.web.actions import Actions, PageForm
from potluck.web.inputs import DeclarationError, Input
from potluck.web.redirects import address_after
from potluck.web.views import View
from potluck.web.writes import Writes
from tests.toy.access import BookAdmin, InBook
from tests.toy.entities import Book, Note


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

    with refused("read: UUID is neither an Input nor the subject's entity"):
        notes.read()(read)


def test_the_address_of_a_subject_has_all_but_its_own_id():
    with refused("all parameters of .* but the last"):
        Actions(SignedIn, Note.by_id, NoteView, api="/notes", tag="Notes")


@pytest.fixture
def paged() -> Actions[Note]:
    address = "/books/{book_id}/notes"
    return Actions(InBook, Note.by_id, NoteView, api=address, page=address, tag="Notes")


def answering(answer: Any):
    async def add_note(at: InBook, note: Note) -> Writes[answer]:
        """Add a note."""
        raise AssertionError

    return add_note


@pytest.mark.parametrize(
    ("answer", "then", "there"),
    [
        (Note, "/books/{nope}", "no {nope}; there are book_id, note_id and the fields of Note"),
        (Total, "/books/{book_id}?many={counted}", "no {counted}; there are book_id, note_id and the fields of Total"),
        (Total | Note, "/books/{title}", "no {title}; there are book_id, note_id and the fields of Total and Note"),
        (None, "/books/{title}", "no {title}; there are book_id and note_id"),
        (str, "/books/{title}", "no {title}; there are book_id and note_id"),
        (UUID, "/books/{made}", "no {made}; there are book_id and note_id"),
        (Note, "/books/{book_id.hex}", "no {book_id.hex}; there are book_id, note_id and the fields of Note"),
        (dict[str, UUID], "/books/{made}", "no {made}; there are book_id and note_id"),
        (Note, "/books/{}", "no {}; there are book_id, note_id and the fields of Note"),
        (Any, "/books/{book_id", "/books/{book_id cannot be read: expected '}' before end of string"),
    ],
)
def test_an_accepted_form_leads_to_an_address_whose_names_are_there(paged, answer, then, there):
    message = re.escape(f"add_note: then: {there}" if "read" in there else f"add_note: then: there is {there}") + "$"
    with refused(message):
        paged.form("/more", then=then)(answering(answer))
    with refused(message):
        paged.action("POST", "/more", form=PageForm(then=then))(answering(answer))


@pytest.mark.parametrize(
    ("answer", "then"),
    [
        (Note, "/books/{book_id}/{note_id}?said={title}"),
        (Note, "/books/{book_id}?literally={{nope}}"),
        (Total, "/books?many={count}"),
        # Which fields these have is not known.
        (Any, "/books/{nope}"),
        (Entity, "/books/{nope}"),
    ],
)
def test_an_accepted_form_may_lead_to_what_the_path_and_the_answer_name(paged, answer, then):
    paged.form("/more", then=then)(answering(answer))


@pytest.mark.parametrize(
    "then", ["https://elsewhere.example/", "//elsewhere.example/", "/\\elsewhere.example", "books"]
)
def test_an_accepted_form_leads_to_no_other_site(paged, then):
    with refused("is not an address of this site"):
        paged.form("/more", then=then)(answering(Note))


def test_an_entity_is_answered_by_a_view_of_it():
    without = Actions(InBook, Note.by_id, page="/books/{book_id}", api="/books/{book_id}/notes")
    others = Actions(InBook, Note.by_id, {BookAdmin: NoteView}, api="/books/{book_id}/notes")
    with_views = Actions(InBook, Note.by_id, NoteView, api="/books/{book_id}/notes")
    for answer in (Note, list[Note], Note | None):
        with refused("add_note: a Note is shown by a view; give the subject one"):
            without.action("POST", "/more")(answering(answer))
        with refused("there is no view for InBook"):
            others.action("POST", "/more")(answering(answer))
        with_views.action("POST", "/more")(answering(answer))
    with refused("add_note: NoteView does not show a Book"):
        with_views.action("POST", "/more")(answering(Book))
    assert without.declared == others.declared == []


def test_what_is_awaited_is_a_coroutine_function(paged):
    def plain(at: InBook, note: Note) -> Any:
        """One note."""

    for declare in (paged.read(), paged.change(), paged.page("/page", "page.html"), paged.form("/more", then="/books")):
        with refused("plain: write `async def`"):
            declare(plain)


def test_an_accepted_form_leads_somewhere(paged):
    said = "add_note: say where an accepted form leads"
    with refused(said):
        paged.action("POST", "/more", form=PageForm())(answering(None))
    with refused(said):
        paged.form("/more", then="")(answering(None))
    paged.form("/more", then="", on=answering(None))(answering(None))


def test_only_what_a_subject_declares_can_be_performed_by_name(paged):
    with refused("/books/{book_id}/notes: add_note is none of its actions"):
        paged.declared_by(answering(None))


def test_what_an_answer_says_cannot_lead_elsewhere():
    title = SimpleNamespace(title="/elsewhere.example/?said=deleted#top")
    assert address_after("/{title}", title, {}) == "/%2Felsewhere.example%2F%3Fsaid%3Ddeleted%23top"
    assert address_after("/books/{book_id}", title, {"book_id": UUID(int=1)}) == f"/books/{UUID(int=1)}"


def test_an_accepted_form_is_told_if_there_is_nothing_to_name(paged):
    async def add_note(at: SignedIn) -> Writes[None]: ...

    with refused("add_note: then: there is no {nope}; the path has no parameters, and the answer no fields"):
        Actions(SignedIn, page="/books").form("", then="/books/{nope}")(add_note)


def test_an_address_has_all_that_the_access_needs():
    async def read(at: InBook) -> Total:
        """How many notes there are."""
        return Total(0)

    async def add(at: InBook) -> Writes[None]:
        """Add a note."""
        return Writes(None)

    def listed(at: InBook) -> Query[Note]:
        """Every note."""
        return Note.of_book(at.book_id)

    async def shown(at: InBook) -> dict[str, Any]:
        return {}

    address = "/books/{book_id}/notes"
    no_api = Actions(InBook, None, NoteView, api="/notes", page=address)
    no_page = Actions(InBook, None, NoteView, api=address, page="/notes")
    needs = r"InBook needs \['book_id'\], which /notes{} does not have"
    for declare, rule, path in (
        (no_api.read(), read, ""),
        (no_api.list("/all"), listed, "/all"),
        (no_api.create(), add, ""),
        (no_page.create(form=PageForm(path="/add", then="/notes")), add, "/add"),
        (no_page.form("/add", then="/notes"), add, "/add"),
        (no_page.list(row="row.html", row_events="/rows"), listed, "/rows"),
        (no_page.page("/page", "page.html"), shown, "/page"),
    ):
        with refused(f"{rule.__name__}: {needs.format(path)}"):
            declare(rule)
    assert no_api.declared == no_page.declared == []
    no_api.form("/add", then="/notes")(add)
    no_page.read()(read)


def test_an_access_needs_no_parameter_that_has_a_value_otherwise():
    class Librarian(SignedIn):
        """Somebody who may be at a shelf."""

        headers: ClassVar[Mapping[str, str]] = {"X-Key": "The key"}
        shelves: ClassVar[int]
        finds_by = ("owner_id",)
        owner_id: UUID
        shelf_id: UUID | None = None

        async def admit(self, *rows: Any) -> None:
            self.owner_id = self.principal.user_id

    async def read(at: Librarian) -> Total:
        """How many shelves there are."""
        return Total(0)

    Actions(Librarian, api="/shelves").read()(read)
