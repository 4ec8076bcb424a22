"""A connection of the suite: limited in number per client, and refused in the same form as by the application."""

import asyncio
import logging
from collections import Counter
from http import HTTPStatus

import msgspec

from potluck.connections import limits
from potluck.connections.uvicorn_adapter import ServerState
from potluck.metrics import CONNECTIONS_REFUSED
from potluck.web.errors import BY_STATUS
from potluck.web.http.clients import Clients
from potluck.web.http.request_log import new_request_id
from potluck.web.http.security_headers import HEADERS
from potluck.web.server.fast_path import FastPath

# Per client and worker, open streams included: a quarter of what a worker holds.
MOST_CONNECTIONS_OF_ONE = 4_000
CONNECT_AGAIN_SECONDS = 30

log = logging.getLogger("potluck.connections")


class CountedConnections(ServerState):
    """What all connections share: uvicorn's state, how many of them each client has, and the fast path, if it is on."""

    def __init__(self, clients: Clients, fast_path: FastPath | None = None) -> None:
        super().__init__()
        self.clients = clients
        self.fast_path = fast_path
        self.by_client: Counter[str] = Counter()

    def left(self, client: str) -> None:
        self.by_client[client] -= 1
        if not self.by_client[client]:
            del self.by_client[client]


class SuiteConnection(limits.Connection):
    _counted_as: str | None = None
    _fast_path: FastPath | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        counts = self.server_state
        if not isinstance(counts, CountedConnections):
            return
        self._fast_path = counts.fast_path
        self._counted_as = counts.clients.behind_connection(self.client)
        if self._counted_as is not None:
            counts.by_client[self._counted_as] += 1
            if counts.by_client[self._counted_as] > MOST_CONNECTIONS_OF_ONE:
                self.refuse(HTTPStatus.TOO_MANY_REQUESTS)

    def answers_at_once(self) -> bool:
        return self._fast_path is not None and self._fast_path.answer(self)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._counted_as is not None and isinstance(self.server_state, CountedConnections):
            self.server_state.left(self._counted_as)
            self._counted_as = None

    def refusal(self, status: HTTPStatus) -> bytes:
        """A complete response with its headers: the application never saw the request."""
        request_id = new_request_id()
        CONNECTIONS_REFUSED.add(str(status.value))
        log.info("a request was refused with status %d", status, extra={"request_id": request_id})
        body = msgspec.json.encode(BY_STATUS[status].body(status.description or status.phrase, request_id))
        headers = {
            "content-type": "application/problem+json",
            "cache-control": "no-store",
            "x-request-id": request_id,
            **HEADERS,
        }
        if status is HTTPStatus.TOO_MANY_REQUESTS:
            headers["retry-after"] = str(CONNECT_AGAIN_SECONDS)
        return limits.response(status, headers, body)
