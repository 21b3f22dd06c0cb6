"""WebDataset's tar files: members of one name with several suffixes are a sample.

Images and npy members of one shape become an array; others are kept as they are, as bytes. Members
are read by position and never unpacked to files.
"""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any

import numpy as np

from zarrix._errors import ConversionError
from zarrix.convert import _images
from zarrix.convert._npy import header_of, npy_array
from zarrix.convert._source import OpenFile, Region, Source, SourceArray, UnkeptError
from zarrix.convert._tar_index import Index, Member

__all__ = ["open_source", "save"]


def open_source(path: Path) -> Source:
    """The samples of a tar file: an array for each suffix, and the keys as ``key``."""
    file = OpenFile(path)
    try:
        index = Index(path, file)
    except BaseException:
        file.close()
        raise
    try:
        return _source(path, file, index)
    except BaseException:
        index.close()
        raise


def _source(path: Path, file: OpenFile, index: Index) -> Source:
    source = Source(str(path), {}, {"": {}}, identity=[file.identity], close=index.close)
    source.left_out += index.left_out
    keys = np.array(index.keys, dtype=object)
    source.arrays["key"] = SourceArray(
        keys.shape, str, keys.__getitem__, fill_value="", dimension_names=["sample"]
    )
    for suffix, name in index.names().items():
        parts = [each.get(suffix) for each in index.samples]
        if None in parts:
            source.notes.append(f"{suffix}: {parts.count(None)} samples have none")
        if name != suffix.replace(".", "_"):
            source.notes.append(f"members of the suffix {suffix!r} are the array {name!r}")
        source.arrays[name] = one = _column(index, suffix, parts)
        one.attributes = {**one.attributes, "suffix": f".{suffix}"}
    return source


def _column(index: Index, suffix: str, parts: list[Member | None]) -> SourceArray:
    """The members of one suffix as an array."""
    kind = f".{suffix.rpartition('.')[2]}"
    there = [one for one in parts if one is not None]
    found = None
    if len(there) == len(parts):
        if kind in (".cls", ".txt", ".json"):
            return _texts(index, kind, there)
        if kind == ".npy":
            found = {_shape_of_npy(index, one) for one in there}
        elif kind in _images.SUFFIXES:
            found = {
                _images.shape_and_dtype(io.BytesIO(index.read(one)), one.name) for one in there
            }
    if found is not None and len(found) == 1:
        shape, dtype = found.pop()
        return _stacked(index, kind, there, shape, dtype)

    def read(region: Region) -> Any:
        out = np.empty(region[0].stop - region[0].start, dtype=object)
        for i, one in enumerate(parts[region[0]]):
            out[i] = b"" if one is None else index.read(one)
        return out

    return SourceArray((len(parts),), bytes, read, fill_value=b"", dimension_names=["sample"])


def _shape_of_npy(index: Index, member: Member) -> tuple[tuple[int, ...], np.dtype[Any]]:
    if member.sparse is None:
        array = npy_array(index.file, member.offset, member.size)
        return array.shape, array.dtype
    return _loaded(index, member).shape, _loaded(index, member).dtype


def _loaded(index: Index, member: Member) -> Any:
    try:
        return np.load(io.BytesIO(index.read(member)))
    except (ValueError, OSError, EOFError) as error:
        raise ConversionError(f"{index.path}: {member.name} is not npy: {error}") from None


def _stacked(
    index: Index, kind: str, parts: list[Member], shape: Any, dtype: np.dtype[Any]
) -> SourceArray:
    def one(member: Member) -> Any:
        if kind != ".npy":
            return _images.decoded(io.BytesIO(index.read(member)), member.name)
        if member.sparse is not None:
            return _loaded(index, member)
        array = npy_array(index.file, member.offset, member.size)
        return array.read(tuple(slice(0, n) for n in shape))

    def reader(element: Any) -> Any:
        def read(region: Region) -> Any:
            out = np.empty([one.stop - one.start for one in region], dtype)
            for i, member in enumerate(parts[region[0]]):
                out[i] = element(member)[region[1:]]
            return out

        return read

    def by_library(member: Member) -> Any:
        return _loaded(index, member) if kind == ".npy" else one(member)

    return SourceArray(
        (len(parts), *shape), dtype, reader(one), chunks=(1, *(max(1, n) for n in shape)),
        dimension_names=["sample", *(None for _ in shape)],
        why_decoded="members of a tar file have headers", native=reader(by_library),
    )  # fmt: skip


def _texts(index: Index, kind: str, parts: list[Member]) -> SourceArray:
    """Classes as integers, text and JSON as text."""

    def one(member: Member) -> str:
        try:
            return index.read(member).decode()
        except UnicodeDecodeError as error:
            raise UnkeptError(f"{member.name} is not text in UTF-8: {error}") from None

    if kind == ".cls":
        try:
            values = np.array([int(one(part)) for part in parts], "i8")
        except (ValueError, OverflowError) as error:
            raise ConversionError(
                f"{index.path}: a class is not a number of 64 bits: {error}"
            ) from None
        return SourceArray(
            values.shape, values.dtype, values.__getitem__, dimension_names=["sample"]
        )

    def read(region: Region) -> Any:
        return np.array([one(part) for part in parts[region[0]]], dtype=object)

    return SourceArray((len(parts),), str, read, fill_value="", dimension_names=["sample"])


def save(node: Any, path: Path, job: Any) -> None:
    """Write the arrays of a group as samples: a member for each array and index."""
    arrays = job.arrays()
    keys = arrays.pop("key", None)
    lengths = {one.shape[0] if one.shape else -1 for one in arrays.values()}
    if len(lengths) != 1 or -1 in lengths:
        raise ConversionError("samples need arrays of one length along their first axis")
    count = lengths.pop()
    with tarfile.open(path, "w") as archive:
        known: set[str] = set()
        for i in range(count):
            key = f"{i:06}" if keys is None else _key(str(keys[i]))
            for name, array in arrays.items():
                suffix, value = _member(name or "npy", array[i], array.dtype)
                member = tarfile.TarInfo(f"{key}.{suffix}")
                # Readers take suffixes that differ in case for one, and some systems keys.
                if member.name.lower() in known:
                    raise ConversionError(
                        f"two members would be {member.name} (case is ignored); samples need keys, "
                        "and arrays names, that differ"
                    )
                known.add(member.name.lower())
                member.size = len(value)
                archive.addfile(member, io.BytesIO(value))
            job.done += 1


def _key(key: str) -> str:
    """The key of a sample, which readers find again: they take what follows a dot for a suffix."""
    parts = key.split("/")
    if "." in parts[-1] or any(part in ("", ".", "..") for part in parts):
        raise ConversionError(
            f"{key!r} is not the key of a sample: a relative path without a dot in its name"
        )
    return key


def _member(name: str, value: Any, dtype: Any) -> tuple[str, bytes]:
    if isinstance(value, str):
        known = name in ("txt", "json") or name.endswith(("_txt", "_json"))
        return name.replace("_", ".") if known else f"{name}.txt", value.encode()
    # Elements of a fixed length are an array of npy, as numbers are.
    if isinstance(value, bytes) and not isinstance(value, np.bytes_):
        return name.replace("_", "."), value
    if name == "cls":
        return "cls", str(int(value)).encode()
    suffix = name.replace("_", ".") if name.endswith("npy") else f"{name}.npy"
    # An element of one axis has lost the byte order and the length of its text.
    array = np.asarray(value, dtype)
    return suffix, header_of(array, order="C") + np.ascontiguousarray(array).tobytes()
