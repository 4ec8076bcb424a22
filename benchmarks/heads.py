"""What others wait while somebody sends requests that do not end: `python -m benchmarks.heads`.

The suite and `potluck dynamodb`, each in a process of its own, over loopback. A signed-in person, or a client of the
database, goes on with one request after the other; a third process attacks. `--before SOURCE` measures the servers of
another checkout in the same run.
"""

import argparse
import contextlib
import http.client
import json
import os
import platform
import re
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

from benchmarks.measuring import percentile, say

RESULTS = Path(__file__).parent / "results"
SOURCE = Path(__file__).parent.parent / "src"

CALM_SECONDS = 3.0
ATTACK_SECONDS = 20.0
PATIENCE_SECONDS = 120.0
ATTACK_BYTES = 126 * 1024 * 1024
PIECE = 64 * 1024
CONNECTIONS = 1000

HEAD = b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"
# What each begins with, and what follows without end.
FLOODS = {
    "one header": (HEAD + b"x: ", b"a" * PIECE),
    "many headers": (HEAD, b"x: a\r\n" * (PIECE // 6)),
    "one trailer": (CHUNKED + b"0\r\nx: ", b"a" * PIECE),
    "tiny chunks": (CHUNKED, b"1\r\na\r\n" * (PIECE // 6)),
}
CROWDS = {"connections that send nothing": b"", "connections that send a byte a second": HEAD}

Ask = Callable[[], None]


# --- who attacks ------------------------------------------------------------------------------------------------------


def flood(port: int, begin: bytes, piece: bytes) -> str:
    """So many bytes, on a new connection whenever one is closed."""
    sent = connections = 0
    until = time.monotonic() + ATTACK_SECONDS
    while sent < ATTACK_BYTES and time.monotonic() < until:
        connections += 1
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), ATTACK_SECONDS) as victim:
            victim.sendall(begin)
            while sent < ATTACK_BYTES and time.monotonic() < until:
                victim.settimeout(max(0.1, until - time.monotonic()))
                sent += victim.send(piece)
    return f"{sent / 1024**2:.0f} MB on {connections} connections"


def crowd(port: int, drip: bytes) -> str:
    """So many connections, kept for as long as the server lets them."""
    held = [socket.create_connection(("127.0.0.1", port)) for _ in range(CONNECTIONS)]
    open_ones = dict.fromkeys(held)
    watching = selectors.DefaultSelector()
    for each in held:
        each.setblocking(False)
        watching.register(each, selectors.EVENT_READ)
    for second in range(int(ATTACK_SECONDS)):
        for each in list(open_ones):
            with contextlib.suppress(OSError):
                each.send(drip[second : second + 1])
        until = time.monotonic() + 1
        while (left := until - time.monotonic()) > 0:
            for key, _ in watching.select(left):
                # Whatever it says, it is the end: nothing whole was asked.
                watching.unregister(key.fileobj)
                open_ones.pop(key.fileobj, None)  # type: ignore[call-overload]
    for each in held:
        each.close()
    return f"{len(open_ones):,} of {CONNECTIONS:,} still open"


# --- who is served ----------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def running(source: Path, *arguments: str) -> Iterator[int]:
    """A command of this checkout, or of another, and the port it says it listens on."""
    environment = os.environ | {"PYTHONPATH": str(source), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-c", "import sys; from potluck.commands.main import main; sys.exit(main())", *arguments]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            assert server.stdout is not None
            told = next(found for line in server.stdout if (found := re.search(r"http://[^ ]*:(\d+)", line)))
            yield int(told[1])
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()


def asker(port: int, headers: dict[str, str], requests: Callable[[], Iterator[tuple[str, str, Any]]]) -> Ask:
    """Asks the next of the requests, on one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    following = requests()

    def ask() -> None:
        method, path, body = next(following)
        content = None if body is None else json.dumps(body).encode()
        connection.request(method, path, content, headers)
        answer = connection.getresponse()
        told = answer.read()
        assert answer.status < 300, (answer.status, told[:300])

    return ask


def person(port: int) -> Ask:
    """Somebody who looks at their list and adds to it."""
    api = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    headers = {"content-type": "application/json"}

    def made(path: str, body: Any) -> Any:
        api.request("POST", path, json.dumps(body).encode(), headers)
        return json.loads(api.getresponse().read())

    account = {"email": "ada@example.org", "password": "correct horse battery", "name": "Ada"}
    headers["authorization"] = f"Bearer {made('/api/v1/accounts', account)['token']}"
    path = f"/api/v1/families/{made('/api/v1/families', {'name': 'Byron'})['familyId']}/shopping-list"

    def requests() -> Iterator[tuple[str, str, Any]]:
        item = made(path, {"name": "Milk"})
        while True:
            yield "GET", f"{path}?limit=20", None
            item["quantity"] = (item["quantity"] or 0) % 9 + 1
            changed = {"quantity": item["quantity"], "version": item["version"]}
            yield "PATCH", f"{path}/{item['shoppingItemId']}", changed
            item["version"] += 1

    return asker(port, headers, requests)


def database_client(port: int) -> Ask:
    """A program that puts an item and gets it."""
    signature = (
        "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0"
    )
    headers = {
        "content-type": "application/x-amz-json-1.0",
        "authorization": signature,
        "x-amz-date": "20260101T000000Z",
    }

    def calling(operation: str, request: Any) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
        named = headers | {"x-amz-target": f"DynamoDB_20120810.{operation}"}
        connection.request("POST", "/", json.dumps(request).encode(), named)
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        connection.close()

    key = [{"AttributeName": "id", "KeyType": "HASH"}]
    names = [{"AttributeName": "id", "AttributeType": "S"}]
    table = {"TableName": "Pantry", "KeySchema": key, "AttributeDefinitions": names, "BillingMode": "PAY_PER_REQUEST"}
    calling("CreateTable", table)
    item = {"id": {"S": str(uuid4())}}

    def ask() -> None:
        calling("PutItem", {"TableName": "Pantry", "Item": item})
        calling("GetItem", {"TableName": "Pantry", "Key": item})

    return ask


# --- what is measured -------------------------------------------------------------------------------------------------


def timed(ask: Ask, going_on: Callable[[], bool]) -> list[float]:
    """Milliseconds of one request after the other."""
    times = []
    while going_on():
        start = time.perf_counter()
        ask()
        times.append((time.perf_counter() - start) * 1000)
        time.sleep(0.005)
    return times


def attacked(ask: Ask, port: int, attack: str) -> tuple[list[float], str]:
    command = [sys.executable, "-m", "benchmarks.heads", "--attack", attack, str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as attacker:
        times = timed(ask, lambda: attacker.poll() is None)
        assert attacker.stdout is not None
        told = attacker.stdout.read().strip()
    assert attacker.returncode == 0, attack
    return times, told


def in_short(times: list[float]) -> dict[str, float]:
    return {"median": statistics.median(times), "p99": percentile(times, 0.99), "longest": max(times)}


def measured(source: Path, folder: Path) -> list[dict[str, Any]]:
    servers = {
        "the suite": (person, ("serve", "--port", "0", "--data", str(folder / "suite"))),
        "potluck dynamodb": (database_client, ("dynamodb", "--port", "0", "--file", str(folder / "tables"))),
    }
    found = []
    for server, (client, arguments) in servers.items():
        with running(source, *arguments) as port:
            ask = client(port)
            for attack in (*FLOODS, *CROWDS):
                calm_until = time.monotonic() + CALM_SECONDS
                calm = timed(ask, lambda until=calm_until: time.monotonic() < until)  # type: ignore[misc]
                times, told = attacked(ask, port, attack)
                say(f"{server}, {attack}: {told}; longest {max(times):.0f} ms")
                found.append(
                    {"server": server, "attack": attack, "told": told, "calm": in_short(calm), "then": in_short(times)}
                )
    return found


def table_of(found: list[dict[str, Any]]) -> str:
    lines = [
        "| server | attack | what came of it | calm: median, p99, longest | under attack: median, p99, longest |",
        "|---|---|---|---:|---:|",
    ]
    for each in found:
        calm, then = (
            " / ".join(f"{each[when][name]:.1f}" for name in ("median", "p99", "longest")) for when in ("calm", "then")
        )
        lines.append(f"| {each['server']} | {each['attack']} | {each['told']} | {calm} | {then} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, metavar="SOURCE", help="the src folder of a checkout from before")
    parser.add_argument("--attack", nargs=2, metavar=("NAME", "PORT"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.attack:
        name, port = chosen.attack[0], int(chosen.attack[1])
        print(flood(port, *FLOODS[name]) if name in FLOODS else crowd(port, CROWDS[name]))
        return
    start = time.monotonic()
    sides = {"before": chosen.before.resolve()} if chosen.before else {}
    found = {}
    for side, source in {**sides, "now": SOURCE}.items():
        say(side)
        with tempfile.TemporaryDirectory() as folder:
            found[side] = measured(source, Path(folder))
    machine = (
        f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}; milliseconds of one request "
        f"after the other; an attack ends after {ATTACK_SECONDS:.0f} s. The run took {time.monotonic() - start:.0f} s."
    )
    tables = "\n\n".join(f"## {side.capitalize()}\n\n{table_of(each)}" for side, each in found.items())
    text = f"# Requests that do not end, last measured\n\n{machine}\n\n{tables}\n"
    (RESULTS / "heads.md").write_text(text)
    (RESULTS / "heads.json").write_text(json.dumps({"machine": machine, **found}, indent=1) + "\n")
    print(text)


if __name__ == "__main__":
    main()
