"""Where a hierarchy is, and where its versions are: in a folder beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from zarrix._array.array import Array
from zarrix._hierarchy.group import Group
from zarrix._stores.base import Store
from zarrix._stores.keys import VERSIONS_SUFFIX
from zarrix._stores.local import LocalStore
from zarrix._stores.open import as_store
from zarrix._stores.overlap import refuse_overlap
from zarrix._stores.path import is_url
from zarrix._stores.remote.store import RemoteStore, RemoteZipStore
from zarrix.operate._place import locate, nothing_at, place_of

__all__ = ["Home", "ServerHome", "durable", "home_at", "home_of", "inside_of", "require_root"]


class Home(NamedTuple):
    """A hierarchy in files, and the store of its versions.

    Attributes
    ----------
    live : LocalStore
        The hierarchy.
    root : str
        Its folder, without links.
    versions : LocalStore
    folder : str
        The folder of the versions.
    """

    live: LocalStore
    root: str
    versions: LocalStore
    folder: str


class ServerHome(NamedTuple):
    """A hierarchy in a bucket, and the store of its versions.

    Attributes
    ----------
    live : RemoteStore
        The hierarchy.
    root : str
        Its URL.
    versions : Store
    folder : str
        The URL of the versions.
    """

    live: RemoteStore
    root: str
    versions: Store
    folder: str

    @property
    def beside(self) -> RemoteStore | None:
        """The store of the versions, if it is in the same bucket."""
        one = self.versions
        is_there = isinstance(one, RemoteStore) and one.address.bucket == self.live.address.bucket
        return one if is_there and isinstance(one, RemoteStore) else None


def home_at(
    target: Any,
    versions: Any = None,
    storage_options: Mapping[str, Any] | None = None,
    durability: str | None = None,
) -> Home | ServerHome:
    """The home of the hierarchy, on disk or in a bucket; otherwise as `home_of`."""
    store, path = inside_of(target, storage_options)
    if not isinstance(store, RemoteStore) or isinstance(store, RemoteZipStore):
        return home_of(target, versions, storage_options, durability)
    if path:
        raise ValueError(
            f"versions are of a whole hierarchy, and {path!r} is inside of one: pass its root, "
            f"{store.url}"
        )
    if store.address.service != "s3":
        raise ValueError(
            f"{store.url} is not in a bucket of S3, and zarrix lists versions of objects only "
            "there; zarrix.copy_store copies the hierarchy. A version that was made on a disk and "
            f"is stored here opens by its own URL, {store.url.rstrip('/')}{VERSIONS_SUFFIX}/NAME"
        )
    if versions is None and not store.address.prefix:
        raise ValueError(
            f"{store.url} is a whole bucket, and has no place beside it: pass versions=, such as "
            "'s3://another-bucket/versions'"
        )
    beside = (
        store._at_url(store.url.rstrip("/") + VERSIONS_SUFFIX)
        if versions is None
        else (as_store(versions, storage_options if is_url(str(versions)) else None))
    )
    refuse_overlap("keep versions in", (beside, ""), [(store, "")])
    folder = beside.url if isinstance(beside, RemoteStore) else repr(beside)
    return ServerHome(store, store.url, beside, folder)


def home_of(
    target: Any,
    versions: Any = None,
    storage_options: Mapping[str, Any] | None = None,
    durability: str | None = None,
) -> Home:
    """The home of the hierarchy at a store, a path, or an open group or array.

    Raises
    ------
    ValueError
        The path is inside a hierarchy, or the store keeps no versions.
    """
    store, path = inside_of(target, storage_options)
    if path:
        raise ValueError(
            f"versions are of a whole hierarchy, and {path!r} is inside of one: pass its root, "
            f"{store._folder() or store!r}"
        )
    if not isinstance(store, LocalStore):
        raise ValueError(
            f"{store!r} keeps no versions: they are made of hierarchies in folders, and in buckets "
            "of S3; zarrix.copy_store copies others"
        )
    root = os.path.realpath(store.path)
    folder = root + VERSIONS_SUFFIX if versions is None else os.path.abspath(os.fsdecode(versions))
    beside = LocalStore(folder)
    refuse_overlap("keep versions in", folder, [(store, "")])
    safe = beside.with_durability(durability)
    return Home(store, root, safe, folder)


def durable(home: Home | ServerHome, durability: str | None) -> Home | ServerHome:
    """The home whose hierarchy and versions are written with another durability."""
    stores: dict[str, Any] = {"live": home.live, "versions": home.versions}
    return home._replace(**{name: s.with_durability(durability) for name, s in stores.items()})


def inside_of(target: Any, storage_options: Mapping[str, Any] | None = None) -> tuple[Store, str]:
    """The store of the hierarchy that a path lies in, and the path in that store."""
    if isinstance(target, Array | Group):
        place = place_of(target)
        return place.store, place.path
    location = locate(target, None, storage_options)
    return location.store, location.path


def require_root(home: Home | ServerHome) -> None:
    """Raise `PathNotFoundError` unless there is a node."""
    if locate(home.live).find() is None:
        raise nothing_at(home.live, "")
