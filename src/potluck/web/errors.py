"""Everything that can be refused: each problem with its status and its page, and which error is which problem."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from potluck.engines import AccessDenied, StoreDamaged
from potluck.people import errors as people
from potluck.table import errors as table
from potluck.validation.errors import BodyNotJson, ValidationError
from potluck.web.entity_fields import DeclarationError
from potluck.web.translation import LazyText, _


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
            "title": str(self.title),
            "status": self.status,
            "detail": str(detail),
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
    _("The body is not JSON"),
    _("The request’s body can’t be read as JSON in UTF-8. Nothing was written."),
    _("Check the quotes, commas and brackets, and that the text is UTF-8."),
)
BAD_REQUEST = Problem(
    "bad-request", 400, _("The request can’t be read"), _("The request is not valid HTTP. Nothing was changed.")
)
NOT_SIGNED_IN = Problem(
    "not-signed-in",
    401,
    _("You’re not signed in"),
    _("You need to sign in to see this. The request had no session or token, or one that has expired or was revoked."),
    _("Sign in again, or send a valid token as Authorization: Bearer."),
)
WRONG_CREDENTIALS = Problem(
    "wrong-credentials",
    401,
    _("Wrong e-mail or password"),
    _("No account has this e-mail address and this password. We never say which of the two is wrong."),
    _("Try again, or ask the person who runs this Potluck for a link to choose a new password."),
)
ACCOUNT_WAITING = Problem(
    "account-waiting",
    403,
    _("Your account is waiting for approval"),
    _("Your password is correct. An admin has to approve your account before you can sign in."),
    _("Try again later, or ask the person who runs this Potluck."),
)
ACCOUNT_DISABLED = Problem(
    "account-disabled",
    403,
    _("Your account is disabled"),
    _("Your password is correct, but an admin has disabled your account. Your data is kept."),
    _("Ask the person who runs this Potluck."),
)
WRONG_PASSWORD = Problem(
    "wrong-password",
    403,
    _("Wrong password"),
    _("You’re signed in, but this change needs your password again, and the one you entered is wrong."),
)
TOKEN_CANNOT = Problem(
    "token-cannot",
    403,
    _("API tokens can’t do this"),
    _("A personal API token can do everything its owner can, except manage tokens, the password or the account."),
    _("Sign in and do it there."),
)
REGISTRATION_CLOSED = Problem(
    "registration-closed",
    403,
    _("Registration is closed"),
    _("New accounts can’t be created here, or only with an invitation."),
    _("Ask the person who runs it for an invitation."),
)
CROSS_SITE = Problem(
    "cross-site",
    403,
    _("Request from another site"),
    _("This request came from another website, so it was refused."),
    _("Open Potluck and try again there. Programs should send a token instead of a cookie."),
)
FORBIDDEN = Problem("forbidden", 403, _("Not allowed"), _("Your role doesn’t allow this."))
NOT_FOUND = Problem(
    "not-found",
    404,
    _("Not found"),
    _("There’s nothing here, or you don’t have access. The two look the same on purpose."),
)
METHOD_NOT_ALLOWED = Problem(
    "method-not-allowed", 405, _("Method not allowed"), _("This address doesn’t support this method.")
)
VERSION_CONFLICT = Problem(
    "version-conflict",
    409,
    _("Changed by someone else"),
    _("It changed after you loaded it, so your change wasn’t saved. The current version is in “current”."),
    _("Compare the two, and send your change again with the current version."),
)
PRECONDITION_FAILED = Problem(
    "precondition-failed",
    412,
    _("The version doesn’t match"),
    _("It changed after you loaded it, so your change wasn’t saved. The current version is in “current”."),
    _("Compare the two, and send your change again with the current version in If-Match."),
)
ALREADY_EXISTS = Problem(
    "already-exists", 409, _("Already exists"), _("Something with this id or name already exists.")
)
EMAIL_TAKEN = Problem(
    "email-taken",
    409,
    _("This address already has an account"),
    _("There’s already an account with this e-mail address."),
    _("Sign in, or use a different address."),
)
STILL_NEEDED = Problem(
    "still-needed",
    409,
    _("Others still need your account"),
    _("You’re the only person who can manage the places listed in the answer, so your account wasn’t deleted."),
    _("Make someone else a manager, or delete those places first."),
)
ONLY_ADMIN = Problem(
    "only-admin",
    409,
    _("The only admin"),
    _("This is the only admin’s account, and Potluck always needs an admin. Nothing was changed."),
    _("Make someone else an admin first."),
)
OTHERS_NEED_THEM = Problem(
    "others-need-them",
    409,
    _("Other people need this account"),
    _("Only this person can manage places that other people use, so the account wasn’t deleted."),
    _("Ask them to make someone else a manager there, or disable the account instead."),
)
WRONG_STATUS = Problem(
    "wrong-status",
    409,
    _("Wrong account status"),
    _("An account is waiting for approval, active or disabled, and this isn’t possible in its current status."),
)
TOO_MANY = Problem("too-many", 409, _("Limit reached"), _("You can’t add any more of these."))
ALREADY_DONE = Problem(
    "already-done",
    409,
    _("Already done"),
    _(
        "This request was already executed with the same Idempotency-Key. Its answer contained a secret, which isn’t"
        " stored."
    ),
    _("“made” is the id of what was created. If you lost the secret, delete it and create another."),
)
TOO_SLOW = Problem(
    "too-slow",
    408,
    _("Too slow"),
    _("The request took too long to arrive. Nothing was changed."),
    _("Try again, over a better connection if possible."),
)
OWN_INVITATION = Problem(
    "own-invitation",
    409,
    _("Your own invitation"),
    _("You created this invitation for someone else, so you can’t use it yourself. It still works."),
    _("Send the link to the person you want to invite."),
)
SIGN_IN_FAILED = Problem(
    "sign-in-failed",
    400,
    _("Sign-in failed"),
    _(
        "The identity provider’s answer doesn’t prove who you are. A sign-in works once, within ten minutes, and only"
        " in the browser that started it."
    ),
    _("Try again. If it keeps failing, the log of this Potluck says why."),
)
UNKNOWN_IDENTITY = Problem(
    "unknown-identity",
    401,
    _("No account for this identity"),
    _("The token is valid, but the person it belongs to has no account here."),
    _("Sign in on the website once to create the account."),
)
CONFIRMATION_NEEDED = Problem(
    "confirmation-needed",
    403,
    _("Confirm it’s you"),
    _("You don’t have a password here, so this change needs a fresh sign-in with your identity provider."),
    _("Confirm on your account page, and make the change there."),
)
PASSWORDS_OFF = Problem(
    "passwords-off",
    403,
    _("Passwords are turned off"),
    _("You can only sign in to this Potluck with an identity provider."),
    _("Use the button on the sign-in page."),
)
IDENTITY_TAKEN = Problem(
    "identity-taken",
    409,
    _("Linked to another account"),
    _("This identity is linked to another account here, or your account already has one from this provider."),
    _("Unlink the other one first."),
)
IDENTITY_NEEDED = Problem(
    "identity-needed",
    409,
    _("You need this to sign in"),
    _("Without it, you couldn’t sign in any more."),
    _("Set a password first."),
)
PROVIDER_UNAVAILABLE = Problem(
    "provider-unavailable",
    503,
    _("The identity provider isn’t responding"),
    _("Potluck can’t reach the identity provider right now. Passwords, sessions and API tokens still work."),
    _("Try again in a few seconds. For programs, Retry-After says how many."),
)
EXPIRED = Problem("expired", 410, _("No longer valid"), _("It was used or withdrawn, or it expired."))
TOO_LARGE = Problem("too-large", 413, _("Too large"), _("The request’s body is larger than allowed here."))
ADDRESS_TOO_LONG = Problem(
    "address-too-long", 414, _("Address too long"), _("The address is longer than any address on this server.")
)
WRONG_MEDIA_TYPE = Problem(
    "wrong-media-type",
    415,
    _("Unsupported media type"),
    _("The Content-Type of the request’s body isn’t supported here."),
    _("Send JSON as application/json."),
)
INVALID_FIELDS = Problem(
    "invalid-fields",
    422,
    _("Some fields are invalid"),
    _("One or more fields are invalid. “errors” lists each of them and what it should be. Nothing was written."),
)
KEY_REUSED = Problem(
    "key-reused",
    422,
    _("Idempotency-Key already used"),
    _("This Idempotency-Key was used for a different request. A key is for one request and its retries."),
    _("Use a new key for each new request."),
)
VERSION_NEEDED = Problem(
    "version-needed",
    428,
    _("Version required"),
    _("A change must name the version it’s based on, so that it doesn’t overwrite someone else’s change."),
    _('Send "version" in the body, or If-Match with the last ETag.'),
)
THROTTLED = Problem(
    "throttled",
    429,
    _("Too many attempts"),
    _("You’ve tried this too often. Wait a while and try again. For programs, Retry-After says how many seconds."),
)
HEADERS_TOO_LARGE = Problem(
    "headers-too-large", 431, _("Headers too large"), _("The request’s headers are larger than allowed.")
)
BROKEN = Problem(
    "broken",
    500,
    _("Something went wrong"),
    _("This is our mistake, not yours. The details are logged under this request id."),
)
OUTCOME_UNKNOWN = Problem(
    "outcome-unknown",
    503,
    _("Outcome unknown"),
    _("The store’s answer was lost, so we don’t know whether the request succeeded. It wasn’t executed twice."),
    _("Check first, or try again with the same Idempotency-Key."),
)
BUSY = Problem(
    "busy",
    503,
    _("Too busy"),
    _("The store has more requests than it can handle. Nothing was written."),
    _("Try again in a few seconds. For programs, Retry-After says how many."),
)

STORE_DAMAGED = Problem(
    "store-damaged",
    500,
    _("The store is damaged"),
    _("Part of the store can’t be read. Trying again won’t help. Nothing was written."),
    _("Tell the person who runs this Potluck. The log says what to do, and a backup can restore the data."),
)

NO_ROOM = Problem(
    "no-room",
    503,
    _("Storage full"),
    _(
        "There’s no room left to store this. Nothing was written, but existing data can be read and deleted. People who"
        " aren’t signed in are refused first."
    ),
    _("Delete what you no longer need, sign in, or tell the person who runs this Potluck."),
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

        class DuplicateItem(ProblemError, slug="duplicate-item", status=409, title="Already on the list"):
            \"\"\"This item is already on the list and not bought yet. Nothing was changed.\"\"\"

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
            # tools/messages.py reads these messages from the class statement.
            cls.problem = Problem(slug, status, _(title), _(" ".join((cls.__doc__ or title).split())), _(remedy))
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
            cls.detail = detail if isinstance(detail, LazyText) else _(detail)

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
        super().__init__("It changed after you loaded it", **members)

    @property
    def current(self) -> Any:
        return self.members.get("current")


# --- which error is which problem ------------------------------------------------------------------------------------


def _nothing(_error: Any) -> dict[str, Any]:
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
    table.VersionConflict: ProblemMapping(VERSION_CONFLICT, detail="It changed after you loaded it"),
    table.Changed: ProblemMapping(VERSION_CONFLICT, detail="It changed after you loaded it"),
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
