"""What opens without a network: the service worker of the suite, and the pages that it has for every visit.

Which pages are saved is declared where they are: `@shelves.page("", …, offline=True)`. The worker saves a page only if
its response says so, for the person that the response names.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec
from starlette.responses import Response

from potluck.web.app_entry import AppEntry
from potluck.web.assets import STATIC, Assets
from potluck.web.endpoints import Call, Endpoints
from potluck.web.translation import _

WORKER = "/worker.js"
PAGE = "/offline"
HOME = AppEntry("home", _("Home"), "layout-grid", "", "/")
# Classic scripts cannot import in every browser, so what the worker shares with pages is put in front of it.
SHARED_SCRIPT = STATIC / "js" / "kit" / "saved-pages.js"
WORKER_SCRIPT = STATIC / "worker.js"
EXPORT = re.compile(r"^export ", re.MULTILINE)


class Shell(NamedTuple):
    """A page of an app without anyone's data, into which a script puts what it stored: it opens all of the app."""

    template: str
    context: Callable[[], Mapping[str, Any]]


def offline(shells: Mapping[str, Shell], catalogue: Sequence[AppEntry]) -> Endpoints:
    """The worker, its page for what was never visited, and the apps' shells, by the addresses where the apps begin."""
    pages = Endpoints()

    unsaved = Shell("offline.html", lambda: {"shells": [*shells], "home_entry": HOME})

    pages.get(PAGE, public=True)(_shell_page(unsaved))

    for address, shell in shells.items():
        pages.get(shell_address(address), public=True)(_shell_page(shell))

    @pages.get(WORKER, public=True)
    async def worker(call: Call) -> Response:
        """Its version changes with every page and file that it caches, so that browsers install it again."""
        texts = [
            call.site.templates.render(call.request, shell.template, shell.context())
            for shell in (unsaved, *shells.values())
        ]
        assets = call.site.templates.assets
        linked = re.findall(rf'"({assets.at}/[^"#]+)', texts[0])
        # Each has what it imports; this one is imported when it is needed.
        files = dict.fromkeys((*linked, assets.address("js/kit/live.js")))
        known = {
            "version": sha256("".join([*texts, *files]).encode()).hexdigest()[:16],
            "page": PAGE,
            "files": list(files),
            "static": f"{assets.at}/{assets.digest}/",
            "shells": {address: shell_address(address) for address in shells},
            "apps": [entry.id for entry in catalogue],
            "outboxes": dict(_outboxes(assets, catalogue)),
        }
        script = EXPORT.sub("", SHARED_SCRIPT.read_text()) + WORKER_SCRIPT.read_text()
        return Response(
            f"const KNOWN = {msgspec.json.encode(known).decode()};\n{script}",
            media_type="text/javascript",
            headers={"cache-control": "no-cache"},
        )

    return pages


def _outboxes(assets: Assets, catalogue: Sequence[AppEntry]) -> Iterator[tuple[str, str]]:
    """The module of each app that keeps changes made offline, by which any page sends them."""
    for entry in catalogue:
        with suppress(FileNotFoundError):
            yield entry.id, assets.address("outbox.js", entry.id)


def shell_address(app_address: str) -> str:
    return f"{app_address}/offline"


def _shell_page(shell: Shell) -> Callable[[Call], Any]:
    async def page(call: Call) -> Response:
        return call.public_page(shell.template, **shell.context())

    return page
