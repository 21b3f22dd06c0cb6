"""obstore stores, under the constructor of zarr-python 3.

If the configuration of an instance is complete, the engine serves it: buckets on S3, Google Cloud
Storage and Azure, web servers, local directories. All others are called through obstore, such as
those in memory and those with a credentials function; their ETags identify versions.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import pickle
from collections.abc import Mapping, Sequence
from typing import Any

from zarrix import _engine
from zarrix._errors import suggestion
from zarrix._stores.awaited import Answer, AwaitedStore, Part
from zarrix._stores.base import Store
from zarrix._stores.coalesce import GAP_BYTES, coalesce_ranges, slice_ranges
from zarrix._stores.foreign_sites import of_object
from zarrix._stores.local import LocalStore
from zarrix._stores.remote.store import NeedsFsspec, RemoteStore
from zarrix._stores.secrets import split_secrets
from zarrix._stores.sites import Site

__all__ = ["ObjectStore", "is_obstore", "of_obstore"]


# By class of obstore: the scheme, the key of the bucket, and the configuration keys of options that
# have other names in fsspec and here. An instance with other keys is called through obstore,
# because a guess could be wrong.
_SERVICES: dict[str, tuple[str, str, dict[str, str]]] = {
    "S3Store": (
        "s3",
        "bucket",
        {
            "access_key_id": "key",
            "secret_access_key": "secret",
            "session_token": "token",
            "endpoint": "endpoint_url",
            "region": "region",
            "skip_signature": "anon",
        },
    ),
    "GCSStore": ("gs", "bucket", {"service_account": "token", "skip_signature": "anon"}),
    "AzureStore": (
        "az",
        "container_name",
        {
            "account_name": "account_name",
            "account_key": "account_key",
            "sas_key": "sas_token",
            "client_id": "client_id",
            "client_secret": "client_secret",
            "tenant_id": "tenant_id",
            "endpoint": "endpoint_url",
            "skip_signature": "anon",
        },
    ),
}
# The keys above that say where the values are.
_ADDRESSES = ("endpoint", "account_name")
_WORDS = {"true": True, "false": False}


def is_obstore(store: Any) -> bool:
    """Whether ``store`` is an instance of one of obstore's classes."""
    return type(store).__module__.partition(".")[0] == "obstore" and hasattr(store, "get_async")


def _native(store: Any, read_only: bool) -> Store | None:
    """The engine's store for the same values, if the configuration is complete."""
    kind = type(store).__name__
    if kind == "LocalStore" and store.prefix is not None:
        return LocalStore(store.prefix, read_only=read_only)
    client = dict(getattr(store, "client_options", None) or {})
    # A URL that begins with http:// implies this option.
    client.pop("allow_http", None)
    ours = (kind in _SERVICES or kind == "HTTPStore") and not client
    if not ours or getattr(store, "retry_config", None):
        return None
    if kind == "HTTPStore":
        return RemoteStore(store.url, read_only=read_only)
    scheme, bucket, names = _SERVICES[kind]
    config = dict(store.config)
    url = f"{scheme}://{config.pop(bucket)}/{store.prefix or ''}"
    if config.keys() - names.keys():
        return None
    options = {names[name]: _WORDS.get(value, value) for name, value in config.items()}
    if store.credential_provider is not None:
        options["credentials"] = store.credential_provider
    try:
        return RemoteStore(url, options, read_only=read_only)
    except (NeedsFsspec, ValueError, PermissionError):
        # obstore serves it, or raises the error.
        return None


