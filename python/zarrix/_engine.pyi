"""The interface of the Rust engine.

Every method releases the GIL before any I/O, lock or decoding. Keys are relative paths of names
joined by ``/``; in all stores, ``..``, absolute keys, NUL and empty names are errors. Errors raised
here are the classes of ``zarrix._errors`` or ``OSError`` subclasses.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Self, final

import numpy.typing as npt
from typing_extensions import Buffer, disjoint_base

__all__ = [
    "ArrayIO",
    "CancelToken",
    "CarriedSpace",
    "CarriedTree",
    "FaultyStore",
    "FileParts",
    "FileWalk",
    "IcechunkStore",
    "LARGE_RESULT_BYTES",
    "LOCKS_ARE_WHOLE",
    "Layout",
    "LocalStore",
    "MemoryStore",
    "ObjectStore",
    "Pages",
    "PowerLossStore",
    "Progress",
    "PythonStore",
    "SYSTEM",
    "Store",
    "VersionPages",
    "ZipStore",
    "__version__",
    "block_means",
    "check_reading",
    "check_store",
    "codec_fault",
    "chunk_cache_bytes",
    "chunk_cache_counts",
    "concurrent_requests",
    "empty",
    "exchange",
    "heads_of",
    "pages_of",
    "read_many",
    "read_parts",
    "release_tree",
    "resize_windows",
    "result_cache_bytes",
    "set_chunk_cache_bytes",
    "set_reencodes_lossy",
    "set_concurrent_requests",
    "set_most_answer_bytes",
    "set_result_cache_bytes",
    "set_threads",
    "summarize",
    "threads",
    "trace_begin",
    "trace_end",
    "versions_of",
    "warn_of_waits_after",
]

__version__: str
SYSTEM: str
"""The code that the engine uses: ``linux``, ``macos``, ``windows``, ``portable`` for others."""
LARGE_RESULT_BYTES: int
"""The length from which `empty` takes memory that the engine keeps."""
LOCKS_ARE_WHOLE: bool
"""Whether a process that has locked one chunk excludes others from all chunks of the array."""

_AxisSelection = int | tuple[int, int, int] | Buffer
"""One axis, within bounds: an index (the axis is dropped), ``(start, step, count)``, or a
C-contiguous array of 64-bit indices in any order, repeated or not."""

_Conversion = tuple[str, str, Sequence[float], Sequence[float], int, float, float, float]
_Size = tuple[Sequence[int], str, str]
_Way = tuple[Buffer | None, _Size | None]

@final
class Pages:
    """Lists of at most 1000 rows ``(key, size, tag)``."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> list[tuple[str, int, str]]: ...

@final
class FileWalk:
    """A walk through the files of a folder, in the order of keys; it follows no link by itself."""

    def __new__(cls, folder: str, documents: Sequence[str]) -> FileWalk: ...
    def page(
        self, most: int
    ) -> tuple[list[tuple[str, int, str, bool, bool]], tuple[str, Path, bool, bool] | None]:
        """The next files, at most so many, and the link at which they end.

        A row is a key, a length, a tag, whether the next change has another tag for certain, and
        whether the file is a document that had this tag before its directory was listed. A link is
        a key, a path, whether it leads to a directory, and whether it is behind another link. Fewer
        files than asked for, and no link, are the end.
        """

    def follow(self, folder: str, prefix: str) -> None:
        """Go on in the directory that a link leads to; its keys begin with ``prefix``."""

    def folders(self) -> list[Path]:
        """The directories that the walk is in."""

