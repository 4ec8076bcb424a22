"""The files of the pages: those that are there when the suite starts, and nothing else."""

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from potluck.web.errors import NotFound
from potluck.web.layout import STATIC
from potluck.web.versions import known

__all__ = ["KINDS", "static_file"]

KINDS = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".md": "text/markdown",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
ANY_KIND = "application/octet-stream"

# Pages name what they link to by its content; only what style sheets name, fonts and Pico, can be an hour old.
KEPT = {"cache-control": "max-age=3600, public"}


class StaticFile(NamedTuple):
    content: bytes
    kind: str
    tag: str


@cache
def _files() -> dict[str, StaticFile]:
    found = {each.relative_to(STATIC).as_posix(): each for each in sorted(STATIC.rglob("*")) if each.is_file()}
    return {name: _file(path) for name, path in found.items()}


def _file(path: Path) -> StaticFile:
    content = path.read_bytes()
    return StaticFile(content, KINDS.get(path.suffix, ANY_KIND), f'"{sha256(content).hexdigest()[:32]}"')


async def static_file(request: Request) -> Response:
    """The file at `rest` of the path, without asking the file system."""
    found = _files().get(request.path_params["rest"])
    if found is None:
        raise NotFound
    headers = {**KEPT, "etag": found.tag}
    if known(request, found.tag):
        return Response(status_code=304, headers=headers)
    return Response(found.content, headers=headers, media_type=found.kind)
