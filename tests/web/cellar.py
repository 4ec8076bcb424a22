"""An entity with inputs and views of it, for tests of declarations."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from potluck.table import Counter, Entity, Seconds, Table, Version
from potluck.validation.field_types import Amount, Integer, Message, Text
from potluck.web.inputs import UNSET, Edit, New, Unset
from potluck.web.views import View

BottleName = Annotated[str, Text(1, 20, "Name must be 1-20 characters", kind="raw")]
Notes = Annotated[str, Text(0, 50, "Notes must be 50 characters or less", kind="raw")]
Litres = Annotated[Decimal, Amount(0, 10, "Litres must be 0 to 10", places=2)]
Colour = Annotated[Literal["red", "white"], Message("Colour must be 'red' or 'white'")]

cellar = Table("Cellar", names="camel", partition="PK", sort="SK")


class Bottle(Entity, table=cellar, key=("CELLAR#{cellar_id}", "BOTTLE#{bottle_id}")):
    cellar_id: UUID
    bottle_id: UUID
    name: BottleName
    colour: Colour
    notes: Notes | None = None
    litres: Litres | None = None
    year: Annotated[int, Integer(1800, 2100, "Year must be 1800 to 2100")] = 2000
    secret: str = ""
    tastings: Counter = 0
    version: Version = 1
    made_at: Seconds


class Shelf(Entity, table=cellar, key=("CELLAR#{cellar_id}", "SHELF")):
    cellar_id: UUID
    name: BottleName


class NewBottle(New[Bottle]):
    name: BottleName
    colour: Colour
    notes: Notes | None = None
    litres: Litres | None = None
    bottle_id: UUID | Unset = UNSET


class BottleChange(Edit[Bottle]):
    name: BottleName | Unset = UNSET
    notes: Notes | Unset | None = UNSET


class BottleView(View[Bottle]):
    bottle_id: UUID
    name: str
    colour: str
    notes: str | None
    version: int
    made_at: datetime
