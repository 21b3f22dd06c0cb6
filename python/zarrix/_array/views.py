"""The metadata of a view: that of its array with some of it replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarrix._dtypes.v2 import normalize_fill_value
from zarrix._dtypes.v3 import data_type_of, encode_fill
from zarrix._errors import MetadataError
from zarrix._metadata import v2, v3
from zarrix._metadata.arguments import normalize_shape
from zarrix._metadata.array import ArrayMetadata

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["metadata_of_view"]


def metadata_of_view(
    metadata: ArrayMetadata,
    shape: Any,
    chunks: Any,
    dtype: npt.DTypeLike | None,
    fill_value: Any,
    filters: Any,
) -> ArrayMetadata:
    """``metadata`` with what is given of the arguments of `Array.view`."""
    seen_as = np.dtype(metadata.dtype if dtype is None else dtype)
    if fill_value is None:
        fill_value = _fill_for(metadata, seen_as)
    shape = metadata.shape if shape is None else shape
    if metadata.zarr_format == 3:
        if filters is not None:
            raise ValueError("filters= of a view belongs to v2; this array has v3")
        return _v3(metadata, shape, chunks, seen_as, fill_value)
    return v2.new_array(
        shape=shape,
        chunks=metadata.chunk_shape if chunks is None else chunks,
        dtype=seen_as,
        compressor=metadata.compressor_config,
        fill_value=fill_value,
        order=metadata.order,
        filters=metadata.filter_configs if filters is None else filters,
        dimension_separator=metadata.dimension_separator,
        label="view()",
    )


def _v3(
    metadata: ArrayMetadata, shape: Any, chunks: Any, dtype: np.dtype[Any], fill_value: Any
) -> ArrayMetadata:
    grid: Any = metadata.extra["chunk_grid"]
    if chunks is not None:
        grid = {"name": "regular", "configuration": {"chunk_shape": list(chunks)}}
    document = {
        **metadata.extra,
        "shape": list(normalize_shape(shape)),
        "data_type": data_type_of(dtype),
        "fill_value": encode_fill(0 if fill_value is None else fill_value, dtype),
        "chunk_grid": grid,
    }
    return v3.parse_array(document, label="view()")


def _fill_for(metadata: ArrayMetadata, dtype: np.dtype[Any]) -> Any:
    """The fill value of a view with another dtype; None if it cannot be cast."""
    try:
        return normalize_fill_value(metadata.fill_value, dtype)
    except MetadataError:
        return None
