"""Whole samples along the first axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from zarrix.ml._datasets.split import Divisible
from zarrix.ml._order.random import Ints
from zarrix.ml._order.visits import Visits
from zarrix.ml._reading.csr import CSR
from zarrix.ml._reading.fields import Field, as_fields, columns_of
from zarrix.ml._reading.files import Files

__all__ = ["Rows", "counted_by_item", "digests_of"]


class Rows(Divisible):
    """Samples along the first axis of arrays: images and labels, tokens, embeddings.

    Parameters
    ----------
    fields : mapping of str to Array, Field, CSR or Files, or a list of such mappings
        All fields of a group have the same length. Groups may differ in length, and their samples
        have the same shapes.
    seed : int
        Unused by samples; as in the other datasets.

    Raises
    ------
    ValueError
        Lengths within a group, or shapes of samples, differ.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix import ml
    >>> images = zarr.zeros((50, 8, 8), chunks=(10, 8, 8), dtype="u1")
    >>> labels = zarr.array(np.arange(50), chunks=50)
    >>> rows = ml.Rows({"image": images, "label": labels})
    >>> rows
    Rows(50 items: image (8, 8) uint8, label () int64)
    >>> rows[3]["label"]
    np.int64(3)
    """

    __module__ = "zarrix.ml"

    _begins_once = True

    def __init__(self, fields: Any, *, seed: int = 0) -> None:
        self._given = {"seed": seed}
        self._groups = [
            counted_by_item(group, number) for number, group in enumerate(as_fields(fields, "Rows"))
        ]
        self._seed, self._dims = int(seed), ("item",)
        self._columns = columns_of(self._groups, None, {}, ("item",))
        self._prepare([int(next(iter(g.values())).array.shape[0]) for g in self._groups])

    def _corners(self, visits: Visits) -> tuple[Ints, Ints, dict[str, Any]]:
        items = visits.items
        groups = np.searchsorted(self._ends, items, "right") - 1
        corners = np.zeros((len(items), len(self._columns[0].dims)), np.int64)
        corners[:, 0] = items - self._ends[groups]
        return groups, corners, {}

    def _frames_of(self, items: Ints) -> tuple[Ints, Ints]:
        groups = np.searchsorted(self._ends, items, "right") - 1
        return groups, items - self._ends[groups]

    def _spec(self) -> dict[str, Any]:
        return digests_of(self._groups)

    def _before(self, group: int, positions: Ints) -> Ints:
        return positions


def counted_by_item(group: dict[str, Field], number: int) -> dict[str, Field]:
    """The fields of a group with names of axes, of which the first is shared and as long in all."""
    named = {name: _named(name, field) for name, field in group.items()}
    lengths = {name: int(field.array.shape[0]) for name, field in named.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the fields of group {number} have different lengths: {lengths}")
    return named


def digests_of(groups: list[dict[str, Field]]) -> dict[str, Any]:
    """What fields that are not arrays depend on beside their shape; empty without such fields."""
    digests = {
        f"{number}/{name}": field.array._digest()
        for number, group in enumerate(groups)
        for name, field in group.items()
        if isinstance(field.array, CSR | Files)
    }
    return {"columns": digests} if digests else {}


def _named(name: str, field: Field) -> Field:
    """The field with names of axes: the first is shared, all others are its own."""
    if not field.array.shape:
        raise ValueError(f"field {name!r} has no axes; rows need one that counts them")
    named = object.__new__(Field)
    named.__dict__.update(field.__dict__)
    rest = field.dims[1:] if field.dims else range(1, len(field.array.shape))
    named.dims = ("item", *(f"{name}.{axis}" if field.dims is None else str(axis) for axis in rest))
    return named
