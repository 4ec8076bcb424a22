"""The polls' own scripts and style sheet, at addresses that change with their content."""

from functools import cache
from hashlib import sha256
from pathlib import Path

from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

__all__ = ["PAGES", "file_address"]

FOLDER = Path(__file__).parent.parent / "static"
ADDRESS = "/polls/files"
KINDS = {".css": "text/css", ".js": "text/javascript"}
YEAR = 365 * 24 * 3600


@cache
def _files() -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in sorted(FOLDER.iterdir())}


@cache
def _digest() -> str:
    """What changes when any of them does."""
    told = sha256()
    for name, content in _files().items():
        told.update(f"{name} {len(content)} ".encode() + content)
    return told.hexdigest()[:12]


def file_address(name: str) -> str:
    return f"{ADDRESS}/{_digest()}/{name}"


@get(f"{ADDRESS}/{{number:str}}/{{name:str}}", include_in_schema=False)
async def file(number: FromPath[str], name: FromPath[str]) -> Response[bytes]:
    content = _files().get(name)
    if content is None:
        raise NotFoundException
    # Whoever asks by an old number has a page from before: it gets what there is, and does not keep it.
    kept = f"public, max-age={YEAR}, immutable" if number == _digest() else "no-cache"
    return Response(content, media_type=KINDS[Path(name).suffix], headers={"cache-control": kept})


PAGES: list[ControllerRouterHandler] = [file]
