import json
import re
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from msgspec import Meta, Struct, field

from potluck.table import (
    AnyOf,
    Counter,
    Entity,
    ExpiresAt,
    ItemCollection,
    KeyOnly,
    LeftOut,
    Limits,
    Milliseconds,
    OrNull,
    Range,
    Seconds,
    StartsWith,
    Table,
    Unique,
    Version,
    absent,
    get,
    query,
)
from potluck.table.design import markdown, with_section
from potluck.table.design.cloudformation import cloudformation, resource
from potluck.table.design.diagram import mermaid
from potluck.table.design.reach import Reach
from potluck.table.fields import Kind
from potluck.table.patterns import Pattern
from tests.engine_targets import BOTH
from tests.stores import NOW, recorded_store
from tests.table.documents import journal, library, polls, shareables, shopping

shop_table = Table(
    "corner-shop",
    "PK",
    "SK",
    indexes={"GSI1": ("GSI1PK", "GSI1SK"), "GSI2": ("GSI2PK", "GSI2SK")},
    ttl="ttl",
    type_attribute="entityType",
    accepted={"filter: Ware.by_seller": "a shop has few wares"},
)
till = Table("Till", "pk", numbers=("pk",))
cupboard = Table("Cupboard", "PK", "SK", type_attribute="type")


class Size(Struct, frozen=True, rename="camel"):
    how_wide: Annotated[int, Meta(ge=0)]
    unit: Literal["cm", "in"] = "cm"


class Shop(Entity, table=shop_table, type="Shop", key=("SHOP#{shop_id}", "SHOP")):
    """A place to buy things.

    There is more to it.
    """

    shop_id: UUID
    name: Annotated[str, Meta(min_length=1, max_length=100), Unique("NAME#{name:folded}", "SHOP")]
    visits: Counter = 0
    version: Version = 1

    @get(consistent=True)
    def one(shop_id: UUID) -> None:
        """Which shop is this?"""


class Ware(
    Entity,
    table=shop_table,
    type="Ware",
    key=("SHOP#{shop_id}", "WARE#{ware_id}"),
    GSI1=("SHOP#{shop_id}#WARES", ("{brand:folded}#{title:folded 100}", "~#{title:folded 100}")),
    GSI2=("SHOP#{shop_id}#LOW", "{left:05}#{seller|NOBODY}", lambda left, least: left <= least),
):
    """Something to buy."""

    shop_id: Annotated[UUID, KeyOnly]
    ware_id: UUID
    title: Annotated[str, Meta(min_length=1, max_length=200)]
    brand: Annotated[str, Meta(max_length=40)] | None = None
    seller: OrNull[Annotated[int, Meta(gt=0, le=100_000)]] = None
    left: Annotated[int, Meta(ge=0, lt=100_000)] = 0
    least: int = 0
    state: Literal["in", "out"] = "in"
    shelf: Literal[1, 2] = 1
    tags: frozenset[str] = frozenset()
    size: Size | None = None
    prices: Annotated[dict[str, Decimal], Meta(max_length=10)] = field(default_factory=dict)
    weight: Annotated[float, Meta(gt=0, lt=2.5)] | None = None
    picture: Annotated[bytes, Meta(max_length=9)] | None = None
    places: Annotated[list[dict[str, Any]], Meta(max_length=3)] = field(default_factory=list)
    seen: Seconds
    kind: Annotated[str, Meta(pattern="^a|b$")] = field(default="a", name="type of ware")
    ttl: OrNull[ExpiresAt] = None

    @query("GSI1", descending=True)
    def by_brand(shop_id: UUID, brand: str) -> None:
        """What is there of this brand?

        Last one first.
        """

    @query("GSI2")
    def low(shop_id: UUID, left: Range[int]) -> None:
        """What is running low?"""

    @query(filter=("seller", "state"))
    def by_seller(shop_id: UUID, seller: int | None, state: Literal["in", "out"]) -> None:
        """Who sells what?"""


class Sale(Entity, table=shop_table, type="SALE", key=("SHOP#{shop_id}", "SALE#{at}#{ware_id}")):
    """A ware that was sold."""

    shop_id: UUID
    ware_id: UUID
    at: Milliseconds

    @query()
    def of_shop(shop_id: UUID) -> None:
        """What was sold?"""


