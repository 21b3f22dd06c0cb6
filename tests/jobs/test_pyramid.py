"""`jobs.pyramid`: levels of images, the same for every plan, and their OME-Zarr metadata."""

import itertools
import json

import numpy as np
import pytest
import zarrix as zarr
from zarrix import DirectoryStore, jobs
from zarrix.jobs._operations.downsample import downsampled

RANDOM = np.random.default_rng(5)


def _image(path, shape, chunks, zarr_format=3, dtype="u2", **more):
    group = zarr.open_group(path, mode="w", zarr_format=zarr_format)
    image = group.create_array("0", shape=shape, chunks=chunks, dtype=dtype, **more)
    image[:] = RANDOM.integers(0, 255, shape)
    return image


def _expected(image, factors, method, levels):
    found = [image[:]]
    while len(found) < levels:
        found.append(downsampled(found[-1], factors, method))
    return found


@pytest.mark.parametrize("method", ["mean", "mode", "nearest"])
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("executor", [None, "threads"])
def test_levels_are_those_of_the_kernels_for_odd_shapes(tmp_path, method, zarr_format, executor):
    image = _image(tmp_path / "i", (3, 117, 93), (1, 16, 16), zarr_format)
    group = jobs.pyramid(image, levels=5, method=method, executor=executor)
    assert list(group) == ["0", "1", "2", "3", "4"]
    for level, expected in enumerate(_expected(image, (1, 2, 2), method, 5)):
        np.testing.assert_array_equal(group[str(level)][:], expected)
        assert group[str(level)].chunks == image.chunks
    assert zarr.verify(tmp_path / "i").ok


def test_processes_and_small_tasks_give_the_same_bytes(tmp_path):
    digests = set()
    for number, (executor, memory) in enumerate(
        [(None, "1 GiB"), (None, "20 KB"), ("threads", "60 KB"), ("processes", "60 KB")]
    ):
        RANDOM.bit_generator.state = np.random.default_rng(1).bit_generator.state
        path = tmp_path / str(number) / "i"
        image = _image(path, (200, 150), (10, 10), shards=(20, 20), dtype="f4")
        job = jobs.pyramid(image, levels=4, max_memory=memory, run=False)
        assert (len(job.stages) > 1) == (memory != "1 GiB")
        job.run(executor)
        digests.add(str(zarr.digests(path)))
    assert len(digests) == 1


def test_level_0_is_read_once_and_no_other_than_the_first_of_a_stage(tmp_path, monkeypatch):
    image = _image(tmp_path / "i", (512, 512), (32, 32))
    job = jobs.pyramid(image, levels=5, max_memory="100 KB", run=False)
    reports = []
    job.run(events=reports.append)
    for at, stage in enumerate(job.stages):
        read = sum(one["bytes_in"] for one in reports if one["stage"] == at)
        assert read == stage.bytes_in
    assert job.stages[0].bytes_in == image.nbytes
    assert sum(stage.bytes_in for stage in job.stages[1:]) <= image.nbytes / 2


def test_a_new_group_gets_level_0_too(tmp_path):
    z = zarr.array(RANDOM.random((70, 50)).astype("f4"), chunks=(8, 8), store=str(tmp_path / "z"))
    group = jobs.pyramid(z, tmp_path / "i", ome="0.5", chunks=(16, 16), shards=(32, 32))
    np.testing.assert_array_equal(group["0"][:], z[:])
    assert group.attrs["ome"]["multiscales"][0]["name"] == "i"
    assert [group[name].shards for name in group] == [(32, 32)] * 4
    old = jobs.pyramid(tmp_path / "z", tmp_path / "i", ome="0.4", levels=2, overwrite=True)
    assert (old.zarr_format, list(old)) == (2, ["0", "1"])
    assert (tmp_path / "i" / "0" / "0" / "0").is_file(), "OME-Zarr 0.4 separates numbers by '/'"


