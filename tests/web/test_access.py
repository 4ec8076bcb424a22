"""The rows that admit a caller are read by one request, and a refusal says its sentence."""

from pathlib import Path
from uuid import UUID

from potluck.table import absent, put
from potluck.web.access import read_together
from potluck.web.errors import ProblemError
from tests.engine_targets import EMBEDDED
from tests.stores import recorded_store
from tests.toy.entities import Book, Member, notes_table

BOOK, ADA = UUID(int=1), UUID(int=2)


class Full(ProblemError, slug="full", title="It is full", detail="This book is full"):
    """A book has so many pages."""


async def test_rows_are_read_by_one_request_and_one_row_that_is_named_twice_by_getting_it(tmp_path: Path):
    book, member = Book(book_id=BOOK, name="Recipes"), Member(book_id=BOOK, user_id=ADA)
    async with recorded_store(EMBEDDED, tmp_path, notes_table) as (store, recording):
        await store.transact(put(book, when=absent), put(member))
        with recording.scope() as calls:
            assert await read_together(store, []) == ()
            first, second = await read_together(store, [Book.by_id(BOOK), Book.by_id(BOOK)])
            assert (first, first is second) == (book, True)
            refs = [Book.by_id(BOOK), Member.by_id(BOOK, ADA), Book.by_id(BOOK)]
            assert list(await read_together(store, refs)) == [book, member, book]
        assert calls.operations == ["GetItem", "BatchGetItem"]


def test_a_problem_is_told_by_its_sentence_or_by_another_and_explained_by_its_page():
    assert str(Full()) == "This book is full"
    assert str(Full("All forty pages are written")) == "All forty pages are written"
    assert (Full.problem.status, Full.problem.explanation) == (409, "A book has so many pages.")
