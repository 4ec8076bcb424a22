"""The headers every answer carries: nothing inline, nothing from other hosts, no framing, no sniffing."""

from collections.abc import Sequence

__all__ = ["HEADERS", "Header", "added_headers"]

Header = tuple[bytes, bytes]

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
ON_ANSWERS = [*RAW_HEADERS, (b"cache-control", b"private, no-cache"), (b"vary", b"authorization, cookie")]
ON_PAGES = [*RAW_HEADERS, (b"cache-control", b"no-store")]


def added_headers(own: Sequence[Header], path: str) -> list[Header]:
    """An answer's own headers, and those that it carries as every answer does."""
    for name, _ in own:
        if name == b"cache-control":
            return [*own, *RAW_HEADERS]
    return [*own, *(ON_ANSWERS if path.startswith(API) else ON_PAGES)]
