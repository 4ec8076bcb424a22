"""The API's document as people read it: calls by subject, every field with its bounds, an example to copy."""

import json
import re
from collections.abc import Iterator
from typing import Any

from potluck.validation import Schema
from potluck.validation.types import LARGEST_INTEGER, bounded, counted

# Nested deeper than this, a table of fields does not help.
DEEPEST = 4

PLACES = {"path": "in the path", "query": "in the query", "header": "header", "cookie": "cookie"}

EXAMPLES = {
    "uuid": "3f2b8c1e-5d4a-4c6b-9e7f-0a1b2c3d4e5f",
    "date": "2026-05-17",
    "date-time": "2026-05-17T09:30:00.000Z",
}
NAMED_EXAMPLES = {
    "email": "ada@example.org",
    "name": "Ada",
    "title": "Soup",
    "text": "Bring a bowl.",
    "password": "correct horse battery",
}


def shown(document: dict[str, Any]) -> dict[str, Any]:
    """What the page's template asks for."""
    schemas = document["components"]["schemas"]
    calls = [
        _call(method, path, operation, document["security"], schemas, document["components"]["responses"])
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    groups = [
        {
            "name": tag["name"],
            "id": f"tag-{_slug(tag['name'])}",
            "calls": [call for call in calls if tag["name"] == call["tag"]],
        }
        for tag in document["tags"]
    ]
    info = document["info"]
    return {
        "version": info["version"],
        "paragraphs": [_pieces(" ".join(paragraph.split())) for paragraph in info["description"].split("\n\n")],
        "groups": [group for group in groups if group["calls"]],
        "count": len(calls),
        "problem_fields": list(_fields(schemas["Problem"], schemas)),
    }


def _call(
    method: str,
    path: str,
    operation: Schema,
    security: list[Any],
    schemas: dict[str, Schema],
    responses: dict[str, Schema],
) -> dict[str, Any]:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    ways_in = operation.get("security", security)
    needs_caller = bool(ways_in) and {} not in ways_in
    return {
        "id": operation["operationId"],
        "tag": operation["tags"][0],
        "method": method.upper(),
        "path": path,
        "parts": [part for part in re.split(r"({[^}]+})", path) if part],
        "short": path.removeprefix("/api/v1"),
        "summary": operation["summary"],
        "description": _pieces(operation.get("description", "")),
        "needs_caller": needs_caller,
        "deprecated": operation.get("deprecated", False),
        "parameters": [
            {
                "name": parameter["name"],
                "place": PLACES[parameter["in"]],
                "required": parameter["required"],
                "words": words(parameter["schema"], schemas),
                "default": _default(parameter["schema"]),
                "description": _pieces(parameter.get("description", "")),
            }
            for parameter in operation.get("parameters", ())
        ],
        "body": list(_fields(body, schemas)) if body else [],
        "answers": [
            _answer(status, responses[answer["$ref"].rpartition("/")[2]] if "$ref" in answer else answer, schemas)
            for status, answer in operation["responses"].items()
        ],
        "curl": _curl(method, path, operation, body, needs_caller, schemas),
    }


def _answer(status: str, answer: dict[str, Any], schemas: dict[str, Schema]) -> dict[str, Any]:
    if status == "default":
        return {"status": "other", "good": False, "problems": [], "description": [], "media": "", "fields": []}
    contents: dict[str, Schema] = answer.get("content", {})
    media = next(iter(contents), "")
    content = contents.get(media, {})
    problem = media == "application/problem+json"
    schema = content.get("schema")
    examples = content.get("examples", {}) if problem else {}
    return {
        "status": status,
        "good": not problem,
        "media": "" if media == "application/json" else media,
        "problems": [
            {"slug": slug, "title": problem["summary"], "detail": problem["value"]["detail"]}
            for slug, problem in examples.items()
        ],
        "description": [] if examples else _pieces(answer["description"]),
        "fields": list(_fields(schema, schemas)) if schema and not problem and media == "application/json" else [],
    }


# --- fields -----------------------------------------------------------------------------------------------------------


def _fields(schema: Schema, schemas: dict[str, Schema], path: str = "", deep: int = 0) -> Iterator[dict[str, Any]]:
    """Every field, each followed by those nested in it, with the path to them."""
    schema = _resolved(schema, schemas)
    if deep > DEEPEST:
        return
    for inner in schema.get("oneOf", ()):
        yield from _fields(inner, schemas, path, deep)
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        yield from _fields(schema["items"], schemas, f"{path}[]", deep + 1)
    for other in schema.get("anyOf", ()):
        if other.get("type") != "null":
            yield from _fields(other, schemas, path, deep)
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        inside = f"{path}.{name}" if path else name
        yield {
            "name": inside,
            "required": name in required,
            "words": words(field, schemas),
            "default": _default(field),
            "description": _pieces(field.get("description", "")),
        }
        yield from _fields(field, schemas, inside, deep + 1)
    if isinstance(more := schema.get("additionalProperties"), dict):
        yield from _fields(more, schemas, f"{path}.*", deep + 1)


def words(schema: Schema, schemas: dict[str, Schema]) -> str:
    """What a value must be, in a few words."""
    if any_of := schema.get("anyOf"):
        return " or ".join(words(alternative, schemas) for alternative in any_of)
    schema = _resolved(schema, schemas)
    if "oneOf" in schema:
        return "one of several objects"
    if "enum" in schema:
        return " or ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    match schema.get("type"):
        case "string":
            return _text_words(schema)
        case "integer":
            return f"whole number{_bounds(schema)}"
        case "number":
            step = schema.get("multipleOf")
            return f"number{_bounds(schema)}{f', in steps of {step}' if step else ''}"
        case "boolean":
            return "true or false"
        case "null":
            return "null"
        case "array":
            return _list_words(schema, schemas)
        case "object":
            return f"object{_counted(schema, 'Properties', 'name')}"
    return "anything"


def _text_words(schema: Schema) -> str:
    form = {"uuid": "UUID", "date": "date", "date-time": "date and time"}.get(schema.get("format", ""))
    return form or f"text{_counted(schema, 'Length', 'character')}"


def _list_words(schema: Schema, schemas: dict[str, Schema]) -> str:
    item = schema.get("items")
    held = words(item, schemas) if isinstance(item, dict) and item else ""
    # "object" and "text" have a plural; what is longer reads better after a comma.
    of = f" of {held}s" if held.isalpha() else f", each {held}" if held else ""
    return f"list{of}{_counted(schema, 'Items', 'entry', 'entries')}"


def _counted(schema: Schema, of: str, one: str, several: str | None = None) -> str:
    least, most = schema.get(f"min{of}"), schema.get(f"max{of}")
    return "" if least is None and most is None else f", {counted(least, most, one, several)}"


def _bounds(schema: Schema) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    least = None if least == -LARGEST_INTEGER else least
    most = None if most == LARGEST_INTEGER else most
    return bounded(least, most, schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum"))


def _default(schema: Schema) -> str:
    return json.dumps(schema["default"], ensure_ascii=False) if "default" in schema else ""


def _resolved(schema: Schema, schemas: dict[str, Schema]) -> Schema:
    return schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


# --- examples ---------------------------------------------------------------------------------------------------------


def example(schema: Schema, schemas: dict[str, Schema], name: str = "", *, every: bool = False) -> Any:
    """A believable value that fits the schema; of an object the required fields, or `every` field."""
    schema = _resolved(schema, schemas)
    for keyword in ("examples", "enum"):
        if schema.get(keyword):
            return schema[keyword][0]
    if inner := schema.get("anyOf") or schema.get("oneOf"):
        return example(inner[0], schemas, name, every=every)
    match schema.get("type"):
        case "string":
            return _example_text(schema, name)
        case "integer" | "number":
            return _example_number(schema)
        case "boolean":
            return True
        case "array":
            prefix = [example(item, schemas, name, every=every) for item in schema.get("prefixItems", ())]
            item: Schema = schema.get("items") or {}
            length = max(schema.get("minItems", 1), 1) - len(prefix) if item else 0
            return prefix + [example(item, schemas, name, every=every) for _ in range(length)]
        case "object":
            return _example_object(schema, schemas, every)
    return None


def _example_object(schema: Schema, schemas: dict[str, Schema], every: bool) -> dict[str, Any]:
    properties = schema.get("properties", {})
    if every:
        return {name: example(field, schemas, name, every=True) for name, field in properties.items()}
    names = list(schema.get("required", ())) or [name for name in properties if name != "version"][:1]
    if "version" in properties and "version" not in names:
        names.append("version")
    return {name: example(properties[name], schemas, name) for name in names}


def _example_number(schema: Schema) -> Any:
    """The first of some likely numbers that fits."""
    bounds = [schema[name] for name in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum") if name in schema]
    step = schema.get("multipleOf", 1)
    middle = sum(bounds) / len(bounds) if bounds else 0
    if schema["type"] == "integer":
        middle = int(middle)
    first = -(-schema.get("minimum", 0) // step) * step
    for number in (1, first, step, 0, *bounds, *(bound + step for bound in bounds), middle):
        if (
            schema.get("minimum", number) <= number <= schema.get("maximum", number)
            and number > schema.get("exclusiveMinimum", number - 1)
            and number < schema.get("exclusiveMaximum", number + 1)
            and number % step in (0, number % 1 if schema["type"] == "number" and "multipleOf" not in schema else 0)
        ):
            return number
    return first


def _example_text(schema: Schema, name: str) -> str:
    if known := EXAMPLES.get(schema.get("format", "")):
        return known
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    text = NAMED_EXAMPLES.get(name, "Something")
    text = text if len(text) >= least else text.ljust(least, "x")
    return text if most is None else text[:most]


def _curl(
    method: str,
    path: str,
    operation: dict[str, Any],
    body: Schema | None,
    needs_caller: bool,
    schemas: dict[str, Schema],
) -> str:
    parameters = operation.get("parameters", ())
    for parameter in parameters:
        if parameter["in"] == "path":
            path = path.replace(
                f"{{{parameter['name']}}}", str(example(parameter["schema"], schemas, parameter["name"]))
            )
    query = "&".join(
        f"{parameter['name']}=POSITION"
        for parameter in parameters
        if parameter["in"] == "query" and parameter["required"]
    )
    lines = [f'curl "$POTLUCK{path}{f"?{query}" if query else ""}"']
    if path.endswith("/events"):
        lines[0] = lines[0].replace("curl ", "curl --no-buffer ")
    if method not in ("get", "post") or (method == "post" and body is None):
        lines.append(f"-X {method.upper()}")
    if needs_caller:
        lines.append('-H "Authorization: Bearer $TOKEN"')
    if body is not None:
        text = json.dumps(example(body, schemas), ensure_ascii=False).replace("'", r"'\''")
        lines += ['-H "Content-Type: application/json"', f"-d '{text}'"]
    return " \\\n  ".join(lines)


# --- words ------------------------------------------------------------------------------------------------------------


def _pieces(text: str) -> list[tuple[bool, str]]:
    """A text in pieces, each with whether it is code."""
    return [(bool(index % 2), piece) for index, piece in enumerate(text.split("`")) if piece]


def _slug(name: str) -> str:
    return re.sub(r"\W+", "-", name.lower()).strip("-")
