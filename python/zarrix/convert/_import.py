"""Import a file of another format as arrays and groups of Zarr.

`import_` has more than six parameters, because each is a choice of its user, by name.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from zarrix._display.labels import ratio_text
from zarrix._display.printable import counted, lines
from zarrix._display.progress import Progress, phase
from zarrix._display.table import Printed
from zarrix._dtypes.rounding import check_max_error
from zarrix._hierarchy.copy_log import check_choice
from zarrix._hierarchy.open import consolidate_metadata
from zarrix._nodes import nodes
from zarrix._runtime.sizes import parse_size
from zarrix._stores.path import is_url
from zarrix.convert._destination import Destination, check_named
from zarrix.convert._download import here
from zarrix.convert._formats import check_known
from zarrix.convert._import_job import ImportJob
from zarrix.convert._open import open_sources
from zarrix.convert._presets import PRESETS, Preset
from zarrix.operate._place import locate

__all__ = ["Conversion", "budget_of", "import_"]

# A region takes this share of the memory, because it is decoded, encoded and stored at once.
_REGION_SHARE = 4


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
    left_out : list of str
        Those of the notes that name a member or an attribute which is not in the result.
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
    left_out: list[str] = field(default_factory=list)
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
    verify: Literal["none", "sample", "full"] = "sample",
    into: bool = False,
    overwrite: bool = False,
    resume: bool = False,
    dry_run: bool = False,
    progress: bool | Progress = False,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Conversion:
    """Import files of another format as Zarr arrays and groups; every value is kept, bit for bit.

    Chunks are stored before the metadata, so that an import that is interrupted leaves no array
    that reads as fill values. The same call with ``resume=True`` continues it. Members
    of a file that Zarr cannot represent are left out and named (`Conversion.left_out`).

    Parameters
    ----------
    source : str or Path, or a sequence of them
        A file, a folder of images, or files to ``stack`` or to ``concat``. A file that a URL names
        is downloaded first.
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
        Read what was stored again and compare it with what the library of the format reads: 1 % of
        the regions of each array and at least 8, or all. Files that are kept as chunks are
        compared byte for byte, and one in ten of them, at least 8, is decoded here and by the
        library.
    into : bool
        Add to the group that exists. An array that it has already, of the same shape and dtype,
        keeps its chunks, codecs and attributes, and gets the elements of the source; they are
        written in place, so that a call that is interrupted leaves some of them.
    overwrite, resume : bool
        Replace what exists at the destination; continue an unfinished import.
    dry_run : bool
        Return what would be made; nothing is written.
    progress : bool or callable
        True draws a bar on stderr; a callable gets the number of finished regions, and the total.
    storage_options : mapping, optional
        For sources and destinations that are URLs.
    **options
        Of the format, such as ``dtype=`` and ``shape=`` for raw files (docs/convert.md).

    Returns
    -------
    Conversion

    Raises
    ------
    ConversionError
        The source is damaged or has what Zarr cannot represent, an unfinished import is there, or
        the destination is a folder with files of others.
    ContainsArrayError
        The destination exists.
    OverlapError
        The source lies in the destination, or the destination in a folder that is the source.
    FileNotFoundError
        The source does not exist.
    TypeError
        The format does not have an option of that name.
    ValueError
        ``memory``, ``preset``, ``verify`` or ``max_error`` is something else, ``max_error`` is
        passed with ``keep_chunks``, or ``into`` with ``overwrite``.

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
    check_known(options, "import_")
    check_named(dest)
    budget = budget_of(memory)
    max_error = check_max_error(max_error)
    _check_together(zarr_format, keep_chunks and max_error is not None, into and overwrite)
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
    with contextlib.ExitStack() as stack_of:
        local, versions = stack_of.enter_context(here(source, storage_options))
        opened = stack_of.enter_context(open_sources(local, format, stack, concat, options))
        location = locate(dest, path, _options_of(dest, storage_options))
        found = Destination(location, overwrite=overwrite, resume=resume, into=into)
        job = ImportJob(opened, found, asked, budget)
        name = versions[0][0] if len(versions) == 1 else opened.name
        result = Conversion(name, nodes.describe(found.store, found.path))
        job.describe(result, dry_run)
        found.refuse_overlap([seen[0] for seen in opened.identity], opened.plain)
        if not dry_run:
            identity = versions or opened.identity
            resumed = found.begin({"source": identity, "with": opened.asked, **asked})
            job.copy(result, resumed, phase(progress, "regions"))
            if verify != "none":
                job.verify(everything=verify == "full")
            opened.check()
            found.finish(job.paths())
            if preset == "cloud" and opened.groups:
                consolidate_metadata(found.store, path=found.path)
    return result


def _check_together(zarr_format: Any, rounds_chunks: bool, replaces_into: bool) -> None:
    if zarr_format not in (None, 2, 3):
        raise ValueError(f"zarr_format is 2 or 3, not {zarr_format!r}")
    if rounds_chunks:
        raise ValueError("keep_chunks copies encoded chunks, whose values max_error cannot round")
    if replaces_into:
        raise ValueError("into= adds to what exists, and overwrite= replaces it: pass one of them")


def _options_of(dest: Any, storage_options: Mapping[str, Any] | None) -> Any:
    # They may be those of the source alone.
    is_of_source = isinstance(dest, str) and not is_url(dest)
    return None if is_of_source else storage_options


def budget_of(memory: int | str) -> int:
    """Bytes of a region, for a call that may take ``memory``."""
    return max(1, parse_size(memory, "memory") // _REGION_SHARE)


import_.__module__ = "zarrix.convert"
