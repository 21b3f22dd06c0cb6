"""Settings of this process, typed, each with an environment variable.

There is one object, ``zarrix.config``. Assigning to an attribute takes effect at once. A call sets
several settings, and as a context manager restores the old values:

    with zarrix.config(threads=2, durability="fsync"):
        ...

Reads never look here: the engine gets the settings that it needs beforehand.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Literal

from zarrix import _engine
from zarrix._errors import suggestion
from zarrix._runtime.memory import memory_bytes
from zarrix._runtime.setting_values import bytes_of, most_bytes, whole_number, yes_or_no
from zarrix._runtime.zarr_settings import (
    DEFAULT_CODECS,
    FIXED,
    OF_PARTS,
    ORDER,
    OUR_NAMES,
    WITHOUT_EFFECT,
    flat,
    is_of_zarr,
    refuse_or_warn,
    zarr_names,
)

__all__ = ["Config", "config", "defaults_of_arrays", "limits_of_documents", "order_of_arrays"]

_GIB = 1 << 30
_CONCURRENT_REQUESTS = 256
_MOST_RESULT_CACHE_BYTES = 4 * _GIB
_NOT_GIVEN: Any = object()


def check_durability(value: Any) -> Literal["process", "fsync"]:
    """Return ``value`` if it is valid."""
    if value != "process" and value != "fsync":
        raise ValueError(f"durability must be 'process' or 'fsync', not {value!r}")
    durability: Literal["process", "fsync"] = value
    return durability


class Config:
    """Process-wide settings.

    Attributes
    ----------
    threads : int
        Size of the engine's worker pool (``ZARRIX_THREADS``); by default the CPUs that this
        process may use.
    concurrent_requests : int
        Maximum number of requests to remote stores that this process has in flight
        (``ZARRIX_CONCURRENT_REQUESTS``), 256 by default. The lower the latency of a server, the
        fewer requests a call keeps in flight.
    chunk_cache_bytes : int
        Maximum memory of the decoded-chunk cache, in bytes (``ZARRIX_CHUNK_CACHE_BYTES``); 0, the
        default, turns it off. One cache serves all arrays. A cached chunk is not decoded again,
        unless a thread, process or machine has changed it. Setting it empties the cache. Forked
        children start with an empty cache.
    chunk_cache_counts : dict of str to int
        Counters of that cache since the process began, and its size; read-only. ``hits`` and
        ``misses`` count chunks that were cached or had to be decoded (or blocks of large Blosc
        chunks). ``hit_bytes`` is the decoded size of the hits, and ``evicted`` counts entries that
        were removed to make room. ``entries`` and ``bytes`` are the current size.
    result_cache_bytes : int
        Maximum memory of freed results that is kept for the next results, in bytes
        (``ZARRIX_RESULT_CACHE_BYTES``); by default a sixteenth of the memory, and at most 4 GiB. 0
        turns it off. It concerns results of 32 MiB or more, which are read faster into memory that
        the kernel need not clear. The kernel may take what is kept at any time, forked children do
        not have it, and it is given back after a second without such a result. Nothing is kept
        where the address space is limited (``RLIMIT_AS``), and on systems other than Linux.
    default_zarr_format : 2, 3 or None
        Format of new arrays and groups if the call names none (``ZARRIX_DEFAULT_ZARR_FORMAT``).
        With None, the default, each function chooses.
    durability : "process" or "fsync"
        What a finished write survives (``ZARRIX_DURABILITY``): any end of this process, or also a
        loss of power. It applies to everything that was opened without ``durability=``.
    write_empty_chunks : bool or None
        Whether arrays store chunks that hold only the fill value, unless the call says so
        (``ZARRIX_WRITE_EMPTY_CHUNKS``). With None, the default, v2 arrays do and v3 arrays do not.
    read_missing_chunks : bool
        Whether a missing chunk reads as the fill value, as it does by default
        (``ZARRIX_READ_MISSING_CHUNKS``), or is a `ChunkNotFoundError`. It applies to arrays that
        are opened later, unless the call says otherwise.
    lossy_writes : "refuse" or "reencode"
        What a write of a part of a lossy chunk, such as a JPEG, does (``ZARRIX_LOSSY_WRITES``): it
        is a `LossyWriteError`, the default, or encodes the chunk again, which also changes
        elements that the call does not write.
    allow_pickle : bool
        Whether objects may be read by the codec ``pickle``, which executes stored code
        (``ZARRIX_ALLOW_PICKLE``). Off by default; ``allow_pickle=True`` allows it for a single
        array.
    max_chunk_bytes : int
        Largest decoded chunk that a metadata document may declare (``ZARRIX_MAX_CHUNK_BYTES``); by
        default half the memory of the machine, or of the cgroup of this process if that is less,
        and at least 2 GiB or all of it. Without the limit, a document could make a read allocate
        any amount. It is also the longest value that is read completely from a server.
    max_variable_chunk_bytes : int
        Largest decoded chunk of variable-length elements, whose metadata declares no size
        (``ZARRIX_MAX_VARIABLE_CHUNK_BYTES``); by default 1 GiB. Without the limit, a few kilobytes
        could decode to any amount. `max_chunk_bytes` applies to them as well. It applies to arrays
        that are opened later.
    max_document_bytes : int
        Longest metadata document that is read (``ZARRIX_MAX_DOCUMENT_BYTES``); by default 64 MiB.
        A root whose consolidated metadata is longer opens, too, and is read in pieces: then it is
        the most that is kept of it, equal documents once. Changing such a root needs more.
    max_download_bytes : int or None
        Most bytes that downloaded files take on the disk of this machine at the same time
        (``ZARRIX_MAX_DOWNLOAD_BYTES``). With None, the default, it is half of what is free in the
        folder of temporary files. Files of other formats at URLs are downloaded: pieces of virtual
        arrays, and sources of imports and appends. Pieces that nothing reads make room for others.

    Examples
    --------
    >>> import zarrix as zarr
    >>> with zarr.config(durability="fsync"):
    ...     zarr.config.durability
    'fsync'
    >>> zarr.config.durability
    'process'
    """

    __slots__ = (
        "_allow_pickle",
        "_default_zarr_format",
        "_durability",
        "_initial",
        "_lossy_writes",
        "_max_chunk_bytes",
        "_max_document_bytes",
        "_max_download_bytes",
        "_max_variable_chunk_bytes",
        "_others",
        "_read_missing_chunks",
        "_write_empty_chunks",
        # Whether durability is "fsync", for writes; a property would add a frame to each write.
        "syncs",
    )

    def __init__(self) -> None:
        self.syncs = False
        self._default_zarr_format: Literal[2, 3] | None = None
        self._durability: Literal["process", "fsync"] = "process"
        self._write_empty_chunks: bool | None = None
        self._read_missing_chunks = True
        self._lossy_writes: Literal["refuse", "reencode"] = "refuse"
        self._allow_pickle = False
        self._others: dict[str, Any] = {}
        # What `reset` sets besides, while zarrix runs as zarr.
        self._initial: dict[str, Any] = {}
        memory = memory_bytes()
        self.result_cache_bytes = min(_MOST_RESULT_CACHE_BYTES, memory // 16)
        self.max_chunk_bytes = _default_chunk_bytes(memory)
        self._max_variable_chunk_bytes = min(_GIB, self._max_chunk_bytes)
        self._max_document_bytes = 64 << 20
        self._max_download_bytes: int | None = None
        for name, parse in _VARIABLES.items():
            variable = f"ZARRIX_{name.upper()}"
            text = os.environ.get(variable, "").strip()
            if text:
                try:
                    setattr(self, name, parse(text))
                except ValueError as error:
                    raise ValueError(f"environment variable {variable}={text!r}: {error}") from None

    def __reduce__(self) -> Any:
        # Settings belong to a process: a pickle refers to them, and contains no values.
        return "config" if self is config else super().__reduce__()

    @property
    def threads(self) -> int:
        """Number of threads that encode and decode chunks."""
        return _engine.threads()

    @threads.setter
    def threads(self, count: int) -> None:
        _engine.set_threads(whole_number("threads", count, least=1))

    @property
    def concurrent_requests(self) -> int:
        """Most requests to remote stores that are in flight at once."""
        return _engine.concurrent_requests()

    @concurrent_requests.setter
    def concurrent_requests(self, count: int) -> None:
        _engine.set_concurrent_requests(whole_number("concurrent_requests", count, least=1))

    @property
    def chunk_cache_bytes(self) -> int:
        """Size in bytes of the cache of decoded chunks; 0 if there is none."""
        return _engine.chunk_cache_bytes()

    @chunk_cache_bytes.setter
    def chunk_cache_bytes(self, count: int | str) -> None:
        _engine.set_chunk_cache_bytes(most_bytes("chunk_cache_bytes", count))

    @property
    def chunk_cache_counts(self) -> dict[str, int]:
        """Hits, misses and evictions of the cache of decoded chunks, and its current size."""
        return _engine.chunk_cache_counts()

    @property
    def result_cache_bytes(self) -> int:
        """Most memory of freed results that is kept for the next, in bytes; 0 if none is kept."""
        return _engine.result_cache_bytes()

    @result_cache_bytes.setter
    def result_cache_bytes(self, count: int | str) -> None:
        _engine.set_result_cache_bytes(most_bytes("result_cache_bytes", count))

    # Only setters have literal types, because IPython's completer fails on a property that returns
    # one.
    @property
    def default_zarr_format(self) -> int | None:
        """Format of new arrays and groups if the call names none; None if each function chooses."""
        return self._default_zarr_format

    @default_zarr_format.setter
    def default_zarr_format(self, value: Literal[2, 3] | None) -> None:
        if value not in (2, 3, None):
            raise ValueError(f"default_zarr_format must be 2, 3 or None, not {value!r}")
        self._default_zarr_format = value

    @property
    def durability(self) -> str:
        """What a finished write survives: ``"process"`` or ``"fsync"``."""
        return self._durability

    @durability.setter
    def durability(self, value: Literal["process", "fsync"]) -> None:
        self._durability = check_durability(value)
        self.syncs = value == "fsync"

    @property
    def write_empty_chunks(self) -> bool | None:
        """Whether chunks that hold only the fill value are stored; None for v2 only."""
        return self._write_empty_chunks

    @write_empty_chunks.setter
    def write_empty_chunks(self, value: bool | None) -> None:
        if value not in (True, False, None):
            raise ValueError(f"write_empty_chunks must be a bool or None, not {value!r}")
        self._write_empty_chunks = value

    @property
    def read_missing_chunks(self) -> bool:
        """Whether a missing chunk reads as the fill value."""
        return self._read_missing_chunks

    @read_missing_chunks.setter
    def read_missing_chunks(self, value: bool) -> None:
        self._read_missing_chunks = yes_or_no("read_missing_chunks", value)

    @property
    def lossy_writes(self) -> str:
        """What a write of a part of a lossy chunk does: ``"refuse"`` or ``"reencode"``."""
        return self._lossy_writes

    @lossy_writes.setter
    def lossy_writes(self, value: Literal["refuse", "reencode"]) -> None:
        if value not in ("refuse", "reencode"):
            raise ValueError(f"lossy_writes must be 'refuse' or 'reencode', not {value!r}")
        self._lossy_writes = value
        _engine.set_reencodes_lossy(value == "reencode")

    @property
    def allow_pickle(self) -> bool:
        """Whether objects may be read by the codec ``pickle``."""
        return self._allow_pickle

    @allow_pickle.setter
    def allow_pickle(self, value: bool) -> None:
        self._allow_pickle = yes_or_no("allow_pickle", value)

    @property
    def max_chunk_bytes(self) -> int:
        """Largest decoded chunk in bytes that a metadata document may declare."""
        return self._max_chunk_bytes

    @max_chunk_bytes.setter
    def max_chunk_bytes(self, value: int | str) -> None:
        self._max_chunk_bytes = bytes_of("max_chunk_bytes", value, least=1)
        _engine.set_most_answer_bytes(min(self._max_chunk_bytes, 2**64 - 1))

    @property
    def max_variable_chunk_bytes(self) -> int:
        """Largest decoded chunk in bytes of variable-length elements."""
        return self._max_variable_chunk_bytes

    @max_variable_chunk_bytes.setter
    def max_variable_chunk_bytes(self, value: int | str) -> None:
        self._max_variable_chunk_bytes = bytes_of("max_variable_chunk_bytes", value, least=1)

    @property
    def max_document_bytes(self) -> int:
        """Longest metadata document in bytes that is read."""
        return self._max_document_bytes

    @max_document_bytes.setter
    def max_document_bytes(self, value: int | str) -> None:
        self._max_document_bytes = bytes_of("max_document_bytes", value, least=1)

    @property
    def max_download_bytes(self) -> int | None:
        """Most bytes of downloaded files on this machine; None for half of what is free there."""
        return self._max_download_bytes

    @max_download_bytes.setter
    def max_download_bytes(self, value: int | str | None) -> None:
        if value is not None:
            value = bytes_of("max_download_bytes", value, least=0)
        self._max_download_bytes = value

    def __call__(self, **settings: Any) -> _Restore:
        """Set several settings at once; use the result in ``with`` to restore the old values.

        Raises
        ------
        TypeError
            A setting does not exist; the message suggests the closest.
        ValueError
            A value is not allowed. No setting has changed.
        """
        for name in settings:
            if name not in _VARIABLES:
                raise TypeError(f"config has no setting {name!r}{suggestion(name, _VARIABLES)}")
        before = {name: getattr(self, name) for name in settings}
        try:
            for name, value in settings.items():
                setattr(self, name, value)
        except (TypeError, ValueError):
            _Restore(self, before).__exit__(None, None, None)
            raise
        return _Restore(self, before)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        try:
            self.get(key)
        except (KeyError, AttributeError):
            return False
        return True

    def get(self, key: str, default: Any = _NOT_GIVEN) -> Any:
        """Return a setting by its name here or in zarr-python 3.

        Parameters
        ----------
        key : str
        default : object, optional
            The result for a name that neither library has, or that was never set.

        Returns
        -------
        object

        Raises
        ------
        KeyError
            Neither library has such a setting, and there is no ``default``.

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.config.get("array.order"), zarr.config.get("json_indent")
        ('C', 2)
        """
        name = OUR_NAMES.get(key, key)
        if name in _VARIABLES:
            return getattr(self, name)
        if default is _NOT_GIVEN:
            if not _is_known(key):
                raise KeyError(f"config has no setting {key!r}{suggestion(key, _known_names())}")
            default = None
        if key in FIXED:
            return FIXED[key][0]
        if key == ORDER:
            return order_of_arrays()
        return self._others.get(key, WITHOUT_EFFECT.get(key, default))

    def set(self, settings: Mapping[str, Any] | None = None, **more: Any) -> _Restore:
        """Set settings by their names here or in zarr-python 3.

        These settings of zarr-python have an effect: ``threading.max_workers``,
        ``async.concurrency``, ``default_zarr_format``, ``array.write_empty_chunks``,
        ``array.read_missing_chunks``, ``array.allow_unsafe_pickle_decode``, ``array.order`` and
        ``array.target_shard_size_bytes``. Settings that would change results or documents, such as
        ``array.rectilinear_chunks``, take only the value that is in effect here. Those about how
        zarr-python does its work are stored with a warning, and have no effect. A name that neither
        library has is an error, and no setting changes.

        Parameters
        ----------
        settings : mapping of str to value
            A mapping as a value has the names after the dot.
        **more
            The same, with ``__`` instead of dots.

        Returns
        -------
        context manager
            Restores the old values at its end.

        Raises
        ------
        TypeError
            Neither library has a setting of that name; the message suggests the closest.
        ValueError
            A value is not allowed, or would have no effect. No setting has changed.

        Examples
        --------
        >>> import zarrix as zarr
        >>> with zarr.config.set({"default_zarr_format": 3}):
        ...     zarr.zeros(3).metadata.zarr_format
        3
        """
        named = {key.replace("__", "."): value for key, value in more.items()}
        ours: dict[str, Any] = {}
        others = {}
        for key, value in flat({**(settings or {}), **named}):
            name = OUR_NAMES.get(key, key)
            if name in _VARIABLES:
                ours[name] = value
            elif _is_known(key) or key.startswith(DEFAULT_CODECS):
                others[key] = value
            else:
                raise TypeError(f"config has no setting {key!r}{suggestion(key, _known_names())}")
        for key, value in others.items():
            refuse_or_warn(key, value)
        if ours.get("threads", 1) is None:
            del ours["threads"]
        restore = self(**ours)
        restore.before_others = self._others
        self._others = {**self._others, **others}
        return restore

    def reset(self) -> None:
        """Restore every setting to its value when the package was imported.

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.config.write_empty_chunks = True
        >>> zarr.config.reset()
        >>> zarr.config.write_empty_chunks is None
        True
        """
        _engine.set_threads(0)
        _engine.set_concurrent_requests(_CONCURRENT_REQUESTS)
        _engine.set_chunk_cache_bytes(0)
        defaults = type(self)()
        for name in _VARIABLES:
            if name != "threads":
                setattr(self, name, getattr(defaults, name))
        self._others = {}
        for name, value in self._initial.items():
            setattr(self, name, value)

    @property
    def config(self) -> dict[str, Any]:
        """All settings by zarr-python 3's names, as nested dicts; changing it changes nothing."""
        nested: dict[str, Any] = {}
        for key in ("default_zarr_format", *zarr_names(), *self._others):
            *above, name = key.split(".")
            inner = nested
            for part in above:
                inner = inner.setdefault(part, {})
            inner[name] = self.get(key)
        return nested

    def to_dict(self) -> dict[str, Any]:
        """All settings by name: ours, and those of zarr-python that were set and have no effect.

        Returns
        -------
        dict of str to object

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.config.to_dict()["durability"]
        'process'
        """
        return {**{name: getattr(self, name) for name in _VARIABLES}, **self._others}

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in _VARIABLES)
        return f"zarrix.config({values})"


