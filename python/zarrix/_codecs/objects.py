"""Codecs for variable-length elements: text, bytes, ragged arrays, Python objects.

The engine moves these elements like all others. It asks an `ElementCodec` only whether they are
text or bytes; all other elements are encoded and decoded chunk by chunk in Python.

The codecs here store the same bytes as those of numcodecs. We do not use the latter, because they
trust the chunk: a wrong count or shape in it makes them allocate that much, and is an error here.
Unpickling executes code, and needs ``allow_pickle=True`` from the caller.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from zarrix._dtypes.variable import ragged_dtype
from zarrix._errors import MetadataError, shorten

__all__ = ["OBJECT_CODECS", "ElementCodec"]

Config = Mapping[str, Any]


class ElementCodec:
    """What the engine needs to know about variable-length elements.

    Parameters
    ----------
    config : dict
        The object codec, with its ``"id"``.
    fill_value : object
        The value of elements of missing chunks.
    shape : tuple of int
        Shape of a chunk. order : "C" or "F" Order in which the elements of a chunk are stored.
    where : str
        The metadata document, for messages.
    allow_pickle : bool
        Whether the caller trusts the writer of the array.

    Attributes
    ----------
    kind : "utf8", "bytes" or "python"
        "utf8" and "bytes" are native; for "python" the engine calls `decode` and `encode`.
    name : str
        The id of the codec.
    names : tuple of str
        The same, if elements go through Python.
    fill_item : bytes or None
        The stored form of the fill value, for text and bytes; None if it has none.
    leaves_out : bool
        Whether a chunk that holds only the fill value reads the same if it is not stored.

    Raises
    ------
    MetadataError
        There is no such object codec, its configuration is wrong, or it is pickle and not allowed.
    """

    __slots__ = (
        "_decode",
        "_encode",
        "_order",
        "_shape",
        "fill_item",
        "fill_value",
        "kind",
        "leaves_out",
        "name",
        "names",
    )

    def __init__(
        self,
        config: Config,
        fill_value: Any,
        shape: tuple[int, ...] = (),
        order: str = "C",
        label: str = "",
        allow_pickle: bool = False,
    ) -> None:
        self.name = str(config["id"])
        self._shape = shape
        self._order: Any = order
        self.kind = _NATIVE.get(self.name, "python")
        self.fill_value = _EMPTY[self.kind] if _is_unset(fill_value, self.kind) else fill_value
        self.names = (self.name,) if self.kind == "python" else ()
        self.fill_item = _fill_item(fill_value, self.kind)
        # Text and bytes have no None and no numbers; these are stored as empty elements.
        self.leaves_out = self.kind == "python" or isinstance(fill_value, (str, bytes))
        if self.kind == "python":
            if self.name == "pickle" and not allow_pickle:
                raise MetadataError(
                    f"{label}: the codec 'pickle' executes code from the chunks; pass "
                    "allow_pickle=True to create the array, or to open one whose writers you "
                    "trust"
                )
            try:
                self._encode, self._decode = _maker(self.name, label)(config)
            except (KeyError, TypeError, ValueError, LookupError) as error:
                reason = f"lacks {error}" if isinstance(error, KeyError) else str(error)
                raise MetadataError(
                    f"{label}: codec {self.name!r} has the configuration {shorten(dict(config))}, "
                    f"which {reason}"
                ) from None

    def encoded_bytes(self, decoded_bytes: int) -> int | None:
        """The length of a chunk is not known."""
        return None

    def filled(self, count: int) -> Any:
        """A chunk that holds only the fill value."""
        elements = np.empty(count, object)
        elements.fill(self.fill_value)
        return elements

    def is_fill(self, elements: Any) -> bool:
        """Whether a chunk holds only the fill value."""
        fill = self.fill_value
        return all(one is fill or _is_same(one, fill) for one in elements)

    def encode(self, elements: Any) -> bytes:
        """The stored form of a chunk's elements, given in stored order."""
        return self._encode(elements.reshape(self._shape, order=self._order))

    def decode(self, data: bytes, count: int) -> Any:
        """The ``count`` elements of a chunk, in stored order.

        Raises
        ------
        ValueError, TypeError
            The chunk does not have ``count`` elements, or is not output of the codec.
        """
        value = self._decode(data, count)
        if isinstance(value, np.ndarray) and value.shape == self._shape:
            value = value.reshape(-1, order=self._order)
        if isinstance(value, np.ndarray):
            value = value.reshape(-1)
        return np.fromiter(value, object, len(value))


