from potluck.people.authentication import Principal
from potluck.people.email_normal_form import normal_email
from potluck.people.entities import Account, InvitationOfPlace
from potluck.people.errors import (
    AlreadyDone,
    NoSuchInvitation,
    NotNow,
    Throttled,
    TooMany,
)
from potluck.people.fields import Email, EmailOrBlank, Name
from potluck.people.secrets import hash_of

__all__ = [
    "Account",
    "AlreadyDone",
    "Email",
    "EmailOrBlank",
    "InvitationOfPlace",
    "Name",
    "NoSuchInvitation",
    "NotNow",
    "Principal",
    "Throttled",
    "TooMany",
    "hash_of",
    "normal_email",
]
