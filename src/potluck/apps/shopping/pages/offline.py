"""What browsers keep so that the list opens without signal: its page without anybody's things, and what keeps it.

Nothing of a person is in that page. What they have on the list is kept apart, by the list's own script, under their id.
"""

from functools import cache
from hashlib import sha256
from typing import Any

import msgspec
from litestar import Response, get
from litestar.types import ControllerRouterHandler

from potluck.apps.shopping.pages.around import APP, HOME, AnyRequest, sections
from potluck.apps.shopping.pages.files import FILES, WORKER_SCRIPT, file_address
from potluck.apps.shopping.pages.shopping_list import Adding
from potluck.web.forms import blank
from potluck.web.layout import STATIC, asset, page
from potluck.web.row_events import row_text

__all__ = ["PAGES"]

SHELL = f"{HOME}/offline"
WORKER = f"{HOME}/worker.js"

# As page.html links to them.
BY_CONTENT = (
    "tokens.css", "shell.css", "components.css", "people.css", "drawings.css", "js/start.js", "js/theme.js",
    "js/toasts.js", "js/signal.js", "js/steppers.js", "js/copying.js", "plate.svg", "icons/apple-touch.png",
    "manifest.webmanifest", "vendor/lucide/icons.svg",
)  # fmt: skip
# As style sheets name them, by their place alone.
BY_NAME = (
    "vendor/pico/pico.min.css",
    "vendor/figtree/figtree-latin.woff2",
    "vendor/bricolage-grotesque/bricolage-grotesque-latin.woff2",
)


@cache
def _kept() -> list[str]:
    own = [asset(each) for each in BY_CONTENT] + [f"/static/{each}" for each in BY_NAME]
    return [SHELL, *own, *FILES.addresses()]


@cache
def _contents() -> str:
    """What changes when anything that is kept by its name alone does; the rest has another address then."""
    told = sha256()
    for each in BY_NAME:
        told.update((STATIC / each).read_bytes())
    return told.hexdigest()


def _shell_context() -> dict[str, Any]:
    return {
        "app": APP,
        "here": "Shopping",
        "sections": sections("FAMILY", "list"),
        "me": None,
        "sign_in": "",
        "file": file_address,
        # As the page of a family without anything has them.
        "home": f"{HOME}/FAMILY",
        "form": blank(Adding),
        "stores": [],
        "family": None,
        "families": [],
        "pending": 0,
        "groups": [],
        "purchased": [],
        "offered": [],
        "low": [],
        "store": "",
        "said": "",
        "new_id": "",
        "kept": "",
        "duplicate": None,
    }


@get(SHELL, include_in_schema=False)
async def shell() -> Response[Any]:
    """The page of the list with nobody's list on it."""
    return page("shopping/shell.html", None, **_shell_context())


@get(WORKER, include_in_schema=False)
async def worker(request: AnyRequest) -> Response[str]:
    """The service worker. It is another one, and keeps everything anew, whenever anything that it keeps is another."""
    drawn = row_text(request, "shopping/shell.html", **_shell_context())
    version = sha256(f"{_contents()}{_kept()}{drawn}".encode()).hexdigest()[:16]
    script = WORKER_SCRIPT.read_text()
    return Response(
        f"const VERSION = {msgspec.json.encode(version).decode()};\n"
        f"const KEPT = {msgspec.json.encode(_kept()).decode()};\n{script}",
        media_type="text/javascript",
        # It looks after all pages: whoever signs in or out does so outside of Shopping.
        headers={"service-worker-allowed": "/", "cache-control": "no-cache"},
    )


PAGES: list[ControllerRouterHandler] = [shell, worker]
