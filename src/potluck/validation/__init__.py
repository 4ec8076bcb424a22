"""Validation: schema types compiled from annotations, and inputs decoded from JSON, forms and addresses."""

from potluck.validation.characters import one_line, seen
from potluck.validation.compiling import schema_of
from potluck.validation.compound_types import ObjectType
from potluck.validation.decoding import decode, decode_tree
from potluck.validation.encoding import encode
from potluck.validation.errors import BodyNotJson, FieldError, ValidationError
from potluck.validation.field_types import Check, Integer, Length, ManyLines, Message, OneLine, Spelled, Text
from potluck.validation.file_rules import FileRules
from potluck.validation.json_schema import Schema, Schemas
from potluck.validation.parameters import decode_query, path_value
from potluck.validation.public_addresses import BadAddress, must_be_public
from potluck.validation.types import SchemaType, label_of

__all__ = [
    "BadAddress",
    "BodyNotJson",
    "Check",
    "FieldError",
    "FileRules",
    "Integer",
    "Length",
    "ManyLines",
    "Message",
    "ObjectType",
    "OneLine",
    "Schema",
    "SchemaType",
    "Schemas",
    "Spelled",
    "Text",
    "ValidationError",
    "decode",
    "decode_query",
    "decode_tree",
    "encode",
    "label_of",
    "must_be_public",
    "one_line",
    "path_value",
    "schema_of",
    "seen",
]
