"""Train on several processes: weighted classes, mixed precision, checkpoints, and another world.

    pip install zarrix torch
    torchrun --nproc-per-node 2 examples/train_ddp.py folder --steps 150
    torchrun --nproc-per-node 3 examples/train_ddp.py folder --steps 300

The first line makes points of a common and a rare class, and trains a classifier to step 150. The
second one continues from the checkpoint of step 150 on three processes, with the samples that
follow. A run that is killed goes on from its last checkpoint; there is one each 100 steps.

Labels are in a table, not in an array. ``weights="kind"`` draws both kinds equally often.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
import zarrix as zarr
from torch.nn.parallel import DistributedDataParallel
from zarrix import ml

EVERY = 100
SAMPLES = 1200


def store_points(path: Path) -> None:
    """Points in the plane; the rare ones, a tenth, are far from the others."""
    random = np.random.default_rng(0)
    kinds = np.where(np.arange(2000) % 10 == 0, "rare", "common")
    x = random.normal(size=(2000, 2)) + 3 * (kinds == "rare")[:, None]
    root = zarr.open_group(path, mode="w")
    root.create_dataset("x", data=x.astype("f4"), chunks=(100, 2))
    root.attrs["kinds"] = kinds.tolist()


def save(path: Path, checkpoint: dict[str, Any]) -> None:
    """Replace the checkpoint in one step: the process may be killed at any point."""
    new = path.with_suffix(".new")
    torch.save(checkpoint, new)
    os.replace(new, path)


def main() -> None:
    """Train up to a step; the items of all processes are appended to a file."""
    parser = argparse.ArgumentParser(description="Train with DDP, and resume on another world.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    path, saved = options.folder / "points.zarr", options.folder / "checkpoint.pt"
    if rank == 0 and not path.exists():
        store_points(path)
    dist.barrier()

    root = zarr.open_group(path, mode="r")
    table = ml.Table({"kind": root.attrs["kinds"]})
    rows = ml.Rows({"x": root["x"]}).join(table)
    train, val = rows.split({"train": 0.8, "val": 0.2}, stratify="kind", seed=1)
    loader = ml.Loader(train, 8, weights="kind", samples=SAMPLES, seed=1, to="torch")

    model = DistributedDataParallel(torch.nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step = 0
    if saved.exists():
        checkpoint = torch.load(saved, weights_only=True)
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        loader.load_state_dict(checkpoint["loader"])
        step = checkpoint["step"]

    def finish_part(items: list[int]) -> None:
        """Write a checkpoint, with the items of all processes since the last one beside it."""
        every: list[Any] = [None] * dist.get_world_size()
        dist.all_gather_object(every, items)
        if rank == 0:
            checkpoint = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            save(saved, {**checkpoint, "loader": loader.state_dict(), "step": step})
            with (options.folder / "items.jsonl").open("a", encoding="ascii") as file:
                file.write(json.dumps(every) + "\n")
        items.clear()

    items: list[int] = []
    while step < options.steps:
        for batch in loader:
            # Text stays an array of NumPy.
            wanted = torch.from_numpy((batch["kind"] == "rare").astype("f4"))
            with torch.autocast("cpu", dtype=torch.bfloat16):
                found = model(batch["x"])[:, 0]
                loss = torch.nn.functional.binary_cross_entropy_with_logits(found, wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            items += batch["item"].tolist()
            step += 1
            if step % EVERY == 0 or step == options.steps:
                finish_part(items)
            if step == options.steps:
                break

    right = torch.zeros(2)
    with torch.no_grad():
        for batch in ml.Loader(val, 50, shuffle=False, drop_last=False, to="torch"):
            is_right = (model.module(batch["x"])[:, 0].numpy() > 0) == (batch["kind"] == "rare")
            valid = batch["valid"].numpy()
            right += torch.tensor([float((is_right & valid).sum()), float(valid.sum())])
    dist.all_reduce(right)
    if rank == 0:
        print(f"step {step} on {dist.get_world_size()} processes; {right[0] / right[1]:.2f} right")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
