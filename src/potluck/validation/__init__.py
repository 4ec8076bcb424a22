"""Validation: schema types compiled from annotations, and inputs decoded from JSON, forms and addresses."""

from potluck.validation.characters import one_line, seen
from potluck.validation.compiling import schema_of
from potluck.validation.compound_types import ObjectType
from potluck.validation.decoding import decode, decode_tree
from potluck.validation.encoding import encode
from potluck.validation.errors import BodyNotJson, FieldError, ValidationError
from potluck.validation.field_types import Integer, Length, Message, Text
from potluck.validation.json_schema import Schemas
from potluck.validation.parameters import decode_query, path_value
from potluck.validation.schema_keywords import Schema
from potluck.validation.types import SchemaType

__all__ = [
    "BodyNotJson",
    "FieldError",
    "Integer",
    "Length",
    "Message",
    "ObjectType",
    "Schema",
    "SchemaType",
    "Schemas",
    "Text",
    "ValidationError",
    "decode",
    "decode_query",
    "decode_tree",
    "encode",
    "one_line",
    "path_value",
    "schema_of",
    "seen",
]
