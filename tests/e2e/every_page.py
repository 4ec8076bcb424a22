"""Where each address that answers a browser is looked at by axe, or why it is not; a new one has no place here yet.

What test_pages.py opens by its lists need not be repeated here.
"""

import re
from collections.abc import Iterable

__all__ = ["LOOKED_AT_BY", "NOT_LOOKED_AT", "not_kept_by", "page_of"]

FAMILY = "/shopping/{family_id}"
POLL = "/polls/{poll_id}"
SHAREABLE = "/shareables/{short_id}"
LIBRARY = "/library/{library_id}"
ITEM = f"{LIBRARY}/items/{{item_id}}"
JOURNAL = "/journal"
ENTRY = f"{JOURNAL}/entries/{{entry_id}}"
ATHLETE = f"{JOURNAL}/athletes/{{athlete_id}}"

EVERY_SHOPPING_PAGE = "test_shopping.test_every_page_is_for_everyone"
MAKING_A_POLL = "test_polls.test_a_poll_is_made_shared_and_voted_on_by_touch"
LOOKING_AFTER_POLLS = "test_polls.test_whoever_made_polls_looks_after_them"
SHARING = "test_shareables.test_a_list_goes_from_one_phone_to_another_and_is_ticked_live_on_both"
OTHER_SHAREABLES_PAGES = "test_shareables.test_every_other_page_is_for_everyone"
WRITING = "test_journal.test_an_entry_is_written_on_a_phone_and_a_draft_survives_a_reload"
COACHING = "test_journal.test_a_coach_is_linked_comments_and_is_hidden"
DRAWN_AND_ASKED = "test_journal.test_a_year_is_drawn_found_and_asked"
TAKEN_ALONG = "test_journal.test_a_journal_is_taken_along_and_taken_in"
VISITING_POLLS = "test_polls.test_what_visitors_meet_is_accessible_in_both_themes"
ADDING_BOOKS = "test_library.test_books_come_in_by_isbn_by_camera_many_at_once_and_by_hand"
LENDING_BOOKS = "test_library.test_books_stand_together_are_lent_and_come_back"
SHARING_BOOKS = "test_library.test_a_friend_looks_in_live_and_loses_it_when_the_share_ends"

LOOKING_AFTER_PEOPLE = "test_administration.test_an_admin_approves_disables_and_deletes"
WITH_PROVIDER = "test_provider.test_a_person_comes_with_the_provider_confirms_and_leaves"

