"""A decimal number is a JSON number both ways, and never has more places than its field says."""

import zipfile
from collections.abc import AsyncIterator, Sequence
from decimal import Decimal
from io import BytesIO
from typing import Annotated, Any
from uuid import UUID

import pytest
from msgspec import Struct

from potluck.people.secrets import new_id
from potluck.table import (
    DesignError,
    Entity,
    InvalidValue,
    Limits,
    Query,
    Table,
    Version,
    absent,
    get,
    put,
    query,
    the,
    update,
)
from potluck.validation.field_types import Amount, Text
from potluck.web.access import SignedIn
from potluck.web.actions import Actions
from potluck.web.app import App, Core
from potluck.web.inputs import UNSET, DeclarationError, Edit, Input, New, Unset
from potluck.web.views import View
from potluck.web.writes import Writes
from tests.web.suites import app_with, ask, bearer, data, problem, signed_up, suite_on

Price = Annotated[Decimal, Amount("0.1", 1000, "Price must be 0.1 to 1,000, with two decimal places", places=2)]

stalls = Table("Stalls", "PK", "SK", type_attribute="kind", names="camel")


class Ware(Entity, table=stalls, type="Ware", key=("STALL", "WARE#{ware_id}")):
    ware_id: UUID
    name: Annotated[str, Text(1, 20)]
    price: Price
    tax: Annotated[Decimal, Limits(places=3)] = Decimal(0)
    version: Version = 1

    @get(consistent=True)
    def by_id(ware_id: UUID) -> None:
        """What does this cost?"""

    @query(consistent=True)
    def everything() -> None:
        """What is sold?"""


class WareView(View[Ware]):
    ware_id: UUID
    name: str
    price: Decimal
    version: int


class NewWare(New[Ware]):
    name: Annotated[str, Text(1, 20)]
    price: Price = Decimal("0.5")


class WareChange(Edit[Ware]):
    price: Price | Unset = UNSET


class Discount(Input):
    by: Annotated[Decimal, Amount(0, 1000)]
    note: Annotated[str, Text(0, 200)] = ""


class Total(Struct, rename="camel"):
    total: Decimal


def total(wares: Sequence[WareView]) -> Total:
    return Total(sum((each.price for each in wares), Decimal(0)))


wares = Actions(SignedIn, Ware.by_id, WareView, api="/wares", tag="Stalls")


@wares.create()
async def sell(at: SignedIn, new: NewWare) -> Writes[Ware]:
    """Sell something."""
    ware = at.make(new, ware_id=new_id())
    return Writes(ware, put(ware, when=absent))


@wares.change()
async def change(at: SignedIn, ware: Ware, change: WareChange) -> Writes[Ware]:
    """Sell it for something else."""
    return at.apply(ware, change)


@wares.action("POST", "/discount")
async def discount(at: SignedIn, ware: Ware, sent: Discount) -> Writes[Ware]:
    """Sell it for less."""
    after, write = at.edit(
        ware, the(Ware.price).becomes(sent.by), *([the(Ware.name).becomes(sent.note)] if sent.note else [])
    )
    return Writes(after, write)


@wares.list(order=lambda ware: (str(ware.ware_id),), also=total)
def all_wares(at: SignedIn) -> Query[Ware]:
    """Everything that is sold."""
    return Ware.everything()


