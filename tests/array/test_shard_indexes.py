"""A handle reads the index of a local shard once, and notices every change of the shard."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

# Of 128 x 128 inner chunks, 16 bytes each.
INDEX_BYTES = 128 * 128 * 16
SHAPE = (128 * 4, 128 * 4)
# File times are trusted from this age on.
SETTLED_S = 0.05


def stored(path: Path, value: int, **more: Any) -> Any:
    z = zarr.create_array(
        path,
        shape=SHAPE,
        chunks=(4, 4),
        shards=SHAPE,
        dtype="u2",
        compressors=zarr.codecs.ZstdCodec(),
        **more,
    )
    z[...] = value
    z[100:300, 50:60] = np.arange(200, dtype="u2")[:, None] + value
    return z


def bytes_read() -> int:
    for line in Path("/proc/self/io").read_text().splitlines():
        if line.startswith("rchar:"):
            return int(line.split()[1])
    raise AssertionError("no rchar")


@pytest.mark.skipif(sys.platform != "linux", reason="/proc/self/io counts what was read")
def test_the_index_is_read_once(tmp_path: Path) -> None:
    stored(tmp_path / "z", 7)
    time.sleep(SETTLED_S)
    z = zarr.open_array(tmp_path / "z", mode="r")
    begun = bytes_read()
    assert z[0, 0] == 7
    first = bytes_read() - begun
    assert first > INDEX_BYTES
    begun = bytes_read()
    for place in range(50):
        assert z[100 + place, 50] == 7 + place
    assert (bytes_read() - begun) < INDEX_BYTES


@pytest.mark.skipif(sys.platform != "linux", reason="/proc/self/io counts what was read")
def test_an_index_that_is_longer_than_all_may_be_is_not_kept(tmp_path: Path) -> None:
    """A document may claim any number of inner chunks; a handle keeps 32 MiB of indexes."""
    count = 2**21 + 2**10
    z = zarr.create_array(
        tmp_path / "z", shape=(count,), chunks=(1,), shards=(count,), dtype="u1", compressors=None
    )
    z[5:9] = 7
    time.sleep(SETTLED_S)
    z = zarr.open_array(tmp_path / "z", mode="r")
    for _ in range(2):
        begun = bytes_read()
        assert (z[4], z[5]) == (0, 7)
        assert bytes_read() - begun > 2 * 16 * count


def test_a_shard_that_is_replaced_is_read_with_its_own_index(tmp_path: Path) -> None:
    writer = stored(tmp_path / "z", 0)
    z = zarr.open_array(tmp_path / "z", mode="r")
    for value in range(1, 40):
        # Before and after file times are trusted.
        time.sleep(0.004 * (value % 8))
        assert z[0, 0] == value - 1
        writer[...] = value
        assert z[0, 0] == value
        assert (z[200:204, 40:44] == value).all()


def test_a_shard_that_another_process_replaces_is_read_anew(tmp_path: Path) -> None:
    stored(tmp_path / "z", 3)
    time.sleep(SETTLED_S)
    z = zarr.open_array(tmp_path / "z", mode="r")
    assert z[99, 99] == 3
    program = "import sys, zarrix; zarrix.open_array(sys.argv[1])[90:120, 90:120] = 4"
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "z")], check=True)
    assert z[99, 99] == 4
    assert z[9, 9] == 3


def test_a_shard_that_is_changed_in_place_is_read_anew(tmp_path: Path) -> None:
    """By a program that keeps its length and sets its time back: the time of the change tells."""
    stored(tmp_path / "z", 1000)
    stored(tmp_path / "other", 2000)
    shard, other = (tmp_path / name / "c" / "0" / "0" for name in ("z", "other"))
    length = max(shard.stat().st_size, other.stat().st_size)
    z = zarr.open_array(tmp_path / "z", mode="r")
    time.sleep(SETTLED_S)
    assert z[5, 5] == 1000
    times = shard.stat()
    changed = other.read_bytes()
    with shard.open("r+b") as file:
        file.write(changed)
        file.truncate()
    os.utime(shard, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert shard.stat().st_size <= length
    assert z[5, 5] == 2000
    assert z[150, 55] == 2050


def test_a_shard_that_is_deleted_has_the_fill_value(tmp_path: Path) -> None:
    stored(tmp_path / "z", 3, fill_value=9)
    time.sleep(SETTLED_S)
    z = zarr.open_array(tmp_path / "z", mode="r")
    assert z[99, 99] == 3
    (tmp_path / "z" / "c" / "0" / "0").unlink()
    assert z[99, 99] == 9


def test_a_damaged_index_is_an_error_each_time(tmp_path: Path) -> None:
    stored(tmp_path / "z", 3)
    shard = tmp_path / "z" / "c" / "0" / "0"
    damaged = bytearray(shard.read_bytes())
    damaged[-100] ^= 1
    shard.write_bytes(damaged)
    time.sleep(SETTLED_S)
    z = zarr.open_array(tmp_path / "z", mode="r")
    for _ in range(3):
        with pytest.raises(zarr.errors.CorruptChunkError, match="c/0/0"):
            z[0, 0]
