"""Whether a source fits what is stored: dtypes, shapes, units, scales, attributes, coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zarrix._errors import AppendError, shorten
from zarrix.convert._cf import FILL
from zarrix.convert._regions import regions, step_of
from zarrix.ingest._sources import Source
from zarrix.ingest._variables import Labelled, Variable

__all__ = ["Judgement", "check_fit", "equal_elements"]

# What says which values the stored numbers stand for.
_MEANING = (
    *("units", "calendar", "scale_factor", "add_offset", FILL, "missing_value", "_Unsigned"),
    *("flag_values", "flag_masks", "flag_meanings", "grid_mapping", "cell_methods"),
)
# What the labels of a coordinate are decoded by; equal labels are stored as those before them.
_DECODED = frozenset(
    ("units", "calendar", "scale_factor", "add_offset", FILL, "missing_value", "_Unsigned")
)
# Attributes of a group that say how one file came to be, and differ in each.
_OF_ONE_FILE = frozenset(
    (
        *("history", "date_created", "date_modified", "date_issued", "creation_date"),
        *("creation_time", "uuid", "tracking_id", "id", "time_coverage_start"),
        *("time_coverage_end", "time_coverage_duration", "NCO", "CDO", "CDI"),
        "nco_openmp_thread_number",
    )
)
_REGION_BYTES = 16 << 20


class Judgement(NamedTuple):
    """What may differ.

    Attributes
    ----------
    owner : str
        The name of what is stored, for messages.
    keeps_attributes : bool
        Whether other attributes than those of meaning may.
    tolerance : mapping of str to float
        By how much the elements of coordinates may.
    """

    owner: str
    keeps_attributes: bool
    tolerance: Mapping[str, Any]


def check_fit(
    source: Source,
    stored: Mapping[str, Variable],
    attributes: Mapping[str, Any],
    labels: Labelled,
    judgement: Judgement,
) -> list[str]:
    """Compare a source with what is stored; what differs without harm, for a note.

    Parameters
    ----------
    source : Source
    stored : mapping of str to Variable
    attributes : mapping
        Of the stored group.
    labels : Labelled
        Of the stored coordinate.
    judgement : Judgement

    Raises
    ------
    AppendError
        It does not fit.
    """
    along, owner = labels.axis.name, judgement.owner
    _check_names(source, stored, along, owner)
    _check_labels(source, labels, owner)
    notes: list[str] = []
    for name, mine in source.variables.items():
        theirs = stored[name]
        _check_layout(mine, theirs, along, source.name, owner)
        ignored = _DECODED if name == along else frozenset()
        for key in _differing(mine.attributes, theirs.attributes, ignored):
            told = _told(f"{name}.{key}", mine.attributes, theirs.attributes, key)
            if key in _MEANING:
                raise AppendError(
                    f"{told} in {source.name} and {owner}: values of both would be mixed; bring "
                    f"the source to what is stored first{_way_out(key)}"
                )
            notes.append(told)
        if mine.axis(along) is None:
            _check_values(mine, theirs, source.name, judgement)
    for key in _differing(source.attributes, attributes, frozenset()):
        told = _told(f"the attribute {key}", source.attributes, attributes, key)
        if key not in _OF_ONE_FILE:
            notes.append(told)
    if notes and not judgement.keeps_attributes:
        more = f", and {len(notes) - 1} more" if len(notes) > 1 else ""
        raise AppendError(
            f"{notes[0]} in {source.name} and {owner}{more}; attributes='keep' (--attributes "
            "keep) keeps those that are stored"
        )
    return [f"{source.name}: {told}; kept as stored" for told in notes]


def _check_names(source: Source, stored: Mapping[str, Variable], along: str, owner: str) -> None:
    new = sorted({*source.variables} - {*stored})
    if new:
        raise AppendError(
            f"{source.name} has {', '.join(map(repr, new[:5]))}, which {owner} does not have; "
            "choose by variables= (--variables) what is appended"
        )
    lacking = [
        name
        for name, one in stored.items()
        if name not in source.variables and one.axis(along) is not None
    ]
    if lacking:
        raise AppendError(
            f"{source.name} does not have {', '.join(map(repr, sorted(lacking)[:5]))}, which "
            f"{owner} has along {along!r}: its new rows would have no values"
        )


def _check_labels(source: Source, labels: Labelled, owner: str) -> None:
    mine, theirs = source.labels.decoding, labels.decoding
    if mine.kind != theirs.kind:
        raise AppendError(
            f"the labels of {labels.axis.name!r} are {_kind(mine.kind)} in {source.name} and "
            f"{_kind(theirs.kind)} in {owner}; units such as 'days since 1970-01-01' make times"
        )
    if mine.calendar != theirs.calendar:
        names = [one.calendar.name if one.calendar else None for one in (mine, theirs)]
        raise AppendError(
            f"the calendar of {labels.axis.name!r} is {names[0]!r} in {source.name} and "
            f"{names[1]!r} in {owner}: a date of one is not one of the other"
        )


def _kind(kind: str) -> str:
    return {"time": "times", "duration": "durations"}.get(kind, "numbers")


def _check_layout(mine: Variable, theirs: Variable, along: str, name: str, owner: str) -> None:
    if mine.dimensions != theirs.dimensions:
        raise AppendError(
            f"{mine.name!r} has the dimensions {mine.dimensions} in {name} and "
            f"{theirs.dimensions} in {owner}"
        )
    lengths = [
        (one, here, there)
        for one, here, there in zip(mine.dimensions, mine.shape, theirs.shape, strict=True)
        if here != there and one != along
    ]
    if lengths:
        dimension, here, there = lengths[0]
        raise AppendError(
            f"{mine.name!r} has {here:,} of {dimension!r} in {name} and {there:,} in {owner}"
        )
    if mine.name == along:
        return
    is_text = mine.dtype.kind in "OT" and theirs.dtype.kind in "OT"
    if mine.dtype.newbyteorder("=") != theirs.dtype.newbyteorder("=") and not is_text:
        raise AppendError(
            f"{mine.name!r} is {mine.dtype} in {name} and {theirs.dtype} in {owner}; convert the "
            "source first, or let repack=True (--repack) do it: nothing is rounded silently"
        )


def _way_out(key: str) -> str:
    is_packing = key in ("scale_factor", "add_offset", FILL, "missing_value", "_Unsigned")
    return ", or let repack=True (--repack) do it" if is_packing else ""


def _differing(
    mine: Mapping[str, Any], theirs: Mapping[str, Any], ignored: frozenset[str]
) -> Iterator[str]:
    for key in sorted({*mine, *theirs} - ignored):
        if not _are_same(mine.get(key), theirs.get(key)):
            # NaN as the fill value masks what is missing without it, too.
            nans = key == FILL and all(_is_nan(one.get(key, np.nan)) for one in (mine, theirs))
            if not nans:
                yield key


def _are_same(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, list) and isinstance(theirs, list):
        return len(mine) == len(theirs) and all(map(_are_same, mine, theirs))
    if isinstance(mine, list) and len(mine) == 1 and not isinstance(theirs, list | dict):
        return _are_same(mine[0], theirs)
    if isinstance(theirs, list) and len(theirs) == 1 and not isinstance(mine, list | dict):
        return _are_same(mine, theirs[0])
    if isinstance(mine, bool) != isinstance(theirs, bool):
        return False
    return bool(mine == theirs) or (_is_nan(mine) and _is_nan(theirs))


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _told(what: str, mine: Mapping[str, Any], theirs: Mapping[str, Any], key: str) -> str:
    values = [shorten(one[key]) if key in one else "absent" for one in (mine, theirs)]
    return f"{what} is {values[0]} and {values[1]}"


def _check_values(mine: Variable, theirs: Variable, name: str, judgement: Judgement) -> None:
    """Raise an error if a variable that does not have the dimension has other values."""
    tolerance = judgement.tolerance.get(mine.name)
    unit = tuple(max(1, n) for n in mine.shape)
    step = step_of(mine.shape, (1,) * len(unit), None, _item_size(mine.dtype), _REGION_BYTES)
    for region in regions(mine.shape, step):
        values = np.asarray(mine.read(region)), np.asarray(theirs.read(region))
        differ = ~equal_elements(*values)
        if tolerance is not None and {values[0].dtype.kind, values[1].dtype.kind} <= {*"iuf"}:
            differ &= ~(np.abs(values[0].astype("f8") - values[1].astype("f8")) <= tolerance)
        if differ.any():
            at = tuple(
                int(one[0]) + part.start
                for one, part in zip(np.nonzero(differ), region, strict=True)
            )
            raise AppendError(
                f"{mine.name!r} has other values in {name} than in {judgement.owner}, first at "
                f"{at}: it does not have the dimension that is appended along, so that both must "
                "be equal; tolerance= (--tolerance) tells by how much a coordinate may differ"
            )


def _item_size(dtype: np.dtype[Any]) -> int:
    return 64 if dtype.kind in "OT" else max(1, dtype.itemsize)


def equal_elements(mine: npt.NDArray[Any], theirs: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Whether elements are equal, one by one; NaN equals NaN."""
    if mine.dtype.kind in "OT" or theirs.dtype.kind in "OT":
        mine, theirs = mine.astype(object), theirs.astype(object)
    found = np.asarray(mine == theirs)
    if mine.dtype.kind in "fcmM":
        found = found | ((mine != mine) & (theirs != theirs))
    return found
