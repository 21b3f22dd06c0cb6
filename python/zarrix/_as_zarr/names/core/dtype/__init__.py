"""Names of ``zarr.core.dtype``, which are those of ``zarr.dtype``."""

from zarrix._as_zarr.names.dtype import data_type_registry, parse_data_type
from zarrix._dtypes.zdtype import *  # noqa: F403
from zarrix._dtypes.zdtype import __all__ as _types

__all__ = [*_types, "data_type_registry", "parse_data_type"]
