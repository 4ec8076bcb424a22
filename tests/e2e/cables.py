"""A cable between a browser and its server that can be pulled, and put back."""

import contextlib
import socket
import threading
from collections.abc import Iterator

__all__ = ["Cable", "cable_to"]


class Cable:
    """Passes bytes on both ways. What was under way when it was pulled never arrives, and nobody is told."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._pulled = False
        self._ends: list[socket.socket] = []
        self._silent: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def pull(self) -> None:
        self._pulled = True
        self._silent |= set(self._ends)

    def put_back(self) -> None:
        """A browser that finds its network changed gives up the connections of before."""
        self._pulled = False
        for end in self._silent:
            end.close()

    def close(self) -> None:
        self._listening.close()
        for end in self._ends:
            end.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                if self._pulled:
                    near.close()
                    continue
                try:
                    far = socket.create_connection(("127.0.0.1", self._port))
                except OSError:
                    near.close()
                    continue
                self._ends += [near, far]
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                if one not in self._silent:
                    other.sendall(data)
            if one not in self._silent:
                other.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def cable_to(port: int) -> Iterator[Cable]:
    cable = Cable(port)
    try:
        yield cable
    finally:
        cable.close()
