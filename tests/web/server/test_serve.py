"""Serving by real processes: what a stop finishes, what a death leaves, and what a bad start says."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from potluck.settings import Settings
from potluck.web.server.serve import GRACE_SECONDS, listening, serve
from tests.web.served import made, refused

ROOT = Path(__file__).parents[3]
# Bounds on what must happen at all; how fast is compared, never measured.
PATIENCE_SECONDS = 60
PLANTED = "pls_0123456789abcdef-planted"
STREAM_ENDED = b"event: ended\n\n\r\n0\r\n\r\n"


# As the command does it: by name, and without the framework in the parent of workers.
START = """
import sys
from pathlib import Path
from potluck.settings import Settings
from potluck.web.server.serve import serve
name, folder, workers = sys.argv[1:]
settings = Settings(data=Path(folder), workers=int(workers), port=0, log="requests")
sys.exit(serve(f"tests.web.served:{name}", settings, folder))
"""


def command(name, folder, workers):
    return [sys.executable, "-c", START, name, str(folder / "data"), str(workers)]


@contextmanager
def serving(folder, workers=1, name="made"):
    """A server of its own process, the address it printed, and what it logs."""
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command(name, folder, workers),
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    # A server that never says where it is must not keep the test waiting.
    deadline = threading.Timer(PATIENCE_SECONDS, process.kill)
    deadline.start()
    try:
        said = ""
        while not (address := re.search(r"http://127\.0\.0\.1:(\d+)", said)):
            line = process.stdout.readline()
            assert line, f"it stopped, having said: {said}{(folder / 'log').read_text()}"
            said += line
        yield SimpleNamespace(
            process=process, address=address[0], port=int(address[1]), data=folder / "data", log=folder / "log"
        )
    finally:
        deadline.cancel()
        process.kill()
        process.wait()
        process.stdout.close()


def asked(server, path, timeout=PATIENCE_SECONDS):
    with urllib.request.urlopen(server.address + path, timeout=timeout) as answer:
        return answer.read().decode()


def eventually(true):
    until = time.monotonic() + PATIENCE_SECONDS
    while not true():
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.02)


def gone(pid):
    """Whether the process has ended, even if nobody has asked how yet."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


def children(server):
    found = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    return [int(pid) for pid in found]


class Asking(threading.Thread):
    """A request that is under way while the test goes on."""

    def __init__(self, server, path):
        super().__init__(daemon=True)
        self.server, self.path = server, path
        self.answer = self.error = None
        self.start()

    def run(self):
        try:
            self.answer = asked(self.server, self.path)
        except (OSError, urllib.error.URLError) as error:
            self.error = error

    def result(self):
        self.join(PATIENCE_SECONDS)
        assert not self.is_alive()
        return self.answer


def under_way(server, path):
    asking = Asking(server, path)
    eventually(lambda: list(server.data.glob("asked-*")))
    return asking


def open_stream(server):
    stream = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS)
    stream.sendall(b"GET /stream HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
    received = b""
    while b"event: begun" not in received:
        received += stream.recv(4096)
    return stream


def rest_of(stream):
    received = b""
    while data := stream.recv(4096):
        received += data
    stream.close()
    return received


# --- stopping --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("workers", "number"), [(1, signal.SIGINT), (2, signal.SIGTERM)], ids=["one", "two"])
def test_a_stop_answers_what_is_under_way_and_ends_streams_and_closes(tmp_path, workers, number):
    with serving(tmp_path, workers) as server:
        stream = open_stream(server)
        slow = under_way(server, "/held")
        workers_there = children(server)
        server.process.send_signal(number)
        if number == signal.SIGTERM:
            # Some supervisors tell everyone, and the parent passes it on besides.
            for pid in (server.process.pid, *workers_there):
                os.kill(pid, number)
        # The stream is told at once, and not when the slow answer is there.
        assert rest_of(stream).endswith(STREAM_ENDED)
        assert slow.is_alive()
        (server.data / "let-go").touch()
        assert slow.result() == "answered in full"
        assert server.process.wait(PATIENCE_SECONDS) == 0
        assert len(list(server.data.glob("closed-*"))) == workers
        assert all(gone(pid) for pid in workers_there)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", server.port))


@pytest.mark.parametrize(("name", "times"), [("made", 2), ("one_late", 1)])
def test_a_stop_at_the_first_answer_finds_workers_that_are_not_there_yet(tmp_path, name, times):
    for number in range(times):
        stop_at_the_first_answer(name, tmp_path / f"data-{number}")


def stop_at_the_first_answer(name, data):
    # Where it will be is known before it says so, which it does when all its workers are there. Nobody else is given a
    # port that is bound, and a server may listen on it as long as nobody else does.
    with socket.socket() as reserved:
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        source = START.replace("port=0", f"port={port}")
        process = subprocess.Popen(
            [sys.executable, "-c", source, name, str(data), "2"], cwd=ROOT, stderr=subprocess.PIPE, text=True
        )
        try:
            server = SimpleNamespace(address=f"http://127.0.0.1:{port}")
            eventually(lambda: answers(server))
            if name == "one_late":
                eventually((data / "late").exists)
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=PATIENCE_SECONDS)
            assert process.returncode == 0, said
        finally:
            process.kill()
            process.wait()


def answers(server):
    try:
        return asked(server, "/pid")
    except OSError:
        return None