class Sold(AnyOf[Ware | Sale]):
    @query(consistent=True)
    def of_shop(shop_id: UUID) -> None:
        """What is and was there?"""


class WholeShop(ItemCollection):
    shop: Shop | None
    wares: list[Ware]

    @query()
    def of(shop_id: UUID) -> None:
        """Everything of a shop."""


class Jar(Entity, table=cupboard, type="Jar", key=("JAR#{jar_id}", "{place:8.2}")):
    """What jam is in."""

    jar_id: UUID
    label: Annotated[str, Meta(max_length=20), Unique("JARS", "LABEL#{label:caseless}")]
    place: Annotated[Decimal, Limits(ge=0, le=9_999)]
    closed: Annotated[bool, LeftOut] = True
    opened_by: Annotated[list[str], Meta(max_length=9), LeftOut] = field(default_factory=list)
    spoons: Annotated[Counter, LeftOut] = 0
    version: Annotated[Version, LeftOut] = 1


class Drawer(Entity, table=till, key="{number}"):
    """Where the money is."""

    number: Annotated[int, Meta(ge=0)]

    @get
    def one(number: int) -> None:
        """What is in it?"""


@pytest.fixture(scope="module")
def page() -> str:
    return markdown([shop_table])


def rows(page: str, heading: str) -> list[str]:
    """The rows of the first table under a heading."""
    under = page.split(f"{heading}\n\n")[1]
    return [line for line in under.split("\n\n")[0].splitlines() if line.startswith("|")]


def test_a_table_says_its_keys_indexes_and_what_becomes_of_rows(page):
    assert rows(page, "## The table `corner-shop`") == [
        "|  | partition key | sort key | longest keys |",
        "| --- | --- | --- | --- |",
        "| the table | `PK` | `SK` | 608 and 66 bytes |",
        "| `GSI1` | `GSI1PK` | `GSI1SK` | 47 and 344 bytes |",
        "| `GSI2` | `GSI2PK` | `GSI2SK` | 45 and 12 bytes |",
    ]
    assert "DynamoDB allows 2,048 bytes for a partition key and 1,024 for a sort key." in page
    assert "`entityType` holds the row's type." in page
    assert "at the second in its `ttl`" in page


def test_a_table_of_numbers_without_a_sort_key():
    page = markdown([till])
    assert rows(page, "## The table `Till`")[2:] == ["| the table | `pk` (number) |  | a number |"]
    assert rows(page, "### Access patterns")[2:] == [
        "| What is in it?<br>`Drawer.one(number)` | GetItem<br>`pk = {number}` | 1 call, 0.5 units |"
    ]


def test_entities_say_what_they_are(page):
    assert rows(page, "### Entities") == [
        "| entity | what it is | `entityType` |",
        "| --- | --- | --- |",
        "| [Shop](#attributes-of-shop) | A place to buy things. | `Shop` |",
        "| [Ware](#attributes-of-ware) | Something to buy. | `Ware` |",
        "| [Sale](#attributes-of-sale) | A ware that was sold. | `SALE` |",
    ]
    assert "\n### Attributes of Sale\n" in page


def test_types_that_are_the_entities_names_need_no_column():
    page = markdown([cupboard])
    assert rows(page, "### Entities") == [
        "| entity | what it is |",
        "| --- | --- |",
        "| [Jar](#attributes-of-jar) | What jam is in. |",
    ]
    assert "`type` holds the row's type, by the entity's name." in page
    assert "mermaid" not in page, "one entity needs no diagram"


def test_keys_are_written_with_the_names_that_rows_have_guards_included(page):
    assert rows(page, "### Keys") == [
        "| entity | `PK` | `SK` |",
        "| --- | --- | --- |",
        "| Shop | `SHOP#{shopId}` | `SHOP` |",
        "| guard of `Shop.name` | `NAME#{name:folded}` | `SHOP` |",
        "| Ware | `SHOP#{shopId}` | `WARE#{wareId}` |",
        "| Sale | `SHOP#{shopId}` | `SALE#{at}#{wareId}` |",
    ]


