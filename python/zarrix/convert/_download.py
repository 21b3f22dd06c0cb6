"""A file of another format that a URL names, as a file of this machine.

Libraries of formats read files. A file is downloaded in blocks, and all blocks are of one version.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from zarrix._errors import PathNotFoundError, SourceChangedError
from zarrix._stores.base import Store
from zarrix._stores.open import as_store
from zarrix._stores.path import is_url
from zarrix._stores.redaction import public_url
from zarrix.convert._formats import format_of

__all__ = ["download", "fetched", "file_in", "here"]

_BLOCK = 8 << 20


def file_in(url: str) -> tuple[str, str] | None:
    """The URL of a file of another format, and the path inside of it; None if it is not one."""
    head, inside = url.rstrip("/"), ""
    while not head.endswith((":", "/")):
        if format_of(head) is not None:
            return head, inside
        head, _, name = head.rpartition("/")
        inside = f"{name}/{inside}" if inside else name
    return None


def download(
    url: str, folder: str, storage_options: Mapping[str, Any] | None
) -> tuple[str, list[Any]]:
    """Store a file below a folder; its path, and what tells it from later ones under the URL.

    Raises
    ------
    PathNotFoundError
        There is no such file.
    SourceChangedError
        It was replaced meanwhile.
    """
    above, _, name = url.rpartition("/")
    store = as_store(above, storage_options)
    before = store.head(name)
    if before is None:
        raise PathNotFoundError(f"{public_url(url)} does not exist")
    path = fetched(store, name, before, url, folder)
    return path, [public_url(url), before.size, before.tag]


def fetched(store: Store, key: str, before: Any, url: str, folder: str) -> str:
    """The path below a folder of a file that is the value of ``key``, which ``before`` describes.

    Raises
    ------
    SourceChangedError
        It is another one, or was replaced meanwhile.
    """
    path = os.path.join(folder, url.rpartition("/")[2])
    with open(path, "xb") as file:
        while file.tell() < before.size:
            at = file.tell()
            block = store._engine.get_slice(store.engine_path(key), at, at + _BLOCK)
            if not block:
                break
            file.write(block)
        size = file.tell()
    if size != before.size or store.head(key) != before:
        raise SourceChangedError(
            f"{public_url(url)} has changed while it was read; nothing was stored: make the call "
            "again"
        )
    return path


@contextlib.contextmanager
def here(
    sources: Any, storage_options: Mapping[str, Any] | None
) -> Iterator[tuple[Any, list[list[Any]]]]:
    """The sources of a call, those that are URLs as files of this machine until the end of a block.

    Gives the sources, and for each URL what tells its version.
    """
    several = not isinstance(sources, str | os.PathLike)
    listed = [os.fspath(one) for one in (sources if several else [sources])]
    if not any(map(is_url, listed)):
        yield sources, []
        return
    with tempfile.TemporaryDirectory(prefix="zarrix-") as folder:
        found, seen = [], []
        for number, one in enumerate(listed):
            if is_url(one):
                below = os.path.join(folder, str(number))
                os.mkdir(below)
                one, version = download(one, below, storage_options)
                seen.append(version)
            found.append(one)
        yield found if several else found[0], seen
