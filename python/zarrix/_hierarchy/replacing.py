"""The destination of a copy: compared with the source, and replaced when the copy is complete."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from zarrix import _engine
from zarrix._hierarchy.h5py_source import is_h5py
from zarrix._hierarchy.state import GroupState
from zarrix._metadata.group import GroupMetadata
from zarrix._nodes import nodes
from zarrix._stores.base import Store
from zarrix._stores.keys import ZATTRS, key_of
from zarrix._stores.local import DirectoryStore, LocalStore
from zarrix._stores.memory import MemoryStore
from zarrix._stores.open import as_store
from zarrix._stores.path import normalize_storage_path
from zarrix._stores.sites import Site, of_engine, of_file

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["named", "replaced_folder", "replaced_when_complete"]


def named(node: Any, name: str = "") -> tuple[Any, ...]:
    """An array or group of zarrix, zarr-python or h5py, or a member of it, as `refuse_overlap`
    takes it.
    """
    if isinstance(node, GroupState) and name:
        return node._location.store, node._item_path(name), node._location.chunk_store
    inside = normalize_storage_path(name)
    if is_h5py(node):
        return _File(node), key_of(node.name.strip("/"), inside)
    if not hasattr(node, "store"):
        return node, inside
    path = key_of(normalize_storage_path(node.path), inside)
    chunk_store = getattr(node, "_chunk_store", None)
    return as_store(node.store), path, None if chunk_store is None else as_store(chunk_store)


class _File:
    """The file of a node of h5py."""

    def __init__(self, node: Any) -> None:
        self.path = os.fsdecode(node.file.filename)
        # Optional package, which is imported already: the node is of it.
        h5py = importlib.import_module("h5py")
        self._number = h5py.h5o.get_info(node.id).fileno

    def _sites(self, path: str) -> list[Site]:
        if os.path.isfile(self.path):
            return of_file(self.path, path)
        return of_engine(f"hdf5 {self._number}", path)


@contextlib.contextmanager
def replaced_when_complete(dest: GroupState, name: str) -> Iterator[tuple[GroupState, str]]:
    """A group, and the name of the copy in it, which replaces ``name`` in ``dest`` at the end.

    In local files and in memory, the chunks are written beside the old node, and the metadata is
    kept in memory, so that no listing shows the copy and a failure keeps the old node. Elsewhere a
    rename would copy all chunks again, and the copy replaces the old node at once.
    """
    path, chunks = dest._new_path(name), dest._stores()[-1]
    for store in dest._stores():
        nodes.require_ours(store, path)
    if not isinstance(chunks._engine, _engine.LocalStore | _engine.MemoryStore):
        yield dest, name
        return
    root = GroupMetadata(zarr_format=dest._zarr_format)
    documents = MemoryStore({root.document_name: nodes.group_document(root)})
    beside = f"{path}.{os.urandom(4).hex()}"
    try:
        yield type(dest)(documents, chunk_store=chunks, zarr_version=dest._zarr_format), beside
        with dest._writing():
            for store in dest._stores():
                nodes.clear(store, path)
            if chunks.listdir(beside):
                chunks.rename(beside, path)
            start = len(beside) + 1
            made = {key[start:]: documents[key] for key in documents if key.startswith(beside)}
            # The attributes of a node before its metadata, and members before their group.
            last = sorted(made, key=lambda key: (-key.count("/"), not key.endswith(ZATTRS)))
            nodes.publish(dest._location.store, path, {key: made[key] for key in last}, deep=True)
    except BaseException:
        chunks.rmdir(beside)
        raise


@contextlib.contextmanager
def replaced_folder(store: Store, path: str) -> Iterator[Store | None]:
    """An empty store, whose folder replaces that of a node at the end; an error keeps the node.

    None if there is nothing to replace, or the store is not a folder. The new folder lies beside
    the old one, under a name that no listing shows. Both change names at one moment (on Linux).

    Raises
    ------
    ValueError
        There is a file that is not part of a hierarchy.
    """
    if not isinstance(store, LocalStore) or not nodes.require_ours(store, path):
        yield None
        return
    # Import time: few copies replace something.
    from pathlib import Path

    # Import time, too.
    from zarrix._runtime.new_files import swap_folders

    # A link stays, and what it leads to is replaced.
    old = Path(os.path.realpath(store.dir_path(path)))
    new = _folder_beside(old)
    try:
        yield DirectoryStore(os.fspath(new))
        nodes.require_ours(store, path)
        aside = _folder_beside(old)
        aside.rmdir()
        swap_folders(new, old, aside)
    except BaseException:
        # Import time: few copies fail.
        import shutil

        shutil.rmtree(new, ignore_errors=True)
        raise
    # A file of another program that came meanwhile keeps it.
    nodes.clear(DirectoryStore(os.fspath(aside)), "")
    with contextlib.suppress(FileNotFoundError):
        aside.rmdir()


def _folder_beside(folder: Path) -> Path:
    """A new folder, under a name of which a killed process leaves one to `verify --clean`."""
    made = folder.with_name(f"{folder.name}.{os.getpid()}-{int.from_bytes(os.urandom(4))}.partial")
    made.mkdir()
    return made
