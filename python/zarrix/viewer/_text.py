"""Values as exact text: the route ``value`` for one element, and ``cells`` for a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from zarrix._array.access import metadata_of
from zarrix._display.printable import printable
from zarrix.viewer._answers import Answer, Refused, json_answer
from zarrix.viewer._cost import chunk_range
from zarrix.viewer._decoded import convention_of, decoded
from zarrix.viewer._limits import MOST_CELLS
from zarrix.viewer._parameters import Parameters, Selected
from zarrix.viewer._parts import read
from zarrix.viewer._roots import Roots

__all__ = ["cells", "dtype_text", "exact", "value"]

_LONGEST = 200
_LONGEST_DTYPE = 1000
_MOST_VALUES = 16
# Fields of structured elements that are columns of a table.
_MOST_COLUMNS = 20


def dtype_text(dtype: Any) -> str:
    """A dtype in a line; one with very many fields is cut."""
    text = str(dtype)
    return text if len(text) <= _LONGEST_DTYPE else f"{text[: _LONGEST_DTYPE - 1]}…"


def exact(element: Any) -> str:
    """An element as text that is read back as the same value, on one line.

    Examples
    --------
    >>> exact(np.float16(0.1)), exact(np.uint8(7)), exact("two\\nlines"), exact(b"ab")
    ('0.1', '7', 'two\\\\nlines', "b'ab'")
    """
    if isinstance(element, np.void) and element.dtype.names:
        names = element.dtype.names
        text = ", ".join(f"{name}={exact(element[name])}" for name in names)
        text = f"({text})"
    elif isinstance(element, np.ndarray):
        text = np.array2string(element, separator=", ", threshold=20, max_line_width=10**6)
    elif isinstance(element, bytes | np.void):
        text = repr(element.tobytes() if isinstance(element, np.void) else bytes(element))
    else:
        text = str(element)
    # Escapes make text longer, and no shorter.
    text = printable(text[: _LONGEST + 1])
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def cells(roots: Roots, parameters: Parameters) -> Answer:
    """The selected elements as text, in C order."""
    array = roots.array(parameters.text("path"))
    selected = parameters.selection(array)
    if selected.size > MOST_CELLS:
        raise Refused(413, f"{selected.size:,} cells are more than {MOST_CELLS:,}", "too-large")
    values = _elements(array, selected, parameters)
    found: dict[str, Any] = {"shape": selected.shape, "cells": [exact(one) for one in values]}
    if array.dtype.names and parameters.field(array) is None:
        names = array.dtype.names[:_MOST_COLUMNS]
        found["columns"] = names
        found["rows"] = [[exact(one[name]) for name in names] for one in values]
    return json_answer(found)


def _elements(array: Any, selected: Selected, parameters: Parameters) -> list[Any]:
    values = read(array, selected.axes, parameters.cancel, parameters.field(array))
    # A subarray field has further axes: the element is then an array.
    rows = values.reshape(selected.size, *values.shape[len(selected.shape) :])
    return list(rows)


def value(roots: Roots, parameters: Parameters) -> Answer:
    """One element, or one along a short axis, and the chunk that it is in."""
    array = roots.array(parameters.text("path"))
    selected = parameters.selection(array, "index")
    if selected.size > _MOST_VALUES:
        raise Refused(413, f"{selected.size:,} values are more than {_MOST_VALUES}", "too-large")
    elements = _elements(array, selected, parameters)
    texts = [exact(one) for one in elements]
    grid = metadata_of(array).inner_grid
    chunk = [chunk_range(one, axis)[0] for one, axis in zip(grid, selected.axes, strict=True)]
    found: dict[str, Any] = {"dtype": dtype_text(array.dtype), "chunk": chunk}
    found |= {"text": texts[0]} if selected.shape == () else {"texts": texts}
    if parameters.choice("as", "raw", "cf") == "cf" and convention_of(array) is not None:
        meant = decoded(array, np.asarray(elements))
        found["meant"] = ["missing" if one != one else f"{one:.7g}" for one in meant.tolist()]
    return json_answer(found)
