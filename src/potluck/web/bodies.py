"""JSON bodies for handlers of Litestar; what decodes them is `potluck.web.schema`."""

import re
from collections.abc import Iterator
from typing import Any, Generic, TypeVar, dataclass_transform

import msgspec
from litestar.connection import ASGIConnection
from litestar.dto import AbstractDTO, DTOConfig
from litestar.dto.data_structures import DTOFieldDefinition
from litestar.exceptions import ValidationException
from litestar.handlers import BaseRouteHandler
from litestar.openapi.spec import Reference, Schema
from litestar.types.serialization import LitestarEncodableType
from litestar.typing import FieldDefinition
from msgspec import UNSET, Meta, UnsetType

from potluck.people.errors import InvalidFields, WrongField
from potluck.web.declarations import Amount, Holds, Says
from potluck.web.errors import BodyNotJson, WrongMediaType
from potluck.web.parameters import check_parameters, parameters_of
from potluck.web.schema import decode, schema_of
from potluck.web.schema.decoding import NOT_JSON

__all__ = [
    "UNSET",
    "Amount",
    "Body",
    "BodyNotJson",
    "Holds",
    "Meta",
    "Says",
    "StrictBody",
    "UnsetType",
    "WrongMediaType",
    "check_parameters",
    "decode",
    "wrong_parameters",
]

T = TypeVar("T")

NOT_AS_JSON = "The body must be sent as application/json, in UTF-8 and without a content encoding"

MISSING = re.compile(r"Missing required \w+ parameter '([^']+)'")

JSON_TYPE = re.compile(r"application/(?:json|[a-z0-9!#$&^_.-]+\+json)")
UTF_8 = {"utf-8", "utf8"}


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Body(msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True, frozen=True):
    """What an app declares a request's body with; in JSON its fields are in camelCase."""


# For Litestar -------------------------------------------------------------------------------------------------------


class StrictBody(AbstractDTO[T], Generic[T]):
    """Set once as the `dto` of an application, it decodes the `data` of every handler that declares a Body."""

    config = DTOConfig()
    model_type = Body  # type: ignore[assignment]

    _kinds: dict[str, Any] = {}  # noqa: RUF012 - by handler, as the superclass keeps its own

    @classmethod
    def create_for_field_definition(
        cls, field_definition: FieldDefinition, handler_id: str, backend_cls: Any = None
    ) -> None:
        if field_definition.name == "data":
            cls._kinds[handler_id] = field_definition.annotation
            if is_body(field_definition.annotation):
                # What cannot be decoded is known before the first request.
                schema_of(field_definition.annotation)

    @classmethod
    def create_openapi_schema(
        cls, field_definition: FieldDefinition, handler_id: str, schema_creator: Any
    ) -> Reference | Schema:
        found: Reference | Schema = schema_creator.for_field_definition(field_definition)
        return found

    @classmethod
    def generate_field_definitions(cls, model_type: type[Any]) -> Iterator[DTOFieldDefinition]:  # type: ignore[override]
        return iter(())

    @classmethod
    def detect_nested_field(cls, field_definition: FieldDefinition) -> bool:
        return False

    def decode_bytes(self, value: bytes) -> Any:
        kind = self._kinds[self.asgi_connection.route_handler.handler_id]
        if not is_body(kind):
            return msgspec.json.decode(value)
        check_content_type(self.asgi_connection)
        return decode(kind, value)

    def decode_builtins(self, value: Any) -> Any:
        return value

    def data_to_encodable_type(self, data: Any) -> LitestarEncodableType:
        return data  # type: ignore[no-any-return]


def is_body(kind: Any) -> bool:
    """Whether it is a Body, or one of several."""
    members = getattr(kind, "__args__", None) or (kind,)
    return all(isinstance(member, type) and issubclass(member, Body) for member in members)


def check_content_type(connection: ASGIConnection[Any, Any, Any, Any]) -> None:
    kind, parameters = connection.content_type if hasattr(connection, "content_type") else ("", {})
    encoding = connection.headers.get("content-encoding", "identity").strip().lower()
    charset = parameters.get("charset", "utf-8").lower()
    if not JSON_TYPE.fullmatch(kind.lower()) or charset not in UTF_8 or encoding not in ("identity", ""):
        raise WrongMediaType(NOT_AS_JSON)


def wrong_parameters(error: ValidationException, handler: BaseRouteHandler) -> InvalidFields | BodyNotJson:
    """What Litestar found wrong, in our words."""
    if missing := MISSING.match(error.detail):
        return InvalidFields(WrongField(missing[1], f"{missing[1]} is missing"))
    known = {each.argument: each for each in parameters_of(handler)}
    extra = error.extra if isinstance(error.extra, list) else []
    keys = [str(each.get("key", "")).partition(".")[0] for each in extra if isinstance(each, dict)]
    if "data" in keys:
        # An empty body: the decoder is never asked.
        return BodyNotJson(NOT_JSON)
    wrong = [WrongField(known[key].name, known[key].words) for key in keys if key in known]
    return InvalidFields(*wrong or (WrongField("request", "The request has parameters that cannot be read"),))
