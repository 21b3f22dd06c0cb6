"""Pyramids as validators of OME-Zarr and scikit-image see them."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr
from zarrix import jobs

HERE = Path(__file__).resolve().parent
PYTHON = HERE.parent / "interop" / "envs" / "ome" / "bin" / "python"

needs_ome = pytest.mark.skipif(
    not PYTHON.exists(),
    reason="OME-Zarr validators are not there; tests/interop/setup ome makes their environment",
)


@needs_ome
def test_validators_take_our_pyramids_and_scikit_image_has_the_same_means(tmp_path):
    folders = []
    for version, axes in [("0.4", "tczyx"), ("0.5", "tczyx"), ("0.4", "yx"), ("0.5", "czyx")]:
        shape = (2, 1, 3, 65, 78)[-len(axes) :]
        values = np.random.default_rng(4).integers(0, 4000, shape).astype("u2")
        options = {"axes": axes, "units": {"x": "micrometer"}, "scale": {"y": 0.5, "x": 0.5}}
        # In place: level 0 was there, without names of its dimensions.
        folders.append(str(tmp_path / f"in-place-{version}{axes}"))
        zarr_format = 3 if version == "0.5" else 2
        group = zarr.open_group(folders[-1], mode="w", zarr_format=zarr_format)
        encoding = {"name": "v2", "separator": "/"}
        image = group.create_array(
            "0", data=values, chunks=(16,) * values.ndim, chunk_key_encoding=encoding
        )
        jobs.pyramid(image, levels=4, **options)
        folders.append(str(tmp_path / f"{version}{axes}"))
        jobs.pyramid(
            zarr.array(values, chunks=16, store=f"{folders[-1]}.source"),
            folders[-1],
            ome=version,
            levels=4,
            **options,
        )
    ran = subprocess.run(
        [PYTHON, "-W", "ignore", HERE / "ome_peer.py", *folders],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert [line.rpartition(" ome_zarr_models.")[2] for line in ran.stdout.splitlines()] == [
        f"v0{version[-1]}.image 4 levels"
        for version in ("0.4", "0.5", "0.4", "0.5")
        for _ in range(2)
    ]
