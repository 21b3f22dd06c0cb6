"""The border to the Rust engine: what crosses it, and nothing else.

Every method releases the GIL before any I/O, lock or decoding. Keys are relative paths of names
joined by ``/``; one grammar refuses ``..``, absolute keys, NUL and empty names for all stores.
Errors raised here are the classes of ``zarrix._errors`` or ``OSError`` subclasses.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
from os import PathLike
from typing import Any, final

from typing_extensions import Buffer, disjoint_base

__all__ = [
    "ArrayIO",
    "FaultyStore",
    "Layout",
    "LocalStore",
    "MemoryStore",
    "ObjectStore",
    "PowerLossStore",
    "PythonStore",
    "Store",
    "ZipStore",
    "__version__",
    "check_reading",
    "check_store",
    "codec_fault",
    "chunk_cache_bytes",
    "chunk_cache_counts",
    "concurrent_requests",
    "set_chunk_cache_bytes",
    "set_concurrent_requests",
    "set_most_answer_bytes",
    "set_threads",
    "threads",
    "warn_of_waits_after",
]

__version__: str

_AxisSelection = int | tuple[int, int, int] | Buffer
"""One axis, within bounds: an index (the axis is dropped), ``(start, step, count)``, or a
C-contiguous array of 64-bit indices in any order, repeated or not."""

@disjoint_base
class Store:
    """Keys to bytes. One handle may be used from any number of threads at once."""

    @property
    def id(self) -> str:
        """Equal for two handles on the same place."""

    def get(self, key: str, *, most: int = ...) -> bytes | None:
        """The whole value of ``key``; None if absent.

        Of one that is longer than ``most`` bytes, the first ``most + 1`` or more.
        """

    def get_slice(self, key: str, start: int = 0, end: int | None = None) -> bytes | None:
        """The bytes from ``start`` up to ``end`` or the value's end; None if absent."""

    def get_last(self, key: str, length: int) -> bytes | None:
        """The last ``length`` bytes of a value, or all of a shorter one; None if absent."""

    def get_many(self, keys: Sequence[str], *, most: int = ...) -> list[bytes | None]:
        """What `get` gives for each, in one call, and at once where the store is far away."""

    def put(self, key: str, value: Buffer, *, fsync: bool = False, locks: bool = True) -> None:
        """Replace the value of ``key`` as a whole, under the lock of ``key``.

        Without ``locks`` for a store around this one, whose caller has the lock already.
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

        Returns what is stored afterwards. ``change`` runs with the GIL; no other writer of any
        thread or process of this machine gets between the read and the write.
        """

    def delete(self, key: str, *, fsync: bool = False, locks: bool = True) -> bool:
        """Remove ``key``; whether it was there. ``locks`` is as for `put`."""

    def delete_prefix(self, prefix: str, *, fsync: bool = False) -> int:
        """Remove every key below ``prefix`` (all, when empty); how many."""

    def foreign(self, prefix: str) -> str | None:
        """The name, below ``prefix``, of something that is neither a value nor a leftover; or None.

        Listings hide such names. Only directories have them.
        """

    def leftovers(self, prefix: str) -> list[str]:
        """The names, whole and sorted, of what is unfinished below ``prefix``."""

    def remove_leftover(self, name: str, least_age: timedelta) -> bool:
        """Remove a leftover that was not changed for ``least_age``; whether it was."""

    def size(self, key: str) -> int | None:
        """Length of the value of ``key`` in bytes; None if absent."""

    def size_prefix(self, prefix: str) -> int:
        """Sum of the lengths of all values below ``prefix``, in bytes."""

    def list_prefix(self, prefix: str) -> list[str]:
        """Every key below ``prefix``, whole, sorted."""

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        """The names directly below ``prefix``: with a value, and with others below them."""

    def list_dirs(self, prefixes: Sequence[str]) -> list[tuple[list[str], list[str]]]:
        """`list_dir` of each of ``prefixes``, asked for at once."""

    def delete_node(self, path: str, documents: Sequence[str], *, fsync: bool = False) -> int:
        """Remove what is at and below ``path``; how many values that were.

        ``documents`` are the names of what makes a node there: who writes to it is waited for, and
        whoever is killed in between leaves no node that lacks some of its chunks.
        """

    def move_node(
        self, source: str, target: str, documents: Sequence[str], *, fsync: bool = False
    ) -> None:
        """Move everything at and below ``source`` to ``target``, which must not exist.

        Who writes to the node that ``documents`` make there is waited for.
        """

