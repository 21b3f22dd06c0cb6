"""What OME-Zarr validators and scikit-image say of a pyramid; runs in an environment of its own.

python ome_peer.py FOLDER...        prints a line for each; exit 1 if one is refused
"""

from __future__ import annotations

import itertools
import sys

import numpy as np
import ome_zarr_models
import yaozarrs
import zarr
from skimage.transform import downscale_local_mean

for folder in sys.argv[1:]:
    yaozarrs.validate_zarr_store(folder)
    group = zarr.open_group(folder, mode="r")
    image = ome_zarr_models.open_ome_zarr(group)
    multiscale = (group.attrs.get("ome") or group.attrs)["multiscales"][0]
    levels = [group[dataset["path"]][:] for dataset in multiscale["datasets"]]
    for before, level in itertools.pairwise(levels):
        # Only whole blocks: scikit-image fills the others with zeros.
        whole = tuple(slice(0, n - n % 2) for n in before.shape[-2:])
        blocks = (1,) * (before.ndim - 2) + (2, 2)
        theirs = downscale_local_mean(before[(..., *whole)].astype("f8"), blocks)
        ours = level[(..., *(slice(0, n) for n in theirs.shape[-2:]))]
        np.testing.assert_array_equal(ours, np.rint(theirs))
    print(folder, type(image).__module__, len(levels), "levels")
