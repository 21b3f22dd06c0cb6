"""`jobs.stack`: many files of any format as one array."""

import os
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr
from jobs.functions import frames_of
from zarrix import jobs

RANDOM = np.random.default_rng(9)


def _npy(path, block):
    np.save(path, block)


def _npz(path, block):
    np.savez_compressed(path, data=block)


def _h5(path, block):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["entry/data"] = block


def _tif(path, block):
    pytest.importorskip("tifffile").imwrite(path, block, photometric="minisblack")


def _zarr(path, block):
    zarr.array(block, chunks=4, store=str(path))


WRITERS = {".npy": _npy, ".npz": _npz, ".h5": _h5, ".tif": _tif, ".zarr": _zarr}


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("executor", [None, "threads"])
def test_files_of_every_format_are_concatenated(tmp_path, suffix, executor):
    blocks = [RANDOM.integers(0, 999, (n, 11, 13)).astype("u2") for n in (5, 3, 8, 2, 6)]
    for number, block in enumerate(blocks):
        WRITERS[suffix](tmp_path / f"{number}{suffix}", block)
    names = sorted(tmp_path.glob(f"*{suffix}"))
    z = jobs.stack(names, tmp_path / "z", chunks=(4, 5, 13), shards=(8, 10, 13), executor=executor)
    np.testing.assert_array_equal(z[:], np.concatenate(blocks))
    assert z.shards == (8, 10, 13)
    for axis in (1, -1):
        turned = [np.moveaxis(block, 0, axis) for block in blocks]
        z = jobs.stack(turned, tmp_path / f"z{axis}", axis=axis, chunks=4, executor=executor)
        np.testing.assert_array_equal(z[:], np.concatenate(turned, axis))


@pytest.mark.parametrize("executor", [None, "processes"])
def test_frames_become_a_new_axis_wherever_the_worker_is(tmp_path, executor, monkeypatch):
    frames = RANDOM.random((7, 6, 5))
    monkeypatch.chdir(tmp_path)
    for number, frame in enumerate(frames):
        np.save(f"{number}.npy", frame)
    names = [f"{number}.npy" for number in range(7)]
    names_of_axes = ("y", "t", "x")
    z = jobs.stack(
        names, "z", axis="t", new_axis=True, dimension_names=names_of_axes, executor=executor
    )
    np.testing.assert_array_equal(z[:], frames.transpose(1, 0, 2))
    assert z.metadata.dimension_names == names_of_axes


def test_images_and_functions_are_readers(tmp_path):
    image = pytest.importorskip("PIL.Image")
    frames = RANDOM.integers(0, 255, (3, 8, 9, 3)).astype("u1")
    for number, frame in enumerate(frames):
        image.fromarray(frame).save(tmp_path / f"{number}.png")
    names = sorted(tmp_path.glob("*.png"))
    z = jobs.stack(names, tmp_path / "z", new_axis=True, dtype="f4", zarr_format=2)
    np.testing.assert_array_equal(z[:], frames)
    assert (z.dtype, z.zarr_format) == (np.dtype("f4"), 2)

    class Clip:
        """A file that has to be closed."""

        dtype = np.dtype("u1")
        shape = (2, 4)
        still_open = 0

        def __init__(self, path):
            self.number = int(Path(path).stem)
            Clip.still_open += 1

        def __getitem__(self, region):
            return np.full(self.shape, self.number, "u1")[region]

        def close(self):
            Clip.still_open -= 1

    z = jobs.stack(names, tmp_path / "clips", reader=Clip)
    assert z[:, 0].tolist() == [0, 0, 1, 1, 2, 2]
    assert Clip.still_open == 0


def test_each_file_can_have_chunks_of_its_own(tmp_path):
    blocks = [RANDOM.random((n, 4)) for n in (3, 3, 5, 1)]
    opened = []

    def read(path):
        opened.append(path)
        return blocks[int(os.path.basename(path))]

    names = [str(tmp_path / str(number)) for number in range(4)]
    z = jobs.stack(names, tmp_path / "z", reader=read, align="files", chunks=(1, 2))
    np.testing.assert_array_equal(z[:], np.concatenate(blocks))
    assert z.write_chunk_sizes[0] == (3, 3, 5, 1)
    # Once for its header, and once for its elements.
    assert sorted(opened) == sorted(names * 2)


