"""A declaration that cannot work fails when its module is imported, and says what to write."""

from typing import Annotated, Any
from uuid import UUID

import pytest
from msgspec import Meta, field

from potluck.table import (
    AnyOf,
    Counter,
    DesignError,
    Entity,
    ExpiresAt,
    ItemCollection,
    KeyOnly,
    Range,
    StartsWith,
    Table,
    Unique,
    Version,
    get,
    query,
    the,
)
from potluck.table.entity import plan_of

Name = Annotated[str, Meta(max_length=50)]


def table(**options: Any) -> Table:
    settings = {"indexes": {"GSI1": ("GSI1PK", "GSI1SK")}, "ttl": "ttl", "type_attribute": "entityType", **options}
    return Table("Things", "PK", "SK", **settings)


def refused(words: str) -> Any:
    return pytest.raises(DesignError, match=words)


class TestKeys:
    def test_a_misspelt_field_is_named_with_the_one_that_was_meant(self) -> None:
        with refused("no field thing_idd; did you mean thing_id"):

            class Thing(Entity, table=table(), key=("THING#{thing_idd}", "THING")):
                thing_id: UUID

    def test_an_entity_without_a_key_is_told_how_to_say_one(self) -> None:
        with refused(r"Thing: it needs a key"):

            class Thing(Entity, table=table()):
                thing_id: UUID

    def test_an_index_the_table_does_not_have_is_refused(self) -> None:
        with refused("has no index GSI9; its indexes are: GSI1"):

            class Thing(Entity, table=table(), key=("THING#{thing_id}", "THING"), GSI9=("A", "B")):
                thing_id: UUID

    def test_a_key_that_could_be_too_long_is_refused_with_its_parts(self) -> None:
        with refused("thing_name up to 4,000"):

            class Thing(Entity, table=table(), key=("THINGS", "THING#{thing_name}")):
                thing_name: Annotated[str, Meta(max_length=1000)]

    def test_text_without_a_bound_is_refused_in_a_key(self) -> None:
        with refused("max_length"):

            class Thing(Entity, table=table(), key=("THINGS", "THING#{thing_name}")):
                thing_name: str

    def test_a_counter_is_no_part_of_a_key_nor_of_a_condition_for_one(self) -> None:
        with refused("counter"):

            class Thing(Entity, table=table(), key=("THING#{thing_id}", "THING"), GSI1=("BY", "{seen:05}")):
                thing_id: UUID
                seen: Counter = 0

        with refused("counters change without a rewrite"):

            class Other(
                Entity,
                table=table(),
                key=("THING#{thing_id}", "THING"),
                GSI1=("BY", "{thing_id}", lambda seen: seen > 3),
            ):
                thing_id: UUID
                seen: Counter = 0

    def test_a_condition_asks_for_fields_only(self) -> None:
        with refused("uses seeen, which is not a field"):

            class Thing(
                Entity,
                table=table(),
                key=("THING#{thing_id}", "THING"),
                GSI1=("BY", "{thing_id}", lambda seeen: seeen > 3),
            ):
                thing_id: UUID

    def test_a_type_needs_a_place_to_be_stored(self) -> None:
        with refused("type_attribute"):

            class Thing(Entity, table=table(type_attribute=None), type="T", key=("THING#{thing_id}", "THING")):
                thing_id: UUID

    def test_an_expiry_is_the_attribute_that_the_table_expires_by(self) -> None:
        with refused("ttl='gone'"):

            class Thing(Entity, table=table(), key=("THING#{thing_id}", "THING")):
                thing_id: UUID
                gone: ExpiresAt

    def test_a_field_cannot_take_the_place_of_a_key_attribute(self) -> None:
        with refused("which the table itself uses"):

            class Thing(Entity, table=table(names="as written"), key=("THING#{thing_id}", "THING")):
                thing_id: UUID
                PK: Name

    def test_fields_may_come_from_a_class_that_several_entities_share(self) -> None:
        class Stamped(Entity, rename="camel"):
            version: Version = 1
            seen_by: Name = "nobody"

        class Thing(Stamped, table=table(), key=("THING#{thing_id}", "THING")):
            thing_id: UUID

        plan = plan_of(Thing)
        assert [field.attribute for field in plan.fields.values()] == ["thingId", "version", "seenBy"]
        assert plan.version is not None

    def test_a_shared_class_names_its_attributes_as_the_table_does(self) -> None:
        class Stamped(Entity):
            seen_by: Name = "nobody"

        with refused("Thing.seen_by comes from a class with other attribute names.*rename='camel'"):

            class Thing(Stamped, table=table(), key=("THING#{thing_id}", "THING")):
                thing_id: UUID

    def test_an_attribute_may_be_named_just_as_its_field_where_that_is_said(self) -> None:
        class Thing(Entity, table=table(), key=("THING#{thing_id}", "THING")):
            thing_id: UUID = field(name="thing_id")

        assert plan_of(Thing).fields["thing_id"].attribute == "thing_id"

    def test_a_name_that_no_attribute_can_have_or_two_would_have_is_refused(self) -> None:
        with refused("Thing: Renamed field names must not contain"):

            class Thing(Entity, table=table(), key=("THING#{thing_id}", "THING")):
                thing_id: UUID = field(name='"')

        with refused("Other: Multiple fields rename to the same name"):

            class Other(Entity, table=table(), key=("OTHER#{thing_id}", "OTHER")):
                thing_id: UUID
                thingId: UUID

    def test_what_the_table_expires_by_is_said_to_be_an_expiry(self) -> None:
        with refused("Thing.ttl is stored as ttl, by which the table expires rows; write ttl: ExpiresAt"):

            class Thing(Entity, table=table(), key=("THING#{thing_id}", "THING")):
                thing_id: UUID
                ttl: int | None = None

    def test_an_entity_is_not_made_of_another(self) -> None:
        things = table()

        class Thing(Entity, table=things, type="Thing", key=("THING#{thing_id}", "THING")):
            thing_id: UUID

        for said in ({}, {"table": things, "type": "Special", "key": ("SPECIAL#{thing_id}", "SPECIAL")}):
            keywords: dict[str, Any] = said
            with refused("Special: Thing is an entity already; put the fields of both into a class without a table"):

                class Special(Thing, **keywords):
                    more: int = 0

    def test_a_type_belongs_to_one_entity(self) -> None:
        things = table()

        class Book(Entity, table=things, type="Book", key=("BOOK#{book_id}", "BOOK")):
            book_id: UUID

        with refused("Video: the type 'Book' is taken by Book"):

            class Video(Entity, table=things, type="Book", key=("VIDEO#{video_id}", "VIDEO")):
                video_id: UUID

        with refused("the type 'Unique' is reserved for rows that guard unique values"):

            class Only(Entity, table=things, type="Unique", key=("ONLY#{only_id}", "ONLY")):
                only_id: UUID

    def test_a_class_that_is_declared_anew_takes_the_place_of_the_old_one(self) -> None:
        things = table()
        for _ in range(2):

            class Book(Entity, table=things, type="Book", key=("BOOK#{book_id}", "BOOK")):
                book_id: UUID

                @get
                def one(book_id: UUID) -> None:
                    """Which book is this?"""

        assert things.entities == [plan_of(Book)]
        assert [pattern.members for pattern in things.patterns] == [(plan_of(Book),)]

    @pytest.mark.parametrize(
        ("unique", "words"),
        [
            (Unique("NAMES", "NAME#{owner}"), "name is not in the key of its guard; write {name} there"),
            (Unique("OF#{owner}", "NAME#{name}"), r"owner can be None, and then nothing guards name; .*{owner|NONE}"),
            (Unique("THING#{name}", "THING"), "could be the key of a Thing; begin it with another word"),
        ],
    )
    def test_a_guard_tells_values_apart_and_is_no_item(self, unique: Unique, words: str) -> None:
        with refused(words):

            class Thing(Entity, table=table(), type="Thing", key=("THING#{thing_id}", "THING")):
                thing_id: Name
                owner: Name | None = None
                name: Annotated[Name, unique]

    def test_a_guard_is_no_item_of_another_kind_either(self) -> None:
        things = table()

        class Account(Entity, table=things, type="Account", key=("ACCOUNT#{account_id}", "ACCOUNT")):
            account_id: UUID
            email: Annotated[Name, Unique("USER#{email}", "USER")]

        with refused("Account.email: the key of its guard could be the key of a User"):

            class User(Entity, table=things, type="User", key=("USER#{user_id}", "USER")):
                user_id: Name

    def test_several_templates_are_at_least_one_and_only_for_an_index(self) -> None:
        with refused("Unsorted.GSI1: a sort key needs a template"):

            class Unsorted(Entity, table=table(), key=("THING#{thing_id}", "THING"), GSI1=("THINGS", ())):
                thing_id: UUID

        with refused("Thing.key: every row has one primary key"):

            class Thing(Entity, table=table(), key=("THING#{thing_id}", ("A#{name}", "A#{other}"))):  # type: ignore[arg-type]
                thing_id: UUID
                name: Name
                other: Name

    def test_a_value_kept_in_the_key_only_is_in_the_key(self) -> None:
        with refused("declared key-only, but is not in the key"):

            class Thing(Entity, table=table(), key=("THING#{thing_id}", "THING")):
                thing_id: UUID
                place: Annotated[int, Meta(ge=0), KeyOnly]

    def test_an_index_key_of_which_nothing_may_be_left_is_refused(self) -> None:
        with refused("is empty if folding removes every character"):

            class Thing(Entity, table=table(), key=("THING#{thing_id}", "THING"), GSI1=("BY", "{name:folded}")):
                thing_id: UUID
                name: Name

    @pytest.mark.parametrize(
        ("said", "words"),
        [
            ({"GSI1": "x"}, "GSI1 must be a pair of templates"),
            ({"table": "x"}, "its table must be a Table, not 'x'"),
            ({"table": None, "tabel": 3}, "name its table"),
            ({"table": None}, "name its table"),
        ],
    )
    def test_a_wrong_keyword_is_a_design_error_too(self, said: dict[str, Any], words: str) -> None:
        keywords: dict[str, Any] = {"table": table(), "key": ("THING#{thing_id}", "THING"), **said}
        with refused(words):

            class Thing(Entity, **keywords):
                thing_id: UUID

    def test_a_table_has_a_name_that_the_service_takes(self) -> None:
        with refused("'T' is not a valid table name"):
            Table("T", "PK")

    @pytest.mark.parametrize(
        ("said", "words"),
        [
            ({"sort": "PK"}, "PK is both the partition and the sort key of the table"),
            ({"indexes": {"GSI1": ("A", "A")}}, "A is both the partition and the sort key of GSI1"),
            ({"numbers": ("A",)}, "A holds numbers, but is not in a key"),
            ({"indexes": {"a b": ("A", "B")}}, "'a b' is not a valid index name"),
            (
                {"indexes": {"key": ("A", "B")}},
                "an index cannot be called key, which is another keyword of a class statement",
            ),
            ({"ttl": "PK"}, "PK is a key, so it cannot be the expiry"),
            ({"type_attribute": "SK"}, "SK is a key, so it cannot be the type of rows"),
            ({"ttl": "x", "type_attribute": "x"}, "x cannot be both the type and the expiry of rows"),
        ],
    )
    def test_an_attribute_of_a_table_is_one_thing(self, said: dict[str, Any], words: str) -> None:
        with refused(f"table Things: {words}"):
            Table("Things", **{"partition": "PK", "sort": "SK", **said})


