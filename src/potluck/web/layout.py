"""Templates, and the addresses of the files they link to."""

import re
from functools import cache
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from litestar.datastructures import CacheControlHeader
from litestar.plugins.jinja import JinjaTemplateEngine
from litestar.router import Router
from litestar.static_files import create_static_files_router
from litestar.template import TemplateConfig

from potluck.web.dishes import DISHES

__all__ = ["asset", "icon_names", "static_files", "templates"]

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


def templates() -> TemplateConfig[JinjaTemplateEngine]:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["asset"] = asset
    environment.globals["apps"] = DISHES
    return TemplateConfig(instance=JinjaTemplateEngine.from_environment(environment))


def static_files() -> Router:
    return create_static_files_router(
        path="/static", directories=[STATIC], name="static", cache_control=CacheControlHeader(public=True, max_age=HOUR)
    )
