"""Everything that can be refused: each problem with its status and its page, and which error is which problem."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from potluck.engines import AccessDenied, StoreDamaged
from potluck.people import errors as people
from potluck.table import errors as table
from potluck.validation.errors import BodyNotJson, ValidationError
from potluck.web.entity_fields import DeclarationError


@dataclass(frozen=True, slots=True)
class Problem:
    """One kind of refusal, explained at `/problems/{slug}`."""

    slug: str
    status: int
    title: str
    explanation: str
    remedy: str = ""

    def body(self, detail: str, request_id: str) -> dict[str, Any]:
        """The problem as RFC 9457 has it: `detail` is what went wrong this time."""
        return {
            "type": f"/problems/{self.slug}",
            "title": self.title,
            "status": self.status,
            "detail": detail,
            "requestId": request_id,
        }


class WebError(Exception):
    """A request that is refused before it reaches any app."""


class NotSignedIn(WebError):
    """The request carries no valid session or token."""

    def __init__(self) -> None:
        super().__init__("Sign in, or send a valid token")


class WrongMediaType(WebError):
    """The Content-Type or Content-Encoding is not one that the call takes."""


class CrossSite(WebError):
    """A page of another site made the browser send the request."""

    def __init__(self) -> None:
        super().__init__("A browser may ask for this only from Potluck's own pages")


class VersionNeeded(WebError):
    """The change does not name the version it is based on."""

    def __init__(self) -> None:
        super().__init__('Say which version you saw: "version" in the body, or If-Match')


# --- the problems ----------------------------------------------------------------------------------------------------

NOT_JSON = Problem(
    "not-json",
    400,
    "The body is not JSON",
    "The request's body could not be read as JSON in UTF-8, so nothing was written.",
    "Check the quotes, commas and brackets, and that the text is UTF-8.",
)
BAD_REQUEST = Problem(
    "bad-request", 400, "The request cannot be read", "The request is not valid HTTP, so nothing was done."
)
NOT_SIGNED_IN = Problem(
    "not-signed-in",
    401,
    "Not signed in",
    "This needs an account. The request has no session or token, or one that has expired or was revoked.",
    "Sign in again, or send a valid token as Authorization: Bearer.",
)
WRONG_CREDENTIALS = Problem(
    "wrong-credentials",
    401,
    "Wrong e-mail or password",
    "No account has this e-mail address with this password. We do not say which of the two is wrong.",
    "Try again, or ask the person who runs this Potluck for a link to choose a new password.",
)
ACCOUNT_WAITING = Problem(
    "account-waiting",
    403,
    "Your account is waiting for approval",
    "Your password is right. An admin of this Potluck has to approve your account before you can sign in.",
    "Try again later, or ask the person who runs this Potluck.",
)
ACCOUNT_DISABLED = Problem(
    "account-disabled",
    403,
    "Your account is disabled",
    "Your password is right, but an admin has disabled your account. What is yours is kept.",
    "Ask the person who runs this Potluck.",
)
WRONG_PASSWORD = Problem(
    "wrong-password",
    403,
    "Wrong password",
    "You are signed in, but this change needs your password again, and this one is wrong.",
)
TOKEN_CANNOT = Problem(
    "token-cannot",
    403,
    "Not with an API token",
    "A personal API token can do what its owner can, except manage tokens, the password or the account.",
    "Sign in and do it there.",
)
REGISTRATION_CLOSED = Problem(
    "registration-closed",
    403,
    "No registration",
    "Registration on this server is closed, or open to invited people only.",
    "Ask the person who runs it for an invitation.",
)
CROSS_SITE = Problem(
    "cross-site",
    403,
    "Request from another site",
    "This request came from a page of another site, so it was refused.",
    "Open Potluck and try again there. Programs send a token instead of a cookie.",
)
FORBIDDEN = Problem("forbidden", 403, "Not allowed", "Your role does not allow this.")
NOT_FOUND = Problem(
    "not-found",
    404,
    "Not found",
    "There is nothing here, or you may not see it. The two look the same on purpose.",
)
METHOD_NOT_ALLOWED = Problem(
    "method-not-allowed", 405, "Method not allowed", "This address does not support this method."
)
VERSION_CONFLICT = Problem(
    "version-conflict",
    409,
    "Changed by someone else",
    "It changed after you loaded it, so your change was not saved. The current version is in “current”.",
    "Compare the two, and send your change again with the current version.",
)
PRECONDITION_FAILED = Problem(
    "precondition-failed",
    412,
    "Version does not match",
    "It changed after you loaded it, so your change was not saved. The current version is in “current”.",
    "Compare the two, and send your change again with the current version in If-Match.",
)
ALREADY_EXISTS = Problem("already-exists", 409, "Already exists", "Something with this id or name exists already.")
EMAIL_TAKEN = Problem(
    "email-taken",
    409,
    "This address has an account",
    "An account with this e-mail address exists already.",
    "Sign in, or use another address.",
)
STILL_NEEDED = Problem(
    "still-needed",
    409,
    "You are still needed",
    "You are the only person who can manage the places that the answer names, so your account was not deleted.",
    "Make someone else a manager, or delete them first.",
)
ONLY_ADMIN = Problem(
    "only-admin",
    409,
    "The only admin",
    "This account belongs to the only admin, and someone has to look after the people here. Nothing was changed.",
    "Make someone else an admin first.",
)
OTHERS_NEED_THEM = Problem(
    "others-need-them",
    409,
    "Other people need this account",
    "The person is the only one who can manage places that other people use, so the account was not deleted.",
    "Ask them to make someone else a manager there, or disable the account instead.",
)
WRONG_STATUS = Problem(
    "wrong-status",
    409,
    "The account has another status",
    "The account is waiting for approval, active or disabled, and what you asked for needs another of these.",
)
TOO_MANY = Problem("too-many", 409, "Limit reached", "No more of these can be added.")
ALREADY_DONE = Problem(
    "already-done",
    409,
    "Already done",
    "This request was executed before under the same Idempotency-Key. Its answer contained a secret, which is not"
    " stored.",
    "“made” is the id of what it created. If the secret is lost, delete that and create another.",
)
TOO_SLOW = Problem(
    "too-slow",
    408,
    "Too slow",
    "The request took too long to arrive, so nothing was done.",
    "Send it again, over a better connection if possible.",
)
OWN_INVITATION = Problem(
    "own-invitation",
    409,
    "Your own invitation",
    "You made this invitation yourself, so it is for someone else. It is not used up.",
    "Send its link to the person you want to invite.",
)
SIGN_IN_FAILED = Problem(
    "sign-in-failed",
    400,
    "That sign-in did not work",
    "What came back from the identity provider does not prove who you are. A sign-in is good once, for ten minutes, and"
    " in the browser that began it.",
    "Begin again. If it happens every time, the log of this Potluck says why.",
)
UNKNOWN_IDENTITY = Problem(
    "unknown-identity",
    401,
    "No account for this identity",
    "The token is valid, but the person it is for has no account here.",
    "Sign in once on the pages, which makes the account.",
)
CONFIRMATION_NEEDED = Problem(
    "confirmation-needed",
    403,
    "Confirm that it is you",
    "You have no password here, so this change needs a fresh sign-in with the identity provider.",
    "Confirm on your account's page, and do it there.",
)
PASSWORDS_OFF = Problem(
    "passwords-off",
    403,
    "No passwords here",
    "People sign in to this Potluck with an identity provider only.",
    "Use the button on the sign-in page.",
)
IDENTITY_TAKEN = Problem(
    "identity-taken",
    409,
    "Linked to another account",
    "This identity signs in to another account here, or your account has another identity of the same provider.",
    "Unlink it there first.",
)
IDENTITY_NEEDED = Problem(
    "identity-needed",
    409,
    "You need this to sign in",
    "Without it, you could not sign in any more.",
    "Choose a password first.",
)
PROVIDER_UNAVAILABLE = Problem(
    "provider-unavailable",
    503,
    "The identity provider does not answer",
    "Potluck cannot ask the identity provider just now. Passwords, sessions and API tokens work all the same.",
    "Try again after the seconds in Retry-After.",
)
EXPIRED = Problem("expired", 410, "No longer valid", "It was used, withdrawn or has expired.")
TOO_LARGE = Problem("too-large", 413, "Too large", "The body is larger than allowed here.")
ADDRESS_TOO_LONG = Problem(
    "address-too-long", 414, "Address too long", "The address is longer than any on this server."
)
WRONG_MEDIA_TYPE = Problem(
    "wrong-media-type",
    415,
    "Unsupported media type",
    "The body's Content-Type is not supported here.",
    "Send JSON, as application/json.",
)
INVALID_FIELDS = Problem(
    "invalid-fields",
    422,
    "Some fields need another look",
    "One or more fields are invalid. “errors” lists all of them, each with what it should be. Nothing was written.",
)
KEY_REUSED = Problem(
    "key-reused",
    422,
    "This key was used for something else",
    "The Idempotency-Key was used before with another request. A key is for one request and its repeats.",
    "Use a new key for a new request.",
)
VERSION_NEEDED = Problem(
    "version-needed",
    428,
    "Version required",
    "A change must name the version that it is based on, so that it does not overwrite another change.",
    'Send "version" in the body, or If-Match with the ETag of the last answer.',
)
THROTTLED = Problem(
    "throttled",
    429,
    "Too many attempts",
    "This was tried too often. Retry-After is the number of seconds to wait.",
)
HEADERS_TOO_LARGE = Problem(
    "headers-too-large", 431, "Headers too large", "The request's headers are larger than allowed."
)
BROKEN = Problem(
    "broken", 500, "Something went wrong", "It is our mistake, not yours. The details are logged under this request id."
)
OUTCOME_UNKNOWN = Problem(
    "outcome-unknown",
    503,
    "Outcome unknown",
    "The store's answer was lost, so it is unknown whether the request was executed. It was not executed twice.",
    "Send it again with the same Idempotency-Key, or check first.",
)
BUSY = Problem(
    "busy",
    503,
    "Busy just now",
    "The store has more requests than it can answer. Nothing of this request was written.",
    "Try again after the seconds in Retry-After.",
)

STORE_DAMAGED = Problem(
    "store-damaged",
    500,
    "The store is damaged",
    "A part of the store that this needs cannot be read. Trying again does not help. Nothing of this request was"
    " written.",
    "Tell the person who runs this Potluck: the log says what to do, and a backup brings everything back.",
)

NO_ROOM = Problem(
    "no-room",
    503,
    "Storage full",
    "The store has reached its limit; anonymous callers are refused first. Nothing of this"
    " request was written. Existing data can be read and deleted.",
    "Delete what you no longer need, sign in, or tell the person who runs this Potluck.",
)

PROBLEMS = tuple(problem for problem in list(globals().values()) if isinstance(problem, Problem))


CHALLENGE = 'Bearer realm="potluck"'


def by_slug(problems: tuple[Problem, ...]) -> dict[str, Problem]:
    """Each problem by its slug, the last part of its address."""
    return {problem.slug: problem for problem in problems}


SHARED = by_slug(PROBLEMS)

# --- problems that rules raise ---------------------------------------------------------------------------------------


class ProblemError(Exception):
    """A refusal that rules raise: status, page and words in one class; its docstring is the explanation people read.

        class DuplicateItem(ProblemError, slug="duplicate-item", status=409, title="It is on the list already"):
            \"\"\"The same thing is on the list and not bought yet. Nothing was changed.\"\"\"

    With a slug alone it is a problem that all apps share: `ProblemError, slug="forbidden", detail="…"`. An entity among
    its members is shown by the view of its subject. `field` is the form field that it is shown next to, `detail` the
    sentence in the answer, where that is not the explanation.
    """

    problem: ClassVar[Problem]
    field: ClassVar[str | None] = None
    detail: ClassVar[str] = ""
    guessed: ClassVar[bool] = False
    """Whether it answers a secret that does not exist: it then counts as a guess."""
    way_in: tuple[str, str] | None = None
    """A link to where a person can do something about it: its address and its words."""

    def __init_subclass__(
        cls,
        *,
        slug: str = "",
        status: int = 409,
        title: str = "",
        remedy: str = "",
        field: str | None = None,
        detail: str = "",
    ) -> None:
        if slug and title:
            cls.problem = Problem(slug, status, title, " ".join((cls.__doc__ or title).split()), remedy)
        elif slug:
            cls.problem = _shared_problem(cls.__name__, slug)
        elif not hasattr(cls, "problem"):
            raise DeclarationError(
                f"{cls.__name__}: say which problem it is: "
                f'`class {cls.__name__}(ProblemError, slug="…", status=409, title="…")`'
            )
        if field is not None:
            cls.field = field
        if detail:
            cls.detail = detail

    def __init__(self, detail: str | None = None, **members: Any) -> None:
        super().__init__(detail or self.detail or self.problem.explanation)
        self.members = members

    @property
    def headers(self) -> Mapping[str, str]:
        return {"www-authenticate": CHALLENGE} if self.problem.status == 401 else {}


def _shared_problem(name: str, slug: str) -> Problem:
    """The problem that all apps share; a DeclarationError if they share none of this slug."""
    if slug not in SHARED:
        raise DeclarationError(f"{name}: write a title; without one, the slug is one of {', '.join(sorted(SHARED))}")
    return SHARED[slug]


def is_guess(error: Exception) -> bool:
    """Whether the caller sent a secret of nothing: a code, or that of a link. Many of these are guesses."""
    if isinstance(error, ProblemError):
        return error.guessed
    return isinstance(error, people.InvitationInvalid | people.ResetInvalid)


class NotFound(ProblemError):
    """It does not exist, or not for this caller; the answer is the same."""

    problem = NOT_FOUND


class Forbidden(ProblemError):
    """The caller may see this but not do that."""

    problem = FORBIDDEN


class AlreadyThere(ProblemError):
    """Something with this id or name exists."""

    problem = ALREADY_EXISTS


class Conflict(ProblemError):
    """It has changed since the caller saw it; `current` is the current version."""

    problem = VERSION_CONFLICT

    def __init__(self, **members: Any) -> None:
        super().__init__("It has been changed since you saw it", **members)

    @property
    def current(self) -> Any:
        return self.members.get("current")


# --- which error is which problem ------------------------------------------------------------------------------------


def _nothing(_: Any) -> dict[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class ProblemMapping:
    """How an error is reported: as which problem, and with which members and headers."""

    problem: Problem
    members: Callable[[Any], Mapping[str, Any]] = field(default=_nothing)
    headers: Callable[[Any], Mapping[str, str]] = field(default=_nothing)
    detail: str | None = None
    """Used instead of the error's own message, where that is for developers."""


