"""A map of what is stored of an array: a cell for each chunk, darker where it takes more bytes.

A missing chunk is hatched: it reads as the fill value, and is never taken for a small one. Large
maps join neighbouring chunks to one cell, which is hatched if any of them is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from zarrix._display.printable import counted
from zarrix._runtime.sizes import human_readable_size

__all__ = ["ChunkMap"]

_MOST_CELLS = {"text": (100, 40), "picture": (128, 128)}
_MOST_PLANES = 6
_LEVELS = "░▒▓█"
_HATCHED = "/"
_SIDE = 320.0
_GAP = 10.0
# Wide enough for any font of 11 px, so that the caption is not cut.
_CHARACTER = 7.0


class ChunkMap:
    """Which chunks (or shards) are stored, and in how many bytes; prints, and notebooks draw it.

    Attributes
    ----------
    sizes : ndarray of int64
        Bytes of each stored value, -1 where it is missing.
    box : list of tuple of int
        Along each axis, the number of the first chunk and one after the last.
    noun : str
        "chunk" or "shard".

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.zeros((4, 6), chunks=(2, 2), compressor=None)
    >>> z[:2, :2] = 7
    >>> found = z.chunk_map()
    >>> found.sizes
    array([[32, -1, -1],
           [-1, -1, -1]])
    >>> print(found)
    █//
    ///
    1 of 6 chunks stored, 32 bytes
    """

    __module__ = "zarrix.core"

    def __init__(
        self, sizes: npt.NDArray[np.int64], box: Sequence[tuple[int, int]], noun: str
    ) -> None:
        self.sizes, self.box, self.noun = sizes, list(box), noun

    @property
    def stored(self) -> int:
        """The number of stored values."""
        return int(np.count_nonzero(self.sizes >= 0))

    @property
    def nbytes(self) -> int:
        """Bytes of all stored values."""
        return int(self.sizes[self.sizes >= 0].sum())

    def _planes(self) -> tuple[list[tuple[str, Any]], int]:
        """The first planes of the last two axes, each with its place; and how many there are."""
        shape = (1, 1, *self.sizes.shape)[-max(2, self.sizes.ndim) :]
        sizes = self.sizes.reshape(shape)
        leading = sizes.shape[:-2]
        count = int(np.prod(leading, dtype=np.int64))
        found = []
        for number in range(min(count, _MOST_PLANES)):
            at = np.unravel_index(number, leading) if leading else ()
            place = [int(one) + begin for one, (begin, _) in zip(at, self.box, strict=False)]
            found.append((", ".join(map(str, place)), sizes[tuple(int(one) for one in at)]))
        return found, count

    def _summary(self) -> str:
        size = human_readable_size(self.nbytes) if self.nbytes > 1023 else None
        nbytes = f"{size} bytes" if size else counted(self.nbytes, "byte")
        return f"{self.stored:,} of {counted(self.sizes.size, self.noun)} stored, {nbytes}"

    def __str__(self) -> str:
        planes, count = self._planes()
        most = max(1, int(self.sizes.max(initial=0)))
        lines = []
        for place, plane in planes:
            if count > 1:
                lines.append(f"{self.noun}s [{place}, :, :]")
            rows = _joined(plane, _MOST_CELLS["text"]).tolist()
            lines += ["".join(_character(size, most) for size in row) for row in rows]
        if count > len(planes):
            lines.append(f"... and {count - len(planes):,} more planes")
        return "\n".join([*lines, self._summary()])

    __repr__ = __str__

    def _repr_svg_(self) -> str:
        """The map as SVG."""
        planes, count = self._planes()
        most = max(1, int(self.sizes.max(initial=0)))
        drawn, left, height = [], 0.0, 1.0
        for place, plane in planes:
            cells = _joined(plane, _MOST_CELLS["picture"])
            side = min(24.0, _SIDE / max(1, *cells.shape))
            drawn.append(f'<g transform="translate({left:.0f} 14)">{_rows(cells, side, most)}</g>')
            if count > 1:
                drawn.append(f'<text x="{left:.0f}" y="10">[{escape(place)}]</text>')
            left += max(cells.shape[1] * side, 30.0) + _GAP
            height = max(height, cells.shape[0] * side)
        more = f", the first {len(planes)} of {count:,} planes" if count > len(planes) else ""
        caption = self._summary() + more
        label = escape(caption)
        width = max(left, _CHARACTER * len(caption))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
            f'height="{height + 34:.0f}" role="img" aria-label="{label}" fill="currentColor" '
            'font-size="11"><defs><pattern id="zarrix-missing" width="4" height="4" '
            'patternUnits="userSpaceOnUse"><path d="M0 4L4 0" stroke="currentColor" '
            f'stroke-opacity="0.5"/></pattern></defs>{"".join(drawn)}'
            f'<text x="0" y="{height + 28:.0f}">{label}</text></svg>'
        )

    def _repr_html_(self) -> str:
        return self._repr_svg_()


def _joined(plane: Any, most: tuple[int, int]) -> Any:
    """At most so many columns and rows: cells are the largest chunk in them, or missing."""
    columns, rows = most
    for axis, limit in ((0, rows), (1, columns)):
        by = -(-plane.shape[axis] // limit)
        if by > 1:
            begins = np.arange(0, plane.shape[axis], by)
            least = np.minimum.reduceat(plane, begins, axis)
            plane = np.where(least < 0, -1, np.maximum.reduceat(plane, begins, axis))
    return plane


def _character(size: int, most: int) -> str:
    if size < 0:
        return _HATCHED
    return _LEVELS[min(len(_LEVELS) - 1, size * len(_LEVELS) // most)]


def _rows(cells: Any, side: float, most: int) -> str:
    """Rectangles of a plane; neighbours in a row that look alike are one."""
    found = []
    for y, row in enumerate(cells.tolist()):
        looks = [None if size < 0 else round(0.15 + 0.75 * size / most, 2) for size in row]
        begin = 0
        for x in range(1, len(looks) + 1):
            if x < len(looks) and looks[x] == looks[begin]:
                continue
            look = looks[begin]
            fill = 'fill="url(#zarrix-missing)"' if look is None else f'fill-opacity="{look}"'
            found.append(
                f'<rect x="{begin * side:.1f}" y="{y * side:.1f}" '
                f'width="{(x - begin) * side:.1f}" height="{side:.1f}" {fill} '
                'stroke="currentColor" stroke-opacity="0.2" stroke-width="0.5"/>'
            )
            begin = x
    return "".join(found)
