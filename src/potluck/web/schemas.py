"""The former names of `potluck.web.schema.json_schema`, until nobody imports them."""

from typing import Any

from potluck.web.schema import json_schema
from potluck.web.schema.json_schema import Schema
from potluck.web.schema.types import SchemaType

__all__ = ["Schema", "Schemas"]


class Schemas(json_schema.Schemas):
    def of_body(self, kind: Any) -> Schema:
        return self.of_input(kind)

    def of_shape(self, shape: SchemaType) -> Schema:
        return self.of_type(shape)
