"""JSON of metadata: written as zarr 2.18 does, and read within limits from any store."""

from __future__ import annotations

import functools
import json
import numbers
import re
from typing import Any

import numpy as np

from zarrix._errors import JSONDecodeError, MetadataError
from zarrix._runtime.config import config

__all__ = ["copied", "json_dumps", "json_loads"]


class _JsonEncoder(json.JSONEncoder):
    """NumPy numbers as numbers, arrays as lists."""

    def default(self, o: Any) -> Any:
        if isinstance(o, np.bool_):
            return bool(o)
        if isinstance(o, numbers.Integral):
            return int(o)
        if isinstance(o, numbers.Real):
            return float(o)
        if isinstance(o, np.ndarray) and o.dtype.kind in "biufU":
            return o.tolist()
        return super().default(o)


# Python's `json` writes one line in C, and lines that are indented in Python, by a generator for
# every value.
_ENCODERS = {
    sort_keys: _JsonEncoder(sort_keys=sort_keys, separators=(",", ": "))
    for sort_keys in (False, True)
}
# What stays in its line, with strings and empty containers as a whole; then what ends the line.
_PARTS = re.compile(r'((?:"(?:[^"\\]+|\\.)*"|[^"\[\]{},]+|\[\]|\{\})*)([\[\]{},]?)')
_MOST_KEPT_CHARACTERS = 2**13


def json_dumps(value: Any, indent: int = 4, sort_keys: bool = True) -> bytes:
    r"""JSON as zarr 2.18 writes it: ASCII, four spaces of indentation, keys sorted.

    Parameters
    ----------
    value : JSON value
        NumPy's numbers and arrays of them are written as Python's numbers and lists.
    indent : int
        Spaces for each level.
    sort_keys : bool

    Returns
    -------
    bytes

    Raises
    ------
    TypeError
        JSON cannot express ``value``.

    Examples
    --------
    >>> import numpy as np
    >>> from zarrix.util import json_dumps
    >>> json_dumps({"b": np.float32(1.5), "a": None}, indent=0)
    b'{\n"a": null,\n"b": 1.5\n}'
    """
    text = _ENCODERS[bool(sort_keys)].encode(value)
    lines = _kept_lines if len(text) <= _MOST_KEPT_CHARACTERS else _in_lines
    return lines(text, indent)


def _in_lines(text: str, indent: int) -> bytes:
    """JSON of one line, with the line breaks of ``json.dumps(indent=...)``."""
    lines: list[str] = []
    start, comma = "\n", ",\n"
    for plain, mark in _PARTS.findall(text):
        if mark == ",":
            lines += plain, comma
        elif mark in ("[", "{"):
            start += " " * indent
            comma = "," + start
            lines += plain, mark, start
        elif mark:
            start = start[: len(start) - indent]
            comma = "," + start
            lines += plain, start, mark
        else:
            lines.append(plain)
    return "".join(lines).encode("ascii")


# Members of a group often have equal documents.
_kept_lines = functools.lru_cache(maxsize=256)(_in_lines)


def json_loads(text: Any, label: str = "JSON document") -> Any:
    """The value of a JSON document, given as bytes-like or str.

    Parameters
    ----------
    text : bytes-like or str
    label : str
        Names the document in errors.

    Returns
    -------
    JSON value

    Raises
    ------
    MetadataError
        It is nested too deep, or has more than ``config.max_document_bytes``; the message starts
        with ``label``.
    JSONDecodeError
        It is not JSON. It is a ``MetadataError``, and a ``json.JSONDecodeError``.

    Examples
    --------
    >>> from zarrix.util import json_loads
    >>> json_loads(b'{"zarr_format": 2}')
    {'zarr_format': 2}
    >>> json_loads("{", label=".zgroup")
    Traceback (most recent call last):
        ...
    zarrix.errors.JSONDecodeError: .zgroup: not JSON (...)
    """
    data = text if isinstance(text, (str, bytes, bytearray)) else bytes(text)
    if len(data) > config.max_document_bytes:
        raise MetadataError(
            f"{label}: more than {config.max_document_bytes} bytes, which is "
            "config.max_document_bytes (ZARRIX_MAX_DOCUMENT_BYTES); raise the limit if this is "
            "intended"
        )
    try:
        return json.loads(data)
    except RecursionError:
        raise MetadataError(f"{label}: the JSON is nested too deep") from None
    except ValueError as error:
        # Bytes that are not text have no position in a text.
        at = getattr(error, "doc", ""), getattr(error, "pos", 0)
        raise JSONDecodeError(f"{label}: not JSON ({error})", *at) from None


def copied(value: Any) -> Any:
    """A JSON value that shares no object or list with ``value``."""
    if isinstance(value, dict):
        return {name: copied(member) for name, member in value.items()}
    if isinstance(value, list):
        return [copied(member) for member in value]
    return value