@final
class LocalStore(Store):
    """A directory; it is made when something is first written."""

    def __new__(cls, root: str) -> LocalStore: ...
    @property
    def root(self) -> str: ...

@final
class MemoryStore(Store):
    """A table in the memory of this process."""

    def __new__(cls) -> MemoryStore: ...

@final
class PythonStore(Store):
    """Values that Python has: ``values`` is a `zarrix._stores.values.Values`.

    Single values are got from its ``_mapping`` and put there, where it has one. ``locks`` is the
    store that it is around, whose locks it shares, or a directory for lock files, which every
    process of this machine meets in; without it the threads of this process exclude each other, and
    nobody else. ``identity`` is equal for two stores of the same values, and ``path`` is where the
    keys are in them: two stores with the same values exclude each other's writers, whatever their
    paths are.
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
    """A table that keeps what a loss of power could leave of it; for tests."""

    def __new__(cls) -> PowerLossStore: ...
    @property
    def changes(self) -> int:
        """How many changes of keys there were."""

    def after_loss(self, at: int, seed: int) -> Store:
        """What there is if power goes during change number ``at``; ``seed`` decides what of it."""

@final
class FaultyStore(Store):
    """``inner``, in which call number ``at`` goes wrong; for tests.

    ``fault`` is "refused", "answer lost", "delayed" or "cut". Unless ``inline``, many values are
    asked for at once and come in another order.
    """

    def __new__(cls, inner: Store, fault: str, at: int, inline: bool) -> FaultyStore: ...
    @property
    def has_failed(self) -> bool:
        """Whether the call has been made."""

@final
class ZipStore(Store):
    """A zip archive in a file, or in a value of another store.

    Without ``start`` it is read. "extend" writes to what is there, "replace" writes a new archive
    that takes its place when it is complete, "create" fails if something is there. ``method`` is
    the number of a compression of ``zipfile``, for what is written.
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
        """Make what was written readable by others; this process goes on writing."""

    def close(self, *, fsync: bool = False) -> None:
        """`flush`, after which other processes can write, and this handle no longer can."""

    def pack(self, *, fsync: bool = False) -> int:
        """Write the archive anew without what nothing refers to, documents first; bytes saved."""

    def finish(self, comment: Buffer, *, fsync: bool = False) -> None:
        """Put documents first, set the archive's comment, and use ZIP64's records in any case."""

    @staticmethod
    def in_store(store: Store, key: str) -> ZipStore | None:
        """The archive in the value of ``key``, for reading; None if nothing is stored there."""

    @property
    def recovered(self) -> bool:
        """Whether the file ends in something unfinished, behind the directory that is used."""

    @property
    def refused(self) -> tuple[int, list[str]]:
        """How many names in the archive are no keys, and the first of them."""

