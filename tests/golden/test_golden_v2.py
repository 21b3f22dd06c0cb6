"""Arrays of v2 that zarr-python 2.18 and 3 wrote are read equal, and ours by them.

`golden/v2_arrays` holds a table of cases, their values, the files of each peer, and a record of
which peers read what zarrix writes; `make_arrays.py` there made all of it, and no peer is needed
here. What we write is decoded a second time by NumPy and numcodecs alone, which know nothing of the
engine, so bytes that no peer has seen (another zstd than the recorded one) are still checked.
"""

import base64
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarrix as zarr
from documents import as_written
from golden.packs import digest, place, stored_files, unpack

GOLDEN = Path(__file__).parent / "v2_arrays"
WRITERS = ("zarr-python-2.18.7", "zarr-python-3.4.2")


CASES: dict[str, dict[str, Any]] = json.loads((GOLDEN / "cases.json").read_text())
OURS: dict[str, dict[str, Any]] = json.loads((GOLDEN / "ours.json").read_text())
PEERS = {writer: unpack(GOLDEN / f"{writer}.tar.xz") for writer in WRITERS}
EXPECTED = {
    name.removesuffix(".npy"): np.load(io.BytesIO(files[""]))
    for name, files in unpack(GOLDEN / "expected.tar.xz").items()
}


def assert_identical(got: Any, want: np.ndarray[Any, Any]) -> None:
    """The same shape, dtype and bits; payloads of NaN and padding included."""
    got = np.asarray(got)
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    assert got.tobytes() == want.tobytes()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("arrays")


@pytest.mark.parametrize(
    ("writer", "name"), [(writer, name) for writer in WRITERS for name in PEERS[writer]]
)
def test_an_array_of_a_peer_reads_equal(writer: str, name: str, folder: Path) -> None:
    root = folder / writer / name
    place(PEERS[writer][name], root)
    z = zarr.open_array(str(root), mode="r")
    want = EXPECTED[name]
    assert z.dtype == want.dtype
    assert z.shape == want.shape
    assert z.order == CASES[name]["order"]
    assert_identical(z[...], want)
    if want.ndim:
        assert_identical(z[::-2], want[::-2])
        assert_identical(z[..., -1:], want[..., -1:])


@pytest.fixture
def ours(request: pytest.FixtureRequest, folder: Path) -> dict[str, bytes]:
    """The files that zarrix makes of a case, once for all tests."""
    name = request.getfixturevalue("name")
    root = folder / "ours" / name
    if not root.exists():
        write(name, root)
    return stored_files(root)


def write(name: str, root: Path) -> None:
    case, values = CASES[name], EXPECTED[name]
    fill = None
    if case["fill_hex"] is not None:
        fill = np.frombuffer(bytes.fromhex(case["fill_hex"]), values.dtype)[0]
    z = zarr.create(
        store=str(root),
        shape=values.shape,
        chunks=tuple(case["chunks"]),
        dtype=values.dtype,
        order=case["order"],
        fill_value=fill,
        dimension_separator=case["separator"],
        compressor=case["compressor"] and numcodecs.get_codec(dict(case["compressor"])),
        filters=[numcodecs.get_codec(dict(one)) for one in case["filters"] or ()] or None,
    )
    z[...] = values
    for key in case["missing"]:
        (root / key).unlink()


def decode_by_numcodecs(files: Mapping[str, bytes]) -> np.ndarray[Any, Any]:
    """The array of v2 in ``files``, by the specification, without zarrix."""
    document = json.loads(files[".zarray"])
    dtype = np.dtype(as_descr(document["dtype"]))
    shape, chunks = document["shape"], document["chunks"]
    result = np.full(shape, fill_of(document["fill_value"], dtype), dtype)
    separator = document.get("dimension_separator", ".")
    filters = [numcodecs.get_codec(config) for config in document["filters"] or ()]
    compressor = document["compressor"] and numcodecs.get_codec(document["compressor"])
    for key, value in files.items():
        if key.startswith("."):
            continue
        decoded: Any = compressor.decode(value) if compressor else value
        for codec in reversed(filters):
            decoded = codec.decode(decoded)
        flat = np.frombuffer(np.ascontiguousarray(np.asarray(decoded)).tobytes(), dtype)
        chunk = flat.reshape(chunks, order=document["order"])
        if not shape:
            assert key == "0"
            return chunk
        starts = [int(i) * n for i, n in zip(key.split(separator), chunks, strict=True)]
        ends = [min(i + n, size) for i, n, size in zip(starts, chunks, shape, strict=True)]
        there = tuple(slice(i, end) for i, end in zip(starts, ends, strict=True))
        result[there] = chunk[tuple(slice(end - i) for i, end in zip(starts, ends, strict=True))]
    return result


def as_descr(document: Any) -> Any:
    """A dtype of JSON as NumPy takes it: fields and shapes are tuples there."""
    if isinstance(document, str):
        return document
    return [(name, as_descr(base), *map(tuple, shape)) for name, base, *shape in document]


def fill_of(document: Any, dtype: np.dtype[Any]) -> Any:
    """The fill value that a v2 document spells."""
    zero = np.zeros((), dtype)[()]
    if document is None:
        return zero
    if dtype.kind in "SV":
        if document == 0:
            return zero
        return np.frombuffer(
            base64.standard_b64decode(document).ljust(dtype.itemsize, b"\0"), dtype
        )[0]
    if dtype.kind == "c":
        real, imaginary = map(float, document)
        return np.array(complex(real, imaginary), dtype)[()]
    if dtype.kind in "mM":
        return np.array(document, "i8").astype(dtype.byteorder + "i8").view(dtype)[()]
    return np.array(float(document) if dtype.kind == "f" else document, dtype)[()]


@pytest.mark.parametrize("name", CASES)
def test_what_zarrix_writes_decodes_equal_by_numcodecs_alone(
    name: str, ours: dict[str, bytes]
) -> None:
    assert_identical(decode_by_numcodecs(ours), EXPECTED[name])


@pytest.mark.parametrize("name", CASES)
def test_metadata_is_byte_for_byte_what_zarr_2_writes(name: str, ours: dict[str, bytes]) -> None:
    theirs = PEERS["zarr-python-2.18.7"][name]
    assert ours[".zarray"].decode() == as_written(theirs[".zarray"])
    assert ours.keys() == theirs.keys()


UNCOMPRESSED = [name for name, case in CASES.items() if case["compressor"] is None]


@pytest.mark.parametrize("name", UNCOMPRESSED)
def test_bytes_that_no_compressor_touches_are_the_ones_that_peers_read(
    name: str, ours: dict[str, bytes]
) -> None:
    assert digest(ours) == OURS[name]["digest"]


def test_every_case_was_read_equal_by_a_peer_and_nearly_all_by_three() -> None:
    assert OURS.keys() == CASES.keys() == EXPECTED.keys()
    readers = {reader for row in OURS.values() for reader in row["read_equal_by"]}
    assert {reader.split()[0] for reader in readers} == {"zarr-python", "TensorStore"}
    for name, row in OURS.items():
        assert "zarr-python 2.18.7" in row["read_equal_by"], name
    by_zarr_3 = sum(
        any(reader.startswith("zarr-python 3") for reader in row["read_equal_by"])
        for row in OURS.values()
    )
    # zarr-python 3 has no dtypes with sub-arrays.
    assert by_zarr_3 == len(OURS) - 3
