"""`read_many`: windows of several arrays, of several stores, in one call of the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zarrix import _engine
from zarrix._array.array import Array
from zarrix._array.boxes import BoxesIO
from zarrix._array.conversion import conversion_of
from zarrix._array.create import array
from zarrix._array.device_out import host_memory, is_on_device
from zarrix._errors import ArrayNotFoundError, suggestion
from zarrix._runtime.signatures import takes
from zarrix._selection import windows
from zarrix._selection.values import as_out, fill_element

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["BORDERS", "WindowFailure", "read_many"]

BORDERS = ("inside", "pad", "edge", "reflect")


@dataclass(frozen=True, slots=True)
class WindowFailure:
    """A window that `read_many` could not read, because a chunk is corrupt.

    Attributes
    ----------
    entry : int
        The number of the entry.
    window : int
        The number of the window in its entry.
    key : str or None
        The key of the chunk in the store of the array.
    error : Exception
        What ``on_error="raise"`` would have raised.

    Examples
    --------
    >>> import zarrix as zarr
    >>> zarr.WindowFailure(0, 3, "c/0/1", ValueError("a checksum differs")).window
    3
    """

    entry: int
    window: int
    key: str | None
    error: Exception


class _Entry:
    """One entry of a call, checked: what the engine is given, and what is left to do after it."""

    __slots__ = ("cast_to", "element", "given", "native", "out", "result")

    def __init__(
        self, parts: tuple[Array, Any, Any, Any], border: str, pad: Any, convert: Any
    ) -> None:
        source, starts, shape, out = parts
        snapshot = source._current()
        metadata = snapshot.metadata
        corners, size = windows.check(starts, shape, metadata.shape)
        outside = "error" if border == "inside" else "pad"
        leaving = windows.leaving(corners, size, metadata.shape, outside, 'border="pad"')
        self.out = out
        wanted = (len(corners), *size)
        self.cast_to = source._options.cast_to
        dtype, native = metadata.dtype, None
        if convert is not None:
            if self.cast_to is not None:
                raise TypeError("convert= is for arrays; this is a view made by astype()")
            dtype, native = conversion_of(convert, dtype, size, out)
        self.given: Any = None if out is None else as_out(out, self.cast_to or dtype, wanted)
        is_direct = self.given is not None and self.cast_to is None
        result: Any = self.given if is_direct else _engine.empty(wanted, dtype, "C")
        self.result = result
        self.element = fill_element(metadata.dtype, metadata.fill_value)
        padding = self.element if pad is None else _element(pad, metadata.dtype)
        is_fixed = not _is_variable(metadata.dtype)
        if border == "pad" and leaving is not None and not is_fixed:
            result[leaving] = padding
        native_pad = padding.tobytes() if border == "pad" and is_fixed else None
        buffer: Any = corners
        # None if the result is filled already.
        self.native: Any = (snapshot.io, buffer, result, border, native_pad, native, None)
        if isinstance(snapshot.io, BoxesIO):
            values = np.empty(wanted, metadata.dtype)
            values[...] = padding
            snapshot.io.read_bordered(corners, values, border)
            if native is None:
                result[...] = values
            self.native = None if native is None else _of_values(values, result, native)

    def finish(self, failed: Iterable[int]) -> Any:
        """The filled result; variable-length elements of failed windows become the fill value."""
        if _is_variable(self.result.dtype):
            for window in failed:
                self.result[window] = self.element
        if self.cast_to is None:
            return self.result if self.out is None else self.out
        if self.given is None:
            return self.result.astype(self.cast_to)
        self.given[...] = self.result
        return self.out


def _of_values(values: npt.NDArray[Any], result: Any, native: Any) -> tuple[Any, ...]:
    """An entry for windows that were read already, which the engine only converts: those of an
    array in memory, along whose first axis they lie.
    """
    chunks = [max(1, n) for n in values.shape[1:]]
    stored = array(values, chunks=(1, *chunks), compressor=None)
    starts = np.zeros((len(values), values.ndim), np.int64)
    starts[:, 0] = np.arange(len(values))
    native = (*native[:4], native[4] + 1, *native[5:])
    return stored._snapshot.io, starts, np.expand_dims(result, 1), "inside", None, native, None


def _is_variable(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "OT"


def _element(value: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    element: npt.NDArray[Any] = np.empty((), dtype)
    element[()] = value
    return element


@takes()
def read_many(
    entries: Iterable[Sequence[Any]],
    *,
    border: str | Sequence[str] = "inside",
    pad_value: Any = None,
    convert: Any = None,
    on_error: str | Callable[[WindowFailure], object] = "raise",
    cancel: _engine.CancelToken | None = None,
) -> list[Any]:
    """Read windows of several arrays, of several stores, in one native call.

    A chunk is fetched and decoded once per call, even if several windows or entries need it. Apart
    from the results, the call uses the memory of a few chunks per thread. It holds the GIL only to
    check its arguments. The result does not differ from slicing the same arrays.

    Parameters
    ----------
    entries : sequence of (array, starts, shape) or (array, starts, shape, out)
        An open array; the lowest corner of each window, shape (N, ndim); the shape of a window, an
        int for all axes or one per axis; and a buffer to fill, of shape (N, n0, n1, ...), with any
        strides. A new array when omitted or None. Outs may lie side by side in one buffer; if two
        share elements, it is not defined whose values remain. For a torch tensor on a CUDA device,
        windows are read into page-locked memory and copied on the current stream.
    border : {"inside", "pad", "edge", "reflect"}, or a list with one per entry
        What to do if a window extends beyond its array: raise an error before anything is read,
        fill with ``pad_value``, repeat the edge, or mirror the array, as `numpy.pad` does.
    pad_value : scalar, or a list with one per entry, optional
        The array's fill value when omitted. It is a value of the array, and converted as all are.
    convert : dtype or dict, or a list with one per entry, optional
        Convert numbers to float16, bfloat16, float32, float64 or integers while they are copied out
        of the decoded chunk. A dict has ``dtype``, and may have ``scale`` and ``offset`` (a number,
        or one for each index of a window along ``axis``), ``clip`` (the lowest and the highest
        result, or None) and ``nan`` (the result for NaN). The result is ``value * scale + offset``,
        clipped, computed in double precision and rounded once; to integers to the nearest one, ties
        to the even one, and the nearest of the dtype beyond its limits. Floats become integers with
        a number for ``nan``. bfloat16 may be read to an out of uint16.
    on_error : "raise" or callable
        A function is called with a `WindowFailure` for each window that needs a corrupt chunk. Such
        a window has the fill value in all of its elements. All other errors raise in any case.
    cancel : CancelToken, optional
        Its ``cancel()``, in any thread, ends the call within 100 ms.

    Returns
    -------
    list
        The filled ``out`` of each entry.

    Raises
    ------
    BoundsCheckError
        A window extends beyond its array, and ``border="inside"``; nothing was read.
    CorruptChunkError
        A chunk is corrupt, and ``on_error="raise"``. The content of the outs is unspecified.
    CallCancelledError
        ``cancel`` ended the call. The content of the outs is unspecified.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> image = zarr.array(np.arange(12).reshape(3, 4), chunks=(2, 2))
    >>> label = zarr.array(np.arange(6).reshape(3, 2), chunks=(2, 2))
    >>> crops, labels = zarr.read_many(
    ...     [(image, [[0, 0], [1, 2]], (2, 2)), (label, [[0, 0], [1, 1]], (2, 1))]
    ... )
    >>> crops[1]
    array([[ 6,  7],
           [10, 11]])
    >>> labels[1]
    array([[3],
           [5]])

    Pixels from 0 to 1, as a network takes them; the second crop leaves the image:

    >>> scaled = {"dtype": "float32", "scale": 1 / 11}
    >>> zarr.read_many([(image, [[0, 0], [2, 3]], 2)], border="edge", convert=scaled)[0][1]
    array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    given = [_parts(entry, number) for number, entry in enumerate(entries)]
    borders = _each(border, len(given), "border", str)
    for one in {border} if isinstance(border, str) else borders:
        if one not in BORDERS:
            hint = suggestion(str(one), BORDERS)
            raise ValueError(f"border={one!r}; allowed are {', '.join(map(repr, BORDERS))}{hint}")
    padding = _each(pad_value, len(given), "pad_value", tuple)
    if given and pad_value is not None and "pad" not in borders:
        raise ValueError("pad_value= is for windows that leave the array: add border='pad'")
    if on_error != "raise" and not callable(on_error):
        raise ValueError(f"on_error={on_error!r}; allowed are 'raise' and a function")
    conversions = _each(convert, len(given), "convert", str)
    on_device = {n: host_memory(out) for n, (*_, out) in enumerate(given) if is_on_device(out)}
    for number, memory in on_device.items():
        given[number] = (*given[number][:3], memory.array)
    checked, found = _filled((given, borders, padding, conversions), callable(on_error), cancel)
    failures = [WindowFailure(*failure) for failure in found]
    results = [
        entry.finish([failure.window for failure in failures if failure.entry == number])
        for number, entry in enumerate(checked)
    ]
    for number, memory in on_device.items():
        memory.upload()
        results[number] = memory.out
    if callable(on_error):
        for failure in failures:
            on_error(failure)
    return results


