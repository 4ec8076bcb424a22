"""The former names of `potluck.web.schema.types`, until nobody imports them."""

from potluck.web.schema.types import LARGEST_INTEGER as LARGEST_WHOLE
from potluck.web.schema.types import ChoiceType as Choice
from potluck.web.schema.types import Field, bounded, counted
from potluck.web.schema.types import ListType as Many
from potluck.web.schema.types import NullableType as Nullable
from potluck.web.schema.types import NumberText as Written
from potluck.web.schema.types import ObjectType as Record
from potluck.web.schema.types import SchemaType as Shape
from potluck.web.schema.types import TextType as Text
from potluck.web.schema.types import UuidType as Id
from potluck.web.schema.types import label_of as words_of

__all__ = [
    "LARGEST_WHOLE",
    "Choice",
    "Field",
    "Id",
    "Many",
    "Nullable",
    "Record",
    "Shape",
    "Text",
    "Written",
    "bounded",
    "counted",
    "words_of",
]
