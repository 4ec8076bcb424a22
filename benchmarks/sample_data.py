"""What is stored in every benchmark: an item as an app would keep it, in a table with two indexes and a stream."""

import random
from typing import Any

TABLE = "Things"
PARTITION_ITEMS = 100

CREATE_TABLE: dict[str, Any] = {
    "TableName": TABLE,
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "owner", "due")],
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by-owner",
            "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "ALL"},
        },
        {
            "IndexName": "by-due",
            "KeySchema": [{"AttributeName": "due", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "ALL"},
        },
    ],
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
}

PLAIN_TABLE = {
    "TableName": TABLE,
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": CREATE_TABLE["AttributeDefinitions"][:3],
    "KeySchema": CREATE_TABLE["KeySchema"],
    "GlobalSecondaryIndexes": CREATE_TABLE["GlobalSecondaryIndexes"][:1],
}


def key(number: int) -> dict[str, Any]:
    """Items come in partitions of a hundred; partitions are scattered, not in order of arrival."""
    partition, place = divmod(number, PARTITION_ITEMS)
    return {"PK": {"S": f"LIST#{partition * 2654435761 % 2**32:08x}"}, "SK": {"S": f"ITEM#{place:06}"}}


def item(number: int, owners: int = 10_000) -> dict[str, Any]:
    """Fifteen attributes, about 400 bytes as the service counts them."""
    chance = random.Random(number)
    return {
        **key(number),
        "type": {"S": "InventoryItem"},
        "owner": {"S": f"PERSON#{chance.randrange(owners):05}"},
        "due": {"S": f"2026-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}"},
        "name": {"S": f"Tomatoes, chopped, tin {number}"},
        "notes": {"S": "The ones with the green label; two if they are on offer. " * 2},
        "quantity": {"N": str(chance.randrange(1, 40))},
        "price": {"N": f"{chance.randrange(1, 9)}.{chance.randrange(10)}{chance.randrange(1, 10)}"},
        "purchased": {"BOOL": chance.random() < 0.5},
        "createdAt": {"N": str(1_760_000_000 + number)},
        "updatedAt": {"S": "2026-03-14T15:09:26.535Z"},
        "tags": {"SS": ["pantry", "tins", "weekly"]},
        "store": {"M": {"aisle": {"N": "7"}, "shelf": {"S": "middle"}, "name": {"S": "Corner shop"}}},
        "history": {"L": [{"S": "added"}, {"S": "bought"}, {"S": "added"}]},
    }
