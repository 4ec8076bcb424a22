"""The rows of identities: who someone is at an identity provider, linked to an account and unlinked from it."""

from datetime import datetime
from hashlib import sha256
from uuid import UUID

from potluck.people.entities import Account, Identity, IdentityOfUser
from potluck.store import Store
from potluck.table import Condition, absent, delete, put, the
from potluck.table.operations import Operation


def hash_of_issuer(issuer: str) -> str:
    """What an issuer is in keys. It is compared exactly, as OpenID Connect has it."""
    return sha256(issuer.encode()).hexdigest()


async def account_of(store: Store, issuer: str, subject: str) -> tuple[Account | None, Identity | None]:
    """The account that this identity signs in to, and the row it was found by."""
    identity = await store.get(Identity.by_subject(hash_of_issuer(issuer), subject))
    return (None if identity is None else await store.get(Account.by_id(identity.user_id))), identity


async def identities_of(store: Store, user_id: UUID) -> list[IdentityOfUser]:
    """The identities that sign in to this account."""
    return await store.all(IdentityOfUser.all_of_user(user_id))


def linking(user_id: UUID, issuer: str, subject: str, now: datetime) -> tuple[Operation, Operation]:
    """Links an identity that no account has, to an account that has none of this issuer.

    The first operation is refused for an identity that is taken, the second for an account that has one.
    """
    issuer_hash = hash_of_issuer(issuer)
    by_subject = Identity(issuer_hash=issuer_hash, subject=subject, user_id=user_id)
    of_user = IdentityOfUser(
        user_id=user_id, issuer_hash=issuer_hash, issuer=issuer, subject=subject, created_at=now.replace(microsecond=0)
    )
    return put(by_subject, when=absent), put(of_user, when=absent)


def still_linked(identity: IdentityOfUser) -> Condition:
    """For unlinking in a transaction: without it, one that was unlinked meanwhile could be another account's by now."""
    return the(IdentityOfUser.subject) == identity.subject


def unlinking(identity: IdentityOfUser, when: Condition | None = None) -> list[Operation]:
    """Unlinks an identity: deletes both of its rows."""
    return [
        delete(IdentityOfUser.by_issuer(identity.user_id, identity.issuer_hash), when=when),
        delete(Identity.by_subject(identity.issuer_hash, identity.subject)),
    ]
