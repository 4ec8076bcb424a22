"""The table of accounts, and of everything that identifies callers.

Two rules shape this table. The holder of a secret is found by its hash, in one read. And everything that belongs to a
person has a row in that person's partition, written in the same transaction, so that one read finds all there is to
list, end or delete. Both are consistent reads of the table itself, because an index may lag, and an ended session or a
new token must count at once. The one index lists people for admins, who are then shown the accounts themselves.
"""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, field

from potluck.people.fields import DeviceName, Email, Name
from potluck.table import (
    Counter,
    Entity,
    ExpiresAt,
    ItemCollection,
    KeyOnly,
    LeftOut,
    Seconds,
    StartsWith,
    Table,
    Version,
    get,
    query,
    scan,
)

accounts = Table(
    "Accounts",
    "PK",
    "SK",
    indexes={"GSI1": ("GSI1PK", "GSI1SK")},
    ttl="ttl",
    type_attribute="entityType",
    names="camel",
    accepted={
        "scan: Account.every": "`potluck people list` lists everyone, also those who are not in the index yet",
        "few-partitions: Account in GSI1": "Only admins read it, page by page. It is written when someone registers,"
        " signs in or changes their name, which is far below the thousand writes a second that a partition takes.",
        "constant-partition: Administration": "It is one row, read by who registers and written when admins change.",
        "scan: EmailAddress.every": "`potluck backfill` moves rows of a former normal form, once",
        "constant-partition: Departure": "People leave seldom, their row is there for moments only, and it must be"
        " found without knowing whose it is.",
        "constant-partition: SecretCheck": "It is one row, read once by each process that starts.",
    },
)

# A SHA-256 in hexadecimal. The secrets are random and long, so a fast hash is enough; passwords have a slow one.
Hash = Annotated[str, Meta(min_length=64, max_length=64, pattern="^[0-9a-f]{64}$")]

HeaderText = Annotated[str, Meta(max_length=500)]


# --- accounts --------------------------------------------------------------------------------------------------------


Status = Literal["active", "waiting", "disabled"]


class Account(
    Entity,
    table=accounts,
    type="Account",
    key=("USER#{user_id}", "PROFILE"),
    GSI1=("PEOPLE#{status}", "NAME#{name:folded}"),
):
    """A person."""

    user_id: UUID
    email: Email
    """As they spell it."""
    email_verified: Annotated[bool, LeftOut] = False
    """Whether the identity provider has verified that the address is theirs; Potluck itself sends no mail."""
    name: Name
    password_hash: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    """None for someone who signs in at the identity provider only."""
    session_epoch: Annotated[int, Meta(ge=1)] = 1
    """Raised with every new password: a session of an earlier epoch is over, however many there are."""
    tokens_since: Annotated[int, Meta(ge=1), LeftOut] = 1
    """The epoch from which on API tokens count: one that was made before it is over, however many there are."""
    status: Annotated[Status, LeftOut] = "active"
    """Only active accounts can be used; one that is waiting has never been approved."""
    admin: Annotated[bool, LeftOut] = False
    """Whether they look after the people here."""
    signed_in_at: Seconds | None = None
    """When they last signed in; None if that was before this was recorded."""
    version: Version = 1
    created_at: Seconds
    updated_at: Seconds

    @get(consistent=True)
    def by_id(user_id: UUID) -> None:
        """Who is this, and do their sessions still count?"""

    @scan(consistent=True)
    def every() -> None:
        """Who is here, in no order?"""

    @query("GSI1")
    def all_with_status(status: Status) -> None:
        """Who is here, by name?"""

    @query("GSI1")
    def named(status: Status, name: StartsWith) -> None:
        """Whose name begins like this?"""


# An entity of its own and not a guard on Account.email: a guard only says that the address is taken, and signing in
# must find whose it is.
class EmailAddress(Entity, table=accounts, type="EmailAddress", key=("EMAIL#{folded}", "EMAIL")):
    """An e-mail address that is taken."""

    folded: Annotated[str, Meta(min_length=3, max_length=254), KeyOnly]
    user_id: UUID

    @scan(consistent=True)
    def every() -> None:
        """Which addresses are taken?"""

    @get(consistent=True)
    def by_folded(folded: str) -> None:
        """Whose address is this?"""


