"""v2 documents as plain values, under the names of zarr 2.18's module.

zarrix itself uses `zarrix._metadata.array`, which these wrap.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zarrix._dtypes.v2 import decode_dtype, decode_fill_value, encode_dtype, encode_fill_value
from zarrix._errors import MetadataError
from zarrix._metadata import v2 as _v2
from zarrix._metadata.json import json_loads

__all__ = [
    "Metadata2",
    "MetadataError",
    "ZARR_FORMAT",
    "decode_array_metadata",
    "decode_dtype",
    "decode_fill_value",
    "decode_group_metadata",
    "encode_array_metadata",
    "encode_dtype",
    "encode_fill_value",
    "encode_group_metadata",
    "parse_metadata",
]

ZARR_FORMAT = 2


def parse_metadata(document: Any) -> Mapping[str, Any]:
    """The members of a JSON document; a mapping is returned as it is.

    Parameters
    ----------
    document : bytes-like, str or mapping

    Returns
    -------
    mapping of str to JSON value

    Raises
    ------
    MetadataError
        It is not JSON.

    Examples
    --------
    >>> from zarrix.meta import parse_metadata
    >>> parse_metadata(b'{"zarr_format": 2}')
    {'zarr_format': 2}
    """
    members: Mapping[str, Any] = document if isinstance(document, Mapping) else json_loads(document)
    return members


def decode_array_metadata(document: Any) -> dict[str, Any]:
    """The members of a ``.zarray`` document, with ``dtype`` and ``fill_value`` as NumPy values.

    Parameters
    ----------
    document : bytes-like, str or mapping

    Returns
    -------
    dict
        With the members of the document; ``dtype`` is a NumPy dtype, ``fill_value`` an element of
        it.

    Raises
    ------
    MetadataError
        A member is missing, or has an invalid value.

    References
    ----------
    Zarr v2 specification, "Metadata".

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix.meta import decode_array_metadata
    >>> store = zarr.MemoryStore()
    >>> z = zarr.zeros((4, 6), chunks=(2, 3), dtype="i2", store=store)
    >>> decoded = decode_array_metadata(store[".zarray"])
    >>> decoded["shape"], decoded["chunks"], decoded["dtype"], decoded["fill_value"]
    ((4, 6), (2, 3), dtype('int16'), np.int16(0))
    """
    metadata = _v2.parse_array(document)
    members = {
        "zarr_format": metadata.zarr_format,
        "shape": metadata.shape,
        "chunks": metadata.chunk_shape,
        "dtype": metadata.dtype,
        "compressor": metadata.compressor_config,
        "fill_value": metadata.fill_value,
        "order": metadata.order,
        "filters": None if metadata.filter_configs is None else list(metadata.filter_configs),
    }
    if metadata.key_encoding[1] is not None:
        members["dimension_separator"] = metadata.key_encoding[1]
    return members


def encode_array_metadata(members: Mapping[str, Any]) -> bytes:
    """The ``.zarray`` document from a result of `decode_array_metadata`.

    Parameters
    ----------
    members : mapping
        A result of `decode_array_metadata`.

    Returns
    -------
    bytes

    Raises
    ------
    KeyError
        A member is missing.
    MetadataError
        A member has an invalid value.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix.meta import decode_array_metadata, encode_array_metadata
    >>> store = zarr.MemoryStore()
    >>> z = zarr.zeros(4, store=store)
    >>> encode_array_metadata(decode_array_metadata(store[".zarray"])) == store[".zarray"]
    True
    """
    dtype: np.dtype[Any] = np.dtype(members["dtype"])
    element = dtype.base
    document = {
        **members,
        "zarr_format": ZARR_FORMAT,
        "shape": [*members["shape"], *dtype.shape],
        "chunks": list(members["chunks"]),
        "dtype": _as_json(encode_dtype(element)),
        "fill_value": encode_fill_value(members["fill_value"], element),
    }
    return _v2.array_document(_v2.parse_array(document))


def decode_group_metadata(document: Any) -> dict[str, Any]:
    """The members of a ``.zgroup`` document.

    Parameters
    ----------
    document : bytes-like, str or mapping

    Returns
    -------
    dict

    Raises
    ------
    MetadataError
        It is not the document of a v2 group.

    Examples
    --------
    >>> from zarrix.meta import decode_group_metadata
    >>> decode_group_metadata('{"zarr_format": 2}')
    {'zarr_format': 2}
    """
    return {"zarr_format": _v2.parse_group(document).zarr_format}


def encode_group_metadata(members: Mapping[str, Any] | None = None) -> bytes:
    """The ``.zgroup`` document.

    Parameters
    ----------
    members : mapping, optional
        Accepted for zarr 2.18; it has no effect.

    Returns
    -------
    bytes

    Examples
    --------
    >>> from zarrix.meta import encode_group_metadata
    >>> print(encode_group_metadata().decode())
    {
        "zarr_format": 2
    }
    """
    return _v2.group_document()


def _as_json(value: Any) -> Any:
    return [_as_json(one) for one in value] if isinstance(value, (list, tuple)) else value


class Metadata2:
    """The functions of this module as methods of a class, as in zarr 2.18.

    They are static methods, so that a subclass can replace one. zarrix itself calls none of them.

    Examples
    --------
    >>> import numpy as np
    >>> from zarrix.meta import Metadata2
    >>> Metadata2.ZARR_FORMAT, Metadata2.encode_dtype(np.dtype("i4"))
    (2, '<i4')
    """

    ZARR_FORMAT = ZARR_FORMAT

    def __init__(self) -> None:
        """There is nothing to set."""

    parse_metadata = staticmethod(parse_metadata)
    decode_array_metadata = staticmethod(decode_array_metadata)
    encode_array_metadata = staticmethod(encode_array_metadata)
    decode_group_metadata = staticmethod(decode_group_metadata)
    encode_group_metadata = staticmethod(encode_group_metadata)
    decode_dtype = staticmethod(decode_dtype)
    encode_dtype = staticmethod(encode_dtype)
    decode_fill_value = staticmethod(decode_fill_value)
    encode_fill_value = staticmethod(encode_fill_value)
