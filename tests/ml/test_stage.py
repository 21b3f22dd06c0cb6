"""`Loader(stage=)`: decoded chunks on a local disk, never of another generation, never damaged."""

import errno
import itertools
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from ml.stages import chunks_of, disk_bytes, hide_source, rows_of, settled, stored, unfinished
from servers.faulty import FaultyServer
from waiting import PATIENCE_S, line_of
from zarrix import ml
from zarrix.ml._staging import folder as folders

ROWS = rows_of((48, 300))


def epoch(loader: Any, values: Any = ROWS) -> int:
    """The samples of an epoch, each compared with its row."""
    seen = []
    for batch in loader:
        assert np.array_equal(batch["x"], values[batch["item"]])
        seen += batch["item"].tolist()
    assert sorted(seen) == list(range(len(values)))
    return len(seen)


def loader_of(z: Any, stage: Any, **options: Any) -> ml.Loader:
    return ml.Loader(ml.Rows({"x": z}), 8, seed=3, stage=stage, **options)


@pytest.fixture
def stage(tmp_path: Path) -> Path:
    (tmp_path / "nvme").mkdir()
    return tmp_path / "nvme"


@pytest.fixture
def z(tmp_path: Path) -> Any:
    return stored(tmp_path / "x.zarr", ROWS, chunks=(4, 300))


