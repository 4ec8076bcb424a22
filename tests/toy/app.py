"""The toy, as it is handed to the assembly."""

from pathlib import Path

from potluck.leases import Rows
from potluck.streams import Consumer
from potluck.web.app import App, Core
from potluck.web.dishes import Dish
from potluck.web.errors import ALREADY_EXISTS, FORBIDDEN, NOT_FOUND, VERSION_CONFLICT, Kind, Problem
from tests.toy.entities import notes_table, tallies_table
from tests.toy.pages import PAGES
from tests.toy.routes import ROUTES
from tests.toy.service import BookChanged, LastAdmin, NoteChanged, Notes, NotesForbidden, NoteTaken, NothingThere

__all__ = ["notes_app"]

LAST_ADMIN = Problem("last-admin", 409, "The last admin stays", "A book without an admin would be nobody's.")


def notes_app(core: Core) -> App:
    notes = Notes(core.store, core.clock)
    return App(
        name="notes",
        tables=[notes_table, tallies_table],
        services={"notes": notes},
        routes=ROUTES,
        pages=PAGES,
        templates=Path(__file__).parent / "templates",
        dish=Dish("notes", "Notes", "notebook-pen", "Notes in books that people share.", "/notes"),
        consumers=[Consumer(core.engine, "note-tallies", notes_table.name, notes.tally, rows=Rows("ToyWork"))],
        errors={
            NothingThere: Kind(NOT_FOUND),
            NotesForbidden: Kind(FORBIDDEN),
            LastAdmin: Kind(LAST_ADMIN),
            NoteTaken: Kind(ALREADY_EXISTS),
            NoteChanged: Kind(VERSION_CONFLICT),
            BookChanged: Kind(VERSION_CONFLICT),
        },
        export=notes.export,
        still_needed=notes.still_needed,
        forget=notes.forget,
        place_name=notes.place_name,
        home_card=notes.home_card,
    )