@final
class ObjectStore(Store):
    """Values below ``prefix`` in a bucket of S3, GCS or Azure, on HDFS, or below a web address.

    ``service`` is ``"s3"``, ``"gs"``, ``"az"``, ``"hdfs"`` or ``"http"``. ``bucket`` is host and
    port of HDFS, of a web server scheme, host and port. ``options`` are the service's own, by the
    names of Rust's ``object_store``, with ``timeout`` in seconds, ``max_retries``,
    ``header:<name>``, and ``cache``, a local folder of at most about ``cache_bytes``; an unknown
    one is an error. Those of HDFS are ``user``, ``replication``, ``locks``, a folder of lock files,
    and Hadoop's properties. No request is made until a value is asked for.
    """

    def __new__(
        cls, service: str, bucket: str, prefix: str, options: dict[str, str]
    ) -> ObjectStore: ...
    @property
    def url(self) -> str:
        """The address, without any options."""

    @property
    def cache_counts(self) -> dict[str, int] | None:
        """What the cache has done for this process; None without one."""

@final
class Layout:
    """What an array is to the engine, checked, and its codecs bound, once for all that are so.

    Parameters
    ----------
    document : str
        JSON: ``shape``, ``chunk_grid`` (for each axis the length of a chunk, or a list of
        ``[length, count]`` for runs of equal ones), ``item_bytes``, ``fill_value`` (hex of one
        element, or null for zeros), ``chunk_key_encoding`` and ``codecs`` in their v3 form,
        ``chunk_key_suffix``, ``metadata_key`` (name of the metadata document, the anchor of locks),
        ``write_empty_chunks``, and ``read_missing_chunks``: false makes a chunk that is not stored
        an error. Elements that
        have no size of their own have an ``item_bytes`` of null, and ``objects``: the ``slot`` of
        what knows them, and ``max_chunk_bytes``, the most that a decoded chunk of them may have.
    foreign : sequence of objects
        What codecs named ``zarrix.foreign`` refer to by ``configuration.slot``. Each has ``name``,
        ``encode(bytes)``, ``decode(bytes)`` (both return a bytes-like) and
        ``encoded_bytes(decoded_bytes)``: the length of every encoded form, None where it varies.
        What knows elements has ``name``; ``kind``, which is ``"utf8"`` and ``"bytes"`` for what is
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
        The document contradicts itself, or asks for what the engine does not do.
    """

    def __new__(
        cls,
        document: str,
        foreign: Sequence[Any] = ...,
        chain_of: Callable[[tuple[int, ...]], tuple[str, Sequence[Any]]] | None = None,
    ) -> Layout: ...

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
        The metadata that the array was opened by, where it is in this store, too; the key of
        consolidated metadata that counts where the array has none of its own; and what is called
        with metadata that differs, and raises where it describes other chunks. Where the metadata
        is gone or describes other chunks, nothing is written and no missing chunk reads as fill.
    place : str
        Which array of which store this is: what messages begin with.

    Buffers for elements without a size are NumPy arrays of objects or, for text, of StringDType.
    """

    def __new__(
        cls,
        store: Store,
        path: str,
        layout: Layout,
        *,
        document: tuple[bytes, str | None, Callable[[bytes], None]] | None = None,
        place: str = ...,
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
        """Store one element of ``value`` per point; of two that are one element the last stays."""

    def read_windows(self, starts: Buffer, out: Buffer, clip: bool = False) -> None:
        """Fill ``out``, of shape ``(N, *window)``, with the windows that begin at ``starts``.

        ``starts`` is C-contiguous, of 64-bit indices, with a row of coordinates per window. Every
        chunk is fetched and decoded once, however many windows touch it. With ``clip`` the indices
        may be negative, and ``out`` keeps what it has where a window leaves the array.
        """

    def read_boxes(
        self,
        selection: tuple[_AxisSelection | None, ...],
        coords: Sequence[Buffer],
        out: Buffer,
    ) -> None:
        """Fill ``out`` with boxes: an index of their own where ``selection`` has None, else shared.

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
        """Store ``value`` as boxes; of two elements that are one, that of the last box stays."""

    def cost(
        self, selection: tuple[_AxisSelection | None, ...], coords: Sequence[Buffer] = ...
    ) -> tuple[int, int, int, int, int, int]:
        """What a read would touch and fetch, without reading it.

        Chunks (of shards, inner chunks), stored values (chunks or shards), how many of these are
        stored, requests to the store, bytes fetched, and elements of the chunks.
        """

    def strategy(
        self, selection: tuple[_AxisSelection | None, ...], coords: Sequence[Buffer] = ...
    ) -> str:
        """How a read to a new array is done, without reading anything.

        ``interleaved`` (neighbouring chunks by blocks), ``parallel shards`` (inner chunks of a few
        shards, divided among the threads), ``batched`` (many values per request of the store),
        or, chunk by chunk: ``shard ranges`` (an index, then inner chunks as ranges), ``cached
        chunks``, ``byte ranges`` or ``whole chunks``; ``nothing`` for an empty selection.
        """

    def initialized(self) -> int:
        """How many chunks are stored; of a stored shard, all its inner chunks count."""

    def stored_chunks(self, among: Sequence[str] | None = None) -> list[tuple[str, list[int]]]:
        """Keys of the stored chunks (or shards), relative to the store, and their coordinates.

        With ``among``, keys that were listed before, those of them that are chunks: nothing is
        listed.
        """

    def each_stored(self, sink: Callable[[bytes], object]) -> None:
        """Call ``sink`` with the bytes of all stored chunks, in C order of their coordinates.

        They come in pieces of about a MiB, which say nothing of where a chunk begins.
        """

    def read_chunk(self, coords: Sequence[int], out: Buffer) -> bool:
        """Fill ``out`` with one whole decoded chunk in C order; False if it is not stored."""

    def verify(
        self,
        watcher: Callable[[int], object] | None = None,
        among: Sequence[str] | None = None,
    ) -> tuple[int, int, list[tuple[str, str]], list[tuple[str, int]]]:
        """Decode every stored chunk to its declared size, with all checksums, and keep nothing.

        With ``among``, only the chunks with these keys. Returns how many chunks there are, their
        stored bytes, key and message of each that is broken, and key of each that has ignored bytes
        behind its encoded form, with their number. ``watcher`` is told now and then how many are
        done.
        """

    def clear_outside(self, shape: tuple[int, ...], fill: Buffer, fsync: bool = False) -> None:
        """Delete the stored chunks wholly outside ``shape``, and put ``fill`` into what it cuts.

        ``fill`` is one element, without axes. Only stored chunks are looked at.
        """

