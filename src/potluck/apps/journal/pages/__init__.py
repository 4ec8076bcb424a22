"""The pages: writing an entry, the timeline, one entry, statistics, the assistant, coaches and athletes, settings."""

import potluck.apps.journal.pages.assistant
import potluck.apps.journal.pages.entry
import potluck.apps.journal.pages.stats  # noqa: F401
from potluck.apps.journal.pages.entry_form import home
from potluck.apps.journal.pages.links import joining
from potluck.apps.journal.pages.settings import settings_pages

__all__ = ["ENDPOINTS", "home", "joining"]

ENDPOINTS = [settings_pages]
