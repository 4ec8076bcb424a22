"""Where pages lead on to, for the apps that have not moved to the app layer yet."""

from typing import Any
from urllib.parse import quote

from litestar import Request
from litestar.datastructures import Cookie
from litestar.response import Redirect

from potluck.web.callers import Door
from potluck.web.http.clients import lacks_https as lacks_https_by

__all__ = ["lacks_https", "led_on", "to_sign_in"]

AnyRequest = Request[Any, Any, Any]


def led_on(address: str, *cookies: Cookie) -> Redirect:
    """On to another page, after something was done."""
    return Redirect(address, status_code=303, cookies=list(cookies), headers={"cache-control": "no-store"})


def to_sign_in(request: AnyRequest) -> Redirect:
    """To where one signs in, and back from there."""
    return led_on(f"/sign-in?next={quote(request.scope['path'])}")


def lacks_https(request: AnyRequest, door: Door) -> bool:
    """Whether browsers, having come this way, will not keep anything for use without signal."""
    return lacks_https_by(door.clients.origin_of(request.scope))
