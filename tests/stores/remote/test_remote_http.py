"""Arrays behind web servers, with ranges and without; they are only read."""

import zipfile

import numpy as np
import pytest
import zarrix as zarr

DATA = np.arange(10_000, dtype="i4").reshape(100, 100)


@pytest.fixture(params=["nginx", "nginx-without-ranges"])
def site(request, serve):
    """A folder, and the address at which a web server shows it."""
    found = serve(request.param)
    folder = found.folder / "data" / request.node.name
    folder.mkdir()
    return folder, f"{found.endpoint}/{folder.name}"


def test_plain_and_sharded_arrays_are_read(site):
    folder, url = site
    for name, arguments in {
        "plain": {"chunks": (30, 40), "zarr_format": 2},
        "raw": {"chunks": (100, 100), "compressors": None},
        "shards": {"chunks": (10, 10), "shards": (50, 50)},
    }.items():
        z = zarr.create_array(folder / name, shape=DATA.shape, dtype="i4", **arguments)
        z[:] = DATA
        z.attrs["unit"] = "mm"
        again = zarr.open(f"{url}/{name}", mode="r")
        np.testing.assert_array_equal(again[:], DATA)
        np.testing.assert_array_equal(again[45:55, 3], DATA[45:55, 3])
        assert again.attrs["unit"] == "mm"
        with pytest.raises(PermissionError):
            zarr.open(f"{url}/{name}", mode="r+")[0] = 1


def test_chunks_that_are_not_there_are_fill_and_no_array_is_an_error(site):
    folder, url = site
    zarr.open(folder / "x", mode="w", shape=10, chunks=5, fill_value=3)[:5] = 1
    assert zarr.open(f"{url}/x", mode="r")[:].tolist() == [1] * 5 + [3] * 5
    with pytest.raises(FileNotFoundError):
        zarr.open(f"{url}/none", mode="r")


def test_a_group_with_consolidated_metadata_is_read(site):
    folder, url = site
    group = zarr.open_group(folder / "g", mode="w")
    group.create_dataset("a/b", shape=4, chunks=2, dtype="i2")[:] = range(4)
    zarr.consolidate_metadata(folder / "g")
    again = zarr.open_consolidated(f"{url}/g", mode="r")
    assert again["a/b"][:].tolist() == [0, 1, 2, 3]
    assert zarr.open_group(f"{url}/g", mode="r")["a"]["b"][2] == 2


def test_an_archive_is_read_in_place(site):
    folder, url = site
    zarr.save(folder / "x.zip", DATA)
    assert zipfile.is_zipfile(folder / "x.zip")
    np.testing.assert_array_equal(zarr.open(f"{url}/x.zip", mode="r")[20:30], DATA[20:30])


def test_what_is_refused_is_an_error_and_not_fill(site):
    folder, url = site
    zarr.open(folder / "forbidden" / "x", mode="w", shape=10, chunks=5)[:] = 1
    z = zarr.open(f"{url}/forbidden/x", mode="r")
    assert z[5:].tolist() == [1] * 5
    with pytest.raises(PermissionError, match="403"):
        z[:5]
