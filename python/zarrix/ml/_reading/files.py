"""Files as a field: one sample each, decoded by a function of the caller."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from zarrix import _engine
from zarrix._errors import CorruptChunkError
from zarrix.ml._order.random import Ints

__all__ = ["Files"]


class Files:
    """Files that are decoded one by one, as a field beside arrays.

    Each file is a sample of `Rows`, or a row of ``Ragged(rows=)``. The files of a batch are decoded
    by as many threads as a loader has; ``decode`` must bear that.

    Parameters
    ----------
    paths : iterable of str or path
        In the order of the items.
    decode : callable
        ``decode(path)`` returns an array, or what NumPy makes an array of.
    shape : tuple of int, optional
        Of each sample; that of the first file, which is then decoded, when omitted.
    dtype : dtype, optional
        As for ``shape``.

    Attributes
    ----------
    shape : tuple of int
        The number of files, and the shape of a sample.
    dtype : dtype
    ndim : int

    Raises
    ------
    ValueError
        There are no files.
    CorruptChunkError
        The first file cannot be decoded, and shape and dtype are not both passed. A loader does
        with such files what ``on_error`` says of corrupt chunks; the same is true of a file of
        another shape or dtype. A file that does not exist is a FileNotFoundError always.

    Examples
    --------
    >>> import tempfile, numpy as np, zarrix as zarr
    >>> from zarrix import ml
    >>> labels = zarr.array(np.array([5, 6, 7]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = [f"{folder}/{number}.npy" for number in range(3)]
    ...     for number, path in enumerate(paths):
    ...         np.save(path, np.full((2, 2), number))
    ...     rows = ml.Rows({"x": ml.Files(paths, np.load), "label": labels})
    ...     rows[2]["x"].tolist(), int(rows[2]["label"])
    ([[2, 2], [2, 2]], 7)
    """

    __module__ = "zarrix.ml"

    def __init__(
        self,
        paths: Iterable[str | os.PathLike[str]],
        decode: Callable[[str], Any],
        *,
        shape: tuple[int, ...] | None = None,
        dtype: Any = None,
    ) -> None:
        if isinstance(paths, str | os.PathLike):
            raise TypeError("Files takes paths, and not a single one")
        self._paths = [os.fspath(path) for path in paths]
        if not self._paths:
            raise ValueError("Files needs at least one path")
        if not callable(decode):
            raise TypeError(f"decode={decode!r} is not a function")
        self._decode = decode
        if shape is None or dtype is None:
            first = self._decoded(0)
            shape = first.shape if shape is None else shape
            dtype = first.dtype if dtype is None else dtype
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.shape = (len(self._paths), *(int(length) for length in shape))
        self.ndim = len(self.shape)

    def __repr__(self) -> str:
        return f"Files({self.shape} {self.dtype})"

    def _decoded(self, number: int) -> Any:
        path = self._paths[number]
        try:
            return np.asarray(self._decode(path))
        except (FileNotFoundError, PermissionError):
            raise
        except Exception as error:
            raise CorruptChunkError(f"{path!r} was not decoded: {error}") from error

    def _sample(self, number: int) -> Any:
        """A sample, which has the shape and dtype of all."""
        values = self._decoded(number)
        if values.shape != self.shape[1:] or values.dtype != self.dtype:
            raise CorruptChunkError(
                f"{self._paths[number]!r} has samples of {values.shape} {values.dtype}, and other "
                f"files of {self.shape[1:]} {self.dtype}"
            )
        return values

    def _read(
        self,
        numbers: Ints,
        out: Any,
        threads: int,
        tolerate: Callable[[int, str, Exception], None] | None,
    ) -> None:
        """Decode some files into rows of ``out``; those that are damaged are 0 if tolerated."""

        def put(row: int) -> CorruptChunkError | None:
            try:
                out[row, 0] = self._sample(int(numbers[row]))
            except CorruptChunkError as error:
                out[row, 0] = np.zeros((), self.dtype)
                return error
            return None

        workers = min(len(numbers), threads or _engine.threads())
        if workers < 2:
            errors = [put(row) for row in range(len(numbers))]
        else:
            with ThreadPoolExecutor(workers, "zarrix-files") as pool:
                errors = list(pool.map(put, range(len(numbers))))
        for row, error in enumerate(errors):
            if error is None:
                continue
            if tolerate is None:
                raise error
            tolerate(row, self._paths[int(numbers[row])], error)

    def _digest(self) -> str:
        """What distinguishes these files from others: their names, without their folders."""
        names = "\0".join(os.path.basename(path) for path in self._paths)
        return hashlib.sha256(names.encode("utf-8", "surrogateescape")).hexdigest()[:16]
