from potluck.people.authentication import Principal
from potluck.people.email_normal_form import normal_email
from potluck.people.entities import Account, Invitation, InvitationOfPlace
from potluck.people.errors import (
    AccountGone,
    AlreadyDone,
    InvitationInvalid,
    NoSuchInvitation,
    NotNow,
    Throttled,
    TooMany,
)
from potluck.people.fields import AnyEmail, Email, EmailOrBlank, Name
from potluck.people.invitations import Invitations, withdrawing
from potluck.people.passwords import Passwords
from potluck.people.secrets import Random, hash_of, matches, new_id, system_random
from potluck.people.throttling import Limit

__all__ = [
    "Account",
    "AccountGone",
    "AlreadyDone",
    "AnyEmail",
    "Email",
    "EmailOrBlank",
    "Invitation",
    "InvitationInvalid",
    "InvitationOfPlace",
    "Invitations",
    "Limit",
    "Name",
    "NoSuchInvitation",
    "NotNow",
    "Passwords",
    "Principal",
    "Random",
    "Throttled",
    "TooMany",
    "hash_of",
    "matches",
    "new_id",
    "normal_email",
    "system_random",
    "withdrawing",
]
