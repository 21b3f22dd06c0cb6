"""`map_chunks`: a function of blocks of arrays, for each stored value of a new array.

The function is called for one stored value at a time: what it gets does not depend on the plan,
the memory or the number of workers. A task is a call, or a box of calls where values are many and
small.

`map_chunks` has more than six parameters, because each is a choice of its user, by name.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from zarrix._array.access import metadata_of
from zarrix._array.array import Array
from zarrix._errors import JobError
from zarrix._nodes import nodes
from zarrix._runtime.cached_property import cached_property
from zarrix._runtime.signatures import takes
from zarrix.jobs._operations.halo import BOUNDARIES, halo_of, read_with_halo, trimmed
from zarrix.jobs._operations.new_array import new_document, write_unit
from zarrix.jobs._running.documents import array_documents, opened, store_all
from zarrix.jobs._running.identity import function_identity, name_of
from zarrix.jobs._running.job import Job
from zarrix.jobs._running.operation import Done, Operation, Setting, Stage, array_at, source_array
from zarrix.jobs._running.places import Place, digest_of, place_of
from zarrix.jobs._running.run import Running, run_or_plan
from zarrix.jobs._running.sent import Sent, checked, named
from zarrix.jobs._running.tiling import Region, Tiling, extent

__all__ = ["MapChunks", "Where", "map_chunks"]

Function = Callable[..., Any]

# The values of a task are at most so many bytes. There are at least so many tasks, because it is
# not known how long the function takes.
_TASK_BYTES = 8 << 20
_TASKS = 1024


@dataclass(frozen=True)
class Where:
    """What a function of blocks is told about its call, if it has a parameter of that name.

    Attributes
    ----------
    region : tuple of slice
        The elements of the destination that the call computes.
    halo : tuple of (int, int)
        The elements before and after the region along each axis that the blocks have, too.
    number : int
        The number of the call, from 0.
    seed : int
        For a random generator: differs from call to call, and is equal in every run of the job.

    Examples
    --------
    >>> import zarrix as zarr
    >>> def first(block, where):
    ...     return block * 0 + where.region[0].start
    >>> z = zarr.array(range(5), chunks=2)
    >>> zarr.jobs.map_chunks(first, z, dest="first.zarr")[:]
    array([0, 0, 2, 2, 4])
    """

    region: Region
    halo: tuple[tuple[int, int], ...]
    number: int
    seed: int


class MapChunks(Operation):
    """Calls a function for each stored value of the destination."""

    kind = "map"

    @cached_property
    def _function(self) -> Function:
        function: Function = self.setting.objects["function"].function
        return function

    @cached_property
    def _dest(self) -> Array:
        return array_at(self.places["destination"], self.parameters["document"])

    @cached_property
    def _values(self) -> Tiling:
        """Regions of one stored value: those of the calls."""
        return Tiling.of(metadata_of(self._dest))

    @cached_property
    def _tiling(self) -> Tiling:
        return Tiling.of(metadata_of(self._dest), self.parameters["units"])

    @cached_property
    def _sources(self) -> list[Array]:
        digests = enumerate(self.parameters["digests"])
        return [source_array(self.places[f"source{n}"], digest) for n, digest in digests]

    @cached_property
    def _halo(self) -> tuple[tuple[int, int], ...]:
        return tuple((before, after) for before, after in self.parameters["halo"])

    @property
    def stages(self) -> Sequence[Stage]:
        """One stage: a task for some stored values."""
        told = self.parameters
        return [
            Stage(
                "map",
                len(self._tiling),
                self._tiling.region,
                write_unit(self._dest),
                told["memory"],
                told["bytes_in"],
                self._dest.nbytes,
                told["gets"],
                len(self._values),
            )
        ]

    def check(self) -> None:
        """The sources must be those that were planned for."""
        for number, digest in enumerate(self.parameters["digests"]):
            source_array(self.places[f"source{number}"], digest)

    def begin(self) -> None:
        """Check that the parents of the destination are groups."""
        store, path = self.places["destination"][:2]
        nodes.require_parents(store, path, self._dest.zarr_format)

    def run(self, stage: int, number: int) -> Done:
        """Call the function for each stored value of the task."""
        calls = [self._call(self._values.number(at)) for at in self._tiling.coords(number)]
        return Done(None, sum(one for one, _ in calls), sum(one for _, one in calls))

    def _call(self, number: int) -> tuple[int, int]:
        """Read the blocks, call the function, and write what it returns; the bytes in and out."""
        region, boundary = self._values.region(number), self.parameters["boundary"]
        blocks = [read_with_halo(one, region, self._halo, boundary) for one in self._sources]
        shape, bytes_in = blocks[0].shape, sum(block.nbytes for block in blocks)
        more = {}
        if self.parameters["where"]:
            seeds = np.random.SeedSequence(self.parameters["seed"], spawn_key=(number,))
            seed = int(seeds.generate_state(1, np.uint64)[0])
            more["where"] = Where(region, self._halo, number, seed)
        result = np.asarray(self._function(*blocks, **more))
        if result.shape == extent(region):
            pass
        elif result.shape == shape:
            result = trimmed(result, region, self._halo, boundary)
        else:
            raise ValueError(
                f"the function returned the shape {result.shape} for the region {region}; expected "
                f"{extent(region)}, or {shape} with the halo"
            )
        self.before_writing()
        self._dest[region] = result
        return bytes_in, result.nbytes

    def finish(self, values: Sequence[Mapping[int, Any]]) -> Array:
        """Store the document."""
        self.check()
        dest = self.places["destination"]
        store_all(dest, [("", array_documents(dest, self.parameters["document"], {}))])
        made = opened(dest)
        assert isinstance(made, Array)
        return made

    def check_plan(self) -> None:
        """The result has the shape of the sources."""
        shapes = {one.shape for one in self._sources}
        if shapes != {self._dest.shape}:
            raise JobError(f"the job says {self._dest.shape}, and its sources are {shapes}")

    def read_places(self) -> Mapping[str, Place]:
        """The arrays whose blocks the function gets."""
        return {name: self.places[name] for name in self.places if name != "destination"}

    @classmethod
    def objects_of(
        cls, parameters: Mapping[str, Any], function: Any, modules: Sequence[str]
    ) -> dict[str, Any]:
        """The function of the job."""
        name = parameters["function"] if parameters["is_named"] else None
        return {"function": checked(parameters, function, modules, name=name)}

    def explain(self) -> Iterator[str]:
        """What is called how often."""
        yield f"{self.parameters['function']} is called once for each stored value"


@takes(Running, like=Job.run)
def map_chunks(
    function: Function | str,
    *sources: Any,
    dest: Any,
    dtype: Any = None,
    chunks: Any = None,
    shards: Any = None,
    compressors: Any = None,
    fill_value: Any = None,
    halo: Any = None,
    boundary: Any = "reflect",
    seed: int = 0,
    version: str | None = None,
    overwrite: bool = False,
    run: bool = True,
    **running: Unpack[Running],
) -> Any:
    """Compute an array from blocks of arrays of the same shape, with any number of workers.

    The function is called once for each stored value (chunk or shard) of the new array. After an
    interruption, the same call goes on.

    Parameters
    ----------
    function : callable or str
        Gets a block of each source, and returns a block. A function with a parameter ``where``,
        which has no default, gets a `Where`, too. Text is ``"module:name"``, which a saved job can
        hold.
    *sources : Array, Store, str or Path
    dest : Store, str or Path
        Where nothing is stored yet.
    dtype : dtype, optional
        Of the result; by default that of the first source.
    chunks, shards, compressors, fill_value : optional
        Of the result, as for `zarrix.create_array`, chunks and shards also by names of dimensions;
        by default those of the first source.
    halo : int, sequence or mapping, optional
        The number of elements around a block that the function gets, too: one for all axes, one
        for each axis, or a mapping of axis to number; a pair is (before, after). Blocks that it
        returns with the halo are trimmed.
    boundary : {"reflect", "edge", "wrap", "clip"} or number
        What the halo has beyond the array, as in `numpy.pad`; "clip" gives smaller blocks there.
    seed : int
        From which ``where.seed`` of every call is made.
    version : str, optional
        Your own name for what the function does. By default, its code and all that it carries
        (captured variables, default and partial arguments, globals that it names) tell whether it
        is the same when the job goes on. With a version, only this text does.
    overwrite : bool
        Replace what is at ``dest``.
    run : bool
        False returns the `Job` with its plan, and calls nothing.
    **running
        As for `Job.run`: executor, resume, retries, patience and progress.

    Returns
    -------
    Array or Job
        The result; the job with ``run=False``.

    Raises
    ------
    ValueError
        The sources have different shapes, or the function returned another shape.
    ContainsArrayError
        Something is at ``dest``.
    JobFailed, JobInterrupted
        As from `Job.run`; a call of the function that raised is a failed task.

    Examples
    --------
    >>> import numpy as np
    >>> import zarrix as zarr
    >>> z = zarr.array(np.arange(6.0), chunks=2)
    >>> def smooth(block):
    ...     return (block[:-2] + block[1:-1] + block[2:]) / 3
    >>> zarr.jobs.map_chunks(smooth, z, dest="smooth.zarr", halo=1, boundary="edge")[:]
    array([0.33333333, 1.        , 2.        , 3.        , 4.        , 4.66666667])
    """
    if not sources:
        raise ValueError("pass at least one array to map over")
    if boundary not in BOUNDARIES and isinstance(boundary, str):
        names = ", ".join(map(repr, BOUNDARIES))
        raise ValueError(f"boundary={boundary!r}; expected {names} or a number")
    places = {f"source{n}": place_of(source) for n, source in enumerate(sources)}
    arrays = [_array(place) for place in places.values()]
    first = arrays[0]
    if len({array.shape for array in arrays}) > 1:
        raise ValueError(f"the arrays have different shapes: {[one.shape for one in arrays]}")
    called = named(function) if isinstance(function, str) else function
    axes = metadata_of(first).dimension_names if first.zarr_format == 3 else None
    around = halo_of(halo, first.ndim, axes)
    arguments = {
        "chunks": chunks,
        "shards": shards,
        "compressors": compressors,
        "dtype": dtype,
        "fill_value": fill_value,
    }
    document = new_document(first, first.zarr_format, arguments, dimension_names=axes)
    planned = array_at(place_of(dest), document)
    parameters = {
        "function": function if isinstance(function, str) else name_of(function),
        "is_named": isinstance(function, str),
        "identity": function_identity(called, version),
        "version": version,
        "digests": [digest_of(metadata_of(array)) for array in arrays],
        "document": document,
        "units": _units(planned),
        "halo": [list(pair) for pair in around],
        "boundary": boundary,
        "seed": seed,
        "where": _asks_where(called),
        **_costs(arrays, planned, around),
    }
    objects = {"function": Sent(called, function if isinstance(function, str) else None)}
    places["destination"] = place_of(dest)
    job = Job("map", Setting(parameters, places, objects), overwrite=overwrite)
    return run_or_plan(job, run, **running)


def _costs(
    arrays: Sequence[Array], planned: Array, halo: Sequence[tuple[int, int]]
) -> dict[str, int]:
    """The memory of a call, and what all calls read."""
    unit, itemsize = write_unit(planned), sum(array.dtype.itemsize for array in arrays)
    reads = math.prod(n + sum(pair) for n, pair in zip(unit, halo, strict=True))
    values = math.prod(metadata_of(planned).chunk_grid_shape)
    largest = arrays[0].size * 3 ** sum(map(any, halo))
    return {
        "memory": 2 * (reads * itemsize + math.prod(unit) * planned.dtype.itemsize),
        "bytes_in": min(values * reads, largest) * itemsize,
        "gets": sum(math.prod(metadata_of(array).chunk_grid_shape) for array in arrays),
    }


def _units(planned: Array) -> list[int]:
    """The stored values of a task along each axis: one, unless they are many and small."""
    values = metadata_of(planned).chunk_grid_shape
    value_bytes = math.prod(write_unit(planned)) * max(1, planned.dtype.itemsize)
    count = min(_TASK_BYTES // value_bytes, math.prod(values) // _TASKS)
    units = [1] * len(values)
    for axis in reversed(range(len(values))):
        units[axis] = max(1, min(values[axis], count // math.prod(units)))
        if units[axis] < values[axis]:
            break
    return units


def _array(place: Place) -> Array:
    found = opened(place)
    if not isinstance(found, Array):
        raise TypeError(f"map_chunks takes arrays, and {found!r} is a group")
    return found


def _asks_where(function: Function) -> bool:
    """Whether a function has to be told; NumPy's have an optional ``where`` of another meaning."""
    try:
        found = inspect.signature(function).parameters.get("where")
    except ValueError:
        return False
    return found is not None and found.default is inspect.Parameter.empty