LAYOUTS: dict[str, dict[str, Any]] = {
    "chunks": {"chunks": (4, 300)},
    "columns": {"chunks": (5, 70)},
    "shards": {"chunks": (2, 100), "shards": (16, 300)},
    "one chunk": {"chunks": (64, 512)},
    "v2": {"chunks": (7, 300), "zarr_format": 2},
    "F": {"chunks": (4, 300), "zarr_format": 2, "order": "F"},
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("codec", ["lz4", "raw"])
@pytest.mark.parametrize("shuffle", ["full", "block", False])
def test_later_epochs_and_loaders_decode_nothing(
    tmp_path: Path, stage: Path, layout: Any, codec: str, shuffle: Any
) -> None:
    z = stored(tmp_path / "x.zarr", ROWS, **layout)
    loader = loader_of(z, ml.Stage(stage, codec=codec, max_bytes="1 MB"), shuffle=shuffle)
    epoch(loader)
    assert loader.stats().staged == 48
    assert "48 windows from the stage" in str(loader.stats())
    hide_source(tmp_path / "x.zarr")
    epoch(loader)
    assert loader.stats().staged == 96
    epoch(loader_of(z, ml.Stage(stage, codec=codec, max_bytes="1 MB"), shuffle=shuffle))
    # What is not staged shows that the source is useless now.
    with pytest.raises((zarr.errors.CorruptChunkError, AssertionError)):
        epoch(loader_of(z, None))


DTYPES = ["u1", "b1", "i2", "f2", "f4", "i8", "f8", "c8", "c16"]


@settings(max_examples=40)
@given(
    dtype=st.sampled_from(DTYPES),
    chunk=st.tuples(*[st.integers(1, 9)] * 3),
    window=st.tuples(st.integers(1, 7), st.integers(1, 7)),
    border=st.sampled_from(["inside", "pad", "edge", "reflect"]),
    codec=st.sampled_from(["lz4", "raw"]),
    frozen=st.booleans(),
    seed=st.integers(0, 2**16),
)
def test_windows_are_those_of_numpy(
    tmp_path_factory: pytest.TempPathFactory,
    dtype: str,
    chunk: Any,
    window: Any,
    border: str,
    codec: str,
    frozen: bool,
    seed: int,
) -> None:
    folder = tmp_path_factory.mktemp("stage")
    random_values = np.random.default_rng(seed).integers(0, 256, (6, 11, 8, 16), np.uint8)
    values = random_values.view("u1")[..., : np.dtype(dtype).itemsize].copy().view(dtype)[..., 0]
    if dtype == "b1":
        values = random_values[..., 0] > 99
    z = stored(folder / "x.zarr", values, chunks=chunk)
    crops = ml.Crops({"x": z}, dims="tyx", size={"y": window[0], "x": window[1]}, border=border)
    plain = [batch["x"].copy() for batch in ml.Loader(crops, 3, seed=seed)]
    staged = ml.Loader(
        crops, 3, seed=seed, frozen=frozen, stage=ml.Stage(folder, codec=codec, max_bytes="9 MB")
    )
    for _ in range(2):
        staged.set_epoch(0)
        for wanted, batch in zip(plain, staged, strict=True):
            assert wanted.tobytes() == batch["x"].tobytes()
    assert staged.stats().staged or border == "reflect"


@pytest.mark.parametrize("frozen", [False, True])
def test_a_chunk_whose_source_changed_is_read_from_it_again(
    tmp_path: Path, stage: Path, z: Any, frozen: bool
) -> None:
    loader = loader_of(z, ml.Stage(stage, max_bytes="1 MB"), frozen=frozen)
    epoch(loader)
    values = ROWS.copy()
    values[8:12] = 7
    zarr.open_array(tmp_path / "x.zarr", mode="r+")[8:12] = 7
    if not frozen:
        epoch(loader, values)
        settled(tmp_path / "x.zarr")
        epoch(loader, values)
        epoch(loader, values)
    # The promise is about one loader; the next one asks.
    later = loader_of(z, ml.Stage(stage, max_bytes="1 MB"), frozen=frozen)
    epoch(later, values)
    epoch(later, values)
    assert len(chunks_of(stage)) in (12, 13)


def test_each_change_is_seen_and_the_stage_stays_bounded(
    tmp_path: Path, stage: Path, z: Any
) -> None:
    loader, values = loader_of(z, ml.Stage(stage, max_bytes="200 kB")), ROWS.copy()
    writer = zarr.open_array(tmp_path / "x.zarr", mode="r+")
    for number in range(12):
        epoch(loader, values)
        assert disk_bytes(stage) <= 200_000
        values[:4] = number
        writer[:4] = number
        settled(tmp_path / "x.zarr")
    assert len([path for path in chunks_of(stage) if path.name == "c.0.0"]) == folders.LAYERS
    # When nothing uses the array any more, what is stale goes.
    del loader
    program = (
        "import sys, zarrix\nfrom zarrix import ml\n"
        "z = zarrix.open_array(sys.argv[1], mode='r')\n"
        "loader = ml.Loader(ml.Rows({'x': z}), 8, stage=ml.Stage(sys.argv[2]))\n"
        "print(sum(len(batch['x']) for batch in loader))"
    )
    _release(stage)
    subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "x.zarr"), str(stage)],
        check=True,
        timeout=PATIENCE_S,
    )
    assert len([path for path in chunks_of(stage) if path.name == "c.0.0"]) == 1
    epoch(loader_of(z, ml.Stage(stage, max_bytes="200 kB")), values)


def _release(stage: Path) -> None:
    """Let go of the locks that this process holds, as its end would."""
    for descriptor in list(Path("/proc/self/fd").iterdir()):
        if os.path.realpath(descriptor).startswith(str(stage)):
            os.close(int(descriptor.name))


def test_a_chunk_that_has_just_been_written_is_staged_later(tmp_path: Path, stage: Path) -> None:
    z = stored(tmp_path / "x.zarr", ROWS, chunks=(4, 300))
    for path in (tmp_path / "x.zarr").rglob("*"):
        # A clock of a file system that is ahead makes it no older.
        os.utime(path, ns=(time.time_ns() + 10**12,) * 2)
    loader = loader_of(z, ml.Stage(stage, max_bytes="1 MB"))
    epoch(loader)
    os.utime(next((tmp_path / "x.zarr").glob("c/*/*")), ns=(time.time_ns(),) * 2)
    epoch(loader)


def test_missing_chunks_are_not_staged_and_appear_when_written(tmp_path: Path, stage: Path) -> None:
    z = zarr.create_array(tmp_path / "x.zarr", shape=(48, 300), dtype="i4", chunks=(4, 300))
    values = np.zeros((48, 300), "i4")
    loader = loader_of(z, ml.Stage(stage, max_bytes="1 MB"))
    epoch(loader, values)
    assert not chunks_of(stage)
    z[4:8] = values[4:8] = 5
    epoch(loader, values)


