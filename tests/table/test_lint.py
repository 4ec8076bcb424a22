"""Each finding on a small design that has the flaw, and silence on its corrected twin."""

from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from msgspec import Meta, Struct

from potluck.table import (
    AnyOf,
    Counter,
    Entity,
    InKeys,
    ItemCollection,
    Milliseconds,
    OrNull,
    Range,
    Seconds,
    Table,
    Unique,
    get,
    query,
)
from potluck.table.lint import lint

Name = Annotated[str, Meta(min_length=1, max_length=50)]


def table(*indexes: str, **options: Any) -> Table:
    pairs = {index: (f"{index}PK", f"{index}SK") for index in indexes}
    return Table("Shop", "PK", "SK", indexes=pairs, type_attribute="type", **options)


def labels(of: Table, name: str) -> list[str]:
    return [finding.subject for finding in lint(of) if finding.name == name]


# --- overlap ---------------------------------------------------------------------------------------------------------


def test_a_list_that_also_reads_what_is_under_its_rows():
    shop = table()

    class Shelf(Entity, table=shop, type="Shelf", key=("SHOP#{shop_id}", "shelf#{shelf_id}")):
        shop_id: UUID
        shelf_id: UUID

        @query()
        def of_shop(shop_id: UUID) -> None:
            """Which shelves are there?"""

    class Box(Entity, table=shop, type="Box", key=("SHOP#{shop_id}", "shelf#{shelf_id}#box#{box_id}")):
        shop_id: UUID
        shelf_id: UUID
        box_id: UUID

        @query()
        def on_shelf(shop_id: UUID, shelf_id: UUID) -> None:
            """What is on this shelf?"""

    assert labels(shop, "overlap") == ["Shelf.of_shop reads Box"]


def test_what_begins_with_another_word_does_not_overlap():
    shop = table()

    class Shopping(Entity, table=shop, type="Shopping", key=("SHOP#{shop_id}", "SHOPPING#{item_id}")):
        shop_id: UUID
        item_id: UUID

        @query()
        def of_shop(shop_id: UUID) -> None:
            """What is to be bought?"""

    class Store(Entity, table=shop, type="Store", key=("SHOP#{shop_id}", "STORE#{store_id}")):
        shop_id: UUID
        store_id: UUID

        @query()
        def of_shop(shop_id: UUID) -> None:
            """Where?"""

    class Visit(Entity, table=shop, type="Visit", key=("SHOP#{shop_id}#VISITS", "STORE#{store_id}#{visit_id}")):
        shop_id: UUID
        store_id: UUID
        visit_id: UUID

        @query()
        def of_shop(shop_id: UUID) -> None:
            """Who came? In another partition, so the same word does no harm."""

    assert labels(shop, "overlap") == []


def test_an_id_is_no_word_but_a_text_may_be_any():
    shop = table()

    class ById(Entity, table=shop, type="ById", key=("SHOP#{shop_id}", "{item_id}#BY-ID")):
        shop_id: UUID
        item_id: UUID

    class ByName(Entity, table=shop, type="ByName", key=("SHOP#{shop_id}", "{name}#BY-NAME")):
        shop_id: UUID
        name: Name

    class Sale(Entity, table=shop, type="Sale", key=("SHOP#{shop_id}", "SALE#{sale_id}")):
        shop_id: UUID
        sale_id: UUID

        @query()
        def of_shop(shop_id: UUID) -> None:
            """What was sold?"""

    assert labels(shop, "overlap") == ["Sale.of_shop reads ByName"]


def test_choices_and_substitutes_are_words():
    shop = table("GSI1")

    class Order(
        Entity,
        table=shop,
        type="Order",
        key=("SHOP#{shop_id}", "ORDER#{order_id}"),
        GSI1=("SHOP#{shop_id}", "{state}#{order_id}"),
    ):
        shop_id: UUID
        order_id: UUID
        state: Literal["open", "closed"]

        @query("GSI1")
        def with_state(shop_id: UUID, state: Literal["open", "closed"]) -> None:
            """Which orders are there?"""

    class Offer(
        Entity,
        table=shop,
        type="Offer",
        key=("SHOP#{shop_id}", "OFFER#{offer_id}"),
        GSI1=("SHOP#{shop_id}", "{until|open}#{offer_id}"),
    ):
        shop_id: UUID
        offer_id: UUID
        until: OrNull[Seconds]

    class Leave(
        Entity,
        table=shop,
        type="Leave",
        key=("SHOP#{shop_id}", "LEAVE#{leave_id}"),
        GSI1=("SHOP#{shop_id}", "{until|none}#{leave_id}"),
    ):
        shop_id: UUID
        leave_id: UUID
        until: OrNull[Seconds]

    assert labels(shop, "overlap") == ["Order.with_state reads Offer"]


