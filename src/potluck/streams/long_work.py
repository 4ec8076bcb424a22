"""The long work of one consumer that began in one shard: what is left of it, in rows, and whose turn it is.

A row has the work's subject and where to go on. It names its holder, like a position, and a run: work that begins again
on the same subject replaces the row with a new run, wherever it is being done, and what was left of the old one is
dropped at its next save.
"""

import logging
import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from potluck.engines import DynamoError, Engine
from potluck.streams.backoff import LONGEST_PAUSE, SHORTEST_PAUSE
from potluck.streams.failures import ATTEMPTS, passes, reason
from potluck.streams.leases import Deposed, Ownership, WorkTable
from potluck.streams.moved_rows import MOVED
from potluck.streams.positions import Action, Patience
from potluck.streams.steps import StepDone, Steps, Work
from potluck.table import Operation

Encoded = Callable[[Sequence[Operation]], list[Action]]

log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Begun:
    """Work that has begun, and where it goes on."""

    work: Work[Any]
    after: Any
    run: str = field(default_factory=lambda: uuid.uuid4().hex)
    failures: int = 0
    pause: float = SHORTEST_PAUSE
    not_before: float = 0.0


class LongWorkRows:
    """The rows of one consumer's long work."""

    def __init__(
        self,
        engine: Engine,
        work_table: WorkTable,
        consumer: str,
        steps: Sequence[Steps[Any]],
        encoded: Encoded,
        patiently: Patience,
    ) -> None:
        self.encoded = encoded
        self._engine = engine
        self._table = work_table
        self._consumer = consumer
        self._partition = f"CONSUMER#{consumer}"
        self._steps = {kind.name: kind for kind in steps}
        self._patiently = patiently

    async def any(self) -> bool:
        """Whether anything is left."""
        return bool(await self._all())

    async def claim(
        self, shard: str, owner: Ownership, into: str | None = None, *, known: Collection[str] = ()
    ) -> list[Begun]:
        """Everything that is left of the work that began in this shard, which only we can go on with from now on.

        With `into`, it counts from now on as work of that shard. The `known` runs are ours already.
        """
        begun: list[Begun] = []
        looked_at = {*known}
        # Until a row was claimed, a step of its former holder may have begun further work.
        while rows := [row for row in await self._of_shard(shard) if row["Run"]["S"] not in looked_at]:
            looked_at.update(row["Run"]["S"] for row in rows)
            begun += await self._claimed(rows, owner, into or shard)
        return begun

    async def _claimed(self, rows: Sequence[dict[str, Any]], owner: Ownership, shard: str) -> list[Begun]:
        """The work in these rows, as far as it was not begun again or ended meanwhile."""
        begun = []
        for row in rows:
            update = {
                **self._row_of(row[self._table.sort_key]["S"]),
                "UpdateExpression": "SET #holder = :holder, #shard = :shard",
                "ConditionExpression": "#run = :run",
                "ExpressionAttributeNames": {"#holder": "Holder", "#run": "Run", "#shard": "Shard"},
                "ExpressionAttributeValues": {
                    ":holder": {"S": str(owner.owner)},
                    ":run": row["Run"],
                    ":shard": {"S": shard},
                },
            }
            request = {"TransactItems": [owner.check(), {"Update": update}], "ClientRequestToken": str(uuid.uuid4())}
            try:
                await self._patiently("TransactWriteItems", request)
            except DynamoError as error:
                if not error.reasons:
                    raise
                if error.reasons[0].get("Code") != "None":
                    raise Deposed(self._consumer) from error
                # Begun again meanwhile, in another shard.
                continue
            kind = self._steps.get(row["Work"]["S"])
            if kind is None:
                log.error("%s: no steps are called %s any more", self._consumer, row["Work"]["S"])
                continue
            after = msgspec.json.decode(row["After"]["S"]) if "After" in row else None
            begun.append(Begun(kind.restored(row["Subject"]["S"].encode()), after, row["Run"]["S"]))
        return begun

    def beginning(self, begun: Begun, shard: str, owner: Ownership) -> Action:
        """The action that saves work that has begun; it supersedes earlier work on the subject."""
        item = {
            "Work": {"S": begun.work.steps.name},
            "Subject": {"S": begun.work.saved()},
            "Shard": {"S": shard},
            "Run": {"S": begun.run},
        }
        if owner.owner is not None:
            item["Holder"] = {"S": owner.owner}
        if begun.after is not None:
            item["After"] = {"S": _json(begun.after)}
        return {"Put": {"TableName": self._table.table, "Item": self._key(begun) | item}}

    async def go_on(self, begun: Begun, owner: Ownership, step: StepDone, also: Sequence[Action]) -> bool:
        """Save where the next step goes on, with what the last one writes; False if the work is no longer ours."""
        names = {"#holder": "Holder", "#run": "Run"}
        values = {":holder": {"S": str(owner.owner)}, ":run": {"S": begun.run}}
        condition = "#holder = :holder AND #run = :run"
        if begun.after is not None:
            names["#after"] = "After"
            values[":from"] = {"S": _json(begun.after)}
            condition += " AND #after = :from"
        elif step.then is not None:
            names["#after"] = "After"
            condition += " AND attribute_not_exists(#after)"
        change: dict[str, Any] = {
            **self._row_of(self._sort(begun)),
            "ConditionExpression": condition,
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": values,
        }
        kind = "Delete"
        if step.then is not None:
            kind = "Update"
            change["UpdateExpression"] = "SET #after = :to"
            values[":to"] = {"S": _json(step.then)}
        actions = [{kind: change}, *self.encoded(step.writes), *also]
        try:
            request = {"TransactItems": actions, "ClientRequestToken": str(uuid.uuid4())}
            await self._patiently("TransactWriteItems", request)
        except DynamoError as error:
            if error.reasons and error.reasons[0].get("Code") == "ConditionalCheckFailed":
                return False
            raise
        return True

    async def read_again(self, begun: Begun, owner: Ownership) -> bool:
        """After a save that was refused: note where the work goes on; False if it has ended or begun again."""
        request = {**self._row_of(self._sort(begun)), "ConsistentRead": True}
        row = (await self._patiently("GetItem", request)).get("Item")
        if row is None or row["Run"]["S"] != begun.run:
            return False
        if row.get("Holder", {}).get("S") != owner.owner:
            raise Deposed(self._consumer)
        begun.after = msgspec.json.decode(row["After"]["S"]) if "After" in row else None
        return True

    def parking(self, begun: Begun, about: Mapping[str, Any]) -> Action:
        """The action that stores work that could not be done."""
        item = {"Work": {"S": begun.work.steps.name}, "Subject": {"S": begun.work.saved()}, **about}
        key = self._table.key(self._partition, f"PARKED#{begun.run}")
        return {"Put": {"TableName": self._table.table, "Item": key | item}}

    async def _of_shard(self, shard: str) -> list[dict[str, Any]]:
        return [row for row in await self._all() if row["Shard"]["S"] == shard]

    async def _all(self) -> list[dict[str, Any]]:
        request: dict[str, Any] = {
            "TableName": self._table.table,
            "ConsistentRead": True,
            "KeyConditionExpression": "#partition = :partition AND begins_with(#sort, :steps)",
            "ExpressionAttributeNames": {"#partition": self._table.partition_key, "#sort": self._table.sort_key},
            "ExpressionAttributeValues": {":partition": {"S": self._partition}, ":steps": {"S": "STEPS#"}},
        }
        rows: list[dict[str, Any]] = []
        while True:
            answer = await self._patiently("Query", request)
            rows += answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return rows
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def _sort(self, begun: Begun) -> str:
        return f"STEPS#{begun.work.name}"

    def _key(self, begun: Begun) -> dict[str, Any]:
        return self._table.key(self._partition, self._sort(begun))

    def _row_of(self, sort: str) -> dict[str, Any]:
        return {"TableName": self._table.table, "Key": self._table.key(self._partition, sort)}


