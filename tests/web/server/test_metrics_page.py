"""The metrics of a served suite: its own port, one page for all workers, and counts that never go back."""

import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from potluck.commands.main import main
from tests.patience import PATIENCE_SECONDS
from tests.processes import running

PLANTED = "planted-in-a-path"
SAMPLE = re.compile(r"([a-z_]+)(?:\{(.*)\})? ([0-9.e+-]+|\+Inf)")


def asked(address: str) -> str:
    with urllib.request.urlopen(address, timeout=PATIENCE_SECONDS) as answer:
        return answer.read().decode()


def read(page: str) -> dict[tuple[str, str], float]:
    """Every sample by its name and labels; each line is one, or says what follows."""
    samples = {}
    for line in page.splitlines():
        if not line.startswith(("# HELP ", "# TYPE ")):
            name, labels, number = SAMPLE.fullmatch(line).groups()
            samples[name, labels or ""] = float(number)
    return samples


def eventually(true: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while not true():
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.05)


class Served(NamedTuple):
    """A suite with two workers, its address and that of its metrics."""

    process: subprocess.Popen[str]
    address: str
    metrics: str


# One for all tests, which compare counts with those before: starting it takes longer than all of them.
@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    command = ("serve", "--port", "0", "--workers", "2")
    with running(*command, cwd=tmp_path_factory.mktemp("served"), POTLUCK_METRICS="0") as (process, address):
        yield Served(process, address, re.search(r"http://\S+/metrics", process.stdout.readline())[0])


def requests(samples: dict[tuple[str, str], float], route: str) -> float:
    counts = ((labels, number) for (name, labels), number in samples.items() if name == "potluck_request_seconds_count")
    return sum(number for labels, number in counts if f'route="{route}"' in labels)


def workers_of(process) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]


def test_metrics_have_a_port_of_their_own_and_no_label_says_what_people_sent(suite):
    before = read(asked(suite.metrics))
    for path in (f"/api/v1/me?token={PLANTED}", f"/{PLANTED}", f"/api/v1/polls/{PLANTED}"):
        with pytest.raises(urllib.error.HTTPError):
            asked(suite.address + path)
    asked(f"{suite.address}/livez")
    page = asked(suite.metrics)
    samples = read(page)
    assert requests(samples, "/livez") == requests(before, "/livez") + 1
    for labels in ('method="GET",route="/api/v1/me",status="401"', 'method="GET",route="",status="404"'):
        count = "potluck_request_seconds_count", labels
        assert samples[count] == before.get(count, 0) + 1
    assert samples["potluck_state", 'state="disk-full"'] == 0
    assert samples["potluck_store_bytes", ""] > 0
    assert samples["process_resident_memory_bytes", ""] > 10_000_000
    assert abs(samples["process_start_time_seconds", ""] - time.time()) < PATIENCE_SECONDS
    assert PLANTED not in page
    eventually(lambda: read(asked(suite.metrics))["potluck_consumer_shards", ""] > 0)


def test_metrics_are_not_where_people_are_served_and_nothing_else_is_where_they_are(suite):
    for elsewhere in (f"{suite.address}/metrics", suite.metrics.removesuffix("/metrics")):
        with pytest.raises(urllib.error.HTTPError) as refused:
            asked(elsewhere)
        assert refused.value.code == 404


def test_what_is_no_request_is_dropped_and_the_next_is_answered(suite):
    port = int(re.search(r":(\d+)/", suite.metrics)[1])
    for sent in (b"x" * 20_000, b"GET /metrics", b"POST /metrics HTTP/1.1\r\nhost: here\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as connection:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            received = b""
            while part := _received(connection):
                received += part
            assert b"200 OK" not in received
    assert "# TYPE potluck_workers gauge" in asked(suite.metrics)


def test_workers_have_one_page_and_what_a_dead_one_counted_stays_counted(suite):
    before = requests(read(asked(suite.metrics)), "/livez")
    for _ in range(40):
        asked(f"{suite.address}/livez")
    samples = read(asked(suite.metrics))
    assert requests(samples, "/livez") == before + 40
    assert samples["potluck_workers", ""] == 2
    killed = workers_of(suite.process)[0]
    os.kill(killed, signal.SIGKILL)
    eventually(
        lambda: killed not in workers_of(suite.process) and read(asked(suite.metrics))["potluck_workers", ""] == 2
    )
    assert requests(read(asked(suite.metrics)), "/livez") == before + 40


def test_a_worker_that_hangs_is_left_out_and_counted_as_it_last_was(suite):
    asked(f"{suite.address}/livez")
    before = requests(read(asked(suite.metrics)), "/livez")
    hanging = workers_of(suite.process)[0]
    os.kill(hanging, signal.SIGSTOP)
    try:
        samples = read(asked(suite.metrics))
        assert (samples["potluck_workers", ""], requests(samples, "/livez")) == (1, before)
    finally:
        os.kill(hanging, signal.SIGCONT)


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(4096)
    except ConnectionResetError:
        return b""


def test_a_port_for_metrics_that_is_taken_is_one_sentence_that_names_the_setting(tmp_path, capsys, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setenv("POTLUCK_METRICS", str(port))
        assert main(["serve", "--port", "0", "--data", str(tmp_path / "data")]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"potluck: 127.0.0.1:{port} is already in use; choose another with POTLUCK_METRICS")
    assert said.count("\n") == 1
