"""Named defects of other loaders that are about damage, kills and servers, each as a test.

Those that are about states alone are in test_resuming.py, those of worker processes in
test_torch.py.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from ml.data import items_of, numbered
from servers.faulty import FaultyServer
from zarrix import ml

FRAMES = 12
BAD = (2, 5, 9)


def flipped(stored: bytes) -> bytes:
    return stored[:20] + bytes([stored[20] ^ 0x10]) + stored[21:]


def truncated(stored: bytes) -> bytes:
    return stored[: len(stored) // 2]


def emptied(stored: bytes) -> bytes:
    return b""


def damaged(folder: Path, damage: Callable[[bytes], bytes]) -> ml.Crops:
    """Four crops each of 12 frames, of which three are damaged."""
    z = zarr.create_array(
        folder / "x.zarr", shape=(FRAMES, 16, 16), chunks=(1, 16, 16), dtype="i4", fill_value=-1
    )
    z[...] = np.arange(FRAMES)[:, None, None]
    for frame in BAD:
        path = folder / "x.zarr" / "c" / str(frame) / "0" / "0"
        path.write_bytes(damage(path.read_bytes()))
    return ml.Crops({"x": z}, dims="tyx", size={"y": 4, "x": 4}, per_item=4)


@pytest.mark.parametrize("damage", [flipped, truncated, emptied])
@pytest.mark.parametrize("mode", ["replace", "fill"])
@pytest.mark.parametrize("shuffle", ["full", "block", False])
def test_damage_gives_the_same_batches_in_every_run(
    tmp_path: Path, damage: Callable[[bytes], bytes], mode: str, shuffle: Any
) -> None:
    crops = damaged(tmp_path, damage)
    runs = []
    for prefetch in (0, 2):
        loader = ml.Loader(crops, 5, shuffle=shuffle, on_error=mode, prefetch=prefetch)
        batches = list(loader)
        assert [len(batch["x"]) for batch in batches] == [5] * 9 + [3]
        assert {error["item"] // 4 for error in loader.errors} == set(BAD)
        runs.append(np.concatenate([batch["x"] for batch in batches]))
    assert np.array_equal(*runs)
    if mode == "replace":
        assert not set(np.unique(runs[0])) & {*BAD, -1}


@pytest.mark.parametrize("mode", ["replace", "fill"])
def test_bad_rows_do_not_move_the_state(tmp_path: Path, mode: str) -> None:
    """lancedb#3763: bad rows were skipped, and one number did not say any more where a run was."""
    crops = damaged(tmp_path, flipped)
    options: dict[str, Any] = {"seed": 1, "on_error": mode, "shuffle": "full"}
    whole = np.concatenate([batch["x"] for batch in ml.Loader(crops, 4, **options)])
    first = ml.Loader(crops, 4, **options)
    batches = iter(first)
    seen = [next(batches)["x"] for _ in range(7)]
    state = first.state_dict()
    assert state["seen"] == 28
    ranks = []
    for rank in range(2):
        resumed = ml.Loader(crops, 2, rank=rank, world=2, **options)
        resumed.load_state_dict(state)
        ranks.append([batch["x"] for batch in resumed])
    assert len(ranks[0]) == len(ranks[1]) == 5
    rest = [part for step in zip(*ranks, strict=True) for part in step]
    assert np.array_equal(np.concatenate(seen + rest), whole)


