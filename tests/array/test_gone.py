"""Arrays that disappear while they are open: an error, not the fill value everywhere."""

import functools
import http.server
import shutil
import threading

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import ArrayNotFoundError

READS = {
    "basic": lambda z: z[:],
    "one chunk": lambda z: z[:2, :2],
    "one element": lambda z: z[0, 0],
    "read into": lambda z: z.read((slice(0, 3), 1), out=np.empty(3, "i4")),
    "step": lambda z: z[::2, ::3],
    "points": lambda z: z.vindex[[0, 5, 7], [1, 2, 3]],
    "orthogonal": lambda z: z.oindex[[0, 5], :],
    "blocks": lambda z: z.blocks[0, 0],
    "mask": lambda z: z.get_mask_selection(np.eye(8, dtype=bool)),
    "windows": lambda z: z.read_windows([[0, 0], [3, 3]], (2, 2)),
    "iteration": lambda z: next(iter(z)),
    "digest": lambda z: z.hexdigest(),
    "initialized": lambda z: z.nchunks_initialized,
}
LAYOUTS = {
    "v2": {"zarr_format": 2},
    "v3": {"zarr_format": 3},
    "uncompressed": {"zarr_format": 3, "compressors": None},
    "shards": {"zarr_format": 3, "shards": (4, 4)},
    "thin": {"zarr_format": 2, "chunks": (8, 1)},
}


class OwnMapping(dict):
    """A dict that the engine calls back."""


STORES = {
    "local": lambda folder: zarr.DirectoryStore(folder / "x.zarr"),
    "memory": lambda folder: zarr.MemoryStore(),
    "mapping": lambda folder: OwnMapping(),
    "sqlite": lambda folder: zarr.SQLiteStore(str(folder / "x.db")),
}


def made(store, *, chunks=(2, 2), **options):
    group = zarr.open_group(store, mode="w", zarr_format=options["zarr_format"])
    array = group.create_array("a", shape=(8, 8), chunks=chunks, dtype="i4", **options)
    array[:] = np.arange(64).reshape(8, 8)
    return group, array


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_read_of_an_array_whose_folder_has_gone_is_an_error(tmp_path, layout, read):
    _, array = made(tmp_path / "x.zarr", **LAYOUTS[layout])
    expected = READS[read](array)
    (tmp_path / "x.zarr").rename(tmp_path / "y.zarr")
    with pytest.raises(ArrayNotFoundError, match=r"the array is gone: .*x\.zarr"):
        READS[read](array)
    (tmp_path / "y.zarr").rename(tmp_path / "x.zarr")
    np.testing.assert_equal(READS[read](array), expected)


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("kind", STORES)
def test_a_read_of_an_array_that_was_deleted_is_an_error_in_every_kind_of_store(
    tmp_path, kind, read
):
    store = STORES[kind](tmp_path)
    group, array = made(store, zarr_format=2)
    READS[read](array)
    del group["a"]
    with pytest.raises(ArrayNotFoundError, match="the array is gone"):
        READS[read](array)


@pytest.mark.parametrize("make", [lambda z: z.view(dtype="f4"), lambda z: z.astype("f8")])
def test_a_read_of_a_view_of_an_array_that_was_deleted_is_an_error(tmp_path, make):
    group, array = made(tmp_path / "x.zarr", zarr_format=3)
    view = make(array)
    view[:]
    del group["a"]
    with pytest.raises(ArrayNotFoundError, match="the array is gone"):
        view[:]


