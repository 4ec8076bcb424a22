"""What people's pages have in common: where they lead on to, and a form that is shown again with what is wrong."""

import re
from typing import Any
from urllib.parse import quote

from litestar import Request
from litestar.datastructures import Cookie
from litestar.response import Redirect, Template

from potluck.people.authentication import Principal
from potluck.people.errors import PeopleError
from potluck.web.callers import Door
from potluck.web.forms import Beside, Form, refused
from potluck.web.layout import page

__all__ = ["AnyRequest", "inside", "lacks_https", "led_on", "led_out", "shown_again", "to_sign_in"]

AnyRequest = Request[Any, Any, Any]

# A path of this site: "//host" and "/\host" are other sites to a browser.
INSIDE = re.compile(r"/(?![/\\])[!-\[\]-~]{0,2000}")
# This machine, by the names for it that browsers trust as they trust https.
HERE = re.compile(r"(?:[^:]+\.)?localhost|127(?:\.[0-9]+){3}|\[::1\]")


def inside(address: str, otherwise: str = "/") -> str:
    """The address, if it leads to a page of this site."""
    return address if INSIDE.fullmatch(address) else otherwise


def led_on(address: str, *cookies: Cookie) -> Redirect:
    """On to another page, after something was done."""
    return Redirect(address, status_code=303, cookies=list(cookies), headers={"cache-control": "no-store"})


def led_out(address: str, *cookies: Cookie) -> Redirect:
    """On to another page, having left: the browser forgets whatever our pages kept there, if it knows how to."""
    answer = led_on(address, *cookies)
    answer.headers["clear-site-data"] = '"storage"'
    return answer


def to_sign_in(request: AnyRequest) -> Redirect:
    """To where one signs in, and back from there."""
    return led_on(f"/sign-in?next={quote(request.scope['path'])}")


def shown_again(
    name: str,
    visitor: Principal | None,
    filled: Form[Any],
    refusal: PeopleError | None = None,
    *,
    beside: Beside | None = None,
    **context: Any,
) -> Template:
    """The page of a form once more, with what is wrong beside its fields."""
    again = refused(filled, refusal, beside)
    answer = page(name, visitor, status=again.status, form=again.form, **context)
    answer.headers.update(again.headers)
    return answer


def lacks_https(request: AnyRequest, door: Door) -> bool:
    """Whether browsers, having come this way, will not keep anything for use without signal."""
    host = door.clients.host_of(request.scope).rpartition(":")
    name = host[0] if host[0] and host[2].isdigit() else "".join(host)
    return not door.secure(request) and HERE.fullmatch(name) is None