def test_members_of_one_answer_do_not_overlap_but_what_lies_between_them_does():
    shop = table()

    class Shelf(Entity, table=shop, type="Shelf", key=("SHOP#{shop_id}", "A#{shelf_id}")):
        shop_id: UUID
        shelf_id: UUID

    class Box(Entity, table=shop, type="Box", key=("SHOP#{shop_id}", "C#{box_id}")):
        shop_id: UUID
        box_id: UUID

    class Between(Entity, table=shop, type="Between", key=("SHOP#{shop_id}", "B#{between_id}")):
        shop_id: UUID
        between_id: UUID

    class After(Entity, table=shop, type="After", key=("SHOP#{shop_id}", "D#{after_id}")):
        shop_id: UUID
        after_id: UUID

    class Both(ItemCollection):
        shelves: list[Shelf]
        boxes: list[Box]

        @query()
        def of(shop_id: UUID) -> None:
            """What is there?"""

    assert labels(shop, "overlap") == ["Both.of reads Between"]


def test_guards_of_unique_values_are_rows_too():
    shop = table()

    class Shelf(Entity, table=shop, type="Shelf", key=("SHOP#{shop_id}", "SHELF#ID#{shelf_id}")):
        shop_id: UUID
        shelf_id: UUID
        name: Annotated[Name, Unique("SHOP#{shop_id}", "SHELF#NAME#{name:folded}")]

    class Everything(AnyOf[Shelf]):
        @query(prefix="SHELF#")
        def of_shop(shop_id: UUID) -> None:
            """What is there?"""

        @query()
        def shelves(shop_id: UUID) -> None:
            """Which shelves?"""

    assert labels(shop, "overlap") == ["Everything.of_shop reads the guard of Shelf.name"]


def grouped(alone: str) -> Table:
    """Things by their group, and things that have none."""
    shop = table("GSI1")

    class Thing(
        Entity,
        table=shop,
        type="Thing",
        key=("SHOP#{shop_id}", "THING#{thing_id}"),
        GSI1=("SHOP#{shop_id}", ("IN#{group:folded}#{place:05}", alone)),
    ):
        shop_id: UUID
        thing_id: UUID
        title: Name
        group: OrNull[Name] = None
        place: OrNull[Annotated[int, Meta(ge=0, le=99_999)]] = None

        @query("GSI1")
        def of_shop(shop_id: UUID) -> None:
            """What is there?"""

        @query("GSI1")
        def in_group(shop_id: UUID, group: str) -> None:
            """What is in this group?"""

        @query("GSI1")
        def some_of_group(shop_id: UUID, group: str, place: Range[int]) -> None:
            """What is in this part of the group? A range may end before what is alone."""

    return shop


def test_one_alternative_of_a_key_that_lies_in_the_range_of_another():
    assert labels(grouped("IN#{title:folded}#~"), "overlap") == ["Thing.in_group reads IN#{title:folded}#~"]
    assert labels(grouped("ALONE#{title:folded}#~"), "overlap") == []


# --- open-prefix -----------------------------------------------------------------------------------------------------


def test_a_prefix_that_ends_inside_a_value():
    shop = table()

    class Word(Entity, table=shop, type="Word", key=("SHOP#{shop_id}", "WORD#{word}#AT#{place:05}")):
        shop_id: UUID
        word: Name
        place: Annotated[int, Meta(ge=0, le=99_999)]

        @query(prefix="WORD#{word}")
        def open_ended(shop_id: UUID, word: str) -> None:
            """Where is this word?"""

        @query(prefix="WORD#{word}#")
        def to_the_separator(shop_id: UUID, word: str) -> None:
            """Where is this word?"""

        @query()
        def made_of_arguments(shop_id: UUID, word: str) -> None:
            """Where is this word?"""

    (found,) = [finding for finding in lint(shop) if finding.name == "open-prefix"]
    assert found.subject == "Word.open_ended"
    assert found.severity == "error"
    assert "armbar" in found.why
    assert "prefix='WORD#{word}#'" in found.instead


