"""Several processes with torch.distributed on loopback: a run is divided, killed and resumed."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zarrix as zarr
from zarrix import ml

pytest.importorskip("torch", reason="torch is not installed")

COUNT = 53
PROGRAM = """
import json, os, pathlib, sys
import torch.distributed as dist
import zarrix as zarr
from zarrix import ml

folder, name, steps, rank, world, batch = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
dist.init_process_group("gloo", f"file://{folder}/{name}", rank=rank, world_size=world)
rows = ml.Rows({"x": zarr.open(folder + "/x.zarr", mode="r")})
loader = ml.Loader(rows, batch, seed=3, drop_last=False, partitions=4, shuffle="block")
saved = pathlib.Path(folder, "state.json")
if saved.exists():
    loader.load_state_dict(json.loads(saved.read_text()))
dist.barrier()
assert (loader.rank, loader.world) == (rank, world)
items, count = [], 0
for batch in loader:
    items += batch["item"][batch["valid"]].tolist()
    count += 1
    counts = [None] * world
    dist.all_gather_object(counts, (count, loader.state_dict()))
    assert all(one == counts[0] for one in counts)
    pathlib.Path(folder, f"{name}-{rank}.json").write_text(json.dumps(items))
    if rank == 0:
        # Replaced in one step: the process may be killed at any point.
        new = saved.with_suffix(".new")
        new.write_text(json.dumps(loader.state_dict()))
        new.replace(saved)
    dist.barrier()
    print(count, flush=True)
    if count == steps:
        break
    if steps < 0:
        sys.stdin.readline()
dist.destroy_process_group()
"""


def start(folder: Path, name: str, steps: int, world: int, batch: int = 3) -> list[Any]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(zarr.__file__).parents[1]),
        "GLOO_SOCKET_IFNAME": "lo",
        "OMP_NUM_THREADS": "1",
    }
    return [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", PROGRAM]
            + [str(one) for one in (folder, name, steps, rank, world, batch)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(world)
    ]


def finish(processes: list[Any]) -> None:
    for one in processes:
        _, errors = one.communicate(timeout=120)
        assert one.returncode == 0, errors


def read(folder: Path, name: str) -> list[int]:
    return [
        item
        for path in sorted(folder.glob(f"{name}-*.json"))
        for item in json.loads(path.read_text())
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    z = zarr.open(tmp_path / "x.zarr", mode="w", shape=COUNT, chunks=2, dtype="i4")
    z[...] = range(COUNT)
    return tmp_path


def test_four_ranks_are_resumed_by_three_two_and_one(folder: Path) -> None:
    seen = []
    for name, steps, world in (("a", 1, 4), ("b", 1, 3), ("c", 2, 2), ("d", 0, 1)):
        finish(start(folder, name, steps, world))
        seen += read(folder, name)
    assert sorted(seen) == list(range(COUNT))


def test_a_run_with_a_killed_rank_is_resumed(folder: Path) -> None:
    processes = start(folder, "a", -1, 3)
    try:
        for step in range(2):
            for one in processes:
                assert one.stdout.readline() == f"{step + 1}\n"
            if step == 0:
                for one in processes:
                    one.stdin.write("\n")
                    one.stdin.flush()
        processes[1].send_signal(signal.SIGKILL)
    finally:
        for one in processes:
            one.kill()
            one.communicate(timeout=60)
    seen = read(folder, "a")
    assert len(seen) == 18
    finish(start(folder, "b", 0, 2))
    assert sorted(seen + read(folder, "b")) == list(range(COUNT))


def test_a_rank_of_the_environment_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "3")
    loader = ml.Loader(ml.Rows({"x": zarr.zeros(9)}), 1)
    assert (loader.rank, loader.world, len(loader)) == (1, 3, 3)
