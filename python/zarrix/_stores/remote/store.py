"""Stores on servers: URLs and fsspec's storage options become engine stores.

A URL is split into a service, a bucket and a prefix; options and the environment become the
service's own options (`_s3`, `_gcs`, `_azure`, `_http`, `_hdfs`). With an option that only fsspec
supports, fsspec serves the URL. An unknown name is an error.

Credentials are in the options of the engine store and in `Secrets`; a store shows and pickles only
its URL and the public options. Unpickled in another process, it takes credentials from the
environment, or raises an error.
"""

from __future__ import annotations

import importlib
import operator
import os
from collections.abc import Callable, Mapping
from typing import Any, Self
from urllib.parse import urlsplit

from zarrix import _engine
from zarrix._errors import ReadOnlyError, suggestion
from zarrix._stores.engine_store import EngineStore
from zarrix._stores.keys import key_of
from zarrix._stores.redaction import hiding
from zarrix._stores.remote.options import Address, NeedsFsspec, UnknownOption
from zarrix._stores.remote.provided import named
from zarrix._stores.secrets import Secrets, merge_secrets, split_secrets
from zarrix._stores.sites import Site, of_server

__all__ = [
    "NeedsFsspec",
    "RemoteStore",
    "RemoteZipStore",
    "of_filesystem",
    "of_url",
    "scheme_of",
    "service_of",
    "site_of",
]

_Translate = Callable[[str, Mapping[str, Any], Mapping[str, str]], Address]
# By scheme: the service, and the module that parses its URLs and options.
_SERVICES = {
    "s3": ("s3", "s3"),
    "s3a": ("s3", "s3"),
    "gs": ("gs", "gcs"),
    "gcs": ("gs", "gcs"),
    "az": ("az", "azure"),
    "abfs": ("az", "azure"),
    "abfss": ("az", "azure"),
    "http": ("http", "http"),
    "https": ("http", "http"),
    "hdfs": ("hdfs", "hdfs"),
}

# fsspec's file systems whose options are also ours, by package and class.
_FILE_SYSTEMS = {
    "s3fs.S3FileSystem": "s3",
    "gcsfs.GCSFileSystem": "gs",
    "adlfs.AzureBlobFileSystem": "az",
    "fsspec.HTTPFileSystem": "http",
}


def service_of(scheme: str) -> str:
    """The service of a scheme; empty if the engine has none."""
    return _SERVICES[scheme][0] if scheme in _SERVICES else ""


def _cache_folder(given: Any) -> str:
    return os.path.abspath(os.path.expanduser(os.fsdecode(given)))


def _cache_bytes(given: Any) -> str:
    if isinstance(given, bool) or operator.index(given) < 1:
        raise ValueError(f"cache_bytes must be a positive number of bytes, not {given!r}")
    return str(operator.index(given))


def _frozen(given: Any) -> str:
    if not isinstance(given, bool):
        raise ValueError(f"frozen must be True or False, not {given!r}")
    return "1" if given else ""


# Our options of all services: a folder that caches answers, its maximum size, and whether nothing
# changes. An empty value is that of an option which is left out.
_CACHE: dict[str, Callable[[Any], str]] = {
    "cache": _cache_folder,
    "cache_bytes": _cache_bytes,
    "frozen": _frozen,
}


def of_url(url: str, storage_options: Mapping[str, Any] | None) -> RemoteStore | None:
    """The store at ``url``; a zip archive if it ends like one, or begins with ``zip::``.

    None for chains, and for options that only fsspec supports.
    """
    address = url.removeprefix("zip::")
    if "::" in address:
        return None
    is_archive = address != url or address.endswith((".zip", ".ozx"))
    try:
        return (RemoteZipStore if is_archive else RemoteStore)(address, storage_options)
    except NeedsFsspec:
        return None


def scheme_of(fs: Any) -> str | None:
    """The scheme of one of fsspec's file systems, if its service is one of ours."""
    return _FILE_SYSTEMS.get(f"{type(fs).__module__.partition('.')[0]}.{type(fs).__name__}")


def of_filesystem(fs: Any, root: str) -> RemoteStore | None:
    """The engine's store for a path of one of fsspec's file systems, if it supports it."""
    scheme = scheme_of(fs)
    given: Any = getattr(fs, "storage_args", None)
    if scheme is None or given:
        return None
    try:
        return RemoteStore(root if "://" in root else f"{scheme}://{root}", fs.storage_options)
    except (NeedsFsspec, ValueError, PermissionError):
        # fsspec serves it, or raises the error.
        return None


