"""The three kinds of v3 codecs, and the methods of codecs that users write for zarr-python 3.

The codecs of this package are encoded and decoded by the engine, and have only the class. A user's
codec defines ``_encode_single`` and ``_decode_single``, or ``_encode_sync`` and ``_decode_sync``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from zarrix._codecs.codec import Codec

__all__ = ["KINDS", "ArrayArrayCodec", "ArrayBytesCodec", "BytesBytesCodec", "UserCodec"]


@dataclass(frozen=True)
class UserCodec(Codec):
    """The base of the three kinds.

    Examples
    --------
    >>> from zarrix.abc.codec import BytesBytesCodec
    >>> from zarrix.codecs import GzipCodec
    >>> isinstance(GzipCodec(), BytesBytesCodec)
    True
    """

    is_fixed_size = False
    # Bytes that a codec of this package adds, if it does not depend on the data.
    _added_bytes: ClassVar[int | None] = None

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
        """Length of the encoded bytes, of a codec for which it does not depend on the data.

        Parameters
        ----------
        input_byte_length : int
        chunk_spec : ArraySpec

        Returns
        -------
        int

        Raises
        ------
        NotImplementedError
            The length depends on the data.

        Examples
        --------
        >>> from zarrix.abc.codec import BytesBytesCodec
        >>> class Same(BytesBytesCodec):
        ...     def compute_encoded_size(self, input_byte_length, chunk_spec):
        ...         return input_byte_length
        >>> Same().compute_encoded_size(8, None)
        8
        """
        if self._added_bytes is not None:
            return input_byte_length + self._added_bytes
        raise NotImplementedError(f"the output of {type(self).__name__} has no fixed length")

    def resolve_metadata(self, chunk_spec: Any) -> Any:
        """Shape, data type and fill value of the output.

        Parameters
        ----------
        chunk_spec : ArraySpec
            Those of the input.

        Returns
        -------
        ArraySpec

        Raises
        ------
        MetadataError
            The codec does not take such an input.

        Examples
        --------
        >>> from zarrix.codecs import GzipCodec
        >>> GzipCodec().resolve_metadata("the same")
        'the same'
        """
        return chunk_spec

    def evolve_from_array_spec(self, array_spec: Any) -> Self:
        """The codec with what it takes from the array.

        Parameters
        ----------
        array_spec : ArraySpec

        Returns
        -------
        Codec

        Raises
        ------
        MetadataError
            The codec is not for such an array.

        Examples
        --------
        >>> from zarrix.codecs import GzipCodec
        >>> GzipCodec(level=1).evolve_from_array_spec(None)
        GzipCodec(level=1)
        """
        return self

    def validate(self, *, shape: tuple[int, ...], dtype: Any, chunk_grid: Any) -> None:
        """Raise an error if the codec is not for such an array.

        Parameters
        ----------
        shape : tuple of int
        dtype : data type of `zarrix.dtype`
        chunk_grid : ChunkGrid

        Raises
        ------
        MetadataError
            It is not.

        Examples
        --------
        >>> from zarrix.codecs import GzipCodec
        >>> GzipCodec().validate(shape=(1,), dtype=None, chunk_grid=None)
        """

    async def _encode_single(self, chunk_data: Any, chunk_spec: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} is encoded by the engine")

    async def _decode_single(self, chunk_data: Any, chunk_spec: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} is decoded by the engine")

    async def encode(self, chunks_and_specs: Iterable[tuple[Any, Any]]) -> list[Any]:
        """Encode several chunks; None stays None.

        Parameters
        ----------
        chunks_and_specs : iterable of tuple of (Buffer or NDBuffer or None, ArraySpec)

        Returns
        -------
        list of Buffer or NDBuffer or None

        Raises
        ------
        NotImplementedError
            The codec is one of zarrix, which the engine encodes.

        Examples
        --------
        >>> import asyncio
        >>> from zarrix.codecs import GzipCodec
        >>> asyncio.run(GzipCodec().encode([(None, None)]))
        [None]
        """
        return await _each(self._encode_single, chunks_and_specs)

    async def decode(self, chunks_and_specs: Iterable[tuple[Any, Any]]) -> list[Any]:
        """Decode several chunks; None stays None.

        Parameters
        ----------
        chunks_and_specs : iterable of tuple of (Buffer or NDBuffer or None, ArraySpec)

        Returns
        -------
        list of Buffer or NDBuffer or None

        Raises
        ------
        NotImplementedError
            The codec is one of zarrix, which the engine decodes.

        Examples
        --------
        >>> import asyncio
        >>> from zarrix.codecs import GzipCodec
        >>> asyncio.run(GzipCodec().decode([(None, None)]))
        [None]
        """
        return await _each(self._decode_single, chunks_and_specs)


async def _each(
    single: Callable[[Any, Any], Awaitable[Any]], chunks_and_specs: Iterable[tuple[Any, Any]]
) -> list[Any]:
    return [
        None if chunk is None else await single(chunk, spec) for chunk, spec in chunks_and_specs
    ]


class ArrayArrayCodec(UserCodec):
    """A codec that gives an array for an array, such as a transposition.

    Examples
    --------
    >>> from zarrix.abc.codec import ArrayArrayCodec
    >>> from zarrix.codecs import TransposeCodec
    >>> isinstance(TransposeCodec(order=(1, 0)), ArrayArrayCodec)
    True
    """


class ArrayBytesCodec(UserCodec):
    """A codec that gives the bytes of an array.

    Examples
    --------
    >>> from zarrix.abc.codec import ArrayBytesCodec
    >>> from zarrix.codecs import BytesCodec
    >>> isinstance(BytesCodec(), ArrayBytesCodec)
    True
    """


class BytesBytesCodec(UserCodec):
    """A codec that gives bytes for bytes, such as a compressor.

    Examples
    --------
    >>> from zarrix.abc.codec import BytesBytesCodec
    >>> from zarrix.codecs import ZstdCodec
    >>> isinstance(ZstdCodec(), BytesBytesCodec)
    True
    """


KINDS: dict[str, type[UserCodec]] = {
    "array-to-array": ArrayArrayCodec,
    "array-to-bytes": ArrayBytesCodec,
    "bytes-to-bytes": BytesBytesCodec,
}
"""The classes by the kinds of the table of codecs."""

for _class in (UserCodec, *KINDS.values()):
    _class.__module__ = "zarrix.abc.codec"
