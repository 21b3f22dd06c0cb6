"""NumPy's npy, versions 1 to 3: the header is read here, because NumPy's readers load the data."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from zarrix._errors import ConversionError
from zarrix.convert._flat import flat_array
from zarrix.convert._source import OpenFile, Source, SourceArray

__all__ = ["MOST_LOADED", "header_of", "npy_array", "open_source", "read_header", "save"]

# Bytes of an array that NumPy loads at once to compare with.
MOST_LOADED = 2**26
_MAGIC = b"\x93NUMPY"
_MOST_HEADER = 1 << 20


def open_source(path: Path, *, allow_pickle: bool = False) -> Source:
    """The array of an npy file."""
    file = OpenFile(path)
    try:
        array = npy_array(file, 0, allow_pickle=allow_pickle)
    except BaseException:
        file.close()
        raise
    if array.dtype is not object:
        array.native = _native(path, array)
    return Source(str(path), {"": array}, identity=[file.identity], close=file.close)


def _native(path: Path, array: SourceArray) -> Callable[[Any], Any]:
    """Reads by `numpy.load`; of files that are too large for that, NumPy reads the header."""
    loaded: list[Any] = []

    def read(region: Any) -> Any:
        if array.nbytes > MOST_LOADED:
            if not loaded:
                # The header is checked, and memory is asked for when it is used.
                loaded.append(np.load(path, mmap_mode="r"))
            if (loaded[0].shape, loaded[0].dtype) != (array.shape, array.dtype):
                raise ConversionError(f"{path} has {loaded[0].shape} of {loaded[0].dtype}")
            return array.read(region)
        if not loaded:
            loaded.append(np.load(path))
        return loaded[0][region]

    return read


def npy_array(
    file: OpenFile, start: int, size: int | None = None, *, allow_pickle: bool = False
) -> SourceArray:
    """The array whose header begins at ``start``; ``size`` bytes are its, or all that follow."""
    shown = str(file.path)
    end = file.size if size is None else start + size
    at = start

    def read(count: int) -> bytes:
        nonlocal at
        found = file.read(at, max(0, min(count, end - at)))
        at += len(found)
        return found

    shape, order, dtype, length = read_header(read, shown)
    if dtype.hasobject and allow_pickle:
        return _objects(file)
    array = flat_array(file, start + length, shape, dtype, order)
    if start + length + array.nbytes > end:
        raise ConversionError(f"{shown} is truncated: a member is shorter than its array")
    return array


def read_header(
    read: Callable[[int], bytes], shown: str
) -> tuple[tuple[int, ...], str, np.dtype[Any], int]:
    """Shape, order and dtype from a stream at the begin of an npy file, and the header's length.

    Raises
    ------
    ConversionError
        It is not a header.
    """
    head = read(8)
    if head[:6] != _MAGIC or len(head) < 8:
        raise ConversionError(f"{shown} is not an npy file: it does not begin with {_MAGIC!r}")
    major = head[6]
    if major not in (1, 2, 3):
        raise ConversionError(f"{shown} is npy of version {major}; versions 1 to 3 are supported")
    width = 2 if major == 1 else 4
    length = int.from_bytes(read(width), "little")
    if length > _MOST_HEADER:
        raise ConversionError(f"{shown} has a header of {length} bytes, above {_MOST_HEADER}")
    text = read(length)
    if len(text) < length:
        raise ConversionError(f"{shown} is truncated: its header is not complete")
    found = _header(text, "utf-8" if major == 3 else "latin-1", shown)
    return (*found, 8 + width + length)


def _header(text: bytes, encoding: str, shown: str) -> tuple[tuple[int, ...], str, np.dtype[Any]]:
    try:
        found = ast.literal_eval(text.decode(encoding).strip())
        shape, order, descr = found["shape"], found["fortran_order"], found["descr"]
        if not isinstance(shape, tuple) or not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError(f"its shape is {shape!r}")
        if not isinstance(order, bool):
            raise ValueError(f"fortran_order is {order!r}")
        dtype = np.lib.format.descr_to_dtype(descr)
    except (ValueError, TypeError, KeyError, SyntaxError, RecursionError, MemoryError) as error:
        raise ConversionError(f"{shown} has an invalid npy header: {error}") from None
    return shape, "F" if order and len(shape) > 1 else "C", dtype


def _objects(file: OpenFile) -> SourceArray:
    loaded = np.load(file.path, allow_pickle=True)
    return SourceArray(loaded.shape, object, lambda region: loaded[region])


def header_of(array: Any, order: str | None = None) -> bytes:
    """The header of an npy file, byte for byte as `numpy.save` writes it.

    NumPy's own function is private; this one writes the lowest version that represents the dtype.
    """
    is_fortran = (order or getattr(array, "order", "C")) == "F" and array.ndim > 1
    shape = tuple(map(int, array.shape))
    if array.dtype.hasobject or array.dtype.kind == "T":
        raise ConversionError(
            f"elements of {array.dtype} have no fixed size, and npy would have pickles of them; "
            "copy text to a dtype such as 'U10' first, or export to HDF5 (.h5)"
        )
    descr = np.lib.format.dtype_to_descr(np.dtype(array.dtype))
    text = f"{{'descr': {descr!r}, 'fortran_order': {is_fortran}, 'shape': {shape!r}, }}"
    # NumPy leaves room for the axis that grows.
    text += " " * (21 - len(repr(shape[-1 if is_fortran else 0]))) if shape else ""
    for major, encoding, width in ((1, "latin-1", 2), (2, "latin-1", 4), (3, "utf-8", 4)):
        try:
            header = text.encode(encoding)
        except UnicodeEncodeError:
            continue
        start = 8 + width
        padded = header + b" " * (-(start + len(header) + 1) % 64) + b"\n"
        if len(padded) < 1 << (8 * width):
            size = len(padded).to_bytes(width, "little")
            return _MAGIC + bytes((major, 0)) + size + padded
    raise ConversionError("the dtype is too large for the header of an npy file")


RESUMES = True


def save(node: Any, path: Path, job: Any) -> None:
    """Write an array as npy."""
    array = job.array()
    header = header_of(array)
    with open(path, "r+b" if job.resumed else "w+b") as file:
        file.write(header)
        file.flush()
        job.write_flat(array, file, len(header))
