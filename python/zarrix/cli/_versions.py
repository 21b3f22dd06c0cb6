"""Paths of versions on the command line: ``PATH@NAME``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from zarrix._stores.path import is_url

if TYPE_CHECKING:
    from zarrix.versions import Versions

__all__ = ["resolved", "states_of"]


def resolved(path: str) -> str:
    """The folder of the version that ``PATH@NAME`` names; every other path as it is.

    An existing path of that name wins. A path in the version follows its name, or precedes the
    sign: ``data.zarr@v1/a`` and ``data.zarr/a@v1`` are the same array. In a bucket, only the root
    of a version has such a path.
    """
    if "@" not in path or os.path.lexists(path):
        return path
    if is_url(path):
        is_version = path.startswith(("s3://", "s3a://")) and "/" not in path.rpartition("@")[2]
        return f"version+{path}" if is_version else path
    # Import time: few paths have the sign.
    from zarrix.versions._home import home_of, inside_of

    base, _, rest = path.rpartition("@")
    name, _, below = rest.partition("/")
    store, above = inside_of(base)
    own = None if above else store._at_version(rest)
    if own is not None:
        return getattr(own, "url", None) or path
    folder = store._folder()
    if folder is None:
        return path
    # Import time: as above.
    from zarrix.versions._catalogue import find_version

    home = home_of(store)
    found = find_version(home.versions, name, home.folder)
    return os.path.join(home.folder, found.name, *(part for part in (above, below) if part))


def states_of(first: str, second: str) -> tuple[Versions, str, str] | None:
    """The versions of a hierarchy, and the names of two of its states; None for other paths."""
    # Import time: --help does not need them.
    from zarrix._stores.keys import VERSIONS_SUFFIX

    bases, names = [], []
    for path in (first, second):
        if is_url(path):
            return None
        folder, name = os.path.split(os.path.realpath(path))
        if folder.endswith(VERSIONS_SUFFIX):
            bases.append(folder.removesuffix(VERSIONS_SUFFIX))
            names.append(name)
        else:
            bases.append(os.path.join(folder, name))
            names.append("live")
    if bases[0] != bases[1] or names == ["live", "live"]:
        return None
    # Import time: as above.
    import zarrix as zarr

    versions: Any = zarr.Versions(bases[0])
    if not all(name == "live" or name in versions for name in names):
        return None
    return versions, names[0], names[1]
