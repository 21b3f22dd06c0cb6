"""Names of ``zarr.core.dtype``, which are those of ``zarr.dtype``."""

from zarrix._as_zarr.names.dtype import *  # noqa: F403
from zarrix._as_zarr.names.dtype import __all__ as _documents
from zarrix._dtypes.zdtype import *  # noqa: F403
from zarrix._dtypes.zdtype import __all__ as _types

__all__ = [*_documents, *_types]