# Bytes


@pytest.mark.parametrize("codec", ["lz4", "raw"])
@pytest.mark.parametrize("shuffle", ["full", "block"])
def test_a_flipped_byte_is_never_delivered(
    tmp_path: Path, stage: Path, z: Any, codec: str, shuffle: str
) -> None:
    epoch(loader_of(z, ml.Stage(stage, codec=codec, max_bytes="1 MB")))
    rng = random.Random(5)
    for number in range(40):
        path = rng.choice(chunks_of(stage))
        data = bytearray(path.read_bytes())
        for _ in range(rng.choice([1, 3, 200])):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        if number % 5 == 0:
            data = data[: rng.randrange(len(data))]
        path.write_bytes(data)
        options = {"prefetch": number % 3, "on_error": ["raise", "replace"][number % 2]}
        loader = loader_of(
            z, ml.Stage(stage, codec=codec, max_bytes="1 MB"), shuffle=shuffle, **options
        )
        epoch(loader)
        assert not loader.errors
        epoch(loader)


def test_a_file_of_another_chunk_is_not_used(tmp_path: Path, stage: Path, z: Any) -> None:
    epoch(loader_of(z, ml.Stage(stage, max_bytes="1 MB")))
    first, second, *_ = chunks_of(stage)
    shutil.copyfile(first, second)
    epoch(loader_of(z, ml.Stage(stage, max_bytes="1 MB")))


@pytest.mark.parametrize("prefetch", [0, 2])
@pytest.mark.parametrize("shuffle", ["full", "block"])
@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("how", ["all", "chunks", "array"])
def test_a_stage_may_be_removed_at_any_time(
    stage: Path, z: Any, prefetch: int, shuffle: str, frozen: bool, how: str
) -> None:
    """A missing chunk of a stage would read as zeros."""
    loader = loader_of(
        z, ml.Stage(stage, max_bytes="1 MB"), prefetch=prefetch, shuffle=shuffle, frozen=frozen
    )
    epoch(loader)
    if how == "chunks":
        for path in chunks_of(stage)[::2]:
            path.unlink()
    else:
        for path in stage.glob("zarrix-stage" if how == "all" else "zarrix-stage/*/"):
            shutil.rmtree(path)
    epoch(loader)
    epoch(loader)


