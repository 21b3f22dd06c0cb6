"""One export: what a writer of a format gets, and how its file appears under its name."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from zarrix._array.array import Array
from zarrix._array.sparse import grid_of
from zarrix._display.progress import Progress
from zarrix._engine import __version__
from zarrix._errors import ContainsArrayError, ConversionError, ZarrixError
from zarrix._nodes import nodes
from zarrix._nodes.member import location_of
from zarrix._runtime.new_files import has_name
from zarrix._stores.generations import digest_below
from zarrix.convert._regions import count, regions, step_of
from zarrix.convert._source import Region
from zarrix.convert._unfinished import (
    Unfinished,
    is_listing,
    listing_of,
    listing_path,
    why_foreign,
)

__all__ = ["ExportJob", "Existing", "arrays_of", "shown"]


def arrays_of(node: Any) -> dict[str, Any]:
    """The arrays of a node by their path below it; an array has the empty path."""
    if isinstance(node, Array):
        return {"": node}
    below = len(node.path) + 1 if node.path else 0
    found: dict[str, Any] = {}

    def add(node: Any) -> None:
        if isinstance(node, Array):
            found[node.path[below:]] = node

    node.visitvalues(add)
    return found


def shown(node: Any) -> str:
    """The label of a node, for messages."""
    return nodes.describe(node.store, node.path) if hasattr(node, "path") else repr(node)


class Existing(NamedTuple):
    """What an export does with what is there.

    Attributes
    ----------
    overwrite : bool
        Whether it replaces a file.
    resume : bool
        Whether it continues an unfinished export.
    asked : mapping, optional
        What the export is asked, if it can be continued.
    """

    overwrite: bool
    resume: bool
    asked: Mapping[str, Any] | None


class ExportJob:
    """One export: the file that is written, and how regions get into it.

    Parameters
    ----------
    target : Path
    node : Array or Group
    budget : int
        Bytes of a region.
    tell : function
        Gets the number of finished regions, and the total.
    existing : Existing

    Attributes
    ----------
    resumed : bool
        Whether the file has what an earlier call wrote that asked the same of the same values.
    check : function
        Raises the error of a writer whose library would drop it; it is called after each region.
    """

    def __init__(
        self, target: Path, node: Any, budget: int, tell: Progress, existing: Existing
    ) -> None:
        self._target, self._node, self._tell = target, node, tell
        self._overwrite, self._resume, asked = existing
        self.budget = budget
        self.resumed = False
        self.done = self.kept = 0
        self.notes: list[str] = []
        self._beside: Path | None = None
        self._made: Unfinished | None = None
        self.check: Callable[[], None] = _all_is_well
        self._asked = None if asked is None else self._identity(asked)

    def _identity(self, asked: Mapping[str, Any]) -> Any:
        """All that the result depends on; None if the store cannot tell one state from another."""
        found: list[Any] = []
        location = location_of(self._node)
        for store in (location.store, location.chunk_store):
            if store is None:
                continue
            source = getattr(store, "source", None)
            if source is not None:
                found.append([source.identity])
                continue
            state = digest_below(store, self._node.path)
            if state is None:
                if self._resume:
                    self.notes.append(
                        f"all is written again, because {shown(self._node)} does not say whether "
                        "its values have changed"
                    )
                return None
            found.append(state)
        arrays = {
            path: [one.shape, str(one.dtype), one.chunks, self.flat_step(one)[1]]
            for path, one in arrays_of(self._node).items()
        }
        told = {
            "zarrix": __version__, "source": found, "path": self._node.path, "arrays": arrays,
            "boot": _boot(), **asked,
        }  # fmt: skip
        return json.loads(json.dumps(told, default=repr))

    def run(self, saves: Any, options: Mapping[str, Any]) -> None:
        """Write the file beside its name, and rename it."""
        made = self._made = self._begin()
        try:
            saves(self._node, made.data, self, **options)
            if made.data.is_dir():
                self._write_listing(made)
            made.finish(overwrite=self._overwrite, beside=self._beside)
        except BaseException as error:
            if self._asked is None or made.is_named or isinstance(error, ZarrixError):
                made.remove()
            else:
                made.close()
            raise

    def _begin(self) -> Unfinished:
        """The folder of an earlier call that asked the same, or else a new one."""
        mine: Unfinished | None = None
        different: list[Unfinished] = []
        for one, asked in Unfinished.left(self._target):
            if not (self._resume and self._asked and isinstance(asked, dict)):
                one.remove()
            elif mine is None and asked == self._asked:
                mine = one
            elif {**asked, "boot": ""} == {**self._asked, "boot": ""}:
                self.notes.append("all is written again, because the system has started anew")
                one.remove()
            else:
                different.append(one)
        stops = mine is None and bool(different) and not self._overwrite
        for one in different:
            if stops:
                one.close()
            else:
                one.remove()
        if stops:
            raise ConversionError(
                f"the unfinished export to {self._target} had another source or other options, "
                "or its source has changed; replace it with overwrite=True (--overwrite), or "
                "without resume=True (--resume)"
            )
        self.resumed = mine is not None
        return mine or Unfinished.new(self._target, self._asked)

    def recover(self) -> None:
        """Give a folder its name again that a kill left under another one."""
        if self._target.parent.is_dir():
            for one, asked in Unfinished.left(self._target):
                if asked is None:
                    one.remove()
                else:
                    one.close()

    def require_free(self, *, folder: bool) -> None:
        """Raise an error if the target may not be written, before anything is.

        Raises
        ------
        ContainsArrayError
            Something is there that this export may not replace.
        """
        target = self._target
        if folder:
            self._require_listing()
        if not has_name(target):
            return
        if not self._overwrite:
            raise ContainsArrayError(
                f"{target} exists; replace it with overwrite=True (--overwrite)"
            )
        if not folder and target.is_dir():
            raise ContainsArrayError(
                f"{target} is a folder, which an export of a file never replaces; choose another "
                "name"
            )
        if not folder and target.exists() and not target.is_file():
            raise ContainsArrayError(
                f"{target} is not a regular file; export to a file, or to - for standard output"
            )
        if folder:
            told = why_foreign(target)
            if told:
                raise ContainsArrayError(f"{target} is not replaced: {told}")

    def array(self) -> Any:
        """The array that is exported; a group is an error for formats of one array."""
        if not isinstance(self._node, Array):
            raise ConversionError(
                f"{shown(self._node)} is a group, and the format has one array in a file; name "
                "an array"
            )
        return self._node

    @property
    def target(self) -> Path:
        """The name of the complete file."""
        return self._target

    def arrays(self) -> dict[str, Any]:
        """All arrays by path; a single one has the empty path."""
        return arrays_of(self._node)

    def write_beside(self, target: Path, text: str, is_ours: Callable[[Path], bool]) -> None:
        """Write a second file, which gets its name after the first.

        Raises
        ------
        ContainsArrayError
            Something has its name that is not such a file, or that may not be replaced.
        """
        if has_name(target) and not (self._overwrite and is_ours(target)):
            told = "replace it with overwrite=True (--overwrite)"
            if self._overwrite:
                told = "it was not made by an export; choose another name"
            raise ContainsArrayError(f"{target}, which is written too, exists; {told}")
        self._write_second(target, text)

    def _write_second(self, target: Path, text: str) -> None:
        assert self._made is not None
        self._made.beside.write_text(text, encoding="utf-8")
        self._beside = target

    def _require_listing(self) -> Path:
        path = listing_path(self._target)
        if has_name(path) and not is_listing(path):
            raise ContainsArrayError(
                f"{path}, which lists what an export makes, is not such a list; remove it"
            )
        return path

    def _write_listing(self, made: Unfinished) -> None:
        self._write_second(self._require_listing(), listing_of(made.data))

    def stream(self, array: Any) -> Iterator[bytes]:
        """The bytes of an array in C order, in blocks within the memory of the call."""
        shape = array.shape
        row = math.prod(shape[1:]) * array.dtype.itemsize
        unit = grid_of(array)[0].even or 1 if shape else 1
        most = max(1, self.budget // max(1, row))
        step = most // unit * unit or most
        rows = shape[0] if shape else 1
        for start in range(0, rows, step):
            value = array[start : start + step] if shape else array[...]
            yield np.ascontiguousarray(value).tobytes()
            self.done += 1
            self._tell(min(rows, start + step), rows)

    def blocks(self, array: Any, *, rows: bool = False) -> Any:
        """The regions of an array and their values, within the memory of the call."""
        unit = tuple(max(1, axis.even or 1) for axis in grid_of(array))
        step = step_of(array.shape, unit, None, array.dtype.itemsize, self.budget, rows=rows)
        total = count(array.shape, step)
        for index, region in enumerate(regions(array.shape, step)):
            yield region, array[region]
            self.check()
            self.done += 1
            self._tell(index + 1, total)

    def flat_step(self, array: Any) -> tuple[tuple[int, ...], bool]:
        """The extent of the regions of `write_flat`, and whether they are complete rows."""
        shape, unit = array.shape, tuple(max(1, axis.even or 1) for axis in grid_of(array))
        if order_of(array) == "F":
            shape, unit = shape[::-1], unit[::-1]
        step = step_of(shape, unit, None, array.dtype.itemsize, self.budget)
        return step, all(s >= n for s, n in zip(step[1:], shape[1:], strict=True))

    def write_flat(self, array: Any, file: Any, offset: int) -> None:
        """Write the elements of an array in its order, from ``offset`` of an open file on.

        Complete rows are written one after the other, so that the length of the file says how
        many there are. If a row of chunks exceeds the memory, regions are written by position, and
        a later call writes all of them again.
        """
        is_fortran, itemsize = order_of(array) == "F", array.dtype.itemsize
        shape = array.shape[::-1] if is_fortran else array.shape
        step, by_rows = self.flat_step(array)
        steps = [math.prod(shape[i + 1 :]) * itemsize for i in range(len(shape))]
        total = count(shape, step)
        size = os.fstat(file.fileno()).st_size if self.resumed and by_rows else 0
        for index, region in enumerate(regions(shape, step)):
            if offset + (region[0].stop * steps[0] if shape else itemsize) <= size:
                self.kept += 1
                continue
            value = array[region[::-1]].T if is_fortran else array[region]
            _write_region(file, np.ascontiguousarray(value), region, shape, steps, offset)
            self.done += 1
            self._tell(index + 1, total)
        file.truncate(offset + math.prod(shape) * itemsize)


def _all_is_well() -> None:
    """Raise nothing."""


def order_of(array: Any) -> str:
    """The order of the elements in files that have both: that of an array's chunks."""
    return "F" if getattr(array, "order", "C") == "F" and array.ndim > 1 else "C"


def _boot() -> str:
    """Changes when the system starts anew, because rows of a file may be lost then."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _write_region(
    file: Any, value: Any, region: Region, shape: tuple[int, ...], steps: list[int], offset: int
) -> None:
    """Write a region by position, in runs as long as possible."""
    split = len(shape)
    while split and value.shape[split - 1] == shape[split - 1]:
        split -= 1
    run = max(0, split - 1)
    if value.nbytes == 0:
        return
    starts = [one.start for one in region]
    inner = sum(s * step for s, step in zip(starts[run:], steps[run:], strict=True))
    for index in itertools.product(*map(range, value.shape[:run])):
        at = sum(
            (s + i) * step for s, i, step in zip(starts[:run], index, steps[:run], strict=True)
        )
        _write_all(file.fileno(), _bytes_of(value[index]), offset + inner + at)


def _bytes_of(value: Any) -> memoryview:
    return np.ascontiguousarray(value).reshape(-1).view(np.uint8).data


def _write_all(descriptor: int, data: memoryview, offset: int) -> None:
    while data.nbytes:
        written = os.pwrite(descriptor, data[: 2**30], offset)
        data, offset = data[written:], offset + written
