"""Offline support for the list: an app shell without personal data, and the service worker that caches it.

The list's own script stores each person's items separately, under their id.
"""

import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from starlette.responses import Response

from potluck.apps.shopping.cascade import APP
from potluck.apps.shopping.families import HOME, sections
from potluck.apps.shopping.shopping_list import TypedItem
from potluck.web import Call, Endpoints, Form, _

SHELL = f"{HOME}/offline"
WORKER = f"{HOME}/worker.js"
WORKER_SCRIPT = Path(__file__).parent / "static" / "worker.js"
PLACEHOLDER = f"{HOME}/FAMILY"

offline_pages = Endpoints()


def _cached(shell: str, call: Call) -> list[str]:
    """The addresses of the shell, the files it links to, and all files that its scripts may import."""
    assets = call.site.templates.assets
    linked = re.findall(rf'"({assets.at}/[^"#]+)', shell)
    imported = [*assets.addresses("js/kit/"), assets.address("vendor/idb/index.js"), *assets.addresses("", APP)]
    addresses = dict.fromkeys((*linked, *imported))
    return [SHELL, *(address for address in addresses if not address.endswith(WORKER_SCRIPT.name))]


def _shell_context() -> dict[str, Any]:
    """The template values of the list's page for an empty family, without a signed-in person."""
    return {
        "app": APP,
        "here": _("Shopping"),
        "sections": sections(PLACEHOLDER, "list"),
        "me": None,
        "sign_in": "",
        "home": PLACEHOLDER,
        "form": Form.blank(TypedItem),
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
        "shows_purchased": False,
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
    """The service worker. Its version changes with every file that it caches, so that browsers install it again."""
    shell = call.site.templates.render(call.request, "shopping/shell.html", _shell_context())
    cached = _cached(shell, call)
    version = sha256(f"{cached}{shell}".encode()).hexdigest()[:16]
    return Response(
        f"const VERSION = {msgspec.json.encode(version).decode()};\n"
        f"const CACHED = {msgspec.json.encode(cached).decode()};\n{WORKER_SCRIPT.read_text()}",
        media_type="text/javascript",
        # Its scope is the whole site, because people sign in and out outside of Shopping.
        headers={"service-worker-allowed": "/", "cache-control": "no-cache"},
    )
