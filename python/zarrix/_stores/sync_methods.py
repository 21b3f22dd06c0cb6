"""The methods of zarr-python 3's stores that give and take buffers without being awaited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarrix._runtime.buffers import as_bytes

__all__ = ["SyncMethods"]


class SyncMethods:
    """``get_sync`` and its kin, on the stores whose values the engine gets.

    They are the mapping's methods with zarr-python's buffers: a program that has no event loop
    calls them instead of the coroutines.
    """

    if TYPE_CHECKING:

        def _buffer_of(self, key: str, prototype: Any, byte_range: Any) -> Any: ...
        def __setitem__(self, key: str, value: Any) -> None: ...
        def _delete_key(self, key: str) -> None: ...
        def _check_writable(self) -> None: ...

    def get_sync(self, key: str, *, prototype: Any = None, byte_range: Any = None) -> Any:
        """The value of ``key``, or a part of it, as a buffer.

        Parameters
        ----------
        key : str
        prototype : BufferPrototype, optional
        byte_range : ByteRequest, optional
            The part of the value; all of it when omitted.

        Returns
        -------
        Buffer or None
            None if nothing is stored.

        Raises
        ------
        TypeError
            ``byte_range`` is not a request.
        OSError
            The value is stored but cannot be read.

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.MemoryStore({"a": b"123"}).get_sync("a").to_bytes()
        b'123'
        """
        return self._buffer_of(key, prototype, byte_range)

    def set_sync(self, key: str, value: Any) -> None:
        """Store the bytes of a buffer.

        Parameters
        ----------
        key : str
        value : Buffer or bytes-like

        Raises
        ------
        ReadOnlyError
            The store is read-only.
        TypeError
            ``value`` is neither.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore()
        >>> store.set_sync("a", b"1")
        >>> store["a"]
        b'1'
        """
        self._check_writable()
        self[key] = as_bytes(value)

    def delete_sync(self, key: str) -> None:
        """Delete ``key``; nothing happens if it is not stored.

        Parameters
        ----------
        key : str

        Raises
        ------
        ReadOnlyError
            The store is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore({"a": b"1"})
        >>> store.delete_sync("a")
        >>> len(store)
        0
        """
        self._check_writable()
        self._delete_key(key)
