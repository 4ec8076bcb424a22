"""Namespaces: tables live in an account and a region, as in the service, and only callers of both see them.

A table is known in the file by its key. In the default namespace, which is that of calls in process, the key is the
table's name; elsewhere it begins with account and region. Table names have no colon, so keys never collide.
"""

from typing import NamedTuple


class Namespace(NamedTuple):
    """An account and a region."""

    account: str
    region: str

    def key(self, name: str) -> str:
        """The key of the table with this name."""
        return name if self == DEFAULT else f"{self.account}:{self.region}:{name}"

    def arn(self, name: str) -> str:
        return f"arn:aws:dynamodb:{self.region}:{self.account}:table/{name}"


DEFAULT = Namespace("000000000000", "us-east-1")


def namespace_of(key: str) -> Namespace:
    """The namespace of the table with this key."""
    account, _, rest = key.partition(":")
    return Namespace(account, rest.partition(":")[0]) if rest else DEFAULT


def name_of(key: str) -> str:
    """The name of the table with this key."""
    return key.rpartition(":")[2]
