"""Names of ``zarr.abc.store`` that zarrix lacks: protocols of what reads and writes one value."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

__all__ = [
    "ByteGetter",
    "ByteSetter",
    "SupportsDeleteSync",
    "SupportsGetSync",
    "SupportsSetSync",
    "SupportsSyncStore",
    "SyncByteGetter",
    "SyncByteSetter",
    "set_or_delete",
]


class ByteGetter(Protocol):
    """What gives one value when it is awaited, such as a `StorePath`."""

    async def get(self, prototype: Any, byte_range: Any = None) -> Any:
        """The value or a part of it; None if there is none."""


class ByteSetter(Protocol):
    """What gives, stores and deletes one value when it is awaited."""

    async def get(self, prototype: Any, byte_range: Any = None) -> Any:
        """The value or a part of it; None if there is none."""

    async def set(self, value: Any) -> None:
        """Store the value."""

    async def delete(self) -> None:
        """Delete the value."""

    async def set_if_not_exists(self, default: Any) -> None:
        """Store the value if there is none."""


@runtime_checkable
class SyncByteGetter(Protocol):
    """What gives one value at once."""

    def get_sync(self, prototype: Any = None, byte_range: Any = None) -> Any:
        """The value or a part of it; None if there is none."""


@runtime_checkable
class SyncByteSetter(SyncByteGetter, Protocol):
    """What gives, stores and deletes one value at once."""

    def set_sync(self, value: Any) -> None:
        """Store the value."""

    def delete_sync(self) -> None:
        """Delete the value."""


@runtime_checkable
class SupportsGetSync(Protocol):
    """A store that gives values at once."""

    def get_sync(self, key: str, *, prototype: Any = None, byte_range: Any = None) -> Any:
        """The value or a part of it; None if there is none."""


@runtime_checkable
class SupportsSetSync(Protocol):
    """A store that stores values at once."""

    def set_sync(self, key: str, value: Any) -> None:
        """Store a value."""


@runtime_checkable
class SupportsDeleteSync(Protocol):
    """A store that deletes values at once."""

    def delete_sync(self, key: str) -> None:
        """Delete a value."""


@runtime_checkable
class SupportsSyncStore(SupportsGetSync, SupportsSetSync, SupportsDeleteSync, Protocol):
    """A store that does all of this at once."""


def _store_supports_sync_io(store: object) -> bool:
    """Whether a store gives, stores and deletes values at once."""
    return isinstance(store, SupportsSyncStore) and bool(getattr(store, "_supports_sync_io", True))


async def set_or_delete(byte_setter: ByteSetter, value: Any) -> None:
    """Store a value, or delete it for None."""
    if value is None:
        await byte_setter.delete()
    else:
        await byte_setter.set(value)
