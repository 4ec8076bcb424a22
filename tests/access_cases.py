"""Access patterns as a table of cases: each is asked on both engines, for its request, its answer and its cost.

A test file says which rows there are, lists the cases, and inherits the tests:

    CASES = [Case(Family.by_id(FAMILY), sent.get_item(OF_FAMILY, OF_FAMILY), family, 1.0), ...]
    filled = filled_store(inventory, rows=ROWS)


    class TestAccessPatterns(AccessPatterns):
        tables = (inventory,)
        cases = CASES
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import msgspec
import pytest

from potluck.store import Store
from potluck.table import Gather, ItemCollection, Query, Ref, Request, Scan, Table
from potluck.table.patterns import Pattern
from tests.engine_targets import LOCAL
from tests.store_fixtures import Opened

__all__ = ["AccessPatterns", "AnyQuery", "Case", "Requests", "ask", "rows_of"]

AnyQuery = Ref[Any] | Query[Any] | Gather[Any]


@dataclass(frozen=True)
class Requests:
    """Requests to one table, written by hand. A placeholder is called like the attribute it stands for."""

    table: str
    partition: str = "PK"
    sort: str = "SK"

    def get_item(self, partition: str, sort: str, *, consistent: bool = True) -> Request:
        key = {self.partition: {"S": partition}, self.sort: {"S": sort}}
        return Request("GetItem", {"TableName": self.table, "Key": key, **_consistent(consistent)})

    def query(
        self,
        partition: str | int,
        *,
        equals: str | None = None,
        begins_with: str | None = None,
        between: tuple[str, str] | None = None,
        index: str | None = None,
        where: Mapping[str, str] | None = None,
        newest_first: bool = False,
        consistent: bool = True,
    ) -> Request:
        """A query by the one condition given on the sort key; `where` is a filter. No index reads consistently."""
        pk, sk = (self.partition, self.sort) if index is None else (f"{index}PK", f"{index}SK")
        values = {f":{pk}": {"N": str(partition)} if isinstance(partition, int) else {"S": partition}}
        if between is not None:
            condition = f"#{sk} BETWEEN :{sk} AND :{sk}_2"
            values |= {f":{sk}": {"S": between[0]}, f":{sk}_2": {"S": between[1]}}
        elif begins_with is not None:
            condition = f"begins_with(#{sk}, :{sk})"
            values[f":{sk}"] = {"S": begins_with}
        else:
            assert equals is not None
            condition = f"#{sk} = :{sk}"
            values[f":{sk}"] = {"S": equals}
        body: dict[str, Any] = {
            "TableName": self.table,
            "KeyConditionExpression": f"#{pk} = :{pk} AND {condition}",
            "ExpressionAttributeNames": {f"#{name}": name for name in (pk, sk, *(where or ()))},
            "ExpressionAttributeValues": values | {f":{name}": {"S": text} for name, text in (where or {}).items()},
        }
        if index is not None:
            body["IndexName"] = index
        if where is not None:
            body["FilterExpression"] = " AND ".join(f"#{name} = :{name}" for name in where)
        if newest_first:
            body["ScanIndexForward"] = False
        return Request("Query", body | _consistent(consistent and index is None))


def _consistent(consistent: bool) -> dict[str, bool]:
    return {"ConsistentRead": True} if consistent else {}


class Case(NamedTuple):
    """A question, the request that it is, what comes back, and the read units that takes."""

    asked: AnyQuery
    request: Request
    found: Any
    units: float
    in_vain: int = 0
    """How many rows come back that are not in the answer: of another kind, or expired."""
    about: str = ""
    """What the case shows, where its pattern has several."""

    @property
    def pattern(self) -> str:
        if isinstance(self.asked, Ref):
            return self.asked.pattern
        return (self.asked.query if isinstance(self.asked, Gather) else self.asked).pattern.name

    def __str__(self) -> str:
        return f"{self.pattern}: {self.about}" if self.about else self.pattern


async def ask(store: Store, asked: AnyQuery) -> Any:
    """The answer: an item or None, all items, or a collection."""
    match asked:
        case Ref():
            return await store.get(asked)
        case Gather():
            return await store.gather(asked)
    return await store.all(asked)


def rows_of(found: Any) -> list[Any]:
    """The rows in an answer."""
    if isinstance(found, ItemCollection):
        return [row for bucket in msgspec.structs.astuple(found) for row in rows_of(bucket)]
    return found if isinstance(found, list) else [] if found is None else [found]


class AccessPatterns:
    """Every pattern of the tables has a case, and every case holds; needs the fixture `filled`."""

    tables: ClassVar[Sequence[Table]]
    cases: ClassVar[Sequence[Case]]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "case" in metafunc.fixturenames:
            metafunc.parametrize("case", self.cases, ids=str)

        if "scanned" in metafunc.fixturenames:
            scans = [pattern for table in self.tables for pattern in table.patterns if pattern.operation == "Scan"]
            metafunc.parametrize("scanned", scans, ids=lambda pattern: pattern.name)

    def test_every_access_pattern_has_a_case(self) -> None:
        patterns = {pattern.name for table in self.tables for pattern in table.patterns if pattern.operation != "Scan"}
        asked = {case.pattern for case in self.cases}
        assert asked == patterns, f"add a Case for each of {sorted(patterns - asked)} to the cases"

    @pytest.mark.asyncio(loop_scope="module")
    async def test_a_scan_is_one_request_that_costs_the_whole_table(self, scanned: Pattern, filled: Opened) -> None:
        with filled.recording.scope() as calls:
            rows = [row async for row in filled.store.each(Scan(scanned, consistent=True))]
        assert {type(row) for row in rows} <= {plan.cls for plan in scanned.members}
        assert [(call.pattern, call.operation) for call in calls] == [(scanned.name, "Scan")]
        with filled.recording.scope() as whole:
            request = {"TableName": scanned.table.name, "ConsistentRead": True}
            await filled.store.repeat(Request("Scan", request))
        assert calls.read_units == whole.read_units

    def test_a_question_is_one_exact_request(self, case: Case) -> None:
        assert case.asked.request() == case.request

    @pytest.mark.asyncio(loop_scope="module")
    async def test_a_question_is_answered_by_that_request_at_its_cost(self, case: Case, filled: Opened) -> None:
        with filled.recording.scope() as calls:
            found = await ask(filled.store, case.asked)
        assert found == case.found
        assert [(call.operation, call.request) for call in calls] == [case.request]
        assert calls[0].items == len(rows_of(case.found)) + case.in_vain
        # DynamoDB Local asks nothing for a query that finds nothing; the service asks the least there is.
        free = filled.engine == LOCAL and case.request.operation == "Query" and not calls[0].items
        assert calls.read_units == (0.0 if free else case.units)
