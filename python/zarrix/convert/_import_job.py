"""One import: the nodes of the destination, and the copy of what the source has stored."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from zarrix._array.access import io_of, metadata_of
from zarrix._array.create_array import create_array
from zarrix._dtypes.rounding import kept_values, rounded, rounds
from zarrix._errors import ContainsArrayError, ContainsGroupError, ConversionError
from zarrix._hierarchy.open import create_group
from zarrix._hierarchy.open import open as open_node
from zarrix._nodes import nodes
from zarrix._runtime.config import config
from zarrix._stores.memory import MemoryStore
from zarrix.convert import _cf
from zarrix.convert._destination import Destination
from zarrix.convert._encoded import all_in_file, kept_options, store_parts
from zarrix.convert._file_store import UNKEPT, FileStore, unkept
from zarrix.convert._presets import layout
from zarrix.convert._regions import chunks_of, count, region_at, step_of, stored_regions
from zarrix.convert._source import Region, Source, SourceArray, UnkeptError
from zarrix.convert._sparse import stored_reader
from zarrix.convert._verify import verify, verify_files

if TYPE_CHECKING:
    from zarrix._display.progress import Progress
    from zarrix.convert._import import Conversion

__all__ = ["ImportJob"]

_CACHED_REGION = 16 * 2**20
_CHUNKS_OF_A_THREAD = 4
_LEAST_CHUNK, _MOST_CHUNK = 64 * 2**10, 16 * 2**20
# An array of v2 without a fill value has all chunks; if it is larger than this, and so many times
# what is stored of it, it keeps the fill value.
_MOST_FILLED, _FILLED_RATIO = 2**30, 64


class ImportJob:
    """One import: the nodes of the destination, and their copy.

    Raises
    ------
    ConversionError
        The source is one array, and Zarr cannot represent it.
    """

    def __init__(
        self, source: Source, dest: Destination, asked: Mapping[str, Any], budget: int
    ) -> None:
        self._source, self._dest, self._asked, self._budget = source, dest, asked, budget
        self._keeps: dict[str, bool] = {}
        self._preset = str(asked["preset"])
        self._format: Literal[2, 3] = asked["zarr_format"] or self._natural_format()
        self._arrays: dict[str, Any] = {}
        self._errors: dict[str, float] = {}
        self._there: frozenset[str] = frozenset()
        named = [self._path(name) for name in (*source.groups, *source.arrays)]
        self._nodes = nodes.find_all(dest.store, named) if dest.into else {}
        for name, attributes in [*source.groups.items()]:
            if self._existing(name, "group"):
                continue
            try:
                create_group(
                    dest.documents,
                    path=self._path(name),
                    zarr_format=self._format,
                    attributes=dict(attributes) or None,
                )
            except UNKEPT as error:
                source.drop(name, error)
        for name, one in [*source.arrays.items()]:
            if self._existing(name, "array"):
                self._arrays[name] = self._opened(name, one)
                continue
            try:
                self._arrays[name] = self._create(name, one)
            except (*UNKEPT, ValueError, TypeError) as error:
                is_unkept = isinstance(error, UnkeptError)
                why = str(error) if is_unkept else unkept(name, one, self._format)
                if not (why and source.groups):
                    told = f"{name}: {error}" if name else error
                    raise ConversionError(f"{source.name}: {told}") from None
                source.leave_out(name, why)
                del source.arrays[name]

    def _path(self, name: str) -> str:
        return "/".join(part for part in (self._dest.path, name) if part)

    def _existing(self, name: str, kind: str) -> bool:
        """Whether the destination has a node that the import adds to.

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            It is one of the other kind.
        """
        path = self._path(name)
        node = self._nodes.get(path)
        if node is not None and node.kind != kind:
            error = ContainsArrayError if node.kind == "array" else ContainsGroupError
            where = nodes.describe(self._dest.store, path)
            one, other = (f"a{'n' * (of == 'array')} {of}" for of in (node.kind, kind))
            raise error(f"{where} is {one}, and the source has {other} there")
        return node is not None

    def _opened(self, name: str, source_array: SourceArray) -> Any:
        """The array of the destination that gets the elements of one of the source."""
        array = open_node(self._dest.store, mode="r+", path=self._path(name))
        theirs = source_array.dtype
        is_same = (
            array.dtype.kind in "OT"
            if not isinstance(theirs, np.dtype)
            else (array.dtype.newbyteorder("=") == theirs.newbyteorder("="))
        )
        if tuple(array.shape) != tuple(source_array.shape) or not is_same:
            raise ConversionError(
                f"{self._source.name}: {name or 'the array'} has {source_array.shape} of {theirs}, "
                f"and {nodes.describe(self._dest.store, array.path)} {array.shape} of "
                f"{array.dtype}: into= writes elements of the same shape and dtype"
            )
        # What the source has not stored is its fill value, and not what is there.
        source_array.stored = None
        self._keeps[name], self._there = False, self._there | {name}
        return array

    def _natural_format(self) -> Literal[2, 3]:
        """The format of the hierarchy around; else 3 if it keeps all dtypes."""
        node = nodes.find(self._dest.store, self._dest.path) if self._dest.into else None
        if node is not None:
            return node.zarr_format
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

    def _create(self, name: str, source_array: SourceArray) -> Any:
        """The array of the destination; its document is in memory."""
        options = self._layout(name, source_array)
        attributes, fill = dict(source_array.attributes), source_array.fill_value
        if self._format == 3:
            if source_array.dimension_names is not None:
                options["dimension_names"] = source_array.dimension_names
            attributes = _cf.in_v3(attributes, source_array.dtype)
        else:
            if source_array.dimension_names is not None:
                attributes["_ARRAY_DIMENSIONS"] = list(source_array.dimension_names)
            fill = None if self._fills(name, source_array) else fill
        array = create_array(
            self._dest.documents,
            name=self._path(name),
            shape=source_array.shape,
            dtype=np.dtype(object) if source_array.dtype is object else source_array.dtype,
            fill_value=fill,
            zarr_format=self._format,
            attributes=attributes,
            chunk_store=self._dest.store,
            **options,
        )
        kept = isinstance(source_array.dtype, np.dtype) and array.dtype != source_array.dtype
        if kept and array.dtype.newbyteorder("=") != source_array.dtype.newbyteorder("="):
            raise UnkeptError(
                f"{source_array.dtype} would become {array.dtype} in v{self._format}; pass "
                "zarr_format=2"
            )
        return array

    def _layout(self, name: str, source_array: SourceArray) -> dict[str, Any]:
        """Chunks, shards and codecs, as the arguments of `create_array`."""
        asked = self._asked
        options: dict[str, Any] = {"order": source_array.order, "compressor": asked["compressor"]}
        kept = source_array.keepable if asked["keep_chunks"] else None
        self._keeps[name] = kept is not None
        if kept is not None:
            return options | kept_options(kept, self._format, source_array.dtype)
        options["chunks"], shards = _chunks(source_array, asked["chunks"]), asked["shards"]
        if asked["chunks"] is None:
            options["chunks"], found = layout(self._preset, source_array, options["chunks"])
            shards = found if shards is None and self._format == 3 else shards
        if shards is not None:
            options["shards"] = shards
        if asked["compressor"] == "auto":
            level = 9 if self._preset == "archive" else 5
            options["compressor"] = _compressor(source_array.dtype, level)
        return options

    def _fills(self, name: str, source_array: SourceArray) -> bool:
        """Whether an array of v2 has no fill value, because xarray would mask it.

        Chunks that the source has not stored are then stored with its fill value, if that is not 0.
        """
        if source_array.fill_is_mask:
            return False
        if source_array.stored is None or _is_zero(source_array.fill_value, source_array.dtype):
            return True
        stored = len([*source_array.stored()])
        if stored == count(source_array.shape, source_array.extent):
            return True
        there = stored * math.prod(source_array.extent) * source_array.itemsize
        if source_array.nbytes <= max(_MOST_FILLED, _FILLED_RATIO * there):
            source_array.stored, self._keeps[name] = None, False
            return True
        self._source.notes.append(
            f"{name}: it has {source_array.nbytes:,} bytes, of which few are stored, and keeps the "
            f"fill value {source_array.fill_value}, which xarray takes for missing values in v2"
        )
        return False

    def paths(self) -> list[str]:
        """The nodes of the destination, those above others first."""
        return sorted(map(self._path, {*self._source.groups, *self._source.arrays}))

    def describe(self, result: Conversion, dry_run: bool) -> None:
        """Say what will be made."""
        result.dry_run = dry_run
        result.left_out += self._source.left_out
        result.notes += [*self._source.notes, *self._source.left_out]
        for name, one in self._source.arrays.items():
            array = self._arrays[name]
            result.nbytes += one.nbytes
            how = "encoded anew"
            if name in self._there:
                how = "written into the array that exists"
            elif self._keeps[name]:
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
        work = {
            name: _work(one, steps[name])
            for name, one in self._source.arrays.items()
            if not self._keeps[name]
        }
        total = sum(map(len, work.values())) + len(self._arrays) - len(work)
        tell(0, total)
        decoded = {name: self._source.arrays[name] for name in work}
        read = _readers(self._source, decoded, steps)
        known: dict[str, int] = {}
        for name, one in [*self._source.arrays.items()]:
            stored: set[tuple[int, ...]] = set()
            if resumed and name not in self._there:
                stored = {tuple(coords) for _, coords in io_of(self._arrays[name]).stored_chunks()}
            if self._keeps[name] and one.keepable is not None:
                nbytes = store_parts(one.keepable, self._arrays[name], self._dest.store, stored)
                if nbytes is not None and not stored:
                    known[name] = nbytes
                result.done += 1
                tell(result.done + result.kept, total)
                continue
            try:
                for number in work[name]:
                    region = region_at(number, one.shape, steps[name])
                    self._copy_region(name, region, read[name], stored, result)
                    tell(result.done + result.kept, total)
            except UnkeptError as error:
                if not self._source.groups or name in self._there:
                    raise
                self._drop(name, error, result)
        result.stored_bytes = sum(self._stored(name, known.get(name)) for name in self._arrays)
        for name, largest in self._errors.items():
            result.notes.append(
                f"{name or 'the array'}: values are rounded by at most "
                f"{self._asked['max_error']:g}; the largest error is {largest:.3g}"
            )

    def _stored(self, name: str, chunks: int | None) -> int:
        """The stored bytes of an array; those of its ``chunks`` are asked for if they are None."""
        array = self._arrays[name]
        if chunks is None:
            return int(array.nbytes_stored)
        documents = self._dest.documents
        return chunks + int(documents._engine.size_prefix(documents.engine_path(array.path)))

    def _copy_region(
        self,
        name: str,
        region: Region,
        read: Callable[[Any], Any],
        stored: set[tuple[int, ...]],
        result: Conversion,
    ) -> None:
        if stored and stored.issuperset(chunks_of(region, self._unit(name))):
            result.kept += 1
        else:
            self._arrays[name][region] = self._rounded(name, read(region))
            result.done += 1

    def _drop(self, name: str, why: object, result: Conversion) -> None:
        """Leave out an array whose elements turned out to be of no data type of Zarr."""
        self._source.leave_out(name, why)
        result.left_out.append(self._source.left_out[-1])
        result.notes.append(self._source.left_out[-1])
        array = self._arrays.pop(name)
        result.nbytes -= self._source.arrays.pop(name).nbytes
        del result.arrays[name]
        self._dest.drop(array.path)

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
        return tuple(int(n) for n in metadata_of(self._arrays[name]).chunk_shape)

    def _step(self, name: str) -> tuple[int, ...]:
        one = self._source.arrays[name]
        budget = self._budget
        if one.is_sparse:
            budget = 1
        if _is_decoded_by_engine(one):
            # What is decoded is encoded while it is in the processor's cache, but every region
            # keeps all threads busy with several chunks.
            chunk = math.prod(one.chunks or ()) * one.itemsize
            budget = min(budget, max(_CACHED_REGION, _CHUNKS_OF_A_THREAD * config.threads * chunk))
        return step_of(
            one.shape, self._unit(name), one.chunks, one.itemsize, budget, rows=one.sequential
        )

    def verify(self, *, everything: bool) -> None:
        """Compare stored regions with what the libraries of the formats read."""
        for name, one in self._source.arrays.items():

            def changed(values: Any, name: str = name) -> Any:
                return self._rounded(name, values)

            shown = name or "the array"
            array = self._arrays[name]
            if self._keeps[name] and one.keepable is not None and one.keepable.files:
                verify_files(shown, array, one, one.keepable, everything=everything)
                continue
            verify(shown, array, one, changed, self._budget, everything=everything)


def _work(source_array: SourceArray, step: tuple[int, ...]) -> range | list[int]:
    """The numbers of the regions that have to be copied: those of which something is stored."""
    total = count(source_array.shape, step)
    if source_array.stored is None:
        return range(total)
    return stored_regions(source_array.shape, step, source_array.extent, source_array.stored())


def _is_zero(value: Any, dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and not any(np.asarray(value, dtype).tobytes())


def _readers(
    source: Source, arrays: Mapping[str, SourceArray], steps: Mapping[str, tuple[int, ...]]
) -> dict[str, Callable[[Any], Any]]:
    """How regions of each array are read: encoded chunks by the engine, with all threads."""
    found: dict[str, Callable[[Any], Any]] = {}
    store: FileStore | None = None
    for name, one in arrays.items():
        found[name] = stored_reader(one) if one.is_sparse else one.read
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


def _is_decoded_by_engine(source_array: SourceArray) -> bool:
    return source_array.encoded is not None and source_array.chunks is not None


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


def _fits_v3(dtype: Any) -> bool:
    """Whether v3 keeps a dtype, byte order included."""
    if not isinstance(dtype, np.dtype):
        return not str(dtype).startswith("array:")
    if dtype.names is not None:
        return all(_fits_v3(dtype[name]) and dtype[name].subdtype is None for name in dtype.names)
    return dtype.byteorder not in (">",) and dtype.kind != "O"


def _chunks(source_array: SourceArray, asked: Any) -> Any:
    if asked is not None:
        return asked
    size = math.prod(source_array.shape)
    if source_array.chunks is not None and size:
        nbytes = math.prod(source_array.chunks) * source_array.itemsize
        small = math.prod(source_array.chunks) >= size
        if _LEAST_CHUNK <= nbytes <= _MOST_CHUNK or small:
            return tuple(
                min(c, n) for c, n in zip(source_array.chunks, source_array.shape, strict=True)
            )
    return "1 MiB" if source_array.shape and size else (1,) * len(source_array.shape)


def _compressor(dtype: Any, level: int) -> Any:
    """The codec of a new array: Blosc for numbers, zstd for text."""
    # Import time: numcodecs is needed for no other import.
    from zarrix.codecs import Blosc, Zstd

    if not isinstance(dtype, np.dtype) or dtype.hasobject or dtype.kind in "SU":
        return Zstd(level=level)
    return Blosc(cname="zstd", clevel=level, shuffle=Blosc.BITSHUFFLE)