@final
class VersionPages:
    """Lists of rows ``(key, size, tag, version)``, which may be empty."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> list[tuple[str, int, str, str]]: ...

@disjoint_base
class Store:
    """A mapping of keys to bytes. Any number of threads may use one handle at once."""

    @property
    def id(self) -> str:
        """Equal for two handles on the same values."""

    def get(self, key: str, *, most: int = ...) -> bytes | None:
        """The whole value of ``key``; None if absent.

        A value longer than ``most`` bytes may be truncated to ``most + 1`` bytes or more.
        """

    def get_slice(self, key: str, start: int = 0, end: int | None = None) -> bytes | None:
        """The bytes from ``start`` up to ``end`` or the value's end; None if absent."""

    def get_last(self, key: str, length: int) -> bytes | None:
        """The last ``length`` bytes of a value, or all of a shorter one; None if absent."""

    def get_many(self, keys: Sequence[str], *, most: int = ...) -> list[bytes | None]:
        """The result of `get` for each key, in one call; requests to a remote store are
        concurrent.
        """

    @property
    def is_inline(self) -> bool:
        """Whether a call is so cheap that it is made without waiting, as of files and memory."""

    def copy_many(
        self,
        source: Store,
        pairs: Sequence[tuple[str, str]],
        *,
        fsync: bool = False,
        locks: bool = True,
    ) -> tuple[int, int]:
        """Store the value of the first key of each pair in ``source`` under the second key.

        Missing values are left out. Returns how many there were, and their bytes. Both stores are
        inline: files are copied by the system, on all threads.
        """

    def copy_new(
        self, source: Store, values: Sequence[tuple[str, str, int]], *, fsync: bool = False
    ) -> list[tuple[int, str, str] | None]:
        """Copy values of ``source`` to keys that have none, without locks, on all threads.

        ``values`` are the keys in the source and here, and the most bytes of each. Gives the
        length, the tag of the version that was read, and that of the new value. None is of a value
        that was not copied: the caller copies it by itself, and finds out why.
        """

    def carry(
        self,
        pairs: Sequence[tuple[str, str]],
        how: str,
        *,
        guard: bool = True,
        fsync: bool = False,
    ) -> list[tuple[str, int, str] | None]:
        """Store the value of the first key of each pair under the second one, too, on all threads.

        ``how`` is ``"clone"``, ``"link"``, ``"copy"``, or ``"auto"`` for the first of them that the
        file system has. With ``guard``, linked files lose their write permission. Each pair is
        atomic, and takes no lock. Returns the way, the length and the tag (time of modification and
        number of the file, in hexadecimal) of each value; None for those that are missing.
        """

    def while_locked(self, keys: Sequence[str], call: Callable[[], Any]) -> Any:
        """``call()`` while the locks of the arrays with these documents are held; all take them in
        one order, so that two calls do not wait for each other.
        """

    def put(self, key: str, value: Buffer, *, fsync: bool = False, locks: bool = True) -> None:
        """Replace the value of ``key`` atomically, under the lock of ``key``.

        A wrapper of this store passes ``locks=False`` if its caller already holds the lock.
        """

    def update(
        self,
        key: str,
        change: Callable[[bytes | None], bytes | None],
        *,
        fsync: bool = False,
        most: int = ...,
    ) -> bytes | None:
        """Replace the value of ``key`` by ``change(old)`` while its lock is held; None deletes.

        ``most`` is as for `get`.

        Returns the value that is stored afterwards. ``change`` runs with the GIL; no other writer
        in any thread or process of this machine can write between the read and the write.
        """

    def keeps_conditions(self, key: str) -> bool:
        """Whether `put_if` is atomic, whoever else writes; may write a probe beside ``key``."""

    def put_if(
        self,
        key: str,
        value: Buffer,
        condition: Literal["always", "absent"] | tuple[str, str],
        *,
        anchor: str | None = None,
        changes: str = "",
        name: str = "",
        fsync: bool = False,
    ) -> tuple[Literal["stored", "refused", "unclear"], str]:
        """Replace the value of ``key`` atomically if ``condition`` holds; ``("tag", TAG)`` is one.

        ``anchor`` is the key of the document whose lock is that of the value, ``changes`` what
        `get_tagged` returned for the value that is replaced, ``name`` the name of this change.

        Returns what happened, with the tag of the stored value, or why it is unclear.
        """

    def head(self, key: str) -> tuple[int, str] | None:
        """Length and tag of a value; None if absent."""

    def get_tagged(self, key: str, *, most: int = ...) -> tuple[bytes, str, str] | None:
        """A value, its tag, and the names of its last changes; None if absent."""

    def list_pages(self, prefix: str, after: str) -> Pages:
        """The values below ``prefix`` behind the key ``after``, in the order of keys."""

    def delete(self, key: str, *, fsync: bool = False, locks: bool = True) -> bool:
        """Remove ``key``; return whether it was stored. ``locks`` is as for `put`."""

    def delete_prefix(self, prefix: str, *, fsync: bool = False) -> int:
        """Remove every key below ``prefix`` (all keys if it is empty); return their number."""

    def foreign(self, prefix: str) -> str | None:
        """The name, below ``prefix``, of a file that is neither a value nor a partial file; or
        None.

        Listings hide such names. Only directories have them.
        """

    def leftovers(self, prefix: str) -> list[str]:
        """The complete names of partial files below ``prefix``, sorted."""

    def remove_leftover(self, name: str, least_age: timedelta | None) -> bool:
        """Remove a partial file that has not changed for ``least_age``; return whether it was
        removed.

        Without an age, the caller holds the lock of the key: only a file that such a holder writes
        is removed.
        """

    def size(self, key: str) -> int | None:
        """Length of the value of ``key`` in bytes; None if absent."""

    def size_prefix(self, prefix: str) -> int:
        """Sum of the lengths of all values below ``prefix``, in bytes."""

    def list_prefix(self, prefix: str) -> list[str]:
        """Every complete key below ``prefix``, sorted."""

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        """The names directly below ``prefix``: those with a value, and those with keys below
        them.
        """

    def list_dirs(self, prefixes: Sequence[str]) -> list[tuple[list[str], list[str]]]:
        """`list_dir` of each of ``prefixes``, concurrently."""

    def delete_node(self, path: str, documents: Sequence[str], *, fsync: bool = False) -> int:
        """Remove all keys at and below ``path``; return the number of values.

        ``documents`` are the names of metadata documents of a node there. The call waits for
        writers of the node. If the process is killed, the node is either complete or gone.
        """

    def move_node(
        self, source: str, target: str, documents: Sequence[str], *, fsync: bool = False
    ) -> None:
        """Move everything at and below ``source`` to ``target``, which must not exist.

        The call waits for writers of the node with these ``documents``.
        """