class LongWork:
    """The work of one consumer that began in one shard, and is done here, step by step, each in its turn."""

    def __init__(
        self,
        rows: LongWorkRows,
        shard: str,
        owner: Ownership,
        attempts: int = ATTEMPTS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._rows = rows
        self._shard = shard
        self._owner = owner
        self._attempts = attempts
        self._clock = clock
        self._begun: dict[str, Begun] = {}
        """By name, the next in turn first."""

    async def claim(self) -> None:
        """Go on with what another process left."""
        known = {begun.run for begun in self._begun.values()}
        self.remember(await self._rows.claim(self._shard, self._owner, known=known))

    async def claim_moved(self) -> None:
        """Go on with what was left in the store from which the rows were moved here."""
        self.remember(await self._rows.claim(MOVED, self._owner, into=self._shard))

    def forget(self) -> None:
        """Leave what there is to the next that claims it."""
        self._begun.clear()

    def __bool__(self) -> bool:
        return bool(self._begun)

    @property
    def seconds(self) -> float | None:
        """How long until the next step can be done; None if nothing is left."""
        if not self._begun:
            return None
        return max(0.0, min(begun.not_before for begun in self._begun.values()) - time.monotonic())

    async def begin(self, works: Sequence[Work[Any]]) -> tuple[list[Action], list[Begun]]:
        """Begin this work: what to commit with the position, and what to `remember` once it is.

        The first step is done at once, unless the subject is worked on already: that work begins again in its turn.
        """
        actions: list[Action] = []
        begun: dict[str, Begun] = {}
        for work in works:
            if work.name in self._begun:
                begun[work.name] = Begun(work, None)
                continue
            step = await work.step()
            actions += self._rows.encoded(step.writes)
            if step.then is not None:
                begun[work.name] = Begun(work, step.then)
            begun |= {further.name: Begun(further, None) for further in step.also if further.name not in begun}
        actions += [self.saving(each) for each in begun.values()]
        return actions, [*begun.values()]

    def saving(self, begun: Begun) -> Action:
        """The action that saves work that has begun."""
        return self._rows.beginning(begun, self._shard, self._owner)

    def remember(self, begun: Sequence[Begun]) -> None:
        """Do this work too, after what is there already."""
        for each in begun:
            self._begun.pop(each.work.name, None)
            self._begun[each.work.name] = each

    async def turn(self) -> bool:
        """Do one step of what is next; False if nothing can be done now."""
        now = time.monotonic()
        begun = next((each for each in self._begun.values() if each.not_before <= now), None)
        if begun is None:
            return False
        if not self._owner.held:
            raise Deposed(begun.work.name)
        # Afterwards, all others have their turn first.
        self._begun[begun.work.name] = self._begun.pop(begun.work.name)
        try:
            step = await begun.work.step(begun.after)
            await self._save(begun, step)
            begun.failures, begun.pause = 0, SHORTEST_PAUSE
        except Deposed:
            raise
        except Exception as error:
            begun.not_before = time.monotonic() + begun.pause
            begun.pause = min(2 * begun.pause, LONGEST_PAUSE)
            if not passes(error):
                begun.failures += 1
                log.warning("%s: attempt %d failed: %r", begun.work.name, begun.failures, error)
                if begun.failures >= self._attempts:
                    await self._park(begun, error)
        return True

    async def _save(self, begun: Begun, step: StepDone) -> None:
        further = [Begun(work, None) for work in step.also if work.name != begun.work.name]
        if not await self._rows.go_on(begun, self._owner, step, [self.saving(each) for each in further]):
            # Begun again in another shard; or it was saved, and the answer was lost.
            if not await self._rows.read_again(begun, self._owner):
                del self._begun[begun.work.name]
            return
        begun.after = step.then
        if step.then is None:
            del self._begun[begun.work.name]
        self.remember(further)

    async def _park(self, begun: Begun, error: Exception) -> None:
        log.exception("%s: parked", begun.work.name)
        if await self._rows.go_on(
            begun, self._owner, StepDone(), [self._rows.parking(begun, reason(error, self._clock()))]
        ):
            del self._begun[begun.work.name]


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
