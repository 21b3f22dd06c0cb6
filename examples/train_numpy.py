"""Train without torch: a linear model in NumPy that estimates depth from the colours of a crop.

    pip install "zarrix[demo]"
    zarrix demo --path out
    python examples/train_numpy.py out/demo.zarr

With jax it is the same loader: ``ml.Loader(..., to="jax")``.
"""

import sys

import numpy as np
import zarrix as zarr
from zarrix import ml

root = zarr.open_group(sys.argv[1], mode="r")["lr"]
frames = root[max(root, key=lambda name: root[name]["rgb"].shape[2])]
crops = ml.Crops(
    {"rgb": ml.Field(frames["rgb"], dtype="float32", scale=1 / 255), "depth": frames["depth"]},
    dims={"rgb": "tcyx", "depth": "tyx"},
    size={"y": 32, "x": 32},
    per_item=64,
)

weights = np.zeros(7)
for epoch in range(3):
    losses = []
    for batch in ml.Loader(crops, batch_size=16, seed=epoch):
        # Mean and spread of each colour, and a constant.
        rgb = batch["rgb"].reshape(len(batch["rgb"]), 3, -1)
        features = np.concatenate([rgb.mean(2), rgb.std(2), np.ones((len(rgb), 1))], axis=1)
        depth = np.log(np.maximum(batch["depth"].astype("f4"), 1)).mean(axis=(1, 2))
        error = features @ weights - depth
        weights -= 0.2 * features.T @ error / len(error)
        losses.append((error**2).mean())
    print(f"epoch {epoch}: loss {np.mean(losses):.3f}")
