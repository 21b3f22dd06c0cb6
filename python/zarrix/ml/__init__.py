"""Training from Zarr: datasets of crops, clips and rows, and a loader that is exact to resume.

from zarrix import ml

crops = ml.Crops({"rgb": root["rgb"], "depth": root["depth"]}, size={"y": 256, "x": 256})
for batch in ml.Loader(crops, batch_size=16, seed=0, to="torch"):
    step(batch["rgb"], batch["depth"])
"""

from zarrix.ml._batch import Batch
from zarrix.ml._crops import Crops
from zarrix.ml._fields import Field
from zarrix.ml._loader import Loader
from zarrix.ml._mix import Mix
from zarrix.ml._rows import Rows
from zarrix.ml._stats import Stats

__all__ = ["Batch", "Crops", "Field", "Loader", "Mix", "Rows", "Stats"]
