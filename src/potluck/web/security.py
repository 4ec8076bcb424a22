"""The headers every answer carries: nothing inline, nothing from other hosts, no framing, no sniffing."""

from litestar.types import Message, Scope

__all__ = ["HEADERS", "add_headers"]

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)

HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


RAW_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

API = "/api/"
# Two people at one browser ask at the same addresses, and may be at the same version of different things: what the one
# was answered is neither shown to the other nor taken for what the other has.
OWN_ANSWER = [(b"cache-control", b"private, no-cache"), (b"vary", b"authorization, cookie")]
OWN_PAGE = [(b"cache-control", b"no-store")]


async def add_headers(message: Message, scope: Scope) -> None:
    """Set the headers on an answer as it leaves; as a send hook it also sees answers that no route gave."""
    if message["type"] == "http.response.start":
        # By hand, and not through the framework's mapping, which looks through all headers for each that is set.
        own = message.get("headers", ())
        headers = [*own, *RAW_HEADERS]
        if b"cache-control" not in [name for name, _ in own]:
            headers += OWN_ANSWER if scope["path"].startswith(API) else OWN_PAGE
        message["headers"] = headers