@pytest.mark.parametrize("most", ["30 kB", 1, 4096, "1 MB"])
def test_a_full_stage_keeps_what_it_has(stage: Path, z: Any, most: Any) -> None:
    loader = loader_of(z, ml.Stage(stage, codec="raw", max_bytes=most))
    for _ in range(3):
        epoch(loader)
        assert disk_bytes(stage) <= {"30 kB": 30_000, 1: 1, 4096: 4096, "1 MB": 10**6}[most]
    kept = {path.name: path.stat().st_ino for path in chunks_of(stage)}
    epoch(loader_of(z, ml.Stage(stage, codec="raw", max_bytes=most)))
    assert kept == {path.name: path.stat().st_ino for path in chunks_of(stage)}
    assert bool(kept) == (most in ("30 kB", "1 MB"))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_a_full_disk_ends_no_epoch(
    stage: Path, z: Any, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    written = []

    def write(descriptor: int, value: bytes) -> None:
        written.append(value)
        if len(written) > 3:
            os.write(descriptor, value[:100])
            raise OSError(number, os.strerror(number))
        os.write(descriptor, value)

    monkeypatch.setattr(folders, "_write_all", write)
    loader = loader_of(z, ml.Stage(stage, max_bytes="1 MB"))
    epoch(loader)
    epoch(loader)
    assert len(chunks_of(stage)) == 3
    assert not unfinished(stage)
    # It is not tried again for each chunk.
    assert len(written) == 4
    monkeypatch.undo()
    epoch(loader_of(z, ml.Stage(stage, max_bytes="1 MB")))
    assert len(chunks_of(stage)) == 12


def test_arrays_that_nothing_uses_make_room(tmp_path: Path, stage: Path, z: Any) -> None:
    epoch(loader_of(z, ml.Stage(stage, codec="raw", max_bytes="70 kB")))
    other = ROWS + 1
    y = stored(tmp_path / "y.zarr", other, chunks=(4, 300))
    # Both are in use.
    loader = loader_of(y, ml.Stage(stage, codec="raw", max_bytes="70 kB"))
    epoch(loader, other)
    used = {path.parts[-3] for path in chunks_of(stage)}
    assert disk_bytes(stage) <= 70_000
    _release(stage)
    again = loader_of(y, ml.Stage(stage, codec="raw", max_bytes="100 kB"))
    epoch(again, other)
    assert {path.parts[-3] for path in chunks_of(stage)} != used
    assert disk_bytes(stage) <= 100_000


# Files of others


def test_files_that_are_not_of_the_stage_stay(tmp_path: Path, stage: Path, z: Any) -> None:
    epoch(loader_of(z, ml.Stage(stage, max_bytes="1 MB")))
    array = chunks_of(stage)[0].parents[1]
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "c.0.0").write_text("precious")
    mine = [
        stage / "mine", stage / "zarrix-stage" / "notes", array / "README",
        array / "0" / "c.0.0.txt", array / "0" / "c.x", array / "0" / "mine.partial",
    ]  # fmt: skip
    for path in mine:
        path.write_text("precious")
    (stage / "zarrix-stage" / ("a" * 32)).symlink_to(outside)
    shutil.rmtree(array / "1")
    (array / "1").symlink_to(outside)
    _release(stage)
    y = stored(tmp_path / "y.zarr", ROWS, chunks=(48, 300))
    # There is only room if chunks of the first array go.
    epoch(loader_of(y, ml.Stage(stage, codec="raw", max_bytes="70 kB")))
    assert {path.parents[1].name for path in chunks_of(stage) if path.suffix != ".txt"} != {
        array.name
    }
    assert all(path.read_text() == "precious" for path in [*mine, outside / "c.0.0"])


def test_a_folder_of_others_is_refused(stage: Path, z: Any, tmp_path: Path) -> None:
    (stage / "zarrix-stage").mkdir()
    (stage / "zarrix-stage" / "thesis.tex").write_text("precious")
    with pytest.raises(FileExistsError, match="files that are not of a stage"):
        loader_of(z, stage)
    with pytest.raises(FileNotFoundError):
        loader_of(z, tmp_path / "nowhere")
    (tmp_path / "file").mkdir()
    (tmp_path / "file" / "zarrix-stage").write_text("")
    with pytest.raises(NotADirectoryError):
        loader_of(z, tmp_path / "file")
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "zarrix-stage").mkdir()
    (tmp_path / "link" / "zarrix-stage" / "lock").symlink_to(tmp_path / "target")
    with pytest.raises(OSError, match="lock"):
        loader_of(z, tmp_path / "link")
    assert not (tmp_path / "target").exists()


