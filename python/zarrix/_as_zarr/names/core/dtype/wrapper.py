"""Names of ``zarr.core.dtype.wrapper``: the base of data types, and types for annotations."""

from typing import Any

import numpy as np

from zarrix._dtypes.zdtype import ZDType

__all__ = ["TBaseDType", "TBaseScalar", "ZDType"]

TBaseDType = np.dtype[Any]
TBaseScalar = np.generic | str | bytes
