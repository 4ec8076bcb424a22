"""The suite's own secret: from the settings, or made once in the data folder, and the same for every worker.

A store records which secret it was created with. Who has voted is recognised by that secret alone, so with another one
people could vote again; another one is refused unless the operator has accepted it.
"""

import hmac
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from potluck.dynamo.storage.private_files import write_private
from potluck.engines import DynamoError
from potluck.people.entities import SecretCheck, accounts
from potluck.settings import SHORTEST_SECRET, Settings, SettingsError
from potluck.store import Store
from potluck.table import Request, absent, plan_of
from potluck.table.errors import AlreadyExists, OutcomeUnknown, Unavailable

SECRET_FILE = "secret"
SECRET_BYTES = 32
# Owner only.
FOLDER_MODE = 0o700
# Longer than any secret; no more of the file is read.
LONGEST_FILE = 4096
# A lost answer is settled by reading the row again; failing this often is not bad luck.
ATTEMPTS = 5


def load_secret(settings: Settings) -> bytes:
    """A secret of at least 32 bytes: from the setting, else from the file, which is created if missing.

    If several processes start at once, one makes the file and all use it. On Amazon DynamoDB only the setting counts:
    tables outlive a machine's data folder, and several machines need the same secret.
    """
    must_not_be_empty(settings)
    if settings.secret is not None:
        return settings.secret.encode()
    file = settings.data / SECRET_FILE
    if settings.engine == "aws":
        raise SettingsError(no_secret_on_aws(file))
    try:
        return _read(file)
    except FileNotFoundError:
        # The secret is always made before the store. So if there is a store without one, the secret was lost, and must
        # not be replaced silently; unless another process has made both since the first look.
        if settings.file.exists() and not file.exists():
            raise SettingsError(
                f"{settings.file} is here, but its secret is not: it was in POTLUCK_SECRET or in {file}. Set it, or "
                "put the file back; `potluck restore` takes both from a backup. If it is lost, `potluck "
                "accept-new-secret` makes another, and says what that costs"
            ) from None
    make_secret(file)
    return _read(file)


def no_secret_on_aws(file: Path) -> str:
    """What to do where POTLUCK_SECRET is not set on Amazon DynamoDB."""
    earlier = f" {file} is here: if it belongs to these tables, set POTLUCK_SECRET to its content." * file.exists()
    return (
        "POTLUCK_SECRET is not set, and POTLUCK_ENGINE=aws needs it: the tables belong to this secret, and a file on "
        f"one machine would be lost with it.{earlier} For new tables, make a secret (`openssl rand -hex 32`), keep it "
        "in AWS Secrets Manager, and set POTLUCK_SECRET to it on every machine"
    )


def must_not_be_empty(settings: Settings) -> None:
    """Refuse an empty file where the store should be: a store is created whole, so this one was lost."""
    with suppress(FileNotFoundError):
        if settings.engine == "embedded" and settings.file.stat().st_size <= 1:
            raise SettingsError(
                f"{settings.file} is empty, and no store ever is: it was lost, or its disk was full. Put it back, or "
                "restore a backup (`potluck restore FILE --replace`). If nothing was ever kept here, delete it"
            )


def derived(secret: bytes, purpose: str) -> bytes:
    """A key of 32 bytes derived for one purpose: knowing it reveals neither the secret nor any other key."""
    return hmac.digest(secret, b"potluck " + purpose.encode(), "sha256")


def fits_a_file(secret: bytes) -> bool:
    """Whether it reads back from a file exactly as it was written."""
    return secret == secret.strip() and len(secret) < LONGEST_FILE


def make_secret(file: Path, secret: bytes | None = None) -> None:
    """Write this secret, or a new one: atomically, and never over an existing one."""
    file.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        write_private(file, (secret or secrets.token_hex(SECRET_BYTES).encode()) + b"\n")


# --- the secret that a store was made by ------------------------------------------------------------------------------


async def verify_store_secret(store: Store, settings: Settings, secret: bytes) -> None:
    """Refuse a secret that the store was not made with; a store that has none recorded yet records this one."""
    for _ in range(ATTEMPTS):
        made_by_it = await made_by(store, secret)
        if made_by_it is False:
            raise SettingsError(made_by_another(settings))
        if made_by_it:
            return
        # If several machines start at once, the first write decides.
        with suppress(AlreadyExists, OutcomeUnknown):
            await store.put(replace(_check_of(secret), has_admins=await _is_new(store)), when=absent)
    raise Unavailable("the store does not record its secret")


async def made_by(store: Store, secret: bytes) -> bool | None:
    """Whether the store was made with this secret; None if it has none recorded."""
    try:
        recorded = await store.get(SecretCheck.of_store())
    except DynamoError as error:
        if error.code != "ResourceNotFoundException":
            raise
        return None  # there is no table yet
    return None if recorded is None else hmac.compare_digest(recorded.check, _check_of(secret).check)


def is_made_by(row: Mapping[str, Any], secret: bytes) -> bool:
    """Whether this row, which records the secret of a store, is that of this secret."""
    recorded: SecretCheck = plan_of(SecretCheck).coding.decode(dict(row))
    return hmac.compare_digest(recorded.check, _check_of(secret).check)


async def accept_secret(store: Store, secret: bytes) -> None:
    """Record this secret as the store's own from now on."""
    recorded = await store.get(SecretCheck.of_store())
    await store.put(replace(_check_of(secret), has_admins=recorded is not None and recorded.has_admins))


async def _is_new(store: Store) -> bool:
    """Whether no one has an account yet, as far as is known without reading them: Amazon counts every six hours."""
    described = await store.repeat(Request("DescribeTable", {"TableName": accounts.name}))
    return int(described["Table"]["ItemCount"]) == 0


def _check_of(secret: bytes) -> SecretCheck:
    return SecretCheck(check=derived(secret, "check").hex())


def made_by_another(settings: Settings) -> str:
    """What to do about a store that was made with another secret than the settings give."""
    file = settings.data / SECRET_FILE
    configured = f"the one in {file}" if settings.secret is None else "POTLUCK_SECRET"
    if settings.engine == "embedded":
        return (
            f"{settings.file} was created with another secret than {configured}. Start it with its own: as "
            f"POTLUCK_SECRET, or in {file} with POTLUCK_SECRET unset; `potluck restore` takes both from a backup. If "
            "it is lost, `potluck accept-new-secret` takes this one instead, and says what that costs"
        )
    return (
        f"the tables on DynamoDB were created with another secret than {configured}. Every machine needs the same: set "
        "POTLUCK_SECRET here to that of the first one. If it is lost, `potluck accept-new-secret` takes this one "
        "instead, and says what that costs"
    )


def _read(file: Path) -> bytes:
    with file.open("rb") as opened:
        mode = os.fstat(opened.fileno()).st_mode & 0o777
        # Not repaired silently: others may have read it, and only the operator can tell.
        if os.name == "posix" and mode & 0o077:
            raise SettingsError(
                f"users other than its owner may read {file} (mode {mode:o}): if no one has read it, chmod 600 is "
                "enough; if someone may have, delete it, and `potluck accept-new-secret` creates another"
            )
        secret = opened.read(LONGEST_FILE).strip()
    if len(secret) < SHORTEST_SECRET:
        raise SettingsError(
            f"{file} holds no secret of at least {SHORTEST_SECRET} characters: put it back from a backup, or delete "
            "it, and `potluck accept-new-secret` makes another"
        )
    return secret