class RemoteStore(EngineStore):
    """Keys in a bucket (S3, Google Cloud Storage, Azure), on HDFS, or on a web server.

    Any number of threads and processes may read and write, in forked children too. Web servers are
    read-only. Transient failures are retried. A missing value is absent, and every other failure is
    an error. Credentials are never shown or pickled.

    Parameters
    ----------
    url : str
        ``s3://bucket/path``, ``gs://``, ``az://``, ``abfs://``, ``hdfs://namenode:port/path``,
        ``http://`` or ``https://``.
    storage_options : mapping, optional
        Options of fsspec's file system of the scheme: ``anon``, ``key``, ``secret``, ``token``,
        ``endpoint_url``, ``client_kwargs``, ...; missing ones come from the environment.
        ``credentials`` is a function that returns credentials which expire; it is called again
        before they end, in each process, and pickled by its name.
        ``timeout`` is for how many seconds a request is retried, 60 by default. ``cache`` is a
        local folder that caches what was read, and that any number of processes may share;
        ``cache_bytes`` is its approximate maximum size, 10 GiB by default. Each use asks the server
        whether the cached value is current, so that stale data is never read. ``frozen=True`` is
        your promise that nothing changes while this process uses the store: the server is asked
        once, and the store is read-only.
    read_only : bool
        Refuse changes, in the store and in all that is opened from it.

    Raises
    ------
    ValueError
        The URL has no bucket, or an option has an unknown name or an invalid value.
    NeedsFsspec
        Only fsspec supports one of the options.

    Examples
    --------
    The first request is sent when a key is first read or written.

    >>> from zarrix.storage import RemoteStore
    >>> store = RemoteStore("s3://bucket/data.zarr", {"anon": True}, read_only=True)
    >>> store, store.is_remote, store.read_only
    (<zarrix.storage.RemoteStore 's3://bucket/data.zarr'>, True, True)
    >>> RemoteStore("s3://bucket/data.zarr", {"anonymous": True})
    Traceback (most recent call last):
        ...
    ValueError: storage_options of s3:// have no 'anonymous'; did you mean 'anon'?
    """

    is_remote = True

    _opened_with = frozenset({"path", "url"})

    def __init__(
        self,
        url: str,
        storage_options: Mapping[str, Any] | None = None,
        *,
        read_only: bool = False,
    ) -> None:
        options = dict(storage_options or {})
        source = named(options.pop("credentials", None))
        self._options, hidden = split_secrets(options)
        if source is not None:
            # A name, and not a secret: another process calls it, too.
            self._options["credentials"] = options["credentials"] = source
        if "@" in urlsplit(url).netloc and not url.startswith("hdfs"):
            # A password before the host; HDFS has users, but no passwords.
            hidden["url"] = url
        self._credentials = Secrets(hidden)
        self._listable = not url.startswith("http")
        self._writeable = (
            not read_only and self._listable and not self._options.get("frozen", False)
        )
        self.path = self.url = _address(url, options).url

    @property
    def address(self) -> Address:
        """The location of the store and all options, including credentials."""
        options = merge_secrets(self._options, self._credentials.options)
        there = _address(options.pop("url", self.url), options)
        if self._credentials.are_elsewhere and not there.has_credentials:
            raise PermissionError(
                f"the credentials for {self.url} were in storage_options, which are never "
                "pickled: put them into the environment of this process, or open the URL in it"
            )
        return there

    def _open_engine(self) -> _engine.Store:
        there = self.address
        return _engine_store(there, there.prefix)

    def _sites(self, path: str) -> list[Site]:
        return [site_of(self.address, path)]

    def as_frozen(self) -> Self:
        """This store as one in which nothing changes: cached values are used without a request.

        A cached value is validated once, because the cache may be older than this process.

        Returns
        -------
        RemoteStore
            It is read-only.

        Examples
        --------
        >>> from zarrix.storage import RemoteStore
        >>> RemoteStore("s3://bucket/data.zarr", {"anon": True}).as_frozen().read_only
        True
        """
        options = {**self._options, "frozen": True}
        other = self._variant(_options=options, _writeable=False)
        other._engine = other._open_engine()
        return other

    def _at_url(self, url: str) -> RemoteStore:
        """The store of another URL of the same service, with the options of this one."""
        return RemoteStore(url, merge_secrets(self._options, self._credentials.options))

    def _forbid_changes(self) -> None:
        if self.url.startswith("http"):
            raise ReadOnlyError(f"{self.url}: web servers are read-only")
        super()._forbid_changes()

    @property
    def fs(self) -> Any:
        """The file system of fsspec for the URL, with the options of this store.

        It is for programs that use it beside the store; the store does not.

        Raises
        ------
        ImportError
            fsspec, or its package for the scheme, is not installed.
        ValueError
            The credentials come from a function, which fsspec would not call again.
        """
        if "credentials" in self._options:
            raise ValueError(
                f"{self.url} has {self._options['credentials']!r}, which fsspec cannot call; make "
                "its file system with credentials of its own"
            )
        # Optional package: fsspec.
        fsspec = importlib.import_module("fsspec")
        options = merge_secrets(self._options, self._credentials.options)
        ours = (*_CACHE, "timeout")
        theirs = {name: value for name, value in options.items() if name not in ours}
        with hiding(lambda: options):
            return fsspec.url_to_fs(theirs.pop("url", self.url), **theirs)[0]

    @property
    def cache_counts(self) -> dict[str, int] | None:
        """Counters of the cache of server answers in this process; None if there is no cache.

        Returns
        -------
        dict of int
            ``hits`` (answers that the server confirmed), ``misses``, ``changed`` (cached answers
            that were stale), ``damaged`` and ``evicted`` entries, and ``saved_bytes``, which were
            not sent again; for all stores of this bucket with these options.
        """
        return self._engine.cache_counts if isinstance(self._engine, _engine.ObjectStore) else None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RemoteStore):
            return NotImplemented
        return self.url == other.url and self._options == other._options

    def __repr__(self) -> str:
        return f"<zarrix.storage.{type(self).__name__} {self.url!r}>"


