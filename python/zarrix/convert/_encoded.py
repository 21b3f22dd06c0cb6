"""Chunks that are copied as they are encoded: bytes of a file become values of a store."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any

from zarrix._errors import ConversionError
from zarrix._stores.base import Store
from zarrix._stores.keys import key_of
from zarrix.convert._source import Encoded, Part

__all__ = ["key_in", "kept_options", "store_parts"]

_WORKERS = 4


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
    if config["id"] == "zstd":
        return {"name": "zstd", "configuration": {"level": options["level"], "checksum": False}}
    return {"name": f"numcodecs.{config['id']}", "configuration": options}


def key_in(array: Any, coords: tuple[int, ...]) -> str:
    """The key of a chunk in the store of an array."""
    numbers = [str(i) for i in coords]
    if array._metadata.zarr_format == 2:
        name = array._metadata.dimension_separator.join(numbers) or "0"
    else:
        name = array._metadata.dimension_separator.join(["c", *numbers])
    return key_of(array.path, name)


def store_parts(encoded: Encoded, array: Any, store: Store, stored: set[tuple[int, ...]]) -> None:
    """Store all chunks but those that are stored; several are in flight at once."""

    def put(part: Part) -> None:
        value = part.value
        if value is None:
            value = encoded.file.read(part.offset, part.length)
        store[key_in(array, part.coords)] = value

    waiting: Iterator[Part] = (part for part in encoded.parts() if part.coords not in stored)
    with ThreadPoolExecutor(_WORKERS) as threads:
        running: set[Future[None]] = {
            threads.submit(put, one) for one in islice(waiting, 2 * _WORKERS)
        }
        while running:
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                future.result()
                running.update(threads.submit(put, one) for one in islice(waiting, 1))


def check_length(length: int, most: int, shown: str) -> None:
    """Raise `ConversionError` for a chunk that is longer than its codecs can make it."""
    if not 0 <= length <= most:
        raise ConversionError(f"{shown} has a chunk of {length} bytes; {most} are possible")
