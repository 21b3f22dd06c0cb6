"""A local server with added latency: `python benchmarks/latency.py PORT MILLISECONDS`.

Prints its own address and hands connections on; what is sent to the server comes late. A process of
its own (`behind` starts it), so that it takes no turns from those who are measured, and one thread
that waits for all connections at once: with a thread for each, hundreds of them would wait for each
other.
"""

from __future__ import annotations

import collections
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

PIECE = 1 << 18


@dataclass
class Way:
    """One direction of a connection: what came from ``source`` and is due at ``target``."""

    source: socket.socket
    target: socket.socket
    delay_s: float
    due: collections.deque[tuple[float, bytes]] = field(default_factory=collections.deque)
    ended: bool = False


class Proxy:
    def __init__(self, listening: socket.socket, port: int, delay_s: float) -> None:
        self.listening, self.port, self.delay_s = listening, port, delay_s
        self.polled = select.epoll()
        self.polled.register(listening, select.EPOLLIN)
        self.from_source: dict[int, Way] = {}
        self.late: collections.deque[Way] = collections.deque()

    def run(self) -> None:
        while True:
            wait = self.late[0].due[0][0] - time.monotonic() if self.late else 0.0
            # The system waits for whole milliseconds; what is left of one is spent asking again.
            for number, _ in self.polled.poll(
                max(0, int(wait * 1000)) / 1000 if self.late else None
            ):
                if number == self.listening.fileno():
                    self._accept()
                elif number in self.from_source:
                    self._take(self.from_source[number])
            # All wait equally long, so that what came first is due first.
            while self.late and self.late[0].due[0][0] <= time.monotonic():
                self._send(self.late.popleft())

    def _accept(self) -> None:
        near, _ = self.listening.accept()
        far = socket.create_connection(("127.0.0.1", self.port))
        for one in (near, far):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # A slow reader must not delay the others.
            one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16 * PIECE)
            self.polled.register(one, select.EPOLLIN)
        self.from_source[near.fileno()] = Way(near, far, self.delay_s)
        self.from_source[far.fileno()] = Way(far, near, 0.0)

    def _take(self, way: Way) -> None:
        try:
            piece = way.source.recv(PIECE)
        except OSError:
            piece = b""
        if not piece:
            self.polled.unregister(way.source)
            way.ended = True
        way.due.append((time.monotonic() + way.delay_s, piece))
        if way.delay_s:
            self.late.append(way)
        else:
            self._send(way)

    def _send(self, way: Way) -> None:
        _, piece = way.due.popleft()
        try:
            if piece:
                way.target.sendall(piece)
            else:
                way.target.shutdown(socket.SHUT_WR)
        except OSError:
            # The receiver has closed the connection.
            pass
        if not piece:
            self._end(way)

    def _end(self, way: Way) -> None:
        """Both sockets are closed when nothing more comes from either."""
        back = self.from_source[way.target.fileno()]
        if back.ended and not back.due:
            for one in (way.source, way.target):
                del self.from_source[one.fileno()]
                one.close()


@contextmanager
def behind(port: int, latency_ms: float) -> Iterator[str]:
    """The address of a proxy in front of the local server at ``port``."""
    command = [sys.executable, __file__, str(port), str(latency_ms)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as proxy:
        assert proxy.stdout is not None
        try:
            yield proxy.stdout.readline().strip()
        finally:
            proxy.terminate()


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    Proxy(listener, int(sys.argv[1]), float(sys.argv[2]) / 1000).run()
