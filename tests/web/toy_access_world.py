"""Books for the access test: one with a note, and one of somebody else."""

from uuid import UUID

from potluck.table import present, put, the, update
from tests.toy.entities import Book, Member
from tests.web.access_worlds import AccessWorld, Members, Person, Suite

__all__ = ["furnish"]


async def furnish(suite: Suite) -> AccessWorld:
    store = suite.core.store
    ada, eve = await suite.person("Ada"), await suite.person("Eve")
    ids, ids_elsewhere = await furnished(suite, ada), await furnished(suite, eve)
    book_id = UUID(ids["book_id"])

    async def join() -> Person:
        person = await suite.person("Admin")
        one_more = update(Book.by_id(book_id), the(Book.admin_count).add(1), when=present)
        await store.transact(put(Member(book_id=book_id, user_id=UUID(person["userId"]), admin=True)), one_more)
        return person

    async def remove(person: Person) -> None:
        await suite.data("DELETE", f"/books/{book_id}/members/{person['userId']}", by=ada)

    async def demote(person: Person) -> None:
        one_fewer = update(Book.by_id(book_id), the(Book.admin_count).add(-1), when=present)
        member = update(Member.by_id(book_id, UUID(person["userId"])), the(Member.admin).becomes(False), when=present)
        await store.transact(member, one_fewer)

    removed = await join()
    await remove(removed)
    return AccessWorld(
        ids=ids,
        ids_elsewhere=ids_elsewhere,
        elsewhere=eve,
        outsiders={"a stranger": await suite.person("Stranger"), "a removed member": removed},
        members=Members(join=join, remove=remove, demote=demote),
    )


async def furnished(suite: Suite, admin: Person) -> dict[str, str]:
    """A book with somebody else in it, and a note."""
    friend = await suite.person("Friend")
    book = await suite.data("POST", "/books", {"name": "Plans"}, by=admin)
    await suite.data("PUT", f"/books/{book['bookId']}/members/{friend['userId']}", by=admin)
    note = await suite.data("POST", f"/books/{book['bookId']}/notes", {"title": "Soup"}, by=admin)
    return {"book_id": book["bookId"], "user_id": friend["userId"], "note_id": note["noteId"]}
