"""The hues of the apps: those of the five are in tokens.css, and any other app names one of them in its entry."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from starlette.responses import Response

from potluck.web.app_entry import AppEntry
from potluck.web.endpoints import Call, Endpoints
from potluck.web.entity_fields import DeclarationError
from potluck.web.http.responses import IMMUTABLE
from potluck.web.layout import icon_names

HUES = ("paprika", "saffron", "basil", "blueberry", "beet", "juniper")
PARTS = ("", "-strong", "-soft", "-ink", "-on", "-bright")


def must_be_shown(entries: Sequence[AppEntry]) -> None:
    """DeclarationError for an app with a hue or an icon that pages do not have."""
    for entry in entries:
        if entry.hue and entry.hue not in HUES:
            raise DeclarationError(f"{entry.id}: there is no hue {entry.hue}; there are {', '.join(HUES)}")
        if entry.icon not in icon_names():
            known = ", ".join(sorted(icon_names()))
            raise DeclarationError(
                f"{entry.id}: there is no icon {entry.icon}; add it to tools/vendored.toml, then `make vendor`,"
                f" or take one of {known}"
            )


def stylesheet(entries: Sequence[AppEntry]) -> str:
    """The rules that give apps the hues they name; empty if none names one."""
    rules = []
    for entry in entries:
        if entry.hue:
            parts = [f"--accent{part}: var(--{entry.hue}{part});" for part in PARTS]
            rules.append(f'[data-app="{entry.id}"] {{ {" ".join(parts)} --weave: var(--{entry.hue}-weave); }}\n')
    return "".join(rules)


def hues_address(entries: Sequence[AppEntry]) -> str:
    """The address of that style sheet; empty if there is none."""
    text = stylesheet(entries)
    return f"/hues.css?v={sha256(text.encode()).hexdigest()[:12]}" if text else ""


def hues_endpoint(entries: Sequence[AppEntry]) -> Endpoints:
    """The endpoint that serves it."""
    content = stylesheet(entries)
    endpoints = Endpoints()

    @endpoints.get("/hues.css", public=True)
    async def hues(call: Call) -> Response:
        return Response(content, headers=IMMUTABLE, media_type="text/css")

    return endpoints