class Departure(Entity, table=accounts, type="Departure", key=("DEPARTURES", "USER#{user_id}")):
    """Someone whose account has gone, until it is certain that nothing of theirs is left anywhere."""

    user_id: UUID

    @query(consistent=True)
    def all_unfinished() -> None:
        """Whose accounts were deleted, but perhaps not all of their data?"""


# --- who is calling --------------------------------------------------------------------------------------------------


class Session(Entity, table=accounts, type="Session", key=("SESSION#{hash}", "SESSION")):
    """Someone who signed in."""

    hash: Annotated[Hash, KeyOnly]
    user_id: UUID
    session_epoch: Annotated[int, Meta(ge=1)]
    by_provider: Annotated[bool, LeftOut] = False
    """Whether they signed in at the identity provider, where they may want to sign out too."""
    created_at: Seconds
    ttl: ExpiresAt

    @get(consistent=True)
    def by_hash(hash: str) -> None:
        """Whose session does this secret open?"""


class SessionOfUser(Entity, table=accounts, type="SessionOfUser", key=("USER#{user_id}", "SESSION#{hash}")):
    """A session, where its owner finds it."""

    user_id: UUID
    hash: Annotated[Hash, KeyOnly]
    program: DeviceName | None = None
    """The browser or program that signed in; None if it could not be told, and in rows from before."""
    system: DeviceName | None = None
    created_at: Seconds
    ttl: ExpiresAt

    @get(consistent=True)
    def by_hash(user_id: UUID, hash: str) -> None:
        """Is this one of the person's sessions?"""

    @query(consistent=True)
    def all_of_user(user_id: UUID) -> None:
        """Which sessions end with a new password?"""


class ApiToken(Entity, table=accounts, type="ApiToken", key=("TOKEN#{hash}", "TOKEN")):
    """A program that calls for someone."""

    hash: Annotated[Hash, KeyOnly]
    user_id: UUID
    token_id: UUID
    session_epoch: Annotated[int, Meta(ge=1), LeftOut] = 1
    """In which it was made."""

    @get(consistent=True)
    def by_hash(hash: str) -> None:
        """Which person does the holder of this secret act for?"""


class ApiTokenOfUser(Entity, table=accounts, type="ApiTokenOfUser", key=("USER#{user_id}", "TOKEN#{token_id}")):
    """An API token, where its owner finds and ends it."""

    user_id: UUID
    token_id: UUID
    hash: Hash
    name: Name
    created_at: Seconds
    session_epoch: Annotated[int, Meta(ge=1), LeftOut] = 1
    """In which it was made."""

    @get(consistent=True)
    def by_id(user_id: UUID, token_id: UUID) -> None:
        """Which secret dies when this token is deleted?"""

    @query(consistent=True)
    def all_of_user(user_id: UUID) -> None:
        """Which API tokens has this person?"""


# OpenID Connect promises that a subject means one person at its issuer for ever, and promises it of nothing else: an
# e-mail address can be given to another person.
Subject = Annotated[str, Meta(min_length=1, max_length=255, pattern=r"^[\x20-\x7e]+$")]


class Identity(Entity, table=accounts, type="Identity", key=("IDENTITY#{issuer_hash}#{subject}", "IDENTITY")):
    """Someone at an identity provider, and whose account they sign in to."""

    issuer_hash: Annotated[Hash, KeyOnly]
    """A SHA-256 of the issuer, which may be a long address."""
    subject: Annotated[Subject, KeyOnly]
    user_id: UUID

    @get(consistent=True)
    def by_subject(issuer_hash: str, subject: str) -> None:
        """Which account does this identity sign in to?"""


