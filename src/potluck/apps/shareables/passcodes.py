"""Passcodes: one for viewers, one for admins; stored as hashes, shown once, exchanged for a session."""

import asyncio
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from unicodedata import normalize

from msgspec import Struct

from potluck.apps.polls.entities import Poll
from potluck.apps.shareables.access import Editor, ShareMaker, ToShareable
from potluck.apps.shareables.entities import Shareable, ShareSession
from potluck.apps.shareables.fences import poll_fence, raise_fences
from potluck.apps.shareables.fields import AnyPasscode, Passcode, Role
from potluck.people import hash_of
from potluck.table import check, put, the
from potluck.validation import FieldError, ValidationError
from potluck.web import UNSET, Input, ProblemError, RateLimit, Unset, Writes, or_retry

SESSION_LASTS = timedelta(days=7)
TOKEN_BYTES = 32
# No letters that look like digits, so that passcodes can be read aloud and typed; twelve characters are 60 bits.
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
PASSCODE_LENGTH = 12
PASSCODE_GROUP = 4
LOOK_ALIKES = str.maketrans("oil", "011")
NO_SIGN = re.compile(r"[\W_]+")

# Wrong attempts from one client, at any shareable.
TRIES_FROM = RateLimit("unlock from", 5, timedelta(minutes=1))
# Wrong attempts at one shareable, from anywhere. Exceeding it blocks no one: the limit below then applies as well.
TRIES_AT = RateLimit("unlock", 60, timedelta(minutes=15))
TRIES_FROM_AT = RateLimit("unlock from and at", 2, timedelta(minutes=5))

EQUAL = "The two passcodes must differ"


class WrongPasscode(
    ProblemError,
    slug="wrong-passcode",
    status=401,
    title="Wrong passcode",
    field="passcode",
    detail="That is not one of the two passcodes",
):
    """A shareable has an admin passcode, and may have a view passcode. This is neither. `triesLeft` is the number of
    wrong attempts that remain before a pause."""


class SessionOpened(Struct, rename="camel", frozen=True, kw_only=True):
    """A session, valid for seven days or until its passcode is replaced."""

    role: Role
    token: str
    expires_at: datetime


class Unlock(Input):
    passcode: AnyPasscode


class PasscodeChange(Input):
    view: Passcode | Unset | None = UNSET
    """Null: anyone with the id may view it."""
    admin: Passcode | Unset = UNSET

    @staticmethod
    def check(sent: "PasscodeChange") -> Iterator[FieldError]:
        if same(sent.view, sent.admin):
            yield FieldError("admin", EQUAL)


def same(one: str | Unset | None, other: str | Unset | None) -> bool:
    """Whether one of them would be accepted in place of the other."""
    return isinstance(one, str) and isinstance(other, str) and not spellings(one).isdisjoint(spellings(other))


def new_passcode(random: Random) -> str:
    """A random passcode, such as k3mq-9txv-2hd7."""
    bits = int.from_bytes(random.randbytes(8))
    return _grouped("".join(ALPHABET[bits >> 5 * place & 31] for place in range(PASSCODE_LENGTH)))


def spellings(typed: str) -> set[str]:
    """The passcodes that this may mean: what was typed, and the generated passcode that it may be a spelling of.

    A passcode that a person chose must be typed exactly.
    """
    signs = NO_SIGN.sub("", normalize("NFKC", typed).lower()).translate(LOOK_ALIKES)
    generated = len(signs) == PASSCODE_LENGTH and set(signs) <= set(ALPHABET)
    return {normalize("NFC", typed), *([_grouped(signs)] if generated else [])}


def _grouped(signs: str) -> str:
    return "-".join(signs[start : start + PASSCODE_GROUP] for start in range(0, PASSCODE_LENGTH, PASSCODE_GROUP))


