"""Windows against NumPy: every layout, inside and outside, into any buffer, in little memory."""

import array
import mmap
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given
from hypothesis import strategies as st
from selections import Values, arrays, assert_same, out_like, values_of, windows_of
from zarrix.errors import ArrayIndexError, BoundsCheckError


@given(st.data(), arrays(), st.sampled_from(("C", "F", "strided", "reversed")))
def test_windows_are_numpys_crops(
    data: st.DataObject, pair: tuple[Any, Values], strides: str
) -> None:
    z, model = pair
    shape = tuple(data.draw(st.integers(0, size)) for size in model.shape)
    count = data.draw(st.integers(0, 5))
    rows = [
        [data.draw(st.integers(0, n - size)) for n, size in zip(model.shape, shape, strict=True)]
        for _ in range(count)
    ]
    starts = np.array(rows, data.draw(st.sampled_from(("i8", "i4", "u2")))).reshape(
        count, model.ndim
    )
    want = windows_of(model, starts, shape, np.zeros((), model.dtype))
    assert_same(z.read_windows(starts, shape), want)
    assert_same(z.read_windows(starts.tolist(), shape), want)
    out = out_like(want, model.dtype, strides)
    assert z.read_windows(starts, shape, out) is out
    assert_same(out, want)


@given(st.data(), arrays())
def test_windows_that_leave_the_array_are_padded_or_refused(
    data: st.DataObject, pair: tuple[Any, Values]
) -> None:
    z, model = pair
    shape = tuple(data.draw(st.integers(0, size + 3)) for size in model.shape)
    starts = np.array(
        [[data.draw(st.integers(-n - 3, n + 3)) for n in model.shape] for _ in range(4)]
    )
    pad = values_of(model.dtype, (9,))[8]
    want = windows_of(model, starts, shape, pad)
    assert_same(z.read_windows(starts, shape, outside="pad", pad_value=pad), want)
    fill = np.zeros((), model.dtype) if z.fill_value is None else z.fill_value
    want = windows_of(model, starts, shape, fill)
    assert_same(z.read_windows(starts, shape, outside="pad"), want)
    outside = (starts < 0) | (starts + np.array(shape) > np.array(model.shape))
    if outside.any():
        with pytest.raises(BoundsCheckError, match=r"window \d begins at -?\d+ on axis"):
            z.read_windows(starts, shape)


def test_a_window_far_outside_is_padding_without_overflow() -> None:
    z = zarr.ones((4, 4), chunks=(2, 2))
    got = z.read_windows([[2**63 - 1, 0], [-(2**63), 0]], 2, outside="pad", pad_value=-1)
    assert got.tolist() == [[[-1, -1], [-1, -1]]] * 2