def test_index_keys_say_their_alternatives_and_which_rows_have_them(page):
    assert rows(page, "In `GSI1`:")[2:] == [
        "| Ware | `SHOP#{shopId}#WARES` | `{brand:folded}#{title:folded 100}`<br>else `~#{title:folded 100}` | all |"
    ]
    assert rows(page, "In `GSI2`:")[2:] == [
        "| Ware | `SHOP#{shopId}#LOW` | `{left:05}#{seller\\|NOBODY}` | while `left <= least` |"
    ]


def test_what_is_special_in_a_template_is_explained(page):
    for line in (
        "- A guard is a row that reserves a unique value",
        "- `{name:folded}`, `{brand:folded}` and `{title:folded 100}`: for search: lower case, ",
        "before `#`; a number is the most bytes it may have\n",
        "- `{left:05}`: padded with zeros to this many digits",
        "- `{seller|NOBODY}`: `NOBODY` in place of None",
    ):
        assert line in page
    for line in (
        "| guard of `Jar.label` | `JARS` | `LABEL#{label:caseless}` |",
        "- `{label:caseless}`: without differences of case, surrounding space and Unicode normalisation\n",
        "- `{place:8.2}`: padded with zeros to this many digits",
    ):
        assert line in markdown([cupboard])


def test_an_access_pattern_is_its_question_call_request_and_cost(page):
    patterns = rows(page, "### Access patterns")
    assert patterns == [
        "| question | request | a small answer costs |",
        "| --- | --- | --- |",
        "| Which shop is this?<br>`Shop.one(shop_id)` "
        '| GetItem, consistent<br>`PK = "SHOP#{shopId}"`<br>`and SK = "SHOP"` | 1 call, 1 unit |',
        "| What is there of this brand?<br>`Ware.by_brand(shop_id, brand)` "
        '| Query `GSI1`, descending<br>`GSI1PK = "SHOP#{shopId}#WARES"`<br>`and begins_with(GSI1SK, "{brand}#")` '
        "| 1 call, 0.5 units |",
        "| What is running low?<br>`Ware.low(shop_id, left: Range)` "
        '| Query `GSI2`<br>`GSI2PK = "SHOP#{shopId}#LOW"`<br>`and GSI2SK between "{left from}" and "{left to}"` '
        "| 1 call, 0.5 units |",
        "| Who sells what?<br>`Ware.by_seller(shop_id, seller, state)` "
        '| Query<br>`PK = "SHOP#{shopId}"`<br>`and begins_with(SK, "WARE#")`<br>'
        "filter `seller = {seller} and state = {state}` "
        "| 1 call, 0.5 units, with what the filter leaves out |",
        "| What was sold?<br>`Sale.of_shop(shop_id)` "
        '| Query<br>`PK = "SHOP#{shopId}"`<br>`and begins_with(SK, "SALE#")` | 1 call, 0.5 units |',
        "| What is and was there?<br>`Sold.of_shop(shop_id)` "
        '| Query, consistent<br>`PK = "SHOP#{shopId}"`<br>`and SK between "SALE#" and "WARE$"` | 1 call, 1 unit |',
        "| Everything of a shop.<br>`WholeShop.of(shop_id)` "
        '| Query<br>`PK = "SHOP#{shopId}"`<br>`and SK between "SHOP" and "WARE$"` | 1 call, 0.5 units |',
    ]
    assert "- `Sold` is a Ware or Sale." in page
    assert "- `WholeShop` has `shop` (one Shop or none) and `wares` (every Ware)." in page
    assert "0.5 read units, twice that if it is consistent. Each further 4 KB cost as much again" in page


