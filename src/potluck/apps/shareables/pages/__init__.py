"""The pages: creating one and its card, opening by id, unlocking, the list or the poll, and administration."""

from potluck.apps.shareables.pages.admin import pages as admin
from potluck.apps.shareables.pages.creation import pages as creation
from potluck.apps.shareables.pages.opening import pages as opening
from potluck.apps.shareables.pages.shareable import pages as shareable
from potluck.apps.shareables.pages.voting import pages as voting

__all__ = ["ENDPOINTS"]

ENDPOINTS = [creation, opening, shareable, voting, admin]
