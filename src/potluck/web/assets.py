"""Static files of the suite and its apps: scripts, style sheets, fonts and icons.

Their addresses have one digest of all of them, then their path in the source tree. Scripts and style sheets refer to
each other by relative paths, so a page never mixes files of two versions, and a path means the same in the browser, to
the type checker and to Node. Each is served with what it imports (bundles.py), so that a page waits for few of them.
"""

import asyncio
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from potluck.web import bundles
from potluck.web.bundles import Bundles
from potluck.web.errors import NotFound
from potluck.web.http.compression import SMALL, SMALLEST, Coding, coding_of, encoded, is_compressible, varying
from potluck.web.http.responses import IMMUTABLE

STATIC = Path(__file__).parent / "static"
OF_SUITE = "web/static"
MEDIA_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".md": "text/markdown",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
OCTET_STREAM = "application/octet-stream"


class Assets:
    """The files of some folders, read once; `folders` are keyed by their place in the source tree."""

    at = "/static"

    def __init__(self, folders: Mapping[str, Path], generated: Mapping[str, bytes] = MappingProxyType({})) -> None:
        """`generated` are contents of the suite that are in no file, by name."""
        self._contents = {f"{OF_SUITE}/{name}": content for name, content in generated.items()}
        self._contents |= {
            f"{place}/{file.relative_to(folder).as_posix()}": file.read_bytes()
            for place, folder in sorted(folders.items())
            for file in sorted(folder.rglob("*"))
            if file.is_file()
        }
        self._bundles = Bundles(self._contents)
        self._served: dict[str, bytes] = {}
        self._encodings: dict[tuple[str, Coding], bytes] = {}
        # What is served is also made by this.
        digest = sha256(Path(bundles.__file__).read_bytes())
        for name, content in self._contents.items():
            digest.update(f"{name} {len(content)} ".encode() + content)
        self.digest = digest.hexdigest()[:12]

    def address(self, name: str, app: str = "") -> str:
        """The address of a file of the suite, or of one of its apps."""
        path = f"{_place(app)}/{name}"
        if path not in self._contents:
            raise FileNotFoundError(f"there is no static file {path}")
        return f"{self.at}/{self.digest}/{path}"

    async def file(self, request: Request) -> ASGIApp:
        """The endpoint of every file: `rest` is what follows `at`."""
        digest, _, path = request.path_params["rest"].partition("/")
        if path not in self._contents:
            raise NotFound
        content = self._content(path)
        # A page loaded before an update asks with an old digest: it gets the current file, not to be cached.
        headers = IMMUTABLE if digest == self.digest else {"cache-control": "no-cache"}
        file = Response(content, headers=headers, media_type=MEDIA_TYPES.get(Path(path).suffix, OCTET_STREAM))
        if len(content) < SMALLEST or not is_compressible(file.raw_headers):
            return file
        coding = coding_of(request.scope)
        if coding is None:
            return varying(file)
        return encoded(file, coding, await self._compressed(path, coding))

    def _content(self, path: str) -> bytes:
        """The file with what it imports; made when it is first asked for."""
        content = self._served.get(path)
        if content is None:
            content = self._served[path] = self._bundles.served(path)
        return content

    async def _compressed(self, path: str, coding: Coding) -> bytes:
        """The file as small as it gets: compressed in a thread, when it is first asked for."""
        small = self._encodings.get((path, coding))
        if small is None:
            small = await asyncio.to_thread(SMALL[coding], self._content(path))
            self._encodings[path, coding] = small
        return small


def _place(app: str) -> str:
    return f"apps/{app}/static" if app else OF_SUITE


def assets_of(template_folders: Iterable[Path], generated: Mapping[str, bytes] = MappingProxyType({})) -> Assets:
    """The suite's files, and those in the folder `static` next to each folder of templates."""
    folders = {templates.parent / "static" for templates in template_folders}
    return _assets(tuple(sorted(folder for folder in folders if folder.is_dir())), tuple(generated.items()))


@cache
def _assets(folders: tuple[Path, ...], generated: tuple[tuple[str, bytes], ...]) -> Assets:
    return Assets({OF_SUITE: STATIC, **{_place(folder.parent.name): folder for folder in folders}}, dict(generated))
