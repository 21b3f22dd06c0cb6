"""Training from Zarr: datasets of crops, clips and rows, and a loader that is exact to resume.

from zarrix import ml

crops = ml.Crops({"rgb": root["rgb"], "depth": root["depth"]}, size={"y": 256, "x": 256})
for batch in ml.Loader(crops, batch_size=16, seed=0, to="torch"):
    step(batch["rgb"], batch["depth"])
"""

import importlib
from typing import TYPE_CHECKING, Any

from zarrix._errors import suggestion
from zarrix.ml._datasets.augment import Flip, Resize, Rot90
from zarrix.ml._datasets.clips import Clips
from zarrix.ml._datasets.crops import Crops
from zarrix.ml._datasets.filters import foreground, fraction, weights
from zarrix.ml._datasets.grid import Grid
from zarrix.ml._datasets.mix import Mix
from zarrix.ml._datasets.ragged import Ragged
from zarrix.ml._datasets.rows import Rows
from zarrix.ml._datasets.table import Table
from zarrix.ml._loading.headspace import headspace
from zarrix.ml._loading.loader import Loader
from zarrix.ml._loading.plan import Plan
from zarrix.ml._loading.preview import Preview
from zarrix.ml._reading.batch import Batch
from zarrix.ml._reading.csr import CSR
from zarrix.ml._reading.encoded import EncodedBlocks, read_encoded
from zarrix.ml._reading.fields import Field
from zarrix.ml._reading.files import Files
from zarrix.ml._reading.stats import Stats
from zarrix.ml._staging.stage import Stage

if TYPE_CHECKING:
    from zarrix.ml import jax as jax
    from zarrix.ml import torch as torch

__all__ = [
    "CSR",
    "Batch",
    "Clips",
    "Crops",
    "EncodedBlocks",
    "Field",
    "Files",
    "Flip",
    "Grid",
    "Loader",
    "Mix",
    "Plan",
    "Preview",
    "Ragged",
    "Resize",
    "Rot90",
    "Rows",
    "Stage",
    "Stats",
    "Table",
    "foreground",
    "fraction",
    "headspace",
    "read_encoded",
    "weights",
]


def __getattr__(name: str) -> Any:
    # For import time: a program that does not use torch or jax needs none of it.
    if name in ("jax", "torch"):
        return importlib.import_module(f"zarrix.ml.{name}")
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}{suggestion(name, __all__)}"
    )