def _filled(
    parts: tuple[list[Any], ...], tolerate: bool, cancel: _engine.CancelToken | None
) -> tuple[list[_Entry], list[Any]]:
    """The entries, filled; and what was tolerated."""
    followed: list[Any] = [None] * len(parts[0])
    while True:
        snapshots = [(one, one._snapshot) for one, *_ in parts[0]]
        checked = list(map(_Entry, *parts))
        for entry, instead in zip(checked, followed, strict=True):
            if instead is not None and entry.native is not None:
                entry.native = (instead.io, *entry.native[1:])
        numbers = [number for number, entry in enumerate(checked) if entry.native is not None]
        native: Any = [checked[number].native for number in numbers]
        try:
            found = _engine.read_many(native, tolerate=tolerate, cancel=cancel)
            return checked, [(numbers[number], *rest) for number, *rest in found]
        except ArrayNotFoundError as error:
            followed = [one._followed(snapshot, error) for one, snapshot in snapshots]
            if not any(followed):
                raise
            # One that is the array's own now need not be passed.
            followed = [
                None if one._snapshot is instead else instead
                for (one, _), instead in zip(snapshots, followed, strict=True)
            ]


def _parts(entry: Sequence[Any], number: int) -> tuple[Array, Any, Any, Any]:
    try:
        source, starts, shape, *rest = entry
    except (TypeError, ValueError):
        rest = [None, None]
    if len(rest) > 1:
        raise TypeError(
            f"entry {number} is not (array, starts, shape) or (array, starts, shape, out)"
        )
    if not isinstance(source, Array):
        raise TypeError(f"entry {number}: an open zarrix array is needed, not {type(source)}")
    return source, starts, shape, rest[0] if rest else None


def _each(value: Any, count: int, name: str, single: type) -> list[Any]:
    """One value per entry, of a list with one each or of a value for all."""
    if isinstance(value, list | tuple) and not isinstance(value, single):
        if len(value) != count:
            raise ValueError(f"{name} has {len(value)} values for {count} entries")
        return list(value)
    return [value] * count
