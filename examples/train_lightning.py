"""Train with Lightning from a Zarr array, in batches of `zarrix.ml`, and continue where it ended.

    pip install zarrix torch lightning
    python examples/train_lightning.py

Lightning asks the loader for ``state_dict``, stores it in its checkpoints, and gives it back when
it resumes. The order of an epoch does not depend on the number of processes.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import lightning
import numpy as np
import torch
import zarrix as zarr
from zarrix import ml


class Line(lightning.LightningModule):
    """A line through points."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
        self.items: list[int] = []

    def training_step(self, batch: Any, number: int) -> Any:
        """The loss of a batch; which items it has is noted."""
        self.items += batch["item"].tolist()
        return torch.nn.functional.mse_loss(self.layer(batch["x"])[:, 0], batch["y"])

    def configure_optimizers(self) -> Any:
        """Stochastic gradient descent."""
        return torch.optim.SGD(self.parameters(), lr=0.1)


def points(folder: Path) -> ml.Rows:
    """Points near a plane, stored in two arrays."""
    random = np.random.default_rng(0)
    x = random.normal(size=(400, 4)).astype("f4")
    y = (x @ [1.0, -2.0, 0.5, 3.0]).astype("f4")
    root = zarr.open_group(folder / "points.zarr", mode="w")
    root.create_dataset("x", data=x, chunks=(50, 4))
    root.create_dataset("y", data=y, chunks=(50,))
    return ml.Rows({"x": root["x"], "y": root["y"]})


def fit(rows: ml.Rows, folder: Path, steps: int, *, resume: bool, workers: int) -> Line:
    """Train up to a step; the checkpoint of an earlier call is continued if ``resume``."""
    if workers:
        loader: Any = ml.torch.DataLoader(rows, 16, seed=1, num_workers=workers)
    else:
        loader = ml.Loader(rows, 16, seed=1, to="torch")
    model = Line()
    trainer = lightning.Trainer(
        max_steps=steps,
        accelerator="cpu",
        devices=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=folder,
        use_distributed_sampler=False,
    )
    last = folder / "last.ckpt"
    trainer.fit(model, loader, ckpt_path=str(last) if resume else None)
    trainer.save_checkpoint(last)
    return model


def main() -> None:
    """Train 10 steps, stop, and continue to step 40; each epoch has every item once."""
    parser = argparse.ArgumentParser(description="Train with Lightning, and resume.")
    parser.add_argument("--workers", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        rows = points(folder)
        first = fit(rows, folder, 10, resume=False, workers=options.workers)
        second = fit(rows, folder, 40, resume=True, workers=options.workers)
        items = first.items + second.items
        assert sorted(items[:400]) == list(range(400)), "an item was lost or repeated"
        print(f"{len(items)} samples; weights {second.layer.weight.detach().numpy().round(2)}")


if __name__ == "__main__":
    main()
