"""The info report, the tree, and their HTML."""

import numpy as np
import pytest
import zarrix as zarr


def test_the_report_of_an_array_has_the_rows_of_zarr_2() -> None:
    root = zarr.group()
    z = root.zeros("a/b", shape=(1000, 300), chunks=(100, 300), dtype="f4")
    z[:500] = 1
    stored = z.nbytes_stored
    assert (
        repr(z.info)
        == f"""\
Name               : /a/b
Type               : zarrix.core.Array
Data type          : float32
Shape              : (1000, 300)
Chunk shape        : (100, 300)
Order              : C
Read-only          : False
Compressor         : Blosc(cname='lz4', clevel=5, shuffle=SHUFFLE, blocksize=0)
Store type         : zarrix.storage.MemoryStore
No. bytes          : 1200000 (1.1M)
No. bytes stored   : {stored} ({stored / 1024:.1f}K)
Storage ratio      : {1200000 / stored:.1f}
Chunks initialized : 5/10
"""
    )


def test_an_array_at_the_root_has_no_name_row() -> None:
    assert [name for name, _ in zarr.zeros(3).info_items()][:2] == ["Type", "Data type"]


def test_filters_synchronizers_and_chunk_stores_have_rows() -> None:
    z = zarr.create(
        4,
        dtype="i4",
        store={},
        chunk_store={},
        filters=[zarr.Delta("i4")],
        synchronizer=zarr.ThreadSynchronizer(),
    )
    rows = dict(z.info_items())
    assert rows["Filter [0]"] == "Delta(dtype='<i4')"
    assert rows["Synchronizer type"] == "zarrix.sync.ThreadSynchronizer"
    assert rows["Store type"] == rows["Chunk store type"] == "zarrix.storage.KVStore"
    assert "Not native" not in rows


def test_codecs_that_python_has_to_run_are_named() -> None:
    complex_ones = [zarr.AsType("c8", "f8"), zarr.FixedScaleOffset(0, 1, "c8")]
    z = zarr.zeros(4, compressor=zarr.BZ2(1), filters=[*complex_ones, zarr.CRC32()])
    assert dict(z.info_items())["Not native"] == "AsType, FixedScaleOffset (through numcodecs)"


def test_the_report_of_a_group_counts_its_members() -> None:
    root = zarr.group()
    root.zeros("x", shape=3)
    root.create_groups("b", "a/c")
    assert (
        repr(root.info)
        == """\
Name        : /
Type        : zarrix.hierarchy.Group
Read-only   : False
Store type  : zarrix.storage.MemoryStore
No. members : 3
No. arrays  : 1
No. groups  : 2
Arrays      : x
Groups      : a, b
"""
    )


@pytest.fixture
def root() -> zarr.Group:
    made = zarr.group()
    made.zeros("array_3D", shape=(10, 10, 10))
    made.zeros("group_1/array_1D_1", shape=10, dtype="i8")
    made.zeros("group_2/array_1D_2", shape=10, dtype="i8")
    made.zeros("group_2/array_1D_3", shape=(), dtype="i8")
    return made


def test_the_tree_is_drawn_as_in_zarr_2(root: zarr.Group) -> None:
    assert (
        str(root.tree())
        == """\
/
 ├── array_3D (10, 10, 10) float64
 ├── group_1
 │   └── array_1D_1 (10,) int64
 └── group_2
     ├── array_1D_2 (10,) int64
     └── array_1D_3 () int64"""
    )
    assert str(zarr.tree(root["group_1"])) == "group_1\n └── array_1D_1 (10,) int64"
    assert bytes(root["group_1"].tree()) == b"group_1\n +-- array_1D_1 (10,) int64"
    assert str(root.tree(level=1)).count("\n") == 3


def test_the_tree_in_html_opens_as_far_as_asked(root: zarr.Group) -> None:
    root.zeros("a<b", shape=3)
    html = root.tree()._repr_html_()
    assert html.count("<details open") == 1
    assert html.count("<details") == 3
    assert "a&lt;b (3,) float64" in html
    assert root.tree(expand=True)._repr_html_().count("<details open") == 3


def test_the_report_shows_arrays_that_were_written_at_once() -> None:
    assert dict(zarr.array(np.arange(3)).info_items())["Chunks initialized"] == "1/1"
