"""Values for the tests of conversions: every kind of element, and the shapes at the edge."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["REFUSED", "VALUES", "h5py_can", "same"]

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
    "netcdf": ("text",),
    "safetensors": ("c16", *_BIG_ENDIAN, *_WITHOUT_NUMBERS),
    "tiff": (
        "bool", "negative zero", *_WITHOUT_NUMBERS, "no axes", "no elements", "an empty axis",
    ),
    "tar": ("text", "no axes", "no elements"),
}  # fmt: skip
"""What an export to a format refuses; everything else comes back byte for byte."""


def h5py_can(dtype: np.dtype[Any]) -> bool:
    """Whether HDF5 has these elements: all but text of 4 bytes a character."""
    return dtype.kind != "U"


def same(found: Any, expected: Any) -> None:
    """Assert that two arrays are equal in data type, shape and bytes."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.tobytes() == expected.tobytes()
