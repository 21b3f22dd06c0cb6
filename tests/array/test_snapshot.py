"""A thread that reads never sees half of a change that another thread makes to the same array."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import zarrix as zarr
from zarrix._array import handle
from zarrix._array.access import change_metadata, options_of, snapshot_of


@pytest.fixture
def switched_often() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("switched_often")
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_reads_during_resizes_have_one_of_the_shapes(zarr_format: int) -> None:
    z = zarr.create((64,), chunks=8, dtype="i4", zarr_format=zarr_format)
    failures: list[BaseException] = []
    done = threading.Event()

    def resize() -> None:
        try:
            for _ in range(150):
                z.resize(24)
                z.resize(64)
        except BaseException as error:
            failures.append(error)
        done.set()

    thread = threading.Thread(target=resize)
    thread.start()
    lengths = set()
    try:
        while not done.is_set():
            lengths.add(len(z[:]))
            snapshot = snapshot_of(z)
            # The engine's array and the metadata are of one state: this reads all of it.
            out: Any = bytearray(4 * snapshot.metadata.shape[0])
            snapshot.io.read(((0, 1, snapshot.metadata.shape[0]),), memoryview(out).cast("i"))
    finally:
        thread.join()
    assert failures == []
    assert lengths <= {24, 64}


def test_a_snapshot_does_not_change() -> None:
    z = zarr.create(4, dtype="i4")
    before = snapshot_of(z)
    z.resize(8)
    assert before.metadata.shape == (4,)
    assert snapshot_of(z).metadata.shape == (8,)
    assert snapshot_of(z) is not before


def test_a_change_of_read_only_reverts_no_resize_of_another_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    z = zarr.create((4,), chunks=8, dtype="i4")

    def grow() -> None:
        change_metadata(z, lambda metadata: metadata.with_shape((6,)))

    thread = threading.Thread(target=grow)

    def interrupted(*given: Any, **changes: Any) -> Any:
        if not thread.ident:
            # The other thread resizes now, or waits for the end of this change.
            thread.start()
            thread.join(0.5)
        return replace(*given, **changes)

    monkeypatch.setattr(handle, "replace", interrupted)
    z.read_only = True
    thread.join()
    assert thread.ident
    assert z.shape == zarr.Array(z.store).shape == (6,)
    with pytest.raises(zarr.errors.ReadOnlyError):
        z[0] = 1


def test_options_of_a_view_are_its_own() -> None:
    z = zarr.array([1, 2, 3])
    view = z.view(read_only=True)
    cast = z.astype("f8")
    assert not options_of(z).read_only
    assert not options_of(z).is_view
    assert options_of(view).read_only
    assert options_of(cast).cast_to == "f8"
    z[0] = 7
    assert cast[0] == 7.0
    for one in (view, cast):
        with pytest.raises(zarr.errors.ReadOnlyError):
            one[0] = 1
    z.read_only = True
    with pytest.raises(zarr.errors.ReadOnlyError):
        z[0] = 1
    z.read_only = False
    z[0] = 1
    assert view[:].tolist() == [1, 2, 3]
