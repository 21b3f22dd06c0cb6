"""``out=`` on a CUDA device, with a torch whose copies finish late: no machine here has a GPU."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from ml.late_torch import POISON, Tensor, late_torch
from zarrix._array import device_out

VALUES = np.random.default_rng(5).integers(0, 2**31, (12, 10)).astype("i4")
Z = zarr.array(VALUES, chunks=(5, 4))


def tensor_of(device: Any, shape: Any, dtype: Any = "i4", name: str = "") -> Tensor:
    memory = np.full(int(np.prod(shape)) * np.dtype(dtype).itemsize, POISON, np.uint8)
    return Tensor(device, memory.view(dtype).reshape(shape), is_on_device=True, dtype=name)


READS = st.tuples(
    st.integers(0, 3),
    st.integers(0, 9),
    st.integers(1, 3),
    st.sampled_from(["read", "basic", "orthogonal", "many"]),
    st.lists(st.integers(0, 2), max_size=4),
)


@settings(max_examples=80)
@given(reads=st.lists(READS, max_size=12), most=st.sampled_from([0, 200, 2**28]))
def test_every_order_of_reads_and_copies_gives_the_values(reads: Any, most: int) -> None:
    """Outs are written again while copies wait; a step reads each one late, on its stream."""
    with late_torch() as device, pytest.MonkeyPatch.context() as patch:
        patch.setattr(device_out, "_MOST_BYTES", most)
        patch.setattr(device_out, "_uploads", device_out._Uploads())
        other = device.new_stream(None)
        outs: dict[int, Tensor] = {}
        compared = []

        def compare(memory: Any, wanted: Any) -> bool:
            compared.append(np.array_equal(memory, wanted))
            return True

        for slot, start, length, way, steps in reads:
            region = np.s_[start : start + length, 2:9]
            wanted = VALUES[region]
            out = outs.get(slot)
            if out is None or out.shape != wanted.shape:
                out = outs[slot] = tensor_of(device, wanted.shape)
                out.recorded.append(device.steps)
            with device.stream(other if slot == 0 else device.steps):
                if way == "read":
                    assert Z.read(region, out=out) is out
                elif way == "basic":
                    Z.get_basic_selection(region, out=out)
                elif way == "orthogonal":
                    rows = list(range(start, min(start + length, 12)))
                    assert Z.get_orthogonal_selection((rows, slice(2, 9)), out=out) is out
                else:
                    window = tensor_of(device, (1, *wanted.shape))
                    window.recorded.append(device.steps)
                    entry = (Z, [[start, 2]], wanted.shape, window)
                    assert zarr.read_many([entry])[0] is window
                    device.current.add(lambda m=window.array[0], w=wanted: compare(m, w))
                    continue
                device.current.add(lambda m=out.array, w=wanted: compare(m, w))
            for step in steps:
                device.streams[step % len(device.streams)].step()
        device.finish()
        assert compared == [True] * len(reads)
        assert device_out._uploads._bytes <= most + 12 * 10 * 4


def test_page_locked_memory_is_held_until_its_event() -> None:
    with late_torch() as device, pytest.MonkeyPatch.context() as patch:
        patch.setattr(device_out, "_uploads", device_out._Uploads())
        out = tensor_of(device, (12, 10))
        for _ in range(3):
            Z.read(out=out)
        assert device_out._uploads._bytes == 3 * VALUES.nbytes
        # The call does not wait for the copy.
        assert (out.array.view(np.uint8) == POISON).all()
        device.finish()
        assert np.array_equal(out.array, VALUES)
        Z.read(out=out)
        assert device_out._uploads._bytes == VALUES.nbytes


@pytest.mark.parametrize("dtype", ["u1", "i8", "f2", "f4", "f8", "c8", "b1"])
def test_each_type_and_no_elements(dtype: str) -> None:
    values = (VALUES % 200).astype(dtype)
    z = zarr.array(values, chunks=(5, 4))
    with late_torch() as device:
        out, empty = tensor_of(device, (12, 10), dtype), tensor_of(device, (0, 10), dtype)
        z.read(out=out)
        z.read(np.s_[:0], out=empty)
        device.finish()
        assert np.array_equal(out.array, values)


def test_bfloat16_and_conversions() -> None:
    with late_torch() as device:
        out = tensor_of(device, (2, 3, 4), "u2", "torch.bfloat16")
        wanted = zarr.read_many(
            [(Z, [[0, 0], [5, 5]], (3, 4))], convert={"dtype": "bfloat16", "scale": 1e-9}
        )[0]
        plain = np.empty((2, 3, 4), "i4")
        results = zarr.read_many(
            [(Z, [[0, 0], [5, 5]], (3, 4), out), (Z, [[0, 0], [5, 5]], (3, 4), plain)],
            convert=[{"dtype": "bfloat16", "scale": 1e-9}, None],
        )
        assert results[0] is out
        assert results[1] is plain
        device.finish()
        assert np.array_equal(out.array, wanted.view("u2"))
        assert np.array_equal(plain[1], VALUES[5:8, 5:9])


@pytest.mark.parametrize(
    ("shape", "dtype", "message"), [((3, 3), "i4", "has shape"), ((12, 10), "f4", "has dtype")]
)
def test_a_tensor_that_does_not_fit_is_an_error_and_unchanged(
    shape: Any, dtype: str, message: str
) -> None:
    with late_torch() as device:
        out = tensor_of(device, shape, dtype)
        with pytest.raises(ValueError, match=message):
            Z.read(out=out)
        device.finish()
        assert (out.array.view(np.uint8) == POISON).all()


def test_torch_is_not_imported_for_other_outs() -> None:
    program = (
        "import sys, numpy, zarrix; z = zarrix.zeros((4, 4)); z.read(out=numpy.empty((4, 4)));"
        "zarrix.read_many([(z, [[0, 0]], (2, 2), numpy.empty((1, 2, 2)))]);"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
