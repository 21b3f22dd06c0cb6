"""A picture of what a loader will yield: a row for each sample, a column for each field.

Fields of two channels are shown as optical flow: the colour is the direction; white does not move.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from zarrix._runtime.new_files import whole_file

__all__ = ["Preview", "preview_of"]

_HEIGHT = 96
_GAP = 4


class Preview:
    """A contact sheet as an RGB picture; notebooks show it.

    Parameters
    ----------
    image : ndarray of uint8, shape (height, width, 3)
    names : list of str
        The field of each column.

    Raises
    ------
    ValueError
        ``image`` has another shape.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix import ml
    >>> rows = ml.Rows({"x": zarr.ones((6, 3, 32, 48), dtype="u1")})
    >>> preview = ml.Loader(rows, batch_size=4).preview()
    >>> preview.names, preview.image.shape
    (['x'], (404, 152, 3))
    """

    __module__ = "zarrix.ml"

    def __init__(self, image: npt.NDArray[np.uint8], names: list[str]) -> None:
        if image.ndim != 3 or image.shape[2] != 3:
            raise ValueError(f"a picture of shape {image.shape}; it has three colours")
        self.image, self.names = image, names

    def save(self, path: str | Path) -> None:
        """Write the picture as a PNG file.

        Parameters
        ----------
        path : str or Path

        Raises
        ------
        OSError
            The file cannot be written.

        Examples
        --------
        >>> import tempfile, zarrix as zarr
        >>> from zarrix import ml
        >>> preview = ml.Loader(ml.Rows({"x": zarr.ones((2, 8, 8))})).preview()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     preview.save(folder + "/preview.png")
        """
        with whole_file(path) as file:
            file.write(self._repr_png_())

    def _repr_png_(self) -> bytes:
        height, width, _ = self.image.shape
        # A filter byte of 0 in front of each row of pixels.
        rows = np.zeros((height, 1 + width * 3), np.uint8)
        rows[:, 1:] = self.image.reshape(height, -1)

        def part(kind: bytes, data: bytes) -> bytes:
            check = zlib.crc32(kind + data)
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

        header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
        body = part(b"IDAT", zlib.compress(rows.tobytes()))
        return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + body + part(b"IEND", b"")

    def __repr__(self) -> str:
        height, width, _ = self.image.shape
        return f"Preview({', '.join(self.names)}: {width} x {height} pixels)"


def preview_of(batch: dict[str, Any], names: list[str]) -> Preview:
    """The contact sheet of a batch of NumPy arrays."""
    columns, shown = [], []
    for name in names:
        values = np.asarray(batch[name])
        if values.dtype.kind not in "biuf" or values.ndim < 3:
            continue
        finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        if values.dtype == np.uint8:
            low, high = 0.0, 255.0
        tiles = [_tile(value, low, high) for value in values]
        columns.append(np.concatenate([np.pad(t, ((0, _GAP), (0, 0), (0, 0))) for t in tiles]))
        shown.append(name)
    if not columns:
        raise ValueError(f"none of the fields {names} is a picture: they have less than two axes")
    gapped = [np.pad(column, ((_GAP, 0), (_GAP, _GAP), (0, 0))) for column in columns]
    return Preview(np.concatenate(gapped, axis=1), shown)


def _tile(value: Any, low: float, high: float) -> npt.NDArray[np.uint8]:
    """One sample as a small picture: the middle of a clip or volume, its first three channels."""
    largest = max(abs(low), abs(high), 1e-12)
    while value.ndim > 3 or (value.ndim == 3 and min(value.shape[0], value.shape[2]) > 4):
        value = value[len(value) // 2]
    if value.ndim == 3:
        value = value if value.shape[2] <= 4 else np.moveaxis(value, 0, -1)
        value = value[..., :3]
    else:
        value = value[..., None]
    rows = np.arange(_HEIGHT) * value.shape[0] // _HEIGHT
    width = max(1, round(_HEIGHT * value.shape[1] / value.shape[0]))
    picture = value[rows][:, np.arange(width) * value.shape[1] // width].astype(np.float64)
    if picture.shape[2] == 2:
        scaled = _directions(np.nan_to_num(picture) / largest)
    else:
        scaled = (np.nan_to_num(picture, nan=low) - low) / max(high - low, 1e-12)
    pixels: npt.NDArray[np.uint8] = (np.clip(scaled, 0, 1) * 255).astype(np.uint8)
    return np.broadcast_to(pixels, (*pixels.shape[:2], 3))


def _directions(vectors: Any) -> Any:
    """Vectors of at most length 1 along each axis as colours from 0 to 1."""
    angle = np.arctan2(vectors[..., 1], vectors[..., 0])
    length = np.clip(np.hypot(vectors[..., 0], vectors[..., 1]), 0, 1)
    turns = np.array([0, 2, 4]) * np.pi / 3
    return 1 - length[..., None] * (0.5 - 0.5 * np.cos(angle[..., None] - turns))
