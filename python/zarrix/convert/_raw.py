"""Raw files: elements without a header, whose shape and dtype the caller or a sidecar names.

The sidecar is the name of the file with ``.json`` behind; it has ``dtype``, ``shape``, ``order``
and ``offset``. Exports write it, so that they import without options.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from zarrix._errors import ConversionError
from zarrix.convert._export_job import order_of
from zarrix.convert._flat import flat_array
from zarrix.convert._source import OpenFile, Source, identity_of

__all__ = ["dtype_of", "open_source", "save", "shape_of"]

_MOST_SIDECAR = 1 << 20


def open_source(
    path: Path,
    *,
    dtype: Any = None,
    shape: Any = None,
    order: str | None = None,
    offset: int | None = None,
) -> Source:
    """The array of a raw file; options replace those of its sidecar."""
    sidecar = Path(f"{path}.json")
    known = _sidecar(sidecar)
    dtype = dtype if dtype is not None else known.get("dtype")
    shape = shape if shape is not None else known.get("shape")
    order = order or known.get("order", "C")
    start = offset if offset is not None else known.get("offset", 0)
    if dtype is None:
        raise ConversionError(
            f"{path} is a raw file; pass dtype= (--option dtype=float32), and shape= for more "
            "than one axis"
        )
    if order not in ("C", "F"):
        raise ConversionError(f"order={order!r} is not 'C' or 'F'")
    of = dtype_of(dtype)
    file = OpenFile(path)
    try:
        left = file.size - int(start)
        if shape is None:
            if of.itemsize == 0 or left % of.itemsize:
                raise ConversionError(
                    f"{path} has {left} bytes after byte {start}, which are not whole elements of "
                    f"{of} ({of.itemsize} bytes)"
                )
            extent: tuple[int, ...] = (left // of.itemsize,)
        else:
            extent = shape_of(shape)
            needed = math.prod(extent) * of.itemsize
            if needed != left:
                raise ConversionError(
                    f"{path} has {left} bytes after byte {start}, and {extent} of {of} has {needed}"
                )
        array = flat_array(file, int(start), extent, of, order)
    except BaseException:
        file.close()
        raise
    # What the sidecar said is part of what a resumed import compares.
    asked = [str(of), list(extent), order, int(start)]
    identity = [file.identity, identity_of(sidecar)] if known else [file.identity]
    return Source(str(path), {"": array}, identity=identity, asked=asked, close=file.close)


def dtype_of(text: Any) -> np.dtype[Any]:
    """The dtype that an option names: NumPy's text, or a list of fields.

    Raises
    ------
    ConversionError
        NumPy does not know it.
    """
    try:
        if isinstance(text, list):
            found: np.dtype[Any] = np.lib.format.descr_to_dtype([tuple(one) for one in text])
            return found
        plain: np.dtype[Any] = np.dtype(text)
        return plain
    except (TypeError, ValueError) as error:
        raise ConversionError(f"dtype={text!r} is not a data type of NumPy: {error}") from None


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape that an option names: numbers, or text such as ``"3,4"``.

    Raises
    ------
    ConversionError
        It is not a shape.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        value = (value,)
    if isinstance(value, str):
        value = [part for part in value.replace("x", ",").split(",") if part.strip()]
    try:
        shape = tuple(int(n) for n in value)
    except (TypeError, ValueError):
        shape = (-1,)
    if any(n < 0 for n in shape):
        raise ConversionError(f"shape={value!r} is not a shape, such as '3,4'")
    return shape


def _sidecar(path: Path) -> dict[str, Any]:
    if not path.is_file() or path.stat().st_size > _MOST_SIDECAR:
        return {}
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ConversionError(f"{path} is not a sidecar of a raw file: {error}") from None
    return found if isinstance(found, dict) else {}


RESUMES = True


def save(node: Any, path: Path, job: Any) -> None:
    """Write the elements of an array, and a sidecar."""
    array = job.array()
    if array.dtype.hasobject or array.dtype.kind == "T":
        raise ConversionError(f"elements of {array.dtype} have no fixed size")
    sidecar = {
        "dtype": np.lib.format.dtype_to_descr(np.dtype(array.dtype)),
        "shape": [int(n) for n in array.shape],
        "order": order_of(array),
        "offset": 0,
    }
    job.write_beside(Path(f"{job.target}.json"), json.dumps(sidecar), _is_sidecar)
    with open(path, "r+b" if job.resumed else "w+b") as file:
        job.write_flat(array, file, 0)


def _is_sidecar(path: Path) -> bool:
    try:
        return not path.is_symlink() and set(_sidecar(path)) == {
            "dtype",
            "shape",
            "order",
            "offset",
        }
    except ConversionError:
        return False
