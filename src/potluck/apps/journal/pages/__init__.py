"""The pages: writing, the timeline, one entry, statistics, asking, coaches and athletes, settings and files."""

import potluck.apps.journal.pages.reading
import potluck.apps.journal.pages.trends  # noqa: F401
from potluck.apps.journal.pages.asking import asking_pages
from potluck.apps.journal.pages.frame import FILES
from potluck.apps.journal.pages.keeping import keeping_pages
from potluck.apps.journal.pages.linking import invitation_pages
from potluck.apps.journal.pages.writing import home

__all__ = ["ENDPOINTS", "home"]

ENDPOINTS = [asking_pages, keeping_pages, invitation_pages, FILES.endpoints()]
