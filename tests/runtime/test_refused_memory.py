"""Memory that the system refuses is a MemoryError that names the chunk; the process goes on.

Each case runs in a process of its own whose address space ends 100 MiB above what it has, with
chunks of 112 MiB. The same handle reads on afterwards, and what is stored is as it was.
"""

from __future__ import annotations

import functools
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numcodecs
import numpy
import pytest
import zarrix

CHUNK = 112 << 20
CODECS: dict[str, dict[str, Any]] = {
    "no codec": {"compressor": None},
    "gzip": {"compressor": numcodecs.GZip(1)},
    "zstd": {"compressor": numcodecs.Zstd(1)},
    "bz2": {"compressor": numcodecs.BZ2(1)},
    "lz4": {"compressor": numcodecs.LZ4()},
    "Blosc": {"compressor": numcodecs.Blosc("lz4", 5, 1)},
    "Blosc with a checksum": {
        "compressor": numcodecs.Blosc("lz4", 5, 1),
        "filters": [numcodecs.Delta("u1")],
    },
    "delta": {"compressor": numcodecs.Zstd(1), "filters": [numcodecs.Delta("u1")]},
    "a codec in Python": {
        "compressor": numcodecs.Zstd(1),
        "filters": [numcodecs.AsType("i2", "u1")],
    },
}

LIMITED = """
import resource, sys, numpy, zarrix

path, work = sys.argv[1:]
z, small = (zarrix.open(path + name, mode="r+") for name in ("/large", "/small"))
small[:] = 7
zarrix.verify(path + "/small")
with open("/proc/self/status") as status:
    used = next(int(line.split()[1]) << 10 for line in status if line.startswith("VmSize"))
resource.setrlimit(resource.RLIMIT_AS, (used + (100 << 20),) * 2)
try:
    exec(work)
except MemoryError as error:
    print(error)
assert small[3] == 7
"""
WORK = {
    "reading an element": "z[5]",
    "reading points": "z.vindex[[5, 7]]",
    "writing an element": "z[5] = 3",
    "verify": "zarrix.verify(path + '/large')",
    "repair": "zarrix.repair(path + '/large')",
}


def limited(path: Path, work: str) -> tuple[int, str, str]:
    command = [sys.executable, "-W", "error", "-c", LIMITED, str(path), work]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    @functools.cache
    def store(codec: str) -> Path:
        path = tmp_path_factory.mktemp("stored")
        zarrix.create(store=f"{path}/small", shape=10, chunks=5, dtype="u1")
        kwargs = dict(shape=2 * CHUNK, chunks=CHUNK, dtype="u1", **CODECS[codec])
        large = zarrix.create(store=f"{path}/large", **kwargs)
        large[:CHUNK] = numpy.ones(CHUNK, "u1")
        return path

    return store


CASES = [(codec, "reading an element") for codec in CODECS if codec != "no codec"]
CASES += [("gzip", work) for work in WORK if work != "reading an element"]
# Only the bytes of one element are read of a chunk without a codec.
CASES += [("no codec", "writing an element")]


@pytest.mark.parametrize(("codec", "work"), CASES)
def test_memory_that_is_refused_is_an_error_that_names_the_chunk(
    stored: Callable[[str], Path], codec: str, work: str
) -> None:
    path = stored(codec)
    before = (path / "large/0").read_bytes()
    code, printed, errors = limited(path, WORK[work])
    assert (code, errors) == (0, "")
    wanted = '"0": memory for [0-9]+ bytes was refused|large/0": out of memory'
    assert re.search(wanted, printed), printed
    assert (path / "large/0").read_bytes() == before
