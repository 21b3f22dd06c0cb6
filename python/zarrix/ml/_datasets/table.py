"""Labels in a table, one row for each frame or each group, which batches have beside the fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from zarrix._errors import suggestion
from zarrix.ml._datasets.dataset import digest_of

__all__ = ["Table"]

_ON = ("frame", "group")
_KINDS = "biufcmMUS"
# What batches have beside fields and columns.
_TAKEN = {
    *("item", "start", "group", "episode", "frame", "source", "inside", "valid", "passes"),
    *("nan", "seed", "seeds", "length", "offsets"),
}


class Table:
    """Labels of frames or groups: ``dataset.join(table)`` gives them to batches.

    A row is that of a frame, which is a position along the first dimension (of time, for clips),
    or that of a group. With several groups the rows of frames are those of the first group, then
    those of the next one.

    Parameters
    ----------
    frame : DataFrame, pyarrow.Table, mapping of str to sequence, or list of mappings
        A mapping has columns; a list has rows, such as the attributes of each group.
    on : {"frame", "group"}

    Raises
    ------
    ValueError
        ``on`` is not one of these, columns differ in length, or a value is missing.
    TypeError
        ``frame`` is not a table, or a column has other values than numbers, times and text.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix import ml
    >>> table = ml.Table({"label": [0, 0, 1, 1], "place": ["a", "b", "b", "a"]})
    >>> table
    Table(4 rows, one for each frame: label int64, place <U1)
    >>> rows = ml.Rows({"x": zarr.zeros((4, 2))}).join(table)
    >>> batch = next(iter(ml.Loader(rows, 4, shuffle=False)))
    >>> batch["label"], batch["place"].tolist()
    (array([0, 0, 1, 1]), ['a', 'b', 'b', 'a'])
    """

    __module__ = "zarrix.ml"

    def __init__(self, frame: Any, *, on: str = "frame") -> None:
        if on not in _ON:
            raise ValueError(
                f"on={on!r}; a table has a row for each 'frame' or 'group'{suggestion(on, _ON)}"
            )
        self.on = on
        self.columns = {
            str(name): _checked(str(name), values) for name, values in _columns_of(frame)
        }
        if not self.columns:
            raise ValueError("the table has no columns")
        lengths = {name: len(values) for name, values in self.columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"the columns of the table have different lengths: {lengths}")

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __repr__(self) -> str:
        columns = ", ".join(f"{name} {values.dtype}" for name, values in self.columns.items())
        return f"Table({len(self)} rows, one for each {self.on}: {columns})"

    def _check(self, count: int, taken: set[str]) -> None:
        """Raise ValueError if it has not so many rows, or a column whose name is taken."""
        if len(self) != count:
            raise ValueError(
                f"the table has {len(self)} rows; the dataset has {count} {self.on}s, each of "
                "which needs one"
            )
        both = sorted(self.columns.keys() & (taken | _TAKEN))
        if both:
            raise ValueError(
                f"batches have {', '.join(map(repr, both))} already: rename the column"
            )

    def _identity(self) -> list[Any]:
        """What it adds to samples, in terms of JSON."""
        return [self.on, {name: digest_of(values) for name, values in self.columns.items()}]


def _columns_of(frame: Any) -> list[tuple[Any, Any]]:
    """The names and values of the columns of any table."""
    if isinstance(frame, Table):
        return list(frame.columns.items())
    if isinstance(frame, Mapping):
        return list(frame.items())
    if hasattr(frame, "column_names") and hasattr(frame, "column"):
        # pyarrow's.
        return [(name, frame.column(name)) for name in frame.column_names]
    if hasattr(frame, "columns") and hasattr(frame, "__getitem__"):
        # That of pandas, and those that are like it.
        return [(name, frame[name]) for name in frame.columns]
    if isinstance(frame, Sequence) and all(isinstance(row, Mapping) for row in frame):
        names = list(dict.fromkeys(name for row in frame for name in row))
        return [(name, [row.get(name) for row in frame]) for name in names]
    raise TypeError(
        "a table is a DataFrame, a table of Arrow, a mapping of columns, or a list of mappings, "
        f"not {type(frame).__name__}"
    )


def _checked(name: str, column: Any) -> npt.NDArray[Any]:
    """The values of a column, none of which is missing."""
    if hasattr(column, "to_numpy"):
        values = np.asarray(column.to_numpy())
        # A column of NumPy's floats may have NaN; else it stands for a value that is missing.
        is_float = getattr(getattr(column, "dtype", None), "kind", "") == "f" and isinstance(
            column.dtype, np.dtype
        )
        is_missing = getattr(column, "null_count", 0) or (
            not is_float and hasattr(column, "isna") and bool(column.isna().any())
        )
    else:
        values = np.asarray(column[...] if hasattr(column, "shape") else list(column))
        is_missing = False
    if values.ndim != 1:
        raise ValueError(f"column {name!r} has the shape {values.shape}; a column has one axis")
    missing = [values.dtype.kind == "O" and value is None for value in values]
    if is_missing or any(missing):
        row = f", such as row {missing.index(True)}" if any(missing) else ""
        raise ValueError(f"column {name!r} lacks values{row}: fill them, or leave the column out")
    if values.dtype.kind in "OT" and all(isinstance(value, str) for value in values):
        values = values.astype(np.str_)
    if values.dtype.kind not in _KINDS:
        raise TypeError(
            f"column {name!r} has values of {values.dtype}; columns have numbers, times or text"
        )
    values = values.astype(values.dtype.newbyteorder("="))
    values.setflags(write=False)
    return values
