"""Rows of a list that changes while one looks, for `Live.stream`: from the same template as the page's own."""

from typing import Any

from litestar import Request

from potluck.web.live import Render

__all__ = ["row_events", "row_text"]


def row_text(request: Request[Any, Any, Any], template: str, /, **context: Any) -> str:
    """One row, for a page that has the list already."""
    engine = request.app.template_engine
    assert engine is not None
    text: str = engine.get_template(template).render({"request": request, **context})
    return text


def row_events(request: Request[Any, Any, Any], template: str, item: str, /, **context: Any) -> Render:
    """How each event is told: the row, whose template has the item by this name.

    Of a row that is gone too: it is known by its id, and shows what the caller could see of it before.
    """
    return lambda told: row_text(request, template, **context, **{item: told.item})