class ObjectStore(AwaitedStore):
    """An obstore store, under the constructor of zarr-python 3.

    If its configuration is complete, this is a `RemoteStore` or `LocalStore` of the engine, with
    their guarantees; the engine calls its credentials function, too. An instance in memory, or with
    options that the engine does not support, is called through obstore. It is read by ranges of one
    version. Its writers are serialised among the threads of this process; if several processes
    write parts of one chunk, the last one wins.

    Parameters
    ----------
    store : obstore.store.ObjectStore
        The instance, which is referenced if the engine cannot open it itself. Its credentials are
        never shown or pickled.
    read_only : bool
        Make the store, and everything opened from it, read-only.

    Raises
    ------
    TypeError
        ``store`` is not an instance of ``obstore.store``.

    Examples
    --------
    >>> import obstore.store
    >>> from zarrix.storage import ObjectStore
    >>> store = ObjectStore(obstore.store.MemoryStore())
    >>> store["a"] = b"1"
    >>> list(store)
    ['a']
    """

    def __init__(self, store: Any, *, read_only: bool = False) -> None:
        if not is_obstore(store):
            kind = type(store).__name__
            close = suggestion(kind, [*_SERVICES, "LocalStore", "MemoryStore", "HTTPStore"])
            raise TypeError(f"ObjectStore takes an instance of obstore.store, not {kind}{close}")
        self._writeable = not read_only
        self._owner = os.getpid()
        self._native = _native(store, read_only)
        self._inner: Any = None if self._native is not None else store
        self._given = store
        if self._native is not None:
            self.is_remote = self._native.is_remote
            self._writeable = self._native.is_writeable()

    @property
    def store(self) -> Any:
        """The instance that was given.

        Raises
        ------
        AttributeError
            This store was unpickled, and the pickle has no credentials.
        """
        if self._given is None:
            raise AttributeError(
                f"{self!r} was unpickled without the obstore instance, which has credentials"
            )
        return self._given

    def _open_engine(self) -> _engine.Store:
        return super()._open_engine() if self._native is None else self._native._engine

    def _identity(self) -> str:
        return f"{id(self._inner):#x}"

    def _sites(self, path: str) -> list[Site]:
        if self._native is not None:
            return self._native._sites(path)
        inner, kind = self._inner, type(self._inner).__name__
        if kind not in _SERVICES:
            return of_object(inner, path)
        scheme, bucket, names = _SERVICES[kind]
        config = {**inner.config}
        address = f"{scheme}://{config.pop(bucket)}/{inner.prefix or ''}"
        known = {names[name]: value for name, value in config.items() if name in _ADDRESSES}
        return RemoteStore(address, known)._sites(path)

    @property
    def _here(self) -> Any:
        if self._owner != os.getpid():
            raise RuntimeError(
                f"{self!r} was made before this process was forked, which has none of obstore's "
                "threads: start workers by 'spawn' or 'forkserver', or open a URL instead"
            )
        return self._inner

    async def _get(self, key: str, part: Any = None) -> tuple[Any, int, int] | None:
        """The bytes, a number that identifies the version, and the length of the whole value."""
        try:
            options = None if part is None else {"range": part}
            found = await self._here.get_async(key, options=options)
            meta = found.meta
            tag = str(meta.get("e_tag") or meta["last_modified"]).encode()
            number = int.from_bytes(hashlib.blake2b(tag, digest_size=8).digest(), "little")
            return memoryview(await found.bytes_async()), number, int(meta["size"])
        except FileNotFoundError:
            return None

    async def _ask(self, key: str, part: Part) -> Answer:
        # Reading the whole value shows whether it is gone, shorter or not permitted.
        with contextlib.suppress(Exception):
            if isinstance(part, int):
                edge = await self._get(key, (0, part) if part >= 0 else {"suffix": -part})
                return None if edge is None else ([edge[0]], *edge[1:])
            if part is not None:
                found = await self._ranges(key, part)
                if found is not None:
                    return found
        whole = await self._get(key)
        if whole is None:
            return None
        value, version, total = whole
        if part is None:
            return [value], version, total
        if isinstance(part, int):
            return [value[:part] if part >= 0 else value[part:]], version, total
        return slice_ranges(part, [(0, total)], [value]), version, total

    async def _ranges(self, key: str, ranges: Sequence[tuple[int, int]]) -> Answer:
        runs = coalesce_ranges(ranges, GAP_BYTES)
        parts = await asyncio.gather(*(self._get(key, run) for run in runs))
        found = [part for part in parts if part is not None]
        if len(found) < len(runs) or len({version for _, version, _ in found}) > 1:
            return None
        return slice_ranges(ranges, runs, [bytes_ for bytes_, _, _ in found]), *found[0][1:]

    async def _length(self, key: str) -> int | None:
        try:
            return int((await self._here.head_async(key))["size"])
        except FileNotFoundError:
            return None

    async def _set(self, key: str, value: bytes) -> None:
        await self._here.put_async(key, value)

    async def _remove(self, key: str) -> bool:
        if await self._length(key) is None:
            return False
        with contextlib.suppress(FileNotFoundError):
            await self._here.delete_async(key)
        return True

    def _list(self, prefix: str) -> list[str]:
        return self._run(self._names(prefix))

    async def _names(self, prefix: str) -> list[str]:
        batches = [batch async for batch in self._here.list_async(prefix or None)]
        # A prefix matches complete names of a path, and may be a key itself.
        start = f"{prefix}/" if prefix else ""
        paths = (entry["path"] for batch in batches for entry in batch)
        return [path for path in paths if path.startswith(start)]

    def _list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        return self._run(self._level(prefix))

    async def _level(self, prefix: str) -> tuple[list[str], list[str]]:
        start = len(prefix) + 1 if prefix else 0
        found = await self._here.list_with_delimiter_async(prefix or None)
        keys = [entry["path"][start:] for entry in found["objects"]]
        return [key for key in keys if key], [path[start:] for path in found["common_prefixes"]]

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        if self._inner is not None and self._secret_options():
            raise pickle.PicklingError(
                f"{self!r} has credentials, which are never pickled, and options that only "
                "obstore has: create it again in the other process"
            )
        return {**state, "_given": None if _secrets(self._given) else self._given}

    def _secret_options(self) -> Mapping[str, Any]:
        return _secrets(self._inner)

    def __setstate__(self, state: Any) -> None:
        super().__setstate__({"_given": None, **state, "_owner": os.getpid()})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ObjectStore):
            return NotImplemented
        return bool(self._inner == other._inner and self._native == other._native)

    def _label(self) -> str:
        if isinstance(self._native, RemoteStore):
            return repr(self._native.url)
        if isinstance(self._native, LocalStore):
            return repr(self._native.path)
        return f"of {type(self._inner).__name__} at {id(self._inner):#x}"


def _secrets(store: Any) -> Mapping[str, Any]:
    secret = split_secrets(getattr(store, "config", None) or {})[1]
    provider = getattr(store, "credential_provider", None)
    return secret if provider is None else {**secret, "credential_provider": provider}


def of_obstore(store: Any, options: object = None) -> ObjectStore:
    """The store of an instance of one of obstore's classes."""
    return ObjectStore(store)


ObjectStore.__module__ = "zarrix.storage"
