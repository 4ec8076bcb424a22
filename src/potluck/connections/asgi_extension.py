"""An extension of ASGI that our server offers: a response in one message.

Most responses are complete when they start. As one message they pass through all middleware only once. The message is
an `http.response.start`, with the body in it.
"""

WHOLE = "potluck.http.response"
EXTENSIONS: dict[str, dict[object, object]] = {WHOLE: {}}
"""For the ASGI scope."""
