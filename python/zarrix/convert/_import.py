"""Import a file of another format as arrays and groups of Zarr."""

from __future__ import annotations

import dataclasses
import json
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from zarrix._array.create_array import create_array
from zarrix._display.labels import ratio_text
from zarrix._display.printable import counted, lines
from zarrix._display.progress import Progress, phase
from zarrix._display.table import Printed
from zarrix._dtypes.rounding import check_max_error, kept_values, rounded, rounds
from zarrix._errors import ConversionError, MetadataError
from zarrix._hierarchy.copy_log import check_choice
from zarrix._hierarchy.open import consolidate_metadata, create_group
from zarrix._hierarchy.open import open as open_node
from zarrix._metadata.guess import bytes_of
from zarrix._nodes import nodes
from zarrix._runtime.config import config
from zarrix._stores.memory import MemoryStore
from zarrix.convert._destination import Destination
from zarrix.convert._encoded import all_in_file, kept_options, store_parts
from zarrix.convert._file_store import FileStore
from zarrix.convert._formats import check_known
from zarrix.convert._open import open_sources
from zarrix.convert._presets import PRESETS, Preset, layout
from zarrix.convert._regions import chunks_of, count, regions, step_of
from zarrix.convert._source import Source, SourceArray
from zarrix.operate._place import locate

__all__ = ["Conversion", "budget_of", "import_"]

# A region takes this share of the memory, because it is decoded, encoded and stored at once.
_REGION_SHARE = 4
_CACHED_REGION = 16 * 2**20
_CHUNKS_OF_A_THREAD = 4
_LEAST_CHECKED = 8
_LEAST_CHUNK, _MOST_CHUNK = 64 * 2**10, 16 * 2**20


@dataclass
class Conversion(Printed):
    """What a conversion did, or would do.

    Attributes
    ----------
    source, dest : str
    arrays : dict
        By path: shape, dtype, chunks, and how the chunks are made.
    nbytes : int
        Decoded bytes of all arrays.
    stored_bytes : int
        Bytes of the chunks in the destination, or of the exported file.
    done, kept : int
        Regions that this call stored, and that an earlier one had stored.
    notes : list of str
        What was left out, and what changed.
    dry_run : bool

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> np.save("x.npy", np.zeros((2, 3)))
    >>> zarr.import_("x.npy", "x.zarr").arrays[""]["shape"]
    (2, 3)
    """

    source: str
    dest: str
    arrays: dict[str, dict[str, Any]] = field(default_factory=dict)
    nbytes: int = 0
    stored_bytes: int = 0
    done: int = 0
    kept: int = 0
    notes: list[str] = field(default_factory=list)
    dry_run: bool = False

    def to_json(self) -> str:
        """The result as JSON.

        Returns
        -------
        str

        Examples
        --------
        >>> from zarrix.convert import Conversion
        >>> Conversion("a.npy", "a.zarr").to_json()[:28]
        '{"version": 1, "source": "a.'
        """
        return json.dumps({"version": 1, **dataclasses.asdict(self)})

    def __str__(self) -> str:
        verb = "would make" if self.dry_run else "made"
        made = counted(len(self.arrays), "array")
        rows = [f"{self.source} -> {self.dest}: {verb} {made}"]
        for path, one in self.arrays.items():
            told = f"{one['shape']} {one['dtype']}, chunks {one['chunks']}, {one['how']}"
            rows.append(f"  {path or '/'}: {told}")
        if not self.dry_run:
            ratio = ratio_text(self.nbytes, self.stored_bytes)
            rows.append(f"  {self.nbytes:,} bytes stored as {self.stored_bytes:,}, {ratio}")
        if self.kept:
            rows.append(f"  {self.kept:,} of {self.kept + self.done:,} regions were there already")
        return lines([*rows, *(f"  note: {one}" for one in self.notes)])