@pytest.mark.parametrize("engine", BOTH)
async def test_the_cost_shown_is_the_cost_of_a_small_answer(engine, page, tmp_path):
    shown = dict(re.findall(r"<br>`([\w.]+)\(.*?\| (1 call, [\d.]+ units?)", page))
    shop_id = UUID(int=1)
    async with recorded_store(engine, tmp_path, shop_table) as (store, recording):
        await store.put(Shop(shop_id=shop_id, name="Corner"), when=absent)
        await store.put(Ware(shop_id=shop_id, ware_id=UUID(int=2), title="Soap", brand="Ours", seen=NOW))
        await store.put(Sale(shop_id=shop_id, ware_id=UUID(int=2), at=NOW))
        recording.totals.clear()
        await store.get(Shop.one(shop_id))
        for asked in (
            Ware.by_brand(shop_id, "Ours"),
            Ware.low(shop_id, Range(0, 9)),
            Ware.by_seller(shop_id, None, "in"),
            Sale.of_shop(shop_id),
            Sold.of_shop(shop_id),
        ):
            assert await store.all(asked)
        await store.gather(WholeShop.of(shop_id))
    costs = {
        pattern: f"{total.calls} call, {total.read_units:g} unit{'' if total.read_units == 1 else 's'}"
        for (pattern, _), total in recording.totals.items()
    }
    assert costs == shown


def test_attributes_say_their_type_bounds_and_how_they_are_stored(page):
    assert rows(page, "### Attributes of Ware") == [
        "| attribute | holds | notes |",
        "| --- | --- | --- |",
        "| `shopId` | UUID | in the key only; required |",
        "| `wareId` | UUID | required |",
        "| `title` | text, 1 to 200 characters | required |",
        "| `brand` | text, at most 40 characters | left out when None |",
        "| `seller` | whole number, 1 to 100,000 | None is stored as NULL |",
        "| `left` | whole number, 0 to 99,999 | default `0` |",
        "| `least` | whole number | default `0` |",
        "| `state` | `in` or `out` | default `in` |",
        "| `shelf` | whole number `1` or `2` | default `1` |",
        "| `tags` | set of texts | left out when empty |",
        "| `size` | record | left out when None |",
        "| `size.howWide` | whole number, at least 0 | required |",
        "| `size.unit` | `cm` or `in` | default `cm` |",
        "| `prices` | map of text to decimal number, at most 10 entries | default empty |",
        "| `weight` | number, more than 0, less than 2.5 | left out when None |",
        "| `picture` | at most 9 bytes | left out when None |",
        "| `places` | list of maps of text to anything, at most 3 elements | default empty |",
        "| `seen` | time to the second | required |",
        "| `type of ware` | text, like `^a\\|b$` | default `a`; `kind` in code |",
        "| `ttl` | whole number | expiry, in seconds since 1970; None is stored as NULL |",
        "| `entityType` | `Ware` | the row's type |",
    ]
    assert "| `visits` | whole number | counter, added to without being read; default `0` |" in page
    assert "| `version` | whole number | version, checked and raised by every update |" in page
    assert "| `name` | text, 1 to 100 characters | unique; required |" in page


def test_attributes_say_which_default_is_left_out():
    page = markdown([cupboard])
    assert rows(page, "### Attributes of Jar")[5:] == [
        "| `closed` | true or false | left out when true, its default |",
        "| `openedBy` | list of texts, at most 9 elements | left out when empty, its default |",
        "| `spoons` | whole number | counter, added to without being read; left out when `0`, its default |",
        "| `version` | whole number | version, checked and raised by every update; left out when `1`, its default |",
        "| `type` | `Jar` | the row's type |",
    ]


def test_what_the_author_weighed_is_in_the_page(page):
    weighed = page.split("### Accepted findings\n\n")[1]
    assert "\n\n- `filter: Ware.by_seller`: a shop has few wares\n\n" in weighed


def test_the_page_holds_the_diagram(page):
    assert f"```mermaid\n{mermaid([shop_table], only_keys=True)}```" in page


# --- the diagram -----------------------------------------------------------------------------------------------------

# What mermaid's own grammar takes (its parser was held against these diagrams by hand).
ENTITY = r'"[\w -]+"'
DIAGRAM_LINES = [
    r"erDiagram",
    rf'    {ENTITY} (?:\|\||\|o)(?:--|\.\.)(?:o\||o\{{) {ENTITY} : "[\w ]+"',
    rf"    {ENTITY} \{{",
    r'        [A-Za-z]+(?:\[\])* (?!(?:pk|fk|uk)\b)[A-Za-z_][\w-]*(?: (?:PK|FK|UK)(?:, (?:PK|FK|UK))*)?(?: "[^"]*")?',
    r"    \}",
]
DOCUMENTS = [
    shareables.short_id_pool,
    shareables.shareables,
    shopping.inventory,
    journal.roll_model,
    polls.ranked_choice_polls,
    library.media_library,
]


