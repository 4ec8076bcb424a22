"""Serves an application until told to stop: opens the sockets, prints the address, starts one process or a pool.

This module and the parent of the workers do not import the framework: only the workers spend time on that.
"""

import errno
import os
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from typing import Any

from potluck.dynamo.storage.private_files import open_to, write_private
from potluck.settings import Settings
from potluck.web.server.reasons import reason_of

Make = str | Callable[[Settings], AbstractAsyncContextManager[Any]]
"""Makes the application and closes it again; or the name of what does, such as "potluck.suite:assembled"."""

# For requests in progress when it stops. With the cleanup after it, less than the ten seconds after which Docker kills.
GRACE_SECONDS = 7
BACKLOG = 2048
# Each open event stream needs a file descriptor, and the usual limit is 1,024.
FILES_WANTED = 65_536


def serve(make: Make, settings: Settings, keeps: str) -> int:
    """Serve until told to stop, with as many workers as the settings say; returns the exit status.

    If it cannot start, it prints the reason in one line.
    """
    _allow_many_files()
    sockets: list[socket.socket] = []
    metrics_sockets: list[socket.socket] = []
    try:
        sockets = listening(settings.host, settings.port)
        if settings.metrics is not None:
            metrics_sockets = listening(*settings.metrics, "POTLUCK_METRICS")
    except OSError as problem:
        for bound in sockets:
            bound.close()
        return _say(str(problem))
    port = _port_of(sockets)

    def announce() -> None:
        with suppress(OSError):
            _port_file(settings).unlink(missing_ok=True)
            write_private(_port_file(settings), str(port).encode())
        print(f"\n  Potluck is on the table: {_address(sockets[0])}")
        if settings.origin is not None:
            print(f"  People reach it at {settings.origin}")
        if metrics_sockets:
            print(f"  Metrics are at {_address(metrics_sockets[0])}/metrics")
        print(f"  Everything it knows is in {keeps}")
        if settings.engine == "embedded":
            _warn_if_readable_by_others(settings.data)
        print("  Ctrl+C stops it.\n", flush=True)

    try:
        if settings.workers > 1:
            from potluck.web.server.worker_pool import supervise

            return supervise(make, settings, sockets, announce, metrics_sockets)
        from potluck.web.server.metrics_page import offered_to_nobody, on_a_page
        from potluck.web.server.uvicorn_server import serve_here

        metrics = on_a_page(metrics_sockets) if metrics_sockets else offered_to_nobody
        serve_here(make, settings, sockets, announce, metrics)
    except Exception as error:
        problem_in_words = reason_of(error)
        if problem_in_words is None:
            raise
        return _say(problem_in_words)
    finally:
        if port_in_use(settings) == port:  # else another `potluck serve` on this folder has written it
            with suppress(OSError):
                _port_file(settings).unlink()
        for bound in (*sockets, *metrics_sockets):
            bound.close()
    return 0


def port_in_use(settings: Settings) -> int | None:
    """The port that the suite on this data folder answers at; None if it does not run, or not here."""
    try:
        return int(_port_file(settings).read_text())
    except (OSError, ValueError):
        return None


def _port_file(settings: Settings) -> Path:
    """Where other commands find the port in use, which their own settings need not say."""
    return settings.data / "port"


def _warn_if_readable_by_others(folder: Path) -> None:
    """Warn if other users can read the folder: it was not created by us, or was opened up since."""
    mode = open_to(folder)
    if mode:
        can = "change what is in" if mode & 0o022 else "look into"
        whose = "" if os.stat(folder).st_uid == os.getuid() else "it belongs to another user, who can "
        print(f"  Others on this machine can {can} {folder} (mode {mode:o}): {whose}chmod 700 {folder}")


def listening(host: str, port: int, setting: str | None = None) -> list[socket.socket]:
    """A listening socket for each address of the host; OSError with a readable reason if one cannot be opened.

    `setting` is what chooses another address, if not the command's own.
    """
    shown = f"[{host}]" if ":" in host else host
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise OSError(_no_address(shown, setting)) from None
    sockets: list[socket.socket] = []
    refused: OSError | None = None
    for family, kind, protocol, _, address in dict.fromkeys(addresses):
        try:
            # If any free port will do, the one found for the first address is used for all.
            chosen = (address[0], port or _port_of(sockets), *address[2:])
            sockets.append(_bound(family, kind, protocol, chosen))
        except OSError as error:
            refused = error
            # A host may have an IPv6 name without having IPv6.
            if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                break
    else:
        if sockets:
            return sockets
    for bound in sockets:
        bound.close()
    assert refused is not None
    raise OSError(_why_not(refused, shown, port, setting)) from None


def _bound(family: int, kind: int, protocol: int, address: Any) -> socket.socket:
    bound = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.bind(address)
        bound.listen(BACKLOG)
        bound.setblocking(False)
    except BaseException:
        bound.close()
        raise
    return bound


def _port_of(sockets: Sequence[socket.socket]) -> int:
    return int(sockets[0].getsockname()[1]) if sockets else 0


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _why_not(error: OSError, host: str, port: int, setting: str | None) -> str:
    chosen_by = setting or "--port or POTLUCK_PORT"
    if error.errno == errno.EADDRINUSE:
        return f"{host}:{port} is already in use; choose another with {chosen_by}, or 0 for any free port"
    if error.errno == errno.EACCES:
        return f"listening on port {port} needs privileges; choose another with {chosen_by}"
    if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
        return _no_address(host, setting)
    return f"cannot listen on {host}:{port}: {error.strerror}"


def _no_address(host: str, setting: str | None) -> str:
    return f"this machine does not have the address {host}; choose another with {setting or '--host or POTLUCK_HOST'}"


def _allow_many_files() -> None:
    if os.name != "posix":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = FILES_WANTED if hard == resource.RLIM_INFINITY else min(FILES_WANTED, hard)
    if soft == resource.RLIM_INFINITY or soft >= limit:
        return
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def _say(problem: str) -> int:
    print(f"potluck: {problem}", file=sys.stderr)
    return 1
