"""Rules called without HTTP: `await rules.do(check_off, ada, family_id, item_id, status="purchased", version=1)`.

What is sent is decoded as the JSON API decodes it, ids included, before anything is read.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import UNSET, UnsetType

from potluck.people.authentication import Principal
from potluck.people.idempotency import IdempotencyKey
from potluck.validation import path_value, schema_of
from potluck.validation.decoding import decode_tree
from potluck.validation.errors import FieldError, ValidationError, camel
from potluck.web.access import Visitor
from potluck.web.declarations import Action, Declared, Read
from potluck.web.direct_calls import Direct
from potluck.web.inputs import Input, Versioned
from potluck.web.redirects import PATH_PARAMETER

__all__ = ["Rules"]


class Rules:
    """The rules of an app. `by` is a person, None for a stranger, or a visitor with their headers."""

    def __init__(self, direct: Direct) -> None:
        self.direct = direct

    async def do(
        self,
        rule: Callable[..., Any],
        by: Principal | Visitor | None,
        /,
        *ids: Any,
        version: Any = UNSET,
        key: IdempotencyKey | None = None,
        **sent: Any,
    ) -> Any:
        """What an action, a read or a list answers. The ids are those of its address, in their order."""
        declared = self.direct.declared(rule)
        names = PATH_PARAMETER.findall(declared.path or "")
        path, input = _decoded(declared, dict(zip(names, ids, strict=True)), sent, version)
        if isinstance(declared, Action):
            seen = None if version is UNSET else version
            return await self.direct.do(rule, by, input, version=seen, key=key, **path)
        if isinstance(declared, Read):
            return await self.direct.read(rule, by, input, **path)
        return await self.direct.list(rule, by, input, **path)


def _decoded(
    declared: Declared, ids: Mapping[str, Any], sent: Mapping[str, Any], version: int | UnsetType
) -> tuple[dict[str, Any], Input | None]:
    """The path parameters and the input, or every error in them."""
    path: dict[str, Any] = {}
    errors: list[FieldError] = []
    for name, value in ids.items():
        path[name] = path_value(schema_of(declared.parameters[name]), camel(name), str(value))
        if isinstance(path[name], FieldError):
            errors.append(path[name])
    input = None
    try:
        if declared.input is not None:
            body = {camel(name): _as_json(value) for name, value in sent.items()}
            if version is not UNSET and issubclass(declared.input, Versioned):
                body["version"] = version
            input = decode_tree(declared.input, body)
        else:
            assert not sent, f"{declared.name} takes no input"
            if version is not UNSET:
                decode_tree(Versioned, {"version": version})
    except ValidationError as refusal:
        errors += refusal.errors
    if errors:
        raise ValidationError(*errors)
    return path, input


def _as_json(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value
