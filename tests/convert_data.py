"""Values for the tests of conversions: every kind of element, and the shapes at the edge."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["AS_CF", "OTHERS", "REFUSED", "VALUES", "h5py_can", "same", "write_mat", "write_n5"]

_FIELDS = [("a", ">i4"), ("b", "f8"), ("c", "i2", (2,))]
_NUMBERS = ("u1", "i2", "u4", "i8", "f2", "f4", "f8", "c8", "c16")
_RNG = np.random.default_rng(7)


def _bits(dtype: str, shape: tuple[int, ...]) -> Any:
    """Elements of all bit patterns, NaN payloads among them."""
    nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer(_RNG.bytes(nbytes), dtype).reshape(shape)


VALUES: dict[str, Any] = {
    **{code: _bits(code, (7, 9)) for code in _NUMBERS},
    **{code: _bits(code, (5, 4, 3)) for code in (">i2", ">u8", ">f4", ">f8", ">c16")},
    "bool": _RNG.integers(0, 2, (6, 5)).astype(bool),
    "negative zero": np.full((40,), -0.0),
    "days": _bits("M8[D]", (11,)),
    "nanoseconds": _bits("m8[ns]", (3, 4)),
    "big-endian times": _bits(">M8[us]", (5,)),
    "bytes": np.array([b"a", b"", b"long one", b"a\0b"]),
    "text": np.array(["a", "ä", "", "\N{GRINNING FACE}"]),
    "void": _bits("V5", (4,)),
    "fields": np.array([(1, 2.5, (3, 4)), (5, -0.0, (7, 8))], _FIELDS),
    "nested fields": np.zeros(3, [("p", [("x", "f4"), ("y", "f4")]), ("n", "u1")]),
    "no axes": np.array(-2.5),
    "no elements": np.zeros((0,), "i4"),
    "an empty axis": np.zeros((3, 0, 2), "f4"),
    "one element": np.array([[[7]]], "u2"),
}  # fmt: skip


_WITHOUT_NUMBERS = (
    "days", "nanoseconds", "big-endian times", "bytes", "text", "void", "fields", "nested fields",
)  # fmt: skip
_BIG_ENDIAN = (">i2", ">u8", ">f4", ">f8", ">c16")

REFUSED: dict[str, tuple[str, ...]] = {
    "npy": (),
    "npz": (),
    "raw": (),
    "hdf5": ("text",),
    "netcdf": ("f2", "void", "fields", "nested fields"),
    "safetensors": ("c16", *_BIG_ENDIAN, *_WITHOUT_NUMBERS),
    "tiff": (
        "bool", "negative zero", *_WITHOUT_NUMBERS, "no axes", "no elements", "an empty axis",
    ),
    "tar": ("text", "no axes", "no elements"),
}  # fmt: skip
"""What an export to a format refuses; everything else comes back byte for byte."""

AS_CF = ("bool", "days", "nanoseconds", "big-endian times", "bytes", "text")
"""What NetCDF has in the form of the CF conventions: integers, characters, text of any length."""


def _decimal(dtype: str) -> Any:
    """Finite elements of all magnitudes, -0.0 and the infinities, and the NaN that text has."""
    value = _bits(dtype, (20, 4)).copy()
    value[~np.isfinite(value)] = 0.1
    value[0] = [np.nan, np.inf, -np.inf, -0.0]
    return value


OTHERS: dict[str, tuple[str, dict[str, tuple[Any, dict[str, Any]]]]] = {
    "text": ("x.csv", {
        **{code: (_bits(code, (7, 9)), {"dtype": code}) for code in ("u1", "i2", "u4", "u8")},
        "i8": (_bits("i8", (7, 9)), {}),
        "one column": (_bits("i8", (11,)), {}),
        **{code: (_decimal(code), {"dtype": code}) for code in ("f2", "f4")},
        "f8": (_decimal("f8"), {}),
        "words": (np.array([["a", "ä"], ["b c", "\N{GRINNING FACE}"]], dtype="T"), {}),
    }),
    "images": ("x", {
        "gray, 8 bit": (_bits("u1", (4, 6, 9)), {}),
        "gray, 16 bit": (_bits("u2", (4, 6, 9)), {}),
        "gray and alpha": (_bits("u1", (4, 6, 9, 2)), {}),
        "RGB": (_bits("u1", (4, 6, 9, 3)), {}),
        "RGBA": (_bits("u1", (4, 6, 9, 4)), {}),
        "masks": (_RNG.integers(0, 2, (4, 6, 9)).astype(bool), {}),
    }),
    "video": ("x.mkv", {"RGB": (_bits("u1", (5, 32, 46, 3)), {})}),
}  # fmt: skip
"""By format: the file, and by name what comes back exactly, with the options of the import."""


def h5py_can(dtype: np.dtype[Any]) -> bool:
    """Whether HDF5 has these elements: all but text of 4 bytes a character."""
    return dtype.kind != "U"


def same(found: Any, expected: Any) -> None:
    """Assert that two arrays are equal in data type, shape and bytes."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.tobytes() == expected.tobytes()


def write_mat(path: Path, value: Any, chunks: tuple[int, ...] | None = None) -> None:
    """Write a file as MATLAB 7.3 does: HDF5 behind a block of text, with axes reversed."""
    # Optional package: the tests that need it ask for it.
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        made = file.create_dataset("data", data=value.T, chunks=chunks and chunks[::-1])
        made.attrs["MATLAB_class"] = np.bytes_("double")
        file["#refs#/b"] = 1
    with open(path, "r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file")


def write_n5(
    path: Path, value: Any, block: tuple[int, ...], compression: str = "raw", **more: Any
) -> None:
    """Write the dataset ``data`` of a folder of N5: axes reversed, blocks at the edge cut."""
    # Optional package: only compressed blocks need it.
    from numcodecs import get_codec

    folder = path / "data"
    folder.mkdir(parents=True)
    (path / "attributes.json").write_text('{"n5": "2.0.0"}')
    kind = value.dtype.newbyteorder("=").name
    document = {"dimensions": value.shape[::-1], "blockSize": block[::-1], "dataType": kind, **more}
    document["compression"] = {"type": compression}
    (folder / "attributes.json").write_text(json.dumps(document))
    names = {"gzip": "gzip", "zstd": "zstd", "bzip2": "bz2", "blosc": "blosc"}
    grid = (range(-(-n // side)) for n, side in zip(value.shape, block, strict=True))
    for coords in itertools.product(*grid):
        part = value[tuple(slice(i * n, (i + 1) * n) for i, n in zip(coords, block, strict=True))]
        head = (
            np.array([0, value.ndim], ">u2").tobytes() + np.array(part.shape[::-1], ">u4").tobytes()
        )
        data = part.astype(part.dtype.newbyteorder(">")).tobytes()
        if compression != "raw":
            data = bytes(get_codec({"id": names[compression]}).encode(data))
        file = folder.joinpath(*map(str, reversed(coords)))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(head + data)
