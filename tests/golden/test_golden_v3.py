"""Arrays of v3 that zarr-python 3 wrote are read equal, and ours by it and by TensorStore.

`golden/v3_arrays/make_arrays.py` has the table of cases, in the words that zarr-python 3 and
zarrix share; beside it are the files that zarr-python made of them, the values that it reads, and a
record of which peers read what zarrix writes. No peer is needed here.
"""

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from golden.packs import digest, place, stored_files, unpack

GOLDEN = Path(__file__).parent / "v3_arrays"
WRITER = "zarr-python-3.4.2"


def load_maker() -> Any:
    spec = importlib.util.spec_from_file_location("golden_v3", GOLDEN / "make_arrays.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKER = load_maker()
CASES = MAKER.cases(zarr)
PEER = unpack(GOLDEN / f"{WRITER}.tar.xz")
EXPECTED = MAKER.expected_values()
OURS: dict[str, dict[str, Any]] = json.loads((GOLDEN / "ours.json").read_text())


def assert_identical(got: Any, want: np.ndarray[Any, Any]) -> None:
    """The same shape, dtype and bits; payloads of NaN and padding included."""
    got = np.asarray(got)
    assert got.shape == want.shape
    assert got.dtype.newbyteorder("=") == want.dtype
    assert got.astype(want.dtype).tobytes() == want.tobytes()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("arrays")


@pytest.mark.parametrize("name", PEER)
def test_an_array_of_zarr_python_3_reads_equal(name: str, folder: Path) -> None:
    place(PEER[name], folder / name)
    z = zarr.open_array(str(folder / name), mode="r")
    want = EXPECTED[name]
    assert z.zarr_format == 3
    assert_identical(z[...], want)
    if want.ndim:
        assert_identical(z[::-2], want[::-2])
        assert_identical(z[..., -1:], want[..., -1:])


@pytest.mark.parametrize("name", PEER)
def test_a_document_is_what_zarr_python_3_writes(name: str, folder: Path) -> None:
    values, keywords = CASES[name]
    made = zarr.create_array({}, shape=values.shape, dtype=values.dtype, **keywords)
    theirs, ours = PEER[name]["zarr.json"].decode(), made.store["zarr.json"].decode()
    # Where no codec is named, ours notices damage.
    assert ours.replace('"checksum": true', '"checksum": false') == theirs.replace(
        '"checksum": true', '"checksum": false'
    )


@pytest.mark.parametrize("name", PEER)
def test_what_was_read_is_changed_in_place_and_keeps_its_document(name: str, folder: Path) -> None:
    root = folder / f"changed-{name}"
    place(PEER[name], root)
    z = zarr.open_array(str(root), mode="r+")
    z.attrs["new"] = 1
    theirs = json.loads(PEER[name]["zarr.json"])
    assert json.loads((root / "zarr.json").read_bytes()) == {
        **theirs,
        "attributes": {**theirs["attributes"], "new": 1},
    }
    assert_identical(z[...], EXPECTED[name])


@pytest.mark.parametrize("name", CASES)
def test_what_zarrix_writes_reads_back_whole_and_in_parts(name: str, folder: Path) -> None:
    values, keywords = CASES[name]
    root = folder / "ours" / name
    z = MAKER.store_case(zarr, root, values, keywords)
    want = EXPECTED.get(name, values)
    assert_identical(z[...], want)
    if all(word not in name for word in ("bitround", "quantize", "astype", "delta", "fixed")):
        z = zarr.open_array(str(root), mode="r+")
        part = tuple(slice(1, None, 2) for _ in z.shape)
        z[part] = values[part]
        assert_identical(z[...], want)
    if keywords.get("compressors", 0) is None:
        assert digest(stored_files(root)) == OURS[name]["digest"]


def test_nearly_every_case_was_read_equal_by_zarr_python_3_and_tensorstore() -> None:
    assert OURS.keys() == CASES.keys()
    by_zarr = {n for n, row in OURS.items() if "zarr-python 3.4.2" in row["read_equal_by"]}
    by_tensorstore = {
        n for n, row in OURS.items() if any("TensorStore" in one for one in row["read_equal_by"])
    }
    # zarr-python 3 does not transpose what a filter of numcodecs gave.
    assert OURS.keys() - by_zarr == {"filter-delta-then-transpose"}
    assert len(by_tensorstore) >= 90
