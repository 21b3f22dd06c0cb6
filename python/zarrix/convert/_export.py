"""Export an array or a group of Zarr to a file of another format.

A file is written beside its name, and renamed when it is complete.

`export` has more than six parameters, because each is a choice of its user, by name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zarrix._array.array import Array
from zarrix._display.progress import Progress, phase
from zarrix._errors import ConversionError
from zarrix._hierarchy.group import Group
from zarrix._hierarchy.open import open as open_node
from zarrix._nodes.member import location_of
from zarrix._stores.overlap import refuse_overlap
from zarrix.convert._export_job import Existing, ExportJob, shown
from zarrix.convert._formats import check_known, choose, converter
from zarrix.convert._import import Conversion, budget_of
from zarrix.convert._new_file import refuse_below_array
from zarrix.convert._options import check_options

__all__ = ["export"]


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
        The name of a format (`zarrix.convert.formats`) or one of its suffixes, such as ``csv``;
        what the name of ``dest`` says if omitted.
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
        The file exists, or would lie among the chunks of an array.
    OverlapError
        The file lies in the source, or is it.
    OptionError
        The format does not have an option of that name, or not of that kind; it is a `TypeError`.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> z = zarr.array([1, 2, 3])
    >>> made = zarr.export(z, "z.npy")
    >>> np.load("z.npy")
    array([1, 2, 3])
    """
    check_known(options, "export")
    node = _node_of(source, path, storage_options)
    target = Path(dest)
    name, meant = choose(target, format, "write")
    writer = converter(name)
    saves = getattr(writer, "save", None)
    if saves is None:
        raise ConversionError(f"files of the format {name} are not written, only read")
    check_options(saves, options, name, "write")
    options = {**meant, **options}
    asked = {"format": name, "options": options} if getattr(writer, "RESUMES", False) else None
    existing = Existing(overwrite, resume, asked)
    job = ExportJob(target, node, budget_of(memory), phase(progress, "regions"), existing)
    location = location_of(node)
    # A store with all below its path; a file in it would be mistaken for a value.
    refuse_overlap("export", target, [(location.store, location.path, location.chunk_store)])
    refuse_below_array(target)
    makes_folder = getattr(writer, "makes_folder", None)
    is_folder = makes_folder is not None and makes_folder(target)
    if is_folder and not dry_run:
        job.recover()
    job.require_free(folder=is_folder)
    result = _planned(job, node, name, dry_run=dry_run)
    if dry_run:
        return result
    job.run(saves, options)
    result.done, result.kept, result.notes = job.done, job.kept, job.notes
    result.stored_bytes = _size(target)
    return result


def _node_of(source: Any, path: str | None, storage_options: Mapping[str, Any] | None) -> Any:
    """The array or group that is exported."""
    if isinstance(source, Array | Group):
        if not path:
            return source
        if not isinstance(source, Group):
            raise ConversionError(f"path={path!r}: {shown(source)} is an array, without members")
        return source[path]
    if hasattr(source, "attrs") or source is None:
        raise ConversionError(
            f"a {type(source).__name__} is exported after it is stored: make an array or a "
            "group of it first, such as zarrix.array(...) or zarrix.xarray.to_zarr(...)"
        )
    return open_node(source, mode="r", path=path, storage_options=storage_options)


def _planned(job: ExportJob, node: Any, format: str, *, dry_run: bool) -> Conversion:
    """What will be written."""
    result = Conversion(shown(node), str(job.target), dry_run=dry_run)
    for path, array in job.arrays().items():
        result.nbytes += int(array.nbytes)
        result.arrays[path] = {
            "shape": array.shape,
            "dtype": str(array.dtype),
            "chunks": array.chunks,
            "how": f"written as {format}",
        }
    return result


def _size(target: Path) -> int:
    if target.is_file():
        return target.stat().st_size
    return sum(one.stat().st_size for one in target.rglob("*") if one.is_file())


export.__module__ = "zarrix.convert"