class TestAccess:
    def test_an_argument_that_is_no_part_of_the_key_is_refused(self) -> None:
        with refused(r"Thing.named: name is not part of the key.*filter=\('name',\)"):

            class Thing(Entity, table=table(), key=("SHELF#{shelf}", "THING#{thing_id}")):
                shelf: UUID
                thing_id: UUID
                name: Name

                @query()
                def named(shelf: UUID, name: str) -> None:
                    """What is called so?"""

    def test_a_misspelt_argument_is_refused(self) -> None:
        with refused("has no field shelv; did you mean shelf"):

            class Thing(Entity, table=table(), key=("SHELF#{shelf}", "THING#{thing_id}")):
                shelf: UUID
                thing_id: UUID

                @query()
                def on(shelv: UUID) -> None:
                    """What stands there?"""

    def test_an_argument_has_the_type_of_its_field(self) -> None:
        with refused("shelf is str here, but Thing.shelf is UUID"):

            class Thing(Entity, table=table(), key=("SHELF#{shelf}", "THING#{thing_id}")):
                shelf: UUID
                thing_id: UUID

                @query()
                def on(shelf: str) -> None:
                    """What stands there?"""

    def test_the_whole_partition_key_is_needed(self) -> None:
        with refused("needs the whole partition key.*add shelf"):

            class Thing(Entity, table=table(), key=("HOUSE#{house}#SHELF#{shelf}", "THING#{thing_id}")):
                house: UUID
                shelf: UUID
                thing_id: UUID

                @query()
                def on(house: UUID) -> None:
                    """What stands there?"""

    def test_getting_one_needs_its_whole_key(self) -> None:
        with refused("gets one item, so it needs its whole key; add thing_id"):

            class Thing(Entity, table=table(), key=("SHELF#{shelf}", "THING#{thing_id}")):
                shelf: UUID
                thing_id: UUID

                @get
                def one(shelf: UUID) -> None:
                    """One thing."""

    def test_sort_components_are_given_from_the_left(self) -> None:
        with refused("components are given from the left"):

            class Thing(Entity, table=table(), key=("SHELF#{shelf}", "{place:03}#{thing_id}")):
                shelf: UUID
                place: Annotated[int, Meta(ge=0)]
                thing_id: UUID

                @query()
                def on(shelf: UUID, thing_id: UUID) -> None:
                    """What stands there?"""

    def test_a_range_is_only_on_the_last_argument(self) -> None:
        with refused("a range can only be on the last argument"):

            class Thing(Entity, table=table(), key=("SHELF#{shelf}", "{place:03}#{thing_id}")):
                shelf: UUID
                place: Annotated[int, Meta(ge=0)]
                thing_id: UUID

                @query()
                def on(shelf: UUID, place: Range[int], thing_id: UUID) -> None:
                    """What stands there?"""

    def test_a_range_over_text_with_more_behind_it_is_refused(self) -> None:
        with refused("name is text followed by more"):

            class Thing(Entity, table=table(), key=("SHELF#{shelf}", "{name}#{thing_id}")):
                shelf: UUID
                name: Name
                thing_id: UUID

                @query()
                def from_name(shelf: UUID, name: Range[str]) -> None:
                    """What comes after this?"""

    def test_a_range_over_a_number_without_a_width_is_refused(self) -> None:
        with refused("give it a width"):

            class Thing(Entity, table=table(), key=("SHELF#{shelf}", "{place}")):
                shelf: UUID
                place: Annotated[int, Meta(ge=0, le=500)]

                @query()
                def beyond(shelf: UUID, place: Range[int]) -> None:
                    """What comes after this?"""

    def test_only_text_begins_with_something(self) -> None:
        with refused("place is not text, so it has no prefix"):

            class Thing(Entity, table=table(), key=("SHELF#{shelf}", "{place:03}")):
                shelf: UUID
                place: Annotated[int, Meta(ge=0)]

                @query()
                def beginning(shelf: UUID, place: StartsWith) -> None:
                    """What begins so?"""

    def test_a_pattern_says_which_question_it_answers(self) -> None:
        with refused("its docstring must be the question that it answers"):

            class Thing(Entity, table=table(), key=("SHELF#{shelf}", "{place:03}")):
                shelf: UUID
                place: Annotated[int, Meta(ge=0)]

                @query()
                def on(shelf: UUID) -> None: ...

    def test_an_argument_has_no_default(self) -> None:
        with refused("declare another pattern for fewer arguments"):

            class Thing(Entity, table=table(), key=("SHELF#{shelf}", "{place:03}")):
                shelf: UUID
                place: Annotated[int, Meta(ge=0)]

                @query()
                def on(shelf: UUID, place: int = 3) -> None:
                    """What stands there?"""

    def test_no_index_reads_consistently(self) -> None:
        with refused("no index reads consistently"):

            class Thing(Entity, table=table(), key=("SHELF#{shelf}", "A"), GSI1=("{shelf}", "B")):
                shelf: UUID

                @query("GSI1", consistent=True)
                def on(shelf: UUID) -> None:
                    """What stands there?"""

    def test_a_pattern_asks_an_index_that_the_entity_is_in(self) -> None:
        with refused(r"Thing has no key in GSI1; add GSI1=\(\.\.\.\)"):

            class Thing(Entity, table=table(), key=("SHELF#{shelf}", "A")):
                shelf: UUID

                @query("GSI1")
                def on(shelf: UUID) -> None:
                    """What stands there?"""

    def test_several_kinds_in_one_answer_share_their_partition(self) -> None:
        things = table()

        class Thing(Entity, table=things, type="Thing", key=("SHELF#{shelf}", "THING")):
            shelf: UUID

        class Place(Entity, table=things, type="Place", key=("PLACE#{shelf}", "PLACE")):
            shelf: UUID

        with refused("so one query cannot find both"):

            class Either(AnyOf[Thing | Place]):
                @query()
                def on(shelf: UUID) -> None:
                    """What is there?"""

        with refused("so one query cannot find both"):

            class Together(ItemCollection):
                thing: Thing
                places: list[Place]

                @query()
                def on(shelf: UUID) -> None:
                    """What is there?"""

    def test_rows_of_several_kinds_are_found_though_their_partition_component_has_another_name(self) -> None:
        things = table()

        class Athlete(Entity, table=things, key=("USER#{coach_id}", "ATHLETE#{athlete_id}")):
            coach_id: UUID
            athlete_id: UUID

        class Coach(Entity, table=things, key=("USER#{athlete_id}", "COACH#{coach_id}")):
            coach_id: UUID
            athlete_id: UUID

        class Link(AnyOf[Athlete | Coach]):
            @query()
            def of_user(coach_id: UUID) -> None:
                """With whom is this person linked, as coach or as athlete?"""

        body = Link.of_user(UUID(int=1)).request().body
        assert body["KeyConditionExpression"] == "#PK = :PK AND #SK BETWEEN :SK AND :SK_2"
        assert body["ExpressionAttributeValues"] == {
            ":PK": {"S": f"USER#{UUID(int=1)}"},
            ":SK": {"S": "ATHLETE#"},
            ":SK_2": {"S": "COACH$"},
        }

    @pytest.mark.parametrize(
        ("prefix", "argument", "words"),
        [
            ("S#", "s", "s is not in the prefix S#"),
            ("S#{s}#", None, "prefix S#{s}# needs s"),
            ("S#{s", "s", "does not begin with"),
            ("T#", None, "does not begin with"),
        ],
    )
    def test_a_prefix_said_by_hand_holds_just_what_is_given(
        self, prefix: str, argument: str | None, words: str
    ) -> None:
        def asked(shelf: UUID, s: int) -> None:
            """What is there?"""

        def all_asked(shelf: UUID) -> None:
            """What is there?"""

        with refused(words):

            class Thing(Entity, table=table(), key=("SHELF#{shelf}", "S#{s}#{t}")):
                shelf: UUID
                s: Annotated[int, Meta(ge=0, le=9)]
                t: UUID

                asking = query(prefix=prefix)(asked if argument else all_asked)

    def test_a_question_belongs_to_an_entity_with_a_table(self) -> None:
        with refused("Stamped.one: an access pattern needs a table; declare it in each entity of Stamped"):

            class Stamped(Entity):
                thing_id: UUID

                @get
                def one(thing_id: UUID) -> None:
                    """Which thing is this?"""

    def test_a_question_is_not_called_like_a_field(self) -> None:
        with refused("Thing.place is a field and an access pattern; rename one of them"):

            class Thing(Entity, table=table(), key=("SHELF#{shelf}", "THING")):
                shelf: UUID
                place: int

                @query()
                def place(shelf: UUID) -> None:
                    """What is there?"""

    def test_a_name_that_only_a_function_knows_is_told(self) -> None:
        def asked(shelf: "Unheard") -> None:  # type: ignore[name-defined]  # noqa: F821
            """What is there?"""

        with refused("Thing.asked: an annotation uses an undefined name: name 'Unheard' is not defined"):

            class Thing(Entity, table=table(), key=("SHELF#{shelf}", "THING")):
                shelf: UUID

                asking = query()(asked)

        with refused("Together: an annotation uses an undefined name"):

            class Together(ItemCollection):
                things: "list[Unheard]"  # type: ignore[name-defined]  # noqa: F821

    def test_one_of_several_kinds_is_got_by_a_key_that_all_of_them_have(self) -> None:
        things = table()

        class Book(Entity, table=things, type="Book", key=("ITEM#{item_id}", "BOOK")):
            item_id: UUID

        class Video(Entity, table=things, type="Video", key=("ITEM#{item_id}", "VIDEO")):
            item_id: UUID

        with refused("Video's sort key VIDEO is not BOOK, so one key cannot find both"):

            class Item(AnyOf[Book | Video]):
                @get
                def one(item_id: UUID) -> None:
                    """Which item is this?"""

    def test_several_kinds_write_alike_what_is_asked_for(self) -> None:
        things = table()

        class Book(Entity, table=things, type="Book", key=("SHELF#{shelf}", "ITEM#{title}")):
            shelf: UUID
            title: Annotated[str, Meta(max_length=5)]

        class Video(Entity, table=things, type="Video", key=("SHELF#{shelf}", "ITEM#{title}")):
            shelf: UUID
            title: Name

        # A bound of six letters is cut to five for books, and then finds too few videos.
        with refused("Book.title and Video.title are written differently in keys; give them the same bounds"):

            class Item(AnyOf[Book | Video]):
                @query()
                def titled(shelf: UUID, title: Range[str]) -> None:
                    """Which titles are in this range?"""

    def test_a_filter_asks_for_an_attribute_that_all_kinds_have(self) -> None:
        things = table()

        with refused("Book.title is stored in the key only, which filters cannot use"):

            class Book(Entity, table=things, type="Book", key=("SHELF#{shelf}", "BOOK#{title}")):
                shelf: UUID
                title: Annotated[Name, KeyOnly]

                @query(filter=("title",))
                def titled(shelf: UUID, title: str) -> None:
                    """Which book is called so?"""

        class Disc(Entity, table=things, type="Disc", key=("SHELF#{shelf}", "DISC#{title}")):
            shelf: UUID
            title: Name
            lent: bool = False

        class Video(Entity, table=things, type="Video", key=("SHELF#{shelf}", "VIDEO#{title}")):
            shelf: UUID
            title: Name
            lent: bool = field(name="isLent", default=False)

        with refused("lent is stored as lent in Disc and as isLent in Video, so one filter cannot find both"):

            class Item(AnyOf[Disc | Video]):
                @query(filter=("lent",))
                def lent_on(shelf: UUID, lent: bool) -> None:
                    """What is lent?"""

    def test_a_kind_has_one_bucket(self) -> None:
        class Thing(Entity, table=table(), key=("SHELF#{shelf}", "THING#{name}")):
            shelf: UUID
            name: Name

        with refused("Together: Thing has two buckets, first and rest; an entity goes into one bucket"):

            class Together(ItemCollection):
                first: Thing | None
                rest: list[Thing]

                @query()
                def on(shelf: UUID) -> None:
                    """What is there?"""

    def test_several_kinds_are_kinds_of_entities(self) -> None:
        with refused("takes entities, and int is not one"):

            class Numbers(AnyOf[int]):
                pass

    def test_an_item_collection_is_not_got_as_one_item(self) -> None:
        class Thing(Entity, table=table(), key=("SHELF#{shelf}", "THING")):
            shelf: UUID

        with refused("found by a query"):

            class Together(ItemCollection):
                thing: Thing

                @get
                def on(shelf: UUID) -> None:
                    """What is there?"""

    def test_a_bucket_holds_entities(self) -> None:
        with refused("a bucket is an entity E, E | None or list"):

            class Together(ItemCollection):
                number: int

    def test_questions_and_answers_to_be_are_short_to_look_at(self) -> None:
        class Thing(Entity, table=table(), key=("SHELF#{shelf}", "THING")):
            shelf: UUID

            @get
            def one(shelf: UUID) -> None:
                """Which thing is this?"""

            @query()
            def on(shelf: UUID) -> None:
                """What stands there?"""

        assert len(repr(Thing.one(UUID(int=1)))) < 300
        assert len(repr(Thing.on(UUID(int=1)))) < 300

    def test_calling_a_pattern_wrongly_is_pythons_own_error(self) -> None:
        class Thing(Entity, table=table(), key=("SHELF#{shelf}", "{place:03}")):
            shelf: UUID
            place: Annotated[int, Meta(ge=0)]

            @query()
            def on(shelf: UUID) -> None:
                """What stands there?"""

        with pytest.raises(TypeError, match="missing 1 required positional argument: 'shelf'"):
            Thing.on()  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="unexpected keyword argument 'place'"):
            Thing.on(UUID(int=1), place=3)  # type: ignore[call-arg]

    def test_a_range_is_not_asked_for_by_one_value(self) -> None:
        class Thing(Entity, table=table(), key=("SHELF#{shelf}", "{place:03}")):
            shelf: UUID
            place: Annotated[int, Meta(ge=0)]

            @query()
            def within(shelf: UUID, place: Range[int]) -> None:
                """What stands there?"""

        with pytest.raises(TypeError, match="place takes Range"):
            Thing.within(UUID(int=1), 3)  # type: ignore[arg-type]

    def test_a_filter_asks_for_fields_of_what_is_found(self) -> None:
        class Thing(Entity, table=table(), key=("SHELF#{shelf}", "THING")):
            shelf: UUID

            @query()
            def on(shelf: UUID) -> None:
                """What stands there?"""

        class Other(Entity, table=table(), key=("SHELF#{shelf}", "OTHER")):
            shelf: UUID
            size: int = 3

        class Third(Entity, table=Thing.__plan__.table, type="Third", key=("SHELF#{shelf}", "THIRD")):
            shelf: UUID
            size: int = 3

        class Either(AnyOf[Thing | Third]):
            @query()
            def on(shelf: UUID) -> None:
                """What stands there?"""

        with pytest.raises(ValueError, match=r"the\(Other.size\) is not a field of Thing$"):
            Thing.on(UUID(int=1)).where(the(Other.size) > 1)
        with pytest.raises(ValueError, match=r"the\(Other.size\) is not a field of Thing or Third"):
            Either.on(UUID(int=1)).where(the(Other.size) > 1)
        assert Either.on(UUID(int=1)).where(the(Third.size) > 1).request().body["FilterExpression"] == "#size > :size"