def stalls_app(core: Core) -> App:
    async def export(user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
        async for ware in core.store.each(Ware.everything()):
            yield "wares", WareView.show(ware)

    return app_with("stalls", tables=[stalls], subjects=[wares], export=export)(core)


async def test_it_is_a_number_in_every_answer_as_it_is_in_every_request(tmp_path):
    async with suite_on(tmp_path, [stalls_app]) as (client, _):
        ada = await signed_up(client)
        made = await ask(client, "POST", "/wares", {"name": "Tea", "price": 12.34}, by=ada)
        assert b'"price":12.34,' in made.content
        one = f"/wares/{data(made, 201)['wareId']}"
        kept = [
            await ask(client, "PATCH", one, {"price": 0.1, "version": 1}, by=ada, idempotency_key="1") for _ in range(2)
        ]
        assert kept[0].content == kept[1].content
        assert data(kept[0])["price"] == 0.1
        stale = await ask(client, "PATCH", one, {"price": 5, "version": 1}, by=ada)
        assert problem(stale, 409, "version-conflict")["current"]["price"] == 0.1
        await ask(client, "POST", "/wares", {"name": "Jam"}, by=ada)
        listed = await ask(client, "GET", "/wares", by=ada)
        assert {type(each["price"]) for each in data(listed)["items"]} == {float}
        assert data(listed)["total"] == 0.6
        export = await client.get("/api/v1/me/export", headers=bearer(ada))
        with zipfile.ZipFile(BytesIO(export.content)) as files:
            assert b'"price":0.5' in files.read("stalls.json")
            assert b",0.5," in files.read("stalls/wares.csv")
        document = (await client.get("/schema/openapi.json")).json()
        schemas = document["components"]["schemas"]
        assert schemas["WareView"]["properties"]["price"] == {"type": "number"}
        taken = schemas["NewWare"]["properties"]["price"]
        assert (taken["type"], taken["minimum"], taken["maximum"], taken["default"]) == ("number", 0.1, 1000, 0.5)


@pytest.mark.parametrize("price", ["0.5", 0.123, 0.05, 1000.5, True, None])
async def test_what_is_no_number_or_has_too_many_places_is_refused(tmp_path, price):
    async with suite_on(tmp_path, [stalls_app]) as (client, _):
        ada = await signed_up(client)
        wrong = problem(
            await ask(client, "POST", "/wares", {"name": "Tea", "price": price}, by=ada), 422, "invalid-fields"
        )
        assert [each["field"] for each in wrong["errors"]] == ["price"]
        assert data(await ask(client, "GET", "/wares", by=ada))["items"] == []


async def test_what_an_input_allows_and_the_entity_refuses_is_answered_as_a_wrong_field(tmp_path):
    async with suite_on(tmp_path, [stalls_app]) as (client, _):
        ada = await signed_up(client)
        one = f"/wares/{data(await ask(client, 'POST', '/wares', {'name': 'Tea'}, by=ada), 201)['wareId']}/discount"
        for sent, field, why in (
            ({"by": 0.123}, "by", "has more than 2 decimal places"),
            ({"by": 0.01}, "by", "is less than 0.1"),
            ({"by": 1, "note": "x" * 21}, "note", "21 characters, more than 20"),
        ):
            wrong = problem(await ask(client, "POST", one, sent, by=ada), 422, "invalid-fields")
            assert [each["field"] for each in wrong["errors"]] == [field]
            assert why in wrong["errors"][0]["message"]
        assert data(await ask(client, "GET", "/wares", by=ada))["items"][0]["version"] == 1


# --- what is written --------------------------------------------------------------------------------------------------

TEA = Ware(ware_id=UUID(int=1), name="Tea", price=Decimal("1.50"))


@pytest.mark.parametrize("price", ["1.234", "0.101", "1251E-3", "99.999"])
def test_no_write_has_more_places_than_the_field(price):
    number = Decimal(price)
    for write in (
        lambda: put(Ware(ware_id=UUID(int=1), name="Tea", price=number), when=absent).request(),
        lambda: update(TEA, the(Ware.price).becomes(number)).request(),
        lambda: update(TEA, the(Ware.price).add(number)).request(),
    ):
        with pytest.raises(InvalidValue, match=r"Ware\.price: .* has more than 2 decimal places"):
            write()


@pytest.mark.parametrize("price", ["1.500", "1E+2", "0.10", "100.000000", "12"])
def test_zeros_at_the_end_are_no_places(price):
    put(Ware(ware_id=UUID(int=1), name="Tea", price=Decimal(price)), when=absent).request()


def test_a_comparison_may_have_more_places():
    body = update(TEA, the(Ware.name).becomes("Cha"), when=the(Ware.price) < Decimal("1.505")).request().body
    assert {"N": "1.505"} in body["ExpressionAttributeValues"].values()


# --- declarations -----------------------------------------------------------------------------------------------------


def test_bounds_may_be_texts_and_nothing_inexact():
    assert Amount("0.1", "9.90").extra == {"ge": Decimal("0.1"), "le": Decimal("9.90")}
    with pytest.raises(TypeError, match=r"0\.1 is not exact"):
        Amount(0.1)  # type: ignore[arg-type]
    for wrong in ("a lot", "NaN", "1,5"):
        with pytest.raises(ValueError, match="is not a number"):
            Amount(wrong)
    with pytest.raises(ValueError, match="no value is at least 2 and at most 1"):
        Amount(2, 1)
    with pytest.raises(ValueError, match="places is a whole number"):
        Amount(places=-1)


def test_limits_are_checked_at_import():
    def declared(limits: Any) -> None:
        class Odd(Entity, table=Table("Odd", "PK", "SK"), key=("ODD", "{name}")):
            name: Annotated[str, Text(1, 20)]
            price: Annotated[Decimal, limits]

    with pytest.raises(DesignError, match=r"Odd\.price: the bounds of a Decimal are int or Decimal, not '0\.1'"):
        declared(Limits(ge="0.1"))  # type: ignore[arg-type]
    with pytest.raises(DesignError, match=r"Odd\.price: places is a whole number"):
        declared(Limits(places=-1))
    declared(Limits(places=2))


@pytest.mark.parametrize(
    "looser", [Amount("0.1", 1000), Amount("0.1", 1000, places=3), Amount(0, 1000, places=2), Amount("0.1", places=2)]
)
def test_an_input_that_allows_more_than_its_entity_is_refused_at_import(looser):
    with pytest.raises(DeclarationError, match=r"Looser\.price: Ware\.price has bounds that this does not state"):

        class Looser(New[Ware]):
            price: Annotated[Decimal, looser]
