"""An ASGI extension that our server offers: a response in one message instead of two.

Most answers are complete when they begin. As one message they pass once through everything that stands between the
application and the connection. The message is a start, with the body in it.

A response that is given again and again has a dictionary along as `kept`, in which those on the way keep what they make
of its head. What is different each time is then not among its headers: the `request_id`.
"""

__all__ = ["EXTENSIONS", "WHOLE"]

WHOLE = "potluck.http.response"
EXTENSIONS: dict[str, dict[object, object]] = {WHOLE: {}}
"""As a scope has them."""
