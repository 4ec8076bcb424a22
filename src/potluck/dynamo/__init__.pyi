from potluck.dynamo.database import Database
from potluck.dynamo.errors import DynamoError, StoreUnusable
from potluck.dynamo.memory import MemoryDatabase
from potluck.dynamo.mocking import attach, detach, mocked
from potluck.dynamo.sync import SyncDatabase

__all__ = [
    "Database",
    "DynamoError",
    "MemoryDatabase",
    "StoreUnusable",
    "SyncDatabase",
    "attach",
    "detach",
    "mocked",
]