class IdentityOfUser(Entity, table=accounts, type="IdentityOfUser", key=("USER#{user_id}", "IDENTITY#{issuer_hash}")):
    """An identity, where its account's owner finds it; an account has at most one of each issuer."""

    user_id: UUID
    issuer_hash: Hash
    issuer: Annotated[str, Meta(min_length=1, max_length=2000)]
    subject: Subject
    created_at: Seconds

    @get(consistent=True)
    def by_issuer(user_id: UUID, issuer_hash: str) -> None:
        """Who is this person at this issuer?"""

    @query(consistent=True)
    def all_of_user(user_id: UUID) -> None:
        """Which identities can this person sign in with?"""


class PasswordReset(Entity, table=accounts, type="PasswordReset", key=("RESET#{hash}", "RESET")):
    """A link that an operator hands over, to choose a new password once."""

    hash: Annotated[Hash, KeyOnly]
    user_id: UUID
    created_at: Seconds
    ttl: ExpiresAt

    @get(consistent=True)
    def by_hash(hash: str) -> None:
        """Whose password may the holder of this secret choose?"""


class PasswordResetOfUser(Entity, table=accounts, type="PasswordResetOfUser", key=("USER#{user_id}", "RESET#{hash}")):
    """A password reset, among the rows of its account: a newer one, a new password or the account's end deletes it."""

    user_id: UUID
    hash: Annotated[Hash, KeyOnly]
    ttl: ExpiresAt

    @get(consistent=True)
    def by_hash(user_id: UUID, hash: str) -> None:
        """Is this one of the person's resets?"""

    @query(consistent=True)
    def all_of_user(user_id: UUID) -> None:
        """Which links could still change this person's password?"""


# --- invitations -----------------------------------------------------------------------------------------------------

# Only the app knows what it invites to: a family, a library, an athlete's journal.
App = Annotated[str, Meta(min_length=1, max_length=30)]
Place = Annotated[str, Meta(min_length=1, max_length=100)]
Role = Annotated[str, Meta(min_length=1, max_length=30)]


class Invitation(Entity, table=accounts, type="Invitation", key=("INVITATION#{hash}", "INVITATION")):
    """Lets the holder of its secret join a place, once."""

    hash: Annotated[Hash, KeyOnly]
    invitation_id: UUID
    app: App
    place: Place
    role: Role
    invited_by: UUID
    claimed_by: UUID | None = None
    """Who registered with it, where that needs an invitation; it is theirs alone to accept."""
    created_at: Seconds
    ttl: ExpiresAt

    @get(consistent=True)
    def by_hash(hash: str) -> None:
        """What does this secret invite to?"""


class InvitationOfPlace(
    Entity,
    table=accounts,
    type="InvitationOfPlace",
    key=("PLACE#{app}#{place}", "INVITATION#{invitation_id}"),
):
    """An invitation, where those who manage the place find and end it."""

    invitation_id: UUID
    hash: Hash
    app: App
    place: Place
    role: Role
    email: Email | None = None
    """The address of the invited person, as typed. No account is looked up by it."""
    invited_by: UUID
    created_at: Seconds
    ttl: ExpiresAt

    @get(consistent=True)
    def by_id(app: str, place: str, invitation_id: UUID) -> None:
        """Which secret dies when this invitation is withdrawn?"""

    @query(consistent=True)
    def all_of_place(app: str, place: str) -> None:
        """Who has been invited here and has not come yet?"""


class InvitationOfUser(
    Entity,
    table=accounts,
    type="InvitationOfUser",
    key=("USER#{user_id}", "INVITATION#{invitation_id}"),
):
    """An invitation among the rows of the person who made it: it ends with their account."""

    user_id: UUID
    """Who invited."""
    invitation_id: UUID
    hash: Hash
    app: App
    place: Place
    email: Email | None = None
    """As in InvitationOfPlace, to find the row of the address by."""
    ttl: ExpiresAt

    @get(consistent=True)
    def by_id(user_id: UUID, invitation_id: UUID) -> None:
        """Is this one of the person's invitations?"""


