"""Datasets with every kind of variable that xarray stores in Zarr."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr


def every_kind(times: int = 6) -> xr.Dataset:
    """Numbers, text, bytes, times, masks and scales, on three dimensions."""
    random = np.random.default_rng(0)
    ramp = np.arange(9.0)
    variables: dict[str, Any] = {
        "cube": (("t", "y", "x"), random.random((times, 8, 9)).astype("f4"), {"units": "K"}),
        "scalar": ((), 3.5),
        "short": ("x", np.arange(9, dtype="i2")),
        "flag": ("y", np.arange(8) % 2 == 0),
        "masked": ("x", np.where(ramp % 3 == 0, np.nan, ramp)),
        "packed": ("x", ramp / 2),
        "text": ("x", np.array([f"abc{i}" for i in range(9)])),
        "bytes": ("x", np.array([b"ab"] * 9)),
        "duration": ("x", pd.timedelta_range("1D", periods=9)),
        "complex": ("x", ramp * 1j),
    }
    coordinates = {
        "t": pd.date_range("2020", periods=times),
        "y": np.arange(8.0),
        "x": np.arange(9),
        "label": ("x", [f"s{i}" for i in range(9)]),
    }
    dataset = xr.Dataset(variables, coordinates, {"title": "every kind", "levels": np.arange(3)})
    dataset["masked"].encoding["_FillValue"] = -999.0
    dataset["packed"].encoding.update(scale_factor=0.5, dtype="i2", _FillValue=-1)
    return dataset
