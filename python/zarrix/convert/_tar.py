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
from zarrix.convert._source import OpenFile, Region, Source, SourceArray

__all__ = ["open_source", "save"]

_MOST_MEMBERS = 10_000_000


def open_source(path: Path) -> Source:
    """The samples of a tar file: an array for each suffix, and the keys as ``key``."""
    file = OpenFile(path)
    try:
        keys, members = _index(path)
        source = Source(str(path), {}, {"": {}}, identity=[file.identity], close=file.close)
        names = np.array(keys, dtype=object)
        source.arrays["key"] = SourceArray(
            names.shape, str, names.__getitem__, fill_value="", dimension_names=["sample"]
        )
        for suffix in sorted({one for each in members for one in each}):
            parts = [each.get(suffix) for each in members]
            if None in parts:
                source.notes.append(f"{suffix}: {parts.count(None)} samples have none")
            source.arrays[suffix.replace(".", "_")] = _column(file, suffix, parts)
    except BaseException:
        file.close()
        raise
    return source


def _index(path: Path) -> tuple[list[str], list[dict[str, tuple[int, int]]]]:
    """The keys of the samples, and by suffix where their members are."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    try:
        with tarfile.open(path, "r:") as archive:
            for number, member in enumerate(archive):
                if number >= _MOST_MEMBERS:
                    raise ConversionError(f"{path} has more than {_MOST_MEMBERS} members")
                if not member.isreg():
                    continue
                folder, slash, name = member.name.rpartition("/")
                stem, _, suffix = name.partition(".")
                if suffix and stem:
                    parts = found.setdefault(f"{folder}{slash}{stem}", {})
                    parts[suffix.lower()] = (member.offset_data, member.size)
    except tarfile.TarError as error:
        raise ConversionError(
            f"{path} is not a tar file, or is damaged: {error}; compressed tar files are "
            "unpacked first"
        ) from None
    if not found:
        raise ConversionError(f"{path} has no samples")
    return [*found], [*found.values()]


def _column(file: OpenFile, suffix: str, parts: list[tuple[int, int] | None]) -> SourceArray:
    """The members of one suffix as an array."""
    kind = f".{suffix.rpartition('.')[2]}"
    count = len(parts)
    if None not in parts:
        there = [one for one in parts if one is not None]
        if kind in (".cls", ".txt", ".json"):
            return _texts(file, kind, there)
        found = None
        if kind == ".npy":
            found = {(one.shape, one.dtype) for one in (npy_array(file, *part) for part in there)}
        elif kind in _images.SUFFIXES:
            found = {
                _images.shape_and_dtype(io.BytesIO(file.read(*part)), str(file.path))
                for part in there
            }
        if found is not None and len(found) == 1:
            shape, dtype = found.pop()
            return _stacked(file, kind, there, shape, dtype)

    def read(region: Region) -> Any:
        out = np.empty(region[0].stop - region[0].start, dtype=object)
        for i, one in enumerate(parts[region[0]]):
            out[i] = b"" if one is None else file.read(*one)
        return out

    return SourceArray(
        (count,),
        bytes,
        read,
        fill_value=b"",
        dimension_names=["sample"],
        attributes={"suffix": kind},
    )


def _stacked(
    file: OpenFile, kind: str, parts: list[tuple[int, int]], shape: Any, dtype: np.dtype[Any]
) -> SourceArray:
    def one(part: tuple[int, int]) -> Any:
        if kind == ".npy":
            array = npy_array(file, *part)
            return array.read(tuple(slice(0, n) for n in shape))
        return _images.decoded(io.BytesIO(file.read(*part)), str(file.path))

    def read(region: Region) -> Any:
        out = np.empty([one.stop - one.start for one in region], dtype)
        for i, part in enumerate(parts[region[0]]):
            out[i] = one(part)[region[1:]]
        return out

    return SourceArray(
        (len(parts), *shape), dtype, read, chunks=(1, *shape),
        dimension_names=["sample", *(None for _ in shape)],
        why_decoded="members of a tar file have headers",
    )  # fmt: skip


def _texts(file: OpenFile, kind: str, parts: list[tuple[int, int]]) -> SourceArray:
    """Classes as integers, text and JSON as text."""

    def one(part: tuple[int, int]) -> str:
        try:
            return file.read(*part).decode()
        except UnicodeDecodeError as error:
            raise ConversionError(f"{file.path}: a member is not text: {error}") from None

    if kind == ".cls":
        try:
            values = np.array([int(one(part)) for part in parts], "i8")
        except ValueError as error:
            raise ConversionError(f"{file.path}: a class is not a number: {error}") from None
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
        for i in range(count):
            key = keys[i] if keys is not None else f"{i:06}"
            for name, array in arrays.items():
                suffix, value = _member(name or "npy", array[i], array.dtype)
                member = tarfile.TarInfo(f"{key}.{suffix}")
                member.size = len(value)
                archive.addfile(member, io.BytesIO(value))
            job.done += 1


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
