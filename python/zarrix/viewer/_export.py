"""The routes ``code``, ``npy`` and ``csv``: a region of the picture as a program, or as a file."""

from __future__ import annotations

import io
import shlex
from csv import writer as csv_writer
from typing import Any

import numpy as np

from zarrix.viewer._answers import Answer, Refused, json_answer
from zarrix.viewer._cost import item_bytes
from zarrix.viewer._decoded import decoded
from zarrix.viewer._limits import MOST_DECODED_BYTES
from zarrix.viewer._parameters import Parameters, Selected
from zarrix.viewer._parts import read
from zarrix.viewer._roots import Roots

__all__ = ["code", "csv", "npy"]

# A file is made in memory.
_MOST_FILE_BYTES = MOST_DECODED_BYTES // 2
# Numbers of a file of text.
_MOST_WRITTEN = 2**20


def code(roots: Roots, parameters: Parameters) -> Answer:
    """Programs that read the selection: Python, and the command line."""
    path = parameters.text("path")
    array = roots.array(path)
    selected = parameters.selection(array)
    root, below = roots.split(path)
    assert root is not None
    text = _text(selected)
    opening = root.python or "root"
    known = "" if root.python else "# root is what you opened\n"
    array_of = f"{opening}[{below!r}]" if below else opening
    module = "zarrix.convert" if "zarrix.convert." in opening else "zarrix"
    python = f"import {module}\n\n{known}z = {array_of}\nroi = z[{_python(selected)}]\n"
    place = root.shell if not below or root.shell is None else f"{root.shell.rstrip('/')}/{below}"
    words = ["zarrix", "cat", place or f"PATH/{below}", "-s", text, "--format", "npy"]
    shell = " ".join(shlex.quote(one) for one in words)
    return json_answer({"python": python, "cli": shell, "state": {"path": path, "sel": text}})


def _parts(selected: Selected) -> list[str]:
    found = []
    for axis in selected.axes:
        if isinstance(axis, int):
            found.append(str(axis))
            continue
        start, step, count = axis
        stop = start + step * count
        by = "" if step == 1 else f":{step}"
        # Behind the first element there is nothing to name.
        end = "" if step < 0 and stop < 0 else str(stop if count else start)
        found.append(f"{start}:{end}{by}")
    return found


def _text(selected: Selected) -> str:
    return ",".join(_parts(selected))


def _python(selected: Selected) -> str:
    return ", ".join(_parts(selected)) or "..."


def csv(roots: Roots, parameters: Parameters) -> Answer:
    """The selection as lines of numbers or text with commas between them, one for each row."""
    array = roots.array(parameters.text("path"))
    selected = parameters.selection(array)
    if len(selected.shape) > 2 or array.dtype.names:
        raise Refused(400, "CSV has rows and columns: select one or two axes", "not-numbers")
    if selected.size > _MOST_WRITTEN:
        raise Refused(413, f"CSV is of at most {_MOST_WRITTEN:,} values", "too-large")
    values = _asked(array, read(array, selected.axes, parameters.cancel), parameters)
    file = io.StringIO(newline="")
    writer = csv_writer(file)
    for row in np.atleast_2d(values) if values.ndim != 1 else values[:, None]:
        writer.writerow([_cell(one) for one in row.tolist()])
    return Answer(file.getvalue().encode(), 200, {"content-type": "text/csv; charset=utf-8"})


def _asked(array: Any, values: Any, parameters: Parameters) -> Any:
    """The values as stored, or as the CF conventions mean them."""
    return decoded(array, values) if parameters.choice("as", "raw", "cf") == "cf" else values


def _cell(value: Any) -> str:
    text = str(value)
    # A spreadsheet takes such text for a formula.
    return f"'{text}" if isinstance(value, str) and text[:1] in ("=", "+", "-", "@") else text


def npy(roots: Roots, parameters: Parameters) -> Answer:
    """The selection as an npy file, with its own dtype."""
    path = parameters.text("path")
    array = roots.array(path)
    selected = parameters.selection(array)
    if array.dtype.kind in "OT":
        raise Refused(400, f"an npy file has no elements of {array.dtype}", "not-numbers")
    if selected.size * item_bytes(array) > _MOST_FILE_BYTES:
        raise Refused(413, f"a file is at most {_MOST_FILE_BYTES >> 20} MiB", "too-large")
    file = io.BytesIO()
    values = _asked(array, read(array, selected.axes, parameters.cancel), parameters)
    np.save(file, values, allow_pickle=False)
    headers: dict[str, Any] = {
        "content-type": "application/octet-stream",
        # A fixed name: those of a store may have anything in them.
        "content-disposition": 'attachment; filename="region.npy"',
    }
    return Answer(file.getbuffer(), 200, headers)
