"""Names of ``zarr.abc.buffer``: those of ``zarr.core.buffer``, and protocols of arrays."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from zarrix._runtime.buffers import Buffer, BufferPrototype, NDBuffer, default_buffer_prototype

__all__ = [
    "ArrayLike",
    "Buffer",
    "BufferPrototype",
    "NDArrayLike",
    "NDBuffer",
    "default_buffer_prototype",
]


@runtime_checkable
class ArrayLike(Protocol):
    """Memory of one axis, as NumPy has it."""

    @property
    def dtype(self) -> Any:
        """The data type."""

    @property
    def ndim(self) -> int:
        """The number of axes."""

    @property
    def size(self) -> int:
        """The number of elements."""

    def __getitem__(self, key: Any) -> Any: ...

    def __setitem__(self, key: Any, value: Any) -> None: ...

    def copy(self) -> Any:
        """A copy."""


@runtime_checkable
class NDArrayLike(Protocol):
    """Memory of any number of axes, as NumPy has it."""

    @property
    def dtype(self) -> Any:
        """The data type."""

    @property
    def ndim(self) -> int:
        """The number of axes."""

    @property
    def size(self) -> int:
        """The number of elements."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""

    def __len__(self) -> int: ...

    def __getitem__(self, key: Any) -> Any: ...

    def __setitem__(self, key: Any, value: Any) -> None: ...

    def __array__(self) -> Any: ...

    def reshape(self, shape: Any, *, order: Any = ..., copy: Any = ...) -> Any:
        """The same elements in another shape."""

    def all(self) -> bool:
        """Whether all elements are true."""

    def view(self, dtype: Any) -> Any:
        """The same bytes as another data type."""

    def astype(self, dtype: Any, order: Any = ..., *, copy: bool = ...) -> Any:
        """The elements as another data type."""

    def fill(self, value: Any) -> None:
        """Give all elements this value."""

    def copy(self) -> Any:
        """A copy."""

    def transpose(self, axes: Any) -> Any:
        """The axes in another order."""

    def ravel(self, order: Any = ...) -> Any:
        """The elements along one axis."""
