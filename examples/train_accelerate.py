"""Train with Accelerate from a Zarr array, in batches of `zarrix.ml`, and continue where it ended.

    pip install zarrix torch accelerate
    python examples/train_accelerate.py folder --steps 7
    torchrun --nproc-per-node 2 examples/train_accelerate.py folder --steps 40

The second line continues the first one, on two processes. The loader is not passed to ``prepare``:
it divides batches among the processes itself, as it finds them in torch.distributed.
``register_for_checkpointing`` saves its state beside that of the model.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch
import zarrix as zarr
from accelerate import Accelerator
from zarrix import ml


def store_points(path: Path) -> None:
    """Points near a plane, in two arrays."""
    random = np.random.default_rng(0)
    x = random.normal(size=(400, 4)).astype("f4")
    root = zarr.open_group(path, mode="w")
    root.create_dataset("x", data=x, chunks=(50, 4))
    root.create_dataset("y", data=(x @ [1.0, -2.0, 0.5, 3.0]).astype("f4"), chunks=(50,))


def main() -> None:
    """Train for some steps; the items that all processes had are appended to a file."""
    parser = argparse.ArgumentParser(description="Train with Accelerate, and resume.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=40)
    options = parser.parse_args()
    accelerator = Accelerator(cpu=True)
    path, state = options.folder / "points.zarr", options.folder / "state"
    if accelerator.is_main_process and not path.exists():
        store_points(path)
    accelerator.wait_for_everyone()

    root = zarr.open_group(path, mode="r")
    loader = ml.Loader(ml.Rows({"x": root["x"], "y": root["y"]}), 10, seed=1, to="torch")
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = accelerator.prepare(model, optimizer)
    accelerator.register_for_checkpointing(loader)
    if state.exists():
        accelerator.load_state(str(state))

    items: list[int] = []
    left = options.steps
    while left:
        for batch in loader:
            loss = torch.nn.functional.mse_loss(model(batch["x"])[:, 0], batch["y"])
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            items += accelerator.gather(batch["item"]).tolist()
            left -= 1
            if not left:
                break
    accelerator.save_state(str(state))
    if accelerator.is_main_process:
        with (options.folder / "items.jsonl").open("a", encoding="ascii") as file:
            file.write(json.dumps(items) + "\n")
        weights = accelerator.unwrap_model(model).weight.detach().numpy().round(2).tolist()
        print(f"{len(items)} samples on {accelerator.num_processes} processes; weights {weights}")
    accelerator.end_training()


if __name__ == "__main__":
    main()
