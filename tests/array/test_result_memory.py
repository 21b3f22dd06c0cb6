"""Large results get memory that the engine keeps from freed ones: no value may show it."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import _engine

try:
    from numpy._core.multiarray import get_handler_name
except ImportError:
    from numpy.core.multiarray import get_handler_name

pytestmark = pytest.mark.skipif(
    _engine.SYSTEM != "linux", reason="only Linux has pages that are set aside"
)

MIB = 2**20
ROWS, ROW = 48, MIB


@pytest.fixture
def stored() -> Any:
    """48 MiB, whose rows are 0, 1, 2, ..."""
    array = zarr.create(shape=(ROWS, ROW), chunks=(8, ROW), dtype="u1", compressor=None)
    array[...] = np.arange(ROWS, dtype="u1")[:, None]
    return array


@pytest.fixture(autouse=True)
def usual() -> Any:
    zarr.config.result_cache_bytes = 256 * MIB
    yield
    zarr.config.result_cache_bytes = 0
    zarr.config.reset()


def address(found: Any) -> int:
    return int(found.__array_interface__["data"][0])


def is_right(found: Any) -> bool:
    return bool((found == np.arange(ROWS, dtype="u1")[:, None]).all())


def test_a_large_result_gets_the_memory_of_the_one_before(stored):
    first = stored[...]
    before = address(first)
    assert get_handler_name(first) == "zarrix"
    assert first.flags.owndata
    assert before % 64 == 0
    del first
    second = stored[...]
    assert address(second) == before
    third = stored[...]
    assert address(third) != before
    assert is_right(second)
    assert is_right(third)


def test_a_result_that_is_held_by_a_view_stays(stored):
    views = [stored[...][2:9:3, ::1000] for _ in range(4)]
    assert all((view == np.array([2, 5, 8], "u1")[:, None]).all() for view in views)
    assert len({address(view) for view in views}) == 4


def test_only_large_results_do_and_only_while_they_are_made(stored):
    assert get_handler_name(stored[:8]) != "zarrix"
    assert get_handler_name(stored[:32]) == "zarrix"
    assert get_handler_name() != "zarrix"
    assert get_handler_name(np.empty(64 * MIB, "u1")) != "zarrix"
    assert get_handler_name(stored[...].copy()) != "zarrix"
    small = zarr.zeros((4, 4))
    assert get_handler_name(small[...]) != "zarrix"


@pytest.mark.parametrize(
    "read",
    [
        lambda z: z.read(),
        lambda z: z.get_basic_selection(),
        lambda z: z[::-1][::-1],
        lambda z: z.oindex[np.arange(ROWS)],
        lambda z: z.vindex[np.arange(ROWS)],
        lambda z: z.lazy.T.T.result(),
        lambda z: np.asarray(z),
        lambda z: zarr.read_many([(z, [(0, 0)], z.shape)])[0][0],
        lambda z: z.blocks[...],
    ],
)
def test_every_way_to_read_has_it_and_is_right(stored, read):
    for _ in range(3):
        found = read(stored)
        assert is_right(found)
        base = found if found.base is None else found.base
        assert get_handler_name(base) == "zarrix"
        found[...] = 255
        del found, base


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("f8", 1.5),
        ("M8[ns]", np.datetime64("2020-01-02")),
        ("S7", b"seven"),
        ("U3", "äöü"),
        ([("x", "f4"), ("y", ">i2")], (2.5, -7)),
        ("c16", 1 - 2j),
        ("?", True),
    ],
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_all_dtypes_and_orders(dtype, value, order):
    dtype = np.dtype(dtype)
    rows = 40 * MIB // (1024 * dtype.itemsize)
    z = zarr.create(shape=(rows, 1024), chunks=(rows, 512), dtype=dtype, order=order, fill_value=0)
    z[::3] = np.array(value, dtype)
    wanted = np.zeros((rows, 1024), dtype)
    wanted[::3] = np.array(value, dtype)
    for _ in range(2):
        found = z[...]
        assert get_handler_name(found) == "zarrix"
        assert found.flags[f"{order}_CONTIGUOUS"]
        assert (found == wanted).all()
        found[...] = wanted[1:2]
        del found


def test_objects_begin_as_none_and_not_as_what_was_there():
    count = 5 * MIB
    z = zarr.create(shape=count, chunks=MIB, dtype=object, object_codec="json2", fill_value=None)
    z[3] = ["a"]
    numbers = zarr.full(count, 2**63, chunks=MIB, dtype="u8")
    for _ in range(2):
        numbers[...]
        found = z[...]
        assert get_handler_name(found) == "zarrix"
        assert found[3] == ["a"]
        assert found[4] is None
        del found


def test_a_result_can_be_resized_pickled_and_viewed(stored):
    found = stored[...]
    found.resize((60, ROW), refcheck=False)
    assert is_right(found[:ROWS])
    assert not found[ROWS:].any()
    found.resize((2, 5), refcheck=False)
    assert found.tolist() == [[0] * 5] * 2
    found = stored[...]
    again = pickle.loads(pickle.dumps(found))
    assert is_right(again)
    numbers = found.reshape(-1).view("u8")
    del found
    assert numbers[-1] == int.from_bytes(bytes([ROWS - 1] * 8))
    del numbers
    gc.collect()
    assert is_right(stored[...])


def test_the_setting_turns_it_off_and_gives_back(stored):
    stored[...]
    assert kept_bytes() >= 48 * MIB
    zarr.config.result_cache_bytes = 0
    assert kept_bytes() == 0
    found = stored[...]
    assert get_handler_name(found) != "zarrix"
    zarr.config.result_cache_bytes = 40 * MIB
    stored[...]
    assert kept_bytes() == 0, "it is larger than the limit"


def kept_bytes() -> int:
    """The bytes of this process that a forked child does not get."""
    total = size = 0
    for line in Path("/proc/self/smaps").read_text().splitlines():
        words = line.split()
        if words[0] == "Size:":
            size = int(words[1]) * 1024
        elif words[0] == "VmFlags:" and "dc" in words:
            total += size
    return total


def test_it_is_given_back_after_a_second(stored):
    stored[...]
    assert kept_bytes() >= 48 * MIB
    end = time.monotonic() + 60
    while kept_bytes():
        assert time.monotonic() < end
        time.sleep(0.02)
    assert "zarrix-memory" not in threads_of_the_engine()
    assert is_right(stored[...])


def threads_of_the_engine() -> list[str]:
    tasks = Path("/proc/self/task").iterdir()
    return [(task / "comm").read_text().strip() for task in tasks]


def test_a_forked_child_has_what_is_in_use_and_not_what_is_kept(stored):
    held = stored[...]
    stored[...]
    assert kept_bytes() >= 48 * MIB
    inside, outside = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            right = kept_bytes() == 0 and is_right(held)
            held[...] = 9
            del held
            for _ in range(3):
                right = right and is_right(stored[...])
            right = right and kept_bytes() >= 48 * MIB
            os.write(outside, b"y" if right else b"n")
        finally:
            os._exit(0)
    os.close(outside)
    with os.fdopen(inside, "rb") as answer:
        assert answer.read() == b"y"
    os.waitpid(child, 0)
    assert is_right(held)


def test_threads_that_read_and_free_at_once_get_their_own(stored):
    wrong: list[int] = []

    def work(number: int) -> None:
        for turn in range(6):
            rows = slice(0, 32 + (number + turn) % 16)
            found = stored[rows]
            if not (found == np.arange(ROWS, dtype="u1")[rows, None]).all():
                wrong.append(number)
            found[...] = 200 + number
            if not (found == 200 + number).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


LIMITED = """
import resource, sys, time
import numpy as np
import zarrix as zarr
array = zarr.create(shape=(48, 2**20), chunks=(8, 2**20), dtype="u1", compressor=None)
array[...] = 7
for _ in range(100):
    array[...]
    begun = time.monotonic()
    with open("/proc/self/statm") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    # What is kept goes back after a second, and must have been counted.
    if time.monotonic() - begun < 0.5:
        break