def test_level_0_is_copied_where_its_chunks_are_encoded_alike(tmp_path, monkeypatch):
    image = _image(tmp_path / "i", (130, 100), (32, 32))
    image[:40, :40] = 0
    job = jobs.pyramid(image, tmp_path / "p", run=False)
    assert "stored chunks of level 0 are copied" in str(job)
    job.run("threads")
    direct, copied = zarr.digests(tmp_path / "i"), zarr.digests(tmp_path / "p")
    chunks = [key for key in direct if "/c/" in key]
    assert len(chunks) == 19, "the one of zeros is not stored"
    assert [copied[key] for key in chunks] == [direct[key] for key in chunks]
    again = jobs.pyramid(image, tmp_path / "q", shards=(64, 64))
    np.testing.assert_array_equal(again["0"][:], image[:])
    np.testing.assert_array_equal(again["1"][:], job.run().result["1"][:])


def test_coordinates_are_those_of_the_centres(tmp_path):
    image = _image(tmp_path / "i", (2, 33, 31), (1, 8, 8))
    options = {"scale": {"y": 0.5, "x": 0.25}, "units": {"x": "micrometer"}, "levels": 3}
    group = jobs.pyramid(image, axes="zyx", **options)
    (multiscale,) = group.attrs["ome"]["multiscales"]
    assert multiscale["axes"][2] == {"name": "x", "type": "space", "unit": "micrometer"}
    assert multiscale["datasets"][2] == {
        "path": "2",
        "coordinateTransformations": [
            {"type": "scale", "scale": [1.0, 2.0, 1.0]},
            {"type": "translation", "translation": [0.0, 0.75, 0.375]},
        ],
    }
    for dataset in multiscale["datasets"]:
        # A ramp has at each level the value of its coordinate.
        assert dataset["coordinateTransformations"][0]["type"] == "scale"
    nearest = jobs.pyramid(image, axes="zyx", method="nearest", overwrite=True, **options)
    (multiscale,) = nearest.attrs["ome"]["multiscales"]
    assert [len(one["coordinateTransformations"]) for one in multiscale["datasets"]] == [1, 1, 1]


def test_a_ramp_has_at_each_level_the_value_of_its_coordinate(tmp_path):
    group = zarr.open_group(tmp_path / "i", mode="w", zarr_format=3)
    group["0"] = np.add.outer(np.arange(64.0), 1000 * np.arange(64.0))
    group = jobs.pyramid(group["0"], levels=4)
    for dataset in group.attrs["ome"]["multiscales"][0]["datasets"]:
        scale, *moves = (next(iter(one.values())) for one in map(_numbers, _moves(dataset)))
        move = moves[0] if moves else [0, 0]
        y, x = (
            np.arange(n) * step + begin
            for n, step, begin in zip(group[dataset["path"]].shape, scale, move, strict=True)
        )
        np.testing.assert_array_equal(group[dataset["path"]][:], np.add.outer(y, 1000 * x))


def _moves(dataset):
    return dataset["coordinateTransformations"]


def _numbers(move):
    return {name: value for name, value in move.items() if name != "type"}


def test_an_interrupted_pyramid_goes_on(tmp_path):
    image = _image(tmp_path / "i", (256, 256), (16, 16))
    job = jobs.pyramid(image, levels=4, max_memory="10 KB", run=False)
    for part in range(2):
        job.run(part=(part, 3), stage=0)
    assert "1" not in zarr.open_group(tmp_path / "i")
    group = jobs.pyramid(image, levels=4, max_memory="10 KB")
    np.testing.assert_array_equal(group["3"][:], _expected(image, (2, 2), "mean", 4)[3])
    assert not (tmp_path / "i" / ".zarrix-job").exists()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"axes": "yt"}, ValueError, "not those of an OME-Zarr image"),
        ({"axes": "zyx"}, ValueError, "names 3 axes of an array of 2"),
        ({"factors": {"z": 2}}, ValueError, "the axes are y, x"),
        ({"factors": {"y": 1}}, ValueError, "one of at least 2"),
        ({"levels": 0}, ValueError, "expected 'auto'"),
        ({"method": "average"}, ValueError, "expected one of"),
        ({"ome": "0.4"}, ValueError, "the group is v3"),
        ({"ome": "9"}, ValueError, "expected '0.4', '0.5'"),
        ({"max_memory": 100}, jobs.JobError, "pass smaller chunks= or shards="),
        ({"scale": {"c": 1}}, ValueError, "scale has the axis 'c'"),
    ],
)
def test_a_mistake_is_an_error_before_anything_is_written(tmp_path, options, error, message):
    image = _image(tmp_path / "i", (40, 40), (8, 8))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(error, match=message):
        jobs.pyramid(image, **options)
    assert sorted(tmp_path.rglob("*")) == before


