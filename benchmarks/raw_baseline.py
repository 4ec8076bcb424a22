"""The same work in plain apsw and orjson: what SQLite gives when nothing stands in front of it."""

import os
from pathlib import Path
from typing import Any

import apsw
import orjson

SCHEMA = """
CREATE TABLE items (pk TEXT, sk TEXT, body BLOB, PRIMARY KEY (pk, sk)) WITHOUT ROWID;
CREATE TABLE by_owner (owner TEXT, isk TEXT, pk TEXT, sk TEXT, PRIMARY KEY (owner, isk, pk, sk)) WITHOUT ROWID;
CREATE TABLE by_due (due TEXT, isk TEXT, pk TEXT, sk TEXT, PRIMARY KEY (due, isk, pk, sk)) WITHOUT ROWID;
CREATE TABLE log (number INTEGER PRIMARY KEY, body BLOB);
"""

GET = "SELECT body FROM items WHERE pk = ? AND sk = ?"
PAGE = "SELECT body FROM items WHERE pk = ? ORDER BY sk LIMIT 100"
PUT_ITEM = "INSERT OR REPLACE INTO items VALUES (?, ?, ?)"
PUT_BY_OWNER = "INSERT OR REPLACE INTO by_owner VALUES (?, ?, ?, ?)"
PUT_BY_DUE = "INSERT OR REPLACE INTO by_due VALUES (?, ?, ?, ?)"
PUT_LOG = "INSERT INTO log (body) VALUES (?)"


class RawStore:
    """Durable like the engine: write-ahead log, a sync before each commit returns."""

    def __init__(self, path: str | os.PathLike[str], vfs: str | None = None) -> None:
        self.connection = apsw.Connection(str(Path(path)), vfs=vfs)
        assert self.connection.execute("PRAGMA journal_mode=WAL").get == "wal"
        self.connection.execute("PRAGMA synchronous=FULL").fetchall()
        assert self.connection.execute("PRAGMA synchronous").get == 2
        self.connection.execute("PRAGMA cache_size=-32768").fetchall()
        self.connection.execute(f"PRAGMA mmap_size={1 << 30}").fetchall()
        self.connection.execute(SCHEMA)

    def get(self, pk: str, sk: str) -> Any:
        return orjson.loads(self.connection.execute(GET, (pk, sk)).get)

    def page(self, pk: str) -> list[Any]:
        loads = orjson.loads
        return [loads(body) for (body,) in self.connection.execute(PAGE, (pk,))]

    def put_together(self, items: list[dict[str, Any]]) -> None:
        """Several puts in one commit."""
        execute = self.connection.execute
        execute("BEGIN IMMEDIATE")
        for item in items:
            self._put(execute, item, orjson.dumps(item))
        execute("COMMIT")

    def put_alone(self, item: dict[str, Any]) -> None:
        self.put_together([item])

    def update_if(self, pk: str, sk: str, name: str, expected: Any, value: Any) -> bool:
        """Change one attribute in a commit of its own, if another one is as expected."""
        execute = self.connection.execute
        execute("BEGIN IMMEDIATE")
        item = orjson.loads(execute(GET, (pk, sk)).get)
        if item["type"] != expected:
            execute("ROLLBACK")
            return False
        item[name] = value
        body = orjson.dumps(item)
        execute("UPDATE items SET body = ? WHERE pk = ? AND sk = ?", (body, pk, sk))
        execute(PUT_LOG, (body,))
        execute("COMMIT")
        return True

    def _put(self, execute: Any, item: dict[str, Any], body: bytes) -> None:
        pk, sk = item["PK"]["S"], item["SK"]["S"]
        execute(PUT_ITEM, (pk, sk, body))
        execute(PUT_BY_OWNER, (item["owner"]["S"], sk, pk, sk))
        execute(PUT_BY_DUE, (item["due"]["S"], sk, pk, sk))
        execute(PUT_LOG, (body,))

    def close(self) -> None:
        self.connection.close()
