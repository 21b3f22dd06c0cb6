"""Chunks that are copied as they are encoded: bytes of a file become values of a store."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any

from zarrix._array.access import metadata_of
from zarrix._codecs.images import is_image
from zarrix._errors import ConversionError
from zarrix._hierarchy.copy_store import copied
from zarrix._stores.base import Store
from zarrix._stores.keys import key_of
from zarrix._stores.local import LocalStore
from zarrix._stores.parts import FileParts
from zarrix.convert._source import Encoded, Part, folders_of, names_below

__all__ = ["all_in_file", "key_in", "kept_options", "store_parts"]

_WORKERS = 4
# Bytes of one read, which stay in a processor's cache until they are written; and what lies
# between two chunks that is read to make one read of two.
_BATCH, _GAP = 2**20, 4096


def kept_options(encoded: Encoded, zarr_format: int, dtype: Any) -> dict[str, Any]:
    """The arguments of `create_array` for an array with these encoded chunks.

    Raises
    ------
    ConversionError
        v3 has no codec for the byte order of a field.
    """
    if zarr_format == 2:
        return {
            "chunks": encoded.chunks,
            "filters": encoded.filters or None,
            "compressor": encoded.compressor,
            "order": "C",
        }
    if encoded.compressor is not None and is_image(encoded.compressor["id"]):
        # No checksum: the chunks are files, byte for byte.
        picture = _in_v3(encoded.compressor)
        kept: dict[str, Any] = {
            "chunks": encoded.chunks,
            "filters": None,
            "serializer": picture,
            "compressors": None,
        }
        if encoded.files:
            # No folders around each file, which take as long as the copy of its bytes.
            kept["chunk_key_encoding"] = {"name": "default", "separator": "."}
        return kept
    codecs = [*(encoded.filters or []), *([encoded.compressor] if encoded.compressor else [])]
    options: dict[str, Any] = {
        "chunks": encoded.chunks,
        "filters": None,
        "compressors": [*map(_in_v3, codecs)] or None,
    }
    if dtype.names is not None and dtype.newbyteorder("<") != dtype:
        raise ConversionError(f"{dtype} has big-endian fields, which v3 has no codec for")
    if dtype.byteorder == ">":
        options["serializer"] = {"name": "bytes", "configuration": {"endian": "big"}}
    return options


def _in_v3(config: dict[str, Any]) -> dict[str, Any]:
    """The v3 codec that encodes the same bytes as a codec of numcodecs."""
    options = {name: value for name, value in config.items() if name != "id"}
    if is_image(config["id"]):
        return {"name": config["id"], "configuration": options}
    if config["id"] == "zstd":
        return {"name": "zstd", "configuration": {"level": options["level"], "checksum": False}}
    return {"name": f"numcodecs.{config['id']}", "configuration": options}


def key_in(array: Any, coords: tuple[int, ...]) -> str:
    """The key of a chunk in the store of an array."""
    return keys_in(array)(coords)


def keys_in(array: Any) -> Callable[[tuple[int, ...]], str]:
    """The function that gives `key_in` for many chunks."""
    metadata = metadata_of(array)
    between, begin = metadata.dimension_separator, key_of(array.path, "")
    if metadata.zarr_format == 2:
        return lambda coords: begin + (between.join(map(str, coords)) or "0")
    return lambda coords: begin + between.join(("c", *map(str, coords)))


def all_in_file(
    encoded: Encoded, array: Any, stored: Collection[tuple[int, ...]] = ()
) -> FileParts | None:
    """The store of all chunks but those that are ``stored``; None if some are encoded anew."""
    found = []
    key_at = keys_in(array)
    for part in encoded.parts():
        if part.value is not None:
            return None
        if part.coords in stored:
            continue
        found.append((key_at(part.coords), part.offset, part.length))
    return FileParts(str(encoded.file.path), encoded.file.seen, found)


def _copy_files(
    encoded: Encoded, array: Any, store: Store, stored: Collection[tuple[int, ...]]
) -> int | None:
    """Copy files that are chunks by the engine, and return their bytes; None if chunks are not
    files, or if a file has a name that is not a key.
    """
    if not encoded.files:
        return None
    paths = [path for _, path in encoded.files]
    folder = os.path.commonpath({*map(os.path.abspath, folders_of(paths))})
    names = names_below(folder, paths)
    if os.sep != "/":
        names = [name.replace(os.sep, "/") for name in names]
    if any(name.endswith(".partial") or "\\" in name or not _is_text(name) for name in names):
        return None
    found = zip(names, encoded.files, strict=True)
    key_at = keys_in(array)
    pairs = [(name, key_at(at)) for name, (at, _) in found if at not in stored]
    source = LocalStore(folder, read_only=True)
    done = [*copied(source, store, pairs, _WORKERS, locks=False)]
    if gone := len(pairs) - sum(count for count, _ in done):
        raise ConversionError(f"{folder}: {gone} files are gone")
    return sum(nbytes for _, nbytes in done)


def _is_text(name: str) -> bool:
    """Whether the name of a file is UTF-8, as keys are."""
    return name.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in name)


def store_parts(
    encoded: Encoded, array: Any, store: Store, stored: set[tuple[int, ...]]
) -> int | None:
    """Store all chunks but those that are stored, several at once; return their bytes if they are
    known.

    To files and memory, the engine copies them. Otherwise chunks that lie beside each other in the
    file are read at once, into memory that is used again: the pages of new memory would cost more
    than the copy.
    """
    if store._engine.is_inline:
        nbytes = _copy_files(encoded, array, store, stored)
        if nbytes is not None:
            return nbytes
    whole = all_in_file(encoded, array, stored) if store._engine.is_inline else None
    if whole is not None:
        # Values of the store, not updates of an array: no lock, as where they are set one by one.
        for _ in copied(whole, store, [(key, key) for key in whole], _WORKERS, locks=False):
            pass
        return None
    local = threading.local()

    def put(batch: list[Part]) -> None:
        for part in batch:
            if part.value is not None:
                store[key_in(array, part.coords)] = part.value
        if batch[0].value is not None:
            return
        start, end = batch[0].offset, batch[-1].offset + batch[-1].length
        buffer: bytearray | None = getattr(local, "buffer", None)
        if buffer is None or len(buffer) < end - start:
            buffer = local.buffer = bytearray(max(end - start, _BATCH))
        with memoryview(buffer) as memory:
            encoded.file.read_into(memory[: end - start], start)
            for part in batch:
                at = part.offset - start
                with memory[at : at + part.length] as value:
                    store[key_in(array, part.coords)] = value

    waiting = _batches(part for part in encoded.parts() if part.coords not in stored)
    with ThreadPoolExecutor(_WORKERS) as threads:
        running: set[Future[None]] = {
            threads.submit(put, one) for one in islice(waiting, 2 * _WORKERS)
        }
        while running:
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                future.result()
                running.update(threads.submit(put, one) for one in islice(waiting, 1))
    return None


def _batches(parts: Iterable[Part]) -> Iterator[list[Part]]:
    """Chunks that one read of the file gets, or one chunk that was encoded anew."""
    batch: list[Part] = []
    for part in parts:
        if batch:
            end = batch[-1].offset + batch[-1].length
            alone = part.value is not None or batch[0].value is not None
            gap = part.offset - end
            if (
                alone
                or not 0 <= gap <= _GAP
                or part.offset + part.length - batch[0].offset > _BATCH
            ):
                yield batch
                batch = []
        batch.append(part)
    if batch:
        yield batch
