"""safetensors: a JSON header, then the tensors one after the other."""

from __future__ import annotations

import importlib
import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np

from zarrix._errors import ConversionError
from zarrix.convert._flat import flat_array
from zarrix.convert._npy import MOST_LOADED
from zarrix.convert._npz import path_of
from zarrix.convert._source import OpenFile, Region, Source, SourceArray

__all__ = ["open_source", "save"]

_DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?", "C64": "<c8",
}  # fmt: skip
# Types that only the package ml_dtypes has.
_OF_ML = {"BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2"}
_MOST_HEADER = 100 * 2**20


def open_source(path: Path) -> Source:
    """The tensors of a file."""
    file = OpenFile(path)
    try:
        return _opened(file, path)
    except BaseException:
        file.close()
        raise


def _opened(file: OpenFile, path: Path) -> Source:
    if file.size < 8:
        raise ConversionError(f"{path} is not a safetensors file: it has {file.size} bytes")
    (length,) = struct.unpack("<Q", file.read(0, 8))
    if length > min(_MOST_HEADER, file.size - 8):
        raise ConversionError(f"{path} is damaged: its header would have {length} bytes")
    try:
        header = json.loads(file.read(8, length), object_pairs_hook=_without_repeats)
        attributes = {str(k): str(v) for k, v in (header.pop("__metadata__", None) or {}).items()}
        listed = {
            str(name): (
                str(one["dtype"]),
                [*map(int, one["shape"])],
                [*map(int, one["data_offsets"])],
            )
            for name, one in header.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ConversionError(f"{path} has an invalid header: {error!r}") from None
    _check_offsets([offsets for _, _, offsets in listed.values()], file, 8 + length)
    source = Source(str(path), {}, {"": attributes}, identity=[file.identity], close=file.close)
    for name, (kind, shape, offsets) in listed.items():
        dtype = _dtype(kind, name, path)
        nbytes = math.prod(shape) * dtype.itemsize
        if len(offsets) != 2 or min(shape, default=0) < 0 or offsets[1] - offsets[0] != nbytes:
            raise ConversionError(f"{path}: {name} has {offsets} for {shape} of {kind}")
        at = path_of(name, str(path))
        if at in source.arrays:
            raise ConversionError(f"{path} has two tensors of the path {at!r}")
        source.arrays[at] = one = flat_array(file, 8 + length + offsets[0], tuple(shape), dtype)
        if kind in _DTYPES and kind != "C64" and one.nbytes <= MOST_LOADED:
            one.native = _native(path, name, one)
    return source


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found


def _check_offsets(offsets: list[list[int]], file: OpenFile, begin: int) -> None:
    """Raise `ConversionError` unless the tensors are all that follows the header, side by side."""
    at = 0
    for one in sorted(offsets):
        if len(one) != 2 or one[0] != at or one[1] < at:
            raise ConversionError(
                f"{file.path} is damaged: a tensor has the bytes {one}, and the one before it ends "
                f"at {at}"
            )
        at = one[1]
    if begin + at != file.size:
        raise ConversionError(
            f"{file.path} is damaged: tensors end at byte {begin + at}, and it has {file.size}"
        )


def _native(path: Path, name: str, source_array: SourceArray) -> Any:
    """Reads a tensor by the package safetensors, where it is installed."""
    loaded: list[Any] = []

    def read(region: Region) -> Any:
        if not loaded:
            try:
                # Optional package: only the verification of an import uses it.
                safetensors = importlib.import_module("safetensors")
            except ImportError:
                return source_array.read(region)
            try:
                with safetensors.safe_open(str(path), framework="numpy") as opened:
                    loaded.append(opened.get_tensor(name))
            except safetensors.SafetensorError as error:
                raise ConversionError(f"{path} is damaged: {error}") from None
        return loaded[0][region]

    return read


def _dtype(kind: str, name: str, path: Path) -> np.dtype[Any]:
    if kind in _DTYPES:
        return np.dtype(_DTYPES[kind])
    if kind in _OF_ML:
        try:
            # Optional package: NumPy has no such floats.
            found: np.dtype[Any] = np.dtype(
                getattr(importlib.import_module("ml_dtypes"), _OF_ML[kind])
            )
            return found
        except ImportError:
            raise ImportError(
                f"{path}: {name} has elements of {kind}, which need the package ml_dtypes: "
                "pip install ml_dtypes"
            ) from None
    raise ConversionError(f"{path}: {name} has elements of {kind}, which NumPy does not have")


def save(node: Any, path: Path, job: Any) -> None:
    """Write the arrays of a group, or an array as ``data``; attributes become text."""
    kinds = {np.dtype(code): kind for kind, code in _DTYPES.items()}
    kinds_of_ml = {name: kind for kind, name in _OF_ML.items()}
    header: dict[str, Any] = {}
    at = 0
    arrays = {name or "data": one for name, one in job.arrays().items()}
    for name, array in arrays.items():
        if name == "__metadata__":
            raise ConversionError("safetensors has its attributes under the name '__metadata__'")
        dtype = np.dtype(array.dtype)
        kind = kinds.get(dtype) or kinds_of_ml.get(dtype.name)
        if kind is None:
            raise ConversionError(f"safetensors has no elements of {array.dtype} ({name})")
        header[name] = {
            "dtype": kind, "shape": [*map(int, array.shape)],
            "data_offsets": [at, at + int(array.nbytes)],
        }  # fmt: skip
        at += int(array.nbytes)
    attributes = node.attrs.asdict() if not hasattr(node, "shape") else {}
    if attributes:
        header["__metadata__"] = {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in attributes.items()
        }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in arrays.values():
            for block in job.stream(array):
                file.write(block)
