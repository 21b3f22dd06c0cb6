"""The arrays of a batch, wherever it has them: a ``transform`` may return any containers."""

from __future__ import annotations

import copy
from collections.abc import Callable, MutableMapping
from typing import Any, NamedTuple

import numpy as np

from zarrix.ml._reading.batch import Batch

__all__ = ["with_arrays"]

_NUMBERS = "biufc"


def with_arrays(
    batch: Any,
    kinds: dict[str, str],
    made: Callable[[Any, bool], Any],
    *others: type,
) -> Any:
    """The batch with ``made`` of each array of numbers in its mappings, lists and tuples.

    ``made`` is also given values of the types ``others``, and whether an array is the bits of
    bfloat16. ``kinds`` says by names what fields are converted to: an entry that has the name of a
    field is known to be one.

    Examples
    --------
    >>> twice = lambda value, is_bfloat16: value * 2
    >>> with_arrays({"x": np.array([1, 2]), "more": [np.array(3), "text"]}, {}, twice)
    {'x': array([2, 4]), 'more': [np.int64(6), 'text']}
    """

    return _Walk(kinds, made, others).each(batch)


class _Walk(NamedTuple):
    """What is done to the entries of a batch. A function that calls itself would be a cycle, which
    keeps the arrays of a batch, and so their memory, until garbage is collected.
    """

    kinds: dict[str, str]
    made: Callable[[Any, bool], Any]
    others: tuple[type, ...]

    def each(self, value: Any, name: Any = None) -> Any:
        if isinstance(value, self.others):
            return self.made(value, False)
        if isinstance(value, np.ndarray):
            # A transform may have put other values under the name.
            is_bits = value.dtype == np.uint16 and isinstance(name, str)
            is_bfloat16 = is_bits and self.kinds.get(name) == "bfloat16"
            return self.made(value, is_bfloat16) if value.dtype.kind in _NUMBERS else value
        if isinstance(value, MutableMapping):
            # A copy: the caller may return one mapping for several batches.
            copied = value if type(value) is Batch else copy.copy(value)
            for key, entry in value.items():
                copied[key] = self.each(entry, key)
            return copied
        if isinstance(value, tuple):
            parts = [self.each(entry) for entry in value]
            # Named tuples take their entries one by one.
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        # The samples of a field that differ in length are a list under its name.
        return [self.each(entry, name) for entry in value] if isinstance(value, list) else value
