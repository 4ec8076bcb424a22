"""The table designs that the apps are built on, as they were written: what is wrong with them is found.

What cannot be declared at all is refused when it is imported; the rest is what the linter is for.
"""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import pytest
from msgspec import Meta

from potluck.table import (
    AnyOf,
    DesignError,
    Entity,
    ExpiresAt,
    KeyOnly,
    Milliseconds,
    Table,
    get,
    query,
)
from potluck.table.lint import lint
from tests.table.documents import journal, library, polls, shareables, shopping


def found(table: Table, *names: str) -> set[str]:
    return {finding.label for finding in lint(table) if finding.name in names}


def everything_but_bounds(table: Table) -> set[str]:
    """The documents set hardly any bounds, which is found for almost every entity."""
    return {finding.label for finding in lint(table) if finding.name != "unbounded-row"}


# --- shareables ------------------------------------------------------------------------------------------------------


def test_the_shareables_say_how_rows_are_keyed_but_not_what_is_asked():
    assert everything_but_bounds(shareables.short_id_pool) == {"never-read: ShortIdPoolEntry"}
    assert everything_but_bounds(shareables.shareables) == {
        "never-read: Checklist",
        "never-read: Poll",
        "never-read: ChecklistItem",
    }


def test_without_its_entity_attribute_a_checklist_is_a_poll():
    untyped = Table("Shareables", "pk", "sk")

    class Checklist(Entity, table=untyped, key=("shareable#{short_id}", "01#")):
        short_id: shareables.ShortId

    class Poll(Entity, table=untyped, key=("shareable#{short_id}", "01#")):
        short_id: shareables.ShortId

    assert found(untyped, "shared-key") == {"shared-key: Checklist and Poll"}


def test_an_iso_date_cannot_be_what_rows_expire_by():
    table = Table("Shareables", "pk", "sk", ttl="expiresAt")
    with pytest.raises(DesignError, match="whole number"):

        class Checklist(Entity, table=table, key=("shareable#{short_id}", "01#")):
            short_id: shareables.ShortId
            expires_at: Annotated[datetime, Meta(tz=True), ExpiresAt.__metadata__[-1], Milliseconds.__metadata__[-1]]


# --- shopping --------------------------------------------------------------------------------------------------------


def test_the_shopping_list_s_real_mistakes():
    assert {finding.label for finding in lint(shopping.inventory)} == {
        "open-prefix: ShoppingListItem.by_store",
        "filter: ShoppingListItem.duplicates",
    }


def test_a_sort_key_cannot_be_asked_what_it_contains():
    with pytest.raises(DesignError, match="components are given from the left"):

        class ByStatus(AnyOf[shopping.ShoppingListItem]):
            @query("GSI2")
            def by_status(family_id: UUID, status: shopping.Status) -> None:
                """List by status: SK contains STATUS#{status}."""


def test_a_prefix_that_is_no_beginning_of_the_key_is_refused():
    with pytest.raises(DesignError, match="does not begin with"):

        class Unassigned(AnyOf[shopping.ShoppingListItem]):
            @query("GSI2", prefix="UNASSIGNED")
            def unassigned(family_id: UUID) -> None:
                """List unassigned items."""


# --- journal ---------------------------------------------------------------------------------------------------------


def test_the_journal_s_real_mistakes():
    assert everything_but_bounds(journal.roll_model) == {
        "open-prefix: KeywordIndex.of_token",  # KW#arm finds armbar
        "never-read: UserProfile",
        "never-read: AIThread",
    }


def test_an_entry_cannot_be_found_by_its_id():
    with pytest.raises(DesignError, match="needs the whole partition key"):

        class EntryById(AnyOf[journal.Entry]):
            @get
            def one(entry_id: UUID) -> None:
                """Which entry is this?"""


def test_a_date_must_say_how_precise_it_is():
    with pytest.raises(DesignError, match="Seconds or Milliseconds"):

        class Entry(Entity, table=Table("RollModel", "PK", "SK"), key=("USER#{athlete_id}", "ENTRY#{iso_date}")):
            athlete_id: UUID
            iso_date: datetime


def test_a_token_in_a_key_must_have_a_bound():
    with pytest.raises(DesignError, match="maximum length"):

        class Keyword(Entity, table=Table("RollModel", "PK", "SK"), key=("USER#{athlete_id}", "KW#{token}")):
            athlete_id: Annotated[UUID, KeyOnly]
            token: str


# --- polls -----------------------------------------------------------------------------------------------------------


def test_the_polls_are_sound_but_for_their_bounds():
    assert {finding.label for finding in lint(polls.ranked_choice_polls)} == {
        "unbounded-row: Poll",
        "unbounded-row: Vote",
    }


# --- library ---------------------------------------------------------------------------------------------------------


def test_lists_of_libraries_and_items_also_read_what_is_in_them():
    assert found(library.media_library, "overlap") == {
        "overlap: Library.of_user reads Collection",
        "overlap: Library.of_user reads Book",
        "overlap: Library.of_user reads Video",
        "overlap: Library.of_user reads Event",
        "overlap: Item.in_library reads Event",
    }


def test_foo_bar_lands_inside_foo_and_é_behind_z():
    assert found(library.media_library, "split-group") == {
        "split-group: Collection in GSI1SK",
        "split-group: Book in GSI1SK",
        "split-group: Video in GSI1SK",
    }
    assert found(library.media_library, "code-point-order") == {
        "code-point-order: Library.library_name in GSI1SK",
        "code-point-order: Collection.name in GSI1SK",
        *(
            f"code-point-order: {entity}.{place}"
            for entity in ("Book", "Video")
            for place in ("collection_name in GSI1SK", "title in GSI1SK", "title in GSI2SK")
        ),
    }


def test_two_events_of_one_instant_are_one():
    assert found(library.media_library, "time-as-identity") == {"time-as-identity: Event"}


def test_counts_of_items_are_shared_rows():
    assert found(library.media_library, "shared-row") == {
        "shared-row: Library.total_items",
        "shared-row: Collection.item_count",
    }


def test_collections_are_not_found_by_collection_in_gsi1():
    with pytest.raises(DesignError, match="does not begin with prefix collection#"):

        class Collections(AnyOf[library.Collection]):
            @query("GSI1", prefix="collection#")
            def in_library(owner_id: str, library_id: UUID) -> None:
                """GSI1PK = owner#X#library#Y + SK begins_with collection#: all collections in library."""


def test_a_name_and_a_title_do_not_fit_one_sort_key():
    with pytest.raises(DesignError, match="1,024 are allowed"):

        class Book(
            Entity,
            table=library.media_library,
            type="LONG_BOOK",
            key=("owner#{owner_id}", "library#{library_id}#item#{item_id}"),
            GSI1=("owner#{owner_id}#library#{library_id}", (library.IN_COLLECTION, "item#{title}")),
        ):
            owner_id: library.OwnerId
            library_id: UUID
            item_id: UUID
            title: Annotated[str, Meta(max_length=200)]
            collection_name: library.Name | None = None
            order: Annotated[int, Meta(ge=1, le=1000)] | None = None
            kind: Literal["book"] = "book"
