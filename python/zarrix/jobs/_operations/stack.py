"""`stack`: many files as one array.

The plan reads the headers of all files, so that a missing or odd one is an error that names it
before anything is written. A task writes whole stored values, and opens only the files that they
need.

`stack` has more than six parameters, because each is a choice of its user, by name.
"""

from __future__ import annotations

import bisect
import contextlib
import functools
import itertools
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from zarrix._array.access import metadata_of
from zarrix._array.array import Array
from zarrix._display.printable import counted
from zarrix._errors import JobError
from zarrix._metadata.literals import Format
from zarrix._nodes import nodes
from zarrix._runtime.cached_property import cached_property
from zarrix._runtime.signatures import takes
from zarrix._runtime.sizes import parse_size
from zarrix._stores.generations import StoredState, state_below, state_of_file, state_of_memory
from zarrix._stores.overlap import Named
from zarrix.jobs._operations.new_array import new_document, write_unit
from zarrix.jobs._operations.readers import reader_of, region_of
from zarrix.jobs._operations.task_size import task_bytes
from zarrix.jobs._running.documents import array_documents, opened, store_all
from zarrix.jobs._running.identity import function_identity, identity_of, name_of
from zarrix.jobs._running.job import Job
from zarrix.jobs._running.operation import Done, Operation, Setting, Stage, array_at
from zarrix.jobs._running.places import place_of
from zarrix.jobs._running.run import Running, run_or_plan
from zarrix.jobs._running.sent import Sent, checked
from zarrix.jobs._running.sources import Source
from zarrix.jobs._running.tiling import Region, Tiling, extent

__all__ = ["StackFiles", "stack"]

_COMPARED = (Array, np.ndarray)
# Headers are read by as many threads: most of the time is latency.
_THREADS = 16
_MOST_SHOWN = 5
Head = tuple[tuple[int, ...], np.dtype[Any]]