@final
class LocalStore(Store):
    """A directory; it is created by the first write."""

    def __new__(cls, root: str) -> LocalStore: ...
    @property
    def root(self) -> str: ...
    def release(self, keys: Sequence[str]) -> int:
        """Give files that a guarded link took the write permission from, and that have no other
        name any more, their permission back; return their number.
        """

@final
class CarriedSpace:
    """Chunks of an array that are carried to another spelling of their keys.

    ``source`` and ``dest`` are the folder of an array, and a key space: ``default/``, ``default.``,
    ``v2/`` or ``v2.``. ``guard`` is as for `Store.carry`.
    """

    def __new__(
        cls,
        source: tuple[str, str],
        dest: tuple[str, str],
        axes: int,
        *,
        guard: bool = True,
        fsync: bool = False,
    ) -> CarriedSpace: ...
    def carry(self, most: int) -> int:
        """Carry all stored chunks, and return their number; none if they are more than ``most``."""

    def carry_late(self) -> str | None:
        """Carry what was changed in the source since, and return the first key there of a chunk
        that was changed after it was carried, too.
        """

@final
class CarriedTree:
    """A hierarchy that is carried into the folder ``dest``, and its rows; with None, only the rows.

    ``how`` and ``guard`` are as for `Store.carry`, for chunks; all other values are cloned or
    copied. Entries with a name of ``skipped`` are left out.
    """

    def __new__(
        cls,
        source: str,
        dest: str | None,
        how: str,
        *,
        guard: bool = True,
        skipped: Sequence[str] = ...,
        digests: bool = False,
    ) -> CarriedTree: ...
    def take(self, prefix: str, spaces: Sequence[tuple[str, int, str]]) -> None:
        """Carry everything below ``prefix``; what an earlier call has carried, and has not changed,
        stays, and what is missing now is removed.

        ``spaces`` has the path of each array, its number of axes, and the name of its key space:
        ``default/``, ``default.``, ``v2/``, ``v2.``, or anything else if all its values are chunks.
        """

    def forget(self, prefix: str) -> None:
        """Drop the rows below ``prefix``."""

    def pages(self) -> list[tuple[str, int, int, bytes]]:
        """The rows so far, as from `pages_of`."""

    @property
    def counts(self) -> list[int]:
        """How many files were cloned, linked and copied, and how many directories were made."""

    def sync(self) -> None:
        """Make what was carried survive a loss of power."""

@final
class MemoryStore(Store):
    """A table in the memory of this process."""

    def __new__(cls) -> MemoryStore: ...

@final
class FileParts(Store):
    """Parts of a file of another format: key, offset and length; read-only.

    ``version`` is the size, and the time of the last modification in seconds and nanoseconds. It is
    an error if the file has another one, now or when it is read.
    """

    def __new__(
        cls,
        path: PathLike[str] | str,
        version: tuple[int, int, int],
        parts: Sequence[tuple[str, int, int]],
    ) -> FileParts: ...

@final
class PythonStore(Store):
    """A store in Python: ``values`` is a `zarrix._stores.values.Values`.

    Single values are read from and written to its ``_mapping``, if it has one. ``locks`` is the
    wrapped store, whose locks it shares, or a directory for lock files of all processes of this
    machine; without it, only the threads of this process share locks. ``identity`` is equal for two
    stores of the same values, and ``path`` is the prefix of the keys in them: two stores with the
    same values share locks, regardless of their paths.
    """

    def __new__(
        cls,
        values: object,
        locks: Store | str | None = None,
        identity: str | None = None,
        path: str | None = None,
    ) -> PythonStore: ...
    @property
    def values(self) -> object: ...

