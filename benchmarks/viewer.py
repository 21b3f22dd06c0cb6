"""The viewer's server: time to the first picture, tiles, and memory.

    python -m benchmarks.viewer PATH [--array gt] [--tiles 400]

PATH is a group with an array of frames, such as the demo's (``zarrix demo --size 1080p``). The
server is ``zarrix view`` in a process of its own; the client is one connection of this process.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlencode


class View:
    """A running `zarrix view`, and a connection to it."""

    def __init__(self, path: str) -> None:
        self.begun = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "zarrix", "view", path, "--no-browser", "-q"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r":(\d+)/#token=(\S+)", line)
        assert found is not None, line
        self.listening_s = time.perf_counter() - self.begun
        self.port, self.token = int(found[1]), found[2]
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port)

    def get(self, route: str, **parameters: object) -> tuple[float, bytes]:
        """Seconds and body of an answer."""
        begun = time.perf_counter()
        target = f"/api/{route}?{urlencode(parameters)}"
        self.connection.request("GET", target, headers={"X-Zarrix-Token": self.token})
        answer = self.connection.getresponse()
        body = answer.read()
        assert answer.status == 200, (route, parameters, body[:200])
        return time.perf_counter() - begun, body

    def cpu_s(self) -> float:
        """Seconds of processor time of the server so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mib(self) -> float:
        """The largest resident set of the server so far."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        assert found is not None
        return int(found[1]) / 1024

    def close(self) -> None:
        """End the server."""
        self.connection.close()
        self.process.send_signal(signal.SIGINT)
        self.process.communicate()


def percentile(values: list[float], part: float) -> float:
    """The value below which this part of all values lies."""
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path")
    parser.add_argument("--array", default="gt")
    parser.add_argument("--tiles", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    import zarrix

    shape = zarrix.open(options.path, mode="r")[options.array].shape
    frames, _, height, width = shape
    firsts, listening, cpu = [], [], []
    for _ in range(options.rounds):
        view = View(options.path)
        view.get("hello")
        view.get("node", path=options.array)
        view.get("tile", path=options.array, sel=f"0,:,0:{min(512, height)},0:{min(512, width)}")
        firsts.append(time.perf_counter() - view.begun)
        cpu.append(view.cpu_s())
        listening.append(view.listening_s)
        view.close()
    view = View(options.path)
    side = 512
    corners = itertools.cycle(
        (t, y, x)
        for t in range(frames)
        for y in range(0, height - side + 1, side)
        for x in range(0, width - side + 1, side)
    )
    # One plane of 512 x 512 bytes: 256 KiB.
    seconds = []
    for number, (t, y, x) in zip(range(options.tiles + 20), corners, strict=False):
        sel = f"{t},0,{y}:{y + side},{x}:{x + side}"
        took, body = view.get("tile", path=options.array, sel=sel)
        assert len(body) == side * side
        if number >= 20:
            seconds.append(took)
    begun = time.perf_counter()
    for t in range(frames):
        for y in range(0, height, 540):
            view.get("tile", path=options.array, sel=f"{t},:,{y}:{y + 540},:")
    per_frame = (time.perf_counter() - begun) / frames
    for route, given in (
        ("stats", {"path": options.array}),
        ("overview", {"path": options.array, "sel": "0,0", "axes": "2,3"}),
        ("npy", {"path": options.array, "sel": "0"}),
    ):
        view.get(route, **given)
    print(f"CPUs {os.cpu_count()}, load {os.getloadavg()[0]:.1f}")
    print(f"listening after {min(listening) * 1e3:.0f} to {max(listening) * 1e3:.0f} ms")
    print(f"first tile after {min(firsts) * 1e3:.0f} to {max(firsts) * 1e3:.0f} ms")
    print(f"processor time until then {min(cpu):.2f} to {max(cpu):.2f} s")
    print(f"tiles of 256 KiB: p50 {percentile(seconds, 0.5) * 1e3:.1f} ms, "
          f"p99 {percentile(seconds, 0.99) * 1e3:.1f} ms")  # fmt: skip
    print(f"frames of {height} x {width} RGB: {1 / per_frame:.0f} a second, one request at a time")
    print(f"largest resident set {view.memory_mib():.0f} MiB")
    view.close()


if __name__ == "__main__":
    main()
