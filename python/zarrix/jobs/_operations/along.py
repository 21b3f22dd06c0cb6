"""`statistics(axis=)`: statistics along axes, as arrays over the other axes.

A task writes one chunk of each array of the result. It reads the source in blocks whose shapes
depend on the source alone, and merges their moments in order, so that the bits of the result are
equal for every executor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from zarrix._array.access import metadata_of
from zarrix._array.array import Array
from zarrix._hierarchy.group import Group
from zarrix._nodes import nodes
from zarrix._runtime.cached_property import cached_property
from zarrix.jobs._operations.new_array import new_document
from zarrix.jobs._operations.task_size import task_bytes
from zarrix.jobs._running.documents import (
    array_documents,
    below,
    group_documents,
    opened,
    store_all,
)
from zarrix.jobs._running.job import Job
from zarrix.jobs._running.operation import Done, Operation, Setting, Stage, array_at, source_array
from zarrix.jobs._running.places import Place, digest_of
from zarrix.jobs._running.tiling import Region, Tiling, extent

__all__ = ["Along", "job_along"]

AnyArray = npt.NDArray[Any]

# A block is read at once, and a chunk of the result has about so many elements.
_BLOCK_BYTES = 8 << 20
_CHUNK = 1 << 16
NAMES = ("count", "nan_count", "min", "max", "mean", "std")


class Along(Operation):
    """Writes arrays of statistics along axes."""

    kind = "along"

    @cached_property
    def _source(self) -> Array:
        return source_array(self.places["source"], self.parameters["digest"])

    @cached_property
    def _dest(self) -> dict[str, Array]:
        place = self.places["destination"]
        documents = self.parameters["documents"]
        return {name: array_at(below(place, name), told) for name, told in documents.items()}

    @cached_property
    def _tiling(self) -> Tiling:
        return Tiling.of(metadata_of(self._dest["mean"]))

    @property
    def stages(self) -> Sequence[Stage]:
        """One stage."""
        told, tiling = self.parameters, self._tiling
        region = extent(tiling.region(0)) if len(tiling) else ()
        itemsize = np.dtype(told["dtype"]).itemsize
        return [
            Stage(
                "read",
                len(tiling),
                tiling.region,
                region,
                9 * min(_BLOCK_BYTES, math.prod(told["shape"]) * itemsize) + 64 * math.prod(region),
                math.prod(told["shape"]) * itemsize,
                sum(one.nbytes for one in self._dest.values()),
                puts=len(NAMES) * len(tiling),
            )
        ]

    def check(self) -> None:
        """The source must be the one that was planned for."""
        source_array(self.places["source"], self.parameters["digest"])

    def begin(self) -> None:
        """Check that the parents of the destination are groups."""
        store, path = self.places["destination"][:2]
        nodes.require_parents(store, path, self.parameters["format"])

    def run(self, stage: int, number: int) -> Done:
        """Read all that lies along the axes of a region, and write its statistics."""
        told, region = self.parameters, self._tiling.region(number)
        axes = tuple(told["axes"])
        state = _Moments(extent(region), np.dtype(told["dtype"]))
        bytes_in = 0
        for inside in self._blocks(region, axes):
            block = np.asarray(self._source[inside])
            bytes_in += block.nbytes
            state.add(block, axes, told["skip"], self._source.fill_value)
        found, bytes_out = state.found(), 0
        for name, dest in self._dest.items():
            self.before_writing()
            dest[region] = found[name]
            bytes_out += found[name].nbytes
        return Done(None, bytes_in, bytes_out)

    def _blocks(self, region: Region, axes: Sequence[int]) -> Iterator[Region]:
        """The parts of the source along the axes, in C order."""
        told = self.parameters
        kept = iter(region)
        whole = [
            slice(0, n) if axis in axes else next(kept) for axis, n in enumerate(told["shape"])
        ]
        lengths = [part.stop - part.start for part in whole]
        size = math.prod(lengths) * np.dtype(told["dtype"]).itemsize
        for axis in axes:
            # Whole chunks, of which as many as fit into a block.
            chunk = max(1, told["chunk"][axis])
            others = size // max(1, lengths[axis])
            most = max(1, _BLOCK_BYTES // max(1, others) // chunk) * chunk
            lengths[axis] = min(lengths[axis], most)
            size = others * lengths[axis]
        counts = [
            -(-(part.stop - part.start) // length) if length else 0
            for part, length in zip(whole, lengths, strict=True)
        ]
        for at in np.ndindex(*counts):
            yield tuple(
                slice(part.start + i * length, min(part.start + (i + 1) * length, part.stop))
                for i, part, length in zip(at, whole, lengths, strict=True)
            )

    def finish(self, values: Sequence[Mapping[int, Any]]) -> Group:
        """Store the documents."""
        self.check()
        place = self.places["destination"]
        documents = [
            (name, array_documents(below(place, name), told, {}))
            for name, told in self.parameters["documents"].items()
        ]
        group = group_documents(self.parameters["format"], self.parameters["attributes"])
        store_all(place, [*documents, ("", group)])
        made = opened(place)
        assert isinstance(made, Group)
        return made

    def read_places(self) -> Mapping[str, Place]:
        """The array."""
        return {"source": self.places["source"]}

    @property
    def marked(self) -> Place | None:
        """The first array."""
        return below(self.places["destination"], NAMES[0])

    def explain(self) -> Iterator[str]:
        """The arrays of the result."""
        yield f"{', '.join(NAMES)} along the axes {tuple(self.parameters['axes'])}"


class _Moments:
    """The moments of the elements along axes, for each place of the other axes."""

    def __init__(self, shape: Sequence[int], dtype: np.dtype[Any]) -> None:
        self._dtype = dtype.newbyteorder("=")
        self._count = np.zeros(shape, np.int64)
        self._nans = np.zeros(shape, np.int64)
        self._mean = np.zeros(shape)
        self._squares = np.zeros(shape)
        least, largest = _limits(self._dtype)
        self._min = np.full(shape, largest, self._dtype)
        self._max = np.full(shape, least, self._dtype)

    def add(self, block: AnyArray, axes: tuple[int, ...], skip: str, fill: Any) -> None:
        """Add a block; Chan's formulas merge its means with those before."""
        block = block.astype(self._dtype, copy=False)
        counts = np.ones(block.shape, bool)
        if self._dtype.kind == "f":
            is_nan = np.isnan(block)
            self._nans += is_nan.sum(axes)
            if skip != "none":
                counts &= ~is_nan
        if skip == "fill" and fill is not None and fill == fill:
            counts &= block != fill
        count = counts.sum(axes)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            wide = np.where(counts, block, 0).astype(np.float64)
            some = np.maximum(count, 1)
            mean = wide.sum(axes) / some
            wide -= np.expand_dims(mean, axes)
            squares = np.where(counts, wide * wide, 0.0).sum(axes)
            total = np.maximum(self._count + count, 1)
            apart = np.where(self._count > 0, mean - self._mean, 0.0)
            squares += np.where(count > 0, apart * apart * self._count * count / total, 0.0)
            self._squares += squares
            merged = self._mean + np.where(count > 0, apart * count / total, 0.0)
            self._mean = np.where((self._count == 0) & (count > 0), mean, merged)
        self._count += count
        least, largest = _limits(self._dtype)
        self._min = np.minimum(self._min, np.where(counts, block, largest).min(axes))
        self._max = np.maximum(self._max, np.where(counts, block, least).max(axes))

    def found(self) -> dict[str, AnyArray]:
        """The arrays by name; without elements NaN, or 0 in arrays of integers."""
        empty = self._count == 0
        nothing = self._dtype.type(np.nan if self._dtype.kind == "f" else 0)
        mean = self._mean
        with np.errstate(invalid="ignore"):
            std = np.sqrt(self._squares / np.maximum(self._count, 1))
            if self._dtype.kind == "f":
                # Differences of infinities are NaN; the extremes tell the mean.
                ends = [np.where(np.isinf(one), one, 0.0) for one in (self._min, self._max)]
                infinite = (ends[0] != 0) | (ends[1] != 0)
                mean = np.where(infinite, ends[0] + ends[1], mean)
                std = np.where(infinite, np.nan, std)
        return {
            "count": self._count,
            "nan_count": self._nans,
            "min": np.where(empty, nothing, self._min),
            "max": np.where(empty, nothing, self._max),
            "mean": np.where(empty, np.nan, mean),
            "std": np.where(empty, np.nan, std),
        }


