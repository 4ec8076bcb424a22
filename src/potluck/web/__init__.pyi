from potluck.people.throttling import RateLimit
from potluck.web import drawings, formats
from potluck.web.access import Access, ByRow, SignedIn
from potluck.web.actions import Actions, PageForm, Show
from potluck.web.app import App, Core, Demo, HomeCard, Sample
from potluck.web.cookies import SealedCookie
from potluck.web.csv_files import inert
from potluck.web.downloads import attachment
from potluck.web.endpoints import Call, Endpoints
from potluck.web.errors import (
    CHALLENGE,
    AlreadyThere,
    NotFound,
    Problem,
    ProblemError,
)
from potluck.web.flash import Flash
from potluck.web.forms import Form, Line
from potluck.web.inputs import UNSET, Edit, FormOf, Input, New, Unset, Versioned
from potluck.web.invitations import InvitationMade, Invitations, InvitationView
from potluck.web.layout import Section, in_words, initials
from potluck.web.offline import Shell
from potluck.web.outbound import Outbound
from potluck.web.pages import to_sign_in
from potluck.web.pagination import OwnPages, References
from potluck.web.places.access import InPlace, OwnPlaces
from potluck.web.places.place import Place, by_name
from potluck.web.places.rows import MemberRow, PlaceRow
from potluck.web.qr import qr_code
from potluck.web.translation import _, ngettext
from potluck.web.updates import Updates
from potluck.web.views import View, computed
from potluck.web.writes import Outcome, Step, Writes, or_raise, or_retry

__all__ = [
    "CHALLENGE",
    "UNSET",
    "Access",
    "Actions",
    "AlreadyThere",
    "App",
    "ByRow",
    "Call",
    "Core",
    "Demo",
    "Edit",
    "Endpoints",
    "Flash",
    "Form",
    "FormOf",
    "HomeCard",
    "InPlace",
    "Input",
    "InvitationMade",
    "InvitationView",
    "Invitations",
    "Line",
    "MemberRow",
    "New",
    "NotFound",
    "Outbound",
    "Outcome",
    "OwnPages",
    "OwnPlaces",
    "PageForm",
    "Place",
    "PlaceRow",
    "Problem",
    "ProblemError",
    "RateLimit",
    "References",
    "Sample",
    "SealedCookie",
    "Section",
    "Shell",
    "Show",
    "SignedIn",
    "Step",
    "Unset",
    "Updates",
    "Versioned",
    "View",
    "Writes",
    "_",
    "attachment",
    "by_name",
    "computed",
    "drawings",
    "formats",
    "in_words",
    "inert",
    "initials",
    "ngettext",
    "or_raise",
    "or_retry",
    "qr_code",
    "to_sign_in",
]