class _Restore:
    """Restores settings at the end of a ``with`` block."""

    __slots__ = ("_before", "_config", "before_others")

    def __init__(self, config: Config, before: dict[str, Any]) -> None:
        self._config = config
        self._before = before
        self.before_others: dict[str, Any] | None = None

    def __enter__(self) -> Config:
        return self._config

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for name, value in self._before.items():
            setattr(self._config, name, value)
        if self.before_others is not None:
            self._config._others = self.before_others


def _default_chunk_bytes(memory: int) -> int:
    # A machine has swap and other programs, but exceeding the limit of a cgroup kills the process.
    return max(min(2 * _GIB, memory), memory // 2)


def _parse_bool(text: str) -> bool | str:
    return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)


def _parse_format(text: str) -> int | str:
    return int(text) if text.isdigit() else text


_VARIABLES: dict[str, Callable[[str], Any]] = {
    "threads": int,
    "concurrent_requests": int,
    "chunk_cache_bytes": str,
    "result_cache_bytes": str,
    "default_zarr_format": _parse_format,
    "durability": str,
    "write_empty_chunks": _parse_bool,
    "read_missing_chunks": _parse_bool,
    "lossy_writes": str,
    "allow_pickle": _parse_bool,
    "max_chunk_bytes": str,
    "max_variable_chunk_bytes": str,
    "max_document_bytes": str,
    "max_download_bytes": str,
}


