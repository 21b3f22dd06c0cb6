"""Names of ``zarr.storage._utils``: paths of nodes, and the bytes that a request asks for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from zarrix._runtime.buffers import slice_of
from zarrix._stores.path import normalize_storage_path as normalize_path

__all__ = ["normalize_path"]


def _join_paths(paths: Iterable[str]) -> str:
    """Non-empty parts of a path, joined by slashes."""
    return "/".join(part for part in paths if part)


def _normalize_byte_range_index(data: Any, byte_range: Any) -> tuple[int, int]:
    """The first and the last byte, behind it, of the part of a value that a request asks for."""
    if byte_range is None:
        return 0, len(data) + 1
    start, stop, _ = slice_of(byte_range).indices(len(data))
    return start, stop
