"""What is refused to people, in the words of this domain; the web gives each its status in one table."""

from potluck.validation.errors import Refusal

# Data has to be deleted first, or deleted data has to leave the change log.
ROOM_AGAIN_SECONDS = 600


class EmailTaken(Refusal):
    """Another account has this e-mail address."""

    def __init__(self) -> None:
        super().__init__("This e-mail address already has an account", "email")


class RegistrationClosed(Refusal):
    """Registration is closed, or needs an invitation."""

    def __init__(self, invitation_needed: bool) -> None:
        super().__init__(
            "An invitation is needed to register here" if invitation_needed else "Registration is closed",
            "invitation",
        )
        self.invitation_needed = invitation_needed


class WrongCredentials(Refusal):
    """No account has this e-mail address, or the password is wrong; callers cannot tell which."""

    def __init__(self) -> None:
        super().__init__("The e-mail address or the password is wrong")


class WrongPassword(Refusal):
    """Someone who is signed in gave a password that is not theirs."""

    def __init__(self, field: str = "password") -> None:
        super().__init__("The password is wrong", field)


class AccountWaiting(Refusal):
    """The password is right, and an admin has not approved the account yet."""

    def __init__(self) -> None:
        super().__init__("Your account is waiting for approval")


class AccountDisabled(Refusal):
    """The password is right, and an admin has disabled the account."""

    def __init__(self) -> None:
        super().__init__("Your account is disabled")


class SignInNeeded(Refusal):
    """An API token cannot do this; its owner can, signed in."""

    def __init__(self) -> None:
        super().__init__("An API token cannot manage API tokens, the password or the account: sign in instead")


class SignInFailed(Refusal):
    """What came back from the identity provider does not prove who came back; the log says why."""

    def __init__(self, name: str, cancelled: bool = False) -> None:
        super().__init__(
            f"{name} did not sign you in" if cancelled else f"This sign-in with {name} is not valid, or no longer"
        )


class IdentityTaken(Refusal):
    """The identity signs in to another account."""

    def __init__(self, name: str) -> None:
        super().__init__(f"This {name} account already signs in to another account here")


class IdentityLinked(Refusal):
    """The account already has another identity of this issuer."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Another {name} account is linked to your account: unlink that one first")


class IdentityUnknown(Refusal):
    """A valid token of the identity provider, for someone who has no account here."""

    def __init__(self, name: str) -> None:
        super().__init__(f"This {name} account has no account here: sign in once on the pages")


class IdentityNeeded(Refusal):
    """Unlinking this identity would leave no way to sign in."""

    def __init__(self) -> None:
        super().__init__("You need this to sign in: choose a password first")


class ConfirmationNeeded(Refusal):
    """Someone without a password has not confirmed at the identity provider, just now, that it is them."""

    def __init__(self) -> None:
        super().__init__("Confirm on your account's page that it is you")


class PasswordsOff(Refusal):
    """The operator has turned passwords off."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There are no passwords here: sign in with {name}")


class SessionOver(Refusal):
    """The caller's session ended meanwhile; nothing was written."""

    def __init__(self) -> None:
        super().__init__("This session has ended: sign in again")


class NotNow(Refusal):
    """The request is valid, and can be retried after some seconds."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Throttled(NotNow):
    """Tried too often."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"Too many attempts; try again in {_in_words(retry_after)}", retry_after)


class ProviderUnavailable(NotNow):
    """The identity provider does not answer, or not as it should; the log says how."""

    def __init__(self, name: str, retry_after: int) -> None:
        super().__init__(f"{name} cannot be reached just now", retry_after)


class NoRoom(NotNow):
    """The store is as full as it may be, for this caller."""

    def __init__(self, stranger: bool) -> None:
        message = "There is no room for more just now"
        super().__init__(f"{message} from people who are not signed in" if stranger else message, ROOM_AGAIN_SECONDS)


def _in_words(seconds: int) -> str:
    return f"{seconds} seconds" if seconds < 120 else f"{-(-seconds // 60)} minutes"


class AccountGone(Refusal):
    """There is no such account, or no longer."""

    def __init__(self) -> None:
        super().__init__("There is no such account")


class StillNeeded(Refusal):
    """The account cannot be deleted while it is the only manager of these places."""

    def __init__(self, places: list[str]) -> None:
        super().__init__(f"You are the last to look after: {', '.join(places)}")
        self.places = places


class OnlyAdmin(Refusal):
    """The account is that of the only admin, who has to stay one."""

    def __init__(self) -> None:
        super().__init__("This is the only admin: make someone else an admin first")


class OthersNeedThem(Refusal):
    """The person is the only manager of places that others use; which ones is not the admin's business."""

    def __init__(self, places: int) -> None:
        super().__init__(
            f"Only they can manage {'1 place' if places == 1 else f'{places} places'} that other people use. Ask them"
            " to make someone else a manager, or disable the account instead"
        )


class WrongStatus(Refusal):
    """The account is waiting for approval, or disabled, and this needs another status."""


class TooMany(Refusal):
    """There are as many of these as there can be."""

    def __init__(self, what: str, at_most: int) -> None:
        super().__init__(f"There can be at most {at_most} {what}")
        self.at_most = at_most


class NoSuchToken(Refusal):
    """The person has no such API token."""

    def __init__(self) -> None:
        super().__init__("There is no such API token")


class NoSuchInvitation(Refusal):
    """The place has no such invitation, or it was accepted or withdrawn."""

    def __init__(self) -> None:
        super().__init__("There is no such invitation")


class InvitationInvalid(Refusal):
    """The secret opens nothing: never issued, used, withdrawn or expired; callers cannot tell which."""

    def __init__(self) -> None:
        super().__init__("This invitation is not valid, or no longer", "invitation")


class OwnInvitation(Refusal):
    """The invitation is the caller's own, for someone else to use."""

    def __init__(self) -> None:
        super().__init__("This is your own invitation. Send its link to the person you want to invite")


class ResetInvalid(Refusal):
    """The secret changes no password: never issued, used or expired; callers cannot tell which."""

    def __init__(self) -> None:
        super().__init__("This link is not valid, or no longer", "token")


class KeyReused(Refusal):
    """The idempotency key was used for another request."""

    def __init__(self) -> None:
        super().__init__("This idempotency key was used for another request")


class AlreadyDone(Refusal):
    """The request was done before, and its answer was not kept; `made` is the id of what it made."""

    def __init__(self, made: str | None) -> None:
        super().__init__("This was already done, and its answer is not shown again")
        self.made = made