LOOKED_AT_BY = {
    "/people": LOOKING_AFTER_PEOPLE,
    "/people/{user_id}": LOOKING_AFTER_PEOPLE,
    "/people/{user_id}/delete": LOOKING_AFTER_PEOPLE,
    "/sign-in/new": WITH_PROVIDER,
    "/signed-out": WITH_PROVIDER,
    "/schema": "test_pages.test_the_api_is_accessible_its_calls_folded_and_unfolded[phone]",
    "/shopping": "test_shopping.test_a_first_family_then_a_guest_by_a_link_and_a_second_table",
    FAMILY: EVERY_SHOPPING_PAGE,
    f"{FAMILY}/list/{{shopping_item_id}}": EVERY_SHOPPING_PAGE,
    f"{FAMILY}/inventory": EVERY_SHOPPING_PAGE,
    f"{FAMILY}/inventory/{{item_id}}": EVERY_SHOPPING_PAGE,
    f"{FAMILY}/stores": EVERY_SHOPPING_PAGE,
    f"{FAMILY}/stores/{{store_id}}": EVERY_SHOPPING_PAGE,
    f"{FAMILY}/locations/{{location_id}}": EVERY_SHOPPING_PAGE,
    f"{FAMILY}/members": EVERY_SHOPPING_PAGE,
    "/polls": LOOKING_AFTER_POLLS,
    "/polls/new": f"{VISITING_POLLS}[new-phone]",
    POLL: MAKING_A_POLL,
    f"{POLL}/share": MAKING_A_POLL,
    f"{POLL}/thanks": MAKING_A_POLL,
    f"{POLL}/manage": MAKING_A_POLL,
    f"{POLL}/mine": f"{VISITING_POLLS}[mine-phone]",
    f"{POLL}/results": f"{VISITING_POLLS}[results-phone]",
    f"{POLL}/edit": LOOKING_AFTER_POLLS,
    f"{POLL}/delete": LOOKING_AFTER_POLLS,
    "/shareables": SHARING,
    "/shareables/new": SHARING,
    "/shareables/polls/new": OTHER_SHAREABLES_PAGES,
    SHAREABLE: SHARING,
    f"{SHAREABLE}/unlock": SHARING,
    f"{SHAREABLE}/manage": SHARING,
    f"{SHAREABLE}/share": SHARING,
    f"{SHAREABLE}/edit": SHARING,
    f"{SHAREABLE}/results": "test_shareables.test_a_poll_is_voted_in_and_its_results_follow_live",
    f"{SHAREABLE}/items": OTHER_SHAREABLES_PAGES,
    f"{SHAREABLE}/items/{{checklist_item_id}}/edit": OTHER_SHAREABLES_PAGES,
    f"{SHAREABLE}/passcodes": OTHER_SHAREABLES_PAGES,
    f"{SHAREABLE}/clone": OTHER_SHAREABLES_PAGES,
    f"{SHAREABLE}/delete": OTHER_SHAREABLES_PAGES,
    "/library": ADDING_BOOKS,
    LIBRARY: ADDING_BOOKS,
    f"{LIBRARY}/add": ADDING_BOOKS,
    f"{LIBRARY}/import": ADDING_BOOKS,
    f"{LIBRARY}/group": LENDING_BOOKS,
    f"{LIBRARY}/collections/{{collection_id}}": LENDING_BOOKS,
    f"{LIBRARY}/settings": LENDING_BOOKS,
    ITEM: LENDING_BOOKS,
    f"{ITEM}/edit": LENDING_BOOKS,
    f"{ITEM}/move": LENDING_BOOKS,
    f"{ITEM}/delete": LENDING_BOOKS,
    "/library/lent": LENDING_BOOKS,
    "/library/search": LENDING_BOOKS,
    "/library/titles": LENDING_BOOKS,
    f"{LIBRARY}/shares": SHARING_BOOKS,
    "/library/sharing": SHARING_BOOKS,
    JOURNAL: WRITING,
    f"{JOURNAL}/entries": DRAWN_AND_ASKED,
    ENTRY: WRITING,
    f"{ENTRY}/edit": WRITING,
    f"{ENTRY}/comments/{{comment_id}}": COACHING,
    f"{JOURNAL}/stats": DRAWN_AND_ASKED,
    f"{JOURNAL}/ask": DRAWN_AND_ASKED,
    f"{JOURNAL}/ask/{{thread_id}}": DRAWN_AND_ASKED,
    f"{JOURNAL}/coaches": COACHING,
    f"{JOURNAL}/athletes": COACHING,
    ATHLETE: COACHING,
    f"{ATHLETE}/stats": COACHING,
    f"{JOURNAL}/settings": TAKEN_ALONG,
    f"{JOURNAL}/settings/import": TAKEN_ALONG,
}
"""The test that looks at a page; it fails if it did not. Of one with parameters, the case is named as pytest does."""

NOT_LOOKED_AT = {
    "/sign-in/callback": "a redirect, for people who come back from an identity provider",
    "/hues.css": "styles",
    "/livez": "JSON, for whoever watches the server",
    "/readyz": "JSON, for whoever watches the server",
    "/schema/openapi.json": "JSON, for programs",
    "/static/{rest}": "styles, scripts, fonts and icons",
    "/library/spine": "a drawing, for the page that adds books",
    "/worker.js": "a script",
    "/offline": "shown without signal, at the address of another page: test_offline looks at it there",
    "/shopping/offline": "shown without signal, at a family's own address: test_shopping_offline looks at it there",
    f"{POLL}/results.csv": "a file to keep",
    f"{POLL}/ballots": "a file to keep",
    f"{SHAREABLE}/results.csv": "a file to keep",
    f"{SHAREABLE}/ballots": "a file to keep",
}
"""What no person meets as a page, and what it is instead."""


def page_of(path: str, pages: Iterable[str]) -> str | None:
    """Which of these pages an address is one of; "/polls/new" is itself before it is a poll."""
    known = list(pages)
    if path in known:
        return path
    for page in known:
        if re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(page)), path):
            return page
    return None


def not_kept_by(test: str, looked_at: Iterable[str]) -> list[str]:
    """The pages that this test was to look at, and did not."""
    seen = {page_of(path, LOOKED_AT_BY) for path in looked_at}
    return [page for page, by in LOOKED_AT_BY.items() if by == test and page not in seen]
