"""The keys of polls: admin keys, edit keys of votes, voter keys, voting codes; and the ids of votes."""

import hmac
from dataclasses import dataclass
from random import Random
from uuid import UUID

from potluck.apps.polls.entities import Poll, Vote
from potluck.people import Principal, hash_of

ADMIN_KEY, EDIT_KEY, VOTER_KEY = "pla_", "ple_", "plv_"
KEY_BYTES = 32
EDIT_KEY_LENGTH = len(EDIT_KEY) + 2 * len(UUID(int=0).bytes) + 2 * KEY_BYTES

# Crockford's alphabet: no letter looks like a digit, and an omitted letter is read as the digit it looks like.
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LOOK_ALIKES = str.maketrans("OIL", "011", " -\t\n")
CODE_LENGTH = 12  # 5 bits each: 60 bits
CODE_GROUP = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterKeys:
    """The credentials that a request presents; none by default."""

    principal: Principal | None = None
    admin_key: str | None = None
    voter_key: str | None = None
    code: str | None = None
    edit_key: str | None = None

    @property
    def user_id(self) -> UUID | None:
        return None if self.principal is None else self.principal.user_id

    def administers(self, poll: Poll) -> bool:
        """Whether these are credentials of the poll's creator."""
        if self.user_id is not None and self.user_id == poll.creator_id:
            return True
        return _has_hash(self.admin_key, poll.admin_key_hash)

    def holds(self, vote: Vote) -> bool:
        """Whether these have the vote's edit key."""
        return _has_hash(self.edit_key, vote.edit_key_hash)


def _has_hash(key: str | None, hashed: str | None) -> bool:
    return key is not None and hashed is not None and hmac.compare_digest(hash_of(key), hashed)


def new_admin_key(random: Random) -> str:
    return ADMIN_KEY + random.randbytes(KEY_BYTES).hex()


def new_voter_key(random: Random) -> str:
    return VOTER_KEY + random.randbytes(KEY_BYTES).hex()


def new_edit_key(vote_id: UUID, random: Random) -> str:
    """A key that contains the vote's id, so that the voter needs nothing else."""
    return EDIT_KEY + vote_id.hex + random.randbytes(KEY_BYTES).hex()


def vote_of(edit_key: str | None) -> UUID | None:
    """The vote id in an edit key; only a comparison with the stored hash proves it."""
    if edit_key is None or len(edit_key) != EDIT_KEY_LENGTH or not edit_key.startswith(EDIT_KEY):
        return None
    try:
        return UUID(bytes=bytes.fromhex(edit_key[len(EDIT_KEY) :])[:16])
    except ValueError:
        return None


def new_code(random: Random) -> str:
    """A code of 60 random bits that can be read aloud and typed: 7K3M-Q9TX-V2HD."""
    bits = int.from_bytes(random.randbytes(8))
    signs = [ALPHABET[bits >> 5 * place & 31] for place in range(CODE_LENGTH)]
    return "-".join("".join(signs[start : start + CODE_GROUP]) for start in range(0, CODE_LENGTH, CODE_GROUP))


class VoterIds:
    """Derives vote ids from voters with a key that only the suite has, so that only the suite could link the two."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def vote_id(self, poll: Poll, by: VoterKeys) -> UUID | None:
        """The id of this voter's vote in this poll, cast or not; None without the credential it is derived from."""
        match poll.voter_policy:
            case "open":
                voter = None if by.voter_key is None else by.voter_key.encode("utf-8", "surrogatepass")
            case "codes":
                voter = None if by.code is None else _normal_code(by.code)
            case "accounts":
                voter = None if by.user_id is None else by.user_id.bytes
        if voter is None:
            return None
        digest = self._digest(b"vote", poll.poll_id, poll.voter_policy.encode() + b" " + voter)
        return UUID(bytes=digest[:16], version=4)

    def code_hash(self, poll_id: UUID, code: str) -> str:
        """The stored form of a code. Keyed, because a code short enough to type could be guessed offline."""
        return self._digest(b"code", poll_id, _normal_code(code)).hex()

    def _digest(self, purpose: bytes, poll_id: UUID, about: bytes) -> bytes:
        return hmac.digest(self._key, purpose + poll_id.bytes + about, "sha256")


def _normal_code(code: str) -> bytes:
    """A code's normal form: case, spaces, dashes and similar-looking characters make no difference."""
    return code.upper().translate(LOOK_ALIKES).encode("utf-8", "surrogatepass")