@pytest.mark.parametrize("table", [shop_table, till, *DOCUMENTS], ids=repr)
def test_the_diagram_is_mermaid(table):
    drawn = mermaid([table])
    for line in drawn.splitlines():
        assert any(re.fullmatch(shape, line) for shape in DIAGRAM_LINES), line


def test_the_diagram_shows_who_belongs_to_whom_and_which_attributes_are_keys():
    lines = mermaid([shop_table]).splitlines()
    assert '    "Shop" ||--o{ "Ware" : "contains"' in lines
    assert '    "Ware" ||..o{ "Sale" : "wareId"' in lines
    assert '        UUID shopId PK, FK "PK, GSI1PK, GSI2PK"' in lines
    assert "        text name UK" in lines
    assert "        text type_of_ware" in lines


def test_the_diagram_may_show_only_the_keys():
    drawn = mermaid([shop_table], only_keys=True)
    assert "        text name UK\n" in drawn
    assert '        text brand "GSI1SK"\n' in drawn
    assert "visits" not in drawn
    assert "visits" in mermaid([shop_table])


def test_entities_of_one_name_in_two_tables_are_two():
    drawn = mermaid([polls.ranked_choice_polls, shareables.shareables])
    assert '    "ranked-choice-polls Poll" {' in drawn
    assert '    "Shareables Poll" {' in drawn
    assert '    "Vote" {' in drawn


def test_a_name_that_is_a_word_of_the_diagram_is_told_from_it():
    table = Table("Odd", "PK", "SK")

    class Class(Entity, table=table, key=("CLASS#{uk}", "CLASS")):
        uk: UUID

    assert mermaid([table]) == 'erDiagram\n    "Class" {\n        UUID _uk PK "PK"\n    }\n'


# --- cloudformation --------------------------------------------------------------------------------------------------


quiet = Table("Quiet", "PK", stream=False)


@pytest.mark.parametrize("table", [shop_table, till, quiet, *DOCUMENTS], ids=repr)
def test_the_template_asks_for_the_table_that_creation_asks_for(table):
    properties = resource(table)["Properties"]
    create, *ttl = table.creation()
    wanted = create.body
    assert properties["TableName"] == {"Fn::Sub": "${TablePrefix}" + wanted["TableName"]}
    for name in ("BillingMode", "AttributeDefinitions", "KeySchema"):
        assert properties[name] == wanted[name]
    assert properties.get("GlobalSecondaryIndexes") == wanted.get("GlobalSecondaryIndexes")
    asked_stream = [wanted["StreamSpecification"]] if "StreamSpecification" in wanted else []
    stream = [properties["StreamSpecification"]] if "StreamSpecification" in properties else []
    assert [{"StreamEnabled": True, **each} for each in stream] == asked_stream
    asked = [request.body["TimeToLiveSpecification"] for request in ttl]
    assert [properties["TimeToLiveSpecification"]] == asked if asked else "TimeToLiveSpecification" not in properties
    left = {
        *("TableName", "StreamSpecification", "TimeToLiveSpecification"),
        *("PointInTimeRecoverySpecification", "SSESpecification", "DeletionProtectionEnabled"),
    }
    assert set(properties) - left == set(wanted) - left