BUSY_SECONDS = "2"
FULL_SECONDS = "300"


def _fields(error: ValidationError) -> dict[str, Any]:
    return {"errors": [{"field": field.field, "message": field.message} for field in error.errors]}


def _retry_after(error: people.NotNow) -> dict[str, str]:
    return {"retry-after": str(error.retry_after)}


ERRORS: dict[type[Exception], ProblemMapping] = {
    # before the request reaches an app
    BodyNotJson: ProblemMapping(NOT_JSON),
    WrongMediaType: ProblemMapping(WRONG_MEDIA_TYPE),
    NotSignedIn: ProblemMapping(NOT_SIGNED_IN, headers=lambda _: {"www-authenticate": CHALLENGE}),
    CrossSite: ProblemMapping(CROSS_SITE),
    VersionNeeded: ProblemMapping(VERSION_NEEDED),
    # people
    ValidationError: ProblemMapping(INVALID_FIELDS, members=_fields),
    people.EmailTaken: ProblemMapping(EMAIL_TAKEN),
    people.RegistrationClosed: ProblemMapping(REGISTRATION_CLOSED),
    people.WrongCredentials: ProblemMapping(WRONG_CREDENTIALS),
    people.AccountWaiting: ProblemMapping(ACCOUNT_WAITING),
    people.AccountDisabled: ProblemMapping(ACCOUNT_DISABLED),
    people.WrongPassword: ProblemMapping(WRONG_PASSWORD),
    people.SignInNeeded: ProblemMapping(TOKEN_CANNOT),
    people.SignInFailed: ProblemMapping(SIGN_IN_FAILED),
    people.IdentityUnknown: ProblemMapping(
        UNKNOWN_IDENTITY, headers=lambda _: {"www-authenticate": f'{CHALLENGE}, error="invalid_token"'}
    ),
    people.ConfirmationNeeded: ProblemMapping(CONFIRMATION_NEEDED),
    people.PasswordsOff: ProblemMapping(PASSWORDS_OFF),
    people.IdentityTaken: ProblemMapping(IDENTITY_TAKEN),
    people.IdentityLinked: ProblemMapping(IDENTITY_TAKEN),
    people.IdentityNeeded: ProblemMapping(IDENTITY_NEEDED),
    people.ProviderUnavailable: ProblemMapping(PROVIDER_UNAVAILABLE, headers=_retry_after),
    people.SessionOver: ProblemMapping(NOT_SIGNED_IN, headers=lambda _: {"www-authenticate": CHALLENGE}),
    people.Throttled: ProblemMapping(THROTTLED, headers=_retry_after),
    people.NoRoom: ProblemMapping(NO_ROOM, headers=_retry_after),
    # The account was deleted during the request, so the caller is no longer signed in.
    people.AccountGone: ProblemMapping(NOT_SIGNED_IN, headers=lambda _: {"www-authenticate": CHALLENGE}),
    people.StillNeeded: ProblemMapping(STILL_NEEDED, members=lambda error: {"places": error.places}),
    people.OnlyAdmin: ProblemMapping(ONLY_ADMIN),
    people.OthersNeedThem: ProblemMapping(OTHERS_NEED_THEM),
    people.WrongStatus: ProblemMapping(WRONG_STATUS),
    people.TooMany: ProblemMapping(TOO_MANY, members=lambda error: {"atMost": error.at_most}),
    people.NoSuchToken: ProblemMapping(NOT_FOUND),
    people.NoSuchInvitation: ProblemMapping(NOT_FOUND),
    people.InvitationInvalid: ProblemMapping(EXPIRED),
    people.OwnInvitation: ProblemMapping(OWN_INVITATION),
    people.ResetInvalid: ProblemMapping(EXPIRED),
    people.KeyReused: ProblemMapping(KEY_REUSED),
    people.AlreadyDone: ProblemMapping(ALREADY_DONE, members=lambda error: {"made": error.made}),
    # what the table refuses, where no rule has put it into its own words
    table.VersionConflict: ProblemMapping(VERSION_CONFLICT, detail="It has been changed since you saw it"),
    table.Changed: ProblemMapping(VERSION_CONFLICT, detail="It has been changed since you saw it"),
    table.NotFound: ProblemMapping(NOT_FOUND, detail=NOT_FOUND.explanation),
    table.AlreadyExists: ProblemMapping(ALREADY_EXISTS, detail=ALREADY_EXISTS.explanation),
    table.NotUnique: ProblemMapping(ALREADY_EXISTS, detail=ALREADY_EXISTS.explanation),
    StoreDamaged: ProblemMapping(STORE_DAMAGED, detail=""),
    table.OutcomeUnknown: ProblemMapping(OUTCOME_UNKNOWN, headers=lambda _: {"retry-after": BUSY_SECONDS}, detail=""),
    table.NoSpace: ProblemMapping(NO_ROOM, headers=lambda _: {"retry-after": FULL_SECONDS}, detail=""),
    # What is missing is in the log, for the operator.
    AccessDenied: ProblemMapping(BUSY, headers=lambda _: {"retry-after": BUSY_SECONDS}, detail=""),
    table.Unavailable: ProblemMapping(BUSY, headers=lambda _: {"retry-after": BUSY_SECONDS}, detail=""),
}


def problem_of(error: type[Exception]) -> Problem:
    """The problem that an error of this class is reported as."""
    if issubclass(error, ProblemError):
        return error.problem
    return next(ERRORS[cls].problem for cls in error.__mro__ if cls in ERRORS)


# What Starlette and the server refuse, by status.
BY_STATUS: dict[int, Problem] = {
    400: BAD_REQUEST,
    401: NOT_SIGNED_IN,
    403: FORBIDDEN,
    404: NOT_FOUND,
    405: METHOD_NOT_ALLOWED,
    408: TOO_SLOW,
    413: TOO_LARGE,
    414: ADDRESS_TOO_LONG,
    415: WRONG_MEDIA_TYPE,
    429: THROTTLED,
    431: HEADERS_TOO_LARGE,
}
