"""Two extensions of ASGI that our server offers: a response in one message, and one that needs no call at all.

Most responses are complete when they start. As one message they pass through all middleware only once. The message is
an `http.response.start`, with the body in it.

A response that is sent repeatedly comes with a dictionary, `kept`, in which middleware and server cache what they make
of its head. What differs each time, the `request_id`, is then beside the headers and not among them.

If the application has a method `cached`, the server first calls that for every GET, with the scope: it returns the
message of a response that it has in memory, which states its length, or None. Such a response is sent at once, without
the task that a call runs in: creating one takes longer than finding the response.
"""

from collections.abc import Callable, MutableMapping
from typing import Any

Cached = Callable[[MutableMapping[str, Any]], dict[str, Any] | None]

WHOLE = "potluck.http.response"
EXTENSIONS: dict[str, dict[object, object]] = {WHOLE: {}}
"""For the ASGI scope."""