def test_the_template_keeps_tables_and_can_bring_them_back():
    template = json.loads(cloudformation([shop_table, till]))
    assert list(template["Resources"]) == ["CornerShop", "Till"]
    for each in template["Resources"].values():
        assert each["Type"] == "AWS::DynamoDB::Table"
        assert each["DeletionPolicy"] == each["UpdateReplacePolicy"] == "Retain"
        assert each["Properties"]["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
        assert each["Properties"]["SSESpecification"] == {"SSEEnabled": True}
        assert each["Properties"]["DeletionProtectionEnabled"] is True


def test_a_table_without_a_stream_has_no_stream_in_the_template():
    template = json.loads(cloudformation([shop_table, quiet]))
    assert list(template["Outputs"]) == ["CornerShopArn", "CornerShopStreamArn", "QuietArn"]
    assert "Billed on demand; it has no stream." in markdown([quiet])


def test_tables_whose_names_differ_in_signs_only_are_two_resources():
    template = json.loads(cloudformation([Table("a-b", "PK"), Table("a.b", "PK"), Table("a_b", "PK")]))
    names = [each["Properties"]["TableName"]["Fn::Sub"] for each in template["Resources"].values()]
    assert names == ["${TablePrefix}a-b", "${TablePrefix}a.b", "${TablePrefix}a_b"]
    assert all(re.fullmatch("[A-Za-z0-9]+", name) for name in template["Resources"])


# --- the section of a README -----------------------------------------------------------------------------------------


def test_a_section_replaces_what_is_between_the_markers_and_nothing_else():
    document = "# Shop\n\n<!-- design -->\nold\n<!-- /design -->\n\nMore.\n"
    assert with_section(document, "new\n") == "# Shop\n\n<!-- design -->\nnew\n<!-- /design -->\n\nMore.\n"


@pytest.mark.parametrize("document", ["", "<!-- design -->", "<!-- /design --> <!-- design -->"])
def test_a_document_without_markers_is_refused(document):
    with pytest.raises(ValueError, match="<!-- design -->"):
        with_section(document, "new\n")


# --- what is shown is what is asked ----------------------------------------------------------------------------------

EXAMPLES = {
    Kind.UUID: UUID(int=7),
    Kind.TIME: datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC),
    Kind.DATE: date(2024, 5, 6),
    Kind.INTEGER: 5,
    Kind.DECIMAL: Decimal(5),
    Kind.BOOLEAN: True,
}
PLAIN = [
    pattern
    for table in (shop_table, till, *DOCUMENTS)
    for pattern in table.patterns
    if all(each.kind == "value" for each in pattern.parameters)
]


@pytest.mark.parametrize("pattern", PLAIN, ids=lambda pattern: pattern.name)
def test_the_condition_shown_is_the_condition_asked(pattern: Pattern):
    plan = pattern.members[0]
    key = pattern.key_plan(plan)
    values = {}
    for name in (each.name for each in pattern.parameters):
        plan_of_field = plan.fields[name]
        text = "A" * (plan_of_field.min_length or 13)
        values[name] = plan_of_field.choices[0] if plan_of_field.choices else EXAMPLES.get(plan_of_field.kind, text)
    shown = Reach.of(pattern).condition
    for template in (key.partition, *key.sort):
        for component in template.components:
            if component.field in values:
                shown = shown.replace(f"{{{component.field}}}", component.encode(values[component.field]))

    quote = "" if key.partition_is_number else '"'
    asked = f"{key.partition_attribute} = {quote}{pattern.partition_of(values)}{quote}"
    sort = pattern.sort_condition(values)
    texts = [f'"{text}"' for text in sort.values]
    if sort.operator == "begins_with":
        asked += f" and begins_with({key.sort_attribute}, {texts[0]})"
    elif sort.operator == "BETWEEN":
        asked += f" and {key.sort_attribute} between {texts[0]} and {texts[1]}"
    elif sort.operator != "none":
        asked += f" and {key.sort_attribute} = {texts[0]}"
    assert shown == asked


def test_a_range_is_shown_with_both_its_ends_and_a_beginning_as_one():
    table = Table("Names", "PK", "SK")

    class Person(Entity, table=table, key=("CLUB#{club_id}", "NAME#{name}")):
        club_id: UUID
        name: Annotated[str, Meta(max_length=50)]

        @query()
        def called(club_id: UUID, name: StartsWith) -> None:
            """Whose name begins so?"""

        @query()
        def between(club_id: UUID, name: Range[str]) -> None:
            """Whose name is between these?"""

    called, between = table.patterns
    assert Reach.of(called).condition == 'PK = "CLUB#{club_id}" and begins_with(SK, "NAME#{name}")'
    assert Reach.of(between).condition == 'PK = "CLUB#{club_id}" and SK between "NAME#{name from}" and "NAME#{name to}"'
