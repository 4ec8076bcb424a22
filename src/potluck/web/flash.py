"""Flash messages: what a form says after its redirect, shown once, as a toast, by the next page.

    @chores.action("PATCH", "/status", form=PageForm(then="/chores/{home_id}", flash="{title} is done."))

A message travels in a sealed cookie: no link can put words into a page, and the next person who uses the same browser
does not see it. Anyone at the device can see the page, so a message never contains a secret.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from potluck.web.http.responses import Cookie
from potluck.web.http.sealed_cookies import FLASH, SealedCookies
from potluck.web.redirects import text_after

if TYPE_CHECKING:
    from starlette.requests import Request

    from potluck.web.access import Visitor

log = logging.getLogger("potluck.web")

# Long enough for a redirect, and a message that was never shown is soon outdated.
LASTS_SECONDS = 60
# Sent by js/parts.js, which shows parts of the page that it fetches, and its toasts.
IN_PLACE = "potluck-in-place"
LONGEST_TEXT = 300
ELLIPSIS = "…"


class Flash(Struct, frozen=True, array_like=True):
    """A sentence, and at most one thing to do about it: a link, or a button that posts `fields`."""

    text: str
    label: str = ""
    address: str = ""
    fields: dict[str, str] | None = None
    """What the button posts; None for a link."""


Flashes = str | Callable[[Any, Any], str | Flash | Awaitable[str | Flash]]
"""A text with path parameters and fields of the answer in braces, or a function of the access and the answer."""


async def flash_after(flash: Flashes, at: Any, answer: Any, ids: Mapping[str, Any]) -> str | Flash:
    """What to say after this answer; an empty text says nothing."""
    if isinstance(flash, str):
        return text_after(flash, answer, ids)
    try:
        message = flash(at, answer)
        return await message if isawaitable(message) else message
    except Exception:
        # The write is committed, and an error would say that it is not.
        log.exception("what a form says after it was accepted failed")
        return ""


def flash_set(cookies: SealedCookies, message: str | Flash) -> Sequence[Cookie]:
    """The cookies by which the next page shows the message."""
    flash = Flash(message) if isinstance(message, str) else message
    # In the language of the page that was sent, which is that of the next one.
    text, label = str(flash.text), str(flash.label)
    if not text:
        return ()
    if len(text) > LONGEST_TEXT:
        text = text[: LONGEST_TEXT - 1] + ELLIPSIS
    flash = msgspec.structs.replace(flash, text=text, label=label)
    return (cookies.note(FLASH, msgspec.json.encode(flash).decode(), LASTS_SECONDS),)


def flash_for(request: Request, visitor: Visitor) -> tuple[Flash | None, Sequence[Cookie]]:
    """The message that this page is to show, and the cookies that drop it.

    A page that a script fetches in the background leaves it for the page that the person sees, and so does one that
    answers a form, because it has something else to say.
    """
    cookies = visitor.cookies
    # Not by the destination, which is empty where a service worker passes the request on.
    is_page = request.headers.get("sec-fetch-mode", "navigate") == "navigate" or IN_PLACE in request.headers
    is_seen = request.method == "GET" and is_page
    if cookies is None or not is_seen:
        return None, ()
    value = cookies.noted(FLASH)
    return (msgspec.json.decode(value, type=Flash), [cookies.note(FLASH, "", 0)]) if value else (None, ())
