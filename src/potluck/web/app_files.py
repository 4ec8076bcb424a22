"""An app's own scripts and style sheets, at addresses that change with their content.

All files of a folder share one digest in their address, and scripts import each other by relative paths: so a page
never mixes scripts of two versions.
"""

from functools import cached_property
from hashlib import sha256
from pathlib import Path

from starlette.responses import Response

from potluck.web.endpoints import Call, Endpoints
from potluck.web.errors import NotFound
from potluck.web.http.responses import IMMUTABLE
from potluck.web.static_files import KINDS

__all__ = ["AppFiles"]


class AppFiles:
    """The files of one folder, read once, except those in `but`, which are served elsewhere."""

    def __init__(self, folder: Path, at: str, but: frozenset[str] = frozenset()) -> None:
        self.folder = folder
        self.at = at
        self._but = but

    @cached_property
    def _contents(self) -> dict[str, bytes]:
        return {each.name: each.read_bytes() for each in sorted(self.folder.iterdir()) if each.name not in self._but}

    @cached_property
    def digest(self) -> str:
        """A hash of all of them, which changes when any of them does."""
        digest = sha256()
        for name, content in self._contents.items():
            digest.update(f"{name} {len(content)} ".encode() + content)
        return digest.hexdigest()[:12]

    def address(self, name: str) -> str:
        return f"{self.at}/{self.digest}/{name}"

    def addresses(self) -> list[str]:
        return [self.address(name) for name in self._contents]

    def endpoints(self) -> Endpoints:
        """The endpoint that serves them."""
        files = Endpoints()

        @files.get(f"{self.at}/{{number}}/{{name}}", public=True)
        async def file(call: Call) -> Response:
            name = call.text("name")
            content = self._contents.get(name)
            if content is None:
                raise NotFound
            # An old digest comes from a page loaded before an update: it gets the current file, not to be cached.
            kept = IMMUTABLE if call.text("number") == self.digest else {"cache-control": "no-cache"}
            return Response(content, headers=kept, media_type=KINDS[Path(name).suffix])

        return files