def _is_same(one: Any, fill: Any) -> bool:
    if type(one) is not type(fill):
        return False
    try:
        return bool(one == fill)
    except ValueError:
        # Elements that are arrays compare element by element.
        return False


_NATIVE = {"vlen-utf8": "utf8", "vlen-bytes": "bytes"}
_EMPTY: dict[str, str | bytes] = {"utf8": "", "bytes": b""}


def _is_unset(fill_value: Any, kind: str) -> bool:
    """Whether the fill value of text or bytes is none, or zero: both mean empty, as in zarr 2.18
    and in zarr-python 3.
    """
    zero = isinstance(fill_value, (int, float, np.number)) and not fill_value
    return kind in _EMPTY and (fill_value is None or zero)


def _fill_item(fill_value: Any, kind: str) -> bytes | None:
    if kind == "python":
        return None
    if kind == "utf8" and isinstance(fill_value, str):
        return fill_value.encode()
    if kind == "bytes" and isinstance(fill_value, bytes):
        return fill_value
    return b"" if _is_unset(fill_value, kind) else None


# Codecs in Python: for each, a function that encodes an array of objects, and one that decodes a
# given number.

Encode = Callable[[Any], bytes]
Decode = Callable[[bytes, int], Any]


def _json(config: Config) -> tuple[Encode, Decode]:
    settings = {key: value for key, value in config.items() if key not in ("id", "encoding")}
    strict = settings.pop("strict", True)
    encoding = config.get("encoding", "utf-8")
    "".encode(encoding)
    settings["separators"] = tuple(settings.get("separators") or (",", ":"))
    encoder, decoder = json.JSONEncoder(**settings), json.JSONDecoder(strict=strict)

    def encode(elements: Any) -> bytes:
        return encoder.encode(_listed(elements)).encode(encoding)

    def decode(data: bytes, count: int) -> Any:
        return _unlisted(decoder.decode(data.decode(encoding)), count)

    return encode, decode


def _msgpack(config: Config) -> tuple[Encode, Decode]:
    try:
        # An optional package.
        import msgpack  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise ValueError("needs msgpack: pip install msgpack") from None
    bins, single = config.get("use_bin_type", True), config.get("use_single_float", False)
    raw = config.get("raw", False)

    def encode(elements: Any) -> bytes:
        packed: bytes = msgpack.packb(_listed(elements), use_bin_type=bins, use_single_float=single)
        return packed

    def decode(data: bytes, count: int) -> Any:
        return _unlisted(msgpack.unpackb(data, raw=raw, strict_map_key=False), count)

    return encode, decode


def _listed(elements: Any) -> list[Any]:
    """Elements in nested lists, then the dtype and the shape, as numcodecs has them."""
    items: list[Any] = np.atleast_1d(elements).tolist()
    return [*items, elements.dtype.str, elements.shape]


def _unlisted(items: Any, count: int) -> Any:
    """The array of `_listed`."""
    if not isinstance(items, list) or len(items) < 2:
        raise ValueError("not a list that ends with a dtype and a shape")
    *elements, _, shape = items
    if not isinstance(shape, list) or any(type(n) is not int or n < 0 for n in shape):
        raise ValueError(f"ends with {shorten(shape)}, not a shape")
    if math.prod(shape) != count:
        raise ValueError(f"has the shape {shorten(shape)}, and the chunk {count} elements")
    for depth, length in enumerate(shape or [1]):
        if depth:
            if not all(isinstance(one, list) for one in elements):
                raise ValueError(f"is not nested as its shape {shorten(shape)} says")
            elements = [inner for one in elements for inner in one]
        if len(elements) != math.prod((shape or [1])[: depth + 1]):
            raise ValueError(f"does not have {length} items along axis {depth}")
    return np.fromiter(elements, object, count).reshape(shape)


