"""Keys come out as designs write them, and a design that cannot work says what to write when it is declared."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, StrEnum
from types import SimpleNamespace
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
import pytest
from msgspec import Meta

from potluck.table.errors import DesignError, InvalidValue
from potluck.table.fields import (
    Counter,
    InKeys,
    KeyOnly,
    Limits,
    Milliseconds,
    Seconds,
    Version,
    plan_fields,
)
from potluck.table.keys import KeyPlan, KeyTemplate, check_key_only
from potluck.table.keys.ranges import Range, SortCondition, StartsWith, check_range, sort_condition, successor

FAMILY = UUID("f47ac10b-58cc-4372-a567-0e02b2c3d479")
STORE = UUID("123e4567-e89b-12d3-a456-426614174000")
NOON = datetime(2025, 12, 10, 12, 0, 0, tzinfo=UTC)

Name = Annotated[str, Meta(max_length=100)]
Ranking = Annotated[
    tuple[int, ...],
    InKeys(lambda ranks: "-".join(map(str, ranks)), lambda text: tuple(int(rank) for rank in text.split("-")), 60),
]


class Status(StrEnum):
    PENDING = "pending"
    PURCHASED = "purchased"


class Size(Enum):
    SMALL = "s"
    LARGE = "l#"


class Row(msgspec.Struct, kw_only=True):
    family_id: UUID
    store_id: UUID | None = None
    item_id: UUID | None = None
    status: Literal["pending", "purchased"] = "pending"
    state: Status = Status.PENDING
    size: Size = Size.SMALL
    name: Name
    nickname: Name | None = None
    title: str = ""
    quantity: Annotated[int, Meta(ge=0, le=100_000)] = 0
    balance: int = 0
    stock: Annotated[int, Meta(ge=0)] = 0
    shard: Annotated[int, Meta(ge=0, le=9)] = 0
    price: Decimal = Decimal(0)
    weight: Annotated[Decimal, Limits(ge=0, le=999)] = Decimal(0)
    ratio: float = 0
    done: bool = False
    at: Seconds
    exactly: Milliseconds
    day: date
    ranking: Ranking
    votes: Counter = 0
    version: Version = 1
    token: Annotated[str, Meta(max_length=40), KeyOnly]
    tags: list[str] = []


FIELDS = plan_fields(Row)


def template(text: str, **more: Any) -> KeyTemplate:
    return KeyTemplate.parse(text, FIELDS, "Row.key", **more)


def written(text: str, **values: Any) -> str | None:
    return template(text).encode(values)


def refused(text: str, **more: Any) -> str:
    with pytest.raises(DesignError) as caught:
        template(text, **more)
    return str(caught.value)


class TestWriting:
    @pytest.mark.parametrize(
        ("text", "values", "key"),
        [
            ("METADATA", {}, "METADATA"),
            ("FAMILY#{family_id}", {"family_id": FAMILY}, "FAMILY#f47ac10b-58cc-4372-a567-0e02b2c3d479"),
            ("01#{family_id:hex}#", {"family_id": FAMILY}, "01#f47ac10b58cc4372a5670e02b2c3d479#"),
            (
                "STORE#{store_id|UNASSIGNED}#STATUS#{status}",
                {"store_id": None, "status": "pending"},
                "STORE#UNASSIGNED#STATUS#pending",
            ),
            ("STATUS#{state}", {"state": Status.PURCHASED}, "STATUS#purchased"),
            ("SIZE#{size}#", {"size": Size.LARGE}, 'SIZE#l"~#'),
            ("QUANTITY#{quantity:10}", {"quantity": 42}, "QUANTITY#0000000042"),
            ("{quantity}", {"quantity": 42}, "42"),
            ("{balance:05}", {"balance": -1}, "-99998"),
            ("{balance:05}", {"balance": 1}, "00001"),
            ("{price:8.2}", {"price": Decimal("42.5")}, "00000042.50"),
            ("{price:8.2}", {"price": Decimal("-42.5")}, "-99999957.49"),
            ("{price:3.1}", {"price": Decimal("-0.0")}, "000.0"),
            ("{price:30.8}", {"price": Decimal("-" + "9" * 30 + "." + "9" * 8)}, "-" + "0" * 30 + "." + "0" * 8),
            ("{price:30.8}", {"price": Decimal("9" * 30 + "." + "9" * 8)}, "9" * 30 + "." + "9" * 8),
            ("{done}", {"done": True}, "true"),
            ("{at}", {"at": NOON}, "2025-12-10T12:00:00Z"),
            ("{exactly}", {"exactly": NOON}, "2025-12-10T12:00:00.000Z"),
            ("{at}", {"at": NOON.astimezone(timezone(timedelta(hours=2)))}, "2025-12-10T12:00:00Z"),
            ("{day}", {"day": date(2025, 1, 2)}, "2025-01-02"),
            ("{day}T{shard}", {"day": date(2025, 1, 2), "shard": 3}, "2025-01-02T3"),
            ("COUNT#{ranking}", {"ranking": (2, 1, 3)}, "COUNT#2-1-3"),
            ("{name}", {"name": "a b é !~"}, "a b é !~"),
            ("{name}", {"name": 'a#"b"'}, 'a"~"!b"!'),
            ("item#{title:folded 400}#~", {"title": "L'Été #1"}, "item#l'ete_1#~"),
        ],
    )
    def test_keys_are_written_as_the_design_has_them(self, text: str, values: dict[str, Any], key: str) -> None:
        assert template(text).encode(values) == key

    def test_a_separator_in_a_value_does_not_make_two_rows_one(self) -> None:
        both = template("{name}#b_{token}")
        assert both.encode({"name": "x#b_y", "token": "z"}) != both.encode({"name": "x", "token": "y#b_z"})

    def test_a_key_with_a_missing_part_is_no_key(self) -> None:
        assert written("ITEM#{item_id}", item_id=None) is None
        assert written("ITEM#{item_id}#{name}", item_id=None, name="x") is None

    @pytest.mark.parametrize(
        ("text", "values", "why"),
        [
            ("{name}", {"name": ""}, "a key cannot be empty"),
            ("N#{name}", {"name": "x" * 101}, "101 characters, not 0 to 100"),
            ("N#{name}", {"name": "\ud800"}, "surrogate"),
            ("N#{name:folded}", {"name": "\ud800"}, "surrogate"),
            ("N#{name}", {"name": None}, "expected str, got NoneType"),
            ("N#{family_id}", {"family_id": str(FAMILY)}, "expected UUID, got str"),
            ("{stock:05}", {"stock": 100_000}, "5 digits and no sign"),
            ("{quantity:06}", {"quantity": -1}, "6 digits and no sign"),
            ("{quantity:06}", {"quantity": True}, "expected int, got bool"),
            ("{quantity}", {"quantity": 10**400}, "not from 0 to 100000"),
            ("{balance:05}", {"balance": -(10**5000)}, "5 digits"),
            ("{price:3.1}", {"price": Decimal("0.25")}, "more than 1 digits after the point"),
            ("{price:3.1}", {"price": Decimal("1E+9999")}, "3 digits before the point"),
            ("{price:3.1}", {"price": Decimal("1E-9999")}, "more than 1 digits after the point"),
            ("{price:3.1}", {"price": Decimal("NaN")}, "3 digits before the point"),
            ("{weight:3.1}", {"weight": Decimal(-1)}, "no sign"),
            ("{status}", {"status": "lost"}, "'lost' is none of 'pending', 'purchased'"),
            ("{status}", {"status": ["pending"]}, "is none of"),
            ("{at}", {"at": datetime(2025, 1, 1)}, "time zone"),
            ("{day}", {"day": NOON}, "expected date, got datetime"),
            ("{done}", {"done": 1}, "expected bool, got int"),
            ("{ranking}", {"ranking": (True,)}, "cannot be written"),
            ("{ranking}", {"ranking": tuple(range(100))}, "more than 60 bytes"),
            ("{ranking}", {"ranking": [1, 2]}, "does not decode to the same value"),
        ],
    )
    def test_a_value_that_does_not_fit_is_refused_by_name(self, text: str, values: dict[str, Any], why: str) -> None:
        with pytest.raises(InvalidValue) as caught:
            template(text).encode(values)
        assert (caught.value.entity, caught.value.field) == ("Row", next(iter(values)))
        assert why in str(caught.value)

    def test_an_enum_that_is_text_is_written_by_its_value_in_a_text_field(self) -> None:
        class Mixed(str, Enum):  # noqa: UP042 -- which is formatted as Mixed.A
            A = "a"

        assert written("N#{name}", name=Mixed.A) == "N#a"


class TestReading:
    def test_the_values_are_read_back(self) -> None:
        values = {"store_id": STORE, "status": "pending"}
        both = template("STORE#{store_id|UNASSIGNED}#STATUS#{status}")
        key = both.encode(values)
        assert key is not None
        assert both.decode(key) == values
        assert both.decode("STORE#UNASSIGNED#STATUS#purchased") == {"store_id": None, "status": "purchased"}

    def test_folded_values_are_left_out(self) -> None:
        assert template("item#{title:folded 400}#{stock:05}").decode("item#a#00001") == {"stock": 1}

    @pytest.mark.parametrize(
        ("text", "key"),
        [
            ("FAMILY#{family_id}", "FAMILY#f47ac10b"),
            ("FAMILY#{family_id}", "FAMILY#F47AC10B-58CC-4372-A567-0E02B2C3D479"),
            ("FAMILY#{family_id}", "FAMILY#f47ac10b-58cc-4372-a567-0e02b2c3d479#X"),
            ("FAMILY#{family_id}", "FAMILY#f47ac10b-58cc-4372-a567-0e02b2c3d479\n"),
            ("N#{name}", "N#a#b"),
            ("N#{name}", 'N#a"b'),
            ("N#{name}", "N#" + "x" * 101),
            ("{balance:03}", "-999"),
            ("{balance:03}", "١٢٣"),
            ("{price:2.1}", "-99.9"),
            ("{day}", "2025-02-30"),
            ("{at}", "2025-12-10T12:00:00.000Z"),
            ("{quantity}", "007"),
            ("{ranking}", "x"),
        ],
    )
    def test_what_is_not_a_key_of_the_template_is_not_read(self, text: str, key: str) -> None:
        assert template(text).decode(key) is None


class TestDesigns:
    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("FAMILY#{familyId}", "there is no field familyId; did you mean family_id?"),
            ("FAMILY#{famly_id}", "did you mean family_id?"),
            ("FAMILY#{zzz}", "there are family_id, store_id"),
            ("", "a key cannot be empty"),
            ("A#{name", "braces may only enclose a field"),
            ("A#{{name}}", "braces may only enclose a field"),
            ("A\t{name}", "an invisible character"),
            ("{votes:05}", "votes is a counter"),
            ("{version:05}", "version is a version"),
            ("{title}", "it needs a maximum length: Annotated[str, Meta(max_length=...)]"),
            ("{title:folded}", "or where to cut it: {title:folded 400}"),
            ("{name:upper}", "write {name}, {name:caseless}, {name:folded} or {name:collated}"),
            ("{name:folded x}", "{name:folded 400} to cut it"),
            ("{balance}", "it needs bounds, Meta(ge=0, le=...), or a width, {balance:05}"),
            ("{balance:x}", "such as {balance:05}"),
            ("{balance:39}", "such as {balance:05}"),
            ("{quantity:05}", "may be 100000, which has more digits; write {quantity:06}"),
            ("{price}", "such as {price:8.2}"),
            ("{price:30.9}", "such as {price:8.2}"),
            ("{weight:2.1}", "may be 999, which has more digits; write {weight:3.1}"),
            ("{ratio}", "a float cannot be in a key"),
            ("{tags}", "a list cannot be in a key; give it a text with InKeys"),
            ("{family_id:short}", "{family_id:hex} without dashes"),
            ("{at:05}", "write {at}"),
            ("{ranking:05}", "defines its own form in keys; write {ranking}"),
            ("{name}X{token}", "name could itself end like 'X'; write '#' after {name}"),
            ("{name}{token}", "nothing ends name; write '#' after {name}"),
            ("{quantity:06}{shard}", "nothing ends quantity"),
            ("{quantity}-{name}", "quantity could itself end like '-'"),
            ("{name}#{name}", "name occurs twice"),
            ("{family_id|NONE}", "family_id is never None; write {family_id}"),
            (
                "{nickname|NONE}",
                "nickname can itself be 'NONE', which would read as None",
            ),
            ("{nickname|NONE}", '{nickname|"NONE}'),
            ("{nickname|}", '{nickname|"NONE}'),
            ("{nickname|~}", '{nickname|"NONE}'),
            ('{nickname|"~none}', '{nickname|"none}'),
            ("{store_id|A#B}", "write it without '#'"),
            ("{store_id|NONE}-{name}", "store_id could itself end like '-'"),
        ],
    )
    def test_a_template_that_cannot_work_says_what_to_write(self, text: str, says: str) -> None:
        assert says in refused(text)
        assert "Row." in refused(text)

    def test_a_substitute_no_value_can_be_is_fine(self) -> None:
        key = template('N#{nickname|"NONE}')
        assert key.encode({"nickname": None}) == 'N#"NONE'
        assert key.decode('N#"NONE') == {"nickname": None}
        assert key.encode({"nickname": '"NONE'}) == 'N#"!NONE'

    def test_a_primary_key_is_never_missing_and_never_folded(self) -> None:
        assert "every row has a key; write {store_id|NONE}" in refused("S#{store_id}", primary=True)
        assert "two spellings of name would be one row" in refused("S#{name:folded}", primary=True)
        assert template("S#{store_id|NONE}", primary=True).encode({"store_id": None}) == "S#NONE"

    def test_a_guard_may_be_folded_but_not_cut(self) -> None:
        guard = template("UNIQUE#{name:folded}", primary=True, unique=True)
        assert guard.encode({"name": "ÉCOLE"}) == guard.encode({"name": "ecole"})
        assert "write {name:folded}" in refused("UNIQUE#{name:folded 40}", primary=True, unique=True)
        assert template("U#{nickname:folded}", primary=True, unique=True).encode({"nickname": None}) is None

    def test_a_number_key_is_one_number(self) -> None:
        assert template("{balance}", number=True).encode({"balance": -5}) == "-5"
        assert template("{price}", number=True).encode({"price": Decimal("1E+2")}) == "100"
        assert "must be a single field" in refused("N{balance}", number=True)
        assert "an int or a Decimal" in refused("{name}", number=True)
        with pytest.raises(InvalidValue, match="at most 38 digits"):
            template("{balance}", number=True).encode({"balance": 10**5000})


def plan(partition: str, *sort: str, index: str | None = "GSI1", **more: Any) -> KeyPlan:
    return KeyPlan(
        index=index,
        partition_attribute="PK",
        sort_attribute="SK" if sort else None,
        partition=template(partition),
        sort=tuple(map(template, sort)),
        **more,
    )


class TestKeyPlans:
    def test_partition_and_sort_key_appear_and_vanish_together(self) -> None:
        key = plan("FAMILY#{family_id}#ITEM#{item_id}", "N#{nickname}")
        values = {"family_id": FAMILY, "item_id": STORE, "nickname": "x"}
        assert key.encode(values) == (f"FAMILY#{FAMILY}#ITEM#{STORE}", "N#x")
        assert key.encode(values | {"item_id": None}) is None
        assert key.encode(values | {"nickname": None}) is None
        assert key.wire(values | {"nickname": None}) == {}

    def test_an_entity_is_in_the_index_only_while_its_condition_holds(self) -> None:
        key = plan("LOW", "{name}", when=lambda quantity, shard: quantity <= shard, when_fields=("quantity", "shard"))
        assert key.encode({"name": "x", "quantity": 1, "shard": 2}) == ("LOW", "x")
        assert key.encode({"name": "x", "quantity": 3, "shard": 2}) is None
        assert key.components == {"name", "quantity", "shard"}

    def test_the_first_template_whose_parts_are_there_writes_the_sort_key(self) -> None:
        key = plan("P", "item#{nickname:folded}#{quantity:06}", "item#{name:folded}#~")
        values = {"nickname": "Foo", "quantity": 1, "name": "Bar"}
        assert key.encode(values) == ("P", "item#foo#000001")
        assert key.encode(values | {"nickname": None}) == ("P", "item#bar#~")

    def test_number_keys_are_sent_as_numbers(self) -> None:
        key = KeyPlan(
            index=None,
            partition_attribute="pk",
            sort_attribute="sk",
            partition=template("{balance}", number=True),
            sort=(template("available#{shard:02}"),),
            partition_is_number=True,
        )
        item = key.wire({"balance": 99, "shard": 1})
        assert item == {"pk": {"N": "99"}, "sk": {"S": "available#01"}}
        assert key.decode(item) == {"balance": 99, "shard": 1}

    def test_a_row_is_recognised_by_its_keys(self) -> None:
        key = plan("FAMILY#{family_id}", "FAMILY#{family_id}")
        item = key.wire({"family_id": FAMILY})
        assert key.matches(item)
        assert not key.matches(item | {"SK": {"S": f"FAMILY#{STORE}"}})
        assert not key.matches(item | {"SK": {"S": "METADATA"}})
        assert not key.matches({"SK": item["SK"]})
        assert not key.matches({"PK": {"N": "1"}, "SK": item["SK"]})

    def test_what_is_in_the_key_only_must_be_in_it(self) -> None:
        check_key_only(plan("T#{token}", "S", index=None), FIELDS)
        check_key_only(plan("P", "T#{token}", index=None), FIELDS)
        for missing in (plan("P", "S", index=None), plan("P", index=None)):
            with pytest.raises(DesignError, match="token is declared key-only"):
                check_key_only(missing, FIELDS)

    def test_a_key_that_could_be_too_long_is_refused_with_the_part_that_is(self) -> None:
        fields = plan_fields(msgspec.defstruct("Row", [("id", UUID), ("text", Annotated[str, Meta(max_length=256)])]))

        def planned(partition: str, sort: str) -> KeyPlan:
            parse = [KeyTemplate.parse(text, fields, "Row.GSI1") for text in (partition, sort)]
            return KeyPlan("GSI1", "PK", "SK", parse[0], (parse[1],))

        assert planned("{text}", "{text}").sort[0].max_bytes == 1024
        with pytest.raises(DesignError) as caught:
            planned("P", "T#{text}#{id}")
        assert "'T#{text}#{id}' could have 1,063 bytes, and 1,024 are allowed" in str(caught.value)
        assert "text up to 1,024, id up to 36 bytes" in str(caught.value)
        assert "Row, GSI1" in str(caught.value)
        assert "give text a smaller max_length, or cut it: {text:folded 400}" in str(caught.value)
        assert planned("P", "T#{text:folded 900}#{id}").sort[0].max_bytes == 939
        assert planned("T#{text}#{id}", "S").partition.max_bytes == 1063
        with pytest.raises(DesignError, match="2,048 are allowed"):
            planned("A" * 1025 + "#{text}", "S")
        with pytest.raises(DesignError, match="1,024 are allowed; write a shorter one"):
            planned("P", "S" * 1025)


class TestSortConditions:
    @pytest.mark.parametrize(
        ("text", "given", "condition"),
        [
            ("METADATA", {}, SortCondition("=", ("METADATA",))),
            ("SHOPPING#{family_id}", {}, SortCondition("begins_with", ("SHOPPING#",))),
            ("{family_id}", {}, SortCondition("none")),
            (
                "STORE#{store_id|NONE}#STATUS#{status}",
                {"store_id": STORE},
                SortCondition("begins_with", (f"STORE#{STORE}#STATUS#",)),
            ),
            (
                "STORE#{store_id|NONE}#STATUS#{status}",
                {"store_id": None, "status": "pending"},
                SortCondition("=", ("STORE#NONE#STATUS#pending",)),
            ),
            (
                "E#{at}#{name}",
                {"at": Range(NOON, NOON)},
                SortCondition("BETWEEN", ("E#2025-12-10T12:00:00Z", "E#2025-12-10T12:00:00Z$")),
            ),
            ("E#{at}#{name}", {"at": Range(NOON)}, SortCondition("BETWEEN", ("E#2025-12-10T12:00:00Z", "E$"))),
            (
                "E#{at}#{name}",
                {"at": Range(NOON, low_open=True)},
                SortCondition("BETWEEN", ("E#2025-12-10T12:00:01Z", "E$")),
            ),
            (
                "E#{at}#{name}",
                {"at": Range(high=NOON, high_open=True)},
                SortCondition("BETWEEN", ("E#", "E#2025-12-10T11:59:59Z$")),
            ),
            ("01#{at}#", {"at": Range(high=NOON)}, SortCondition("BETWEEN", ("01#", "01#2025-12-10T12:00:00Z#"))),
            ("{at}", {"at": Range(high=NOON)}, SortCondition("<=", ("2025-12-10T12:00:00Z",))),
            ("{at}", {"at": Range(NOON)}, SortCondition(">=", ("2025-12-10T12:00:00Z",))),
            ("CA#{name}", {"name": Range("CA", low_open=True)}, SortCondition("BETWEEN", ("CA#CA\0", "CA$"))),
            ("{name}", {"name": StartsWith("")}, SortCondition("none")),
            ("item#{title:folded 400}#~", {"title": StartsWith("L'É")}, SortCondition("begins_with", ("item#l'e",))),
            ("Q#{quantity:06}", {"quantity": Range(5, 3)}, SortCondition("=", ('Q#"',))),
        ],
    )
    def test_the_condition_is_the_one_a_designer_would_write(
        self, text: str, given: dict[str, Any], condition: SortCondition
    ) -> None:
        assert sort_condition(template(text), given) == condition

    @pytest.mark.parametrize(
        ("text", "given", "condition"),
        [
            ("{price:2.2}", {"price": Range(Decimal("0.004"))}, SortCondition(">=", ("00.01",))),
            ("{price:2.2}", {"price": Range(high=Decimal("-0.004"))}, SortCondition("<=", ("-99.98",))),
            ("{price:2.2}", {"price": Range(Decimal("99.99"), low_open=True)}, SortCondition("=", ('"',))),
            ("{stock:02}", {"stock": Range(high=-1)}, SortCondition("=", ('"',))),
            ("{stock:02}", {"stock": Range(high=1000)}, SortCondition("<=", ("99",))),
            (
                "{at}",
                {"at": Range(NOON + timedelta(milliseconds=1))},
                SortCondition(">=", ("2025-12-10T12:00:01Z",)),
            ),
            (
                "{at}",
                {"at": Range(high=NOON + timedelta(milliseconds=1), high_open=True)},
                SortCondition("<=", ("2025-12-10T12:00:00Z",)),
            ),
            ("{exactly}", {"exactly": Range(NOON, low_open=True)}, SortCondition(">=", ("2025-12-10T12:00:00.001Z",))),
            ("{name}", {"name": Range("x" * 101)}, SortCondition(">=", ("x" * 100,))),
            ("{name}", {"name": Range(high="x" * 101, high_open=True)}, SortCondition("<=", ("x" * 100,))),
            ("A#{name}", {"name": StartsWith("x" * 101)}, SortCondition("=", ('A#"',))),
        ],
    )
    def test_a_bound_that_no_value_can_be_is_moved_to_the_next_that_can(
        self, text: str, given: dict[str, Any], condition: SortCondition
    ) -> None:
        assert sort_condition(template(text), given) == condition

    def test_a_text_as_long_as_can_be_is_not_past_itself(self) -> None:
        for asked, kept in [
            (Range("x" * 100, low_open=True), False),
            (Range("x" * 101), False),
            (Range(high="x" * 101, high_open=True), True),
        ]:
            keep = sort_condition(template("{name}"), {"name": asked}).keep
            assert (keep is None or keep(SimpleNamespace(name="x" * 100))) == kept
        assert sort_condition(template("{name}"), {"name": Range(high="x" * 101, high_open=True)}).keep is None

    def test_what_the_key_cannot_tell_is_told_by_the_row(self) -> None:
        condition = sort_condition(template("{name}"), {"name": Range(high="b", high_open=True)})
        assert condition == SortCondition("<=", ("b",))
        assert condition.keep is not None
        assert [condition.keep(SimpleNamespace(name=name)) for name in ("a", "b")] == [True, False]

    def test_texts_that_were_cut_alike_are_told_apart_by_the_row(self) -> None:
        rows = [SimpleNamespace(title="x" * 50 + end, quantity=1) for end in ("a", "B", "c")]
        for asked, kept in [
            ("X" * 50 + "b", "B"),
            (Range("x" * 50 + "b"), "Bc"),
            (Range(high="x" * 50 + "B", high_open=True), "a"),
            (StartsWith("X" * 50 + "b"), "B"),
        ]:
            condition = sort_condition(template("{title:folded 40}#{quantity:06}"), {"title": asked})
            assert condition.keep is not None
            assert "".join(row.title[-1] for row in rows if condition.keep(row)) == kept
        both = sort_condition(template("{title:folded 40}#{quantity:06}"), {"title": "x" * 50 + "b", "quantity": 1})
        assert both.keep is not None
        assert [both.keep(row) for row in rows] == [False, True, False]

    def test_rows_of_another_template_that_begin_alike_are_told_by_their_values(self) -> None:
        condition = sort_condition(template("item#{nickname:folded}#{quantity:06}"), {"nickname": "Foo"}, alone=False)
        assert condition == SortCondition("begins_with", ("item#foo#",))
        assert condition.keep is not None
        assert condition.keep(SimpleNamespace(nickname="FOO"))
        assert not condition.keep(SimpleNamespace(nickname=None))

    def test_none_where_none_has_no_key_is_refused(self) -> None:
        with pytest.raises(InvalidValue, match="not in this index"):
            sort_condition(template("I#{item_id}#{name}"), {"item_id": None})
        with pytest.raises(InvalidValue, match="not in this index"):
            sort_condition(template("I#{item_id}"), {"item_id": None})

    @pytest.mark.parametrize(
        ("text", "given", "says"),
        [
            ("{name}#{token}", {"token": "x"}, "name comes before token; components are given from the left"),
            ("{name}#{token}", {"nmae": "x"}, "did you mean name?"),
            ("{at}#{token}", {"at": Range(NOON), "token": "x"}, "only the last given component can be a range"),
        ],
    )
    def test_components_are_given_from_the_left(self, text: str, given: dict[str, Any], says: str) -> None:
        with pytest.raises(DesignError) as caught:
            sort_condition(template(text), given)
        assert says in str(caught.value)

    @pytest.mark.parametrize("asked", [Range("x"), Range(high="x"), Range(1.5, 2.5), Range(True), Range(Decimal(1))])
    def test_a_bound_of_another_type_is_refused(self, asked: Any) -> None:
        with pytest.raises(InvalidValue, match="expected int"):
            sort_condition(template("{quantity:06}"), {"quantity": asked})


@pytest.mark.parametrize(
    ("text", "name", "kind", "says"),
    [
        ("{name}#{token}", "name", "range", "name is text followed by more in {name}#{token}"),
        ("{name}#{token}", "name", "range", "put it last, or in an index write {name:folded}"),
        ("{name}#", "name", "range", "followed by more"),
        ("Q#{quantity}", "quantity", "range", "give it a width, {quantity:05}"),
        ("C#{ranking}", "ranking", "range", "ranking does not sort by its value"),
        ("S#{state}", "state", "range", "query one value of it"),
        ("Q#{quantity:06}", "quantity", "prefix", "quantity is not text"),
        ("Q#{quantity:06}", "quantiy", "range", "did you mean quantity?"),
    ],
)
def test_a_range_that_could_not_be_right_is_refused(text: str, name: str, kind: Any, says: str) -> None:
    with pytest.raises(DesignError) as caught:
        check_range(template(text), name, kind, "Row.some")
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("{name}", "name", "range"),
        ("{name}#{token}", "name", "prefix"),
        ("{name:folded}#{token}", "name", "range"),
        ("{quantity:06}#{token}", "quantity", "range"),
        ("{balance:06}#{token}", "balance", "range"),
        ("S#{shard}#{token}", "shard", "range"),
        ("{at}#", "at", "range"),
    ],
)
def test_a_range_that_is_right_is_allowed(text: str, name: str, kind: Any) -> None:
    check_range(template(text), name, kind, "Row.some")


def test_a_beginning_can_be_written_by_hand() -> None:
    store = template("STORE#{store_id|UNASSIGNED}#STATUS#{status}")
    assert store.prefix_text(1) == "STORE#{store_id|UNASSIGNED}#STATUS#"
    assert store.written_prefix("STORE#{store_id|UNASSIGNED}", {"store_id": None}) == "STORE#UNASSIGNED"
    assert store.written_prefix("STO", {}) == "STO"
    assert store.written_prefix(store.text, {"store_id": STORE, "status": "pending"}) == f"STORE#{STORE}#STATUS#pending"
    with pytest.raises(DesignError, match="does not begin with"):
        store.written_prefix("STATUS#", {})


def test_what_comes_after_a_text_is_text_itself() -> None:
    assert successor("FAMILY#") == "FAMILY$"
    assert successor("a\ud7ff") == "a\ue000"
