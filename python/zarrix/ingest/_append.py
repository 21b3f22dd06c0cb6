"""Append sources by the values of a coordinate.

`append` has more than six parameters, because each is a choice of its user, by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from zarrix._display.progress import Progress, phase
from zarrix._errors import LabelError
from zarrix._hierarchy.copy_log import check_choice
from zarrix._hierarchy.group import Group
from zarrix._hierarchy.open import open_group
from zarrix._nodes import nodes
from zarrix._nodes.location import Location
from zarrix._nodes.member import location_of
from zarrix._stores.keys import ZARR_JSON, key_of
from zarrix._stores.memory import MemoryStore
from zarrix._stores.overlap import refuse_overlap
from zarrix._stores.path import is_url
from zarrix.commits import commit
from zarrix.convert._destination import check_named
from zarrix.convert._downloads import new_folder
from zarrix.convert._import import budget_of
from zarrix.ingest._appended import Appended
from zarrix.ingest._job import AppendJob, Choices
from zarrix.ingest._sources import open_sources
from zarrix.operate._place import locate

__all__ = ["append"]


def append(
    sources: Any,
    dest: Any,
    *,
    along: str,
    overlap: Literal["same", "skip", "replace", "error"] = "same",
    attributes: Literal["error", "keep"] = "error",
    variables: Sequence[str] | None = None,
    sel: Mapping[str, Any] | None = None,
    chunks: Mapping[str, int] | None = None,
    tolerance: Any = None,
    repack: bool = False,
    memory: int | str = "256 MiB",
    wait: float = 60.0,
    dry_run: bool = False,
    progress: bool | Progress = False,
    storage_options: Mapping[str, Any] | None = None,
) -> Appended:
    """Append groups and files by the values of a coordinate; the call can be repeated.

    The result is that of one sorted write, regardless of the order of sources and of calls, in
    several processes too, and of how often a call is repeated or killed. A label that lies among
    those that are stored is inserted. All variables become visible at once to readers of
    consolidated metadata: the call is one `zarrix.commit`.

    Units are compared, and never guessed. The labels of a source may have other units of the same
    calendar; they are stored in those of the destination if these hold them exactly.

    Parameters
    ----------
    sources : Group, Subset, path or URL, or a sequence of them
        Zarr groups and parts of them (`Group.sel`), files of other formats (NetCDF, HDF5) with a
        path inside if need be (``run.h5/u``), and patterns of names, local ones and those in
        buckets (``s3://era5/2020-*.nc``). A file that a URL names is downloaded first.
    dest : Group, Store, URL, str or Path
        A group in a folder or a bucket. One that does not exist is created in v3, like the source
        with the first label.
    along : str
        The dimension, whose coordinate has numbers or times.
    overlap : {'same', 'skip', 'replace', 'error'}
        What is done with a label that is stored already, or that two sources have. ``"same"``
        requires equal values, where NaN equals NaN. ``"skip"`` keeps what is stored, or the first
        source. ``"replace"`` stores what differs, of the last source.
    attributes : {'error', 'keep'}
        Whether other attributes than those that are stored are an error, or left out. Those that
        say what values mean (units, scales, fill values) must be equal in any case, and those of a
        group that tell how a file was made, such as ``history``, may always differ.
    variables : sequence of str, optional
        What is taken of the sources, with the coordinate; all arrays if omitted.
    sel : mapping of str to labels, optional
        What is taken of each source, as of `Group.sel`. A slice may go either way along an axis.
    chunks : mapping of str to int, optional
        The length of chunks along dimensions, for a new destination.
    tolerance : number, timedelta or str, or a mapping of these by name; optional
        A label that is so near to a stored one, or to one of an earlier source, is that label:
        ``"1s"``, ``1e-6``. A mapping also says by how much the numbers of other coordinates may
        differ, which stay as they are stored: ``{"time": "1s", "lat": 1e-4}``.
    repack : bool
        Whether values that a source has in another dtype, or with another scale or fill value, are
        stored as the destination stores them. A packed value then changes by at most half a step
        of its scale; integers without a scale have to be equal.
    memory : int or str
        Bytes that a region in flight may take; at least a chunk is needed.
    wait : float
        Seconds to wait for other appends and commits.
    dry_run : bool
        Check everything except equal values, and return what would be added.
    progress : bool or callable
        True draws a bar on stderr; a callable gets the number of elements that are written, and
        the total.
    storage_options : mapping, optional
        For sources and destinations that are URLs.

    Returns
    -------
    Appended

    Raises
    ------
    AppendError
        A source differs in units, scales, attributes, dtypes, shapes or other coordinates from what
        is stored, or has other variables.
    LabelError
        Labels are missing, there twice in one source, not sorted in the destination, or not exact
        in its units; or a tolerance is none.
    OverlapError
        A label is stored already, with other values or with ``overlap="error"``; or the destination
        lies in a source, or contains one.
    SourceChangedError
        A source has changed while it was read. Nothing was appended.
    CommitBusyError
        Another commit was open for ``wait`` seconds.
    NotAtomicError
        The store has no commits; or it is in v2, and rows that are stored would have to be replaced
        or moved in an array with one axis.
    ValueError
        ``overlap`` or ``attributes`` is something else.

    Examples
    --------
    >>> import zarrix as zarr
    >>> for day in (2, 1):
    ...     root = zarr.open_group(f"day{day}.zarr", mode="w", zarr_format=3)
    ...     time = root.create_array("time", data=[day], dimension_names=["time"])
    ...     time.attrs["units"] = "days since 2020-01-01"
    ...     t = root.create_array("t", data=[day / 2], dimension_names=["time"])
    >>> zarr.append("day2.zarr", "all.zarr", along="time").added
    1
    >>> print(zarr.append(["day1.zarr", "day2.zarr"], "all.zarr", along="time"))
    all.zarr: added 1 of time from 2 sources; it has 2 now
      1 were stored already
    >>> zarr.open("all.zarr")["t"][:]
    array([0.5, 1. ])
    """
    check_choice("overlap", overlap, ("same", "skip", "replace", "error"))
    check_choice("attributes", attributes, ("error", "keep"))
    check_named(dest)
    choices = Choices(
        along,
        overlap,
        attributes == "keep",
        dict(chunks or {}),
        budget_of(memory),
        dry_run,
        _by_name(tolerance, along),
        repack,
    )
    location = _located(dest, storage_options)
    with new_folder() as folder:
        opened = open_sources(sources, along, variables, storage_options, folder, sel)
        kept = [one.named for one in opened if one.named is not None]
        refuse_overlap("append", (location.store, location.path), kept)
        job = AppendJob(opened, choices, _shown(dest, location), phase(progress, "elements"))
        if dry_run:
            return job.plan(_group_at(location))
        _require_group(location)
        with commit(location, message=f"append along {along}", wait=wait) as group:
            return job.run(group, _group_at(location))


def _by_name(tolerance: Any, along: str) -> dict[str, Any]:
    if tolerance is None:
        return {}
    found = dict(tolerance) if isinstance(tolerance, Mapping) else {along: tolerance}
    for name, one in found.items():
        is_number = isinstance(one, int | float) and not isinstance(one, bool)
        if name != along and not (is_number and one >= 0):
            raise LabelError(f"the tolerance for {name} is a number that is not negative: {one!r}")
    return found


def _located(dest: Any, storage_options: Mapping[str, Any] | None) -> Location:
    if isinstance(dest, Group):
        return location_of(dest)
    # The options may be those of sources alone.
    takes_options = isinstance(dest, str) and is_url(dest)
    return locate(dest, None, storage_options if takes_options else None)


def _shown(dest: Any, location: Location) -> str:
    return dest if isinstance(dest, str) else location.describe()


def _group_at(location: Location) -> Group | None:
    """The group as others see it; None if there is none."""
    if location.find() is None:
        return None
    return open_group(location.store, mode="r", path=location.path)


def _require_group(location: Location) -> None:
    """Create the group if there is none; one that another process has created stays as it is."""
    if location.find() is not None:
        return
    # v2 has no second spelling of the keys of a coordinate, so that no label could be inserted.
    nodes.require_parents(location.store, location.path, 3)
    new = MemoryStore()
    open_group(new, mode="w", zarr_format=3)
    location.store.put_if(key_of(location.path, ZARR_JSON), new[ZARR_JSON], None)
