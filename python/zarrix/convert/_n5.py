"""N5: datasets of a folder, whose blocks are read and decoded here.

The axes of N5 are in the order of Fortran, so that they are reversed. Blocks at the edge are cut.
"""

from __future__ import annotations

import itertools
import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from zarrix._codecs.numcodecs_names import get_codec
from zarrix._errors import ConversionError
from zarrix.convert._source import Region, Source, SourceArray

__all__ = ["open_source"]

_MOST_DOCUMENT = 16 * 2**20
_OWN = {"dimensions", "blockSize", "dataType", "compression", "n5"}
_TYPES = {
    **{f"{kind}int{bits}": f">{'u' if kind else 'i'}{bits // 8}" for kind in ("", "u")
       for bits in (8, 16, 32, 64)},
    "float32": ">f4", "float64": ">f8",
}  # fmt: skip


def open_source(path: Path) -> Source:
    """The groups and datasets below a folder."""
    source = Source(str(path), {}, identity=[str(path.absolute())])
    for folder, inside, files in os.walk(path, followlinks=False):
        inside.sort()
        name = os.path.relpath(folder, path)
        name = "" if name == "." else name
        document = _document(Path(folder)) if "attributes.json" in files else {}
        if "dimensions" in document and "dataType" in document:
            inside.clear()
            source.arrays[name] = _dataset(Path(folder), document)
        elif name == "" or "attributes.json" in files:
            source.groups[name] = {k: v for k, v in document.items() if k not in _OWN}
    if "" not in source.arrays and not source.arrays:
        raise ConversionError(f"{path} has no N5 dataset")
    if "" in source.arrays:
        source.groups = {}
    return source


def _document(folder: Path) -> dict[str, Any]:
    file = folder / "attributes.json"
    try:
        if file.stat().st_size > _MOST_DOCUMENT:
            raise ValueError(f"it has more than {_MOST_DOCUMENT} bytes")
        found = json.loads(file.read_bytes())
        if not isinstance(found, dict):
            raise ValueError("it is not a JSON object")
    except (ValueError, RecursionError) as error:
        raise ConversionError(f"{file} is damaged: {error}") from None
    return found


def _dataset(folder: Path, document: dict[str, Any]) -> SourceArray:
    try:
        shape = tuple(int(n) for n in reversed(document["dimensions"]))
        block = tuple(int(n) for n in reversed(document["blockSize"]))
        dtype = np.dtype(_TYPES[document["dataType"]])
        compression = document.get("compression") or {
            "type": document.get("compressionType", "raw")
        }
        if len(block) != len(shape) or min(block, default=1) < 1 or min(shape, default=0) < 0:
            raise ValueError(f"blocks of {block} for {shape}")
        codec = _codec(dict(compression))
    except (KeyError, TypeError, ValueError) as error:
        raise ConversionError(f"{folder} is not an N5 dataset: {error!r}") from None
    reader = _Blocks(folder, shape, block, dtype, codec)
    return SourceArray(
        shape, dtype.newbyteorder("="), reader.read, chunks=block,
        attributes={name: value for name, value in document.items() if name not in _OWN},
        why_decoded="blocks of N5 have headers",
    )  # fmt: skip


def _codec(options: dict[str, Any]) -> Any:
    kind = options.get("type", "raw")
    if kind == "raw":
        return None
    if kind == "gzip":
        return get_codec({"id": "zlib" if options.get("useZlib") else "gzip"})
    known = {"zstd": "zstd", "bzip2": "bz2", "blosc": "blosc", "xz": "lzma", "lzma": "lzma"}
    if kind in known:
        return get_codec({"id": known[kind]})
    raise ValueError(f"compression {kind!r} is not supported")


class _Blocks:
    """The blocks of a dataset."""

    def __init__(
        self, folder: Path, shape: Any, block: Any, dtype: np.dtype[Any], codec: Any
    ) -> None:
        self._folder, self._shape, self._block = folder, shape, block
        self._dtype, self._codec = dtype, codec

    def read(self, region: Region) -> Any:
        out = np.zeros([one.stop - one.start for one in region], self._dtype.newbyteorder("="))
        if out.size == 0:
            return out
        axes = (
            range(one.start // n, -(-one.stop // n))
            for one, n in zip(region, self._block, strict=True)
        )
        for coords in itertools.product(*axes):
            found = self._one(coords)
            if found is None:
                continue
            into, of = [], []
            for i, n, one, length in zip(coords, self._block, region, found.shape, strict=True):
                start, stop = max(one.start, i * n), min(one.stop, i * n + length)
                into.append(slice(start - one.start, max(start, stop) - one.start))
                of.append(slice(start - i * n, max(start, stop) - i * n))
            out[tuple(into)] = found[tuple(of)]
        return out

    def _one(self, coords: tuple[int, ...]) -> Any:
        file = self._folder.joinpath(*(str(i) for i in reversed(coords)))
        try:
            value = file.read_bytes()
        except FileNotFoundError:
            return None
        ndim = len(self._shape)
        try:
            mode, axes = (int(n) for n in np.frombuffer(value[:4], ">u2"))
            if mode not in (0, 1) or axes != ndim:
                raise ValueError(f"mode {mode} and {axes} axes")
            start = 4 + 4 * ndim + 4 * mode
            extent = tuple(int(n) for n in np.frombuffer(value[4 : 4 + 4 * ndim], ">u4"))[::-1]
            if any(n > most for n, most in zip(extent, self._block, strict=True)):
                raise ValueError(f"a block of {extent}, larger than {self._block}")
            data = value[start:]
            count = math.prod(extent) * self._dtype.itemsize
            if self._codec is not None:
                out = np.empty(count, "u1")
                data = self._codec.decode(data, out)
            return np.frombuffer(data, self._dtype, math.prod(extent)).reshape(extent)
        except (ValueError, RuntimeError, OSError, EOFError) as error:
            raise ConversionError(f"{file} is damaged: {error}") from None
