"""`pyramid`: smaller copies of an image, each from the one before, and level 0 read once.

A task reads a region of one level and writes the part of several further levels that lies in it,
in complete stored values. A stage ends at the level whose stored values need more of the first
level than a task may hold; the next stage begins there, on a small part of the data. Each level is
computed from the stored elements of the level before it, so that the division into stages and
tasks does not change the result.

`pyramid` has more than six parameters, because each is a choice of its user, by name.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Unpack

from zarrix._array.access import change_metadata, io_of, is_made_of_boxes, metadata_of
from zarrix._array.array import Array
from zarrix._errors import JobError
from zarrix._hierarchy.group import Group
from zarrix._hierarchy.open import open_group
from zarrix._metadata.literals import Format
from zarrix._nodes import nodes
from zarrix._runtime.signatures import takes
from zarrix._runtime.sizes import parse_size, size_text
from zarrix.jobs._operations.downsample import check_dtype, downsampled, shape_below
from zarrix.jobs._operations.encoded import is_encoded_alike
from zarrix.jobs._operations.new_array import lengths_by_name, new_document, write_unit
from zarrix.jobs._operations.ome import Multiscale, check_axes, default_axes
from zarrix.jobs._operations.task_size import task_bytes
from zarrix.jobs._running.documents import array_documents, below, opened, store_all
from zarrix.jobs._running.job import Job
from zarrix.jobs._running.operation import Done, Operation, Setting, Stage, array_at, source_array
from zarrix.jobs._running.places import Place, digest_of, in_its_hierarchy, place_of
from zarrix.jobs._running.run import Running, run_or_plan
from zarrix.jobs._running.tiling import Region, extent

__all__ = ["Pyramid", "pyramid"]

# The levels of a region need less than the region, and so do the sums of its slabs.
_COPIES = 3


class _Part(NamedTuple):
    """A stage: it reads level ``first`` in regions, and writes the levels up to ``last``."""

    first: int
    last: int
    region: tuple[int, ...]


class Pyramid(Operation):
    """Writes levels of an image."""

    kind = "pyramid"

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        told = self.parameters
        self._factors: tuple[int, ...] = tuple(told["factors"])
        self._parts = [_Part(one[0], one[1], tuple(one[2])) for one in told["parts"]]
        self._shapes = [tuple(shape) for shape in told["shapes"]]
        self._arrays: dict[int, Array] = {}

    def _document(self, level: int) -> dict[str, Any]:
        return {**self.parameters["document"], "shape": self._shapes[level]}

    def _array(self, level: int) -> Array:
        """The array of a level; level 0 is the source, unless it is written."""
        found = self._arrays.get(level)
        if found is None:
            place = below(self.places["destination"], self.parameters["paths"][level])
            found = self._arrays[level] = array_at(place, self._document(level))
        return found

    @property
    def _source(self) -> Array:
        found = self._arrays.get(-1)
        if found is None:
            self.check()
            found = self._arrays[-1]
        return found

    def check(self) -> None:
        """The source must be the one that was planned for."""
        # A run that was interrupted at its end may have named the dimensions of level 0.
        self._arrays[-1] = source_array(
            self.places["source"], self.parameters["digest"], names=False
        )

    @property
    def stages(self) -> Sequence[Stage]:
        """One stage for each run of levels."""
        return [self._stage(part) for part in self._parts]

    def _stage(self, part: _Part) -> Stage:
        itemsize = self.parameters["itemsize"]
        shape = self._shapes[part.first]
        counts = _counts(shape, part.region)
        written = range(0 if self._writes_base(part) else part.first + 1, part.last + 1)
        values = sum(math.prod(_counts(self._shapes[n], self.parameters["unit"])) for n in written)
        return Stage(
            f"levels {written[0]} to {part.last}" if len(written) > 1 else f"level {part.last}",
            math.prod(counts),
            lambda number: _region(number, shape, part.region),
            part.region,
            _COPIES * math.prod(part.region) * itemsize,
            math.prod(shape) * itemsize,
            sum(math.prod(self._shapes[n]) for n in written) * itemsize,
            values if part.first else self.parameters["reads"],
            values,
        )

    def _writes_base(self, part: _Part) -> bool:
        return part.first == 0 and bool(self.parameters["base"])

    def begin(self) -> None:
        """Check that the parents of the group are groups."""
        store, path = self.places["destination"][:2]
        nodes.require_parents(store, path, self.parameters["format"])

    def run(self, stage: int, number: int) -> Done:
        """Read a region once, and write it in all levels of the stage."""
        part = self._parts[stage]
        region = _region(number, self._shapes[part.first], part.region)
        block = (self._source if part.first == 0 else self._array(part.first))[region]
        bytes_in, bytes_out = block.nbytes, 0
        self.before_writing()
        if self._writes_base(part) and self.parameters["moves"]:
            values = _values_of(region, self.parameters["unit"])
            bytes_out += io_of(self._array(0)).regroup(
                io_of(self._source), values, self._array(0).chunk_store.syncs
            )
        elif self._writes_base(part):
            self._array(0)[region] = block
            bytes_out += block.nbytes
        begin = tuple(axis.start for axis in region)
        for level in range(part.first + 1, part.last + 1):
            block = downsampled(block, self._factors, self.parameters["method"])
            begin = tuple(at // factor for at, factor in zip(begin, self._factors, strict=True))
            inside = tuple(slice(at, at + n) for at, n in zip(begin, block.shape, strict=True))
            self.before_writing()
            self._array(level)[inside] = block
            bytes_out += block.nbytes
        return Done(None, bytes_in, bytes_out)

    def finish(self, values: Sequence[Mapping[int, Any]]) -> Group:
        """Store the documents of the levels, and then the attributes that name them."""
        self.check()
        place = self.places["destination"]
        first = 0 if self.parameters["base"] else 1
        paths = self.parameters["paths"]
        for level in range(first, len(self._shapes)):
            here = below(place, paths[level])
            store_all(here, [("", array_documents(here, self._document(level), {}))])
        if self.parameters["names"]:
            self._name_dimensions()
        group = open_group(
            place.store, mode="a", path=place.path, zarr_format=self.parameters["format"]
        )
        group.attrs.update(self.parameters["attributes"])
        return group

    def _name_dimensions(self) -> None:
        """Give level 0 the names of the axes, which the metadata of the image refers to."""
        names = self.parameters["names"]
        level = opened(self.places["source"])
        if metadata_of(level).dimension_names != tuple(names):
            change_metadata(
                level,
                lambda metadata: replace(
                    metadata, extra={**metadata.extra, "dimension_names": names}
                ),
            )

    def read_places(self) -> Mapping[str, Place]:
        """The image."""
        return {"source": self.places["source"]}

    @property
    def new_places(self) -> Sequence[Place]:
        """The levels; the group itself if it is new."""
        place = self.places["destination"]
        if self.parameters["base"]:
            return [place]
        return [below(place, path) for path in self.parameters["paths"][1:]]

    @property
    def marked(self) -> Place | None:
        """The smallest level, if there are several."""
        paths = self.parameters["paths"]
        is_new = len(paths) > 1 or self.parameters["base"]
        return below(self.places["destination"], paths[-1]) if is_new else None

    def explain(self) -> Iterator[str]:
        """The shapes of the levels."""
        shapes = ", ".join(map(str, self._shapes))
        yield f"{self.parameters['method']} of blocks of {self._factors}; levels {shapes}"
        yield (
            "stored chunks of level 0 are copied, and decoded once"
            if self.parameters["moves"]
            else "level 0 is read once"
        )


@takes(Running, like=Job.run)
def pyramid(
    source: Any,
    dest: Any = None,
    *,
    levels: int | str = "auto",
    factors: Mapping[str, int] | None = None,
    method: str = "mean",
    ome: str | bool = True,
    axes: str | Sequence[str] | None = None,
    units: Mapping[str, str] | None = None,
    scale: Mapping[str, float] | None = None,
    name: str | None = None,
    chunks: Any = None,
    shards: Any = None,
    compressors: Any = None,
    max_memory: int | str = "1 GiB",
    overwrite: bool = False,
    run: bool = True,
    **running: Unpack[Running],
) -> Any:
    """Write smaller copies of an image, with OME-Zarr metadata, and read the image once.

    The levels are equal for every executor and memory limit. After an interruption, the same call
    goes on.

    Parameters
    ----------
    source : Array, Store, str or Path
        The image. Without ``dest`` it is an array in a group, such as "image.zarr/0", and becomes
        level 0 where it is.
    dest : Store, str or Path, optional
        A new group, which gets a copy of the image as level ``"0"``, too.
    levels : int or "auto"
        The number of levels with level 0. By default, the last one is the first that fits into one
        chunk along the axes that shrink.
    factors : mapping of str to int, optional
        By how much each axis shrinks from level to level; ``{"y": 2, "x": 2}`` by default.
    method : {"mean", "mode", "nearest", "min", "max", "median"}
        What becomes of a block of elements. Means of integers are rounded half to even; "mode" is
        for labels, and takes the smaller of two labels that are equally common. At the far edges a
        block has the elements that exist.
    ome : {"0.4", "0.5"} or bool
        The version of the OME-Zarr metadata: by default 0.5 in v3 and 0.4 in v2. False writes none.
    axes : str or sequence of str, optional
        The names of the axes; by default the dimension names, else the last letters of "tczyx".
        In v3 all levels have them as dimension names, level 0 too.
    units : mapping of str to str, optional
        The units of axes, such as ``{"x": "micrometer"}``.
    scale : mapping of str to float, optional
        The distances of elements of level 0 along axes, in these units.
    name : str, optional
        The name of the image in the metadata; by default the name of the group.
    chunks, shards, compressors : optional
        Of the levels, as for `zarrix.create_array`, or by names of axes; by default those of the
        source.
    max_memory : int or str
        The bytes that a task may use, such as "2 GiB".
    overwrite : bool
        Replace existing levels.
    run : bool
        False returns the `Job` with its plan, and writes nothing.
    **running
        As for `Job.run`: executor, resume, retries, patience and progress.

    Returns
    -------
    Group or Job
        The group of the levels; the job with ``run=False``.

    Raises
    ------
    ValueError
        The axes are not those of an OME-Zarr image, or a factor is not of an axis.
    TypeError
        The elements have no such method.
    ContainsArrayError
        A level exists.
    JobError
        A task needs more than ``max_memory``.
    JobFailed, JobInterrupted
        As from `Job.run`.

    Examples
    --------
    >>> import numpy as np
    >>> import zarrix as zarr
    >>> image = zarr.open_group("image.zarr", mode="w", zarr_format=3)
    >>> image["0"] = np.arange(40_000, dtype="u2").reshape(200, 200)
    >>> levels = zarr.jobs.pyramid(image["0"], levels=3)
    >>> levels["2"].shape, levels.attrs["ome"]["version"]
    ((50, 50), '0.5')
    """
    image = _image(source, dest, ome, axes, factors, method)
    array, place, named = image.array, image.group, image.axes
    document = new_document(
        array,
        image.zarr_format,
        {
            "chunks": lengths_by_name(chunks, named, array.shape, "chunks"),
            "shards": lengths_by_name(shards, named, array.shape, "shards"),
            "compressors": compressors,
        },
        dimension_separator="/" if image.version == "0.4" else None,
        dimension_names=named if image.zarr_format == 3 else None,
    )
    parameters = _parameters(image, document, levels, max_memory)
    if image.version:
        multiscale = Multiscale(
            name or place.path.rpartition("/")[2] or _store_name(place),
            named,
            image.factors,
            method,
            _of_axes(scale, named, "scale"),
            _of_axes(units, named, "units"),
        )
        parameters["attributes"] = multiscale.attributes(image.version, parameters["paths"])
    setting = Setting(parameters, {"source": image.place, "destination": place})
    return run_or_plan(Job("pyramid", setting, overwrite=overwrite), run, **running)


class _Image(NamedTuple):
    """What a pyramid is made of, and how.

    Attributes
    ----------
    array : Array
        The image.
    place : Place
        Where it is stored.
    group : Place
        Where the levels are written.
    has_copy : bool
        Whether the group gets a copy of level 0.
    version : str or None
        Of the OME-Zarr metadata.
    zarr_format : {2, 3}
    axes : tuple of str
    factors : tuple of int
    method : str
    """

    array: Array
    place: Place
    group: Place
    has_copy: bool
    version: str | None
    zarr_format: Format
    axes: tuple[str, ...]
    factors: tuple[int, ...]
    method: str


def _image(
    source: Any,
    dest: Any,
    ome: str | bool,
    axes: str | Sequence[str] | None,
    factors: Mapping[str, int] | None,
    method: str,
) -> _Image:
    """The image that is passed, whose axes and elements fit what is asked for."""
    place = place_of(source)
    array = opened(place)
    if not isinstance(array, Array):
        raise TypeError(f"the image is an array, and {array!r} is a group")
    place = in_its_hierarchy(place) if dest is None else place
    group, has_copy = _destination(place, dest)
    version, zarr_format = _version(ome, array, None if has_copy else group)
    named = tuple(axes) if axes is not None else default_axes(array.ndim, _dimension_names(array))
    if len(named) != array.ndim:
        raise ValueError(f"axes={axes!r} names {len(named)} axes of an array of {array.ndim}")
    if version:
        check_axes(named)
    by_axis = _factors(factors, named)
    check_dtype(array.dtype, method)
    return _Image(array, place, group, has_copy, version, zarr_format, named, by_axis, method)


def _parameters(
    image: _Image, document: dict[str, Any], levels: int | str, max_memory: int | str
) -> dict[str, Any]:
    """The parameters of the job, without the attributes of the group."""
    array, factors, has_copy = image.array, image.factors, image.has_copy
    planned = array_at(image.group, document)
    unit = write_unit(planned)
    shapes = _shapes(array.shape, factors, levels, metadata_of(planned).inner_chunk_shape)
    itemsize = max(1, array.dtype.itemsize)
    limit = parse_size(max_memory, "max_memory")
    first = "0" if has_copy else image.place.path.rpartition("/")[2]
    smaller = [str(level) for level in range(1, len(shapes))]
    parameters = {
        "digest": digest_of(metadata_of(array), names=False),
        "base": has_copy,
        "format": image.zarr_format,
        "document": document,
        "unit": list(unit),
        "shapes": [list(shape) for shape in shapes],
        "paths": [first, *smaller],
        "factors": list(factors),
        "method": image.method,
        "itemsize": itemsize,
        "reads": math.prod(_counts(array.shape, write_unit(array))),
        # Reading a value twice costs requests on a server, and on a disk less than encoding it.
        "moves": has_copy
        and not image.place.chunks.is_remote
        and not is_made_of_boxes(array)
        and is_encoded_alike(metadata_of(array), metadata_of(planned)),
        "parts": _divided(shapes, factors, unit, itemsize, limit, has_copy),
        "attributes": {},
        # What level 0 gets where it stays; a new one has the names of its document.
        "names": list(image.axes) if image.version == "0.5" and not has_copy else [],
    }
    if first in smaller:
        raise ValueError(f"the level 0 has the name {first!r} of another; rename it")
    return parameters


def _destination(source: Place, dest: Any) -> tuple[Place, bool]:
    """The group of the levels, and whether it gets a copy of level 0."""
    if dest is not None:
        return place_of(dest), True
    if not source.path:
        raise ValueError(
            "the image is the root of its store and in no group, so that levels cannot be beside "
            "it; pass dest="
        )
    return source._replace(path=source.path.rpartition("/")[0]), False


def _version(ome: str | bool, source: Array, group: Place | None) -> tuple[str | None, Format]:
    """The version of the metadata, and the format that has it; ``group`` is one that exists."""
    formats: dict[str, Format] = {"0.4": 2, "0.5": 3}
    if ome is True or ome is False:
        return {2: "0.4", 3: "0.5"}[source.zarr_format] if ome else None, source.zarr_format
    if ome not in formats:
        raise ValueError(f"ome={ome!r}; expected '0.4', '0.5', True or False")
    node = None if group is None else nodes.find(group.store, group.path)
    if node is not None and node.zarr_format != formats[ome]:
        raise ValueError(
            f"OME-Zarr {ome} has arrays of v{formats[ome]}, and the group is v{node.zarr_format}; "
            "pass dest=, or another version"
        )
    return ome, formats[ome]


def _dimension_names(source: Array) -> Sequence[str | None] | None:
    return metadata_of(source).dimension_names if source.zarr_format == 3 else None


def _factors(factors: Mapping[str, int] | None, axes: Sequence[str]) -> tuple[int, ...]:
    if factors is None:
        factors = {name: 2 for name in ("y", "x") if name in axes} or dict.fromkeys(axes[-2:], 2)
    found = _of_axes(factors, axes, "factors")
    if any(not isinstance(one, int) or one < 1 for one in found.values()) or set(
        found.values()
    ) <= {1}:
        raise ValueError(f"factors={factors!r}; expected integers of 1 or more, one of at least 2")
    return tuple(int(found.get(name, 1)) for name in axes)


def _of_axes(values: Mapping[str, Any] | None, axes: Sequence[str], what: str) -> dict[str, Any]:
    found = dict(values or {})
    for name in found:
        if name not in axes:
            raise ValueError(f"{what} has the axis {name!r}; the axes are {', '.join(axes)}")
    return found


def _shapes(
    shape: tuple[int, ...], factors: tuple[int, ...], levels: int | str, chunks: tuple[int, ...]
) -> list[tuple[int, ...]]:
    if levels != "auto" and (not isinstance(levels, int) or levels < 1):
        raise ValueError(f"levels={levels!r}; expected 'auto', or a number of at least 1")
    shapes = [shape]
    while len(shapes) != levels:
        if levels == "auto" and not _is_large(shapes[-1], factors, chunks):
            break
        shapes.append(shape_below(shapes[-1], factors))
    return shapes


def _is_large(shape: tuple[int, ...], factors: tuple[int, ...], chunks: tuple[int, ...]) -> bool:
    return any(n > c and f > 1 for n, f, c in zip(shape, factors, chunks, strict=True))


def _divided(
    shapes: Sequence[tuple[int, ...]],
    factors: tuple[int, ...],
    unit: tuple[int, ...],
    itemsize: int,
    limit: int,
    base: bool,
) -> list[_Part]:
    """The stages: each writes as many levels as a task of the usual size can."""
    parts: list[_Part] = []
    last = len(shapes) - 1
    first = 0
    while first < last or (base and not parts):
        shape = shapes[first]
        usual = task_bytes(math.prod(shape) * itemsize, limit // _COPIES) // itemsize
        end = min(first + 1, last)
        while end < last and math.prod(_least(shape, factors, unit, end + 1 - first)) <= usual:
            end += 1
        region = _least(shape, factors, unit, end - first)
        if math.prod(region) * itemsize * _COPIES > limit:
            raise JobError(
                f"a task needs {size_text(math.prod(region) * itemsize * _COPIES)}, for regions of "
                f"{region}, and max_memory is {size_text(limit)}; pass smaller chunks= or shards="
            )
        parts.append(_Part(first, end, _grown(region, shape, usual)))
        first = end
    return parts


def _least(
    shape: tuple[int, ...], factors: tuple[int, ...], unit: tuple[int, ...], levels: int
) -> tuple[int, ...]:
    """The smallest region of a level that has whole stored values ``levels`` further."""
    axes = zip(shape, factors, unit, strict=True)
    return tuple(min(n, length * factor**levels) if n else 1 for n, factor, length in axes)


def _grown(region: tuple[int, ...], shape: tuple[int, ...], max_elements: int) -> tuple[int, ...]:
    """A multiple of a region with at most so many elements; last axes first."""
    grown = list(region)
    for axis in reversed(range(len(region))):
        times = max(1, max_elements // math.prod(grown))
        grown[axis] = min(shape[axis] or 1, region[axis] * times)
        if grown[axis] < shape[axis]:
            break
    return tuple(grown)


def _counts(shape: Sequence[int], region: Sequence[int]) -> tuple[int, ...]:
    return tuple(-(-n // length) for n, length in zip(shape, region, strict=True))


def _values_of(region: Region, unit: Sequence[int]) -> list[tuple[int, ...]]:
    """The coordinates of the stored values of a region that begins with one."""
    axes = zip(region, unit, strict=True)
    return list(itertools.product(*(range(at.start // n, -(-at.stop // n)) for at, n in axes)))


def _region(number: int, shape: Sequence[int], lengths: Sequence[int]) -> Region:
    axes = []
    for n, length in zip(reversed(shape), reversed(lengths), strict=True):
        number, at = divmod(number, -(-n // length))
        axes.append(slice(at * length, min((at + 1) * length, n)))
    found: Region = tuple(reversed(axes))
    assert all(extent(found))
    return found


def _store_name(place: Place) -> str:
    path = str(getattr(place.store, "path", "") or getattr(place.store, "url", "") or "image")
    return path.rstrip("/").rpartition("/")[2]
