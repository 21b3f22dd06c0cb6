"""N5: datasets of a folder, whose blocks are read and decoded here.

The axes of N5 are in the order of Fortran, so that they are reversed. Blocks at the edge are cut.
"""

from __future__ import annotations

import itertools
import json
import lzma
import math
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from zarrix._codecs.numcodecs_names import get_codec
from zarrix._errors import ConversionError
from zarrix.convert._source import Region, Source, SourceArray, identity_of

__all__ = ["open_source"]

_MOST_DOCUMENT = 16 * 2**20
# Java has no arrays of more bytes, and so no block of N5 has.
_MOST_BLOCK = 2**31
# No codec of N5 makes more of a byte, except of zeros.
_MOST_RATIO = 2**16
_OWN = {"dimensions", "blockSize", "dataType", "compression", "n5"}
_TYPES = {
    **{f"{kind}int{bits}": f">{'u' if kind else 'i'}{bits // 8}" for kind in ("", "u")
       for bits in (8, 16, 32, 64)},
    "float32": ">f4", "float64": ">f8",
}  # fmt: skip


def open_source(path: Path) -> Source:
    """The groups and datasets below a folder."""
    source = Source(str(path), {}, identity=[identity_of(path)])
    for folder, inside, files in os.walk(path, followlinks=False):
        inside.sort()
        name = os.path.relpath(folder, path)
        name = "" if name == "." else name
        document = _document(Path(folder)) if "attributes.json" in files else {}
        if "dimensions" in document and "dataType" in document:
            inside.clear()
            try:
                source.arrays[name] = _dataset(Path(folder), document)
            except ConversionError as error:
                if not name:
                    raise
                source.leave_out(name, error)
        elif name == "" or "attributes.json" in files:
            source.groups[name] = {k: v for k, v in document.items() if k not in _OWN}
    if "" not in source.arrays and not source.arrays:
        raise ConversionError("; ".join([f"{path} has no N5 dataset", *source.left_out]))
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
        if math.prod(block) * dtype.itemsize > _MOST_BLOCK:
            raise ValueError(f"blocks of {block}, which have more than {_MOST_BLOCK:,} bytes")
        codec = _codec(dict(compression))
    except (KeyError, TypeError, ValueError) as error:
        raise ConversionError(f"{folder} is not an N5 dataset: {error!r}") from None
    reader = _Blocks(folder, shape, block, dtype, codec)
    return SourceArray(
        shape, dtype.newbyteorder("="), reader.read, chunks=block,
        attributes={name: value for name, value in document.items() if name not in _OWN},
        stored=reader.stored, why_decoded="blocks of N5 have headers",
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


def _numbered(folder: str | os.PathLike[str], depth: int) -> Iterator[tuple[int, ...]]:
    """The names of files so many levels below a folder that are all numbers, as numbers."""
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            if not (name.isascii() and name.isdecimal() and str(int(name)) == name):
                continue
            if depth > 1 and entry.is_dir():
                yield from ((int(name), *rest) for rest in _numbered(entry.path, depth - 1))
            elif depth == 1 and entry.is_file():
                yield (int(name),)


def _decoded(codec: Any, data: bytes, count: int) -> Any:
    """So many bytes of a block; memory is asked for only if the stored ones could have them."""
    if count > _MOST_RATIO * len(data) + _MOST_RATIO:
        raise ValueError(f"{len(data)} bytes do not decode to {count:,}")
    out = np.empty(count, "u1")
    found = np.frombuffer(memoryview(codec.decode(data, out)).cast("B"), "u1")
    if found.size != count:
        raise ValueError(f"it decodes to {found.size} bytes, and not to {count}")
    return found


class _Blocks:
    """The blocks of a dataset."""

    def __init__(
        self, folder: Path, shape: Any, block: Any, dtype: np.dtype[Any], codec: Any
    ) -> None:
        self._folder, self._shape, self._block = folder, shape, block
        self._dtype, self._codec = dtype, codec
        self._stored: list[tuple[int, ...]] | None = None

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

    def stored(self) -> list[tuple[int, ...]]:
        """The coordinates of the blocks that are files; the folders are listed once."""
        if self._stored is None:
            self._stored = [*self._listed()]
        return self._stored

    def _listed(self) -> Iterator[tuple[int, ...]]:
        grid = [-(-n // block) for n, block in zip(self._shape, self._block, strict=True)]
        if not grid:
            yield ()
            return
        for numbers in _numbered(self._folder, len(grid)):
            coords = numbers[::-1]
            if all(i < n for i, n in zip(coords, grid, strict=True)):
                yield coords

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
            if count > _MOST_BLOCK:
                raise ValueError(f"a block of {extent} would have {count:,} bytes")
            if self._codec is not None:
                data = _decoded(self._codec, data, count)
            return np.frombuffer(data, self._dtype, math.prod(extent)).reshape(extent)
        except (
            ValueError,
            RuntimeError,
            OSError,
            EOFError,
            TypeError,
            zlib.error,
            lzma.LZMAError,
            MemoryError,
        ) as error:
            raise ConversionError(f"{file} is damaged: {error}") from None
