"""A task stays within ``max_memory``: plans in a process that cannot have more."""

import random
import subprocess
import sys

import pytest
import zarrix as zarr

# Runs a plan with at most max_memory + 150 MiB of address space above what importing takes; argv:
# source, destination, chunks, max_memory, passes.
PROGRAM = """
import ast, resource, sys
import zarrix as zarr
from zarrix import jobs
zarr.config.threads = 2
source, dest, chunks, memory, passes = sys.argv[1:]
# What every read and write needs is there before: threads, and their stacks.
z = zarr.zeros((64, 64), chunks=(8, 8), dtype="f4", compressor=zarr.Blosc())
z[:] = 1
z[:]
job = jobs.rechunk(
    source, dest, chunks=ast.literal_eval(chunks), max_memory=int(memory),
    passes=ast.literal_eval(passes), run=False,
)
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + int(memory) + (150 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
job.run()
# The peak of this program alone: that of getrusage has the one that started it, too.
peak = int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0]) >> 10
print(len(job.stages), job.memory >> 20, peak)
"""


@pytest.mark.parametrize("plans", [1, pytest.param(30, marks=pytest.mark.long)])
def test_plans_run_in_bounded_memory(tmp_path, plans):
    drawn = random.Random(2)
    shape = (192, 256, 256)
    for number in range(plans):
        chunks = tuple(2 ** drawn.randrange(4, 9) for _ in shape)
        other = tuple(2 ** drawn.randrange(4, 9) for _ in shape)
        z = zarr.create_array(
            tmp_path / f"{number}.zarr", shape=shape, chunks=tuple(chunks), dtype="f4"
        )
        z[:96] = drawn.random()
        unit = 4 * max(1, z.chunks[0] * z.chunks[1] * z.chunks[2])
        memory = max(16 << 20, 8 * unit)
        arguments = [tmp_path / f"{number}.zarr", tmp_path / f"{number}-b.zarr", tuple(other)]
        passes = drawn.choice([None, 1, 2])
        command = [sys.executable, "-c", PROGRAM, *map(str, [*arguments, memory, passes])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if "is not enough" in done.stderr:
            continue
        assert done.returncode == 0, (chunks, other, memory, passes, done.stderr)
        print(z.chunks, other, memory >> 20, "passes, planned, peak MiB:", done.stdout.strip())
        zarr.DirectoryStore(tmp_path / f"{number}-b.zarr").rmdir()
        zarr.DirectoryStore(tmp_path / f"{number}.zarr").rmdir()
