"""A server on this machine, seen from far away: `python benchmarks/latency.py PORT MILLISECONDS`.

Prints its own address and hands connections on; what is sent to the server comes late. A process of
its own, so that it takes no turns from those who are measured.
"""

from __future__ import annotations

import socket
import sys
import threading
import time


def _accept(listening: socket.socket, port: int, delay_s: float) -> None:
    while True:
        near, _ = listening.accept()
        far = socket.create_connection(("127.0.0.1", port))
        for one in (near, far):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for source, target, delay in ((near, far, delay_s), (far, near, 0.0)):
            threading.Thread(target=_pass_on, args=(source, target, delay), daemon=True).start()


def _pass_on(source: socket.socket, target: socket.socket, delay_s: float) -> None:
    """Clients send small requests one at a time, so that waiting here delays just them."""
    try:
        while piece := source.recv(1 << 18):
            if delay_s:
                time.sleep(delay_s)
            target.sendall(piece)
    except OSError:
        # One side went away, and so does the other.
        return
    finally:
        for one in (source, target):
            one.close()


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    _accept(listener, int(sys.argv[1]), float(sys.argv[2]) / 1000)