@pytest.mark.parametrize("kind", STORES)
def test_text_of_an_array_that_was_deleted_is_an_error(tmp_path, kind):
    group = zarr.open_group(STORES[kind](tmp_path), mode="w", zarr_format=3)
    array = group.create_array("a", shape=4, chunks=2, dtype=str)
    array[:] = ["a", "b", "c", "d"]
    del group["a"]
    with pytest.raises(ArrayNotFoundError, match="the array is gone"):
        array[:]


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_array_that_was_never_written_reads_as_fill(tmp_path, kind, layout):
    group = zarr.open_group(
        STORES[kind](tmp_path), mode="w", zarr_format=LAYOUTS[layout]["zarr_format"]
    )
    options = {"chunks": (2, 2), **LAYOUTS[layout]}
    del options["zarr_format"]
    array = group.create_array("a", shape=(8, 8), dtype="i4", fill_value=7, **options)
    assert (array[:] == 7).all()
    assert array.vindex[[0], [0]].tolist() == [7]
    assert array.nchunks_initialized == 0
    assert (zarr.open_group(group.store, mode="r")["a"][:] == 7).all()


def test_a_chunk_that_should_be_stored_is_not_what_is_missing_where_the_array_is_gone(tmp_path):
    zarr.array([1, 2], store=tmp_path / "x.zarr")
    array = zarr.Array(zarr.DirectoryStore(tmp_path / "x.zarr"), read_missing_chunks=False)
    shutil.rmtree(tmp_path / "x.zarr")
    with pytest.raises(ArrayNotFoundError, match="the array is gone"):
        array[:]


def test_missing_chunks_of_an_archive_read_as_fill(tmp_path):
    with zarr.ZipStore(tmp_path / "x.zip", mode="w") as store:
        zarr.create(4, chunks=2, dtype="i4", fill_value=3, store=store)
    with zarr.ZipStore(tmp_path / "x.zip", mode="r") as store:
        assert zarr.open_array(store, mode="r")[:].tolist() == [3] * 4


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_consolidated_metadata_counts_where_an_array_has_none_of_its_own(tmp_path, zarr_format):
    store = zarr.MemoryStore()
    group = zarr.open_group(store, mode="w", zarr_format=zarr_format)
    group.create_array("a", shape=4, chunks=2, dtype="i4", fill_value=3)
    zarr.consolidate_metadata(store)
    # Far from us, as a web server is: the members' own metadata is not asked for.
    far = OwnMapping(store)
    for name in ("a/.zarray", "a/zarr.json"):
        far.pop(name, None)
    array = zarr.open_consolidated(far, mode="r")["a"]
    assert array[:].tolist() == [3] * 4
    far.clear()
    with pytest.raises(ArrayNotFoundError, match="the array is gone"):
        array[:]


def test_references_with_metadata_inside_read_missing_chunks_as_fill():
    document = '{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"<i4","fill_value":3,"order":"C",'
    document += '"compressor":null,"filters":null}'
    store = zarr.storage.ReferenceStore({"version": 1, "refs": {".zarray": document}})
    assert zarr.open_array(store, mode="r")[:].tolist() == [3] * 4


def test_an_array_that_is_only_described_reads_as_fill(tmp_path):
    document = zarr.zeros(4, chunks=2, zarr_format=3).metadata.to_dict()
    array = zarr.Array.from_dict(zarr.MemoryStore(), document)
    assert array[:].tolist() == [0] * 4


class Server:
    """A folder behind a web server on loopback."""

    def __init__(self, folder):
        self.asked = asked = []

        class Quiet(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *arguments):
                asked.append(self.path)

        handler = functools.partial(Quiet, directory=folder)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.server.shutdown()
        self.server.server_close()


def test_an_array_that_has_gone_from_a_web_server_is_an_error(tmp_path):
    zarr.array(np.arange(8), chunks=2, store=tmp_path / "x.zarr")
    zarr.create(8, chunks=2, fill_value=3, store=tmp_path / "empty.zarr")
    with Server(tmp_path) as server:
        array = zarr.open_array(f"{server.url}/x.zarr", mode="r")
        empty = zarr.open_array(f"{server.url}/empty.zarr", mode="r")
        assert array[:].tolist() == [*range(8)]
        assert empty[:].tolist() == [3] * 8
        del server.asked[:]
        array[:]
        assert sorted(server.asked) == [f"/x.zarr/{i}" for i in range(4)]
        (tmp_path / "x.zarr").rename(tmp_path / "y.zarr")
        with pytest.raises(ArrayNotFoundError, match="the array is gone"):
            array[:]
