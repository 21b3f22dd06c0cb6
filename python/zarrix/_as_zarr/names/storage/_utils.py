"""Names of ``zarr.storage._utils``: paths of nodes, URLs, and the bytes that a request asks for."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import PureWindowsPath
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlparse

from zarrix._runtime.buffers import slice_of
from zarrix._stores.keys import key_of
from zarrix._stores.path import normalize_storage_path as normalize_path

__all__ = ["ParsedStoreUrl", "normalize_path", "parse_store_url"]

T = TypeVar("T")


class ParsedStoreUrl(NamedTuple):
    """The parts of a URL; a path of this machine has neither a scheme nor a name."""

    scheme: str
    name: str | None
    path: str
    raw: str


def parse_store_url(url: str) -> ParsedStoreUrl:
    """The scheme, the name of a bucket, a server or a store, and the path in it.

    Parameters
    ----------
    url : str
        A URL, or a path of this machine.
    """
    if sys.platform == "win32" and PureWindowsPath(url).drive:
        # The drive is not a scheme.
        return ParsedStoreUrl("", None, url, url)
    parts = urlparse(url)
    is_named = parts.scheme and parts.netloc
    path = parts.path.lstrip("/") if is_named else parts.path
    return ParsedStoreUrl(parts.scheme, parts.netloc or None, path, url)


def _normalize_paths(paths: Iterable[Any]) -> tuple[str, ...]:
    """Normal forms of paths, all of them different."""
    first: dict[str, Any] = {}
    for path in paths:
        normal = normalize_path(path)
        if normal in first:
            raise ValueError(
                f"the paths {first[normal]!r} and {path!r} are one: both are {normal!r}; give one"
            )
        first[normal] = path
    return tuple(first)


def _normalize_path_keys(data: Mapping[str, T]) -> dict[str, T]:
    """A mapping by the normal forms of its paths, all of them different."""
    return dict(zip(_normalize_paths(data), data.values(), strict=True))


def _join_paths(paths: Iterable[str]) -> str:
    """Non-empty parts of a path, joined by slashes."""
    return "/".join(part for part in paths if part)


def _dereference_path(root: str, path: str) -> str:
    """A key below the path of a file system, of which ``/`` alone is the root."""
    return key_of(root.rstrip("/"), path).rstrip("/")


def _relativize_path(*, path: str, prefix: str) -> str:
    """What follows a prefix in a path.

    Raises
    ------
    ValueError
        The path is not below the prefix.
    """
    if not prefix:
        return path
    if not path.startswith(f"{prefix}/"):
        raise ValueError(f"the path {path!r} is not below {prefix!r}")
    return path.removeprefix(f"{prefix}/")


def _normalize_byte_range_index(data: Any, byte_range: Any) -> tuple[int, int]:
    """The first and the last byte, behind it, of the part of a value that a request asks for."""
    if byte_range is None:
        return 0, len(data) + 1
    start, stop, _ = slice_of(byte_range).indices(len(data))
    return start, stop