def _ragged_arrays(config: Config) -> tuple[Encode, Decode]:
    dtype = ragged_dtype(config["dtype"])

    def encode(elements: Any) -> bytes:
        flat = elements.reshape(-1, order="A")
        parts = [struct.pack("<I", len(flat))]
        for one in flat:
            array = np.asarray([] if _is_missing(one) else one, dtype)
            if array.ndim != 1:
                raise TypeError(f"an element of ragged arrays has one axis, not {array.ndim}")
            parts += struct.pack("<I", array.nbytes), array.tobytes()
        return b"".join(parts)

    def decode(data: bytes, count: int) -> list[Any]:
        stored = struct.unpack_from("<I", data)[0] if len(data) >= 4 else None
        if stored != count:
            raise ValueError(f"has {stored} items, and the chunk {count} elements")
        arrays, at = [], 4
        for number in range(count):
            end = at + 4
            if end <= len(data):
                end += struct.unpack_from("<I", data, at)[0]
            if at + 4 > len(data) or end > len(data):
                raise ValueError(f"item {number} of {count} ends beyond the {len(data)} bytes")
            if (end - at - 4) % dtype.itemsize:
                raise ValueError(
                    f"the length of item {number} is not a multiple of the item size of {dtype}"
                )
            arrays.append(np.frombuffer(data[at + 4 : end], dtype).copy())
            at = end
        if at != len(data):
            raise ValueError(f"has {len(data) - at} bytes after the last item")
        return arrays

    return encode, decode


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float, np.number)) and not value)


def _categories(config: Config) -> tuple[Encode, Decode]:
    labels = config["labels"]
    if not isinstance(labels, (list, tuple)) or not all(isinstance(one, str) for one in labels):
        raise ValueError("has labels that are not a list of texts")
    stored = np.dtype(config.get("astype", "u1"))
    if stored.kind not in "iu":
        raise ValueError(f"has 'astype' = {shorten(config['astype'])}, not of integers")
    codes = {label: code for code, label in enumerate(labels, 1)}
    table = np.array(["", *labels], object)

    def encode(elements: Any) -> bytes:
        flat = elements.reshape(-1, order="A")
        known = (codes.get(one, 0) if isinstance(one, str) else 0 for one in flat)
        return np.fromiter(known, stored, len(flat)).tobytes()

    def decode(data: bytes, count: int) -> Any:
        if len(data) != count * stored.itemsize:
            raise ValueError(f"has {len(data)} bytes, not {count} codes of {stored.itemsize}")
        found = np.frombuffer(data, stored)
        if found.size and not 0 <= found.min() <= found.max() < len(table):
            raise ValueError(
                f"has codes from {found.min()} to {found.max()} for {len(labels)} labels"
            )
        return table[found]

    return encode, decode


def _pickles(config: Config) -> tuple[Encode, Decode]:
    # Import time: few programs store pickles.
    import pickle

    protocol = config.get("protocol", pickle.HIGHEST_PROTOCOL)
    return lambda elements: pickle.dumps(elements, protocol), lambda data, _: pickle.loads(data)


_CODECS: dict[str, Callable[[Config], tuple[Encode, Decode]]] = {
    "json2": _json,
    "msgpack2": _msgpack,
    "vlen-array": _ragged_arrays,
    "categorize": _categories,
    "pickle": _pickles,
}
OBJECT_CODECS = (*_NATIVE, *_CODECS)
"""The ids of the codecs for variable-length elements."""


def _maker(name: str, label: str) -> Callable[[Config], tuple[Encode, Decode]]:
    found = _CODECS.get(name)
    if found is None:
        raise MetadataError(
            f"{label}: an array of objects begins with an object codec, and {name!r} is not one; "
            f"pass object_codec= with one of {', '.join(OBJECT_CODECS)}"
        )
    return found