KILLED = """
import sys, zarrix as zarr
from zarrix import ml
z = zarr.open_array(sys.argv[1], mode="r")
loader = ml.torch.DataLoader(ml.Rows({"x": z}), 2, num_workers=2, prefetch_factor=1)
for number, batch in enumerate(loader):
    print(batch["item"].tolist(), flush=True)
    if number == 3 and sys.argv[2] == "waits":
        sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_a_run_that_was_killed_starts_again(tmp_path: Path) -> None:
    """streaming#781, #717, #767: shared memory of a killed run had the name of the next run's."""
    pytest.importorskip("torch", reason="torch is not installed")
    path = tmp_path / "x.zarr"
    zarr.create_array(path, shape=(20, 4), chunks=(4, 4), dtype="i4")[...] = 1
    environment = {**os.environ, "PYTHONPATH": str(Path(zarr.__file__).parents[1])}

    def started(what: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", KILLED, str(path), what],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    before = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    killed = started("waits")
    assert killed.stdout is not None
    lines = [killed.stdout.readline() for _ in range(4)]
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate(timeout=60)
    again = started("ends")
    out, _ = again.communicate(timeout=120)
    assert again.returncode == 0
    found = out.splitlines()
    assert [line + "\n" for line in found[:4]] == lines
    assert sorted(item for line in found for item in json.loads(line)) == list(range(20))
    after = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    assert not {name for name in after - before if "zarrix" in name}


def test_a_state_is_applied_to_one_epoch_only() -> None:
    """litData#316, #330, litgpt#1712: a state was applied to each epoch after it."""
    rows = ml.Rows({"x": numbered(20)})
    first = ml.Loader(rows, 4, seed=2)
    batches = iter(first)
    next(batches), next(batches)
    resumed = ml.Loader(rows, 4, seed=2)
    resumed.load_state_dict(first.state_dict())
    assert [len(items_of(resumed)) for _ in range(4)] == [12, 20, 20, 20]
    by_hand = ml.Loader(rows, 4, seed=2)
    by_hand.load_state_dict(first.state_dict())
    lengths = []
    for epoch in range(by_hand.epoch, 3):
        by_hand.set_epoch(epoch)
        lengths.append(len(items_of(by_hand)))
    assert lengths == [12, 20, 20]


@pytest.mark.parametrize("workers", [0, 1])
def test_a_state_is_resumed_without_workers_and_with_them(workers: int) -> None:
    """litData#24: a state of no workers was not resumed, or not one with workers without them."""
    pytest.importorskip("torch", reason="torch is not installed")
    rows = ml.Rows({"x": numbered(20)})
    wanted = items_of(ml.Loader(rows, 4, seed=2))
    first = ml.torch.DataLoader(rows, 4, seed=2, num_workers=workers)
    batches = iter(first)
    seen = [item for _ in range(2) for item in next(batches)["item"].tolist()]
    state = first.state_dict()
    del batches
    resumed = ml.torch.DataLoader(rows, 4, seed=2, num_workers=1 - workers)
    resumed.load_state_dict(state)
    assert seen + [item for batch in resumed for item in batch["item"].tolist()] == wanted


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with FaultyServer() as server:
        yield server


VALUES = np.arange(40 * 6).reshape(40, 6)


def remote(server: FaultyServer, **options: Any) -> Any:
    z = zarr.create_array(
        "s3://bucket/x", shape=(40, 6), chunks=(4, 6), dtype="i4", storage_options=server.options
    )
    z[...] = VALUES
    return zarr.open_array("s3://bucket/x", mode="r", storage_options={**server.options, **options})


@pytest.mark.parametrize("mode", ["503", "503 slow down", "reset", "short body", "delay"])
@pytest.mark.parametrize("shuffle", ["full", "block"])
def test_an_epoch_passes_over_errors_of_a_server(
    server: FaultyServer, mode: str, shuffle: str
) -> None:
    loader = ml.Loader(ml.Rows({"x": remote(server)}), 8, shuffle=shuffle)
    server.mode, server.count, server.only = mode, 3, ("GET",)
    seen = []
    for batch in loader:
        assert np.array_equal(batch["x"], VALUES[batch["item"]])
        seen += batch["item"].tolist()
    assert sorted(seen) == list(range(40))
    assert loader.errors == []


@pytest.mark.parametrize("on_error", ["raise", "replace", "fill"])
def test_a_server_that_refuses_is_an_error_in_every_mode(
    server: FaultyServer, on_error: str
) -> None:
    """Only damage is replaced or filled: a run without its data has to end."""
    loader = ml.Loader(ml.Rows({"x": remote(server)}), 8, on_error=on_error)
    server.mode, server.count = "403", None
    with pytest.raises(PermissionError):
        list(loader)
    assert loader.state_dict()["seen"] == 0


def test_a_cache_on_disk_that_is_deleted_is_filled_again(
    server: FaultyServer, tmp_path: Path
) -> None:
    rows = ml.Rows({"x": remote(server, cache=str(tmp_path / "cache"))})
    for frozen in (False, True):
        loader = ml.Loader(rows, 8, shuffle="block", frozen=frozen)
        for epoch in range(3):
            for number, batch in enumerate(loader):
                assert np.array_equal(batch["x"], VALUES[batch["item"]])
                if epoch == 1 and number == 1:
                    shutil.rmtree(tmp_path / "cache")