def _is_known(key: str) -> bool:
    """Whether zarrix or zarr-python has a setting of that name."""
    return key in _VARIABLES or is_of_zarr(key)


def _known_names() -> list[str]:
    return [*_VARIABLES, *zarr_names(), *OF_PARTS]


def _warn_of_variables() -> None:
    """Warn of an environment variable that looks like a misspelt setting.

    Other variables with this prefix may belong to another program.
    """
    settings = {f"ZARRIX_{name.upper()}" for name in _VARIABLES}
    for variable in os.environ:
        if variable.startswith("ZARRIX_") and variable not in settings:
            hint = suggestion(variable, settings, least=0.8)
            if hint:
                warnings.warn(f"environment variable {variable} is ignored{hint}", stacklevel=2)


config = Config()
_warn_of_variables()


def defaults_of_arrays() -> tuple[bool, bool | None, bool, Literal["C", "F"]]:
    """``allow_pickle``, ``write_empty_chunks``, ``read_missing_chunks`` and the order of arrays."""
    order: Literal["C", "F"] = "F" if config._others.get(ORDER) == "F" else "C"
    return config._allow_pickle, config._write_empty_chunks, config._read_missing_chunks, order


def order_of_arrays() -> Literal["C", "F"]:
    """``array.order`` of zarr-python, for calls that do not give an order."""
    return defaults_of_arrays()[3]


def limits_of_documents() -> tuple[int, int]:
    """``max_chunk_bytes`` and ``max_document_bytes``, on which the parsing of documents depends."""
    return config._max_chunk_bytes, config._max_document_bytes
