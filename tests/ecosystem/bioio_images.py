"""Images that bioio writes and reads, by its writer and its reader of OME-Zarr.

Their own tests are not released, so that these stand for them: `pytest bioio_images.py` with
zarr-python, and with zarrix under its name.
"""

from pathlib import Path
from typing import Any

import bioio_ome_zarr
import numpy as np
import pytest
import zarr
from bioio import BioImage
from bioio_ome_zarr.writers import (
    Channel,
    OMEZarrWriter,
    get_default_config_for_ml,
    get_default_config_for_viz,
)

SHAPES = [(2, 3, 4, 32, 48), (2, 3, 4, 16, 24)]
FORMATS = pytest.mark.parametrize("zarr_format", [2, 3])


def pixels(shape: tuple[int, ...] = SHAPES[0], dtype: str = "u2") -> np.ndarray:
    return np.random.default_rng(0).integers(0, 200, shape).astype(dtype)


def writer(path: Path, zarr_format: int, **options: Any) -> OMEZarrWriter:
    given = {
        "level_shapes": SHAPES,
        "dtype": "u2",
        "channels": [Channel(label=name, color="FF0000") for name in ("dna", "rna", "cell")],
        "physical_pixel_size": [1.0, 1.0, 0.3, 0.1, 0.1],
        **options,
    }
    return OMEZarrWriter(store=str(path), zarr_format=zarr_format, **given)


def opened(path: Path) -> BioImage:
    return BioImage(str(path), reader=bioio_ome_zarr.Reader)


@FORMATS
@pytest.mark.parametrize("chunks", [None, (1, 1, 2, 16, 16)])
def test_a_volume_is_read_as_it_was_written(
    tmp_path: Path, zarr_format: int, chunks: tuple[int, ...] | None
) -> None:
    path = tmp_path / "a.ome.zarr"
    writer(path, zarr_format, chunk_shape=chunks).write_full_volume(pixels())
    image = opened(path)
    assert (image.data == pixels()).all()
    assert image.dims.order == "TCZYX"
    assert image.channel_names == ["dna", "rna", "cell"]
    assert image.physical_pixel_sizes == (0.3, 0.1, 0.1)
    assert zarr.open_group(str(path), mode="r").metadata.zarr_format == zarr_format


@FORMATS
def test_levels_and_parts_are_read_lazily(tmp_path: Path, zarr_format: int) -> None:
    path = tmp_path / "a.ome.zarr"
    writer(path, zarr_format).write_full_volume(pixels())
    image = opened(path)
    assert image.resolution_levels == (0, 1)
    part = image.get_image_dask_data("ZYX", T=1, C=2)
    assert (part[1:3, 5:, ::3].compute() == pixels()[1, 2, 1:3, 5:, ::3]).all()
    image.set_resolution_level(1)
    assert image.shape == SHAPES[1]
    group = zarr.open_group(str(path), mode="r")
    assert (image.data == group["1"][:]).all()


@FORMATS
def test_time_points_are_written_one_by_one(tmp_path: Path, zarr_format: int) -> None:
    path = tmp_path / "a.ome.zarr"
    new = writer(path, zarr_format, level_shapes=SHAPES[:1])
    for time in (1, 0):
        new.write_timepoints(pixels(), start_T_src=time, start_T_dest=time, total_T=1)
    assert (opened(path).data == pixels()).all()


@FORMATS
def test_regions_are_written_into_an_open_image(tmp_path: Path, zarr_format: int) -> None:
    path = tmp_path / "a.ome.zarr"
    chunks = (1, 1, 4, 16, 16)
    writer(path, zarr_format, level_shapes=SHAPES[:1], chunk_shape=chunks).initialize()
    for channel in range(3):
        region = (slice(0, 2), slice(channel, channel + 1), slice(None), slice(None), slice(None))
        region = tuple(slice(*one.indices(n)) for one, n in zip(region, SHAPES[0], strict=True))
        OMEZarrWriter.open(str(path)).write_region(pixels()[region], region)
    assert (opened(path).data == pixels()).all()


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4"])
def test_shards_and_data_types(tmp_path: Path, dtype: str) -> None:
    path = tmp_path / "a.ome.zarr"
    options = {"chunk_shape": (1, 1, 1, 16, 16), "shard_shape": (1, 1, 4, 32, 48)}
    new = writer(path, 3, level_shapes=SHAPES[:1], dtype=dtype, **options)
    new.write_full_volume(pixels(dtype=dtype))
    assert zarr.open_group(str(path), mode="r")["0"].shards == options["shard_shape"]
    image = opened(path)
    assert image.dtype == np.dtype(dtype)
    assert (image.data == pixels(dtype=dtype)).all()


@pytest.mark.parametrize("config", [get_default_config_for_viz, get_default_config_for_ml])
def test_the_configurations_of_the_package(tmp_path: Path, config: Any) -> None:
    path = tmp_path / "a.ome.zarr"
    options = config(pixels())
    OMEZarrWriter(store=str(path), **options).write_full_volume(pixels())
    assert (opened(path).data == pixels()).all()


def test_two_axes(tmp_path: Path) -> None:
    path = tmp_path / "a.ome.zarr"
    data = pixels((64, 48), "u1")
    OMEZarrWriter(store=str(path), level_shapes=data.shape, dtype="u1").write_full_volume(data)
    assert (opened(path).get_image_data("YX") == data).all()
    assert (zarr.open_group(str(path), mode="r")["0"][:] == data).all()
