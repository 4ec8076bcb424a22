"""Schema types: what callers may send, compiled from annotations, and decoded from JSON, forms and addresses."""

from potluck.web.schema.compiling import schema_of
from potluck.web.schema.decoding import decode
from potluck.web.schema.json_schema import Schema, Schemas
from potluck.web.schema.parameters import decode_query, path_value
from potluck.web.schema.types import ObjectType, SchemaType

__all__ = ["ObjectType", "Schema", "SchemaType", "Schemas", "decode", "decode_query", "path_value", "schema_of"]
