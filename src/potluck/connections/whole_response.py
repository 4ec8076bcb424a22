"""An ASGI extension that our server offers: a response in one message instead of two.

Most answers are complete when they begin. As one message they pass once through everything that stands between the
application and the connection. The message is a start, with the body in it.
"""

__all__ = ["EXTENSIONS", "WHOLE"]

WHOLE = "potluck.http.response"
EXTENSIONS: dict[str, dict[object, object]] = {WHOLE: {}}
"""As a scope has them."""
