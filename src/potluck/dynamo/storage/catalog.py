"""The catalog of tables: their definitions, and the SQLite tables behind each."""

import threading
from typing import Any

import apsw
import msgspec

from potluck.dynamo.errors import StoreUnusable
from potluck.dynamo.tables import Index, StreamDefinition, Table, TableDefinition

FORMAT = 1
APPLICATION_ID = 0x504F544C  # "POTL"
NAMESPACES = "namespaces"
"""The number that marks a file with namespaces; in one without, all callers share all tables."""

encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(TableDefinition).decode


def prepare_file(connection: apsw.Connection) -> bool:
    """In the current transaction, make an empty file a store; False if it is one already.

    A file that is something else, or comes from a later version, is refused.
    """
    version = connection.execute("PRAGMA user_version").get
    application = connection.execute("PRAGMA application_id").get
    if version != 0 or application != 0:
        check_format(connection)
        return False
    if connection.execute("SELECT count(*) FROM sqlite_schema").get:
        raise StoreUnusable(f"{connection.filename} is an SQLite file that Potluck did not make")
    for statement in (
        "CREATE TABLE tables(name TEXT PRIMARY KEY, definition BLOB NOT NULL) WITHOUT ROWID",
        "CREATE TABLE numbers(kind TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE TABLE counts(of TEXT PRIMARY KEY, items INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE TABLE tokens(token TEXT PRIMARY KEY, request BLOB NOT NULL, answer BLOB NOT NULL,"
        " at REAL NOT NULL) WITHOUT ROWID",
        "CREATE INDEX tokens_by_age ON tokens(at)",
        # Not in the index's definition: every change of that makes pending writes prepare again.
        "CREATE TABLE filled(of TEXT PRIMARY KEY, up_to BLOB NOT NULL) WITHOUT ROWID",
        # A stream outlives its table by a day, so it has a row of its own.
        "CREATE TABLE streams(number INTEGER PRIMARY KEY, table_name TEXT NOT NULL, keys BLOB NOT NULL,"
        " definition BLOB NOT NULL)",
        f"INSERT INTO numbers VALUES ('catalog', 0), ('table', 0), ('stream', 0), ('{NAMESPACES}', 1)",
        f"PRAGMA user_version={FORMAT}",
        f"PRAGMA application_id={APPLICATION_ID}",
    ):
        connection.execute(statement)
    return True


def check_format(connection: apsw.Connection) -> None:
    """Refuse a file that is something else or comes from a later version."""
    if connection.execute("PRAGMA application_id").get != APPLICATION_ID:
        raise StoreUnusable(f"{connection.filename} is an SQLite file that Potluck did not make")
    version = connection.execute("PRAGMA user_version").get
    if version > FORMAT:
        raise StoreUnusable(
            f"{connection.filename} was written by a later version of Potluck (format {version}; this version reads "
            f"{FORMAT}): install that version again, or restore a backup from before it"
        )


class Catalog:
    """The tables as this process knows them; read again whenever the file may have changed."""

    def __init__(self) -> None:
        self.tables: dict[str, Table] = {}
        self._version = -1
        self._lock = threading.Lock()

    @property
    def version(self) -> int:
        """A different number whenever a definition has changed."""
        return self._version

    def has_namespaces(self, connection: apsw.Connection) -> bool:
        return bool(connection.execute("SELECT last FROM numbers WHERE kind=?", (NAMESPACES,)).get)

    def refresh(self, connection: apsw.Connection, *, undone: bool = False) -> bool:
        """Read the definitions again if they have changed; True if so.

        A reader may lag behind the writer's transaction, so the version only goes back when that was rolled back.
        """
        with self._lock:
            version = connection.execute("SELECT last FROM numbers WHERE kind='catalog'").get
            if version <= self._version and not undone:
                return False
            known = self.tables
            tables = {}
            definitions: list[Any] = connection.execute("SELECT name, definition FROM tables").fetchall()
            for name, blob in definitions:
                definition = decode(blob)
                same = known.get(name)
                tables[name] = same if same and same.definition == definition else Table(definition)
            self.tables = tables
            self._version = version
            return True

    def next_number(self, connection: apsw.Connection, kind: str) -> int:
        """A number never used before for this kind, taken in the current transaction."""
        number: int = connection.execute("UPDATE numbers SET last = last + 1 WHERE kind=? RETURNING last", (kind,)).get
        return number

    def create(self, connection: apsw.Connection, definition: TableDefinition) -> Table:
        table = Table(definition)
        connection.execute(
            f"CREATE TABLE {table.rows}(key BLOB PRIMARY KEY, size INTEGER NOT NULL, item BLOB NOT NULL) WITHOUT ROWID"
        )
        for index in table.indexes:
            create_index(connection, index)
        connection.execute("INSERT INTO counts VALUES (?, 0, 0)", (table.rows,))
        self.save(connection, table)
        return table

    def save(self, connection: apsw.Connection, table: Table) -> None:
        """Save a new or changed definition, in the current transaction."""
        connection.execute("REPLACE INTO tables VALUES (?, ?)", (table.key, encode(table.definition)))
        for stream in table.definition.streams:
            connection.execute(
                "REPLACE INTO streams VALUES (?, ?, ?, ?)",
                (stream.number, table.key, encode(key_schema(table)), encode(stream)),
            )
        self._changed(connection)

    def drop(self, connection: apsw.Connection, table: Table, now: float) -> None:
        for index in table.indexes:
            drop_index(connection, index)
        connection.execute(f"DROP TABLE {table.rows}")
        connection.execute(f"DROP TABLE IF EXISTS {table.expiries}")
        connection.execute("DELETE FROM counts WHERE of=?", (table.rows,))
        connection.execute("DELETE FROM tables WHERE name=?", (table.key,))
        if table.stream:
            ended = msgspec.structs.replace(table.stream, ended=now)
            connection.execute("UPDATE streams SET definition=? WHERE number=?", (encode(ended), ended.number))
        self._changed(connection)

    def _changed(self, connection: apsw.Connection) -> None:
        self.next_number(connection, "catalog")
        self.refresh(connection)


def key_schema(table: Table) -> list[list[str]]:
    return [[name, kind] for name, kind in zip(table.key_names, ("HASH", "RANGE"), strict=False)]


def create_index(connection: apsw.Connection, index: Index) -> None:
    # A row's key is the item's place in the index followed by the item's own key, which begins at `base`.
    connection.execute(
        f"CREATE TABLE {index.rows}(key BLOB PRIMARY KEY, base INTEGER NOT NULL, size INTEGER NOT NULL) WITHOUT ROWID"
    )
    connection.execute("INSERT INTO counts VALUES (?, 0, 0)", (index.rows,))


def drop_index(connection: apsw.Connection, index: Index) -> None:
    connection.execute(f"DROP TABLE {index.rows}")
    connection.execute("DELETE FROM counts WHERE of=?", (index.rows,))
    connection.execute("DELETE FROM filled WHERE of=?", (index.rows,))


def create_log(connection: apsw.Connection, stream: StreamDefinition) -> None:
    connection.execute(
        f"CREATE TABLE changes_{stream.number}(sequence INTEGER PRIMARY KEY, at REAL NOT NULL, kind INTEGER NOT NULL,"
        " key BLOB, new BLOB, old BLOB)"
    )


def create_expiries(connection: apsw.Connection, table: Table) -> None:
    connection.execute(f"CREATE TABLE {table.expiries}(at INTEGER, key BLOB, PRIMARY KEY(at, key)) WITHOUT ROWID")
