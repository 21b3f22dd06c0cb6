"""Train a small convolutional network in torch to estimate depth from the frames of the demo.

    pip install "zarrix[demo,torch]"
    zarrix demo --path out
    python examples/train_depth.py out/demo.zarr

It is killed and started again at will: what follows is what an uninterrupted run would have seen.
"""

import argparse
from pathlib import Path

import torch
import zarrix as zarr
from torch import nn
from zarrix import ml

parser = argparse.ArgumentParser()
parser.add_argument("path")
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--per-frame", type=int, default=16)
parser.add_argument("--crop", type=int, default=64)
parser.add_argument("--checkpoint", type=Path, default=Path("depth.pt"))
options = parser.parse_args()

# The group with half the resolution: rgb (t, 3, y, x), and depth (t, y, x) in metres.
root = zarr.open_group(options.path, mode="r")["lr"]
frames = root[max(root, key=lambda name: root[name]["rgb"].shape[2])]
crops = ml.Crops(
    {"rgb": ml.Field(frames["rgb"], dtype="float32", scale=1 / 255), "depth": frames["depth"]},
    dims={"rgb": "tcyx", "depth": "tyx"},
    size={"y": options.crop, "x": options.crop},
    per_item=options.per_frame,
)
loader = ml.Loader(crops, batch_size=8, seed=0, to="torch")
print(loader.plan())

torch.manual_seed(0)
network = nn.Sequential(
    nn.Conv2d(3, 16, 5, padding=2),
    nn.ReLU(),
    nn.Conv2d(16, 16, 5, padding=4, dilation=2),
    nn.ReLU(),
    nn.Conv2d(16, 1, 3, padding=1),
)
optimizer = torch.optim.Adam(network.parameters(), 3e-3)
if options.checkpoint.exists():
    saved = torch.load(options.checkpoint)
    network.load_state_dict(saved["network"])
    optimizer.load_state_dict(saved["optimizer"])
    loader.load_state_dict(saved["loader"])

for epoch in range(loader.epoch, options.epochs):
    loader.set_epoch(epoch)
    total, count = 0.0, 0
    for batch in loader:
        estimate = network(batch["rgb"])[:, 0]
        loss = (estimate - batch["depth"].float().clamp(min=1).log()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total, count = total + loss.item(), count + 1
    print(f"epoch {epoch}: loss {total / count:.3f}")
    torch.save(
        {
            "network": network.state_dict(),
            "optimizer": optimizer.state_dict(),
            "loader": loader.state_dict(),
        },
        options.checkpoint,
    )
print(loader.stats())
