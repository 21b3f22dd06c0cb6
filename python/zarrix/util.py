"""Normalisation of arguments, sizes and JSON, under the names of zarr 2.18's module.

These are the functions that other packages import from there and that zarrix itself uses when it
creates arrays. The guess of chunk shapes gives exactly the shapes of zarr 2.18, since stored data
and printed listings depend on them.
"""

from __future__ import annotations

import json
import math
import numbers
import operator
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from zarrix._dtypes.objects import object_codec_of
from zarrix._dtypes.v2 import normalize_fill_value, require_supported, without_notes
from zarrix._errors import MetadataError, human_readable_size
from zarrix._runtime.config import config
from zarrix._stores.path import normalize_dimension_separator, normalize_storage_path

__all__ = [
    "buffer_size",
    "bytes_of",
    "chunks_of_bytes",
    "guess_chunks",
    "guess_shards",
    "human_readable_size",
    "is_total_slice",
    "json_dumps",
    "json_loads",
    "normalize_chunks",
    "normalize_dimension_separator",
    "normalize_dtype",
    "normalize_fill_value",
    "normalize_order",
    "normalize_resize_args",
    "normalize_shape",
    "normalize_storage_path",
]

_CHUNK_BASE_BYTES = 256 * 1024
_CHUNK_LEAST_BYTES = 128 * 1024
_CHUNK_MOST_BYTES = 64 * 1024 * 1024
_AXIS_LIMIT = 2**63 - 1
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kKMGT]i?[bB]|[bB])")


def normalize_shape(shape: int | Iterable[int] | None) -> tuple[int, ...]:
    """``shape`` as a tuple of ints; a single int means one axis.

    Raises
    ------
    TypeError
        It is None, or holds something that is not a whole number.
    ValueError
        It holds a negative number, or one over 2**63 - 1.
    """
    if shape is None:
        raise TypeError("shape is missing: give an int or a tuple of ints")
    if isinstance(shape, numbers.Number):
        shape = (shape,)  # type: ignore[assignment]
    lengths = tuple(_whole(length, "shape") for length in shape)  # type: ignore[union-attr]
    for length in lengths:
        if not 0 <= length <= _AXIS_LIMIT:
            raise ValueError(f"shape {lengths} has a length of {length}; allowed are 0 to 2**63-1")
    return lengths


def guess_chunks(shape: tuple[int, ...], typesize: int) -> tuple[int, ...]:
    """The chunk shape that zarr 2.18 picks where none is given.

    Axes are halved in turn, the first one first, until a chunk is near a size that grows slowly
    with the array: 256 KiB for 1 MiB, doubled for each factor of ten, within 128 KiB and 64 MiB.

    Examples
    --------
    >>> guess_chunks((1000, 1000, 100), 8)
    (125, 125, 13)
    """
    lengths = np.maximum(np.array(shape, dtype="f8"), 1)
    # NumPy's float arithmetic on purpose: at the edges the result depends on its rounding.
    array_bytes = np.prod(lengths) * typesize
    target = _CHUNK_BASE_BYTES * 2 ** np.log10(array_bytes / 2**20)
    target = min(max(target, _CHUNK_LEAST_BYTES), _CHUNK_MOST_BYTES)
    axis = 0
    while True:
        elements = np.prod(lengths)
        chunk_bytes = elements * typesize
        near = chunk_bytes < target or abs(chunk_bytes - target) / target < 0.5
        if (near and chunk_bytes < _CHUNK_MOST_BYTES) or elements == 1:
            return tuple(int(length) for length in lengths)
        lengths[axis] = np.ceil(lengths[axis] / 2)
        axis = (axis + 1) % len(shape)


def bytes_of(size: Any) -> int | None:
    """The number of bytes that a text such as ``"1 MiB"`` means; None if it is no such text.

    Examples
    --------
    >>> bytes_of("1 MiB"), bytes_of("500kB"), bytes_of("auto")
    (1048576, 500000, None)
    """
    found = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if found is None:
        return None
    unit = found[2].lower()
    base = 1024 if len(unit) == 3 else 1000
    count = float(found[1]) * base ** ("bkmgt".index(unit[0]) if unit else 0)
    if count < 1:
        raise ValueError(f"{size!r} is less than a byte")
    return int(count)


