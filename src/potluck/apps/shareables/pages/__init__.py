"""The pages: laying one out and its card, opening by id, unlocking, the list or the poll, and looking after it."""

from potluck.apps.shareables.pages.frame import BALLOT_FILES, FILES
from potluck.apps.shareables.pages.laying_out import pages as laying_out
from potluck.apps.shareables.pages.looking import pages as looking
from potluck.apps.shareables.pages.looking_after import pages as looking_after
from potluck.apps.shareables.pages.opening import pages as opening
from potluck.apps.shareables.pages.voting import pages as voting

__all__ = ["ENDPOINTS"]

ENDPOINTS = [laying_out, opening, looking, voting, looking_after, FILES.endpoints(), BALLOT_FILES.endpoints()]
