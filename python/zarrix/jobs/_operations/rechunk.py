"""`rechunk`: arrays with other chunks, shards, codecs or data type, in passes that fit into memory.

A pass reads any regions of its input and writes whole shards of an intermediate, or whole stored
values of the destination. Intermediates are in the folder of the job, or below ``temp=``. A chunk
that is missing there is an error and not the fill value: a task that comes back after they have
been removed writes nothing.

`rechunk` has more than six parameters, because each is a choice of its user, by name.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from zarrix._array.access import ArrayOptions, io_of, is_made_of_boxes, metadata_of, opened_at
from zarrix._array.array import Array
from zarrix._array.create_array import create_array, from_array
from zarrix._array.dimension_names import names_of
from zarrix._codecs.classes import BloscCodec
from zarrix._dtypes.rounding import check_max_error, kept_values, rounded, rounds
from zarrix._dtypes.variable import is_variable
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.literals import Format
from zarrix._nodes import nodes
from zarrix._nodes.location import Location
from zarrix._runtime.cached_property import cached_property
from zarrix._runtime.config import config
from zarrix._runtime.signatures import takes
from zarrix._runtime.sizes import parse_size
from zarrix._stores.keys import JOB_FOLDER, key_of
from zarrix._stores.memory import MemoryStore
from zarrix._stores.zip import ZipStore
from zarrix.jobs._operations.encoded import is_encoded_alike
from zarrix.jobs._operations.new_array import lengths_by_name
from zarrix.jobs._operations.planner import Plan, Problem, Rates, choose, rates_of
from zarrix.jobs._operations.region_memory import RegionMemory
from zarrix.jobs._running.documents import (
    array_documents,
    below,
    consolidated_as,
    group_documents,
    opened,
    store_all,
    walk,
)
from zarrix.jobs._running.folder import folder_of_run
from zarrix.jobs._running.job import Job
from zarrix.jobs._running.operation import (
    Done,
    Operation,
    Setting,
    Stage,
    array_at,
    check_sources,
    source_array,
)
from zarrix.jobs._running.places import Place, digest_of, place_of
from zarrix.jobs._running.run import Running, run_or_plan
from zarrix.jobs._running.tiling import Region, Tiling, extent

__all__ = ["Rechunk", "rechunk"]

_MEMORY = 512 << 20
# Text and objects have no item size; most are shorter.
_VARIABLE_BYTES = 64


class Rechunk(Operation):
    """Arrays of a hierarchy, each with a number of passes of its own."""

    kind = "rechunk"

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._memory = RegionMemory()
        self._arrays = [_Passes(self, one) for one in self.parameters["arrays"]]
        self._count = max((len(one.tilings) for one in self._arrays), default=0)
        self._firsts = []
        for stage in range(self._count):
            firsts = [0]
            for one in self._arrays:
                count = len(one.tilings[stage]) if stage < len(one.tilings) else 0
                firsts.append(firsts[-1] + count)
            self._firsts.append(firsts)

    @property
    def stages(self) -> Sequence[Stage]:
        """One for each pass; that of a hierarchy has the tasks of all arrays."""
        return [self._stage(at) for at in range(self._count)]

    def _stage(self, at: int) -> Stage:
        passes = [one.passes[at] for one in self._arrays if at < len(one.passes)]
        widest = max(passes, key=lambda one: one["memory"])
        name = "rechunk" if self._count == 1 else f"pass {at + 1} of {self._count}"

        def region(number: int) -> Region:
            one, own = self._task(at, number)
            return one.tilings[at].region(own)

        return Stage(
            name,
            self._firsts[at][-1],
            region,
            tuple(widest["region"]),
            widest["memory"],
            sum(one["bytes_in"] for one in passes),
            sum(one["bytes_out"] for one in passes),
            sum(one["gets"] for one in passes),
            sum(one["puts"] for one in passes),
        )

    def _task(self, stage: int, number: int) -> tuple[_Passes, int]:
        firsts = self._firsts[stage]
        at = next(i for i in range(len(self._arrays)) if number < firsts[i + 1])
        return self._arrays[at], number - firsts[at]

    def check(self) -> None:
        """Every array must be the one that was planned for."""
        check_sources(self.places["source"], {one.path: one.digest for one in self._arrays})

    def check_task(self, stage: int, number: int) -> None:
        """The array of a task, if the task has read it."""
        if stage == 0:
            one, _ = self._task(stage, number)
            source_array(below(self.places["source"], one.path), one.digest)

    def begin(self) -> None:
        """Create the groups above the destination, or raise an error if one is an array."""
        store, path = self.places["destination"][:2]
        nodes.require_parents(store, path, self.parameters["format"])

    def run(self, stage: int, number: int) -> Done:
        """Read a region of a pass and write it."""
        one, own = self._task(stage, number)
        if one.moves:
            dest = one.array(1)
            values = list(one.tilings[stage].coords(own))
            self.before_writing()
            moved = io_of(dest).regroup(io_of(one.array(0)), values, dest.chunk_store.syncs)
            return Done(None, moved, moved)
        region = one.tilings[stage].region(own)
        source, shape = one.array(stage), extent(region)
        memory = self._memory.array(shape, source.dtype)
        if memory is None:
            elements = np.asarray(source[region]).reshape(shape)
        else:
            elements = source.get_basic_selection(region, out=memory)
        if one.max_error is not None and stage == len(one.tilings) - 1:
            elements, _ = rounded(elements, one.max_error, one.kept)
        self.before_writing()
        one.array(stage + 1)[region] = elements
        moved = math.prod(shape) * max(1, elements.dtype.itemsize)
        return Done(None, moved, moved)

    def finish(self, values: Sequence[Mapping[int, Any]]) -> Any:
        """Store the documents, with the attributes that the source has now."""
        self.check()
        source, dest = self.places["source"], self.places["destination"]
        zarr_format: Format = self.parameters["format"]
        found = []
        for path in self.parameters["groups"]:
            group = opened(below(source, path))
            found.append((path, group_documents(zarr_format, group.attrs.asdict())))
        for one in self._arrays:
            attributes = one.array(0).attrs.asdict()
            found.append((one.path, array_documents(dest, one.document, attributes)))
        store_all(dest, found)
        consolidated_as(source, dest, zarr_format)
        return opened(dest)

    def read_places(self) -> Mapping[str, Place]:
        """Every array."""
        return {
            one.path or "source": below(self.places["source"], one.path) for one in self._arrays
        }

    @property
    def marked(self) -> Place | None:
        """The first array."""
        arrays = self._arrays
        return below(self.places["destination"], arrays[0].path) if arrays else None

    def explain(self) -> Iterator[str]:
        """The candidates that were compared."""
        for one in self._arrays:
            name = f"{one.path}: " if one.path else ""
            if one.moves:
                yield f"{name}encoded chunks are moved into other stored values; none is decoded"
                continue
            estimates = [f"{passes} in {seconds:.3g} s" for passes, seconds in one.candidates]
            read = one.passes[0]["amplification"] if one.passes else 1
            yield (
                f"{name}the source is read x {read:.2f}; estimated for one worker by number of "
                f"passes: {', '.join(estimates)}"
            )


class _Passes:
    """The passes of one array: what each reads and writes."""

    def __init__(self, job: Rechunk, parameters: Mapping[str, Any]) -> None:
        self._job, self._places = job, job.places
        self.path: str = parameters["path"]
        self.digest: str = parameters["digest"]
        self.document: Mapping[str, Any] = parameters["document"]
        self.passes: Sequence[Mapping[str, Any]] = parameters["passes"]
        self.candidates: Sequence[tuple[int, float]] = parameters["candidates"]
        self._cast: bool = parameters["cast"]
        self.max_error: float | None = parameters.get("max_error")
        # Whether encoded chunks only move into other stored values.
        self.moves: bool = parameters["moves"]
        self._arrays: dict[int, Array] = {}

    def array(self, at: int) -> Array:
        """What pass ``at`` reads: the source, an intermediate; or at last the destination."""
        found = self._arrays.get(at)
        if found is None:
            found = self._arrays[at] = self._opened(at)
        return found

    def _opened(self, at: int) -> Array:
        if at == 0:
            source = source_array(below(self._places["source"], self.path), self.digest)
            return source.astype(self._dest.dtype) if self._cast else source
        if at == len(self.passes):
            return array_at(
                below(self._places["destination"], self.path),
                self.document,
                write_empty_chunks=False,
            )
        place = below(self._temporary, f"pass-{at}{'-' if self.path else ''}{self.path}")
        described = self.passes[at - 1]
        document = _intermediate(self._dest, described["region"], described["inner"])
        return array_at(place, document, write_empty_chunks=True, read_missing_chunks=False)

    @property
    def _temporary(self) -> Place:
        found = self._job.intermediates(self._job.run_name)
        if found is not None:
            return found
        here = self._places["destination"]._replace(chunk_store=None)
        return below(here, key_of(JOB_FOLDER, folder_of_run(self._job.run_name)))

    @cached_property
    def kept(self) -> list[float]:
        """The values that are not rounded, because they mean that one is missing."""
        return kept_values(self._dest.fill_value, self.array(0).attrs.asdict())

    @cached_property
    def _dest(self) -> ArrayMetadata:
        return metadata_of(array_at(self._places["destination"], self.document))

    @cached_property
    def tilings(self) -> list[Tiling]:
        """The regions of each pass."""
        found = []
        for at, described in enumerate(self.passes):
            if at == len(self.passes) - 1:
                found.append(Tiling.of(self._dest, described["units"]))
            else:
                document = _intermediate(self._dest, described["region"], described["inner"])
                place = Place(MemoryStore(), "")
                found.append(Tiling.of(metadata_of(array_at(place, document))))
        return found


def _intermediate(
    dest: ArrayMetadata, shard: Sequence[int], inner: Sequence[int]
) -> Mapping[str, Any]:
    """The document of an intermediate: shards with inner chunks that are compressed fast.

    Less is written and read again, and buffers are smaller: a rechunk of noisy floating-point
    values takes 25 % less processor time than with chunks that are not compressed.
    """
    shuffle = "shuffle" if dest.dtype.itemsize > 1 else "noshuffle"
    made = create_array(
        MemoryStore(),
        shape=dest.shape,
        dtype=dest.dtype,
        chunks=tuple(inner),
        shards=tuple(shard),
        compressors=BloscCodec(cname="lz4", clevel=1, shuffle=shuffle),
        fill_value=dest.fill_value,
        zarr_format=3,
    )
    return metadata_of(made)._document()


@takes(Running, like=Job.run)
def rechunk(
    source: Any,
    dest: Any,
    *,
    chunks: Any = None,
    shards: Any = None,
    compressors: Any = "keep",
    dtype: Any = None,
    max_error: float | None = None,
    zarr_format: Format | None = None,
    max_memory: Any = _MEMORY,
    passes: int | None = None,
    temp: Any = None,
    rates: Mapping[str, float] | None = None,
    overwrite: bool = False,
    run: bool = True,
    **running: Unpack[Running],
) -> Any:
    """Store an array, or all arrays of a group, with other chunks, in bounded memory.

    The planner chooses the number of passes, and the region of a task in each, by a cost model;
    ``run=False`` shows them. Where only shards change, encoded chunks are moved, and not decoded.
    The result becomes visible when it is complete. After an interruption, the same call goes on.

    Parameters
    ----------
    source : Array, Group, Store, str or Path
    dest : Store, str or Path
        Where nothing is stored yet.
    chunks : tuple of int, mapping or callable, optional
        As in `create_array`; -1 is the whole axis. A mapping has lengths by the names of
        dimensions, or for a group one of these by path; a callable gets the array. Those of the
        source when omitted.
    shards : tuple of int, mapping or callable, optional
        In the same forms. None when ``chunks`` is passed, otherwise those of the source.
    compressors : codec or iterable of codecs, optional
        As in `create_array`; those of the source when omitted.
    dtype : dtype, optional
        Elements are cast as by ``astype``.
    max_error : float, optional
        Round floating-point numbers so that each stays within this distance; the last bits become
        zeros, which compress better. Fill values are kept.
    zarr_format : {2, 3}, optional
        That of the source when omitted; 3 with ``shards``.
    max_memory : int or str
        The memory of a task, such as ``"2 GiB"``.
    passes : int, optional
        The number of passes, instead of the planner's choice.
    temp : Store, str or Path, optional
        Where intermediates are, in a folder of their own that is removed at the end; in a folder
        of the destination when omitted.
    rates : mapping, optional
        Overrides of the planner's estimates: ``bandwidth`` and ``codecs`` in bytes a second,
        ``latency`` in seconds, ``concurrency``, ``gets`` and ``puts`` a second, ``workers``.
    overwrite : bool
        Replace what is at ``dest``.
    run : bool
        False returns the `Job` with its plan, and changes nothing.
    **running
        As for `Job.run`: executor, resume, retries, patience and progress.

    Returns
    -------
    Array or Group, or Job
        The result; the job with ``run=False``.

    Raises
    ------
    JobError
        No plan fits into ``max_memory``; it says how much the smallest one needs.
    ContainsArrayError
        Something is at ``dest``.
    JobFailed, JobInterrupted
        As from `Job.run`.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.create_array("steps.zarr", shape=(400, 60), chunks=(1, 60), dtype="f4")
    >>> z[:] = 1.0
    >>> series = zarr.jobs.rechunk("steps.zarr", "series.zarr", chunks=(400, 6))
    >>> series.chunks, float(series[:, 3].sum())
    ((400, 6), 400.0)
    """
    places = {"source": place_of(source), "destination": place_of(dest)}
    if temp is not None:
        places["temporary"] = place_of(temp)
    if passes is not None and (isinstance(passes, bool) or not 1 <= passes <= 4):
        raise ValueError(f"passes={passes!r}; expected 1 to 4, or None")
    if isinstance(places["destination"].store, ZipStore) and temp is None:
        # Members of an archive cannot be removed.
        passes = passes or 1
    if zarr_format is None and shards is not None:
        zarr_format = 3
    target = _Target(chunks, shards, compressors, dtype, zarr_format, check_max_error(max_error))
    stores = [places[name].chunks for name in ("source", "destination")]
    known = rates_of(rates, any(store.is_remote for store in stores))
    limits = _Limits(parse_size(max_memory, "max_memory"), passes, known)
    parameters = _planned(places["source"], target, limits)
    job = Job("rechunk", Setting(parameters, places), overwrite=overwrite)
    return run_or_plan(job, run, **running)


class _Target(NamedTuple):
    """What the arrays are to be like, as `rechunk` was told."""

    chunks: Any
    shards: Any
    compressors: Any
    dtype: Any
    zarr_format: Format | None
    max_error: float | None

    def document(self, source: Array, path: str) -> dict[str, Any]:
        """The document of the result of one array."""
        chunks = _lengths(self.chunks, source, path, "chunks")
        shards = _lengths(self.shards, source, path, "shards")
        options: dict[str, Any] = {"compressors": self.compressors}
        if chunks is not None:
            options["chunks"] = chunks
        if chunks is not None or shards is not None:
            options["shards"] = shards
        if (self.zarr_format or source.zarr_format) == 2:
            options.pop("shards", None)
        made = from_array(
            MemoryStore(),
            data=source if self.dtype is None else source.astype(self.dtype),
            write_data=False,
            zarr_format=self.zarr_format or source.zarr_format,
            attributes={},
            **options,
        )
        return metadata_of(made)._document()


def _lengths(rule: Any, source: Array, path: str, name: str) -> Any:
    """The lengths of chunks or shards for one array; None to keep them."""
    if callable(rule):
        rule = rule(source)
    if isinstance(rule, Mapping):
        if not rule or not all(isinstance(one, int) for one in rule.values()):
            return _lengths(rule.get(path), source, path, name)
        names = names_of(source)
        if path and {*rule} - {*names}:
            # Arrays of a group without these dimensions keep their lengths.
            return None
        rule = lengths_by_name(rule, names, source.shape, name)
    if isinstance(rule, tuple | list) and all(isinstance(n, int | np.integer) for n in rule):
        if len(rule) != source.ndim:
            raise ValueError(
                f"{name}: {tuple(rule)} does not have one length for each axis of an array of "
                f"shape {source.shape}"
            )
        return tuple(
            max(1, n) if length == -1 else int(length)
            for length, n in zip(rule, source.shape, strict=True)
        )
    return rule


class _Limits(NamedTuple):
    """What a plan has to observe.

    Attributes
    ----------
    max_memory : int
        The bytes of a task.
    passes : int, optional
        The number of passes, if it is not the planner's choice.
    rates : Rates
    """

    max_memory: int
    passes: int | None
    rates: Rates


def _planned(source: Place, target: _Target, limits: _Limits) -> dict[str, Any]:
    """The parameters of the job: every array with its passes, and the groups."""
    nodes_of = dict(walk(source))
    arrays = []
    for path, node in nodes_of.items():
        if node.kind == "array":
            there = below(source, path)
            location = Location(there.store, there.path, None, there.chunk_store)
            array = opened_at(location, node, ArrayOptions(read_only=True))
            arrays.append({"path": path, **_planned_array(array, path, target, limits)})
    groups = [path for path, node in nodes_of.items() if node.kind == "group"]
    zarr_format = target.zarr_format or nodes_of[""].zarr_format
    return {"format": zarr_format, "groups": groups, "arrays": arrays}


def _planned_array(array: Array, path: str, target: _Target, limits: _Limits) -> dict[str, Any]:
    """The passes of one array, the result, and what else tasks have to know."""
    document = target.document(array, path)
    dest = metadata_of(array_at(Place(MemoryStore(), ""), document))
    cast = dest.dtype != array.dtype
    itemsize = max(_itemsize(metadata_of(array)), _itemsize(dest))
    problem = Problem(
        array.shape,
        itemsize * (2 if cast else 1),
        metadata_of(array).inner_chunk_shape,
        metadata_of(array).chunk_shape,
        _lengths_of(dest),
        limits.max_memory,
        config.threads,
        limits.rates,
    )
    # Elements without a fixed size have no intermediates.
    max_error = target.max_error if rounds(dest.dtype) else None
    can_move = max_error is None and limits.passes in (None, 1)
    can_move = can_move and not is_made_of_boxes(array)
    moves = can_move and is_encoded_alike(metadata_of(array), dest)
    passes = 1 if moves or is_variable(dest.dtype) else limits.passes
    plan, others = choose(problem, passes)
    return {
        "digest": digest_of(metadata_of(array)),
        "document": document,
        "cast": cast,
        "max_error": max_error,
        "moves": moves,
        "passes": _described(plan, dest),
        "candidates": [[len(one.passes), round(one.seconds, 4)] for one in others],
    }


def _itemsize(metadata: ArrayMetadata) -> int:
    return _VARIABLE_BYTES if is_variable(metadata.dtype) else metadata.dtype.itemsize


def _lengths_of(metadata: ArrayMetadata) -> tuple[int, ...]:
    """Stored values along each axis: one length, the longest of a rectilinear grid."""
    return tuple(max(1, length) for length in metadata.chunk_shape)


def _described(plan: Plan, dest: ArrayMetadata) -> list[dict[str, Any]]:
    """The passes as JSON values."""
    described: list[dict[str, Any]] = [
        {
            "region": list(one.region),
            "inner": None if one.inner is None else list(one.inner),
            "memory": one.memory,
            "amplification": round(one.amplification, 3),
            "gets": one.gets,
            "puts": one.puts,
            "bytes_in": one.bytes_in,
            "bytes_out": one.bytes_out,
        }
        for one in plan.passes
    ]
    last = described[-1]
    lengths = _lengths_of(dest)
    last["units"] = [-(-r // w) for r, w in zip(plan.passes[-1].region, lengths, strict=True)]
    last["region"] = [
        min(r, n) if n else r for r, n in zip(plan.passes[-1].region, dest.shape, strict=True)
    ]
    return described
