"""Advice about values that NumPy converts to Python objects, by their type."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from zarrix._codecs.objects import OBJECT_CODECS
from zarrix._errors import MetadataError, shorten

__all__ = ["objects_without_codec"]

_RAGGED = "dtype='array:f8' stores variable-length arrays of that type"
_BY_TYPE: tuple[tuple[Any, str], ...] = (
    (str, "pass dtype=str for text"),
    (bytes, "pass dtype=bytes for bytes"),
    ((datetime.datetime, datetime.date), "convert them: np.array(data, 'datetime64[us]')"),
    (datetime.timedelta, "convert them: np.array(data, 'timedelta64[us]')"),
    (int, "they have more than 64 bits; convert them to floats, or store text: dtype=str"),
    (dict, "pass object_codec=zarrix.JSON() to store JSON"),
    ((list, tuple, np.ndarray), f"{_RAGGED}; object_codec=zarrix.JSON() stores lists as JSON"),
)
_LINKS = ("SoftLink", "HardLink", "ExternalLink")


def objects_without_codec(data: np.ndarray[Any, Any], given: Any) -> MetadataError:
    """The error for an array of objects without an object codec.

    Parameters
    ----------
    data : ndarray of objects
    given : object
        What the caller passed, before NumPy converted it.
    """
    flat = data.ravel()
    at = next((i for i, one in enumerate(flat) if one is not None), 0)
    element = flat[at] if flat.size else None
    index = ", ".join(str(i) for i in np.unravel_index(at, data.shape)) if flat.size else ""
    where = f"data[{index}]" if data.ndim else "data"
    kind = type(element)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    return MetadataError(
        f"{where} is a {name} ({shorten(element)}), which NumPy converts to an object: "
        f"{_advice(element, given)} (missing object_codec for object array: one of "
        f"{', '.join(OBJECT_CODECS)})"
    )


def _advice(element: Any, given: Any) -> str:
    if hasattr(given, "categories") or hasattr(getattr(given, "dtype", None), "categories"):
        return (
            "categories are stored as codes and labels: array(data.codes), and the labels as an "
            "attribute; or pass dtype=str for the labels themselves"
        )
    if type(element).__name__ in _LINKS:
        return "there are no links; zarrix.copy(source, group) copies the target of the link"
    # By name, so that the module need not be imported.
    if type(element).__name__ == "Decimal":
        return "convert them to floats, or store text: dtype=str"
    for kinds, advice in _BY_TYPE:
        if isinstance(element, kinds):
            return advice
    return "pass dtype=str for text, or object_codec= for objects"