def test_an_existing_level_is_not_replaced_unasked(tmp_path):
    image = _image(tmp_path / "i", (40, 40), (8, 8))
    jobs.pyramid(image)
    with pytest.raises(zarr.errors.ContainsArrayError, match="overwrite=True"):
        jobs.pyramid(image, method="max")
    image[:] = 7
    assert (jobs.pyramid(image, overwrite=True)["1"][:] == 7).all()
    with pytest.raises(ValueError, match="root of its store"):
        jobs.pyramid(zarr.array(np.zeros((9, 9)), store=str(tmp_path / "root")))


def _names(path):
    return json.loads((path / "zarr.json").read_bytes()).get("dimension_names")


def test_level_0_in_place_gets_the_names_that_the_metadata_of_the_image_refers_to(tmp_path):
    image = _image(tmp_path / "i", (4, 40, 40), (1, 8, 8), attributes={"unit": "mm"})
    before = image[:]
    group = jobs.pyramid(image, axes="zyx", levels=3)
    (multiscale,) = group.attrs["ome"]["multiscales"]
    axes = [axis["name"] for axis in multiscale["axes"]]
    for dataset in multiscale["datasets"]:
        assert _names(tmp_path / "i" / dataset["path"]) == axes == ["z", "y", "x"]
    assert group["0"].attrs["unit"] == "mm"
    np.testing.assert_array_equal(group["0"][:], before)
    assert zarr.verify(tmp_path / "i").ok
    # It is not done again, and no other job: the names do not count.
    job = jobs.pyramid(zarr.open_array(tmp_path / "i" / "0"), axes="zyx", levels=3, run=False)
    assert job.is_done
    without = _image(tmp_path / "j", (40, 40), (8, 8))
    jobs.pyramid(without, ome=False, levels=2)
    assert _names(tmp_path / "j" / "0") is None, "metadata of an image was not asked for"


def test_names_are_given_after_a_kill_at_any_step_of_the_end(tmp_path, monkeypatch):
    steps = itertools.count()
    limit = 0

    class Killed(BaseException):
        pass

    def dying(put):
        def one(self, key, change):
            if next(steps) == limit:
                raise Killed
            return put(self, key, change)

        return one

    image = _image(tmp_path / "i", (40, 40), (8, 8))
    expected = _expected(image, (2, 2), "mean", 3)
    killed = 0
    with monkeypatch.context() as patched:
        patched.setattr(DirectoryStore, "update_value", dying(DirectoryStore.update_value))
        while True:
            steps = itertools.count()
            try:
                jobs.pyramid(zarr.open_group(tmp_path / "i")["0"], levels=3)
            except Killed:
                killed, limit = killed + 1, limit + 1
                continue
            break
    assert killed >= 2
    group = zarr.open_group(tmp_path / "i")
    for level, values in enumerate(expected):
        np.testing.assert_array_equal(group[str(level)][:], values)
        assert _names(tmp_path / "i" / str(level)) == ["y", "x"]
    assert not (tmp_path / "i" / ".zarrix-job").exists()


@pytest.mark.parametrize("how", ["str", "path", "array", "nested"])
def test_an_image_that_a_path_names_is_in_the_group_above_it(tmp_path, how, monkeypatch):
    inside = "plate/A/1" if how == "nested" else "i"
    zarr.open_group(tmp_path / "plate", mode="w", zarr_format=3)
    image = _image(tmp_path / inside, (64, 64), (8, 8))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / inside / "0"
    given = {"path": path, "array": zarr.open_array(path)}.get(how, f"{inside}/0")
    group = jobs.pyramid(given, levels=3)
    assert list(zarr.open_group(tmp_path / inside)) == ["0", "1", "2"]
    assert group.attrs["ome"]["multiscales"][0]["name"] == inside.rpartition("/")[2]
    np.testing.assert_array_equal(group["2"][:], _expected(image, (2, 2), "mean", 3)[2])


def test_an_image_in_no_group_needs_a_destination(tmp_path):
    z = zarr.zeros((64, 64), chunks=(8, 8), store=str(tmp_path / "z"))
    for given in (z, tmp_path / "z"):
        with pytest.raises(ValueError, match=r"root of its store and in no group.*pass dest="):
            jobs.pyramid(given)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["z"]