def chunks_of_bytes(
    shape: tuple[int, ...], typesize: int, target: int, divide: bool = False
) -> tuple[int, ...]:
    """Chunks of at most ``target`` bytes, near a cube: the longest axis is halved until they fit.

    With ``divide``, every length divides that of ``shape``, as inner chunks must divide a shard.

    Examples
    --------
    >>> chunks_of_bytes((1000, 1000, 100), 8, 2**20)
    (32, 63, 50)
    >>> chunks_of_bytes((1000, 1000), 1, 10**5, divide=True)
    (250, 250)
    """
    lengths = [max(length, 1) for length in shape]
    parts = [1] * len(lengths)
    whole = list(lengths)
    while math.prod(lengths) * typesize > target and max(lengths) > 1:
        axis = max(range(len(lengths)), key=lengths.__getitem__)
        parts[axis] *= 2
        if divide:
            lengths[axis] = next(
                n for n in range(lengths[axis] // 2, 0, -1) if whole[axis] % n == 0
            )
        else:
            lengths[axis] = -(-whole[axis] // parts[axis])
    return tuple(lengths)


def guess_shards(
    shape: tuple[int, ...], chunks: tuple[int, ...], typesize: int, target: int | None = None
) -> tuple[int, ...]:
    """Shards of whole chunks, of at most ``target`` bytes before compression (64 MiB).

    Grown along the axis with the most chunks left, so that a shard has the shape of the array.

    Examples
    --------
    >>> guess_shards((4000, 4000), (100, 100), 4, 2**20)
    (400, 400)
    """
    limit = target or _CHUNK_MOST_BYTES
    most = [-(-max(size, 1) // chunk) for size, chunk in zip(shape, chunks, strict=True)]
    counts = [1] * len(chunks)
    while True:
        room = [axis for axis in range(len(counts)) if counts[axis] < most[axis]]
        if not room:
            break
        axis = max(room, key=lambda i: most[i] / counts[i])
        grown = min(2 * counts[axis], most[axis])
        if math.prod(chunks) * typesize * math.prod(counts) // counts[axis] * grown > limit:
            break
        counts[axis] = grown
    return tuple(count * chunk for count, chunk in zip(counts, chunks, strict=True))


def normalize_chunks(chunks: Any, shape: tuple[int, ...], typesize: int) -> tuple[int, ...]:
    """``chunks`` as one length per axis of ``shape``, which is normalised already.

    Parameters
    ----------
    chunks : bool, None, "auto", int, iterable of int, or str such as "1 MiB"
        True, None and "auto" guess; False makes one chunk; an int goes for every axis; a size is
        the most bytes of a chunk. Of a tuple, axes that are missing at the end, None and -1 take
        the whole axis.
    shape : tuple of int
    typesize : int
        Bytes of one element, for the guess.

    Raises
    ------
    TypeError
        A length is not a whole number.
    ValueError
        There are more lengths than axes, or one is below 1 on an axis that is not empty.

    Examples
    --------
    >>> normalize_chunks((10, -1), (100, 20, 3), 8)
    (10, 20, 3)
    """
    if chunks is None or chunks is True or (isinstance(chunks, str) and chunks == "auto"):
        return guess_chunks(shape, typesize)
    target = bytes_of(chunks)
    if target is not None:
        return chunks_of_bytes(shape, typesize, target)
    if chunks is False:
        return shape
    if isinstance(chunks, (str, bytes)) or not isinstance(chunks, (numbers.Number, Iterable)):
        raise TypeError(f"chunks is {chunks!r}; expected a bool, 'auto', an int or a tuple of ints")
    given = (chunks,) * len(shape) if isinstance(chunks, numbers.Number) else tuple(chunks)
    if len(given) > len(shape):
        raise ValueError(
            f"too many dimensions in chunks: {given} has {len(given)}, the shape {shape} "
            f"{len(shape)}"
        )
    given += shape[len(given) :]
    lengths = tuple(
        size if length is None or length == -1 else _whole(length, "chunks")
        for length, size in zip(given, shape, strict=True)
    )
    for length, size in zip(lengths, shape, strict=True):
        if length < 1 and not (length == 0 and size == 0):
            raise ValueError(
                f"chunks {lengths} has a length of {length}; allowed are 1 and more, or -1 or "
                "None for the whole axis"
            )
    return lengths


def normalize_dtype(dtype: Any, object_codec: Any = None) -> tuple[np.dtype[Any], Any]:
    """``dtype`` as a NumPy dtype that v2 arrays can have, and the object codec it needs.

    ``str``, ``bytes`` and ``"array:f4"`` are objects with the codec of that name, unless another
    one is given.

    Raises
    ------
    MetadataError
        Its elements have no size, or a time has no unit (also a ``ValueError``).
    TypeError
        NumPy does not know it.
    """
    objects = object_codec_of(dtype)
    if objects is not None:
        return objects[0], objects[1] if object_codec is None else object_codec
    result: np.dtype[Any] = without_notes(np.dtype(dtype))
    return require_supported(result.base, f"dtype {dtype!r}") and result, object_codec


def normalize_order(order: str) -> str:
    """``"C"`` or ``"F"``, from either case."""
    upper = str(order).upper()
    if upper not in ("C", "F"):
        raise ValueError(f"order must be either 'C' or 'F', not {order!r}")
    return upper


def normalize_resize_args(old_shape: tuple[int, ...], *args: Any) -> tuple[int, ...]:
    """The shape that ``resize(*args)`` asks for; None keeps an axis."""
    new = args[0] if len(args) == 1 else args
    lengths = (new,) if new is None or isinstance(new, numbers.Number) else tuple(new)
    if len(lengths) != len(old_shape):
        raise ValueError(
            f"the new shape {lengths} has {len(lengths)} axes, the array has {len(old_shape)}"
        )
    return normalize_shape(
        old if length is None else length for old, length in zip(old_shape, lengths, strict=True)
    )


def is_total_slice(item: Any, shape: tuple[int, ...]) -> bool:
    """Whether ``item`` selects every element of an array of this shape.

    Examples
    --------
    >>> is_total_slice((slice(0, 3), Ellipsis), (3, 4))
    True
    """
    items = item if isinstance(item, tuple) else (item,)
    if not all(part is Ellipsis or isinstance(part, (slice, numbers.Integral)) for part in items):
        raise TypeError(f"expected slices, integers or Ellipsis, found {item!r}")
    explicit = len(items) - sum(part is Ellipsis for part in items)
    axis = 0
    for part in items:
        if part is Ellipsis:
            axis += len(shape) - explicit
            continue
        size = shape[axis]
        chosen = range(size)[part] if isinstance(part, slice) else None
        whole = chosen == range(size) if chosen is not None else part == 0 and size == 1
        if not whole:
            return False
        axis += 1
    return True


def buffer_size(value: Any) -> int:
    """Length in bytes of anything with a buffer, contiguous or not."""
    return int(value.nbytes) if isinstance(value, np.ndarray) else memoryview(value).nbytes


class _JsonEncoder(json.JSONEncoder):
    """NumPy numbers as numbers, arrays as lists."""

    def default(self, o: Any) -> Any:
        if isinstance(o, np.bool_):
            return bool(o)
        if isinstance(o, numbers.Integral):
            return int(o)
        if isinstance(o, numbers.Real):
            return float(o)
        if isinstance(o, np.ndarray) and o.dtype.kind in "biufU":
            return o.tolist()
        return super().default(o)


def json_dumps(value: Any, indent: int = 4, sort_keys: bool = True) -> bytes:
    """JSON as zarr 2.18 writes it: ASCII, four spaces of indentation, keys sorted."""
    text = json.dumps(
        value,
        indent=indent,
        sort_keys=sort_keys,
        ensure_ascii=True,
        separators=(",", ": "),
        cls=_JsonEncoder,
    )
    return text.encode("ascii")


def json_loads(text: Any, where: str = "JSON document") -> Any:
    """The value of a JSON document, given as bytes-like or str.

    Raises
    ------
    MetadataError
        It is not JSON, nested too deep, or has more than ``config.max_document_bytes``; the
        message starts with ``where``.
    """
    data = text if isinstance(text, (str, bytes, bytearray)) else bytes(text)
    if len(data) > config.max_document_bytes:
        raise MetadataError(
            f"{where}: more than {config.max_document_bytes} bytes, which is "
            "config.max_document_bytes (ZARRIX_MAX_DOCUMENT_BYTES); raise it if this is no mistake"
        )
    try:
        return json.loads(data)
    except RecursionError:
        raise MetadataError(f"{where}: the JSON is nested too deep") from None
    except ValueError as error:
        raise MetadataError(f"{where}: not JSON ({error})") from None


def _whole(value: Any, name: str) -> int:
    # Lengths that were computed by division are floats; 2.5 is no length.
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return int(value)
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} holds {value!r}, which is not a whole number") from None
