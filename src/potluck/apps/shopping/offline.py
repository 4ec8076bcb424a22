"""Offline support for the list: an app shell without personal data, and the service worker that caches it.

The list's own script stores each person's items separately, under their id.
"""

from functools import cache
from hashlib import sha256
from typing import Any

import msgspec
from starlette.responses import Response

from potluck.apps.shopping.cascade import APP
from potluck.apps.shopping.families import HOME, sections
from potluck.apps.shopping.files import FILES, WORKER_SCRIPT, file_address
from potluck.apps.shopping.shopping_list import TypedItem
from potluck.web.endpoints import Call, Endpoints
from potluck.web.forms import blank
from potluck.web.layout import STATIC, asset

__all__ = ["offline_pages"]

SHELL = f"{HOME}/offline"
WORKER = f"{HOME}/worker.js"
NOBODYS = f"{HOME}/FAMILY"

# Linked from page.html by URLs that contain a content hash.
BY_CONTENT = (
    "tokens.css", "shell.css", "components.css", "people.css", "drawings.css", "js/start.js", "js/whose.js",
    "js/theme.js", "js/menus.js", "js/toasts.js", "js/signal.js", "js/steppers.js", "js/copying.js", "plate.svg",
    "icons/apple-touch.png", "manifest.webmanifest", "vendor/lucide/icons.svg",
)  # fmt: skip
# Named in style sheets by plain path, without a content hash.
BY_NAME = (
    "vendor/pico/pico.min.css",
    "vendor/figtree/figtree-latin.woff2",
    "vendor/bricolage-grotesque/bricolage-grotesque-latin.woff2",
)

offline_pages = Endpoints()


@cache
def _kept() -> list[str]:
    own = [asset(each) for each in BY_CONTENT] + [f"/static/{each}" for each in BY_NAME]
    return [SHELL, *own, *FILES.addresses()]


@cache
def _contents() -> str:
    """A hash of the files cached by plain path; a change to any other file changes its URL."""
    hashed = sha256()
    for each in BY_NAME:
        hashed.update((STATIC / each).read_bytes())
    return hashed.hexdigest()


def _shell_context() -> dict[str, Any]:
    """The values of the list's page for an empty family and nobody signed in."""
    return {
        "app": APP,
        "here": "Shopping",
        "sections": sections(NOBODYS, "list"),
        "me": None,
        "sign_in": "",
        "file": file_address,
        "home": NOBODYS,
        "form": blank(TypedItem),
        "stores": [],
        "family": None,
        "families": [],
        "pending": 0,
        "groups": [],
        "purchased": [],
        "offered": [],
        "low": [],
        "running_low": [],
        "store": "",
        "said": "",
        "new_id": "",
        "kept": "",
        "duplicate": None,
    }


@offline_pages.get(SHELL)
async def shell(call: Call) -> Response:
    """The app shell: the list's page without a list."""
    return call.public_page("shopping/shell.html", **_shell_context())


@offline_pages.get(WORKER)
async def worker(call: Call) -> Response:
    """The service worker. Its version changes with any file it caches, so that browsers install it anew."""
    drawn = call.site.templates.render(call.request, "shopping/shell.html", _shell_context())
    version = sha256(f"{_contents()}{_kept()}{drawn}".encode()).hexdigest()[:16]
    return Response(
        f"const VERSION = {msgspec.json.encode(version).decode()};\n"
        f"const KEPT = {msgspec.json.encode(_kept()).decode()};\n{WORKER_SCRIPT.read_text()}",
        media_type="text/javascript",
        # Its scope is the whole site, because people sign in and out outside of Shopping.
        headers={"service-worker-allowed": "/", "cache-control": "no-cache"},
    )
