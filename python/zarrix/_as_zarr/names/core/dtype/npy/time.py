"""Names of ``zarr.core.dtype.npy.time``."""

from __future__ import annotations

from typing import Any

import numpy as np

from zarrix._dtypes.zdtype import DateTime64, TimeDelta64

__all__ = ["DateTime64", "TimeDelta64", "datetime_from_int", "datetimelike_to_int"]


def datetime_from_int(data: int, *, unit: str, scale_factor: int) -> Any:
    """The time that is this number of steps after 1970."""
    return np.int64(data).view(np.dtype(f"M8[{scale_factor}{unit}]"))


def datetimelike_to_int(data: Any) -> int:
    """The number of steps of a time."""
    return int(data.view(np.int64))