def test_a_prefix_that_ends_inside_a_word():
    shop = table()

    class Store(Entity, table=shop, type="Store", key=("SHOP#{shop_id}", "STORE#{store_id}")):
        shop_id: UUID
        store_id: UUID

        @query(prefix="STO")
        def of_shop(shop_id: UUID) -> None:
            """Which stores are there?"""

    (found,) = [finding for finding in lint(shop) if finding.name == "open-prefix"]
    assert "prefix='STORE#'" in found.instead


def test_a_prefix_may_end_with_an_id_where_a_key_ends():
    shop = table()

    class Shelf(Entity, table=shop, type="Shelf", key=("SHOP#{shop_id}", "shelf#{shelf_id}")):
        shop_id: UUID
        shelf_id: UUID

    class Box(Entity, table=shop, type="Box", key=("SHOP#{shop_id}", "shelf#{shelf_id}#box#{box_id}")):
        shop_id: UUID
        shelf_id: UUID
        box_id: UUID

    class Row(AnyOf[Shelf | Box]):
        @query(prefix="shelf#{shelf_id}")
        def of_shelf(shop_id: UUID, shelf_id: UUID) -> None:
            """A shelf and what is on it: ids have one length, and a separator would lose the shelf."""

    assert labels(shop, "open-prefix") == []


# --- filter ----------------------------------------------------------------------------------------------------------


def test_a_filter_and_the_index_that_needs_none():
    shop = table("GSI1")

    class Order(
        Entity,
        table=shop,
        type="Order",
        key=("SHOP#{shop_id}", "ORDER#{order_id}"),
        GSI1=("SHOP#{shop_id}#ORDERS", "STATE#{state}#{order_id}"),
    ):
        shop_id: UUID
        order_id: UUID
        state: Literal["open", "closed"]

        @query(filter=("state",))
        def filtered(shop_id: UUID, state: Literal["open", "closed"]) -> None:
            """Which are open?"""

        @query("GSI1")
        def indexed(shop_id: UUID, state: Literal["open", "closed"]) -> None:
            """Which are open?"""

    assert labels(shop, "filter") == ["Order.filtered"]


# --- keys ------------------------------------------------------------------------------------------------------------


def test_two_entities_of_one_key_that_nothing_tells_apart():
    untyped = Table("Untyped", "PK", "SK")

    class Apple(Entity, table=untyped, key=("FRUIT#{fruit_id}", "FRUIT")):
        fruit_id: UUID

    class Pear(Entity, table=untyped, key=("FRUIT#{fruit_id}", "FRUIT")):
        fruit_id: UUID

    class Plum(Entity, table=untyped, key=("FRUIT#{fruit_id}", "PLUM")):
        fruit_id: UUID

    assert labels(untyped, "shared-key") == ["Apple and Pear"]

    typed = table()

    class TypedApple(Entity, table=typed, type="Apple", key=("FRUIT#{fruit_id}", "FRUIT")):
        fruit_id: UUID

    class TypedPear(Entity, table=typed, type="Pear", key=("FRUIT#{fruit_id}", "FRUIT")):
        fruit_id: UUID

    assert labels(typed, "shared-key") == []


def test_two_entities_of_one_key_made_of_different_fields():
    shop = table()

    class ByName(Entity, table=shop, type="ByName", key=("SHOP#{name}", "SHOP")):
        name: Name

    class ByOwner(Entity, table=shop, type="ByOwner", key=("SHOP#{owner}", "SHOP")):
        owner: Name

    assert labels(shop, "shared-key") == ["ByName and ByOwner"]


def test_rows_that_only_their_time_tells_apart():
    shop = table()

    class Event(Entity, table=shop, type="Event", key=("SHOP#{shop_id}", "EVENT#{at}")):
        shop_id: UUID
        at: Milliseconds

    class Numbered(Entity, table=shop, type="Numbered", key=("SHOP#{shop_id}", "NUMBERED#{at}#{event_id}")):
        shop_id: UUID
        at: Milliseconds
        event_id: UUID

    assert labels(shop, "time-as-identity") == ["Event"]


