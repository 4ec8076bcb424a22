"""An ASGI extension that our server offers: a response in one message instead of two.

Most responses are complete when they start. As one message they pass through all middleware only once. The message is
an `http.response.start`, with the body in it.

A response that is sent repeatedly comes with a dictionary, `kept`, in which middleware and server cache what they make
of its head. What differs each time, the `request_id`, is then beside the headers and not among them.
"""

__all__ = ["EXTENSIONS", "WHOLE"]

WHOLE = "potluck.http.response"
EXTENSIONS: dict[str, dict[object, object]] = {WHOLE: {}}
"""For the ASGI scope."""
