"""Selections of more chunks than memory has room for: work in what is stored, or one clear error.

Each program has 4 GiB of address space. Before, a call made a list of all chunks that it touches,
and the process was aborted where memory for that was refused.
"""

import subprocess
import sys

import pytest

BEGIN = """
import resource, signal
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
import numpy as np
import zarrix
from zarrix import MemoryStore

def array(shape, chunks, store=None, **options):
    options = {"dtype": "i1", "fill_value": 7, "zarr_format": 3} | options
    return zarrix.create(shape, chunks=chunks, store=store, **options)

def refused(call):
    try:
        call()
    except MemoryError as error:
        return str(error)
    raise AssertionError("no MemoryError")
"""

PROGRAMS = {
    "nothing of a huge axis": """
z = array((2**40, 1), (1, 1))
assert z[:, :0].shape == (2**40, 0)
z[:, :0] = 3
z[:, :0] = np.zeros((1, 0), "i1")
assert z.oindex[:, []].shape == (2**40, 0)
assert z.plan((slice(None), slice(0, 0))).chunks == 0
assert z.nchunks_initialized == 0
""",
    "every so many of a huge axis": """
z = array((2**45,), (1,))
for at in (0, 2**20, 2**21, 2**44, 2**45 - 1):
    z[at] = at % 100
found = z[:: 2**20]
assert found.shape == (2**25,) and found[0] == 0 and found[1] == 2**20 % 100, found
assert found[2] == 2**21 % 100 and found[2**24] == 2**44 % 100
assert np.count_nonzero(found != 7) == 4
back = z[:: -(2**20)]
assert back.shape == (2**25,) and back[0] == (2**45 - 1) % 100
assert np.count_nonzero(back != 7) == 1
""",
    "a huge plane with few chunks": """
z = array((2**40, 2**40), (1, 1))
z[5, 9] = 1
z[2**39, 2**38] = 2
rows = [5, 2**39, 2**39, 6]
found = z.oindex[rows, slice(0, None, 2**17)]
assert found.shape == (4, 2**23)
assert (found[1] == found[2]).all() and found[1, 2**21] == 2
assert np.count_nonzero(found != 7) == 2
""",
    "shards of a huge axis": """
z = zarrix.create_array(
    {}, shape=(2**45,), shards=(4,), chunks=(2,), dtype="u1", fill_value=7
)
z[2**21 : 2**21 + 2] = 1
z[2**30 + 1] = 2
found = z[:: 2**20]
assert np.count_nonzero(found != 7) == 1 and found[2] == 1
plan = z.plan(slice(None, None, 2**20))
assert (plan.chunks, plan.shards, plan.missing) == (2**25, 2**25, 2**25 - 2), plan
""",
    "a plan of a huge axis": """
z = array((2**45,), (1,))
z[2**20] = 1
plan = z.plan(slice(None, None, 2**20))
assert (plan.chunks, plan.missing, plan.requests) == (2**25, 2**25 - 1, 2**25), plan
assert plan.bytes_fetched == z.nbytes_stored - len(z.store["zarr.json"]), plan
assert (plan.elements_touched, plan.elements_used) == (2**25, 2**25)
""",
    "a read whose result has no room": """
z = array((2**40,), (1,))
refused(lambda: z[:])
refused(lambda: z[::2])
""",
    "windows over more chunks than are planned": """
z = array((2**40,), (1,))
said = refused(lambda: zarrix.read_many([(z, np.array([[0]]), (2**25,))]))
assert "divide it" in said, said
""",
    "the chunks of a huge array, in turn": """
z = array((2**40, 2**40), (1, 1))
assert next(z.iter_chunks()) == (slice(0, 1), slice(0, 1))
assert z.nchunks == 2**80
z.info, str(z), repr(z)
""",
    "a shard of very many chunks that is not stored": """
z = zarrix.create_array(
    {}, shape=(2**40,), shards=(2**28,), chunks=(1,), dtype="u1", fill_value=7
)
assert z[5] == 7 and (z[: 2**20] == 7).all()
assert z[: 2**29].sum() == 7 * 2**29
assert z.plan(slice(0, 2**28)).chunks == 2**28
""",
}


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BEGIN + program],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS")
@pytest.mark.parametrize("name", PROGRAMS)
def test_very_many_chunks_are_no_list(name: str) -> None:
    done = run(PROGRAMS[name])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


WRITING = """
z = array((2**40,), (1,), store=MemoryStore())
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.5)
try:
    z[:] = 7
except KeyboardInterrupt:
    print("interrupted")
assert z.nchunks_initialized == 0
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS")
def test_a_write_of_very_many_chunks_is_bounded_in_memory_and_ends_with_ctrl_c() -> None:
    done = run(WRITING)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")