if sys.argv[1] == "after":
    # What was kept without a limit goes when a result needs it.
    resource.setrlimit(resource.RLIMIT_AS, (mapped + 10 * 2**20, resource.RLIM_INFINITY))
    found = array[:32]
    assert found.min() == found.max() == 7
    del found
try:
    zarr.zeros((2**31, 2**31), dtype="u1", chunks=(2**10, 2**20))[...]
except MemoryError:
    print("refused")
found = array[...]
assert found.min() == found.max() == 7
print("read")
"""


@pytest.mark.parametrize("when", ["after", "never"])
def test_memory_that_is_refused_is_an_error_and_the_next_read_works(when):
    # With an arena of its own, a thread that has just begun maps 64 MiB more at any moment.
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, when],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"MALLOC_ARENA_MAX": "1"},
    )
    assert done.stdout.split() == ["refused", "read"], done.stderr


def test_a_process_with_a_limited_address_space_keeps_nothing():
    code = """
import resource, sys
sys.path.insert(0, sys.argv[1])
import zarrix as zarr
resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30, resource.RLIM_INFINITY))
array = zarr.zeros((48, 2**20), chunks=(8, 2**20), dtype="u1")
array[...]
from test_result_memory import kept_bytes
assert kept_bytes() == 0
print("nothing")
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["nothing"], done.stderr