@pytest.mark.parametrize("workers", [1, 2])
def test_a_second_ctrl_c_is_immediate(tmp_path, workers):
    with serving(tmp_path, workers) as server:
        slow = under_way(server, "/held")
        stream = open_stream(server)
        workers_there = children(server)
        began = time.monotonic()
        server.process.send_signal(signal.SIGINT)
        # One that was not taken yet would be the same as the next.
        assert rest_of(stream).endswith(STREAM_ENDED)
        assert server.process.poll() is None
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(PATIENCE_SECONDS) == 130
        assert time.monotonic() - began < GRACE_SECONDS
        assert slow.result() is None
        eventually(lambda: all(gone(pid) for pid in workers_there))


# --- dying -----------------------------------------------------------------------------------------------------------


def test_a_worker_that_is_killed_is_replaced_and_none_outlives_a_parent_that_is_killed(tmp_path):
    with serving(tmp_path, 2) as server:
        before = set(children(server))
        victim = min(before)
        os.kill(victim, signal.SIGKILL)
        (other,) = before - {victim}
        eventually(lambda: gone(victim))
        assert int(asked(server, "/pid")) != victim
        eventually(lambda: len(set(children(server)) - {victim}) == 2)
        (replacement,) = set(children(server)) - before
        # The replacement answers too, and not only the one who was there all along.
        os.kill(other, signal.SIGSTOP)
        try:
            assert int(asked(server, "/pid")) == replacement
        finally:
            os.kill(other, signal.SIGCONT)
        assert f'"message":"worker {victim} ended with status -9 and is replaced"' in server.log.read_text()

        slow = under_way(server, "/slow/0.5")
        server.process.kill()
        server.process.wait()
        assert slow.result() == "answered in full"
        eventually(lambda: gone(other) and gone(replacement))
        assert {f"closed-{pid}" for pid in (other, replacement)} == {file.name for file in server.data.glob("closed-*")}


# --- starting --------------------------------------------------------------------------------------------------------


def failed(folder, name, workers):
    ended = subprocess.run(
        command(name, folder, workers),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert ended.stdout == ""
    return ended.returncode, ended.stderr


def test_what_keeps_it_from_starting_is_said_in_one_line(tmp_path, capsys):
    assert serve(refused, Settings(data=tmp_path, port=0), "") == 1
    assert capsys.readouterr().err == "potluck: the pantry is locked\n"


def test_workers_that_die_at_the_start_are_not_tried_for_ever(tmp_path):
    status, said = failed(tmp_path, "broken", 2)
    assert status == 1
    assert said == "potluck: a worker could not start and ended with status 7\n"


def test_a_port_that_is_taken_is_one_line(tmp_path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert serve(made, Settings(data=tmp_path, port=port), "") == 1
    said = capsys.readouterr().err
    assert said.startswith(f"potluck: 127.0.0.1:{port} is already in use; ")
    assert said.count("\n") == 1


def test_an_address_that_is_not_here_is_one_line(tmp_path, capsys):
    for host in ("192.0.2.1", "no such host", "2001:db8::1"):
        assert serve(made, Settings(data=tmp_path, host=host), "") == 1
        said = capsys.readouterr().err
        assert said.startswith("potluck: this machine does not have the address ")
        assert said.count("\n") == 1


def test_a_name_with_several_addresses_has_one_port_on_all_of_them():
    sockets = listening("localhost", 0)
    try:
        assert len({each.getsockname()[1] for each in sockets}) == 1
    finally:
        for each in sockets:
            each.close()


# --- what is logged --------------------------------------------------------------------------------------------------


def test_nothing_planted_in_a_request_is_in_the_log_of_a_server(tmp_path):
    head = f"cookie: potluck={PLANTED}\r\nauthorization: Bearer {PLANTED}\r\nhost: {PLANTED}\r\n"
    head += "sec-fetch-site: same-origin\r\n"
    requests = [
        f"GET /pid?{PLANTED} HTTP/1.1\r\n{head}\r\n",
        f"GET /failing/{PLANTED} HTTP/1.1\r\n{head}\r\n",
        f"GET /nowhere/{PLANTED} HTTP/1.1\r\n{head}\r\n",
        f"POST /echo/{PLANTED} HTTP/1.1\r\n{head}content-length: {len(PLANTED)}\r\n\r\n{PLANTED}",
        f"POST /echo/{PLANTED} HTTP/1.1\r\n{head}content-length: 99\r\n\r\n{PLANTED}",
        f"{PLANTED} / HTTP/1.1\r\n\r\n",
        f"GET /{PLANTED} HTTP/1.1\r\n{PLANTED}\r\n\r\n",
        f"GET /{PLANTED * 400} HTTP/1.1\r\n{head}\r\n",
        f"GET /pid HTTP/1.1\r\n{head}x: {PLANTED * 2000}\r\n\r\n",
        f"GET /pid HTTP/1.1\r\n{head}upgrade: websocket\r\nconnection: upgrade\r\n\r\n{PLANTED}",
    ]
    statuses = []
    with serving(tmp_path) as server:
        for request in requests:
            with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS) as client:
                answer = b""
                # One who is refused before everything was read may be reset, while it sends or after the answer.
                with suppress(ConnectionError):
                    client.sendall(request.encode())
                    client.shutdown(socket.SHUT_WR)
                with suppress(ConnectionError):
                    while data := client.recv(65536):
                        answer += data
                assert not answer or b"x-request-id: " in answer
                statuses.append(int(answer[9:12] or 0))
        server.process.terminate()
        assert server.process.wait(PATIENCE_SECONDS) == 0
        log = server.log.read_text()
    assert statuses == [200, 500, 404, 200, 0, 400, 400, 414, 431, 200]
    assert "planted" not in log
    lines = [json.loads(line) for line in log.splitlines()]
    assert {line.get("route") for line in lines} >= {"/failing/{item}", "/echo/{item}"}
