"""One native call per user call: Python frames and engine calls are counted, not guessed.

A read or write may pass through five of our own Python frames and must enter the engine once,
however many chunks the selection covers.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from numcodecs.abc import Codec
from numcodecs.compat import ensure_bytes, ndarray_copy
from numcodecs.registry import register_codec
from zarrix import _engine

PACKAGE = str(Path(zarr.__file__).parent)
MOST_FRAMES = 5


def count(call: Callable[[], Any]) -> tuple[list[str], list[str]]:
    """Names of our Python functions and of the engine's methods that one call runs."""
    frames: list[str] = []
    native: list[str] = []

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            frames.append(frame.f_code.co_qualname)
        elif event == "c_call":
            owner = getattr(argument, "__self__", None)
            if isinstance(owner, _engine.ArrayIO | _engine.Store):
                native.append(argument.__name__)

    # With one thread everything happens on this one, where the profiler sees it.
    with zarr.config(threads=1):
        sys.setprofile(profile)
        try:
            call()
        finally:
            sys.setprofile(None)
    return frames, native


@pytest.fixture(params=["directory", "memory"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Any]:
    def array(chunks: tuple[int, int], **keywords: Any) -> Any:
        path = str(tmp_path / f"{len(list(tmp_path.iterdir()))}.zarr")
        store = path if request.param == "directory" else zarr.MemoryStore()
        z = zarr.open_array(store, mode="w", shape=(60, 60), chunks=chunks, dtype="f4", **keywords)
        z[...] = np.arange(3600, dtype="f4").reshape(60, 60)
        # Opened afresh, with nothing that the write may have cached.
        return zarr.open_array(store, mode="r+")

    return array


OUT = np.empty((60, 60), "f4")
ROW = np.ones(60, "f4")
ALL = np.ones((60, 60), "f4")

READS: dict[str, Callable[[Any], Any]] = {
    "everything": lambda z: z[...],
    "slice": lambda z: z[:],
    "region": lambda z: z[3:40, 5:50],
    "steps": lambda z: z[::3, ::-2],
    "row": lambda z: z[7],
    "element": lambda z: z[7, 9],
    "NumPy integers": lambda z: z[np.int64(7), np.int64(9)],
    "crop by NumPy integers": lambda z: z[np.int64(7) : np.int64(20), np.int64(9) :],
    "ellipsis": lambda z: z[..., 9],
    "newaxis": lambda z: z[None, 7],
    "nothing": lambda z: z[5:5],
    "get_basic_selection": lambda z: z.get_basic_selection((7, slice(None))),
    "read": lambda z: z.read((slice(0, 9), 3)),
    "into out": lambda z: z.get_basic_selection(..., out=OUT),
}
WRITES: dict[str, Callable[[Any], Any]] = {
    "everything": lambda z: z.__setitem__(..., ALL),
    "slice": lambda z: z.__setitem__(slice(None), ALL),
    "region": lambda z: z.__setitem__((slice(3, 40), slice(5, 50)), ALL[3:40, 5:50]),
    "broadcast row": lambda z: z.__setitem__(slice(2, 50), ROW),
    "broadcast number": lambda z: z.__setitem__(..., 3),
    "cast": lambda z: z.__setitem__(..., ALL.astype("i8")),
    "steps": lambda z: z.__setitem__((slice(None, None, 3), 4), 1),
    "element": lambda z: z.__setitem__((7, 9), 1.5),
    "list": lambda z: z.__setitem__((slice(0, 2), 0), [1, 2]),
    "set_basic_selection": lambda z: z.set_basic_selection((7, slice(None)), ROW),
}


@pytest.mark.parametrize("name", READS)
def test_a_read_takes_five_frames_at_most_and_one_native_call(
    make: Callable[..., Any], name: str
) -> None:
    z = make((10, 10))
    frames, native = count(lambda: READS[name](z))
    assert len(frames) <= MOST_FRAMES, frames
    assert native == ["read"]


@pytest.mark.parametrize("name", WRITES)
def test_a_write_takes_five_frames_at_most_and_one_native_call(
    make: Callable[..., Any], name: str
) -> None:
    z = make((10, 10))
    frames, native = count(lambda: WRITES[name](z))
    assert len(frames) <= MOST_FRAMES, frames
    assert native == ["write"]


@pytest.mark.parametrize("name", READS)
def test_frames_of_a_read_do_not_grow_with_chunks(make: Callable[..., Any], name: str) -> None:
    one, many = make((60, 60)), make((3, 3))
    few, _ = count(lambda: READS[name](one))
    frames, native = count(lambda: READS[name](many))
    assert frames == few
    assert native == ["read"]


@pytest.mark.parametrize("name", WRITES)
def test_frames_of_a_write_do_not_grow_with_chunks(make: Callable[..., Any], name: str) -> None:
    one, many = make((60, 60)), make((3, 3))
    few, _ = count(lambda: WRITES[name](one))
    frames, native = count(lambda: WRITES[name](many))
    assert frames == few
    assert native == ["write"]


def test_a_plain_read_takes_two_frames_and_a_plain_write_three(make: Callable[..., Any]) -> None:
    z = make((10, 10))
    assert count(lambda: z[3:40])[0] == ["Array.__getitem__", "try_basic"]
    written = count(lambda: z.__setitem__(slice(3, 40), ROW))[0]
    assert written == ["Array.__setitem__", "try_basic", "as_value"]


def test_an_array_is_opened_in_forty_frames(tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{zarr_format}.zarr") for zarr_format in (2, 3)]
    for zarr_format, path in zip((2, 3), paths, strict=True):
        zarr.create(4, store=path, zarr_format=zarr_format)
        zarr.open_array(path, mode="r")
    for path in paths:
        frames, _ = count(lambda path=path: zarr.open_array(path, mode="r"))
        assert len(frames) <= 40, frames


def test_an_array_is_created_in_a_hundred_and_fifty_frames(tmp_path: Path) -> None:
    """One with an equal document was created before; otherwise it is parsed and bound first."""

    def create(name: str, length: int = 60) -> None:
        path = str(tmp_path / name)
        zarr.create_array(path, shape=(length, 60), chunks=(10, 10), dtype="f4")

    # What is used for the first time is imported.
    create("imports.zarr", 50)
    first, _ = count(lambda: create("first.zarr"))
    frames, _ = count(lambda: create("second.zarr"))
    assert len(frames) <= 150, frames
    assert len(first) <= 250, first


INDICES = [7, 3, 50, 7]
MASK = np.arange(3600).reshape(60, 60) % 7 == 0
SELECTIONS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "oindex": ("read", lambda z: z.oindex[INDICES, 5:50]),
    "fancy": ("read", lambda z: z[INDICES]),
    "blocks": ("read", lambda z: z.blocks[0]),
    "vindex": ("read_points", lambda z: z.vindex[INDICES, INDICES]),
    "mask": ("read_points", lambda z: z[MASK]),
    "vindex and slice": ("read_boxes", lambda z: z.vindex[INDICES, 5:50]),
    "windows": ("read_windows", lambda z: z.read_windows([[0, 0], [9, 9]], 20)),
    "padded windows": ("read_windows", lambda z: z.read_windows([[50, 50]], 20, outside="pad")),
    "lazy": ("read", lambda z: z.lazy[::2].T[3:].result()),
    "plan": ("cost strategy", lambda z: z.plan((slice(3, 40), INDICES))),
    "set oindex": ("write", lambda z: z.oindex.__setitem__((INDICES, [1]), 5)),
    "set vindex": ("write_points", lambda z: z.vindex.__setitem__((INDICES, INDICES), 5)),
    "set mask": ("write_points", lambda z: z.__setitem__(MASK, 5)),
    "set mixed": ("write_boxes", lambda z: z.vindex.__setitem__((INDICES, slice(5)), 5)),
    "set blocks": ("write", lambda z: z.blocks.__setitem__(0, 5)),
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_every_selection_is_one_native_call_and_its_frames_do_not_grow_with_chunks(
    make: Callable[..., Any], name: str
) -> None:
    method, call = SELECTIONS[name]
    one, many = make((60, 60)), make((3, 3))
    # What is used for the first time may be imported, or be made once for an array.
    call(one), call(many)
    few, _ = count(lambda: call(one))
    frames, native = count(lambda: call(many))
    assert frames == few
    assert native == method.split()


@pytest.mark.parametrize(
    "codec",
    [
        None,
        {"id": "blosc", "cname": "zstd", "clevel": 1, "shuffle": 2},
        {"id": "zstd", "level": 1},
        {"id": "gzip", "level": 1},
        {"id": "zlib", "level": 1},
        {"id": "lz4", "acceleration": 1},
    ],
    ids=lambda codec: codec["id"] if codec else "none",
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_no_native_codec_calls_python(make: Callable[..., Any], codec: Any, order: str) -> None:
    filters = [{"id": "delta", "dtype": "<f4"}, {"id": "shuffle", "elementsize": 4}]
    for chain in ([], filters):
        z = make((3, 3), compressor=codec, filters=chain, order=order)
        assert len(count(lambda z=z: z[...])[0]) <= MOST_FRAMES
        assert len(count(lambda z=z: z.__setitem__(..., ALL))[0]) <= MOST_FRAMES


class Inverted(Codec):
    """A codec that no engine has: every bit inverted."""

    codec_id = "zarrix-test-inverted"

    def encode(self, buf: Any) -> bytes:
        return (~np.frombuffer(ensure_bytes(buf), "u1")).tobytes()

    def decode(self, buf: Any, out: Any = None) -> Any:
        return ndarray_copy(self.encode(buf), out)


def test_a_codec_of_the_registry_is_called_back_for_every_chunk() -> None:
    """The exemption from the rule, by which the counts above are known to count."""
    register_codec(Inverted)
    z = zarr.create((60, 60), chunks=(10, 10), dtype="f4", compressor=Inverted())
    frames, native = count(lambda: z.__setitem__(..., ALL))
    assert len(frames) >= 36
    assert native == ["write"]
    frames, native = count(lambda: z[...])
    assert len(frames) >= 36
    assert native == ["read"]
    assert np.array_equal(z[...], ALL)
