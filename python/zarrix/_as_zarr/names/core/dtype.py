"""Names of ``zarr.core.dtype``, which are those of ``zarr.dtype``."""

from zarrix._dtypes.zdtype import *  # noqa: F403
from zarrix._dtypes.zdtype import __all__ as __all__
