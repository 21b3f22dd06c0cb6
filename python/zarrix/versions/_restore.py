"""Making the content of a version the present content again, by one commit.

Arrays that differ get the chunks of the version under other keys, as in every commit that rewrites
an array; nodes that the version lacks are deleted. What is not Zarr's stays as it is.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from typing import Any

from zarrix import _engine
from zarrix._array.access import opened_at
from zarrix._array.array import Array
from zarrix._array.open_array import open_array
from zarrix._display.printable import lines
from zarrix._errors import NotAtomicError, PathNotFoundError
from zarrix._metadata.json import json_loads
from zarrix._metadata.merged import bare, encoded
from zarrix._nodes import nodes
from zarrix._nodes.location import Location
from zarrix._runtime.new_files import sync_folder
from zarrix._stores.base import Store
from zarrix._stores.keys import (
    ARRAY_DOCUMENT,
    DOCUMENTS,
    DOCUMENTS_OF_A_NODE,
    GROUP_DOCUMENT,
    ZARR_JSON,
    ZARRAY,
    ZATTRS,
    ZGROUP,
    key_of,
)
from zarrix._stores.labels import describe, place
from zarrix._stores.local import LocalStore
from zarrix._stores.path import normalize_storage_path
from zarrix._stores.pinned import PinnedStore
from zarrix.commits._commit import commit
from zarrix.commits._spaces import KeySpace, parse_space
from zarrix.operate._place import locate
from zarrix.versions._catalogue import Version, find_version
from zarrix.versions._diff import LIVE, compare
from zarrix.versions._documents import is_array, node_of, read_documents, spaces_of
from zarrix.versions._home import Home, ServerHome
from zarrix.versions._names import partial_name
from zarrix.versions._objects import pinned
from zarrix.versions._snapshot import snapshot

__all__ = ["Restored", "restore_version"]

Nodes = dict[str, dict[str, bytes]]
"""By the path of a node: its documents by name."""

Source = LocalStore | PinnedStore
"""The store of a version."""

_NO_ATTRIBUTES: dict[str, dict[str, Any]] = {ZARR_JSON: {"attributes": {}}, ZGROUP: {}}


@dataclass(frozen=True)
class Restored:
    """What `Versions.restore` has changed, or would change; true if that is anything.

    Attributes
    ----------
    version : str
    replaced : list of str
        Paths of arrays that have the chunks of the version again.
    created, deleted : list of str
        Paths of nodes that only the version had, and that it does not have.
    changed : list of str
        Paths of nodes of which only attributes have changed.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.open_group("data.zarr", mode="w").zeros("a", shape=4)
    >>> version = zarr.snapshot("data.zarr", "v1")
    >>> z.attrs["unit"] = "K"
    >>> zarr.Versions("data.zarr").restore("v1").changed
    ['a']
    """

    version: str
    replaced: list[str] = field(default_factory=list)
    created: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.replaced or self.created or self.deleted or self.changed)

    def to_dict(self) -> dict[str, Any]:
        """What has changed, for JSON.

        Returns
        -------
        dict

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.open_group("data.zarr", mode="w")
        >>> version = zarr.snapshot("data.zarr", "v1")
        >>> zarr.Versions("data.zarr").restore("v1").to_dict()["deleted"]
        []
        """
        return asdict(self)

    def __str__(self) -> str:
        if not self:
            return f"nothing differs from {self.version}"
        words = ("replaced", "created", "deleted", "changed")
        return lines(f"{word} /{path}" for word in words for path in getattr(self, word))


def restore_version(
    home: Home | ServerHome,
    name: str,
    paths: Collection[str] | None,
    *,
    keep: str | None,
    message: str | None,
    dry_run: bool = False,
) -> Restored:
    """Make a version the present content."""
    version = find_version(home.versions, name, home.folder)
    source: Source
    if isinstance(home, ServerHome):
        source = pinned(home, version.name, version.pages, version.spaces)
    else:
        source = LocalStore(os.path.join(home.folder, version.name))
    message = f"restore {version.name}" if message is None else message
    created: list[str] = []
    if locate(home.live).find() is None:
        if paths is not None:
            raise PathNotFoundError(
                f"there is no hierarchy at {home.root!r}, so that parts of {version.name!r} have "
                "no place in it; restore it without paths"
            )
        if dry_run:
            return Restored(version.name, created=_paths_in(source))
        if isinstance(home, Home):
            return _from_nothing(home, version, source.path)
        assert isinstance(source, PinnedStore)
        _make_root(home, source)
        created, keep = [""], None
    if dry_run:
        return _Change(home, version, source, paths).done
    if keep is not None:
        beside = home.folder if isinstance(home, Home) else home.versions
        snapshot(home.live, keep, message=f"before {message}", versions=beside)
    with commit(home.live, message=message) as node:
        change = _Change(home, version, source, paths)
        change.make(node.store)
    return replace(change.done, created=[*created, *change.done.created])


def _paths_in(source: Source) -> list[str]:
    return sorted({node_of(key) for key in read_documents(source)})


def _make_root(home: ServerHome, source: PinnedStore) -> None:
    """The hierarchy is gone from a bucket: an empty group is made, which a commit fills."""
    documents = read_documents(source)
    if is_array("", documents):
        raise NotAtomicError(
            f"{home.root}: the version is an array without a group, and on a server only groups "
            f"are restored; copy it with zarrix.copy_store({source.path!r}, ...)"
        )
    for name in (ZARR_JSON, ZGROUP):
        if name in documents:
            members = bare(json_loads(documents[name], place(home.live, name)))
            # Another process may restore it, too.
            home.live.put_if(name, encoded({**members, **_NO_ATTRIBUTES[name]}, name), None)


def _from_nothing(home: Home, version: Version, folder: str) -> Restored:
    """The hierarchy is gone: a folder is made, and gets its name when it is complete."""
    documents = read_documents(LocalStore(folder))
    done = Restored(version.name, created=sorted({node_of(key) for key in documents}))
    above, name = os.path.split(home.root)
    partial = partial_name(name)
    tree = _engine.CarriedTree(folder, os.path.join(above, partial), "auto")
    try:
        tree.take("", spaces_of(documents))
        if home.versions.syncs:
            tree.sync()
        os.rename(os.path.join(above, partial), home.root)
        sync_folder(above, fsync=home.versions.syncs)
    except BaseException:
        with suppress(FileNotFoundError):
            LocalStore(above)._engine.remove_leftover(partial, timedelta(0))
        raise
    return done


def _nodes(documents: dict[str, bytes], zarr_format: int) -> Nodes:
    found: Nodes = {}
    for key, document in documents.items():
        path, _, name = key.rpartition("/")
        if name in DOCUMENTS_OF_A_NODE[zarr_format]:
            found.setdefault(path, {})[name] = document
    return found


class _Change:
    """What a commit has to change so that a hierarchy is as it was in a version."""

    def __init__(
        self,
        home: Home | ServerHome,
        version: Version,
        source: Source,
        paths: Collection[str] | None,
    ) -> None:
        self._live: Store = home.live
        self._source = source
        found = nodes.find(home.live, "")
        assert found is not None
        self._format = found.zarr_format
        if version.zarr_format != self._format:
            raise NotAtomicError(
                f"the version {version.name!r} is Zarr v{version.zarr_format}, and "
                f"{home.root!r} is v{self._format}; copy it with "
                f"zarrix.copy_store({source.path!r}, ...)"
            )
        self._old = _nodes(read_documents(source), self._format)
        self._new = _nodes(read_documents(home.live), self._format)
        self._only_length: dict[str, bool] = {}
        wanted = self._wanted(version, paths)
        moved = self._moved(home, version)
        self.done = Restored(version.name)
        for path in sorted(wanted):
            old, new = self._old.get(path), self._new.get(path)
            if new is None:
                self.done.created.append(path)
            elif old is None:
                self.done.deleted.append(path)
            elif self._kind(path, old) != self._kind(path, new):
                raise NotAtomicError(
                    f"{describe(home.live, path)} is {self._kind(path, new)}, and was "
                    f"{self._kind(path, old)} in {version.name!r}: a commit cannot put one in the "
                    "place of the other; delete it, and restore then"
                )
            elif self._kind(path, old) == "an array" and self._differs(path, path in moved):
                self.done.replaced.append(path)
            elif self._attributes(path, old) != self._attributes(path, new):
                self.done.changed.append(path)
        for path in self.done.deleted:
            self._require_ours(path)

    def _wanted(self, version: Version, paths: Collection[str] | None) -> set[str]:
        known = self._old.keys() | self._new.keys()
        if paths is None:
            return set(known)
        if isinstance(paths, str):
            raise TypeError(f"paths is a list of paths, such as [{paths!r}]")
        wanted: set[str] = set()
        for path in map(normalize_storage_path, paths):
            if path not in known:
                raise PathNotFoundError(
                    f"neither {version.name!r} nor {describe(self._live, '')} has a node {path!r}"
                )
            wanted |= {one for one in known if not path or f"{one}/".startswith(f"{path}/")}
            above = path if path in self._old else ""
            while above:
                above = above.rpartition("/")[0]
                wanted |= {above} - self._new.keys()
        return wanted

    def _moved(self, home: Home | ServerHome, version: Version) -> set[str]:
        """The arrays of which a chunk differs."""
        difference = compare(home, version.name, LIVE)
        found = set()
        for key in (*difference.added, *difference.removed, *difference.changed):
            path, name = node_of(key), key.rpartition("/")[2]
            while path and path not in self._new:
                path = node_of(path)
            if name not in DOCUMENTS:
                found.add(path)
        return found

    def _name(self, kind: str) -> str:
        names = ARRAY_DOCUMENT if kind == "an array" else GROUP_DOCUMENT
        return names[self._format]

    def _kind(self, path: str, documents: dict[str, bytes]) -> str:
        whole = {key_of(path, name): document for name, document in documents.items()}
        return "an array" if is_array(path, whole) else "a group"

    def _parsed(self, path: str, documents: dict[str, bytes], name: str) -> dict[str, Any]:
        label = place(self._live, key_of(path, name))
        return dict(bare(json_loads(documents[name], label))) if name in documents else {}

    def _layout(self, path: str, documents: dict[str, bytes]) -> dict[str, Any]:
        """The document of an array without what does not say how its chunks are stored."""
        members = self._parsed(path, documents, self._name("an array"))
        for name in ("attributes", "chunk_key_encoding", "dimension_separator"):
            members.pop(name, None)
        return members

    def _attributes(self, path: str, documents: dict[str, bytes]) -> Any:
        if self._format == 2:
            return self._parsed(path, documents, ZATTRS)
        members = self._parsed(path, documents, ZARR_JSON)
        members.pop("chunk_key_encoding", None)
        return members

    def _require_ours(self, path: str) -> None:
        found = nodes.stranger(self._live, path)
        if found is not None:
            raise ValueError(
                f"{describe(self._live, path)} is not in the version, and would be deleted; but it "
                f"holds {found!r}, which is not part of a Zarr hierarchy: move that elsewhere"
            )

    def make(self, stage: Any) -> None:
        """Make the change in the store of a commit."""
        for path in self.done.deleted:
            if nodes.find(stage, path, self._format) is not None:
                stage.rmdir(path)
        for path in self.done.created:
            for name, document in sorted(self._old[path].items()):
                stage[key_of(path, name)] = self._bare(path, name, document)
            self._carry(stage, path)
        for path in self.done.replaced:
            if self._is_longer_or_shorter(path):
                self._set_length(stage, path)
                continue
            name = self._name("an array")
            stage.begin_anew(path, self._old[path][name], has_attributes=True)
            self._set_attributes(stage, path)
            self._carry(stage, path)
        for path in self.done.changed:
            self._set_attributes(stage, path)

    def _differs(self, path: str, is_moved: bool) -> bool:
        """Whether the elements of an array differ, or how they are stored."""
        is_same = self._layout(path, self._old[path]) == self._layout(path, self._new[path])
        return not is_same or (is_moved and not self._is_longer_or_shorter(path))

    def _is_longer_or_shorter(self, path: str) -> bool:
        """Whether an array whose chunk keys have one spelling differs by its length alone; its
        elements are read once.
        """
        if path not in self._only_length:
            self._only_length[path] = self._has_equal_start(path)
        return self._only_length[path]

    def _has_equal_start(self, path: str) -> bool:
        old, new = (self._layout(path, one[path]) for one in (self._old, self._new))
        if self._format != 2 or len(old["shape"]) != 1 or {**old, "shape": new["shape"]} != new:
            return False
        length = min(*old["shape"], *new["shape"])
        was, now = self._arrays(path)
        same, others = was[:length], now[:length]
        if was.dtype.hasobject:
            return bool(same.tolist() == others.tolist())
        return bool(same.tobytes() == others.tobytes())

    def _arrays(self, path: str) -> tuple[Array, Array]:
        return open_array(self._source, mode="r", path=path), open_array(
            self._live, mode="r", path=path
        )

    def _set_length(self, stage: Any, path: str) -> None:
        """Append what the version has more, or take away what it has less."""
        self._set_attributes(stage, path)
        was, now = self._arrays(path)
        if len(was) > len(now):
            node = Location(stage, path, 2).find()
            assert node is not None
            opened_at(Location(stage, path, 2), node).append(was[len(now) :])
        elif len(was) < len(now):
            key = key_of(path, ZARRAY)
            members = self._parsed(path, {ZARRAY: stage[key]}, ZARRAY)
            # The commit deletes what is beyond it.
            stage[key] = encoded({**members, "shape": [len(was)]}, key)

    def _bare(self, path: str, name: str, document: bytes) -> bytes:
        if b'"consolidated_metadata"' not in document:
            return document
        return encoded(self._parsed(path, {name: document}, name), key_of(path, name))

    def _set_attributes(self, stage: Any, path: str) -> None:
        if self._format == 2:
            key, stored = key_of(path, ZATTRS), self._old[path].get(ZATTRS)
            if stored is not None or key in stage:
                # A commit deletes documents with their nodes alone.
                stage[key] = b"{}" if stored is None else stored
        elif path not in self.done.replaced:
            key = key_of(path, ZARR_JSON)
            members = self._parsed(path, {ZARR_JSON: stage[key]}, ZARR_JSON)
            wanted = self._parsed(path, self._old[path], ZARR_JSON)
            if "chunk_key_encoding" in members:
                wanted["chunk_key_encoding"] = members["chunk_key_encoding"]
            stage[key] = encoded(wanted, key)

    def _carry(self, stage: Any, path: str) -> None:
        documents = {key_of(path, name): one for name, one in self._old[path].items()}
        for _, axes, space in spaces_of(documents):
            if isinstance(self._source, PinnedStore):
                stage.take_versions(path, self._versions(path, axes, space), self._source._engine)
            else:
                stage.take_from(path, self._source.dir_path(path), axes, space)

    def _versions(self, path: str, axes: int, name: str) -> dict[str, tuple[str, str, str]]:
        """The key, tag and version of each chunk of the version, by canonical keys."""
        assert isinstance(self._source, PinnedStore)
        space, canonical = parse_space(name), KeySpace("default", "/")
        if space is None:
            raise NotAtomicError(
                f"{describe(self._live, path)}: its chunks in {self.done.version!r} have keys of "
                "another form than 'c/0/1' and '0/1', which cannot be restored; copy the version "
                "with zarrix.copy_store"
            )
        return {
            key: (key_of(path, canonical.respelled(key, space, axes)), tag, version)
            for key, (tag, version) in self._source.chunks_of(path, axes).items()
        }
