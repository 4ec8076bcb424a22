"""Templates, and the addresses of the files they link to."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from litestar.connection import ASGIConnection
from litestar.datastructures import CacheControlHeader
from litestar.exceptions import NotFoundException
from litestar.handlers import BaseRouteHandler
from litestar.plugins.jinja import JinjaTemplateEngine
from litestar.response import Template
from litestar.router import Router
from litestar.static_files import create_static_files_router
from litestar.template import TemplateConfig
from starlette.requests import Request
from starlette.responses import Response

from potluck.people.authentication import Principal
from potluck.web.dishes import Dish
from potluck.web.http.responses import html

__all__ = ["Section", "Templates", "around", "asset", "icon_names", "initials", "page", "static_files", "templates"]

HERE = Path(__file__).parent
STATIC = HERE / "static"
TEMPLATES = HERE / "templates"

# Pages name what they link to by its content; only what style sheets name, fonts and Pico, can be an hour old.
HOUR = 3600


@cache
def asset(name: str) -> str:
    """The address of a static file; it changes when the content does."""
    return f"/static/{name}?v={sha256((STATIC / name).read_bytes()).hexdigest()[:12]}"


@cache
def icon_names() -> tuple[str, ...]:
    """The icons that pages may use."""
    return tuple(re.findall(r'<symbol id="([^"]+)"', (STATIC / "vendor" / "lucide" / "icons.svg").read_text()))


class Templates:
    """What pages are made from: our own templates first, then those of the apps."""

    def __init__(self, dishes: Sequence[Dish], folders: Iterable[Path] = ()) -> None:
        self.environment = environment(dishes, folders)

    def render(self, request: Request, name: str, context: Mapping[str, Any]) -> str:
        return self.environment.get_template(name).render({"request": request, **context})

    def page(
        self,
        request: Request,
        name: str,
        principal: Principal | None,
        context: Mapping[str, Any],
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """A page as this person sees it: with their way to their account, or with a way to sign in."""
        return html(self.render(request, name, around(principal) | dict(context)), status, headers)


def around(principal: Principal | None) -> dict[str, Any]:
    """What stands around every page."""
    me = None
    if principal is not None:
        me = {"name": principal.name, "initials": initials(principal.name), "address": "/account"}
    return {"me": me, "sign_in": "/sign-in"}


def templates(dishes: Sequence[Dish], folders: Iterable[Path] = ()) -> TemplateConfig[JinjaTemplateEngine]:
    return TemplateConfig(instance=JinjaTemplateEngine.from_environment(environment(dishes, folders)))


def environment(dishes: Sequence[Dish], folders: Iterable[Path] = ()) -> Environment:
    environment = Environment(
        loader=FileSystemLoader([TEMPLATES, *folders]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["asset"] = asset
    environment.globals["apps"] = dishes
    return environment


class Section(NamedTuple):
    """A part of an app, for the bar under the thumb."""

    address: str
    icon: str
    name: str
    current: bool


def page(name: str, visitor: Principal | None, *, status: int = 200, **context: Any) -> Template:
    """A page as this person sees it: with their way to their account, or with a way to sign in."""
    # What a page shows is one person's, and may be out of date in a moment.
    return Template(name, context=around(visitor) | context, status_code=status, headers={"cache-control": "no-store"})


def initials(name: str) -> str:
    """One or two letters that stand for a name."""
    words = [word for word in name.split() if word[0].isalnum()] or name.split()
    return "".join(word[0] for word in (*words[:1], *words[1:][-1:])).upper() or "?"


def static_files() -> Router:
    """The files of the pages. Whatever else is asked for is not found, without asking the file system."""
    names = {each.relative_to(STATIC).as_posix() for each in STATIC.rglob("*") if each.is_file()}

    def is_one_of_them(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
        # A name with a NUL in it, a very long one, or one inside a file is refused there as a failure of ours.
        if str(connection.path_params["file_path"]).removeprefix("/") not in names:
            raise NotFoundException

    return create_static_files_router(
        path="/static",
        directories=[STATIC],
        name="static",
        cache_control=CacheControlHeader(public=True, max_age=HOUR),
        guards=[is_one_of_them],
    )