def test_a_number_without_leading_zeros():
    shop = table()
    numbered = Table("Numbered", "PK", "SK", numbers=("SK",))
    Place = Annotated[int, Meta(ge=0, le=5000)]

    class Part(Entity, table=shop, type="Part", key=("SHOP#{shop_id}", "PART#{place}")):
        shop_id: UUID
        place: Place

    class Padded(Entity, table=shop, type="Padded", key=("SHOP#{shop_id}", "PADDED#{place:04}")):
        shop_id: UUID
        place: Place

    class OfOneLength(Entity, table=shop, type="OfOneLength", key=("SHOP#{shop_id}", "YEAR#{year}")):
        shop_id: UUID
        year: Annotated[int, Meta(ge=1800, le=2100)]

    class AsNumber(Entity, table=numbered, key=("SHOP#{shop_id}", "{place}")):
        shop_id: UUID
        place: Place

    (found,) = [finding for finding in lint(shop) + lint(numbered) if finding.name == "unpadded-number"]
    assert found.subject == "Part.place in SK"
    assert "{place:04}" in found.instead


def shelves(name: str, in_group: str, alone: str) -> Table:
    """Groups, things in them and things by themselves, in one list."""
    shop = table("GSI1")

    class Group(
        Entity,
        table=shop,
        type="Group",
        key=("SHOP#{shop_id}", "GROUP#{group_id}"),
        GSI1=("SHOP#{shop_id}", name),
    ):
        shop_id: UUID
        group_id: UUID
        name: Name

    class Thing(
        Entity,
        table=shop,
        type="Thing",
        key=("SHOP#{shop_id}", "THING#{thing_id}"),
        GSI1=("SHOP#{shop_id}", (in_group, alone)),
    ):
        shop_id: UUID
        thing_id: UUID
        title: Name
        group: OrNull[Name] = None

    class Shelf(AnyOf[Group | Thing]):
        @query("GSI1")
        def of_shop(shop_id: UUID) -> None:
            """Everything by name, groups before what is in them."""

    return shop


def test_a_space_that_sorts_before_the_separator():
    plain = shelves("{name}", "{group}#{title}", "{title}")
    folded = shelves("IT#{name:folded}", "IT#{group:folded}#{title:folded}", "IT#{title:folded}#~")
    assert labels(plain, "split-group") == ["Group in GSI1SK", "Thing in GSI1SK"]
    assert labels(folded, "split-group") == []


def test_an_index_that_sorts_by_code_points():
    plain = shelves("{name}", "{group}#{title}", "{title}")
    folded = shelves("IT#{name:folded}", "IT#{group:folded}#{title:folded}", "IT#{title:folded}#~")
    assert labels(plain, "code-point-order") == [
        "Group.name in GSI1SK",
        "Thing.group in GSI1SK",
        "Thing.title in GSI1SK",
    ]
    assert labels(folded, "code-point-order") == []


def test_text_without_case_still_has_spaces_and_accents():
    caseless = shelves("IT#{name:caseless}", "IT#{group:caseless}#{title:caseless}", "IT#{title:caseless}")
    assert labels(caseless, "split-group") == ["Group in GSI1SK", "Thing in GSI1SK"]
    whys = {finding.why for finding in lint(caseless) if finding.name == "code-point-order"}
    assert whys == {"É comes after z"}


def test_text_that_must_match_a_pattern_sorts_as_it_is():
    shop = table("GSI1")
    Code = Annotated[str, Meta(pattern="^[a-z]{4}$", min_length=4, max_length=4)]

    class Ware(
        Entity, table=shop, type="Ware", key=("SHOP#{shop_id}", "WARE#{code}"), GSI1=("SHOP#{shop_id}", "{code}")
    ):
        shop_id: UUID
        code: Code

        @query("GSI1")
        def by_code(shop_id: UUID) -> None:
            """Which wares are there?"""

    assert labels(shop, "code-point-order") == []


