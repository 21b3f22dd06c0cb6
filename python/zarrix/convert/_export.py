"""Export an array or a group of Zarr to a file of another format.

A file is written beside its name, and renamed when it is complete.
"""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from zarrix._array.array import Array
from zarrix._array.sparse import grid_of
from zarrix._display.progress import Progress, phase
from zarrix._errors import ContainsArrayError, ConversionError
from zarrix._hierarchy.open import open as open_node
from zarrix._nodes import nodes
from zarrix.convert._formats import check_known, check_options, converter, format_of
from zarrix.convert._import import Conversion, budget_of
from zarrix.convert._regions import count, regions, step_of

__all__ = ["ExportJob", "export"]


def export(
    source: Any,
    dest: str | os.PathLike[str],
    *,
    path: str | None = None,
    format: str | None = None,
    memory: int | str = "256 MiB",
    overwrite: bool = False,
    resume: bool = False,
    dry_run: bool = False,
    progress: bool | Progress = False,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Conversion:
    """Export an array or a group to a file of another format; every value is kept, bit for bit.

    The file is complete when it appears under its name.

    Parameters
    ----------
    source : Array, Group, Store, URL, str or Path
    dest : str or Path
        The file, or for images the folder.
    path : str, optional
        Path of the array or group in the store.
    format : str, optional
        The name of a format (`zarrix.convert.formats`); what the name of ``dest`` says if omitted.
    memory : int or str
        Bytes that regions in flight may take; at least a chunk is needed.
    overwrite, resume : bool
        Replace a file that exists; continue an unfinished export. Only files without compression
        continue (npy, raw), others are written again.
    dry_run : bool
        Return what would be written; nothing is.
    progress : bool or callable
        True draws a bar on stderr; a callable gets the number of finished regions, and the total.
    storage_options : mapping, optional
        For a source that is a URL.
    **options
        Of the format (docs/convert.md).

    Returns
    -------
    Conversion

    Raises
    ------
    ConversionError
        The format cannot represent the array.
    ContainsArrayError
        The file exists.
    TypeError
        The format does not have an option of that name.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> z = zarr.array([1, 2, 3])
    >>> made = zarr.export(z, "z.npy")
    >>> np.load("z.npy")
    array([1, 2, 3])
    """
    check_known(options, "export")
    node = source
    if not hasattr(source, "attrs"):
        node = open_node(source, mode="r", path=path, storage_options=storage_options)
    elif path:
        node = source[path]
    target = Path(dest)
    name = format or format_of(target)
    if name is None:
        raise ConversionError(f"the name of {target} does not say its format; pass format= (--to)")
    saves = getattr(converter(name), "save", None)
    if saves is None:
        raise ConversionError(f"files of the format {name} are not written, only read")
    check_options(saves, options, name)
    if target.exists() and not overwrite:
        raise ContainsArrayError(f"{target} exists; replace it with overwrite=True (--overwrite)")
    result = Conversion(_shown(node), str(target), dry_run=dry_run)
    for where, one in arrays_of(node).items():
        result.nbytes += int(one.nbytes)
        result.arrays[where] = {
            "shape": one.shape,
            "dtype": str(one.dtype),
            "chunks": one.chunks,
            "how": f"written as {name}",
        }
    if dry_run:
        return result
    job = ExportJob(target, node, budget_of(memory), phase(progress, "regions"), resume, options)
    job.run(saves)
    result.done, result.kept, result.notes = job.done, job.kept, job.notes
    result.stored_bytes = _size(target)
    return result


def arrays_of(node: Any) -> dict[str, Any]:
    """The arrays of a node by their path below it; an array has the empty path."""
    if isinstance(node, Array):
        return {"": node}
    below = len(node.path) + 1 if node.path else 0
    found: dict[str, Any] = {}

    def add(one: Any) -> None:
        if isinstance(one, Array):
            found[one.path[below:]] = one

    node.visitvalues(add)
    return found


def _shown(node: Any) -> str:
    return nodes.describe(node.store, node.path) if hasattr(node, "path") else repr(node)


def _size(target: Path) -> int:
    if target.is_file():
        return target.stat().st_size
    return sum(one.stat().st_size for one in target.rglob("*") if one.is_file())


class ExportJob:
    """One export: the partial file, and how regions get into it.

    Attributes
    ----------
    resumed : bool
        Whether the partial file is that of an earlier call that asked the same.
    """

    def __init__(
        self,
        target: Path,
        node: Any,
        budget: int,
        tell: Progress,
        resume: bool,
        options: Mapping[str, Any],
    ) -> None:
        self._target, self._node, self._tell, self._options = target, node, tell, options
        self.budget = budget
        self.partial = target.with_name(f"{target.name}.partial")
        self._note = target.with_name(f"{target.name}.json.partial")
        self.done = self.kept = 0
        self.notes: list[str] = []
        self._asked = self._identity()
        self.resumed = resume and self.partial.exists() and self._earlier() == self._asked

    def _identity(self) -> Any:
        arrays = {
            path: [one.shape, str(one.dtype), one.chunks]
            for path, one in arrays_of(self._node).items()
        }
        asked = {"source": _shown(self._node), "arrays": arrays, "options": dict(self._options)}
        return json.loads(json.dumps(asked, default=str))

    def _earlier(self) -> Any:
        try:
            return json.loads(self._note.read_bytes())
        except (OSError, ValueError):
            return None

    def run(self, saves: Any) -> None:
        """Write the partial file and rename it."""
        if not self.resumed:
            _remove(self.partial)
            self._note.write_text(json.dumps(self._asked))
        saves(self._node, self.partial, self, **self._options)
        if self._target.is_dir():
            _remove(self._target)
        os.replace(self.partial, self._target)
        self._note.unlink(missing_ok=True)

    def array(self) -> Any:
        """The array that is exported; a group is an error for formats of one array."""
        if not isinstance(self._node, Array):
            raise ConversionError(
                f"{_shown(self._node)} is a group, and the format has one array in a file; name "
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
            self.done += 1
            self._tell(index + 1, total)

    def write_flat(self, array: Any, file: Any, offset: int) -> None:
        """Write the elements of an array in its order, from ``offset`` of an open file on.

        Complete rows are written one after the other, so that the length of the file says how
        many there are. If a row of chunks exceeds the memory, regions are written by position.
        """
        shape = array.shape
        order = "F" if getattr(array, "order", "C") == "F" and len(shape) > 1 else "C"
        itemsize = array.dtype.itemsize
        unit = tuple(max(1, axis.even or 1) for axis in grid_of(array))
        if order == "F":
            shape, unit = shape[::-1], unit[::-1]
        step = step_of(shape, unit, None, itemsize, self.budget)
        steps = [math.prod(shape[i + 1 :]) * itemsize for i in range(len(shape))]
        total, end = count(shape, step), offset + math.prod(shape) * itemsize
        by_rows = not shape or all(s >= n for s, n in zip(step[1:], shape[1:], strict=True))
        size = os.fstat(file.fileno()).st_size if self.resumed and by_rows else 0
        for index, region in enumerate(regions(shape, step)):
            last = offset + (region[0].stop * steps[0] if shape else itemsize)
            if last <= size < end or (last <= size and total == index + 1):
                self.kept += 1
                continue
            value = array[region[::-1]].T if order == "F" else array[region]
            _write_region(file, np.ascontiguousarray(value), region, shape, steps, offset)
            self.done += 1
            self._tell(index + 1, total)
        file.truncate(end)


def _write_region(
    file: Any, value: Any, region: Any, shape: Any, steps: list[int], offset: int
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
        count = os.pwrite(descriptor, data[: 2**30], offset)
        data, offset = data[count:], offset + count


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        # Import time: it imports every compressor of the standard library.
        import shutil

        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


export.__module__ = "zarrix.convert"