class RemoteZipStore(RemoteStore):
    """Keys as members of a zip archive on a server, read in place by ranges.

    Parameters
    ----------
    url : str
        URL of the archive, with a scheme of `RemoteStore`.
    storage_options : mapping, optional
        As for `RemoteStore`.

    Raises
    ------
    FileNotFoundError
        Nothing is stored there.
    CorruptStoreError
        It is not a zip archive, or its directory is damaged.

    Examples
    --------
    The archive's directory is read when a key is first read.

    >>> from zarrix.storage import RemoteZipStore
    >>> RemoteZipStore("https://example.org/data.zarr.zip")
    <zarrix.storage.RemoteZipStore 'https://example.org/data.zarr.zip'>
    """

    def __init__(self, url: str, storage_options: Mapping[str, Any] | None = None) -> None:
        super().__init__(url, storage_options, read_only=True)

    def _sites(self, path: str) -> list[Site]:
        return [site_of(self.address, "", path)]

    def _open_engine(self) -> _engine.Store:
        there = self.address
        folder, _, name = there.prefix.rpartition("/")
        outer = _engine_store(there, folder)
        archive = _engine.ZipStore.in_store(outer, name)
        if archive is None:
            raise FileNotFoundError(f"there is no zip archive {self.url}")
        return archive


def site_of(there: Address, path: str, inside: str = "") -> Site:
    """Where the values are, with the names that a web server would use for them."""
    options, bucket = there.options, there.bucket
    if there.service == "http":
        host, bucket = bucket, ""
    elif there.service == "s3":
        host = options.get("aws_endpoint", "https://s3.amazonaws.com")
        host = host.replace(f"://{bucket}.", "://", 1)
    elif there.service == "gs":
        host = options.get("google_base_url", "https://storage.googleapis.com")
    elif there.service == "az":
        account = options["account_name"]
        host = options.get("azure_endpoint", f"https://{account}.blob.core.windows.net")
        bucket = bucket.partition("@")[0]
    else:
        host, bucket = f"{there.service}://{bucket}", ""
    return of_server(host, key_of(bucket, key_of(there.prefix, path)), inside)


def _engine_store(there: Address, prefix: str) -> _engine.ObjectStore:
    return _engine.ObjectStore(there.service, there.bucket, prefix, there.options, there.provider)


def _translate_of(scheme: str) -> _Translate:
    # Import time: a program uses one service, or only files, and credentials have many sources.
    module = importlib.import_module(f"zarrix._stores.remote.{_SERVICES[scheme][1]}")
    translate: _Translate = module.address
    return translate


def _address(url: str, options: Mapping[str, Any]) -> Address:
    scheme = url.partition("://")[0]
    cache = {name: options[name] for name in _CACHE if options.get(name) is not None}
    options = {name: value for name, value in options.items() if name not in _CACHE}
    try:
        there = _translate_of(scheme)(url, options, os.environ)
        own = {name: _CACHE[name](value) for name, value in cache.items()}
        there.options |= {name: text for name, text in own.items() if text}
        return there
    except UnknownOption as unknown:
        name, known = unknown.args
        raise ValueError(
            f"storage_options of {scheme}:// have no {name!r}{suggestion(name, known)}"
        ) from None


RemoteStore.__module__ = RemoteZipStore.__module__ = "zarrix.storage"
NeedsFsspec.__module__ = "zarrix.storage"
