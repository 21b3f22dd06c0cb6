"""The memory and the time of a sync: bounded by pages, and not by the number of keys."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import zarrix as zarr

_SYNC = """
import sys
import zarrix as zarr
counts = zarr.sync_store(sys.argv[1], sys.argv[2], delete=True)
assert counts.is_complete, counts
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(counts.copied, status["VmHWM"].split()[0])
"""


def made(folder: Path, keys: int) -> Path:
    """Chunks of 20 bytes, a hundred in a folder."""
    zarr.create_array(folder, shape=(keys // 100, 100), chunks=(1, 1), dtype="i4")
    for row in range(keys // 100):
        (folder / "c" / str(row)).mkdir(parents=True)
        for column in range(100):
            (folder / "c" / str(row) / str(column)).write_bytes(b"0123456789" * 2)
    return folder


def synced(source: Path, dest: Path, environment: dict[str, str]) -> tuple[int, float, float]:
    """Keys that were copied, MiB at the peak, and seconds."""
    begin = time.monotonic()
    command = [sys.executable, "-c", _SYNC, str(source), str(dest)]
    told = subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True, timeout=900
    ).stdout.split()
    return int(told[0]), int(told[1]) / 1024, time.monotonic() - begin


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the peak is told on Linux")
def test_memory_does_not_grow_with_the_number_of_keys(tmp_path: Path, is_long: bool) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    few = synced(made(tmp_path / "few", 200), tmp_path / "a", environment)
    many = made(tmp_path / "many", 100_000 if is_long else 4000)
    for _ in range(2):
        copied, peak, _ = synced(many, tmp_path / "b", environment)
        assert peak <= min(200, few[1] + 40)
    assert copied in (0, 1)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("rclone") is None, reason="apt-get install rclone")
def test_a_sync_takes_no_longer_than_that_of_rclone(tmp_path: Path) -> None:
    """From disk to disk; python -m benchmarks.sync is that to S3."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    source = made(tmp_path / "a", 100_000)
    # The same state of the file system's cache for both.
    synced(source, tmp_path / "warm", environment)
    _, _, seconds = synced(source, tmp_path / "b", environment)
    begin = time.monotonic()
    command = ["rclone", "--config", "", "sync", "--transfers", "32", "--checkers", "32"]
    subprocess.run([*command, str(source), str(tmp_path / "c")], check=True, timeout=900)
    assert seconds <= 1.2 * (time.monotonic() - begin)
