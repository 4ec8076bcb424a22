"""A connection of the suite: what its limits refuse is told as a problem, as the application tells its own."""

import logging
from http import HTTPStatus

import msgspec

from potluck import connection_limits
from potluck.web.errors import BY_STATUS
from potluck.web.http.request_log import new_request_id
from potluck.web.http.security_headers import HEADERS

__all__ = ["Connection"]

log = logging.getLogger("potluck.connections")


class Connection(connection_limits.Connection):
    def refusal(self, status: HTTPStatus) -> bytes:
        """A complete response with its headers: the application never saw the request."""
        request_id = new_request_id()
        log.info("a request was refused with status %d", status, extra={"request_id": request_id})
        body = msgspec.json.encode(BY_STATUS[status].body(status.description or status.phrase, request_id))
        headers = {
            "content-type": "application/problem+json",
            "cache-control": "no-store",
            "x-request-id": request_id,
            **HEADERS,
        }
        return connection_limits.response(status, headers, body)
