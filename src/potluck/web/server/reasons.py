"""Why something cannot be done, in a sentence for the operator: what failed, where, and what to do about it.

The one place where errors of the system, of the store and of AWS become such sentences. No number of an error is in
them: what the number means is.
"""

import errno
import getpass
import os
import re

from potluck.dynamo.errors import StoreUnusable
from potluck.engines import ACCESS_DENIED, REQUEST_NOT_SENT, DynamoError
from potluck.engines.transient import is_throttled
from potluck.extras import MissingExtra
from potluck.settings import SettingsError
from potluck.table.errors import Unavailable

ANOTHER_FOLDER = "choose another folder with --data or POTLUCK_DATA"
CREDENTIALS = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or the role of the machine"
NO_CREDENTIALS = f"no AWS credentials were found: set {CREDENTIALS}"
# What AWS says of a request that was signed too long ago, or in the future.
SKEWED = re.compile(r"(?i)signature (expired|not yet current)|request.?time.?too.?skewed|clock skew")
CLOCK_CODES = frozenset({"RequestExpired", "RequestTimeTooSkewed", "RequestInTheFuture"})
CREDENTIAL_CODES = frozenset(
    {
        *("UnrecognizedClientException", "InvalidSignatureException", "IncompleteSignatureException"),
        *("InvalidClientTokenId", "SignatureDoesNotMatch", "MissingAuthenticationToken", "InvalidAccessKeyId"),
    }
)
EXPIRED_CODES = frozenset({"ExpiredTokenException", "ExpiredToken"})


def reason_of(error: BaseException) -> str | None:
    """The sentence for an error that the operator can do something about; None if it is a bug."""
    if isinstance(error, SettingsError | StoreUnusable | MissingExtra):
        return str(error)
    if isinstance(error, OSError):
        return _of_system(error)
    if isinstance(error, DynamoError):
        return _of_engine(error)
    if isinstance(error, Unavailable):
        # The failure that was met again and again is why it was given up.
        cause = error.__cause__
        return (_of_engine(cause) if isinstance(cause, DynamoError) else None) or f"the store does not answer: {error}"
    # The AWS SDK misses a region or credentials, say. It may not be imported, so its errors are recognised by module.
    if type(error).__module__.startswith("botocore."):
        return _of_aws_sdk(error)
    return None


def _of_system(error: OSError) -> str:
    if error.errno is None:
        # Raised by us, in a sentence.
        return str(error)
    where = os.fspath(error.filename) if isinstance(error.filename, str | os.PathLike) else ""
    match error.errno:
        case errno.EEXIST if where and not os.path.isdir(where):
            return f"{where} is a file, and a folder is needed: move the file away, or {ANOTHER_FOLDER}"
        case errno.EEXIST:
            return f"{where} exists already"
        case errno.ENOENT:
            return f"there is no file or folder {where}"
        case errno.ENOTDIR:
            return f"{where} cannot be: a part of this path is a file and not a folder; {ANOTHER_FOLDER}"
        case errno.EISDIR:
            return f"{where} is a folder, and a file is needed"
        case errno.EACCES | errno.EPERM:
            return (
                f"{where or 'a file'} cannot be used by the user {_user()}: change its owner or permissions (chown, "
                f"chmod), run Potluck as its owner, or {ANOTHER_FOLDER}"
            )
        case errno.EROFS:
            return f"{where} is on a file system that is mounted read-only: mount it writable, or {ANOTHER_FOLDER}"
        case errno.ENOSPC | errno.EDQUOT:
            return f"there is no room left on the disk of {where or 'the data folder'}: make room, and try again"
        case errno.EMFILE | errno.ENFILE:
            return "too many files are open: raise the limit (`ulimit -n`, or LimitNOFILE of a systemd unit)"
        case errno.EIO:
            return f"the disk of {where or 'the data folder'} fails: look at the system's log, and restore a backup"
        case errno.EADDRINUSE:
            return "the port is in use already: choose another with --port, or 0 for any free one"
        case errno.EADDRNOTAVAIL:
            return "this machine does not have the address: choose another with --host"
        case errno.ECONNREFUSED | errno.EHOSTUNREACH | errno.ENETUNREACH | errno.ETIMEDOUT:
            return f"there is no connection: {_in_words(error)}; check the network and the address"
    return f"{where}: {_in_words(error)}" if where else _in_words(error)


def _of_engine(error: DynamoError) -> str:
    if error.code == ACCESS_DENIED:
        return error.message
    if error.code in CLOCK_CODES or SKEWED.search(error.message):
        return (
            "the clock of this machine is wrong, so AWS refuses its signatures: set it, and keep it right with a time "
            f"service such as chrony (AWS says: {error.message})"
        )
    if error.code == "MissingAuthenticationTokenException":
        return NO_CREDENTIALS
    if error.code in EXPIRED_CODES:
        return "the AWS credentials have expired: renew them, for instance by signing in again"
    if error.code in CREDENTIAL_CODES:
        return f"AWS does not accept the credentials: check {CREDENTIALS} (AWS says: {error.message})"
    if error.code == REQUEST_NOT_SENT:
        return f"{error.message}: check the network, POTLUCK_REGION and POTLUCK_ENDPOINT"
    if error.code == "ResourceNotFoundException":
        return f"a table is missing: `potluck tables create` creates it ({error.message})"
    if is_throttled(error):
        return "Amazon DynamoDB refuses requests because there are too many: try again later, or raise the limits"
    return f"the store does not answer: {error}"


def _of_aws_sdk(error: BaseException) -> str:
    match type(error).__name__:
        case "NoRegionError":
            return "no AWS region is set: set POTLUCK_REGION, or AWS_REGION"
        case "NoCredentialsError" | "PartialCredentialsError" | "CredentialRetrievalError":
            return NO_CREDENTIALS
        case "ProfileNotFound":
            return f"{str(error)[:1].lower()}{str(error)[1:]}: set AWS_PROFILE to one that exists"
    return f"Amazon DynamoDB cannot be used: {error}"


def _in_words(error: OSError) -> str:
    return (error.strerror or os.strerror(error.errno or 0)).lower()


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