class StackFiles(Operation):
    """Writes regions of the array from the files that lie in them."""

    kind = "stack"

    @cached_property
    def _dest(self) -> Array:
        return array_at(self.places["destination"], self.parameters["document"])

    @cached_property
    def _tiling(self) -> Tiling:
        return Tiling.of(metadata_of(self._dest), self.parameters["units"])

    @cached_property
    def _begins(self) -> list[int]:
        """The index along the axis at which each file begins, and the end of the last one."""
        return list(itertools.accumulate(self.parameters["lengths"], initial=0))

    @property
    def stages(self) -> Sequence[Stage]:
        """One stage."""
        itemsize = max(1, self._dest.dtype.itemsize)
        region = extent(self._tiling.region(0)) if len(self._tiling) else ()
        return [
            Stage(
                "stack",
                len(self._tiling),
                self._tiling.region,
                region,
                2 * math.prod(region) * itemsize,
                self._dest.nbytes,
                self._dest.nbytes,
                len(self.parameters["lengths"]),
                math.prod(self._tiling.values),
            )
        ]

    def begin(self) -> None:
        """Check that the parents of the destination are groups."""
        store, path = self.places["destination"][:2]
        nodes.require_parents(store, path, self._dest.zarr_format)

    def run(self, stage: int, number: int) -> Done:
        """Read what a region needs of its files, and write it."""
        region, axis = self._tiling.region(number), self.parameters["axis"]
        part = region[axis]
        out = np.empty(extent(region), self._dest.dtype)
        if self._filled:
            fill = self._dest.fill_value
            out[...] = np.zeros((), out.dtype) if fill is None else fill
        for file in range(bisect.bisect_right(self._begins, part.start) - 1, self._count):
            begin, end = self._begins[file], self._begins[file + 1]
            if begin >= part.stop:
                break
            if file in self._filled:
                continue
            first, last = max(begin, part.start), min(end, part.stop)
            here = (*region[:axis], slice(first - begin, last - begin), *region[axis + 1 :])
            into = (slice(None),) * axis + (slice(first - part.start, last - part.start),)
            out[into] = self._read(file, here)
        self.before_writing()
        self._dest[region] = out
        return Done(None, out.nbytes, out.nbytes)

    @cached_property
    def _filled(self) -> frozenset[int]:
        """The files whose elements are the fill value."""
        return frozenset(self.parameters["filled"])

    @property
    def _count(self) -> int:
        return len(self.parameters["lengths"])

    def _read(self, file: int, region: Region) -> npt.NDArray[Any]:
        axis, is_new = self.parameters["axis"], self.parameters["new_axis"]
        inside = region[:axis] + region[axis + 1 :] if is_new else region
        with _opened(self.setting.objects, self.parameters, file) as found:
            shape = _length_and_rest(tuple(found.shape), axis, is_new)
            if shape != (self.parameters["lengths"][file], self.parameters["rest"]):
                name = _name(self.parameters, file)
                raise ValueError(f"{name} has another shape than when the job was planned")
            elements = region_of(found, inside)
            # What a reader opened may be gone when it is closed.
            elements = np.array(elements, self._dest.dtype)
        return np.expand_dims(elements, axis) if is_new else elements

    def finish(self, values: Sequence[Mapping[int, Any]]) -> Array:
        """Store the document."""
        dest = self.places["destination"]
        names = [_plain_name(self.parameters, file) for file in self.parameters["filled"]]
        attributes = {"filled_files": names} if names else {}
        store_all(dest, [("", array_documents(dest, self.parameters["document"], attributes))])
        made = opened(dest)
        assert isinstance(made, Array)
        return made

    def kept(self) -> Iterable[Named]:
        """The files, and the arrays that are stored."""
        files = self.parameters["files"]
        arrays = (one for one in self.setting.objects.get("arrays", ()) if isinstance(one, Array))
        return [*(one for one in files if one is not None), *map(place_of, arrays)]

    def sources(self) -> list[Source]:
        """The files, and the arrays in memory."""
        return [self._source(file) for file in range(self._count) if file not in self._filled]

    def _source(self, file: int) -> Source:
        path, name = self.parameters["files"][file], _plain_name(self.parameters, file)
        if path is None:
            given = self.setting.objects["arrays"][file]
            return Source(name, functools.partial(_state_of_given, given))
        return Source(name, functools.partial(_state_of_path, path))

    @classmethod
    def objects_of(
        cls, parameters: Mapping[str, Any], function: Any, modules: Sequence[str]
    ) -> dict[str, Any]:
        """The function that opens files; arrays in memory cannot be given again."""
        if None in parameters["files"]:
            raise JobError("the job stacks arrays in the memory of the program that began it")
        if parameters["identity"] is None:
            return super().objects_of(parameters, function, modules)
        told = {**parameters, "function": parameters["reader"]}
        return {"reader": checked(told, function, modules, name=None)}

    def explain(self) -> Iterator[str]:
        """The number of files."""
        yield f"{counted(self._count, 'file')} along axis {self.parameters['axis']}"
        if self._filled:
            yield f"{counted(len(self._filled), 'file')} cannot be read, and are the fill value"


