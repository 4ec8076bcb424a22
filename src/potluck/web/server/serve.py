"""Serving an application until told to stop: where it listens, what it says, and by how many processes.

This much, and the parent of several workers, is done without the framework, which each worker takes its time to import.
"""

import errno
import os
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

from potluck.dynamo.errors import DynamoError, StoreUnusable
from potluck.settings import Settings, SettingsError
from potluck.table.errors import Unavailable

__all__ = ["BACKLOG", "GRACE_SECONDS", "Make", "cannot_start", "listening", "serve"]

Make = str | Callable[[Settings], AbstractAsyncContextManager[Any]]
"""What makes the application and takes it down again; or where that is found: "potluck.suite:assembled"."""

# For requests under way at a stop. With what comes after it, less than the ten seconds after which Docker kills.
GRACE_SECONDS = 7
BACKLOG = 2048
# Each open event stream is a file to the system, and its usual limit is 1,024.
FILES_WANTED = 65_536


def serve(make: Make, settings: Settings, keeps: str) -> int:
    """Serve until told to stop, by as many workers as the settings say; the exit status of the process.

    What keeps it from starting is said in one line.
    """
    _allow_many_files()
    try:
        sockets = listening(settings.host, settings.port)
    except OSError as problem:
        return _say(str(problem))

    def announce() -> None:
        print(f"\n  Potluck is on the table: {_address(sockets[0])}")
        if settings.origin is not None:
            print(f"  People reach it at {settings.origin}")
        print(f"  Everything it knows is in {keeps}")
        print("  Ctrl+C stops it.\n", flush=True)

    try:
        if settings.workers > 1:
            from potluck.web.server.worker_pool import supervise

            return supervise(make, settings, sockets, announce)
        from potluck.web.server.uvicorn_server import serve_here

        serve_here(make, settings, sockets, announce)
    except Exception as error:
        problem_in_words = cannot_start(error)
        if problem_in_words is None:
            raise
        return _say(problem_in_words)
    finally:
        for each in sockets:
            each.close()
    return 0


def listening(host: str, port: int) -> list[socket.socket]:
    """A socket for each address that the host's name stands for; OSError in words if one cannot be had."""
    shown = f"[{host}]" if ":" in host else host
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise OSError(f"there is no address {shown} here to listen on; --host or POTLUCK_HOST names another") from None
    sockets: list[socket.socket] = []
    refused: OSError | None = None
    for family, kind, protocol, _, address in dict.fromkeys(found):
        try:
            # Where any free port was asked for, the first address finds it for all.
            chosen = (address[0], port or _port_of(sockets), *address[2:])
            sockets.append(_bound(family, kind, protocol, chosen))
        except OSError as error:
            refused = error
            # A machine may have a name for IPv6 and no IPv6.
            if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                break
    else:
        if sockets:
            return sockets
    for each in sockets:
        each.close()
    assert refused is not None
    raise OSError(_why_not(refused, shown, port)) from None


def cannot_start(error: BaseException) -> str | None:
    """In words, if it is something that the operator can change; None if it is a defect."""
    if isinstance(error, SettingsError | StoreUnusable | OSError):
        return str(error)
    if isinstance(error, DynamoError | Unavailable):
        return f"the store does not answer: {error}"
    # What the AWS SDK misses, such as a region or credentials; it is imported only where it is used.
    if type(error).__module__.startswith("botocore."):
        return f"Amazon DynamoDB cannot be used: {error}"
    return None


def _bound(family: int, kind: int, protocol: int, address: Any) -> socket.socket:
    made = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(address)
        made.listen(BACKLOG)
        made.setblocking(False)
    except BaseException:
        made.close()
        raise
    return made


def _port_of(sockets: Sequence[socket.socket]) -> int:
    return int(sockets[0].getsockname()[1]) if sockets else 0


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _why_not(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"something else listens on {host}:{port} already; --port or POTLUCK_PORT names another, 0 any free one"
    if error.errno == errno.EACCES:
        return f"port {port} is not for everybody to listen on; --port or POTLUCK_PORT names another"
    if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
        return f"there is no address {host} here to listen on; --host or POTLUCK_HOST names another"
    return f"{host}:{port} cannot be listened on: {error.strerror}"


def _allow_many_files() -> None:
    if os.name != "posix":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES_WANTED if hard == resource.RLIM_INFINITY else min(FILES_WANTED, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _say(problem: str) -> int:
    print(f"potluck: {problem}", file=sys.stderr)
    return 1
