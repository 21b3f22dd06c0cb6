"""Chunks of several lengths along an axis: made, read, written, grown, cut, shown and refused.

Selections of every kind are drawn for such arrays in the tests of selections and of the model.
"""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given
from hypothesis import strategies as st
from zarrix._errors import MetadataError
from zarrix._metadata.chunk_grid import AxisGrid, axis_of

VALUES = np.arange(6000, dtype="i4").reshape(60, 100)


def filled(store: Any = None, **options: Any) -> zarr.Array:
    z = zarr.create_array(
        store, shape=(60, 100), dtype="i4", **{"chunks": [[10, 20, 30], 50], **options}
    )
    z[...] = VALUES
    return z


def shapes_of(z: zarr.Array) -> Any:
    return z.metadata.to_dict()["chunk_grid"]["configuration"]["chunk_shapes"]


# Making


@pytest.mark.parametrize(
    ("chunks", "stored"),
    [
        ([[10, 20, 30], 50], [[10, 20, 30], 50]),
        (((10, 20, 30), 50), [[10, 20, 30], 50]),
        ([[30, 30], [50, 50]], [[[30, 2]], [[50, 2]]]),
        ([[20, 20, 20], None], [[[20, 3]], 100]),
        ([-1, [30, 70]], [60, [30, 70]]),
        ([[60]], [[60], 100]),
        ([[(10, 3), 30], 7], [[[10, 3], 30], 7]),
        (np.array([[30, 30], [50, 50]]), [[[30, 2]], [[50, 2]]]),
        ([np.array([10, 50]), np.int64(9)], [[10, 50], 9]),
    ],
)
def test_lists_of_lengths_become_the_document_that_zarr_python_writes(
    chunks: Any, stored: Any
) -> None:
    z = zarr.create_array(shape=(60, 100), dtype="i4", chunks=chunks)
    assert z.metadata.to_dict()["chunk_grid"] == {
        "name": "rectilinear",
        "configuration": {"kind": "inline", "chunk_shapes": stored},
    }