@takes(Running, like=Job.run)
def stack(
    files: Iterable[Any],
    dest: Any,
    *,
    axis: int | str = 0,
    new_axis: bool = False,
    reader: str | Callable[[str], Any] = "auto",
    member: str | None = None,
    align: str = "chunks",
    on_error: str = "raise",
    dtype: Any = None,
    chunks: Any = None,
    shards: Any = None,
    compressors: Any = None,
    dimension_names: Sequence[str] | None = None,
    zarr_format: Format = 3,
    max_memory: int | str = "1 GiB",
    version: str | None = None,
    overwrite: bool = False,
    run: bool = True,
    **running: Unpack[Running],
) -> Any:
    """Make one array of many files, one after the other along an axis, with any number of workers.

    The headers of all files are read first: a file that is missing, or has another shape or data
    type, is an error that names it, before anything is written. After an interruption, the same
    call goes on.

    Parameters
    ----------
    files : iterable of str, Path or arrays
        In their order along the axis.
    dest : Store, str or Path
        Where nothing is stored yet.
    axis : int or str
        The axis along which they follow each other, or its name in ``dimension_names``.
    new_axis : bool
        Whether the files do not have the axis, and each becomes one index of it.
    reader : {"auto", "npy", "npz", "hdf5", "tiff", "image", "zarr"} or callable
        By default chosen by the suffix of each file. A function gets a path, and returns an object
        with ``shape``, ``dtype`` and slicing, such as a NumPy array; if it has ``close``, it is
        closed.
    member : str, optional
        The array in each file of a format that has several.
    align : {"chunks", "files"}
        Whether all chunks are equal, or each file has chunks of its own along the axis, so that
        each file is read by one task. This is for files that can only be read completely.
    on_error : {"raise", "fill"}
        Whether a file that is missing, cannot be opened or does not fit is an error, or has the
        fill value in the array, whose attribute ``filled_files`` then lists it. Its length along
        the axis must be that of all other files.
    dtype : dtype, optional
        Of the array; by default that of the files, which must be equal.
    chunks, shards, compressors : optional
        As for `zarrix.create_array`, chunks and shards also by ``dimension_names``.
    dimension_names : sequence of str, optional
    zarr_format : {3, 2}
    max_memory : int or str
        The bytes that a task may use, such as "2 GiB"; at least one stored value is written.
    version : str, optional
        Your own name for what a function ``reader`` does; by default its code and all that it
        carries tell whether it is the same when the job goes on.
    overwrite : bool
        Replace what is at ``dest``.
    run : bool
        False returns the `Job` with its plan, and writes nothing.
    **running
        As for `Job.run`: executor, resume, retries, patience and progress.

    Returns
    -------
    Array or Job
        The array; the job with ``run=False``.

    Raises
    ------
    ValueError
        Files are missing, cannot be read, or do not fit together; it names them.
    ContainsArrayError
        Something is at ``dest``.
    JobFailed, JobInterrupted
        As from `Job.run`.

    Examples
    --------
    >>> import numpy as np
    >>> import zarrix as zarr
    >>> for number in range(3):
    ...     np.save(f"frame{number}.npy", np.full((4, 4), number))
    >>> names = [f"frame{number}.npy" for number in range(3)]
    >>> zarr.jobs.stack(names, "frames.zarr", new_axis=True).shape
    (3, 4, 4)
    """
    given = list(files)
    if not given:
        raise ValueError("there are no files to stack")
    if align not in ("chunks", "files"):
        raise ValueError(f"align={align!r}; expected 'chunks' or 'files'")
    if on_error not in ("raise", "fill"):
        raise ValueError(f"on_error={on_error!r}; expected 'raise' or 'fill'")
    parameters, objects = _inputs(given, reader, member, version, new_axis=bool(new_axis))
    heads = _heads(objects, parameters, fills=on_error == "fill")
    shape, dtype_of_first = next(one for one in heads if one is not None)
    ndim = len(shape) + bool(new_axis)
    at = parameters["axis"] = _axis(axis, ndim, dimension_names)
    lengths, rest = _fitting(
        parameters, heads, at, new_axis, check_dtype=dtype is None, fills=on_error == "fill"
    )
    parameters |= {"lengths": lengths, "rest": rest}
    whole = (*rest[:at], sum(lengths), *rest[at:])
    if align == "files":
        chunks = _by_files(chunks, lengths, at, ndim)
    document = new_document(
        None,
        zarr_format,
        {"chunks": chunks, "shards": shards, "compressors": compressors},
        shape=whole,
        dtype=dtype if dtype is not None else dtype_of_first,
        dimension_names=dimension_names,
    )
    place = place_of(dest)
    planned = array_at(place, document)
    parameters["document"] = document
    parameters["units"] = _units(planned, at, parse_size(max_memory, "max_memory"))
    job = Job("stack", Setting(parameters, {"destination": place}, objects), overwrite=overwrite)
    return run_or_plan(job, run, **running)