def test_a_sort_key_that_no_row_gets():
    wrong = shelves("IT#{name:folded}", "IT#{title:folded}#~", "IT#{group:folded}#{title:folded}")
    right = shelves("IT#{name:folded}", "IT#{group:folded}#{title:folded}", "IT#{title:folded}#~")
    assert labels(wrong, "never-written") == ["Thing in GSI1"]
    assert labels(right, "never-written") == []


# --- crowding and growth ---------------------------------------------------------------------------------------------


def test_partitions_that_are_one_or_few_or_one_at_a_time():
    shop = table("GSI1")

    class Everyone(
        Entity,
        table=shop,
        type="Everyone",
        key=("USER#{user_id}", "USER"),
        GSI1=("USERS", "{user_id}"),
    ):
        user_id: UUID
        name: Annotated[Name, Unique("NAMES", "NAME#{name:folded}")]

    class ByState(Entity, table=shop, type="ByState", key=("STATE#{state}#{weekend}", "{order_id}")):
        state: Literal["open", "closed"]
        weekend: bool
        order_id: UUID

    class Today(Entity, table=shop, type="Today", key=("AT#{state}#{at}", "{order_id}")):
        state: Literal["open", "closed"]
        at: Seconds
        order_id: UUID

    class Spread(Entity, table=shop, type="Spread", key=("SPREAD#{shard:03}", "{order_id}")):
        shard: Annotated[int, Meta(ge=0, lt=1000)]
        order_id: UUID

    class OfShop(Entity, table=shop, type="OfShop", key=("SHOP#{shop_id}#{at}", "{order_id}")):
        shop_id: UUID
        at: Seconds
        order_id: UUID

    assert labels(shop, "constant-partition") == ["Everyone in GSI1", "guard of Everyone.name"]
    assert labels(shop, "few-partitions") == ["ByState"]
    assert labels(shop, "partition-of-the-moment") == ["Today"]


def test_a_counter_on_a_row_that_many_belong_to():
    shop = table()

    class Poll(Entity, table=shop, type="Poll", key=("POLL#{poll_id}", "POLL")):
        poll_id: UUID
        votes: Counter = 0

    class Shard(Entity, table=shop, type="Shard", key=("POLL#{poll_id}", "SHARD#{shard:1}")):
        poll_id: UUID
        shard: Annotated[int, Meta(ge=0, le=9)]
        votes: Counter = 0

    class Vote(Entity, table=shop, type="Vote", key=("POLL#{poll_id}", "VOTE#{vote_id}")):
        poll_id: UUID
        vote_id: UUID

    (found,) = [finding for finding in lint(shop) if finding.name == "shared-row"]
    assert found.subject == "Poll.votes"
    # It may count something else than what belongs to its row.
    assert found.what == "it is on one row, and many Shard and Vote rows belong to that row"
    assert found.why.startswith("if each of them adds to it")


def test_a_row_that_may_grow_past_what_a_row_holds():
    shop = table()

    class Endless(Entity, table=shop, type="Endless", key=("SHOP#{shop_id}", "ENDLESS")):
        shop_id: UUID
        visitors: list[Name]

    class TooLong(Entity, table=shop, type="TooLong", key=("SHOP#{shop_id}", "LONG")):
        shop_id: UUID
        lines: Annotated[list[Annotated[str, Meta(max_length=1000)]], Meta(max_length=200)]

    class Bounded(Entity, table=shop, type="Bounded", key=("SHOP#{shop_id}", "BOUNDED")):
        shop_id: UUID
        lines: Annotated[list[Annotated[str, Meta(max_length=1000)]], Meta(max_length=50)]
        counts: Annotated[dict[Name, int], Meta(max_length=10)]

    class Part(Struct, frozen=True):
        words: Annotated[dict[str, Name], Meta(max_length=10)]

    class EndlessInside(Entity, table=shop, type="EndlessInside", key=("SHOP#{shop_id}", "INSIDE")):
        shop_id: UUID
        part: Part
        lines: Annotated[list[str], Meta(max_length=10)]

    assert labels(shop, "unbounded-row") == ["Endless", "TooLong", "EndlessInside"]
    said = [finding.what for finding in lint(shop) if finding.name == "unbounded-row"]
    assert said[0] == "visitors can be of any length"
    assert said[1] == "its bounds allow 781 KB, most of it in lines"
    assert said[2] == "part.words key and lines[] can be of any length"


