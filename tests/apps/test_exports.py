"""No field of an entity silently drops out of the export: it is in a row of it, or named here with the reason."""

from typing import Any

import pytest
from msgspec import Struct

from potluck.apps.journal import entities as journal
from potluck.apps.journal import files
from potluck.apps.library import entities as library
from potluck.apps.library.account import TABLES as LIBRARY_TABLES
from potluck.apps.polls import entities as polls
from potluck.apps.polls.account import BallotsOfPoll
from potluck.apps.polls.polls import PollView
from potluck.apps.shareables import entities as shareables
from potluck.apps.shareables.account import ExportedItem
from potluck.apps.shareables.shareables import OwnShareable
from potluck.apps.shopping import entities as shopping
from potluck.apps.shopping.families import families
from potluck.apps.shopping.inventory import InventoryItemView
from potluck.apps.shopping.locations import LocationView
from potluck.apps.shopping.shopping_list import ShoppingItemView
from potluck.apps.shopping.stores import StoreView
from potluck.people import entities as people
from potluck.suite import APPS
from potluck.table import Entity
from potluck.web.people import account
from potluck.web.places.derived import membership_view
from tests.web.suites import suite_on

OWNER = "They are the owner, whose export it is"
PLACE = "The row stands below what it belongs to"
DERIVED = "It is worked out from what is exported"
INTERNAL = "How the service keeps it, not what it is"
SECRET = "It opens something, or is the hash of what does"


def row_of(table: str) -> type[Struct]:
    return LIBRARY_TABLES[table][1]


EXPORTED: dict[type[Entity], tuple[type[Struct], dict[str, str]]] = {
    people.Account: (
        account.AccountRow,
        {"password_hash": SECRET, "session_epoch": INTERNAL, "tokens_since": INTERNAL},
    ),
    people.SessionOfUser: (account.SessionRow, {"user_id": OWNER, "hash": SECRET, "ttl": "It is expires_at"}),
    people.ApiTokenOfUser: (account.TokenRow, {"user_id": OWNER, "hash": SECRET, "session_epoch": INTERNAL}),
    people.IdentityOfUser: (account.IdentityRow, {"user_id": OWNER, "issuer_hash": "It is the hash of issuer"}),
    people.InvitationOfUser: (account.InvitationRow, {"user_id": OWNER, "hash": SECRET, "ttl": "It is expires_at"}),
    shopping.Family: (families.view, {"manager_count": DERIVED}),
    shopping.Member: (membership_view(shopping.Member, "family_id"), {"member_id": OWNER, "version": INTERNAL}),
    shopping.Store: (StoreView, {}),
    shopping.StorageLocation: (LocationView, {}),
    shopping.InventoryItem: (InventoryItemView, {}),
    shopping.ShoppingListItem: (ShoppingItemView, {}),
    journal.UserProfile: (files.FileProfile, {"created_at": INTERNAL, "version": INTERNAL}),
    journal.CoachAthleteLink: (
        files.FileLink,
        {
            "athlete_id": "The other of the two is user_id",
            "coach_id": "The other of the two is user_id",
            "requested_by": DERIVED,
            "accepted_at": DERIVED,
        },
    ),
    journal.Entry: (
        files.FileEntry,
        {"athlete_id": OWNER, "coach_said_at": DERIVED, "athlete_said_at": DERIVED, "looked_at": INTERNAL},
    ),
    journal.Comment: (files.FileComment, {"entry_id": PLACE}),
    journal.AIThread: (files.FileThread, {"user_id": OWNER}),
    journal.AIMessage: (files.FileMessage, {"thread_id": PLACE}),
    polls.Poll: (
        PollView,
        {
            "poll_id": "It is id",
            "admin_key_hash": SECRET,
            "creator_id": OWNER,
            "codes": "How many were made; they open the poll",
            "short_id": "The shareable that shows the poll has its own row",
            "shards": INTERNAL,
            "access_fence": INTERNAL,
            "fence": INTERNAL,
        },
    ),
    polls.Count: (BallotsOfPoll, {}),
    polls.CountPart: (BallotsOfPoll, {"part": "The parts of a count are one number"}),
    library.Library: (row_of("libraries"), {"owner_id": OWNER}),
    library.Collection: (row_of("collections"), {"owner_id": OWNER, "library_id": "Its items name the library"}),
    library.Book: (row_of("items"), {"owner_id": OWNER, "type": "It is kind", "cover_hash": "It is cover"}),
    library.Video: (row_of("items"), {"owner_id": OWNER, "type": "It is kind", "cover_hash": "It is cover"}),
    library.Event: (row_of("history"), {"owner_id": OWNER, "item_version": INTERNAL}),
    library.Loan: (row_of("lent"), {"owner_id": OWNER}),
    library.Share: (
        row_of("shares"),
        {
            "owner_id": OWNER,
            "library_id": "Their e-mail is in the library's sharedTo",
            "shared_to_id": "Someone else's account",
            "created_at": "It is since",
        },
    ),
    library.SharedLibrary: (
        row_of("sharedWithYou"),
        {"shared_to_id": OWNER, "shared_from_id": "Someone else's account"},
    ),
    shareables.Shareable: (
        OwnShareable,
        {
            "view_passcode": SECRET,
            "admin_passcode": SECRET,
            "poll_id": "Its poll is among the polls",
            "items_version": INTERNAL,
            "creator_id": OWNER,
            "created_at": INTERNAL,
            "ttl": "It is purgeAt",
        },
    ),
    shareables.ChecklistItem: (
        ExportedItem,
        {"edited_in": INTERNAL, "ticked_in": INTERNAL, "ttl": INTERNAL, "fence": INTERNAL},
    ),
}

