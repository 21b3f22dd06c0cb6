"""Appends to a bucket that insert and replace rows, with ingesters that are cut off or together."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import zarrix as zarr
from ingest import days
from servers.faulty import FaultyServer
from zarrix.commits import _claim, _commit, _left
from zarrix.errors import (
    BrokenMemberWarning,
    CommitBusyError,
    CommitConflictError,
    CommitLostError,
    CommitVisibleError,
    NotAtomicError,
)

# The warning is an error in tests; it says that a member could not be read.
LOST = (
    *(OSError, CommitLostError, CommitConflictError, CommitBusyError, CommitVisibleError),
    BrokenMemberWarning,
)


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as server:
        yield server


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Claims are taken over at once, and do not beat: a client that was cut off is dead."""
    monkeypatch.setattr(_left, "PROMISED", 0.0)
    monkeypatch.setattr(_commit, "PATIENCE", 0.0)
    monkeypatch.setattr("zarrix.commits._recover.PATIENCE", 0.0)
    monkeypatch.setattr("zarrix.commits._sweep.PATIENCE", 0.0)
    monkeypatch.setattr(_claim.Claim, "_begin_beats", lambda claim: None)


class Bucket:
    """A destination in a bucket."""

    def __init__(self, server: FaultyServer) -> None:
        self.server, self.url = server, f"{server.url}/all.zarr"

    def append(self, sources: str | Sequence[str], key: str | None = None, **options: Any) -> Any:
        own = dict(self.server.options)
        if key is not None:
            # Another name of the server is another store, which shares nothing with this one.
            url = own["endpoint_url"].replace("127.0.0.1", "localhost")
            own.update(key=key, max_retries=0, endpoint_url=url)
        return zarr.append(sources, self.url, along="time", storage_options=own, **options)

    def labels(self) -> list[int]:
        """The labels that readers of consolidated metadata see; an error for half a step."""
        root = zarr.open_consolidated(self.url, mode="r", storage_options=self.server.options)
        return days.whole({name: root[name][:] for name in root.array_keys()})

    def same(self, expected: Path, folder: Path) -> None:
        """Assert that the bytes are those of one sorted write, and that nothing else is there."""
        options = self.server.options
        zarr.recover(self.url, storage_options=options)
        zarr.sweep(self.url, now=True, storage_options=options)
        for key, (value, _) in self.server.values.items():
            path = folder / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(value)
        assert days.chunks(folder / "all.zarr") == days.chunks(expected)
        assert days.whole(days.state(folder / "all.zarr")) == days.whole(days.state(expected))


def test_labels_of_any_order_are_inserted_and_replaced(
    server: FaultyServer, tmp_path: Path
) -> None:
    sources = days.make(tmp_path, 3)
    expected = tmp_path / "expected.zarr"
    zarr.append(sources, expected, along="time")
    bucket = Bucket(server)
    seen: set[int] = set()
    for number in (2, 0, 1, 0):
        done = bucket.append(sources[number])
        seen |= {*range(number * 3, number * 3 + 4)}
        assert bucket.labels() == sorted(seen)
        assert done.length == len(seen)
    bucket.same(expected, tmp_path / "copy")
    zarr.open_group(sources[1])["a"][0, 0] = -5
    done = bucket.append(sources[1], overlap="replace")
    assert (done.added, done.replaced, done.same) == (0, 1, 3)
    root = zarr.open_group(bucket.url, mode="r", storage_options=server.options)
    assert root["a"][3].tolist() == [-5, 31, 32]


@pytest.mark.usefixtures("impatient")
def test_ingesters_that_are_cut_off_leave_whole_steps(
    server: FaultyServer, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    kills = 200 if pytestconfig.getoption("--long") else 4
    sources = days.make(tmp_path, 4)
    expected = tmp_path / "expected.zarr"
    zarr.append(sources, expected, along="time")
    bucket, rng = Bucket(server), random.Random(3)
    bucket.append(sources[2])
    rounds = 1
    while kills:
        before = {*bucket.labels()}
        server.cut_off = {"dying": rng.randrange(60)}
        try:
            bucket.append(rng.choice(sources), "dying")
        except LOST:
            pass
        except NotAtomicError as error:
            # Each commit that died keeps a key space, in case that it goes on.
            if "zarrix.sweep(root, now=True) frees them" not in str(error):
                raise
            zarr.sweep(bucket.url, now=True, storage_options=server.options)
        kills -= server.cut_off.pop("dying") == 0
        assert before <= {*bucket.labels()}
        if len(before) == 13:
            _finish(bucket, sources, expected, tmp_path / str(rounds))
            server.values.clear()
            bucket.append(sources[2])
            rounds += 1
    _finish(bucket, sources, expected, tmp_path / "end")
    print(f"{rounds} rounds")


def _finish(bucket: Bucket, sources: list[str], expected: Path, folder: Path) -> None:
    zarr.sweep(bucket.url, now=True, storage_options=bucket.server.options)
    for one in sources:
        bucket.append(one)
    bucket.same(expected, folder)


def test_two_ingesters_and_a_reader(
    server: FaultyServer, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    count = 12 if pytestconfig.getoption("--long") else 3
    sources = days.make(tmp_path, count)
    expected = tmp_path / "expected.zarr"
    zarr.append(sources, expected, along="time")
    bucket = Bucket(server)
    bucket.append(sources[1])
    failed: list[BaseException] = []
    over = threading.Event()

    def ingest(seed: int) -> None:
        try:
            for one in random.Random(seed).sample(sources, count):
                bucket.append(one, f"ingester{seed}", wait=600.0)
        except BaseException as error:
            failed.append(error)

    def read() -> None:
        try:
            before: set[int] = set()
            while not over.is_set():
                found = {*bucket.labels()}
                assert before <= found
                before = found
        except BaseException as error:
            failed.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    ingesters = [threading.Thread(target=ingest, args=(seed,)) for seed in (1, 2)]
    for one in ingesters:
        one.start()
    for one in ingesters:
        one.join()
    over.set()
    reader.join()
    assert not failed, failed
    assert len(bucket.labels()) == count * days.ROWS + 1
    bucket.same(expected, tmp_path / "copy")