def test_a_missing_or_odd_file_is_named_before_anything_is_written(tmp_path):
    for number, shape in enumerate([(2, 3), (2, 3), (2, 4), (5, 3)]):
        np.save(tmp_path / f"{number}.npy", np.zeros(shape, "f4" if number < 3 else "f8"))
    (tmp_path / "text.npy").write_text("not an array")
    names = [tmp_path / f"{number}.npy" for number in range(4)]
    for files, message in [
        ([*names[:2], tmp_path / "9.npy"], r"1 file cannot be read:\n  '.*9.npy': FileNotFound"),
        ([names[0], tmp_path / "text.npy"], r"text.npy': ValueError"),
        (names, r"2 files do not fit '.*0.npy', .*\n  '.*2.npy': \(2, 4\) .*\n  '.*3.npy'"),
        ([tmp_path / "a.xyz"], "no reader for"),
        ([], "no files"),
    ]:
        with pytest.raises(ValueError, match=message):
            jobs.stack(files, tmp_path / "z")
    assert not (tmp_path / "z").exists()
    with pytest.raises(ValueError, match="the axes are 0 to 1"):
        jobs.stack(names[:2], tmp_path / "z", axis=2)
    with pytest.raises(ValueError, match="expected 'chunks' or 'files'"):
        jobs.stack(names[:2], tmp_path / "z", align="shards")


def test_a_file_that_changed_since_the_plan_is_an_error(tmp_path):
    np.save(tmp_path / "0.npy", np.zeros((4, 4)))
    job = jobs.stack([tmp_path / "0.npy"], tmp_path / "z", run=False)
    np.save(tmp_path / "0.npy", np.zeros((5, 4)))
    with pytest.raises(jobs.JobFailed, match="another shape than when the job was planned"):
        job.run()


def test_tasks_fit_into_memory_and_parts_go_on(tmp_path):
    blocks = [RANDOM.random((10, 64, 64)) for _ in range(4)]
    for number, block in enumerate(blocks):
        np.save(tmp_path / f"{number}.npy", block)
    names = sorted(tmp_path.glob("*.npy"))
    job = jobs.stack(names, tmp_path / "z", chunks=(8, 16, 16), max_memory="200 KB", run=False)
    assert job.memory <= 200_000
    job.save(tmp_path / "job.json")
    for part in range(3):
        jobs.Job.load(tmp_path / "job.json").run(part=(part, 3))
    z = jobs.Job.load(tmp_path / "job.json").finish()
    np.testing.assert_array_equal(z[:], np.concatenate(blocks))


def test_files_that_cannot_be_read_can_have_the_fill_value(tmp_path):
    for number in (1, 2, 4):
        np.save(tmp_path / f"{number}.npy", np.full((2, 3), number, "i2"))
    (tmp_path / "0.npy").write_text("not an array")
    np.save(tmp_path / "5.npy", np.zeros((2, 4), "i2"))
    names = [str(tmp_path / f"{number}.npy") for number in range(6)]
    job = jobs.stack(names, tmp_path / "z", on_error="fill", chunks=(3, 3), run=False)
    assert "3 files cannot be read" in str(job)
    z = job.run("threads").result
    assert z[:, 0].tolist() == [0, 0, 1, 1, 2, 2, 0, 0, 4, 4, 0, 0]
    assert z.attrs["filled_files"] == [names[0], names[3], names[5]]
    whole = jobs.stack(names[1:3], tmp_path / "whole", on_error="fill")
    assert "filled_files" not in whole.attrs
    np.save(names[4], np.zeros((3, 3), "i2"))
    with pytest.raises(ValueError, match="its length along axis 0 is not known"):
        jobs.stack(names, tmp_path / "y", on_error="fill")
    with pytest.raises(ValueError, match="2 files cannot be read"):
        jobs.stack([names[0], names[3]], tmp_path / "y", on_error="fill")
    with pytest.raises(ValueError, match="expected 'raise' or 'fill'"):
        jobs.stack(names, tmp_path / "y", on_error="skip")
    assert not (tmp_path / "y").exists()


def test_videos_become_one_array_of_frames(tmp_path):
    """Each file is read by one task, because frames depend on each other."""
    pytest.importorskip("av")
    films = [RANDOM.integers(0, 255, (n, 24, 32, 3)).astype("u1") for n in (7, 5, 7)]
    names = [str(tmp_path / f"{number}.mkv") for number in range(3)]
    for name, film in zip(names, films, strict=True):
        zarr.export(zarr.array(film), name)
    z = jobs.stack(
        names,
        tmp_path / "z",
        reader=frames_of,
        align="files",
        chunks=(1, 24, 32, 3),
        executor="threads",
    )
    np.testing.assert_array_equal(z[:], np.concatenate(films))
    assert z.read_chunk_sizes[0] == (7, 5, 7)
