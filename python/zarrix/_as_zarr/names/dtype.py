"""Names of ``zarr.dtype`` that zarrix has elsewhere: data types by their names."""

from __future__ import annotations

from typing import Any, Literal

from zarrix._dtypes.zdtype import ZDType, parse_dtype

__all__ = ["data_type_registry", "parse_data_type"]


def parse_data_type(dtype_spec: Any, *, zarr_format: Literal[2, 3]) -> ZDType:
    """The data type of a NumPy dtype, a name or a document: `zarrix.dtype.parse_dtype`."""
    return parse_dtype(dtype_spec, zarr_format=zarr_format)


class DataTypeRegistry:
    """The data types of v3 by name; they are fixed."""

    def match_dtype(self, dtype: Any) -> ZDType:
        """The data type of a NumPy dtype."""
        return parse_dtype(dtype)

    def match_json(self, data: Any, *, zarr_format: Literal[2, 3]) -> ZDType:
        """The data type that a document names."""
        return parse_dtype(data, zarr_format=zarr_format)


data_type_registry = DataTypeRegistry()