# --- what is there for nothing ---------------------------------------------------------------------------------------


def test_an_index_that_nothing_reads():
    shop = table("GSI1", "GSI2")

    class Read(
        Entity, table=shop, type="Read", key=("SHOP#{shop_id}", "READ#{read_id}"), GSI1=("READ#{read_id}", "READ")
    ):
        shop_id: UUID
        read_id: UUID

        @query("GSI1")
        def by_id(read_id: UUID) -> None:
            """Where is it?"""

    class Unread(
        Entity, table=shop, type="Unread", key=("SHOP#{shop_id}", "U#{unread_id}"), GSI1=("U#{unread_id}", "U")
    ):
        shop_id: UUID
        unread_id: UUID

        @get
        def one(shop_id: UUID, unread_id: UUID) -> None:
            """What is it?"""

    class Lost(Entity, table=shop, type="Lost", key=("SHOP#{shop_id}", "LOST#{lost_id}")):
        shop_id: UUID
        lost_id: UUID

    assert labels(shop, "unread-index") == ["Unread in GSI1", "GSI2"]
    assert labels(shop, "never-read") == ["Lost"]


# --- findings --------------------------------------------------------------------------------------------------------


def constant(accepted: dict[str, str]) -> Table:
    shop = table(accepted=accepted)

    class Setting(Entity, table=shop, type="Setting", key=("SETTINGS", "{name}")):
        name: Name

        @get
        def one(name: str) -> None:
            """How is it set?"""

    return shop


def test_a_finding_says_where_what_why_and_what_instead_on_one_line():
    (found,) = lint(constant({}))
    said = str(found)
    assert said.startswith("Shop: warning constant-partition: Setting: ")
    for part in (found.what, found.why, found.instead):
        assert part in said
    assert "\n" not in said


def test_an_accepted_finding_says_the_reason_instead():
    (found,) = lint(constant({"constant-partition: Setting": "there are ten"}))
    assert found.accepted == "there are ten"
    assert str(found) == "Shop: accepted constant-partition: Setting: there are ten"


def test_a_finding_is_not_accepted_without_a_reason():
    (found,) = lint(constant({"constant-partition: Setting": " "}))
    assert found.accepted is None


def test_accepting_what_is_not_there_is_a_finding():
    found = lint(constant({"constant-partition: Setting": "there are ten", "filter: Setting.one": "it is small"}))
    assert [finding.label for finding in found if finding.accepted is None] == ["accepted-nothing: filter: Setting.one"]


def test_a_sound_design_is_quiet():
    shop = table("GSI1")
    ShortId = Annotated[str, Meta(max_length=8), InKeys(str.lower, str.lower, max_bytes=32)]

    class Shop(Entity, table=shop, type="Shop", key=("SHOP#{shop_id}", "SHOP")):
        shop_id: ShortId
        name: Name

        @get
        def one(shop_id: str) -> None:
            """Which shop is this?"""

    class Ware(
        Entity,
        table=shop,
        type="Ware",
        key=("SHOP#{shop_id}", "WARE#{ware_id}"),
        GSI1=("SHOP#{shop_id}#WARES", "{name:folded}#{price:06}"),
    ):
        shop_id: ShortId
        ware_id: UUID
        name: Name
        price: Annotated[int, Meta(ge=0, le=999_999)]

        @query()
        def of_shop(shop_id: str) -> None:
            """What is sold here?"""

        @query("GSI1")
        def priced(shop_id: str, name: str, price: Range[int]) -> None:
            """What does it cost?"""

    class Whole(ItemCollection):
        shop: Shop
        wares: list[Ware]

        @query()
        def of(shop_id: str) -> None:
            """A shop and its wares."""

    assert lint(shop) == []


@pytest.mark.parametrize("severity", ["error", "warning"])
def test_wrong_answers_are_errors_and_cost_is_a_warning(severity):
    names = {
        finding.name
        for design in (constant({}), shelves("{name}", "{group}#{title}", "{title}"))
        for finding in lint(design)
        if finding.severity == severity
    }
    assert names == {"error": {"split-group"}, "warning": {"constant-partition", "code-point-order"}}[severity]
