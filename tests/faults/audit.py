"""What must be true of the workload's store after any fault."""

from collections import Counter
from typing import Any

import apsw

from tests.faults.store_reading import check_indexes, check_stream_replays, stream_records
from tests.faults.workload import ACCOUNTS, OPENING_BALANCE, TABLE, Database, Item, Key, Write, Writer

SHARED_PARTITIONS = ("accounts", "tally")


class Audit:
    """Follows one store over several rounds, each with writers of its own; what a round left must stay."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.settled: dict[Key, Item] = {}
        self.balances = [OPENING_BALANCE] * ACCOUNTS
        self.tally = 0
        self.records_settled = 0

    async def check(
        self, database: Database, acknowledged: dict[str, int], begun: dict[str, int]
    ) -> dict[str, list[Write]]:
        """No acknowledged write lost, no half transaction, indexes as implied, stream complete and in order."""
        found = await check_indexes(database, TABLE)
        items = {(key[0][1].decode(), key[1][1].decode()): item for key, item in found.items()}
        shared = {key: item for key, item in items.items() if key[0] in SHARED_PARTITIONS}
        own: dict[str, dict[Key, Item]] = {name: {} for name in acknowledged}
        for key, item in items.items():
            name = key[0].split("#")[0]
            if name in own:
                own[name][key] = item
        settled = {key: item for key, item in items.items() if key[0].split("#")[0] not in own and key not in shared}
        assert settled == self.settled, "items of an earlier round changed"

        done = {
            name: self._writes_that_explain(name, own[name], acknowledged[name], begun[name]) for name in acknowledged
        }
        self._check_accounts(shared, done)
        self._check_tally(shared, acknowledged, begun)

        records = await stream_records(database, TABLE)
        check_stream_replays(records, ["pk", "sk"], found)
        check_stream_order(records[self.records_settled :], done)
        self.records_settled = len(records)
        self.settled = {key: item for key, item in items.items() if key not in shared}
        return done

    def _writes_that_explain(self, name: str, stored: dict[Key, Item], at_least: int, at_most: int) -> list[Write]:
        writer = Writer(self.seed, name)
        writes = [writer.next() for _ in range(at_least)]
        after_acknowledged = dict(writer.items)
        while writer.items != stored:
            assert len(writes) < at_most, (
                f"{name} had {at_least} writes acknowledged, {at_most} begun; the store holds\n{stored}\n"
                f"after the acknowledged ones it should hold\n{after_acknowledged}\n"
                f"the last acknowledged: {writes[at_least - 1 : at_least]}\nbegun: {writes[at_least:]}"
            )
            writes.append(writer.next())
        return writes

    def _check_accounts(self, shared: dict[Key, Item], done: dict[str, list[Write]]) -> None:
        for writes in done.values():
            for write in writes:
                for account, change in write.accounts.items():
                    self.balances[account] += change
        stored = [int(shared["accounts", f"{n:02}"]["balance"]["N"]) for n in range(ACCOUNTS)]
        assert sum(stored) == OPENING_BALANCE * ACCOUNTS, "half a transfer"
        assert stored == self.balances, "the accounts are not what the receipts say"

    def _check_tally(self, shared: dict[Key, Item], acknowledged: dict[str, int], begun: dict[str, int]) -> None:
        counted = int(shared["tally", "tally"]["count"]["N"])
        low, high = (self.tally + self._tallies(counts) for counts in (acknowledged, begun))
        assert low <= counted <= high, "increments were lost or made twice"
        self.tally = counted

    def _tallies(self, counts: dict[str, int]) -> int:
        writers = {name: Writer(self.seed, name) for name in counts}
        return sum(writers[name].next().tally for name, count in counts.items() for _ in range(count))


def check_stream_order(records: list[dict[str, Any]], done: dict[str, list[Write]]) -> None:
    """Each writer's changes are in the stream once, in the order it made them, a transaction's beside each other."""
    told: dict[str, list[tuple[Key, Item | None]]] = {name: [] for name in done}
    for record in records:
        change = record["dynamodb"]
        key = (change["Keys"]["pk"]["S"], change["Keys"]["sk"]["S"])
        name = key[0].split("#")[0]
        if name in told:
            told[name].append((key, change.get("NewImage")))
    for name, writes in done.items():
        changes = iter(told[name])
        for write in writes:
            batch = [next(changes, None) for _ in write.own]
            assert dict(filter(None, batch)) == write.own, f"the stream lacks or misplaces {write}"
        rest = Counter(key for key, _ in changes)
        assert not rest, f"the stream tells more of {name} than was written: {rest}"


def check_file(path: str) -> None:
    """SQLite itself finds nothing damaged."""
    connection = apsw.Connection(path)
    assert connection.pragma("integrity_check") == "ok"
    connection.close()
