"""Schema types: what callers may send, compiled from annotations, and decoded from JSON, forms and addresses."""

from potluck.validation.compiling import schema_of
from potluck.validation.decoding import decode
from potluck.validation.json_schema import Schema, Schemas
from potluck.validation.parameters import decode_query, path_value
from potluck.validation.types import ObjectType, SchemaType

__all__ = ["ObjectType", "Schema", "SchemaType", "Schemas", "decode", "decode_query", "path_value", "schema_of"]
