"""The tables of one namespace: how actions find them, and the store as callers of that namespace see it."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.actions import ACTIONS
from potluck.dynamo.namespaces import Namespace
from potluck.dynamo.parameters import table_name_of
from potluck.dynamo.storage.file import StoreFile
from potluck.dynamo.tables import Table, not_found

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


class Tables:
    """Finds tables by the names that they have in a namespace."""

    file: StoreFile
    namespace: Namespace
    prefix: str
    """The prefix of a table's name in its key."""

    def key_of(self, name_or_arn: str) -> str:
        """The key of the table with this name or ARN, whether or not it exists."""
        return self.namespace.key(table_name_of(name_or_arn))

    def table(self, name: str, index: str | None = None) -> Table:
        """The table with this name or ARN; refreshes the catalog if the table or the index is not known yet."""
        table = self.file.catalog.tables.get(self.prefix + name)
        if table is None or (index is not None and index not in table.readable_indexes):
            key = self.key_of(name)
            self.file.refresh_catalog()
            table = self.file.catalog.tables.get(key)
            if table is None:
                raise not_found()
        return table

    def current_table(self, name: str) -> Table:
        """The table's current state, whichever process changed it last; for operations on the table itself."""
        key = self.key_of(name)
        self.file.refresh_catalog()
        table = self.file.catalog.tables.get(key)
        if table is None:
            raise not_found(table_name_of(name))
        return table


class NamespaceView(Tables):
    """The store as callers of one account and region see it; everything but the tables is the database's own."""

    def __init__(self, database: "Database", namespace: Namespace) -> None:
        self._database = database
        self.file = database.file
        self.namespace = namespace
        self.prefix = namespace.key("")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    def key_of(self, name_or_arn: str) -> str:
        """The key of the table; an ARN of another account or region names none of these tables."""
        if name_or_arn.startswith("arn:"):
            _, _, _, region, account, _ = name_or_arn.split(":", 5)
            if (account, region) != self.namespace:
                raise not_found(table_name_of(name_or_arn))
        return super().key_of(name_or_arn)

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one operation as the service would in this account and region, or raise its DynamoError."""
        return await self._database.answer(ACTIONS.get(operation), operation, request, view=self)

    async def changed(self, table: str, timeout: float) -> bool:
        return await self._database.changed(self.key_of(table), timeout)

    async def close(self) -> None:
        await self._database.close()