def test_a_lock_that_another_process_keeps_is_not_waited_for(
    stage: Path, z: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    loader = loader_of(z, ml.Stage(stage, max_bytes="1 MB"))
    program = (
        "import fcntl, sys, time\nfile = open(sys.argv[1], 'rb')\n"
        "fcntl.flock(file, fcntl.LOCK_EX)\nprint('held', flush=True)\ntime.sleep(600)"
    )
    monkeypatch.setattr(folders, "_PUT_S", 0.05)
    monkeypatch.setattr(folders, "_OPEN_S", 0.05)
    with subprocess.Popen(
        [sys.executable, "-c", program, str(stage / "zarrix-stage" / "lock")],
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        try:
            assert line_of(other) == "held"
            epoch(loader)
            assert not chunks_of(stage)
            with pytest.raises(TimeoutError, match="locked by another process"):
                loader_of(z, ml.Stage(stage))
        finally:
            other.kill()
    epoch(loader_of(z, ml.Stage(stage, max_bytes="1 MB")))
    assert len(chunks_of(stage)) == 12


# Processes

LOADS = """
import sys, numpy as np, zarrix
from zarrix import ml
path, stage, most, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
z = zarrix.open_array(path, mode="r")
wanted = np.load(path + ".npy")
print("begun", flush=True)
for epoch in range(10**9):
    loader = ml.Loader(ml.Rows({"x": z}), 8, seed=seed + epoch, frozen=seed % 2 == 0,
                       stage=ml.Stage(stage, codec=["raw", "lz4"][seed % 3 == 0], max_bytes=most))
    for batch in loader:
        assert np.array_equal(batch["x"], wanted[batch["item"]]), "wrong batch"
    print("epoch", flush=True)
"""


def begun(path: Path, stage: Path, most: int, seed: int) -> Any:
    return subprocess.Popen(
        [sys.executable, "-c", LOADS, str(path), str(stage), str(most), str(seed)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_kills_leave_no_wrong_chunk_and_a_bounded_disk(
    tmp_path: Path, stage: Path, is_long: bool
) -> None:
    """Two processes at once, of which one is killed at any moment, also while it begins."""
    path, most, rng = tmp_path / "x.zarr", 120_000, random.Random(11)
    values = rows_of((160, 300))
    z = stored(path, values, chunks=(4, 300))
    np.save(f"{path}.npy", values)
    with begun(path, stage, most, 1) as beside:
        try:
            for number in range(200 if is_long else 20):
                with begun(path, stage, most, number) as child:
                    if number % 4:
                        line_of(child)
                    time.sleep(rng.random() * (0.05 if number % 4 else 0.6))
                    child.send_signal(signal.SIGKILL)
                    assert "wrong" not in child.stderr.read()
                assert disk_bytes(stage) <= most
                if number % 5 == 0:
                    # Most of it is missing again, and has to be staged.
                    for chunk in chunks_of(stage)[:: rng.choice([1, 2])]:
                        chunk.unlink(missing_ok=True)
            assert beside.poll() is None, beside.stderr.read()
        finally:
            beside.kill()
        assert "wrong" not in beside.stderr.read()
    epoch(loader_of(z, ml.Stage(stage, max_bytes=most)), values)
    assert not unfinished(stage)
    assert disk_bytes(stage) <= most


def test_two_loaders_of_one_process_share_a_stage(stage: Path, z: Any) -> None:
    loaders = [
        loader_of(z, ml.Stage(stage, max_bytes="1 MB"), shuffle=shuffle, frozen=frozen)
        for shuffle, frozen in itertools.product(["full", "block"], [False, True])
    ]
    counts: list[int] = []
    threads = [
        threading.Thread(target=lambda one=one: counts.extend(epoch(one) for _ in range(3)))
        for one in loaders
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert counts == [48] * 12
    assert len(chunks_of(stage)) == 12


def _in_child(loader: Any, counts: Any) -> None:
    counts.put(epoch(loader))


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("is_used", [False, True])
def test_a_loader_goes_to_other_processes(stage: Path, z: Any, method: Any, is_used: bool) -> None:
    loader = loader_of(z, ml.Stage(stage, max_bytes="1 MB"))
    if is_used:
        epoch(loader)
    context = get_context(method)
    counts = context.Queue()
    children = [context.Process(target=_in_child, args=(loader, counts)) for _ in range(2)]
    for child in children:
        child.start()
    epoch(loader)
    assert [counts.get(timeout=PATIENCE_S) for _ in children] == [48, 48]
    for child in children:
        child.join(PATIENCE_S)
    assert len(chunks_of(stage)) == 12
    assert len(pickle.dumps(loader.dataset)) < 20_000


# Servers


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with FaultyServer() as server:
        yield server


def test_a_frozen_array_on_a_server_is_asked_for_once(server: FaultyServer, stage: Path) -> None:
    options = {"storage_options": server.options}
    z = zarr.create_array("s3://bucket/x", shape=ROWS.shape, dtype="i4", chunks=(4, 300), **options)
    z[:] = ROWS
    for _ in range(2):
        loader = loader_of(
            zarr.open_array("s3://bucket/x", mode="r", **options), stage, frozen=True
        )
        server.requests.clear()
        epoch(loader)
        first = len(server.requests)
        server.requests.clear()
        epoch(loader)
        assert server.requests == []
    # One request for each chunk asks whether it is the one that was staged.
    assert first == 12
    z[:4] = 1
    changed = ROWS.copy()
    changed[:4] = 1
    epoch(
        loader_of(zarr.open_array("s3://bucket/x", mode="r", **options), stage, frozen=True),
        changed,
    )
    # Without the promise, each use would be a request: nothing is staged.
    plain = loader_of(zarr.open_array("s3://bucket/x", mode="r", **options), stage)
    epoch(plain, changed)
    assert plain.stats().staged == 0


# Options


def test_what_cannot_be_staged_is_read_as_before(tmp_path: Path, stage: Path) -> None:
    text = stored(tmp_path / "x.zarr", np.array(["a", "b"] * 24, "U3"), chunks=(4,))
    big = stored(tmp_path / "y.zarr", ROWS.astype(">i4"), chunks=(4, 300), zarr_format=2)
    memory = zarr.array(ROWS, chunks=(4, 300))
    rows = ml.Rows({"x": memory, "text": text, "big": big, "plain": ROWS})
    loader = ml.Loader(rows, 8, stage=stage)
    for batch in loader:
        for name in ("x", "big", "plain"):
            assert np.array_equal(batch[name], ROWS[batch["item"]])
    assert loader.stats().staged == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda path: ml.Stage(path, codec="lz5"), "did you mean 'lz4'"),
        (lambda path: ml.Stage(path, max_bytes="many"), "max_bytes"),
        (lambda path: loader_of(zarr.zeros((4, 2)), 5), "a path or an ml.Stage, not int"),
    ],
)
def test_options_are_checked(stage: Path, call: Callable[[Path], Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        call(stage)


def test_a_mix_and_a_split_are_staged(tmp_path: Path, stage: Path, z: Any) -> None:
    train, _ = ml.Rows({"x": z}).split({"train": 0.5, "val": 0.5}, by="position")
    loader = ml.Loader(ml.Mix({"a": train, "b": train}), 8, stage=stage)
    for batch in loader:
        assert np.array_equal(batch["x"], ROWS[batch["item"]]) or len(batch["x"])
    assert loader.stats().staged == loader.stats().samples


def test_units_of_shards_are_boxes_of_inner_chunks(tmp_path: Path, stage: Path) -> None:
    values = rows_of((64, 64, 64))
    z = stored(tmp_path / "x.zarr", values, chunks=(8, 8, 8), shards=(64, 64, 64))
    patches = ml.Crops({"x": z}, dims="zyx", size={"z": 12, "y": 12, "x": 12}, per_item=40)
    loader = ml.Loader(patches, 4, stage=ml.Stage(stage, max_bytes="4 MB"), seed=1)
    for batch in loader:
        for sample, start in zip(batch["x"], batch["start"], strict=True):
            z0, y0, x0 = start.tolist()
            assert np.array_equal(sample, values[z0 : z0 + 12, y0 : y0 + 12, x0 : x0 + 12])
    assert len(chunks_of(stage)) == 1


@pytest.mark.parametrize("length", [65521, 1_000_003, 2**17])
def test_chunks_of_prime_length_have_no_tiny_blocks(
    tmp_path: Path, stage: Path, length: int
) -> None:
    values = rows_of(length)
    z = stored(tmp_path / "x.zarr", values, chunks=(length,))
    windows = ml.Clips({"x": z}, dims="t", time="t", frames=64, stride=length // 9)
    loader = ml.Loader(windows, 4, stage=ml.Stage(stage, max_bytes="32 MB"))
    for batch in loader:
        for sample, start in zip(batch["x"], batch["start"], strict=True):
            assert np.array_equal(sample, values[int(start[0]) : int(start[0]) + 64])
    assert loader.stats().staged == loader.stats().samples
    (chunk,) = chunks_of(stage)
    assert chunk.stat().st_size < 1.1 * values.nbytes + 5000
