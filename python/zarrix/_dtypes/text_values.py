"""Values for arrays of text: only text is stored, never a conversion by NumPy.

NumPy strings accept any object and store its ``str()``: a missing value of pandas becomes the text
``"nan"``. Here a value that is not text is an error that names its index and type. None is stored
as the empty text in both formats, because zarr 2.18 and numcodecs have None for elements that were
never set.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zarrix._errors import shorten

__all__ = ["as_text"]

_TEXT = frozenset((str, np.str_, type(None)))


def as_text(value: Any, dtype: np.dtype[Any]) -> Any:
    """Convert ``value`` to an array of NumPy strings.

    Raises
    ------
    TypeError
        An element is not text.
    """
    if isinstance(value, str):
        return np.asarray(value, dtype)
    if isinstance(value, list | tuple) or not hasattr(value, "__array__"):
        # NumPy would convert both elements of a list of text and NaN to text.
        array = np.asarray(value, object)
    else:
        array = np.asarray(value)
    if array.dtype.kind == "U" or (array.dtype.kind == "T" and not _may_lack(array.dtype)):
        return array.astype(dtype, copy=False)
    if array.dtype.kind not in "OT":
        raise TypeError(
            f"values of dtype {array.dtype} cannot be stored as text; convert them first, for "
            "example with .astype(str)"
        )
    elements = array.ravel().tolist()
    kinds = set(map(type, elements))
    if not kinds <= _TEXT:
        raise _not_text(elements, array.shape)
    if type(None) not in kinds:
        return array.astype(dtype)
    set_ones = ["" if one is None else one for one in elements]
    return np.array(set_ones, dtype).reshape(array.shape)


def _may_lack(dtype: np.dtype[Any]) -> bool:
    """Whether strings of this dtype can be missing values."""
    return hasattr(dtype, "na_object")


def _not_text(elements: list[Any], shape: tuple[int, ...]) -> TypeError:
    at = next(i for i, one in enumerate(elements) if type(one) not in _TEXT)
    index = tuple(int(i) for i in np.unravel_index(at, shape)) if shape else ()
    bad = elements[at]
    what = "a missing value" if bad != bad else "not text"
    return TypeError(
        f"element {list(index)} is a {type(bad).__name__} ({shorten(bad)}), {what}; an array of "
        "text stores only str. Replace it by a text of your own (pandas: .fillna('')), or do "
        "not write such elements, which then read as the fill value"
    )
