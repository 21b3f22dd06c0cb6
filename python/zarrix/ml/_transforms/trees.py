"""What all samples of a batch become, so that their arrays can be written where the batch has them.

The structure of a batch is known when its first one was made. Workers then write what a function
returned into memory that the caller maps, and send only what does not fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zarrix.ml._transforms.samples import Same, like

__all__ = ["Form", "Row", "Written"]


class Row(NamedTuple):
    """A leaf that is an array of numbers: a row of an array of the batch."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class Written(NamedTuple):
    """A sample whose rows are written; the other leaves, in their order."""

    others: list[Any]


class Form(NamedTuple):
    """The structure of what a function returns, and what its leaves are.

    A leaf is `Same` if it is an entry of the sample, a `Row`, or None, if it is sent.
    """

    structure: Any
    leaves: tuple[Same | Row | None, ...]

    @classmethod
    def of(cls, result: Any) -> Form:
        """The form of one sample, as `called` returns it."""
        return cls(_structure(result), tuple(_leaf(leaf) for leaf in _leaves(result)))

    def write(self, result: Any, rows: list[npt.NDArray[Any]]) -> Written | None:
        """Write the rows of a sample; None if it has another form, and has to be sent."""
        if _structure(result) != self.structure:
            return None
        leaves = list(_leaves(result))
        if tuple(_leaf(leaf) for leaf in leaves) != self.leaves:
            return None
        others: list[Any] = []
        remaining = iter(rows)
        for leaf, expected in zip(leaves, self.leaves, strict=True):
            if isinstance(expected, Row):
                next(remaining)[...] = np.asarray(leaf)
            elif expected is None:
                others.append(leaf)
        return Written(others)

    def tree(self, rows: list[npt.NDArray[Any]], others: list[Any], entries: Any = None) -> Any:
        """A tree of this form; its entries of the sample are `Same`, or those of ``entries``."""
        from_rows, from_others = iter(rows), iter(others)
        leaves = iter(
            [
                next(from_rows)
                if isinstance(leaf, Row)
                else next(from_others)
                if leaf is None
                else (leaf if entries is None else entries[leaf.name])
                for leaf in self.leaves
            ]
        )
        return _built(self.structure, leaves)


class _Structure(NamedTuple):
    """A mapping, list or tuple: its type, its keys and its parts."""

    kind: Any
    keys: tuple[Any, ...]
    parts: tuple[Any, ...]


def _structure(value: Any) -> _Structure | None:
    if isinstance(value, Mapping):
        return _Structure(dict, tuple(value), tuple(_structure(one) for one in value.values()))
    if isinstance(value, list | tuple):
        return _Structure(type(value), (), tuple(_structure(one) for one in value))
    return None


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for one in value:
            yield from _leaves(one)
    else:
        yield value


def _leaf(value: Any) -> Same | Row | None:
    if isinstance(value, Same):
        return value
    array = np.asarray(value)
    if array.dtype.kind not in "biufc" or not array.dtype.isnative:
        # The length of text is that of the longest of a batch.
        return None
    return Row(array.shape, array.dtype)


def _built(structure: _Structure | None, leaves: Iterator[Any]) -> Any:
    if structure is None:
        return next(leaves)
    parts = [_built(part, leaves) for part in structure.parts]
    if structure.kind is dict:
        return dict(zip(structure.keys, parts, strict=True))
    return like(structure.kind, parts)
