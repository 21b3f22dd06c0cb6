"""HTML for notebooks: the info report, the tree and the chunk grid.

The HTML has its own style, in ``currentColor`` with opacities, so that one drawing is for light and
dark. It is imported on use, because opening an array draws nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from zarrix._display.labels import label_of
from zarrix._errors import shorten
from zarrix._metadata.chunk_grid import AxisGrid

if TYPE_CHECKING:
    from zarrix._display.info import InfoItems
    from zarrix._display.tree import TreeViewer

__all__ = ["array_html", "chunk_grid_svg", "info_table", "tree_html"]


def info_table(items: InfoItems) -> str:
    """The rows as an HTML table."""
    cell = 'style="text-align: left"'
    rows = (
        f"<tr><th {cell}>{escape(name)}</th><td {cell}>{escape(str(value))}</td></tr>"
        for name, value in items
    )
    return f'<table class="zarr-info"><tbody>{"".join(rows)}</tbody></table>'


def tree_html(tree: TreeViewer) -> str:
    """A hierarchy as boxes that open and close."""

    def html(node: Any, depth: int) -> str:
        label = escape(label_of(node))
        children = tree.children(node, depth)
        if not children:
            return f'<div style="margin-left: 1.2em">{label}</div>'
        limit = tree.expand if tree.expand is not True else depth + 1
        is_open = " open" if depth == 0 or depth < limit else ""
        inner = "".join(html(child, depth + 1) for child in children)
        tag = f'<details{is_open} style="margin-left: 1em">'
        return f"{tag}<summary>{label}</summary>{inner}</details>"

    with tree.listed_once():
        return f'<div class="zarrix-tree">{html(tree.group, 0)}</div>'


def array_html(items: InfoItems, shape: Sequence[int], grid: Sequence[AxisGrid]) -> str:
    """An array as a table of ``items`` next to a drawing of its chunk grid."""
    return (
        '<div style="display: flex; gap: 1.5em; align-items: center">'
        f"{info_table(items)}{chunk_grid_svg(shape, grid)}</div>"
    )


_SIDE = 140.0
_SMALLEST_SIDE = 18.0
_MOST_LINES = 24
_SHEET_STEP = 7.0


def chunk_grid_svg(shape: Sequence[int], grid: Sequence[AxisGrid]) -> str:
    """The last two axes and their chunks, to scale; further axes are sheets behind.

    If an axis has more chunks than can be distinguished, only some lines are drawn.
    """
    if 0 in shape:
        return ""
    rows, columns = (1, 1, *shape)[-2:]
    row_grid, column_grid = (AxisGrid(even=1), AxisGrid(even=1), *grid)[-2:]
    scale = _SIDE / max(rows, columns)
    height = max(rows * scale, _SMALLEST_SIDE)
    width = max(columns * scale, _SMALLEST_SIDE)
    behind = 0
    for size, axis in zip(shape[:-2], grid[:-2], strict=True):
        behind = min(2, behind + (size > 1) + (axis.count(size) > 1))
    shift = behind * _SHEET_STEP

    sheets = [
        _rectangle(1 + k * _SHEET_STEP, 1 + shift - k * _SHEET_STEP, width, height)
        for k in range(behind, -1, -1)
    ]
    top = 1 + shift
    lines = [
        f"M1 {top + height * at:.1f}h{width:.1f}" for at in _line_positions(rows, row_grid)
    ] + [
        f"M{1 + width * at:.1f} {top:.1f}v{height:.1f}"
        for at in _line_positions(columns, column_grid)
    ]
    regular = all(axis.even for axis in grid)
    lengths = [axis.document() for axis in grid]
    chunks = tuple(lengths) if regular else shorten(lengths)
    label = escape(f"shape {tuple(shape)}, chunks {chunks}")
    return (
        f'<svg width="{width + shift + 2:.0f}" height="{height + shift + 2:.0f}" role="img" '
        f'aria-label="{label}" fill="none" stroke="currentColor"><title>{label}</title>'
        f'{"".join(sheets)}<path d="{"".join(lines)}" stroke-opacity="0.55"/></svg>'
    )


def _rectangle(x: float, y: float, width: float, height: float) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
        'fill="currentColor" fill-opacity="0.08"/>'
    )


def _line_positions(size: int, axis: AxisGrid) -> list[float]:
    """The chunk boundaries along an axis, as fractions of it."""
    count = axis.count(size) - 1
    step = -(-count // _MOST_LINES) or 1
    return [axis.chunk(k).begin / size for k in range(step, count + 1, step)]
