"""Both servers behind real proxies, which share their connections among people: each gets their own answers."""

import asyncio
import json
import os
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import pytest

from tests.connections.raw_requests import SERVERS, SMUGGLED, Framing, Target, chunked, counted, item
from tests.patience import PATIENCE_SECONDS, stopped, until

CADDY = """
{{
    admin off
    auto_https off
}}
http:// {{
    bind unix/{folder}/proxy
    reverse_proxy 127.0.0.1:{port}
}}
"""
# Upgrades are passed on as nginx's own documentation says.
NGINX = """
daemon off;
pid {folder}/pid;
worker_processes 1;
events {{ worker_connections 512; }}
http {{
    access_log off;
    keepalive_requests 100000;
    client_body_temp_path {folder}/a;
    proxy_temp_path {folder}/b;
    fastcgi_temp_path {folder}/c;
    uwsgi_temp_path {folder}/d;
    scgi_temp_path {folder}/e;
    map $http_upgrade $connection_upgrade {{ default upgrade; '' ''; }}
    upstream suite {{ server 127.0.0.1:{port}; keepalive 4; }}
    server {{
        listen unix:{folder}/proxy;
        location / {{
            proxy_pass http://suite;
            proxy_http_version 1.1;
            proxy_request_buffering off;
            proxy_set_header Host $http_host;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection $connection_upgrade;
        }}
    }}
}}
"""
PROXIES = {
    "caddy": (CADDY, ["caddy", "run", "--adapter", "caddyfile", "--config"]),
    "nginx": (NGINX, ["nginx", "-e", "stderr", "-c"]),
}
# Skipped before a request, so that one that comes in several pieces need not begin where a piece does.
PADDING = b"\r\n" * 64 * 1024
READS = 1_500
ATTACKS = 20


@contextmanager
def started(name: str, folder: str, port: int) -> Iterator[subprocess.Popen[bytes]]:
    configuration, command = PROXIES[name]
    file = Path(folder, "configuration")
    file.write_text(configuration.format(folder=folder, port=port))
    environment = {"PATH": os.environ["PATH"], "HOME": folder, "XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder}
    with Path(folder, "log").open("wb") as log:
        process = subprocess.Popen([*command, file], env=environment, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)


@asynccontextmanager
async def proxy(name: str, port: int) -> AsyncIterator[str]:
    """The path of the proxy's socket, which forwards to the port."""
    # Not pytest's folder: the path of a socket has at most 107 characters.
    with tempfile.TemporaryDirectory() as folder, started(name, folder, port) as process:
        path = f"{folder}/proxy"

        async def listens() -> bool:
            assert process.poll() is None, Path(folder, "log").read_text()  # noqa: ASYNC240 - it failed
            with suppress(OSError):
                _, writer = await asyncio.open_unix_connection(path)
                writer.close()
                return True
            return False

        await until(listens)
        yield path


async def read_answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return int(head[9:12]), await reader.readexactly(length)


async def read_own(path: str, name: str) -> None:
    """Read one's own item again and again, on one connection; every answer must be that."""
    reader, writer = await asyncio.open_unix_connection(path)
    for number in range(READS):
        own = f"{name} {number}"
        writer.write(counted(body=item(own)))
        status, body = await asyncio.wait_for(read_answer(reader), PATIENCE_SECONDS)
        assert (status, json.loads(body)) == (200, {"Item": {"id": {"S": own}}})
    writer.close()


async def attack(path: str, framing: Framing) -> list[int]:
    """Send upgrades whose body is a request, in two pieces, and return how each was answered."""
    statuses = []
    for _ in range(ATTACKS):
        reader, writer = await asyncio.open_unix_connection(path)
        sent = framing("connection: upgrade", "upgrade: x", body=PADDING + counted(body=item(SMUGGLED)))
        with suppress(ConnectionError):
            writer.write(sent[:2048])
            await writer.drain()
            writer.write(sent[2048:])
            await writer.drain()
        status = 0
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            status, _ = await asyncio.wait_for(read_answer(reader), PATIENCE_SECONDS)
        statuses.append(status)
        writer.close()
    return statuses


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.needs(name)) for name in PROXIES])
async def test_every_answer_is_one_s_own_whatever_others_send(name: str, server: str) -> None:
    target = Target()
    async with target.served(server), proxy(name, target.port) as path:
        attacks = [asyncio.create_task(attack(path, framing)) for framing in (counted, chunked)]
        try:
            await asyncio.gather(read_own(path, "anna"), read_own(path, "ben"))
            statuses = await asyncio.gather(*attacks)
        finally:
            await stopped(*attacks)
    # The proxy's own, if the connection behind it was closed before it had sent everything.
    assert {status for each in statuses for status in each} <= {0, 400, 502}
    assert SMUGGLED not in target.executed
    assert len(target.executed) == 2 * READS
