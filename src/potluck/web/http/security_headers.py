"""The security headers of every response: nothing inline, nothing from other hosts, no framing, no sniffing."""

from collections.abc import Callable, Sequence

Header = tuple[bytes, bytes]
AddHeaders = Callable[[Sequence[Header], str], list[Header]]

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


# Data, unlike a document, can neither be framed nor run anything: it needs only the headers that keep it data.
DATA_HEADERS = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
DATA = frozenset({b"application/json", b"application/problem+json"})
# Parts of pages: what they may do is up to the page. A worker is none of them, and has an address of its own.
PARTS = frozenset({b"text/css; charset=utf-8", b"text/javascript; charset=utf-8", b"font/woff2"})
STATIC = "/static/"

API = "/api/"
# Two people at one browser use the same URLs, and the same ETag may identify different content: the response to one
# must neither be shown to the other nor be revalidated for the other.
OWN_ANSWER = [(b"cache-control", b"private, no-cache"), (b"vary", b"authorization, cookie")]
OWN_PAGE = [(b"cache-control", b"no-store")]
BY_LANGUAGE = (b"vary", b"accept-language")


def _raw(headers: dict[str, str]) -> list[Header]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


ON_DOCUMENTS = _raw(HEADERS)
# Left out where a page states its own policy: of two such headers, both would apply.
DEVICE = b"permissions-policy"
ON_DOCUMENTS_BUT_DEVICE = [(name, value) for name, value in ON_DOCUMENTS if name != DEVICE]
ON_DATA = _raw(DATA_HEADERS)
ON_ANSWERS = ON_DATA + OWN_ANSWER


def added_headers(own: Sequence[Header], path: str) -> list[Header]:
    """A response's own headers, followed by those that every response has."""
    is_data = is_kept = says_device = False
    for name, value in own:
        if name == b"content-type":
            is_data = value in DATA or (value in PARTS and path.startswith(STATIC))
        elif name == b"cache-control":
            is_kept = True
        elif name == DEVICE:
            says_device = True
    if is_data and not is_kept and path.startswith(API):
        return [*own, *ON_ANSWERS]
    headers = [*own, *(ON_DATA if is_data else ON_DOCUMENTS_BUT_DEVICE if says_device else ON_DOCUMENTS)]
    if not is_kept:
        headers += OWN_ANSWER if path.startswith(API) else OWN_PAGE
    return headers


def varying_by_language(add_headers: AddHeaders) -> AddHeaders:
    """The same, for a suite with pages in several languages; the API has one."""

    def with_language(own: Sequence[Header], path: str) -> list[Header]:
        headers = add_headers(own, path)
        return headers if path.startswith(API) else [*headers, BY_LANGUAGE]

    return with_language
