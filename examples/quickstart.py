"""The first ten lines: make a data set, fill it, read a crop."""

import numpy as np
import zarrix as zarr

root = zarr.open_group("quickstart.zarr", mode="w")
frames = root.create_dataset(
    "frames", shape=(4, 3, 720, 1280), chunks=(1, 3, 360, 640), dtype="uint8"
)
frames[:] = np.arange(1280, dtype="uint8")  # NumPy rules: one row is spread over all
frames.attrs["camera"] = "left"

z = zarr.open_group("quickstart.zarr", mode="r")
crop = z["frames"][2, :, 100:420, 500:820]
print(crop.shape, crop.dtype, crop[0, 0, :3])
print(z.tree())
print(z["frames"].info)
