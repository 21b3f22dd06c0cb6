"""Run ``filter_speed`` and numcodecs on the same data, in turns, and print both and the ratio.

The first argument is the built example; every figure is the best of all rounds, in GB/s of decoded
bytes, on one thread.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable

import numcodecs
import numpy as np

ROUNDS = 3
COUNT = 1 << 20


def waves(count: int) -> np.ndarray:
    """The numbers that the example makes."""
    return np.sin(np.arange(count) % 4096 / 100.0) * 100.0


def best(work: Callable[[], object]) -> float:
    """The shortest of several runs, in seconds."""
    times = []
    for _ in range(7):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def theirs(name: str, configuration: dict[str, object]) -> tuple[float, float] | None:
    """How fast numcodecs encodes and decodes, if it has the codec."""
    if not name.startswith("numcodecs."):
        return None
    configuration = dict(configuration)
    name = name.removeprefix("numcodecs.")
    dtype = configuration.get("decode_dtype") or configuration.get("dtype")
    if name in {"bitround", "pcodec"}:
        del configuration["dtype"]
    if name == "packbits":
        data = waves(8 * COUNT) > 20
    elif name == "categorize":
        data = np.array(configuration["labels"], "U10")[np.arange(COUNT) * 7 % 11 % 3]
    elif name in {"bz2", "lzma", "pcodec"}:
        noise = np.arange(COUNT, dtype="u4") * np.uint32(2_654_435_761) >> np.uint32(28)
        data = waves(COUNT).astype("<i4") * 16 + noise.astype("<i4")
    else:
        data = waves(COUNT).astype(dtype or "<f4")
    try:
        codec = numcodecs.get_codec({"id": name, **configuration})
    except (ValueError, ImportError):
        return None
    stored = codec.encode(data)
    out = np.empty_like(data)
    speeds = [best(lambda: codec.encode(data)), best(lambda: codec.decode(stored, out=out))]
    return data.nbytes / speeds[0] / 1e9, data.nbytes / speeds[1] / 1e9


def main() -> None:
    """Measure in turns, then print one line per codec."""
    ours: dict[str, list[dict[str, float]]] = {}
    others: dict[str, list[tuple[float, float] | None]] = {}
    for _ in range(ROUNDS):
        output = subprocess.run([sys.argv[1]], capture_output=True, check=True, text=True).stdout
        for line in output.splitlines():
            measured = json.loads(line)
            if "configuration" not in measured:
                print(measured)
                continue
            title = f"{measured['name']} {json.dumps(measured['configuration'])}"
            ours.setdefault(title, []).append(measured)
            speeds = theirs(measured["name"], measured["configuration"])
            others.setdefault(title, []).append(speeds)
    for title, rounds in ours.items():
        encode, decode = (max(r[way] for r in rounds) for way in ("encode", "decode"))
        print(f"{title[:88]:88} encode {encode:6.2f} decode {decode:6.2f}", end="")
        speeds = [speed for speed in others[title] if speed]
        if speeds:
            ratios = encode / max(s[0] for s in speeds), decode / max(s[1] for s in speeds)
            print(f"   {ratios[0]:6.2f}x {ratios[1]:6.2f}x", end="")
        print()


if __name__ == "__main__":
    main()
