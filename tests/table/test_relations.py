from typing import Annotated
from uuid import UUID

from msgspec import Meta

from potluck.table import Entity, Seconds, Table
from potluck.table.design.relations import relations

Name = Annotated[str, Meta(max_length=50)]


def drawn(table: Table) -> set[str]:
    """Each relation as the diagram draws it."""
    return {
        f"{each.parent.name} {'|o' if each.optional else '||'}{'--' if each.contains else '..'}"
        f"{'o{' if each.many else 'o|'} {each.child.name} by {' '.join(each.via)}"
        for each in relations(table.entities)
    }


def test_a_partition_belongs_to_the_row_that_stands_for_it_whatever_the_field_is_called():
    table = Table("People", "PK", "SK")

    class User(Entity, table=table, key=("USER#{user_id}", "PROFILE")):
        user_id: UUID

    class Entry(Entity, table=table, key=("USER#{athlete_id}", "ENTRY#{entry_id}")):
        athlete_id: UUID
        entry_id: UUID

    class Team(Entity, table=table, key=("TEAM#{team_id}", "MEMBER#{user_id}")):
        team_id: UUID
        user_id: UUID

    assert drawn(table) == {"User ||--o{ Entry by athlete_id", "User ||..o{ Team by user_id"}


def test_a_key_that_goes_on_belongs_to_the_nearest_one():
    table = Table("Library", "PK", "SK")

    class Library(Entity, table=table, key=("owner#{owner_id}", "library#{library_id}")):
        owner_id: Name
        library_id: UUID

    class Item(Entity, table=table, key=("owner#{owner_id}", "library#{library_id}#item#{item_id}")):
        owner_id: Name
        library_id: UUID
        item_id: UUID

    class Event(Entity, table=table, key=("owner#{owner_id}", "library#{library_id}#item#{item_id}#event#{at}")):
        owner_id: Name
        library_id: UUID
        item_id: UUID
        at: Seconds

    assert drawn(table) == {
        "Library ||--o{ Item by owner_id library_id",
        "Item ||--o{ Event by owner_id library_id item_id",
    }


def test_a_reference_may_be_missing_and_two_kinds_may_share_a_key():
    table = Table("Library", "PK", "SK", type_attribute="type")

    class Shelf(Entity, table=table, type="Shelf", key=("HOUSE#{house_id}", "SHELF#{shelf_id}")):
        house_id: UUID
        shelf_id: UUID

    class Book(Entity, table=table, type="Book", key=("HOUSE#{house_id}", "ITEM#{item_id}")):
        house_id: UUID
        item_id: UUID
        shelf_id: UUID | None = None

    class Video(Entity, table=table, type="Video", key=("HOUSE#{house_id}", "ITEM#{item_id}")):
        house_id: UUID
        item_id: UUID

    class Loan(Entity, table=table, type="Loan", key=("HOUSE#{house_id}", "LOAN#{loan_id}")):
        house_id: UUID
        loan_id: UUID
        item_id: UUID

    assert drawn(table) == {
        "Shelf |o..o{ Book by house_id shelf_id",
        "Book |o..o{ Loan by house_id item_id",
        "Video |o..o{ Loan by house_id item_id",
    }


def test_two_that_hold_each_other_s_key_are_one_to_one_and_drawn_once():
    table = Table("Shopping", "PK", "SK")

    class InventoryItem(Entity, table=table, key=("FAMILY#{family_id}", "ITEM#{item_id}")):
        family_id: UUID
        item_id: UUID

    class Guard(Entity, table=table, key=("FAMILY#{family_id}", "PENDING#{item_id}")):
        family_id: UUID
        item_id: UUID

    class Purchase(Entity, table=table, key=("FAMILY#{family_id}", "PURCHASE#{purchase_id}")):
        family_id: UUID
        purchase_id: UUID
        item_id: UUID

    assert drawn(table) == {
        "InventoryItem ||..o| Guard by family_id item_id",
        "InventoryItem ||..o{ Purchase by family_id item_id",
    }


def test_an_id_leads_to_the_entity_that_is_called_so():
    table = Table("Chat", "PK", "SK")

    class AIThread(Entity, table=table, key=("USER#{user_id}", "THREAD#{thread_id}")):
        user_id: UUID
        thread_id: UUID

    class Message(Entity, table=table, key=("THREAD#{thread_id}", "MESSAGE#{message_id}")):
        thread_id: UUID
        message_id: UUID

    assert drawn(table) == {"AIThread ||..o{ Message by thread_id"}


def test_what_only_looks_alike_is_not_drawn():
    table = Table("Accounts", "PK", "SK")

    class Session(Entity, table=table, key=("SESSION#{hash}", "SESSION")):
        hash: Name

    class Token(Entity, table=table, key=("TOKEN#{hash}", "TOKEN")):
        hash: Name

    class SharedLibrary(Entity, table=table, key=("owner#{shared_to_id}", "shared#{library_id}")):
        shared_to_id: UUID
        library_id: UUID

    class Library(Entity, table=table, key=("owner#{owner_id}", "shelf#{shelf_id}")):
        owner_id: UUID
        shelf_id: UUID

    assert drawn(table) == set()