# Written for every address, whether an account has it or not: so inviting takes the same and says the same for both.
class InvitationToAddress(
    Entity,
    table=accounts,
    type="InvitationToAddress",
    key=("EMAIL#{folded}", "INVITATION#{invitation_id}"),
):
    """An invitation, where the person whose verified address it was made for finds it."""

    folded: Annotated[str, Meta(min_length=3, max_length=254), KeyOnly]
    invitation_id: UUID
    hash: Hash
    created_at: Seconds
    ttl: ExpiresAt

    @get(consistent=True)
    def by_id(folded: str, invitation_id: UUID) -> None:
        """Is this invitation for this address?"""

    @query(consistent=True)
    def all_to(folded: str) -> None:
        """Who is inviting the owner of this address?"""


# --- the store itself ------------------------------------------------------------------------------------------------


class SecretCheck(Entity, table=accounts, type="SecretCheck", key=("STORE", "SECRET")):
    """A one-way digest of the secret that the store was made with, to recognise that secret by."""

    check: Hash
    has_admins: Annotated[bool, LeftOut] = False
    """Whether the store is not from before there were admins, so that its first account is an admin's."""

    @get(consistent=True)
    def of_store() -> None:
        """Is this the secret of the votes, codes, cursors and positions that are here?"""


class Administration(Entity, table=accounts, type="Administration", key=("STORE", "ADMINS")):
    """How many admins the store has. The first account puts it, so that of several at once one becomes an admin."""

    admins: Counter = 0
    """Active ones: who is disabled does not count."""

    @get(consistent=True)
    def of_store() -> None:
        """Has the first account been made, and is there more than one admin?"""


# --- doing it once, and not too often --------------------------------------------------------------------------------


class Throttle(Entity, table=accounts, type="Throttle", key=("THROTTLE#{who}#{window}", "THROTTLE")):
    """How often someone tried something in one stretch of time; made by the first attempt in it."""

    who: Annotated[str, Meta(min_length=1, max_length=200), KeyOnly]
    """What was tried, and the client or the account; e-mail addresses are hashed."""
    window: Annotated[Seconds, KeyOnly]
    """When the stretch began."""
    attempts: Counter = 0
    ttl: ExpiresAt

    @get(consistent=True)
    def by_window(who: str, window: Seconds) -> None:
        """How often was it tried?"""


class IdempotentAnswer(
    Entity,
    table=accounts,
    type="IdempotentAnswer",
    key=("IDEMPOTENCY#{caller}#{key}", "IDEMPOTENCY"),
):
    """The answer to a write, kept so that a repeated request writes nothing and gets the same answer."""

    caller: Annotated[str, Meta(min_length=1, max_length=100), KeyOnly]
    key: Annotated[str, Meta(min_length=1, max_length=128), KeyOnly]
    request_hash: Hash
    """Tells a repeat from another request with the same key, which is a mistake."""
    status: Annotated[int, Meta(ge=200, le=299)]
    headers: Annotated[dict[HeaderText, HeaderText], Meta(max_length=10)] = field(default_factory=dict)
    body: Annotated[bytes, Meta(max_length=300_000)] | None = None
    """Left out when it held a secret."""
    made: Annotated[str, Meta(max_length=100)] | None = None
    """The id of what was created, which is repeated even if the answer is not."""
    ttl: ExpiresAt

    @get(consistent=True)
    def by_key(caller: str, key: str) -> None:
        """Was this asked before, and what was the answer?"""


class AnswerOfUser(Entity, table=accounts, type="AnswerOfUser", key=("USER#{user_id}", "IDEMPOTENCY#{caller}#{key}")):
    """A kept answer, among the rows of its account: it is deleted with it."""

    user_id: UUID
    caller: Annotated[str, Meta(min_length=1, max_length=100), KeyOnly]
    """The caller that the key belongs to: someone who registers or signs in is still anonymous."""
    key: Annotated[str, Meta(min_length=1, max_length=128), KeyOnly]
    ttl: ExpiresAt


class EverythingOfUser(ItemCollection):
    """A person with everything that is theirs here."""

    account: Account | None
    sessions: list[SessionOfUser]
    api_tokens: list[ApiTokenOfUser]
    identities: list[IdentityOfUser]
    password_resets: list[PasswordResetOfUser]
    invitations: list[InvitationOfUser]
    answers: list[AnswerOfUser]

    @query(consistent=True)
    def of(user_id: UUID) -> None:
        """What is there to export, or to forget with the account?"""