@final
class PowerLossStore(Store):
    """A table that records the possible states after a loss of power; for tests."""

    def __new__(cls) -> PowerLossStore: ...
    @property
    def changes(self) -> int:
        """The number of changes of keys."""

    def after_loss(self, at: int, seed: int) -> Store:
        """The state after a loss of power during change number ``at``; ``seed`` chooses one of
        the possible states.
        """

@final
class FaultyStore(Store):
    """A wrapper of ``inner`` in which call number ``at`` fails; for tests.

    ``fault`` is "refused", "answer lost", "delayed" or "cut". Unless ``inline``, many values are
    requested at once, and delivered in another order.
    """

    def __new__(cls, inner: Store, fault: str, at: int, inline: bool) -> FaultyStore: ...
    @property
    def has_failed(self) -> bool:
        """Whether that call has been made."""

@final
class IcechunkStore(Store):
    """One snapshot of an Icechunk repository in another store, for reading."""

    @staticmethod
    def of(
        repository: Store, snapshot: str, most: int, outside: list[tuple[str, Store]]
    ) -> IcechunkStore | None:
        """The snapshot with this identifier; None if the repository has none.

        A document of the repository has at most ``most`` bytes. Locations outside of the repository
        are read only if they begin with one of the texts in ``outside``, from the store there.
        """

    @staticmethod
    def references(
        repository: Store, most: int
    ) -> tuple[list[tuple[str, str]], list[tuple[str, str]]] | None:
        """Branches and tags, each with the identifier of its snapshot; None for version 1 of the
        format, or where there is no repository.
        """

    @property
    def refused(self) -> tuple[int, str]:
        """How many nodes have a path that is not a key, and the first such path."""

@final
class ZipStore(Store):
    """A zip archive in a file, or in a value of another store.

    Without ``start`` it is read. "extend" appends to an existing archive, "replace" writes a new
    archive that replaces the old one when it is complete, and "create" raises an error if the file
    exists. ``method`` is the ``zipfile`` number of the compression of new members.
    """

    def __new__(
        cls,
        path: PathLike[str] | str,
        start: str | None = None,
        *,
        method: int = 0,
        allows_zip64: bool = True,
    ) -> ZipStore: ...
    def flush(self, *, fsync: bool = False) -> None:
        """Make changes visible to other handles; this process can still write."""

    def close(self, *, fsync: bool = False) -> None:
        """`flush`, after which other processes can write, and this handle no longer can."""

    def pack(self, *, fsync: bool = False) -> int:
        """Rewrite the archive without unreferenced data, metadata documents first; return the
        bytes saved.
        """

    def finish(self, comment: Buffer, *, fsync: bool = False) -> None:
        """Put metadata documents first, set the archive's comment, and always use ZIP64 records."""

    @staticmethod
    def in_store(store: Store, key: str) -> ZipStore | None:
        """The archive in the value of ``key``, for reading; None if nothing is stored there."""

    @property
    def recovered(self) -> bool:
        """Whether the file has an unfinished write after the central directory."""

    @property
    def refused(self) -> tuple[int, list[str]]:
        """The number of names in the archive that are not valid keys, and the first of them."""

