"""Templates, and the addresses of the files they link to."""

from functools import cache
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from litestar.datastructures import CacheControlHeader
from litestar.plugins.jinja import JinjaTemplateEngine
from litestar.router import Router
from litestar.static_files import create_static_files_router
from litestar.template import TemplateConfig

__all__ = ["asset", "static_files", "templates"]

HERE = Path(__file__).parent
STATIC = HERE / "static"
TEMPLATES = HERE / "templates"

# Pages name their style sheets by content, so only fonts and icons can be an hour old.
HOUR = 3600


@cache
def asset(name: str) -> str:
    """The address of a static file; it changes when the content does."""
    return f"/static/{name}?v={sha256((STATIC / name).read_bytes()).hexdigest()[:12]}"


def templates() -> TemplateConfig[JinjaTemplateEngine]:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["asset"] = asset
    return TemplateConfig(instance=JinjaTemplateEngine.from_environment(environment))


def static_files() -> Router:
    return create_static_files_router(
        path="/static", directories=[STATIC], name="static", cache_control=CacheControlHeader(public=True, max_age=HOUR)
    )
