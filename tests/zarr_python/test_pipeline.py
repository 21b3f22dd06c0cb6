"""`Pipeline`: found by its name, served, pickled, resized. That results are equal is in
test_accelerate_equal.py.
"""

import asyncio
import os
import pickle
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("zarr.testing", reason="tests/interop/setup stores")
import zarr
from zarr.core.buffer import cpu
from zarr.core.codec_pipeline import FusedCodecPipeline
from zarrix.interop import Pipeline

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import numpy as np, sys, zarr
z = zarr.create_array(sys.argv[1], shape=(20, 30), chunks=(7, 7), dtype="f4")
z[:] = np.arange(600).reshape(20, 30)
pipeline = z._async_array.codec_pipeline
assert type(pipeline).__name__ == "Pipeline", type(pipeline)
assert pipeline.__dict__["_zarrix_array"].bound.io is not None
assert zarr.open_array(sys.argv[1])[19, 29] == 599
"""


@pytest.fixture(autouse=True)
def on() -> Iterator[None]:
    with zarr.config.set({"codec_pipeline.path": "zarrix.interop.Pipeline"}):
        yield


def bound(array: Any) -> Any:
    return array._async_array.codec_pipeline.__dict__["_zarrix_array"].bound


def test_a_program_that_is_not_changed_uses_it(tmp_path: Path) -> None:
    """An installed zarrix has this entry point; here a folder on the path stands for it."""
    group = "zarr.codec_pipeline"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = project["entry-points"][group]
    folder = tmp_path / "zarrix_entry-1.dist-info"
    folder.mkdir()
    lines = [f"[{group}]", *(f"{name} = {value}" for name, value in found.items())]
    (folder / "entry_points.txt").write_text("\n".join(lines))
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: zarrix-entry\nVersion: 1\n")
    path = os.pathsep.join((str(ROOT / "python"), str(tmp_path)))
    settings = {"PYTHONPATH": path, "ZARR_CODEC_PIPELINE__PATH": "zarrix.interop.Pipeline"}
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "x")]
    subprocess.run(command, env=os.environ | settings, check=True, timeout=120)


def test_the_entry_point_loads_little() -> None:
    """zarr-python loads it in every program, also in one that does not use it."""
    program = (
        "import sys, zarr, zarrix.interop; zarrix.interop.Pipeline; "
        "assert 'zarrix._array.array' not in sys.modules"
    )
    settings = {"PYTHONPATH": str(ROOT / "python")}
    subprocess.run([sys.executable, "-c", program], env=os.environ | settings, check=True)


def test_it_is_zarr_pythons_pipeline_for_what_it_does_not_serve() -> None:
    assert issubclass(Pipeline, FusedCodecPipeline)
    wrapped = zarr.storage.WrapperStore(zarr.storage.MemoryStore())
    array = zarr.create_array(wrapped, shape=10, chunks=3, dtype="i4")
    array[:] = np.arange(10)
    assert bound(array).io is None
    assert array[::3].tolist() == [0, 3, 6, 9]


def test_an_array_that_grows_is_served() -> None:
    array = zarr.create_array(zarr.storage.MemoryStore(), shape=10, chunks=3, dtype="i4")
    array[:] = 1
    array.append(np.arange(7, dtype="i4"))
    assert array[:].tolist() == [1] * 10 + [*range(7)]
    array.resize((4,))
    array[2:] = 5
    assert array[:].tolist() == [1, 1, 5, 5]
    array.resize((12,))
    assert array[:5].tolist() == [1, 1, 5, 5, 1]
    assert bound(array).io is not None


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("separator", [".", "/"])
@pytest.mark.parametrize("path", ["", "a", "a/0"])
def test_chunks_are_found_by_their_keys(zarr_format: int, separator: str, path: str) -> None:
    name = "v2" if zarr_format == 2 else "default"
    array = zarr.create_array(
        zarr.storage.MemoryStore(),
        name=path or None,
        shape=(4, 6),
        chunks=(3, 4),
        dtype="i4",
        zarr_format=zarr_format,
        chunk_key_encoding={"name": name, "separator": separator},
    )
    values = np.arange(24).reshape(4, 6)
    array[:] = values
    assert bound(array).io is not None
    with zarr.config.set({"codec_pipeline.path": "zarr.core.codec_pipeline.BatchedCodecPipeline"}):
        plain = zarr.open_array(array.store, path=path)
        assert np.array_equal(plain[:], values)


def test_an_array_is_pickled_with_it(tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path / "x", shape=10, chunks=3, dtype="i4")
    array[:] = 4
    copied = pickle.loads(pickle.dumps(array))
    assert copied[9] == 4
    assert bound(copied).io is not None


def test_missing_chunks_are_named_where_they_are_errors() -> None:
    array = zarr.create_array(
        zarr.storage.MemoryStore(),
        shape=9,
        chunks=3,
        dtype="i4",
        config={"read_missing_chunks": False},
    )
    array[:3] = 1
    with pytest.raises(zarr.errors.ChunkNotFoundError, match="c/1"):
        array[:]


def test_a_buffer_of_another_dtype_is_filled_with_cast_elements() -> None:
    array = zarr.create_array(zarr.storage.MemoryStore(), shape=9, chunks=3, dtype="i8")
    array[:] = np.arange(9)
    for dtype in ("f8", ">i8", "i4"):
        out = cpu.NDBuffer.create(shape=(4,), dtype=np.dtype(dtype))
        array.get_basic_selection(slice(2, 6), out=out)
        assert out.as_numpy_array().tolist() == [2, 3, 4, 5]


def test_a_store_that_moves_takes_open_arrays_along(tmp_path: Path) -> None:
    store = zarr.storage.LocalStore(tmp_path / "before")
    array = zarr.create_array(store, shape=(20, 30), chunks=(7, 7), dtype="f4")
    array[:] = np.arange(600).reshape(20, 30)
    assert bound(array).io is not None
    asyncio.run(store.move(tmp_path / "after"))
    assert array[19, 29] == 599
    array[0, 0] = 7
    assert not (tmp_path / "before").exists()
    assert zarr.open_array(tmp_path / "after")[0, 0] == 7