def _inputs(
    files: Sequence[Any],
    reader: str | Callable[[str], Any],
    member: str | None,
    version: str | None,
    *,
    new_axis: bool,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is stacked and what reads it: as parameters of the job, and as its objects."""
    parameters: dict[str, Any] = {
        "files": [_path(one) for one in files],
        "reader": reader if isinstance(reader, str) else name_of(reader),
        "identity": None if isinstance(reader, str) else function_identity(reader, version),
        "version": version,
        "member": member,
        "new_axis": new_axis,
    }
    objects: dict[str, Any] = {} if isinstance(reader, str) else {"reader": Sent(reader)}
    if None in parameters["files"]:
        objects["arrays"] = [one if _path(one) is None else None for one in files]
        # The elements of arrays are compared; anything else has to tell what it is.
        others = [one for one in objects["arrays"] if not isinstance(one, _COMPARED)]
        parameters["others"] = identity_of(others) or os.urandom(8).hex()
    return parameters, objects


def _path(file: Any) -> str | None:
    """The path of a file; None for an array in memory. Workers may have another directory."""
    if not isinstance(file, str | os.PathLike):
        return None
    path = os.fspath(file)
    return path if "://" in path else os.path.abspath(path)


def _state_of_path(path: str, as_of: int) -> StoredState | None:
    """The state of a file, or of an array in a folder."""
    if "://" in path:
        return None
    if os.path.isdir(path):
        found = place_of(path)
        return state_below(found.chunks, found.path, as_of)
    return state_of_file(path, as_of)


def _state_of_given(array: Any, as_of: int) -> StoredState | None:
    """The state of an array that was passed instead of a path."""
    if isinstance(array, Array):
        found = place_of(array)
        return state_below(found.chunks, found.path, as_of)
    if isinstance(array, np.ndarray) and not array.dtype.hasobject:
        return state_of_memory(np.ascontiguousarray(array).view(np.uint8).reshape(-1))
    return None


def _plain_name(parameters: Mapping[str, Any], file: int) -> str:
    return str(parameters["files"][file] or f"array {file}")


def _name(parameters: Mapping[str, Any], file: int) -> str:
    return repr(_plain_name(parameters, file))


@contextlib.contextmanager
def _opened(objects: Mapping[str, Any], parameters: Mapping[str, Any], file: int) -> Iterator[Any]:
    path = parameters["files"][file]
    if path is None:
        yield objects["arrays"][file]
    elif "reader" in objects:
        found = objects["reader"].function(path)
        with contextlib.closing(found) if hasattr(found, "close") else contextlib.nullcontext():
            yield found
    else:
        with reader_of(parameters["reader"], path)(path, parameters["member"]) as found:
            yield found


def _heads(
    objects: Mapping[str, Any], parameters: Mapping[str, Any], *, fills: bool
) -> list[Head | None]:
    """Shape and data type of each file; None for one that is to be filled.

    Raises
    ------
    ValueError
        Files cannot be opened; it names them. With ``fills``, none can.
    """

    def head(file: int) -> Any:
        try:
            with _opened(objects, parameters, file) as found:
                return tuple(map(int, found.shape)), np.dtype(found.dtype)
        except ImportError:
            raise
        except Exception as error:
            # A reader may raise anything for a file that is not of its format.
            return f"{_name(parameters, file)}: {type(error).__name__}: {error}"

    with ThreadPoolExecutor(_THREADS) as pool:
        found = list(pool.map(head, range(len(parameters["files"]))))
    bad = [one for one in found if isinstance(one, str)]
    if not fills or len(bad) == len(found):
        _refuse(bad, "cannot be read")
    return [None if isinstance(one, str) else one for one in found]


def _refuse(said: Sequence[str], what: str) -> None:
    if said:
        more = f"\n  and {len(said) - _MOST_SHOWN} more" if len(said) > _MOST_SHOWN else ""
        listed = "".join(f"\n  {line}" for line in said[:_MOST_SHOWN])
        raise ValueError(f"{counted(len(said), 'file')} {what}:{listed}{more}")


def _axis(axis: int | str, ndim: int, names: Sequence[str] | None) -> int:
    if isinstance(axis, str) and names is not None and axis in names:
        return list(names).index(axis)
    if isinstance(axis, int) and -ndim <= axis < ndim:
        return axis % ndim
    known = ", ".join(map(repr, names)) if names else f"0 to {ndim - 1}"
    raise ValueError(f"axis={axis!r}; the axes are {known}")


def _length_and_rest(shape: tuple[int, ...], axis: int, is_new: bool) -> tuple[int, list[int]]:
    return (1, list(shape)) if is_new else (shape[axis], [*shape[:axis], *shape[axis + 1 :]])


def _fitting(
    parameters: dict[str, Any],
    heads: Sequence[Head | None],
    axis: int,
    is_new: bool,
    *,
    check_dtype: bool,
    fills: bool,
) -> tuple[list[int], list[int]]:
    """The length of each file along the axis, and the shape along all others.

    The numbers of the files that are to be filled become a parameter.
    """
    reference = next(file for file, one in enumerate(heads) if one is not None)
    first, dtype = heads[reference] or ((), np.dtype("f8"))
    rest = _length_and_rest(first, axis, is_new)[1]
    odd: list[str] = []
    lengths: list[int | None] = []
    for file, one in enumerate(heads):
        shape, own = one if one is not None else ((), dtype)
        fits = one is not None and len(shape) == len(first)
        fits = fits and _length_and_rest(shape, axis, is_new)[1] == rest
        if fits and (not check_dtype or own == dtype):
            lengths.append(_length_and_rest(shape, axis, is_new)[0])
        else:
            lengths.append(None)
            odd += [f"{_name(parameters, file)}: {shape} {own}"] if one is not None else []
    if not fills:
        _refuse(odd, f"do not fit {_name(parameters, reference)}, which is {first} {dtype}")
    filled = parameters["filled"] = [file for file, n in enumerate(lengths) if n is None]
    known = {n for n in lengths if n is not None}
    if filled and len(known) > 1:
        raise ValueError(
            f"{_name(parameters, filled[0])} cannot be filled: its length along axis {axis} is not "
            f"known, because the other files have {len(known)} different ones"
        )
    return [n if n is not None else min(known) for n in lengths], rest


def _by_files(chunks: Any, lengths: Sequence[int], axis: int, ndim: int) -> list[Any]:
    """The chunk grid that has the files along an axis."""
    if isinstance(chunks, int):
        chunks = (chunks,) * ndim
    if not isinstance(chunks, Sequence) or isinstance(chunks, str) or len(chunks) != ndim:
        raise ValueError(f"align='files' needs chunks= with a length for each of the {ndim} axes")
    runs = [[length, len(list(run))] for length, run in itertools.groupby(n for n in lengths if n)]
    grid = list(chunks)
    grid[axis] = runs[0][0] if len(runs) == 1 else runs
    return grid


def _units(array: Array, axis: int, limit: int) -> list[int]:
    """The stored values of a region: all along other axes, if they fit, then more along the axis.

    A file is then opened by few tasks.
    """
    unit, values = write_unit(array), metadata_of(array).chunk_grid_shape
    size = 2 * max(1, array.dtype.itemsize)
    size *= math.prod(min(n, length) for n, length in zip(array.shape, unit, strict=True))
    units = [1] * array.ndim
    others = [one for one in reversed(range(array.ndim)) if one != axis]
    for one in (*others, axis):
        most = limit if one != axis else task_bytes(array.nbytes, limit)
        units[one] = max(1, min(values[one], most // max(1, size)))
        size *= units[one]
        if units[one] < values[one]:
            break
    return units
