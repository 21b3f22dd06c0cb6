"""The nodes that ``zarrix view`` and ``zarrix serve`` show: paths of the command line, opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zarrix._stores.path import is_url
from zarrix._stores.redaction import public_url
from zarrix.cli._path import open_path, split

if TYPE_CHECKING:
    from zarrix.viewer._roots import Root

__all__ = ["opened_roots"]


def opened_roots(paths: Sequence[str], storage_options: Mapping[str, Any]) -> list[Root]:
    """The arrays and groups at the paths; the options are for those that are URLs.

    Raises
    ------
    PathNotFoundError
        Nothing is at one of them.
    """
    # Optional packages: those of the extra [view].
    from zarrix.viewer._roots import Root

    found = []
    for path in paths:
        node = open_path(path, storage_options if is_url(path) else None)
        shown = public_url(path)
        name = shown.rstrip("/").rpartition("/")[2] or shown
        file, inside, format = split(shown)
        if format is None:
            below = f", path={inside!r}" if inside else ""
            python = f"zarrix.open({file!r}, mode='r'{below})"
        else:
            python = f"zarrix.convert.open_file({file!r}{f', {inside!r}' if inside else ''})"
        found.append(Root(name, node, python, shown))
    return found
