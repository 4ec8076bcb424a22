"""The files that pages of every app load: their headers, and that they are there."""

import re

from tests.differential.script import PASSWORD, Script

__all__ = ["files"]

LINKED = re.compile(r'(?:href|src)="(/[^"]+?([\w.-]+\.(?:css|js|mjs|svg|webmanifest))(?:\?[^"#]*)?)["#]')


async def files(script: Script) -> None:
    ada = script.browser("Ada")
    await ada.form("Ada signs up", "/sign-up", {"name": "Ada", "email": "ada@example.org", "password": PASSWORD})
    await ada.page("hues", "/hues.css")
    for app in ("shareables", "shopping", "journal", "polls", "library", "polls/new", "shareables/new"):
        page = await ada.page(app, f"/{app}")
        linked = {name: address for address, name in LINKED.findall(page.text)}
        for name, address in sorted(linked.items()):
            await ada.page(f"{app}: {name}", address)
