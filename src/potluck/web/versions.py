"""Versions over HTTP: which one a change is based on, and the ETags by which a caller knows that nothing changed."""

import re
from hashlib import sha256
from typing import Any, Protocol

from msgspec import UNSET, UnsetType

from potluck.validation.errors import FieldError, ValidationError
from potluck.web.errors import VersionNeeded
from potluck.web.http.clients import header_values


class Carries(Protocol):
    """A request, of which only the headers are read."""

    @property
    def scope(self) -> Any: ...


TAG = re.compile(r'(W/)?"([^"]*)"')
# A compressed answer has a strong ETag of its own, which ends with its coding.
VERSION = re.compile(r"([1-9][0-9]{0,15})(?:-[0-9a-f]{16})?(?:-(?:br|gzip))?")
IN_CODING = re.compile(r"-(?:br|gzip)\Z")

# For an ETag that no version ever had, so that the write is refused as a conflict and answered with the current
# item. It is a valid version, so that a condition can be written with it, and longer than VERSION matches.
NO_VERSION = 10**16


def etag(version: int) -> str:
    """The ETag of a row whose answer is the same for all who may see it."""
    return f'"{version}"'


def etag_at(version_tag: str, body: bytes) -> str:
    """The ETag of a row with computed fields that time changes: still good for If-Match, by its version."""
    return f'{version_tag[:-1]}-{sha256(body).hexdigest()[:16]}"'


def tag_of(body: bytes) -> str:
    """The weak ETag of an answer of several rows, or that differs by caller; good for If-None-Match only."""
    return f'W/"{sha256(body).hexdigest()[:32]}"'


def expected_version(request: Carries, in_body: int | UnsetType | None = UNSET) -> int:
    """The version that a change is based on, by its body or If-Match; VersionNeeded if neither names one."""
    by_header = if_match_version(request)
    by_body = in_body if isinstance(in_body, int) else None
    if by_header is None and by_body is None:
        raise VersionNeeded
    if by_header is not None and by_body is not None and by_header != by_body:
        raise ValidationError(FieldError("version", "version and If-Match name different versions"))
    return by_body if by_header is None else by_header  # type: ignore[return-value]


def if_match_version(request: Carries) -> int | None:
    """The version that If-Match names; None without it, or with `*`, which any version matches."""
    if (tag_header := if_match(request)) is None:
        return None
    match = TAG.fullmatch(tag_header)
    if match is None:
        raise ValidationError(FieldError("If-Match", 'If-Match must be one ETag, such as "3"'))
    weak, tag = match.groups()
    version = VERSION.fullmatch(tag)
    return int(version[1]) if not weak and version else NO_VERSION


def if_match(request: Carries) -> str | None:
    """The value of If-Match; None without it, or with `*`. Repeated headers are joined into one list."""
    headers = header_values(request.scope, b"if-match")
    joined = ", ".join(headers).strip() if headers else None
    return None if joined == "*" else joined


def matches_etag(request: Carries, tag: str) -> bool:
    """Whether the caller has the answer with this ETag already, by If-None-Match."""
    return matching_tag(request, tag) is not None


def matching_tag(request: Carries, tag: str) -> str | None:
    """The ETag in If-None-Match of this answer, compressed or not; None if the caller does not have it."""
    joined = ", ".join(header_values(request.scope, b"if-none-match"))
    if not joined:
        return None
    if joined.strip() == "*":
        return tag
    bare = tag.removeprefix("W/")
    for _, held in TAG.findall(joined):
        if f'"{held}"' == bare:
            return tag
        if tag == bare and f'"{IN_CODING.sub("", held)}"' == bare:
            return f'"{held}"'
    return None
