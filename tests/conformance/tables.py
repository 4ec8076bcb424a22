"""The tables that many tests share, each test with partitions of its own."""

from typing import Any

__all__ = ["SHARED", "TableDefinition", "definition"]

TableDefinition = dict[str, Any]


def definition(*key: str, **more: Any) -> TableDefinition:
    """A table on demand whose key is given as "name:type", and the types of other key attributes in `also`."""
    also = more.pop("also", ())
    names = [part.split(":") for part in (*key, *also)]
    roles = ("HASH", "RANGE")
    return {
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": kind} for name, kind in names],
        "KeySchema": [
            {"AttributeName": part.split(":")[0], "KeyType": role} for part, role in zip(key, roles, strict=False)
        ],
        **more,
    }


def index(name: str, *key: str, project: str | list[str] = "ALL") -> dict[str, Any]:
    """A secondary index on one or two attributes, projecting all, the keys, or the named attributes besides."""
    projection: dict[str, Any] = {"ProjectionType": project}
    if isinstance(project, list):
        projection = {"ProjectionType": "INCLUDE", "NonKeyAttributes": project}
    return {
        "IndexName": name,
        "KeySchema": [
            {"AttributeName": part, "KeyType": role} for part, role in zip(key, ("HASH", "RANGE"), strict=False)
        ],
        "Projection": projection,
    }


SHARED: dict[str, TableDefinition] = {
    # One partition key; the place for tests about single items.
    "plain": definition("p:S"),
    # Partition and sort key, both strings.
    "ranged": definition("p:S", "s:S"),
    # Sort keys of the two other types.
    "numbered": definition("p:S", "n:N"),
    "binary": definition("p:S", "b:B"),
    # Every kind of index: global with all projections, and local with all projections.
    "indexed": definition(
        "p:S",
        "s:S",
        also=("g:S", "h:N", "l:S"),
        GlobalSecondaryIndexes=[
            index("all", "g", "h"),
            index("keys", "g", "h", project="KEYS_ONLY"),
            index("some", "g", project=["x", "y"]),
        ],
        LocalSecondaryIndexes=[
            index("local_all", "p", "l"),
            index("local_keys", "p", "l", project="KEYS_ONLY"),
            index("local_some", "p", "l", project=["x"]),
        ],
    ),
}