def opened(at: ShareMaker, shareable: Shareable, role: Role) -> tuple[SessionOpened, ShareSession]:
    """A new session in this role: the answer with its token, and the row to store."""
    passcode = shareable.passcode_of(role)
    assert passcode is not None
    token = f"plu_{at.core.random.randbytes(TOKEN_BYTES).hex()}"
    ends = at.now + SESSION_LASTS
    session = ShareSession(
        short_id=shareable.short_id,
        token_hash=hash_of(token),
        role=role,
        passcode=passcode,
        ttl=int(ends.timestamp()),
    )
    return SessionOpened(role=role, token=token, expires_at=ends.astimezone(UTC)), session


async def unlocked(at: ToShareable, shareable: Shareable, passcode: str) -> Writes[SessionOpened]:
    """A session for this passcode. Attempts are counted before they are verified."""
    async with at.services.hashing.trying(at.visitor.client):
        role = await _role_by(at, shareable, passcode)
    answer, session = opened(at, shareable, role)
    field = the(Shareable.admin_passcode if role == "admin" else Shareable.view_passcode)
    unchanged = check(Shareable.one(shareable.short_id), when=field == session.passcode)
    return Writes(answer, or_retry(unchanged), put(session))


async def _role_by(at: ToShareable, shareable: Shareable, passcode: str) -> Role:
    throttles, client, now = at.core.people.throttles, at.visitor.client, at.now
    both = f"{client} {shareable.short_id}"
    left = await throttles.attempt(TRIES_FROM, client)
    slowly = not await throttles.allows(TRIES_AT, shareable.short_id)
    if slowly:
        left = min(left, await throttles.attempt(TRIES_FROM_AT, both))
    # Always verify both, so that timing reveals nothing.
    is_admin, is_view = await asyncio.gather(
        _opens(at, passcode, shareable.admin_passcode), _opens(at, passcode, shareable.view_passcode)
    )
    if not is_admin and not is_view:
        raise WrongPasscode(triesLeft=left)
    await throttles.forgive(TRIES_FROM, client, now)
    await throttles.forgive(TRIES_AT, shareable.short_id, now)
    if slowly:
        await throttles.forgive(TRIES_FROM_AT, both, now)
    return "admin" if is_admin else "view"


async def _opens(at: ToShareable, typed: str, hashed: str | None) -> bool:
    """Whether the hash is that of a passcode that was typed; the work depends only on what was typed."""
    verify, client = at.services.hashing.verify, at.visitor.client
    return any(await asyncio.gather(*(verify(passcode, hashed, client) for passcode in spellings(typed))))


async def replaced(at: Editor, shareable: Shareable, change: PasscodeChange) -> Writes[Shareable]:
    """The shareable with new passcodes; sessions opened with a replaced one end at once, the others stay valid."""
    hashing, client = at.services.hashing, at.visitor.client
    new: dict[str, str | None] = {}
    for role, passcode, other in (("view", change.view, change.admin), ("admin", change.admin, change.view)):
        if passcode is UNSET:
            continue
        other_hash = shareable.passcode_of("admin" if role == "view" else "view") if other is UNSET else None
        if passcode is not None and other_hash is not None and await _opens(at, passcode, other_hash):
            raise ValidationError(FieldError(role, EQUAL))
        new[role] = None if passcode is None else await hashing.hash(passcode, client)
    if not new or (new == {"view": None} and shareable.view_passcode is None):
        return Writes(shareable)
    fields = {"view": Shareable.view_passcode, "admin": Shareable.admin_passcode}
    changes = [the(fields[role]).becomes(hashed) for role, hashed in new.items()]
    # An item that is being added was admitted before, and is added again.
    after, write = at.edit(shareable, *changes, the(Shareable.items_version).add(1))
    poll = None if shareable.poll_id is None else await at.store.get(Poll.one(shareable.poll_id))
    fence = [] if poll is None else [poll_fence(poll, shareable)]
    return Writes(after, write, *fence, then=lambda: raise_fences(at.store, after))
