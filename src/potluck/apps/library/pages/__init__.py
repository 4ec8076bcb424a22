"""The pages: libraries and their shelves, one book or video, what came in, who has what, search, and who looks in."""

from potluck.apps.library.page_frame import FILES
from potluck.apps.library.pages import collecting, importing, items, lent, searching, shelves
from potluck.apps.library.pages.adding import adding, drawings
from potluck.apps.library.pages.collecting import volumes
from potluck.apps.library.pages.rows import shelf
from potluck.apps.library.pages.sharing import coming_in, sharing

__all__ = ["ENDPOINTS", "PAGES"]

# These add to the subjects of the rules.
_ = (collecting, importing, items, lent, searching, shelves)

PAGES = (shelf, volumes, adding, sharing)
ENDPOINTS = (coming_in, drawings, FILES.endpoints())