def import_(
    source: Any,
    dest: Any,
    *,
    path: str | None = None,
    format: str | None = None,
    chunks: Any = None,
    shards: Any = None,
    compressor: Any = "auto",
    zarr_format: Literal[2, 3] | None = None,
    keep_chunks: bool = False,
    preset: Preset = "measure",
    max_error: float | None = None,
    stack: str | None = None,
    concat: int | None = None,
    memory: int | str = "256 MiB",
    verify: Literal["none", "sample", "full"] = "none",
    overwrite: bool = False,
    resume: bool = False,
    dry_run: bool = False,
    progress: bool | Progress = False,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Conversion:
    """Import files of another format as Zarr arrays and groups; every value is kept, bit for bit.

    Chunks are stored before the metadata, so that an import that is interrupted leaves no array
    that reads as fill values. The same call with ``resume=True`` continues it.

    Parameters
    ----------
    source : str or Path, or a sequence of them
        A file, a folder of images, or files to ``stack`` or to ``concat``.
    dest : Store, URL, str or Path
        A path inside a hierarchy adds to that hierarchy.
    path : str, optional
        Path of the array or group in the store.
    format : str, optional
        The name of a format (`zarrix.convert.formats`); what the name of the file says if omitted.
    chunks : tuple of int, int or str, optional
        Those of the source, if they are 64 KiB to 16 MiB, else about 1 MiB.
    shards : tuple of int, optional
    compressor : codec, optional
        Blosc with zstd, level 5 and bitshuffle if omitted, zstd for text; None for no compression.
    zarr_format : {2, 3}, optional
        Of a new hierarchy: 3, unless a dtype can only be kept in 2 (big-endian elements and fields
        that are arrays), or ``keep_chunks`` is true.
    keep_chunks : bool
        Copy the encoded chunks of the source without decoding them, where Zarr has their codecs.
    preset : {'measure', 'training', 'archive', 'cloud'}
        What the array is for, if ``chunks`` are omitted: tiles of single pictures (training), level
        9 and shards of 256 MiB (archive), or chunks of 512 KiB in shards of 64 MiB and consolidated
        metadata (cloud).
    max_error : float, optional
        Round floating-point numbers so that each stays within this distance; the last bits become
        zeros, which compress better. Fill values are kept. Without it every value is kept.
    stack : str, optional
        Stack the files along a new first axis of this name.
    concat : int, optional
        Join the files along this axis.
    memory : int or str
        Bytes that regions in flight may take; at least a chunk is needed.
    verify : {'none', 'sample', 'full'}
        Read what was stored again and compare it with the source: 1 % of the regions and at least
        8, or all.
    overwrite, resume : bool
        Replace what exists at the destination; continue an unfinished import.
    dry_run : bool
        Return what would be made; nothing is written.
    progress : bool or callable
        True draws a bar on stderr; a callable gets the number of finished regions, and the total.
    storage_options : mapping, optional
        For a destination that is a URL.
    **options
        Of the format, such as ``dtype=`` and ``shape=`` for raw files (docs/convert.md).

    Returns
    -------
    Conversion

    Raises
    ------
    ConversionError
        The source is damaged or has what Zarr cannot represent, or an unfinished import is there.
    ContainsArrayError
        The destination exists.
    FileNotFoundError
        The source does not exist.
    TypeError
        The format does not have an option of that name.
    ValueError
        ``memory``, ``preset``, ``verify`` or ``max_error`` is something else, or ``max_error`` is
        passed with ``keep_chunks``.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> np.save("x.npy", np.arange(6.0).reshape(2, 3))
    >>> made = zarr.import_("x.npy", "x.zarr")
    >>> zarr.open("x.zarr")[1]
    array([3., 4., 5.])
    """
    check_choice("verify", verify, ("none", "sample", "full"))
    check_choice("preset", preset, PRESETS)
    if zarr_format not in (None, 2, 3):
        raise ValueError(f"zarr_format is 2 or 3, not {zarr_format!r}")
    check_known(options, "import_")
    budget = budget_of(memory)
    max_error = check_max_error(max_error)
    if max_error is not None and keep_chunks:
        raise ValueError("keep_chunks copies encoded chunks, whose values max_error cannot round")
    asked = {
        "chunks": chunks,
        "shards": shards,
        "compressor": compressor,
        "zarr_format": zarr_format,
        "keep_chunks": keep_chunks,
        "preset": preset,
        "max_error": max_error,
        "stack": stack,
        "concat": concat,
        "options": options,
    }
    with open_sources(source, format, stack, concat, options) as opened:
        location = locate(dest, path, storage_options)
        found = Destination(
            location, {"source": opened.identity, **asked}, overwrite=overwrite, resume=resume
        )
        job = _Import(opened, found, asked, budget)
        result = Conversion(opened.name, nodes.describe(found.store, found.path))
        job.describe(result, dry_run)
        if not dry_run:
            resumed = found.begin()
            job.copy(result, resumed, phase(progress, "regions"))
            if verify != "none":
                job.verify(everything=verify == "full")
            found.finish()
            if preset == "cloud" and opened.groups:
                consolidate_metadata(found.store, path=found.path)
    return result


def budget_of(memory: int | str) -> int:
    """Bytes of a region, for a call that may take ``memory``."""
    given = bytes_of(memory) if isinstance(memory, str) else memory
    if not isinstance(given, int) or given < 1:
        raise ValueError(f"memory={memory!r} is not a number of bytes, such as '256 MiB'")
    return max(1, given // _REGION_SHARE)


class _Import:
    """One import: the nodes of the destination, and their copy."""

    def __init__(
        self, source: Source, dest: Destination, asked: Mapping[str, Any], budget: int
    ) -> None:
        self._source, self._dest, self._asked, self._budget = source, dest, asked, budget
        self._keeps: dict[str, bool] = {}
        self._preset = str(asked["preset"])
        given = asked["zarr_format"]
        self._format = given or self._natural_format()
        self._arrays: dict[str, Any] = {}
        self._errors: dict[str, float] = {}
        for name, attributes in source.groups.items():
            create_group(
                dest.documents,
                path=self._path(name),
                zarr_format=self._format,
                attributes=dict(attributes) or None,
            )
        for name, one in source.arrays.items():
            self._arrays[name] = self._create(name, one)

    def _path(self, name: str) -> str:
        return "/".join(part for part in (self._dest.path, name) if part)

    def _natural_format(self) -> Literal[2, 3]:
        """The format of the hierarchy around; else 3 if it keeps all dtypes."""
        parts = self._dest.path.split("/")
        for depth in reversed(range(len(parts))):
            above = nodes.find(self._dest.store, "/".join(parts[:depth]))
            if above is not None and self._dest.path:
                return above.zarr_format
        if self._asked["keep_chunks"] or any(
            not _fits_v3(one.dtype) for one in self._source.arrays.values()
        ):
            return 2
        return 3

    def _create(self, name: str, one: SourceArray) -> Any:
        """The array of the destination; its document is in memory."""
        asked = self._asked
        options: dict[str, Any] = {"order": one.order, "compressor": asked["compressor"]}
        keeps = asked["keep_chunks"] and one.encoded is not None
        self._keeps[name] = keeps
        if keeps and one.encoded is not None:
            options |= kept_options(one.encoded, self._format, one.dtype)
        else:
            options["chunks"], shards = _chunks(one, asked["chunks"]), asked["shards"]
            if asked["chunks"] is None:
                options["chunks"], found = layout(self._preset, one, options["chunks"])
                shards = found if shards is None and self._format == 3 else shards
            if shards is not None:
                options["shards"] = shards
            if asked["compressor"] == "auto":
                level = 9 if self._preset == "archive" else 5
                options["compressor"] = _compressor(one.dtype, level)
        if self._format == 3 and one.dimension_names is not None:
            options["dimension_names"] = one.dimension_names
        attributes = dict(one.attributes)
        if self._format == 2 and one.dimension_names is not None:
            attributes["_ARRAY_DIMENSIONS"] = list(one.dimension_names)
        dtype = np.dtype(object) if one.dtype is object else one.dtype
        try:
            array = create_array(
                self._dest.documents,
                name=self._path(name),
                shape=one.shape,
                dtype=dtype,
                fill_value=one.fill_value,
                zarr_format=self._format,
                attributes=attributes,
                chunk_store=self._dest.store,
                **options,
            )
        except MetadataError as error:
            raise ConversionError(f"{self._source.name}: {name or 'the array'}: {error}") from None
        kept = isinstance(one.dtype, np.dtype) and array.dtype != one.dtype
        if kept and array.dtype.newbyteorder("=") != one.dtype.newbyteorder("="):
            raise ConversionError(
                f"{self._source.name}: {name or 'the array'}: {one.dtype} would become "
                f"{array.dtype} in v{self._format}; pass zarr_format=2"
            )
        return array

    def describe(self, result: Conversion, dry_run: bool) -> None:
        """Say what will be made."""
        result.dry_run = dry_run
        result.notes += self._source.notes
        for name, one in self._source.arrays.items():
            array = self._arrays[name]
            result.nbytes += one.nbytes
            how = "encoded anew"
            if self._keeps[name]:
                how = "chunks kept"
            elif self._asked["keep_chunks"]:
                how = f"encoded anew, because {one.why_decoded}"
            result.arrays[name] = {
                "shape": tuple(map(int, one.shape)),
                "dtype": one.dtype.__name__ if isinstance(one.dtype, type) else str(one.dtype),
                "chunks": array.chunks,
                "how": how,
            }
            if isinstance(one.dtype, np.dtype) and array.dtype.str != one.dtype.str:
                result.notes.append(
                    f"{name or 'the array'}: {one.dtype.str} is stored as {array.dtype.str}; "
                    "values are equal, and zarr_format=2 keeps the byte order"
                )

    def copy(self, result: Conversion, resumed: bool, tell: Progress) -> None:
        """Store every chunk that is not stored yet."""
        steps = {name: self._step(name) for name in self._arrays}
        total = sum(
            count(one.shape, steps[name]) if not self._keeps[name] else 1
            for name, one in self._source.arrays.items()
        )
        tell(0, total)
        decoded = {name: one for name, one in self._source.arrays.items() if not self._keeps[name]}
        read = _readers(self._source, decoded, steps)
        for name, one in self._source.arrays.items():
            array, unit = self._arrays[name], self._unit(name)
            stored: set[tuple[int, ...]] = set()
            if resumed:
                stored = {tuple(coords) for _, coords in array._io.stored_chunks()}
            if self._keeps[name] and one.encoded is not None:
                store_parts(one.encoded, array, self._dest.store, stored)
                result.done += 1
                tell(result.done + result.kept, total)
                continue
            for region in regions(one.shape, steps[name]):
                if stored and stored.issuperset(chunks_of(region, unit)):
                    result.kept += 1
                else:
                    array[region] = self._rounded(name, read[name](region))
                    result.done += 1
                tell(result.done + result.kept, total)
        result.stored_bytes = sum(int(one.nbytes_stored) for one in self._arrays.values())
        for name, error in self._errors.items():
            result.notes.append(
                f"{name or 'the array'}: values are rounded by at most "
                f"{self._asked['max_error']:g}; the largest error is {error:.3g}"
            )

    def _rounded(self, name: str, values: Any) -> Any:
        """The values, rounded if that was asked."""
        one, most = self._source.arrays[name], self._asked["max_error"]
        if most is None or not rounds(one.dtype):
            return values
        values, error = rounded(values, most, kept_values(one.fill_value, one.attributes))
        self._errors[name] = max(error, self._errors.get(name, 0.0))
        return values

    def _unit(self, name: str) -> tuple[int, ...]:
        """What is stored under one key: a shard, or else a chunk."""
        return tuple(int(n) for n in self._arrays[name]._metadata.chunk_shape)

    def _step(self, name: str) -> tuple[int, ...]:
        one = self._source.arrays[name]
        budget = self._budget
        if _is_decoded_by_engine(one):
            # What is decoded is encoded while it is in the processor's cache, but every region
            # keeps all threads busy with several chunks.
            chunk = math.prod(one.chunks or ()) * one.itemsize
            budget = min(budget, max(_CACHED_REGION, _CHUNKS_OF_A_THREAD * config.threads * chunk))
        return step_of(
            one.shape, self._unit(name), one.chunks, one.itemsize, budget, rows=one.sequential
        )

    def verify(self, *, everything: bool) -> None:
        """Compare stored regions with the source."""
        draw = random.Random(0)
        for name, one in self._source.arrays.items():
            if one.sequential:
                continue
            listed = list(regions(one.shape, self._unit(name)))
            if not everything:
                most = max(_LEAST_CHECKED, math.ceil(len(listed) / 100))
                listed = draw.sample(listed, min(most, len(listed)))
            for region in listed:
                if not _same(self._arrays[name][region], self._rounded(name, one.read(region))):
                    raise ConversionError(
                        f"{name or 'the array'} at {region} is not what the source has; the "
                        "source may have changed, or the destination is damaged"
                    )


def _readers(
    source: Source, arrays: Mapping[str, SourceArray], steps: Mapping[str, tuple[int, ...]]
) -> dict[str, Callable[[Any], Any]]:
    """How regions of each array are read: encoded chunks by the engine, with all threads."""
    found: dict[str, Callable[[Any], Any]] = {}
    store: FileStore | None = None
    for name, one in arrays.items():
        found[name] = one.read
        if one.encoded is not None and _is_decoded_by_engine(one):
            store = store or FileStore(source)
            array: Any = open_node(store, mode="r", path=name)
            parts = all_in_file(one.encoded, array)
            if parts is not None:
                # The engine reads the file itself, without a call of Python for each chunk.
                documents = MemoryStore(store.documents)
                array = open_node(documents, mode="r", path=name, chunk_store=parts)
            found[name] = _reader(array, steps[name])
    return found


def _is_decoded_by_engine(one: SourceArray) -> bool:
    return one.encoded is not None and one.chunks is not None


def _reader(array: Any, step: tuple[int, ...]) -> Callable[[Any], Any]:
    """Reads regions into one buffer, because the pages of a new one cost as much as a copy."""
    buffer: Any = None

    def read(region: Any) -> Any:
        nonlocal buffer
        extent = tuple(part.stop - part.start for part in region)
        if not extent or extent != tuple(step):
            return array[region]
        if buffer is None:
            buffer = np.empty(extent, array.dtype)
        array.get_basic_selection(region, out=buffer)
        return buffer

    return read


def _same(stored: Any, source: Any) -> bool:
    stored, source = np.asarray(stored), np.asarray(source)
    if stored.dtype.hasobject or source.dtype.hasobject:
        return bool(np.array_equal(stored, source))
    same = stored.tobytes() == source.astype(stored.dtype, copy=False).tobytes()
    return bool(stored.shape == source.shape and same)


def _fits_v3(dtype: Any) -> bool:
    """Whether v3 keeps a dtype, byte order included."""
    if not isinstance(dtype, np.dtype):
        return True
    if dtype.names is not None:
        return all(_fits_v3(dtype[name]) and dtype[name].subdtype is None for name in dtype.names)
    return dtype.byteorder not in (">",) and dtype.kind != "O"


def _chunks(one: SourceArray, asked: Any) -> Any:
    if asked is not None:
        return asked
    size = math.prod(one.shape)
    if one.chunks is not None and size:
        nbytes = math.prod(one.chunks) * one.itemsize
        small = math.prod(one.chunks) >= size
        if _LEAST_CHUNK <= nbytes <= _MOST_CHUNK or small:
            return tuple(min(c, n) for c, n in zip(one.chunks, one.shape, strict=True))
    return "1 MiB" if one.shape and size else (1,) * len(one.shape)


def _compressor(dtype: Any, level: int) -> Any:
    """The codec of a new array: Blosc for numbers, zstd for text."""
    # Import time: numcodecs is needed for no other import.
    from zarrix.codecs import Blosc, Zstd

    if not isinstance(dtype, np.dtype) or dtype.hasobject or dtype.kind in "SU":
        return Zstd(level=level)
    return Blosc(cname="zstd", clevel=level, shuffle=Blosc.BITSHUFFLE)


import_.__module__ = "zarrix.convert"
