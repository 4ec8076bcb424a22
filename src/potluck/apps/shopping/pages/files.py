"""Shopping's own scripts and style sheet, at addresses that change with their content.

All have one number in their address, and scripts name each other by their place beside them: so a page never runs
scripts of two versions together.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path

from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

__all__ = ["PAGES", "WORKER_SCRIPT", "addresses", "digest", "file_address"]

FILES = "/shopping/files"
FOLDER = Path(__file__).parent.parent / "static"
KINDS = {".css": "text/css", ".js": "text/javascript"}
WORKER_SCRIPT = FOLDER / "worker.js"
YEAR = 365 * 24 * 3600


@cache
def _files() -> dict[str, bytes]:
    """All but the worker, which has an address of its own."""
    return {each.name: each.read_bytes() for each in sorted(FOLDER.iterdir()) if each != WORKER_SCRIPT}


@cache
def digest() -> str:
    """What changes when any of them does."""
    told = sha256()
    for name, content in _files().items():
        told.update(f"{name} {len(content)} ".encode() + content)
    return told.hexdigest()[:12]


def file_address(name: str) -> str:
    return f"{FILES}/{digest()}/{name}"


def addresses() -> list[str]:
    return [file_address(name) for name in _files()]


@get(f"{FILES}/{{number:str}}/{{name:str}}", include_in_schema=False)
async def file(number: FromPath[str], name: FromPath[str]) -> Response[bytes]:
    content = _files().get(name)
    if content is None:
        raise NotFoundException
    # Whoever asks by an old number has a page from before: it gets what there is, and does not keep it.
    kept = f"public, max-age={YEAR}, immutable" if number == digest() else "no-cache"
    return Response(content, media_type=KINDS[Path(name).suffix], headers={"cache-control": kept})


PAGES: list[ControllerRouterHandler] = [file]
