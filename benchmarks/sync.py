"""`sync_store` from disk to S3, and from disk to disk, beside rclone: time and peak memory.

    python -m benchmarks.sync                    # 2000 keys; versitygw where it is installed
    python -m benchmarks.sync --to disk --keys 100000 --rounds 3

Each call is a process of its own, and the medians of interleaved rounds count. rclone copies the
same folder to another place, with as many transfers, and compares by size and time, which it keeps
with each object. It is left out where it is not installed (``apt-get install rclone``).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from servers import KEY, REGION, SECRET, SERVERS, new_bucket, running

WORKERS = 32

_CALL = """
import json, sys
import zarrix as zarr
source, url, options, workers = json.loads(sys.argv[1])
from zarrix._stores.open import as_store
dest = as_store(url, options)
counts = zarr.sync_store(source, dest, workers=workers, delete=True)
assert counts.is_complete
print(counts)
"""


def make(folder: Path, keys: int) -> None:
    """Chunks of 200 bytes in folders of a thousand, and the documents of an array."""
    import zarrix as zarr

    zarr.create_array(folder, shape=(keys, 25), chunks=(1, 25), dtype="f8")
    for number in range(keys):
        (folder / "c" / str(number)).mkdir(parents=True)
        (folder / "c" / str(number) / "0").write_bytes(number.to_bytes(8, "little") * 25)
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, (1e9, 1e9))


class Used(NamedTuple):
    """What a process took: seconds, those of processors, and MiB at the peak."""

    seconds: float
    processor: float
    mebibytes: float


def run(command: list[str], environment: dict[str, str]) -> Used:
    """What a process takes."""
    begin, peak = time.monotonic(), 0
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    ended, status, used = 0, 0, None
    while not ended:
        # What `wait4` tells includes the memory of this process, from before the program began.
        told = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        peaks = [line for line in told if line.startswith("VmHWM")]
        peak = max(peak, int(peaks[0].split()[1]) if peaks else 0)
        time.sleep(0.02)
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or used is None:
        raise SystemExit(f"{command[0]} ended with status {process.returncode}")
    return Used(time.monotonic() - begin, used.ru_utime + used.ru_stime, peak / 1024)


RCLONE = ["rclone", "sync", "--transfers", str(WORKERS), "--checkers", str(WORKERS)]


class Place(NamedTuple):
    """Where copies go: an address for each, and how zarrix and rclone are told of it."""

    name: str
    address: str
    options: dict[str, object]
    peer_address: str
    peer_environment: dict[str, str]


@contextmanager
def place(kind: str, top: str) -> Iterator[Place]:
    """A folder, or a bucket on a server, whose configuration for rclone is in the environment."""
    plain = {**os.environ, "RCLONE_CONFIG": ""}
    # rclone does not start with one.
    plain.pop("AWS_CA_BUNDLE", None)
    if kind == "disk":
        yield Place("disk", f"{top}/copies", {}, f"{top}/copies", plain)
        return
    with running(SERVERS[kind]) as server:
        bucket, prefix = new_bucket(server, "sync-benchmark"), "RCLONE_CONFIG_HERE_"
        peer = {
            f"{prefix}TYPE": "s3", f"{prefix}PROVIDER": "Other",
            f"{prefix}ENDPOINT": server.endpoint, f"{prefix}REGION": REGION,
            f"{prefix}ACCESS_KEY_ID": KEY, f"{prefix}SECRET_ACCESS_KEY": SECRET,
            "RCLONE_S3_NO_CHECK_BUCKET": "true",
        }  # fmt: skip
        there = f"here:{bucket.removeprefix('s3://')}"
        yield Place(kind, bucket, server.options, there, {**plain, **peer})


def measure(folder: Path, there: Place, rounds: int, cache: str) -> dict[str, list[Used]]:
    """What each call takes, by what was to do, and by which program."""
    found: dict[str, list[Used]] = {}
    environment = {**os.environ, "XDG_CACHE_HOME": cache}
    for number in range(rounds):
        asked = [str(folder), f"{there.address}/zarrix{number}", there.options, WORKERS]
        calls = {"zarrix": ([sys.executable, "-c", _CALL, json.dumps(asked)], environment)}
        if shutil.which("rclone"):
            peer = [*RCLONE, str(folder), f"{there.peer_address}/rclone{number}"]
            calls["rclone"] = (peer, there.peer_environment)
        for what in ("all is new", "nothing changed"):
            for who in sorted(calls, reverse=number % 2 == 0):
                found.setdefault(f"{what}: {who}", []).append(run(*calls[who]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--keys", type=int, default=2000)
    parser.add_argument("--to", choices=("disk", "moto", "versitygw", "seaweedfs"))
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args()
    kind = arguments.to or ("moto" if SERVERS["versitygw"].missing else "versitygw")
    with tempfile.TemporaryDirectory() as top, place(kind, top) as there:
        folder = Path(top) / "a.zarr"
        make(folder, arguments.keys)
        found = measure(folder, there, arguments.rounds, f"{top}/cache")
    print(f"{arguments.keys:,} keys of 200 bytes, disk to {kind}; medians of {arguments.rounds}")
    for name, rows in found.items():
        used = Used(*(statistics.median(column) for column in zip(*rows, strict=True)))
        told = f"{used.seconds:6.1f} s, {used.processor:6.1f} s of processors"
        print(f"  {name:24} {told}, {used.mebibytes:5.0f} MiB")
    print(f"load {os.getloadavg()[0]:.1f}", file=sys.stderr)


if __name__ == "__main__":
    main()