@pytest.mark.parametrize(
    ("chunks", "words"),
    [
        ([[10, 20], 50], r"chunks\[0\]=\[10, 20\] has chunks for 30 elements; the axis has 60"),
        ([[60], [50, 51]], r"chunks\[1\].* 101 elements; the axis has 100"),
        ([[0, 60], 50], r"chunks\[0\]=\[0, 60\]; expected"),
        ([[-5, 65], 50], "expected a length"),
        ([[], 50], r"chunks\[0\]=\[\]"),
        ([[30.0, 30], 50], "expected a length"),
        ([[True, 59], 50], "expected a length"),
        ([[(30, 0), 60], 50], "expected a length"),
        ([["10", 50], 50], "expected a length"),
        ([[60], 50, 3], "3 axes"),
    ],
)
def test_lists_that_make_no_sense_are_refused(chunks: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        zarr.create_array(shape=(60, 100), dtype="i4", chunks=chunks)


def test_lists_ask_for_format_3() -> None:
    assert zarr.zeros(60, chunks=[[10, 50]]).zarr_format == 3
    with pytest.raises(ValueError, match=r"chunks=\[\[...\], ...\] belongs to zarr_format=3"):
        zarr.create_array(shape=60, dtype="i4", chunks=[[10, 50]], zarr_format=2)
    with pytest.raises(ValueError, match="belongs to zarr_format=3"):
        zarr.group().create_dataset("x", shape=60, chunks=[[10, 50]])


def test_a_list_for_an_empty_axis_is_what_it_grows_into() -> None:
    z = zarr.create_array(shape=(0,), dtype="i4", chunks=[[3, 5]])
    assert z.read_chunk_sizes == ((),)
    z.append(np.arange(4))
    assert z.read_chunk_sizes == ((3, 1),)
    z.append(np.arange(4, 10))
    assert z.read_chunk_sizes == ((3, 5, 2),)
    np.testing.assert_array_equal(z[...], np.arange(10))


# What an array says of its chunks


def test_the_words_are_those_of_zarr_python() -> None:
    z = filled()
    assert z.read_chunk_sizes == z.write_chunk_sizes == ((10, 20, 30), (50, 50))
    assert (z.cdata_shape, z.nchunks, z.nchunks_initialized) == ((3, 2), 6, 6)
    assert z.shards is None
    with pytest.raises(NotImplementedError, match="read_chunk_sizes"):
        _ = z.chunks
    assert "several, of lengths [[10, 20, 30], 50]" in str(z.info)
    assert "several" not in str(zarr.zeros(3).info)
    assert z._repr_html_().count("<svg") == 1
    assert "Touches 2 chunks" in str(z.plan((15, slice(None))))
    assert z.plan((15, slice(None))).bytes_touched == 2 * 20 * 50 * 4
    assert [row[0] for row in z] == list(range(0, 6000, 100))


def test_shards_of_several_lengths_have_inner_chunks_of_one() -> None:
    z = filled(chunks=(10, 10), shards=[[20, 40], [30, 70]])
    assert z.chunks == (10, 10)
    assert z.write_chunk_sizes == ((20, 40), (30, 70))
    assert z.read_chunk_sizes == ((10,) * 6, (10,) * 10)
    assert (z.nchunks, z.nchunks_initialized, z.cdata_shape) == (60, 60, (6, 10))
    with pytest.raises(NotImplementedError, match="write_chunk_sizes"):
        _ = z.shards
    np.testing.assert_array_equal(z[...], VALUES)
    assert z.plan((5, slice(None))).shards == 2
    z[20:, 30:] = 0
    assert z.nchunks_initialized == 2 * 3 + 2 * 7 + 4 * 3
    assert "several, of lengths [[20, 40], [30, 70]]" in str(z.info)


def test_shards_are_as_long_as_whole_inner_chunks() -> None:
    z = zarr.create_array(shape=(7,), dtype="i4", chunks=(3,), shards=[[3, 6]])
    z[...] = np.arange(7)
    assert z.write_chunk_sizes == ((3, 4),)
    np.testing.assert_array_equal(z[...], np.arange(7))
    with pytest.raises(MetadataError, match=r"chunk_shapes\[0\]'.*inner chunks of 3, which 2"):
        zarr.create_array(shape=(8,), dtype="i4", chunks=(3,), shards=[[6, 2]])
    with pytest.raises(ValueError, match="list the lengths of the shards"):
        zarr.create_array(shape=(8,), dtype="i4", chunks=[[4, 4]], shards=(8,))
    with pytest.raises(ValueError, match="give chunks= as lengths"):
        zarr.create_array(shape=(8,), dtype="i4", shards=[[4, 4]])


def test_a_billion_chunks_of_one_length_cost_what_their_run_costs() -> None:
    z = zarr.create_array(shape=(10**12,), dtype="i1", chunks=[[(1000, 10**9)]])
    z[10**11 : 10**11 + 5000] = 3
    assert (z.nchunks, z.nchunks_initialized) == (10**9, 5)
    assert int(z[10**11 - 1 : 10**11 + 5001].sum()) == 15000
    assert z.blocks[-1].shape == (1000,)
    np.testing.assert_array_equal(z.vindex[[10**11, 10**12 - 1]], [3, 0])
    assert z.plan(slice(10**11, 10**11 + 1500)).chunks == 2
    z.resize(10**11 + 500)
    assert z.nchunks_initialized == 1
    z.append(np.ones(10**4, "i1"))
    assert int(z[10**11 + 400 :].sum()) == 10**4 + 300


# Lengths that change


def test_growth_is_one_chunk_more_as_in_zarr_python() -> None:
    z = filled()
    z.append(np.full((7, 100), 5, "i4"))
    assert shapes_of(z) == [[10, 20, 30, 7], 50]
    z.resize((15, 100))
    assert z.read_chunk_sizes == ((10, 5), (50, 50))
    assert shapes_of(z) == [[10, 20, 30, 7], 50]
    z.resize((200, 130))
    assert shapes_of(z) == [[10, 20, 30, 7, 133], 50]
    np.testing.assert_array_equal(z[:15, :100], VALUES[:15])
    assert not z[15:].any()
    assert not z[:, 100:].any()


def test_growth_of_shards_is_whole_inner_chunks() -> None:
    z = filled(chunks=(10, 10), shards=[[20, 40], [30, 70]])
    z.append(np.ones((5, 100), "i4"))
    assert z.write_chunk_sizes == ((20, 40, 5), (30, 70))
    assert shapes_of(z) == [[20, 40, 10], [30, 70]]
    z.append(np.ones((5, 100), "i4"))
    assert shapes_of(z) == [[20, 40, 10], [30, 70]]
    assert int(z[60:].sum()) == 1000


def test_growth_that_no_chunk_can_hold_is_refused_and_nothing_stored() -> None:
    z = filled()
    before = z.store["zarr.json"]
    with pytest.raises(MetadataError, match=r"config\.max_chunk_bytes"):
        z.resize((10**15, 100))
    assert z.store["zarr.json"] == before
    assert z.shape == (60, 100)


def test_other_spellings_of_a_grid_that_did_not_change_are_kept() -> None:
    z = filled()
    document = json.loads(z.store["zarr.json"])
    shapes = [[[10, 1], 20, [30, 1]], [[50, 1], 50, 3]]
    document["chunk_grid"]["configuration"]["chunk_shapes"] = shapes
    z.store["zarr.json"] = json.dumps(document).encode()
    z = zarr.open_array(z.store)
    np.testing.assert_array_equal(z[...], VALUES)
    z.attrs["a"] = 1
    assert shapes_of(z) == shapes
    z.append(np.zeros((3, 100), "i4"))
    assert shapes_of(z) == [[10, 20, 30, 3], shapes[1]]


@given(st.data())
def test_appends_cuts_and_writers_leave_what_an_array_in_memory_has(data: st.DataObject) -> None:
    lengths = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    sharded = data.draw(st.booleans())
    options: dict[str, Any] = {"chunks": [lengths, 2]}
    if sharded:
        options = {"chunks": (2, 2), "shards": [[2 * n for n in lengths], [2, 4]]}
    size = 2 * sum(lengths) if sharded else sum(lengths)
    z = zarr.create_array(shape=(size, 5), dtype="i2", **options)
    model = np.zeros((size, 5), "i2")
    steps = data.draw(st.lists(st.sampled_from(("append", "resize", "writer")), max_size=5))
    for value, step in enumerate(steps, 1):
        count = data.draw(st.integers(0, 5))
        added = np.full((count, 5), value, "i2")
        if step == "append":
            z.append(added)
            model = np.concatenate([model, added])
        elif step == "writer":
            with z.writer(buffer_bytes=data.draw(st.sampled_from((1, 100)))) as stream:
                for row in added:
                    stream.append(row)
                    if data.draw(st.booleans()):
                        stream.flush()
            model = np.concatenate([model, added])
        else:
            rows = data.draw(st.integers(0, len(model) + 3))
            z.resize((rows, 5))
            kept = model[:rows]
            model = np.concatenate([kept, np.zeros((rows - len(kept), 5), "i2")])
        assert z.shape == model.shape
        np.testing.assert_array_equal(z[...], model)
        np.testing.assert_array_equal(zarr.open_array(z.store)[...], model)


def test_a_chunk_that_codecs_see_by_its_shape_is_bound_for_every_shape() -> None:
    # A transposition behind a filter on neighbours is one of a chunk whose shape has to be known.
    delta = {"name": "numcodecs.delta", "configuration": {"dtype": "i4", "astype": "i4"}}
    transposed = {"name": "transpose", "configuration": {"order": [1, 0]}}
    z = filled(chunks=[[10, 20, 30], [40, 60]], filters=[delta, transposed], compressors=None)
    np.testing.assert_array_equal(z[...], VALUES)
    z[5:55, 35:45] = VALUES[5:55, 35:45] + 1
    assert int(z[5:55, 35:45].sum()) == int(VALUES[5:55, 35:45].sum()) + 500


# Everything else that asks where chunks lie


def test_verify_diff_copies_and_pickles_know_the_grid(tmp_path: Path) -> None:
    from zarrix.operate import diff, verify

    z = filled(tmp_path / "a.zarr")
    assert verify(tmp_path / "a.zarr").chunks == 6
    copied = zarr.create_array(tmp_path / "b.zarr", shape=(60, 100), dtype="i4", chunks=[[60], 50])
    copied[...] = z
    np.testing.assert_array_equal(copied[...], VALUES)
    kept = zarr.from_array(tmp_path / "c.zarr", data=z)
    assert shapes_of(kept) == [[10, 20, 30], 50]
    assert not diff(tmp_path / "a.zarr", tmp_path / "c.zarr").differences
    kept[30:40] = 0
    assert [one.name for one in diff(tmp_path / "a.zarr", tmp_path / "c.zarr").differences] == [
        "(2, 0)",
        "(2, 1)",
    ]
    with pytest.raises(MetadataError, match="several shapes"):
        zarr.migrate(tmp_path / "a.zarr", to=2)
    assert pickle.loads(pickle.dumps(z)).read_chunk_sizes == z.read_chunk_sizes
    (tmp_path / "a.zarr" / "c" / "1" / "0").write_bytes(b"nothing")
    assert [problem.key for problem in verify(tmp_path / "a.zarr").problems] == ["c/1/0"]


def test_arrays_like_one_of_several_shapes_are_cut_like_it_where_they_can_be() -> None:
    z = filled()
    z.resize((25, 100))
    assert zarr.zeros_like(z).read_chunk_sizes == ((10, 15), (50, 50))
    assert zarr.array(z, zarr_format=3).read_chunk_sizes == ((10, 15), (50, 50))
    assert zarr.zeros_like(z, zarr_format=2).shape == (25, 100)
    assert zarr.from_array(data=z, zarr_format=2).zarr_format == 2
    group = zarr.create_group()
    zarr.copy(z, group, name="copy")
    assert shapes_of(group["copy"]) == [[10, 20, 30], 50]
    zarr.copy(z, zarr.group(), name="copy")


def test_strings_and_objects_lie_in_chunks_of_several_lengths() -> None:
    words = np.array([f"word {n}" for n in range(40)], "T")
    z = zarr.create_array(shape=(40,), dtype=words.dtype, chunks=[[1, 9, 30]])
    z[...] = words
    assert z[...].tolist() == words.tolist()
    z[5:15] = "x"
    assert z.oindex[[0, 4, 5, 14, 15]].tolist() == ["word 0", "word 4", "x", "x", "word 15"]
    assert z.nchunks_initialized == 3


@pytest.mark.parametrize(
    ("configuration", "words"),
    [
        ({"chunk_shapes": [[60], 50]}, "'chunk_grid.configuration.kind' is None"),
        ({"kind": "file", "chunk_shapes": [[60], 50]}, "kind' is 'file'; allowed: 'inline'"),
        ({"kind": "inline"}, "'chunk_grid.configuration.chunk_shapes' is None"),
        ({"kind": "inline", "chunk_shapes": [[60]]}, "each axis of the shape"),
        ({"kind": "inline", "chunk_shapes": [[59], 50]}, r"chunk_shapes\[0\]' is \[59\].*cover"),
        ({"kind": "inline", "chunk_shapes": [[0, 60], 50]}, r"chunk_shapes\[0\]' is \[0, 60\]"),
        ({"kind": "inline", "chunk_shapes": [[60], 0]}, r"chunk_shapes\[1\]' is 0"),
        ({"kind": "inline", "chunk_shapes": [[60], -1]}, r"chunk_shapes\[1\]' is -1"),
        ({"kind": "inline", "chunk_shapes": [[60], []]}, r"chunk_shapes\[1\]' is \[\]"),
        ({"kind": "inline", "chunk_shapes": [[60], [[50]]]}, r"chunk_shapes\[1\]"),
        ({"kind": "inline", "chunk_shapes": [[60], [[50, 2, 1]]]}, r"chunk_shapes\[1\]"),
        ({"kind": "inline", "chunk_shapes": [[60], [[50, -2]]]}, r"chunk_shapes\[1\]"),
        ({"kind": "inline", "chunk_shapes": [[60], [50.0, 50]]}, r"chunk_shapes\[1\]"),
        ({"kind": "inline", "chunk_shapes": [[60], [True, 99]]}, r"chunk_shapes\[1\]"),
        ({"kind": "inline", "chunk_shapes": [[60], [[2**62, 2**62]]]}, r"chunk_shapes\[1\]"),
        ({"kind": "inline", "chunk_shapes": [[60], [2**60]]}, "config.max_chunk_bytes"),
        ({"kind": "inline", "chunk_shapes": [[60], "50"]}, r"chunk_shapes\[1\]' is '50'"),
    ],
)
def test_a_grid_that_contradicts_itself_is_refused_with_the_key_at_fault(
    configuration: Any, words: str
) -> None:
    z = filled()
    document = json.loads(z.store["zarr.json"])
    document["chunk_grid"]["configuration"] = configuration
    z.store["zarr.json"] = json.dumps(document).encode()
    with pytest.raises(MetadataError, match=words):
        zarr.open_array(z.store)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 4)), min_size=1, max_size=5), st.data())
def test_an_axis_finds_every_element_in_its_chunk(
    runs: list[tuple[int, int]], data: st.DataObject
) -> None:
    axis = axis_of(runs)
    assert axis is not None
    lengths = [length for length, count in runs for _ in range(count)]
    ends = np.cumsum(lengths)
    size = data.draw(st.integers(0, int(ends[-1])))
    assert axis.end == ends[-1]
    for position in range(size):
        chunk = int(np.searchsorted(ends, position, side="right"))
        assert axis.find(position) == (chunk, ends[chunk] - lengths[chunk], ends[chunk])
    assert axis.count(size) == (np.searchsorted(ends, size - 1, side="right") + 1 if size else 0)
    assert sum(axis.sizes(size)) == size
    parts = list(axis.parts(size, data.draw(st.integers(1, 9))))
    assert [one.stop for one in parts[:-1]] == [one.start for one in parts[1:]]
    assert all(one.stop in ends for one in parts[:-1])
    again = axis_of(json.loads(json.dumps(axis.document())))
    assert again == axis
    grown = axis.grown(size + 7, 3)
    assert grown.end is not None
    assert grown.end >= size + 7
    assert AxisGrid(even=4).find(9) == (2, 8, 12)
