"""A store with the methods of zarr-python 3's, which needs no zarr-python: a dict and a diary."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import zarrix as zarr


class Coroutines:
    """Values in a dict, behind coroutines; ``asked`` has each get and the bytes that it gave."""

    def __init__(self, read_only: bool = False) -> None:
        self.values: dict[str, bytes] = {}
        self.read_only = read_only
        self.supports_writes = not read_only
        self.supports_deletes = True
        self.supports_listing = True
        self.asked: list[tuple[str, int]] = []
        self.before_get: Callable[[str], Any] = str

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        await asyncio.sleep(0)
        self.before_get(key)
        if key not in self.values:
            return None
        value = self.values[key]
        if hasattr(byte_range, "suffix"):
            value = value[-byte_range.suffix :]
        elif hasattr(byte_range, "start"):
            value = value[byte_range.start : byte_range.end]
        self.asked.append((key, len(value)))
        return prototype.buffer.from_bytes(value)

    async def exists(self, key: str) -> bool:
        return key in self.values

    async def getsize(self, key: str) -> int:
        return len(self.values[key])

    async def set(self, key: str, value: Any) -> None:
        await asyncio.sleep(0)
        self.values[key] = value.to_bytes()

    async def delete(self, key: str) -> None:
        self.values.pop(key, None)

    async def list(self) -> AsyncIterator[str]:
        for key in [*self.values]:
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        for key in [*self.values]:
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        start = f"{prefix.rstrip('/')}/" if prefix else ""
        keys = [key[len(start) :] for key in self.values if key.startswith(start)]
        for name in {key.partition("/")[0] for key in keys}:
            yield name


def written_by_threads(place: Any) -> list[int]:
    """One chunk of 64 elements, after four threads with a handle each wrote every fourth to it."""
    zarr.create(64, chunks=64, dtype="i4", store=place)

    def work(first: int) -> None:
        mine = zarr.open_array(place, mode="r+")
        for position in range(first, 64, 4):
            mine[position] = position + 1

    threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return list(zarr.open_array(place)[:].tolist())
