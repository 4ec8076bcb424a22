from potluck.settings import AssistantSettings, Settings
from potluck.web import drawings
from potluck.web.access import Access, ByRow, Maker, SignedIn, Visitor, read_together
from potluck.web.actions import Actions, FoundByAccess, PageForm, Show
from potluck.web.api import MaybeSince
from potluck.web.app import App, Core, Demo, Export, Guests, HomeCard, Waiting, WorthALook
from potluck.web.app_entry import AppEntry
from potluck.web.assets import Assets
from potluck.web.cookies import ANONYMOUS, SealedCookie, Sets
from potluck.web.csv_files import CsvColumns, csv_bytes, inert
from potluck.web.declarations import Instead
from potluck.web.direct_calls import Direct
from potluck.web.endpoints import Call, Endpoints
from potluck.web.errors import (
    CHALLENGE,
    FORBIDDEN,
    VERSION_CONFLICT,
    AlreadyThere,
    Conflict,
    Forbidden,
    NoLongerValid,
    NotFound,
    Problem,
    ProblemError,
    SignInRequired,
)
from potluck.web.flash import Flash
from potluck.web.forms import ByField, Form, Line, blank, values_of
from potluck.web.http.clients import lacks_https
from potluck.web.http.responses import redirect
from potluck.web.inputs import UNSET, Edit, FormOf, Input, New, Unset, Versioned
from potluck.web.invitations import InvitationMade, InvitationView, accepted, account_as_read, invite, withdraw
from potluck.web.layout import Section, in_words, initials
from potluck.web.live import Changes, Event, EventChange, EventSource, EventStreamResponse, Grant, Live, NamedEvent
from potluck.web.modules import Modules
from potluck.web.outbound import Outbound, Unreachable
from potluck.web.pages import to_sign_in
from potluck.web.pagination import OwnPages, PageQuery, PageRequest, References
from potluck.web.people.invitation_cookie import CARRIED_INVITATION
from potluck.web.places.access import InPlace, OwnPlaces
from potluck.web.places.derived import OwnMember
from potluck.web.places.place import Place, PlacePage, by_name
from potluck.web.places.rows import MemberRow, MemberStatus, PlaceRow
from potluck.web.qr import qr_code
from potluck.web.rate_limits import RateLimit
from potluck.web.requests import camel, decoded
from potluck.web.versions import etag
from potluck.web.views import View, computed, view_plan
from potluck.web.writes import Outcome, Refused, Step, Writes, or_raise, or_retry

__all__ = [
    "ANONYMOUS",
    "CARRIED_INVITATION",
    "CHALLENGE",
    "FORBIDDEN",
    "UNSET",
    "VERSION_CONFLICT",
    "Access",
    "Actions",
    "AlreadyThere",
    "App",
    "AppEntry",
    "Assets",
    "AssistantSettings",
    "ByField",
    "ByRow",
    "Call",
    "Changes",
    "Conflict",
    "Core",
    "CsvColumns",
    "Demo",
    "Direct",
    "Edit",
    "Endpoints",
    "Event",
    "EventChange",
    "EventSource",
    "EventStreamResponse",
    "Export",
    "Flash",
    "Forbidden",
    "Form",
    "FormOf",
    "FoundByAccess",
    "Grant",
    "Guests",
    "HomeCard",
    "InPlace",
    "Input",
    "Instead",
    "InvitationMade",
    "InvitationView",
    "Line",
    "Live",
    "Maker",
    "MaybeSince",
    "MemberRow",
    "MemberStatus",
    "Modules",
    "NamedEvent",
    "New",
    "NoLongerValid",
    "NotFound",
    "Outbound",
    "Outcome",
    "OwnMember",
    "OwnPages",
    "OwnPlaces",
    "PageForm",
    "PageQuery",
    "PageRequest",
    "Place",
    "PlacePage",
    "PlaceRow",
    "Problem",
    "ProblemError",
    "RateLimit",
    "References",
    "Refused",
    "SealedCookie",
    "Section",
    "Sets",
    "Settings",
    "Show",
    "SignInRequired",
    "SignedIn",
    "Step",
    "Unreachable",
    "Unset",
    "Versioned",
    "View",
    "Visitor",
    "Waiting",
    "WorthALook",
    "Writes",
    "accepted",
    "account_as_read",
    "blank",
    "by_name",
    "camel",
    "computed",
    "csv_bytes",
    "decoded",
    "drawings",
    "etag",
    "in_words",
    "inert",
    "initials",
    "invite",
    "lacks_https",
    "or_raise",
    "or_retry",
    "qr_code",
    "read_together",
    "redirect",
    "to_sign_in",
    "values_of",
    "view_plan",
    "withdraw",
]