NOT_EXPORTED: dict[type[Entity], str] = {
    people.EmailAddress: "The account has the address",
    people.Departure: "Only of accounts that are gone",
    people.Session: "SessionOfUser has the same, and the device",
    people.ApiToken: "ApiTokenOfUser is the same",
    people.Identity: "IdentityOfUser is the same",
    people.PasswordReset: SECRET,
    people.PasswordResetOfUser: SECRET,
    people.Invitation: "InvitationOfUser is the same",
    people.InvitationOfPlace: "InvitationOfUser is the same",
    people.InvitationToAddress: "InvitationOfUser is the same",
    people.SecretCheck: "It is the store's",
    people.Administration: "It is the store's",
    people.Throttle: "Hashes, for minutes",
    people.IdempotentAnswer: "What was answered, for a day",
    people.AnswerOfUser: "What was answered, for a day",
    shopping.PendingGuard: DERIVED,
    shopping.Deletion: "What is being deleted",
    shopping.ClearedItems: "What was cleared from the list, for an hour",
    journal.KeywordIndex: DERIVED,
    journal.PrivateKeywordIndex: DERIVED,
    journal.CommentKeywordIndex: DERIVED,
    journal.EntryMeta: "The entry has it all",
    journal.AthleteCoachLink: "CoachAthleteLink from the other side",
    polls.Vote: "It does not say whose it is",
    polls.Shard: DERIVED,
    polls.Code: SECRET,
    polls.Record: DERIVED,
    polls.CreatedPoll: "The poll has it all",
    polls.Deletion: "What is being deleted",
    library.CollectionMember: DERIVED,
    library.AwaitedTitle: "The book says that its title is awaited",
    library.Relocation: "Where an item was before",
    library.Cover: "A picture from elsewhere; one's own is at the item's address",
    library.KnownElsewhere: "What other catalogues know, of no one",
    shareables.ShortIdPoolEntry: "Of no one",
    shareables.DeletedItem: "What was deleted, until it can no longer be undone",
    shareables.ShareSession: "Who has opened a link, not by account",
    shareables.Onlookers: "How many look on",
    shareables.CreatedShareable: "The shareable has it all",
    shareables.FormerCreatedShareable: "The shareable has it all",
}


async def all_entities(tmp_path: Any) -> dict[type[Entity], set[str]]:
    async with suite_on(tmp_path, APPS) as (_, application):
        made = [make(application.state.core) for make in APPS]
    tables = {people.accounts, *(table for app in made for table in app.tables)}
    return {plan.cls: set(plan.fields) for table in tables for plan in table.entities}


async def test_every_entity_is_exported_or_says_why_not(tmp_path):
    entities = await all_entities(tmp_path)
    missing = {each.__name__ for each in entities.keys() - EXPORTED.keys() - NOT_EXPORTED.keys()}
    assert missing == set(), "add a line to EXPORTED or NOT_EXPORTED in tests/apps/test_exports.py"
    assert (EXPORTED.keys() | NOT_EXPORTED.keys()) - entities.keys() == set()
    assert EXPORTED.keys() & NOT_EXPORTED.keys() == set()


@pytest.mark.parametrize("entity", EXPORTED, ids=lambda entity: f"{entity.__module__.split('.')[-2]}-{entity.__name__}")
def test_every_field_of_an_entity_is_exported_or_says_why_not(entity):
    row, exceptions = EXPORTED[entity]
    fields, shown = set(entity.__struct_fields__), set(row.__struct_fields__)
    assert fields - shown - exceptions.keys() == set(), "export it, or name it in EXPORTED with the reason"
    assert exceptions.keys() - fields == set()
    assert exceptions.keys() & shown == set()