BAD: list[tuple[Any, type[Exception], str]] = [
    (
        lambda z: z.read_windows([[0, 0], [3, 9]], (2, 2)),
        BoundsCheckError,
        "window 1 begins at 9 on axis 1, and with a length of 2 leaves the axis of size 10",
    ),
    (lambda z: z.read_windows([[-1, 0]], 2), BoundsCheckError, "window 0 begins at -1 on axis 0"),
    (lambda z: z.read_windows([0, 0], 2), ArrayIndexError, "a row of 2 coordinates per window"),
    (lambda z: z.read_windows([[0.5, 0]], 2), ArrayIndexError, "start at integers, not at float64"),
    (lambda z: z.read_windows([[0, 0]], (2,)), ArrayIndexError, r"windows of shape \(2,\)"),
    (lambda z: z.read_windows([[0, 0], [1]], 2), ArrayIndexError, "rows of starts have different"),
    (lambda z: z.read_windows([[0, 0]], 2.5), ArrayIndexError, "windows of shape 2.5; an integer"),
    (lambda z: z.read_windows([[0, 0]], None), ArrayIndexError, "windows of shape None"),
    (lambda z: z.read_windows([[0, 0]], "ab"), ArrayIndexError, "windows of shape 'ab'"),
    (lambda z: z.read_windows([[0, 0]], 2, pad_value=1), ValueError, "add outside='pad'"),
    (
        lambda z: z.read_windows([[0, 0]], 2, outside="pad", pad_value="x"),
        ValueError,
        "invalid literal",
    ),
    (lambda z: z.read_windows([[0, 0]], -1), ValueError, "lengths are not negative"),
    (lambda z: z.read_windows([[0, 0]], 2, outside="wrap"), ValueError, "'error' and 'pad'"),
    (
        lambda z: z.read_windows([[0, 0]], 2, np.zeros((1, 2, 3), "i4")),
        ValueError,
        r"out has shape \(1, 2, 3\), and the selection has shape \(1, 2, 2\)",
    ),
    (lambda z: z.read_windows([[0, 0]], 2, np.zeros((1, 2, 2))), ValueError, "out has dtype"),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_what_is_no_window_is_one_sentence(number: int) -> None:
    read, error, words = BAD[number]
    with pytest.raises(error, match=words):
        read(zarr.zeros((10, 10), chunks=(4, 4), dtype="i4"))


def test_windows_of_a_cast_array_are_cast() -> None:
    z = zarr.array(np.arange(10), chunks=4).astype("f4")
    assert_same(z.read_windows([1, 7], 2), np.array([[1, 2], [7, 8]], "f4"))
    out = np.zeros((2, 2), "f4")
    z.read_windows([1, 7], 2, out)
    assert_same(out, np.array([[1, 2], [7, 8]], "f4"))


# Buffers of all kinds


def test_reads_go_into_anything_that_lends_memory(tmp_path: Path) -> None:
    z = zarr.array(np.arange(12, dtype="<i4").reshape(3, 4), chunks=(2, 2))
    want = z[...]
    raw = bytearray(48)
    assert z.read(out=raw) is raw
    assert bytes(raw) == want.tobytes()
    numbers = array.array("i", [0] * 4)
    z.read(1, out=numbers)
    assert list(numbers) == [4, 5, 6, 7]
    view = memoryview(bytearray(48)).cast("B").cast("i", (3, 4))
    z.oindex.array.get_orthogonal_selection(slice(None), out=view)
    assert view.tolist() == want.tolist()
    with open(tmp_path / "raw", "w+b") as file:
        file.truncate(48)
        with mmap.mmap(file.fileno(), 48) as mapped:
            z.read(out=mapped)
            assert mapped[:] == want.tobytes()


def test_buffers_that_do_not_fit_are_refused_in_one_sentence_before_reading() -> None:
    z = zarr.array(np.arange(12, dtype="<i4").reshape(3, 4), chunks=(2, 2))
    read_only = np.zeros((3, 4), "i4")
    read_only.flags.writeable = False
    cases: list[tuple[Any, type[Exception], str]] = [
        (np.zeros((4, 3), "i4"), ValueError, r"out has shape \(4, 3\)"),
        (np.zeros((3, 4), "f4"), ValueError, "out has dtype float32"),
        (read_only, ValueError, "read-only"),
        (bytes(48), ValueError, "read-only"),
        (bytearray(47), ValueError, r"out has shape \(47,\)"),
        ([0] * 12, TypeError, "a NumPy array or a writable buffer, not list"),
    ]
    for out, error, words in cases:
        with pytest.raises(error, match=words):
            z.read(out=out)
        with pytest.raises(error, match=words):
            z.get_orthogonal_selection(slice(None), out=out)


def test_reads_go_into_tensors() -> None:
    torch = pytest.importorskip("torch")
    z = zarr.array(np.arange(12, dtype="<f4").reshape(3, 4), chunks=(2, 2))
    out = torch.zeros(4, 3).T
    assert z.read(out=out) is out
    assert out.tolist() == z[...].tolist()
    windows = torch.zeros(2, 2, 2)
    z.read_windows([[0, 0], [1, 2]], (2, 2), windows)
    assert windows[1].tolist() == [[6, 7], [10, 11]]
    with pytest.raises(ValueError, match="out has dtype int64"):
        z.read(out=torch.zeros(3, 4, dtype=torch.int64))


class Tensor:
    """What a tensor of torch is to a reader, where torch is not installed."""

    def __init__(self, values: Values, copies: bool = False) -> None:
        self.values, self.copies = values, copies

    def detach(self) -> "Tensor":
        return self

    def numpy(self) -> Values:
        return self.values.copy() if self.copies else self.values

    def data_ptr(self) -> int:
        return self.values.ctypes.data


def test_a_tensor_whose_memory_would_be_copied_is_refused() -> None:
    z = zarr.array(np.arange(3.0), chunks=2)
    out = Tensor(np.zeros(3))
    z.read(out=out)
    assert out.values.tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="a tensor whose memory NumPy would copy"):
        z.read(out=Tensor(np.zeros(3), copies=True))


# Memory

MEMORY = """
    import resource, sys
    import numpy as np
    import zarrix as zarr

    def peak():
        for line in open("/proc/self/status"):
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024

    zarr.config.threads = 2
    z = zarr.open(sys.argv[1], mode="r")
    starts = np.random.default_rng(0).integers(0, 4096 - 512, (int(sys.argv[2]), 2))
    z.read_windows(starts[:2], (512, 512))
    out = np.ones((len(starts), 512, 512), "f4")
    before = peak()
    z.read_windows(starts, (512, 512), out)
    print(peak() - before)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="peak memory is read there")
def test_windows_take_the_result_and_scratch_of_a_few_chunks_per_thread(tmp_path: Path) -> None:
    path = str(tmp_path / "large.zarr")
    z = zarr.open(path, mode="w", shape=(4096, 4096), chunks=(1024, 1024), dtype="f4")
    z[...] = np.random.default_rng(1).random((4096, 4096), "f4")
    for count in (8, 200):
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(MEMORY), path, str(count)],
            capture_output=True,
            text=True,
            check=True,
        )
        # A decoded and an encoded chunk are 4 MiB each, for each of two threads.
        assert int(done.stdout) < 3 * 2 * 4 * 2**20