@final
class ObjectStore(Store):
    """Values below ``prefix`` in a bucket of S3, GCS or Azure, on HDFS, or below a URL of a web
    server.

    ``service`` is ``"s3"``, ``"gs"``, ``"az"``, ``"hdfs"`` or ``"http"``. ``bucket`` is host and
    port of HDFS, of a web server scheme, host and port. ``options`` are the service's own, by the
    names of Rust's ``object_store``, with ``timeout`` in seconds, ``max_retries``,
    ``header:<name>``, and ``cache``, a local folder of at most about ``cache_bytes``; an unknown
    one is an error. Those of HDFS are ``user``, ``replication``, ``locks``, a folder of lock files,
    and Hadoop's properties. The first request is made on first use.

    ``credentials`` has ``label``, its name in messages, and ``fetch()``, which is called on a
    thread of its own and returns values and the end of their life in Unix seconds or None, or text
    that says why there are none.
    """

    def __new__(
        cls,
        service: str,
        bucket: str,
        prefix: str,
        options: dict[str, str],
        credentials: Any = None,
    ) -> ObjectStore: ...
    @property
    def url(self) -> str:
        """The URL, without any options."""

    def keeps_versions(self) -> bool:
        """Whether the bucket keeps versions of its values; an error for other services than S3."""

    def lifecycle(self) -> str | None:
        """The rules by which the bucket deletes values and versions, as XML; None without any."""

    def list_versions(
        self, prefix: str, spaces: Sequence[tuple[str, int, str]], *, earlier: bool = False
    ) -> VersionPages:
        """The latest version of each value below ``prefix``, in the order of keys, or all of them.

        Keys are canonical. ``spaces`` are the path of an array, its number of axes, and the name
        of its key space; other values below an array are left out.
        """

    def at_version(
        self,
        name: str,
        firsts: Sequence[str],
        spaces: Sequence[tuple[str, int, str]],
        load: Callable[[int], Sequence[tuple[str, int, str, str]]],
    ) -> Store:
        """The store of a version of the objects, for reading.

        ``name`` differs for different versions. ``firsts`` are the first keys of its pages of rows,
        and ``load`` returns a page by its number. ``spaces`` are those in which keys are not
        canonical; the numbers of axes do not matter.
        """

    def keeps_copies(self, key: str) -> bool:
        """Whether the server keeps the conditions of `copy_if`; probed beside ``key`` once."""

    def copy_if(
        self,
        source: str,
        target: str,
        *,
        tag: str | None = None,
        version: str | None = None,
        replaces: bool = False,
    ) -> tuple[Literal["stored", "refused", "unclear"], str]:
        """Let the server copy a value, if it has this tag; to a free key, unless ``replaces``."""

    @property
    def cache_counts(self) -> dict[str, int] | None:
        """Counters of the cache in this process; None without a cache."""

@final
class Layout:
    """The checked layout of an array with bound codecs, shared by all arrays with equal metadata.

    Parameters
    ----------
    document : str
        JSON: ``shape``, ``chunk_grid`` (for each axis the length of a chunk, or a list of
        ``[length, count]`` for runs of equal ones), ``item_bytes``, ``fill_value`` (hex of one
        element, or null for zeros), ``chunk_key_encoding`` and ``codecs`` in their v3 form,
        ``chunk_key_suffix``, ``metadata_key`` (name of the metadata document, the anchor of locks),
        ``write_empty_chunks``, and ``read_missing_chunks``: false makes a missing chunk an error.
        Variable-length elements have an ``item_bytes`` of null, and ``objects``: the ``slot`` of
        the element codec, and ``max_chunk_bytes``, the maximum length of a decoded chunk.
    foreign : sequence of objects
        The Python codecs that codecs named ``zarrix.foreign`` refer to by ``configuration.slot``.
        Each has ``name``, ``encode(bytes)``, ``decode(bytes)`` (both return a bytes-like) and
        ``encoded_bytes(decoded_bytes)``: the length of every encoded form, None where it varies. An
        element codec has ``name``; ``kind``, which is ``"utf8"`` and ``"bytes"`` for what is
        native; ``fill_value``, for elements of chunks that are not stored; ``fill_item``, its bytes
        in a native chunk, or None; ``leaves_out``: whether chunks of nothing but fill need not be
        stored. For the kind ``"python"`` also ``decode(bytes, count)``, which gives an array of
        objects with one axis, ``encode(elements)``, ``filled(count)`` and ``is_fill(elements)``.
    chain_of : callable, optional
        Where chunks have several shapes and not the same codecs: takes a chunk's shape, and gives
        the JSON of its codecs and what their slots refer to. It is asked once for each shape, from
        any thread.

    Raises
    ------
    MetadataError
        The document contradicts itself, or needs a feature that the engine does not have.
    """

    def __new__(
        cls,
        document: str,
        foreign: Sequence[Any] = ...,
        chain_of: Callable[[tuple[int, ...]], tuple[str, Sequence[Any]]] | None = None,
    ) -> Layout: ...

