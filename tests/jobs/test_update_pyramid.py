"""`jobs.update_pyramid`: afterwards the levels are those that `pyramid` makes."""

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarrix import jobs

RANDOM = np.random.default_rng(31)


def _image(path, shape, chunks, *, zarr_format=3, **more):
    group = zarr.open_group(path, mode="w", zarr_format=zarr_format)
    image = group.create_array("0", shape=shape, chunks=chunks, dtype="u2", **more)
    image[:] = RANDOM.integers(0, 999, shape)
    return image


def _again(group, tmp_path, **options):
    """The levels of a new pyramid of what is level 0 now."""
    made = jobs.pyramid(group["0"], tmp_path / "again", **options)
    return {name: made[name][:] for name in group}


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("executor", [None, "threads"])
def test_a_changed_region_reaches_every_level(tmp_path, zarr_format, executor):
    shards = {"shards": (1, 32, 32)} if zarr_format == 3 else {}
    image = _image(tmp_path / "i", (3, 117, 93), (1, 16, 16), zarr_format=zarr_format, **shards)
    group = jobs.pyramid(image, levels=4)
    region = (slice(1, 2), slice(30, 71), slice(5, 93))
    group["0"][region] = 5000
    stale = group["1"][:]
    jobs.update_pyramid(group, region, max_memory="20 KB", executor=executor)
    assert (group["1"][:] != stale).any()
    for name, expected in _again(group, tmp_path, levels=4).items():
        np.testing.assert_array_equal(group[name][:], expected)


def test_only_stored_values_that_the_region_touches_are_written(tmp_path):
    image = _image(tmp_path / "i", (128, 128), (16, 16))
    group = jobs.pyramid(image, levels=3)
    before = zarr.digests(tmp_path / "i")
    group["0"][40:50, 100:101] = 7
    job = jobs.update_pyramid(tmp_path / "i", np.s_[40:50, 100:101], run=False)
    assert [stage.bytes_out for stage in job.stages] == [16 * 16 * 2] * 2
    assert [task.region for task in job.tasks(1)] == [np.s_[0:16, 16:32]]
    job.run()
    after = zarr.digests(tmp_path / "i")
    changed = {key.partition("i/")[2] or key for key in after if after[key] != before[key]}
    # Row 40 is in the chunk from row 32 on, and in row 20 of level 1, and so on.
    assert changed == {"0/c/2/6", "0/c/3/6", "1/c/1/3", "2/c/0/1"}


@st.composite
def cases(draw):
    """A shape, chunks, a method and a region."""
    shape = tuple(draw(st.lists(st.integers(1, 40), min_size=2, max_size=3)))
    chunks = tuple(draw(st.integers(1, 12)) for _ in shape)
    region = tuple(slice(*sorted(draw(st.integers(0, n)) for _ in "ab")) for n in shape)
    return shape, chunks, draw(st.sampled_from(["mean", "max", "nearest"])), region


@settings(max_examples=15)
@given(cases())
def test_any_region_of_any_grid(case):
    shape, chunks, method, region = case
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    group["0"] = zarr.array(RANDOM.integers(0, 99, shape).astype("i4"), chunks=chunks)
    options = {"levels": 3, "axes": "zyx"[-len(shape) :], "method": method}
    group = jobs.pyramid(group["0"], **options)
    group["0"][region] = 7
    jobs.update_pyramid(group, region)
    made = jobs.pyramid(group["0"], zarr.MemoryStore(), **options)
    for name in group:
        np.testing.assert_array_equal(group[name][:], made[name][:])


def test_levels_without_metadata_are_named(tmp_path):
    image = _image(tmp_path / "i", (40, 40), (8, 8))
    group = jobs.pyramid(image, levels=3, ome=False)
    group["0"][...] = 3
    with pytest.raises(ValueError, match="pass levels="):
        jobs.update_pyramid(group)
    with pytest.raises(ValueError, match="pass method="):
        jobs.update_pyramid(group, levels=["0", "1", "2"])
    told = {"levels": ["0", "1", "2"], "method": "mean"}
    with pytest.raises(ValueError, match="pass factors="):
        jobs.update_pyramid(group, **told)
    jobs.update_pyramid(group, **told, factors=(2, 2))
    assert (group["2"][:] == 3).all()
    for region in (np.s_[::2], np.s_[0, 0], np.s_[:, :, :], 7):
        with pytest.raises(ValueError, match="steps of 1"):
            jobs.update_pyramid(group, region, **told, factors=(2, 2))
    with pytest.raises(TypeError, match="is an array"):
        jobs.update_pyramid(group["0"])


def test_a_level_that_was_replaced_since_the_plan_is_an_error(tmp_path):
    image = _image(tmp_path / "i", (40, 40), (8, 8))
    group = jobs.pyramid(image, levels=2)
    job = jobs.update_pyramid(group, run=False)
    group.create_array("1", shape=(9, 9), chunks=(3, 3), dtype="u2", overwrite=True)
    with pytest.raises(zarr.errors.JobFailed, match="another shape"):
        job.run()