def _limits(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    if dtype.kind == "f":
        return dtype.type(-np.inf), dtype.type(np.inf)
    if dtype.kind == "b":
        return np.False_, np.True_
    info = np.iinfo(dtype)
    return dtype.type(info.min), dtype.type(info.max)


def job_along(
    array: Array, source: Place, dest: Place, axis: Any, skip: str, *, overwrite: bool
) -> Job:
    """The job of `statistics(axis=)`.

    Raises
    ------
    ValueError
        An axis does not exist, or is named twice.
    """
    axes = _axes(axis, array)
    kept = [at for at in range(array.ndim) if at not in axes]
    shape = tuple(array.shape[at] for at in kept)
    chunk = metadata_of(array).inner_chunk_shape
    names = metadata_of(array).dimension_names if array.zarr_format == 3 else None
    dtypes = dict.fromkeys(NAMES, "f8") | dict.fromkeys(NAMES[:2], "i8")
    dtypes |= dict.fromkeys(("min", "max"), array.dtype.newbyteorder("=").str)
    chunks = _chunk_of(shape, [max(1, chunk[at]) for at in kept])
    documents = {
        name: new_document(
            None,
            array.zarr_format,
            {"chunks": chunks or None},
            shape=shape,
            dtype=dtypes[name],
            dimension_names=None if names is None else [names[at] for at in kept],
        )
        for name in NAMES
    }
    parameters = {
        "digest": digest_of(metadata_of(array)),
        "format": array.zarr_format,
        "shape": list(array.shape),
        "chunk": list(chunk),
        "dtype": array.dtype.str,
        "axes": axes,
        "skip": skip,
        "documents": documents,
        "attributes": {"statistics": {"axes": axes, "skip": skip}},
    }
    return Job(
        "along", Setting(parameters, {"source": source, "destination": dest}), overwrite=overwrite
    )


def _axes(axis: Any, array: Array) -> list[int]:
    """The numbers of axes that are given by number or name."""
    names = metadata_of(array).dimension_names if array.zarr_format == 3 else None
    found = []
    for one in axis if isinstance(axis, tuple | list) else (axis,):
        if isinstance(one, str) and names is not None and one in names:
            found.append(list(names).index(one))
        elif isinstance(one, int) and -array.ndim <= one < array.ndim:
            found.append(one % array.ndim)
        else:
            known = ", ".join(map(repr, names)) if names else f"0 to {array.ndim - 1}"
            raise ValueError(f"axis={axis!r}; the axes of {array!r} are {known}")
    if not found or len(set(found)) != len(found):
        raise ValueError(f"axis={axis!r}; name each axis once")
    return sorted(found)


def _chunk_of(shape: Sequence[int], chunk: Sequence[int]) -> tuple[int, ...]:
    """Chunks of the result: whole chunks of the source, as many as are worth a file."""
    lengths = [min(n, length) if n else 1 for n, length in zip(shape, chunk, strict=True)]
    most = task_bytes(math.prod(shape) * 8, _CHUNK * 8) // 8
    for axis in reversed(range(len(lengths))):
        times = max(1, most // math.prod(lengths))
        lengths[axis] = max(1, min(shape[axis], lengths[axis] * times))
        if lengths[axis] < shape[axis]:
            break
    return tuple(lengths)