@final
class CancelToken:
    """Ends the calls that got it, from any thread; a forked child has a copy of its state.

    Examples
    --------
    >>> import zarrix as zarr
    >>> token = zarr.CancelToken()
    >>> token.cancel()
    >>> token.is_cancelled
    True
    """

    def __new__(cls) -> CancelToken: ...
    def cancel(self) -> None:
        """End the calls within 100 ms with `CallCancelledError`, and all later ones at once."""

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called."""

@final
class Progress:
    """How far a call of `read_many` has come, for other threads; for one call."""

    def __new__(cls) -> Progress: ...
    def wait(self, count: int, seconds: float) -> tuple[int, bool]:
        """Wait until the first ``count`` entries are complete, the call has ended, or the time is
        over. Returns how many are complete, and whether the call has ended.
        """

    def end(self) -> None:
        """Let nothing wait any more: the call has ended, or will not be made."""

def block_means(source: Buffer, out: Buffer, dtype: str, factors: Sequence[int]) -> None:
    """Write the mean of each block of ``factors`` elements to ``out``, rounded half to even.

    The type is one of "u1", "i1", "u2", "i2", "u4" and "i4", in native byte order. Both buffers are
    contiguous along the last axis. At far edges, a block has the elements that exist.
    """

def summarize(
    source: Buffer,
    dtype: str,
    *,
    fill: bytes | None,
    skip: str,
    moments: bool,
    leading: str | None,
    edges: Sequence[float],
) -> tuple[int, int, tuple[int, int, float, float, Any, Any], bytes, bytes]:
    """Count the fill value and NaN in a contiguous block, and say what the other elements are like.

    ``skip`` is "nan", "fill" (NaN, too) or "none". The moments are the count, the sum of integers,
    the mean, the sum of squared differences from it, the least and the largest element. The counts
    are those of the 65536 leading bits of an integer image of each element ("own") or of its
    float32 ("f4"), and those of the bins between ``edges``; each is int64, or empty.
    """

def trace_begin(most: int) -> tuple[int, int]:
    """Begin a trace that keeps ``most`` spans. Returns its number, and that of this thread."""

def trace_end(
    id: int,
) -> (
    tuple[
        list[tuple[str, str, str, int, int, int, int, int]],
        list[tuple[str, str, int, int, int]],
        int,
        int,
    ]
    | None
):
    """End a trace; None if this process has no such trace.

    Returns its spans (what it does, its name, the key, the thread, begin, answer and end in
    nanoseconds, bytes; thread 0 is a request of no thread of its own), for each kind and name how
    many there were, their nanoseconds and bytes, how many spans were left out, and the nanoseconds
    since it began.
    """

def read_parts(parts: Sequence[tuple[ArrayIO, tuple[_AxisSelection, ...], Buffer]]) -> None:
    """Fill the last of each part with the selection of its array, as `ArrayIO.read` does.

    The chunks of all parts are one job, and a remote store gets the requests for all of its arrays
    at once. Buffers may lie in one array side by side; if two share elements, it is not defined
    whose values remain.
    """

def read_many(
    entries: Sequence[
        tuple[ArrayIO, Buffer, Buffer, str, bytes | None, _Conversion | None, _Way | None]
    ],
    *,
    tolerate: bool = False,
    cancel: CancelToken | None = None,
    progress: Progress | None = None,
    threads: int = 0,
) -> list[tuple[int, int, str | None, Exception]]:
    """Fill the buffers of all entries with windows.

    An entry is an array; starts, C-contiguous, of 64-bit integers, with a row of coordinates per
    window; a buffer of shape ``(N, *window)``; a border; one element of padding; a conversion: the
    types of array and buffer; scales and offsets, one of each, or one of each for each index along
    an axis; that axis; the lowest and the highest result; and the result for NaN; and a way to the
    buffer: its turns, and its size. Types are "u1" to "f8", with an order of bytes ("<u2"), and
    "bfloat16".

    Turns have a byte for each axis of each window: twice the axis of the buffer that it becomes,
    and one more if it is mirrored. A size is the shape of windows before they get that of the
    buffer, "nearest", "bilinear" or "area", and the type of the buffer. Turns are those after it.

    With the border "inside", a window outside of the array is an error. With "pad", starts are
    signed, and what lies outside is filled with the padding, or unchanged if that is None. "edge"
    and "reflect" do as `numpy.pad` does.

    With ``tolerate``, corrupt chunks do not end the call: the windows that need them get the fill
    value of the array, unless its elements are variable-length. They are returned: number of the
    entry, of the window in it, key of the chunk, and exception.

    With ``progress``, and without ``tolerate``, chunks are read in the order of the first entry
    that needs them, and entries are reported as they are complete.

    ``threads`` is how many threads work on the call; 0 is as many as on every other one.
    """

def resize_windows(source: Buffer, out: Buffer, turns: Buffer | None, size: _Size) -> None:
    """Fill the buffer with contiguous windows, which get its size, as those of `read_many` do."""

@final
class ArrayIO:
    """Moves elements between one stored array and buffers.

    Parameters
    ----------
    store : Store
    path : str
        Prefix of the array's keys, without a trailing ``/``; empty for the root.
    layout : Layout
    document : tuple of bytes, (str or None) and callable, optional
        The metadata with which the array was opened, if it is in this store; the key of
        consolidated metadata that replaces a missing document; and a function that is called with
        changed metadata, and raises an error if it describes other chunks. If the metadata is gone
        or describes other chunks, writes are an error, and missing chunks do not read as the fill
        value.
    place : str
        The array and its store, with which messages begin.
    choices : tuple of three (bool or None)
        For measurements: whether the calling thread alone reads chunks; whether chunks and shards
        are read in parts; and whether threads share the blocks of chunks, or the inner chunks of
        shards. None leaves the choice to the engine; what is not possible is not done.

    Buffers for variable-length elements are NumPy arrays of objects or, for text, of StringDType.
    """

    def __new__(
        cls,
        store: Store,
        path: str,
        layout: Layout,
        *,
        document: tuple[bytes, str | None, Callable[[bytes], None]] | None = None,
        place: str = ...,
        choices: tuple[bool | None, bool | None, bool | None] = ...,
    ) -> ArrayIO: ...
    def read(self, selection: tuple[_AxisSelection, ...], out: Buffer) -> None:
        """Fill ``out``, which has one axis per range in ``selection`` and any strides."""

    def write(
        self, selection: tuple[_AxisSelection, ...], value: Buffer, fsync: bool = False
    ) -> None:
        """Store ``value``, which has one axis per range in ``selection``; strides may be 0."""

    def read_points(self, coords: Sequence[Buffer], out: Buffer) -> None:
        """Fill ``out`` in C order with one element per point; ``coords`` has an array per axis.

        The arrays are C-contiguous, of 64-bit indices, as many as ``out`` has elements. Every chunk
        is fetched and decoded once.
        """

    def write_points(self, coords: Sequence[Buffer], value: Buffer, fsync: bool = False) -> None:
        """Store one element of ``value`` per point; if a point is repeated, the last value is
        stored.
        """

    def read_windows(self, starts: Buffer, out: Buffer, clip: bool = False) -> None:
        """Fill ``out``, of shape ``(N, *window)``, with the windows that begin at ``starts``.

        ``starts`` is C-contiguous, of 64-bit indices, with a row of coordinates per window. Every
        chunk is fetched and decoded once, even if several windows touch it. With ``clip`` the
        indices may be negative, and parts of ``out`` outside the array are unchanged.
        """

    def read_boxes(
        self,
        selection: tuple[_AxisSelection | None, ...],
        coords: Sequence[Buffer],
        out: Buffer,
    ) -> None:
        """Fill ``out`` with boxes: each has its own index where ``selection`` has None; the rest is
        shared.

        ``coords`` has an array of indices per None. ``out`` has axes that count the boxes, in C
        order, then one per range in ``selection``. Every chunk is fetched and decoded once.
        """

    def write_boxes(
        self,
        selection: tuple[_AxisSelection | None, ...],
        coords: Sequence[Buffer],
        value: Buffer,
        fsync: bool = False,
    ) -> None:
        """Store ``value`` as boxes; if boxes overlap, the values of the last box are stored."""

    def cost(
        self, selection: tuple[_AxisSelection | None, ...], coords: Sequence[Buffer] = ...
    ) -> tuple[int, int, int, int, int, int]:
        """The cost of a read, without reading.

        Chunks (of shards, inner chunks), stored values (chunks or shards), how many of these are
        stored, requests to the store, bytes fetched, and elements of the chunks.
        """

    def strategy(
        self, selection: tuple[_AxisSelection | None, ...], coords: Sequence[Buffer] = ...
    ) -> str:
        """The way in which a read into a new array would be done.

        ``interleaved`` (neighbouring chunks by blocks), ``parallel shards`` (inner chunks of a few
        shards, divided among the threads), ``batched`` (many values per request of the store),
        or, chunk by chunk: ``shard ranges`` (an index, then inner chunks as ranges), ``cached
        chunks``, ``byte ranges`` or ``whole chunks``; ``nothing`` for an empty selection.
        """

    def effort(self, selection: tuple[_AxisSelection, ...]) -> int:
        """The estimated work of a read, in bytes copied meanwhile, which chooses its threads."""

    def initialized(self) -> int:
        """The number of stored chunks; all inner chunks of a stored shard count."""

    def stored_chunks(self, among: Sequence[str] | None = None) -> list[tuple[str, list[int]]]:
        """Keys of the stored chunks (or shards), relative to the store, and their coordinates.

        With ``among``, keys from an earlier listing, returns those that are chunks, without another
        listing.
        """

    def each_stored(self, sink: Callable[[bytes], object]) -> None:
        """Call ``sink`` with the bytes of all stored chunks, in C order of their coordinates.

        They come in parts of about a MiB, which do not end at chunk boundaries.
        """

    def read_chunk(self, coords: Sequence[int], out: Buffer) -> bool:
        """Fill ``out`` with one decoded chunk in C order; False if it is missing."""

    def regroup(self, source: ArrayIO, values: Sequence[Sequence[int]], fsync: bool = False) -> int:
        """Store the chunks or shards at some coordinates, of encoded chunks of ``source``.

        Nothing is decoded, and no lock is taken; the chunks of both arrays must be encoded alike.
        Returns the bytes that were stored.
        """

    def verify(
        self,
        watcher: Callable[[int], object] | None = None,
        among: Sequence[str] | None = None,
    ) -> tuple[int, int, list[tuple[str, str]], list[tuple[str, int]]]:
        """Decode every stored chunk to its declared size, with all checksums, and drop the result.

        With ``among``, only the chunks with these keys. Returns how many chunks there are, their
        stored bytes, key and message of each broken chunk, and key of each chunk with ignored bytes
        after its encoded form, with their number. ``watcher`` is called from time to time with the
        number of finished chunks.
        """

    def clear_outside(self, shape: tuple[int, ...], fill: Buffer, fsync: bool = False) -> None:
        """Delete the stored chunks completely outside ``shape``, and write ``fill`` to the outside
        part of chunks at its boundary.

        ``fill`` is one element, without axes. Only stored chunks are visited.
        """

def codec_fault(name: str, configuration: str, item_bytes: int) -> str | None:
    """The reason why the engine rejects a codec with this name and JSON configuration; None if
    it is accepted.
    """

def set_reencodes_lossy(allowed: bool) -> None:
    """Allow or refuse writes of parts of lossy chunks."""

def set_chunk_cache_bytes(bytes: int) -> None:
    """Empty the decoded-chunk cache, and limit it to this many bytes; 0 turns it off."""

def chunk_cache_bytes() -> int:
    """The maximum size of the decoded-chunk cache in bytes."""

def chunk_cache_counts() -> dict[str, int]:
    """Hits, misses, bytes of the hits, evictions; entries and bytes in the cache."""

def empty(shape: tuple[int, ...], dtype: npt.DTypeLike, order: str) -> npt.NDArray[Any]:
    """``numpy.empty``. A result of `LARGE_RESULT_BYTES` or more may get the memory of one that was
    freed within the last second.
    """

def heads_of(
    paths: Sequence[str | PathLike[str]], most: int, known: bytes = ...
) -> list[bytes | None]:
    """The first bytes of regular files, at most ``most`` of each, read on all threads; None for
    files that begin with those that are ``known``.
    """

def versions_of(
    paths: Sequence[str | PathLike[str]], *, follows: bool = True
) -> list[tuple[int, int, int, bool] | None]:
    """Size, times of the last modification and of the last change in nanoseconds, and whether it is
    a regular file, of each file, or of a link itself unless it ``follows``; None for missing ones.
    """

def pages_of(
    rows: Sequence[tuple[str, int, str, str | None]],
) -> list[tuple[str, int, int, bytes]]:
    """Pages of rows of a version: first key, number of rows, bytes of their values, and lines."""

def release_tree(live: str, version: str) -> int:
    """Give files of ``live`` the write permission back that guarded links below ``version`` took,
    if they have no other name; return their number.
    """

def exchange(first: str, second: str) -> None:
    """Exchange two paths in one step; an ``OSError`` where the file system cannot."""

def set_result_cache_bytes(bytes: int) -> None:
    """Limit the memory of freed results that is kept to this many bytes, and give back what is
    kept; 0 turns it off.
    """

def result_cache_bytes() -> int:
    """The maximum memory of freed results that is kept, in bytes."""

def warn_of_waits_after(seconds: float) -> None:
    """The time after which a wait for a lock causes a warning; 10 seconds by default."""

def set_concurrent_requests(count: int) -> None:
    """The maximum number of requests of this process to remote stores in flight."""

def concurrent_requests() -> int:
    """The maximum number of requests of this process to remote stores in flight."""

def set_most_answer_bytes(bytes: int) -> None:
    """The maximum number of bytes that are read of a value on a server, if the reader has no
    limit.
    """

def set_threads(count: int) -> None:
    """Size of the worker pool of this process, from the next read or write on."""

def threads() -> int:
    """Size of the worker pool of this process."""

def check_store(store: Store, twin: Store) -> None:
    """Run the conformance suite on an empty store, and leave it empty.

    ``twin`` is a second handle on the same values. An `AssertionError` names the check that failed.
    """

def check_reading(store: Store, twin: Store, held: dict[str, bytes], lists: bool) -> None:
    """Run the read-only part of the suite on a store with the values ``held``.

    In a store that cannot list, only reads are checked.
    """