def codec_fault(name: str, configuration: str, item_bytes: int) -> str | None:
    """Why the engine takes no codec of this name and JSON configuration; None if it does."""

def set_chunk_cache_bytes(bytes: int) -> None:
    """Keep decoded chunks of at most so many bytes, none to begin with; 0 for no cache."""

def chunk_cache_bytes() -> int:
    """Most bytes of decoded chunks that this process keeps."""

def chunk_cache_counts() -> dict[str, int]:
    """Hits, misses, bytes of the hits, evictions; entries and bytes that are kept."""

def warn_of_waits_after(seconds: float) -> None:
    """After how long a wait for a lock is warned of; 10 seconds unless changed."""

def set_concurrent_requests(count: int) -> None:
    """How many requests of this process to remote stores are on their way at one time."""

def concurrent_requests() -> int:
    """How many requests of this process to remote stores are on their way at one time."""

def set_most_answer_bytes(bytes: int) -> None:
    """How many bytes of a value on a server are read where its reader does not say."""

def set_threads(count: int) -> None:
    """Size of the worker pool of this process, from the next read or write on."""

def threads() -> int:
    """Size of the worker pool of this process."""

def check_store(store: Store, twin: Store) -> None:
    """Run the conformance suite on a store that is empty, and leave it so.

    ``twin`` is another handle on the same place. An `AssertionError` names the check that failed.
    """

def check_reading(store: Store, twin: Store, held: dict[str, bytes], lists: bool) -> None:
    """Run the part of the suite that changes nothing on a store that holds ``held``.

    Of a store that does not list, only what is got is checked.
    """
