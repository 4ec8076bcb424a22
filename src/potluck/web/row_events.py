"""Events of a list as rows of HTML, for `Live.open`: from the same template as the page's own."""

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
    """Renders each event as its row; the template has the item by this name.

    A row that is deleted is rendered too, as the caller saw it last: the page finds it by its id.
    """
    return lambda event: row_text(request, template, **context, **{item: event.item})
