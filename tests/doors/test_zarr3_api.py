"""What zarr-python 3 has beside what its guide shows: other ways in, and chunks that must be."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import ArrayNotFoundError, ChunkNotFoundError, MetadataError
from zarrix.storage import StorePath


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_an_array_is_made_of_a_document_without_storing_anything(zarr_format: int) -> None:
    store = zarr.MemoryStore()
    z = zarr.create(4, chunks=2, dtype="i4", store=store, path="a", zarr_format=zarr_format)
    z[:] = [1, 2, 3, 4]
    before = {key: bytes(value) for key, value in store.items()}
    document = z.metadata.to_dict()
    again = zarr.Array.from_dict(StorePath(store, "a"), document)
    np.testing.assert_array_equal(again[:], z[:])
    longer = zarr.Array.from_dict(StorePath(store, "a"), {**document, "shape": [6]})
    assert longer[:].tolist() == [1, 2, 3, 4, 0, 0]
    assert zarr.Array.from_dict(store, document)[:].tolist() == [0, 0, 0, 0]
    assert before == {key: bytes(value) for key, value in store.items()}
    with pytest.raises(MetadataError, match="'shape'"):
        zarr.Array.from_dict(store, {**document, "shape": [-1]})


def test_an_array_is_opened_and_created_through_its_class() -> None:
    store = zarr.MemoryStore()
    z = zarr.Array.create(store, shape=(4, 4), dtype="u1", chunk_shape=(2, 2))
    assert (z.zarr_format, z.chunks) == (3, (2, 2))
    assert zarr.Array.open(store) == z
    with pytest.raises(ArrayNotFoundError):
        zarr.Array.open({})
    with pytest.raises(ArrayNotFoundError):
        zarr.Array.open(store, zarr_format=2)
    strict = zarr.Array.open(store, config={"read_missing_chunks": False})
    assert not strict.config.read_missing_chunks
    inside = zarr.Array.create(StorePath({}) / "x", shape=3)
    assert inside.path == "x"
    assert zarr.Array.open(inside.store_path) == inside


KINDS: dict[str, dict[str, Any]] = {
    "plain": {"chunks": (4, 4)},
    "large, read in parts": {"chunks": (8, 8), "compressors": None},
    "shards": {"chunks": (2, 2), "shards": (4, 4)},
    "text": {"chunks": (4, 4), "dtype": str},
}


@pytest.mark.parametrize("inline", [True, False], ids=["memory", "mapping"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_chunk_that_should_be_there_and_is_not_is_an_error(kind: str, inline: bool) -> None:
    options = {"dtype": "i4", **KINDS[kind]}
    z = zarr.create_array(
        zarr.MemoryStore() if inline else {},
        shape=(8, 8),
        name="a",
        config={"read_missing_chunks": False},
        **options,
    )
    chunk = z.shards or z.chunks
    reads = (
        lambda: z[...],
        lambda: z[0, 0],
        lambda: z.oindex[[0, 1], [1]],
        lambda: z.vindex[[0, 1], [1, 1]],
        lambda: z.read_windows([[0, 0]], 2),
        lambda: z.blocks[0, 0],
    )
    for read in reads:
        with pytest.raises(ChunkNotFoundError, match='"a/c/0/0" is not stored'):
            read()
    # Writing is not reading: what is not there begins as fill.
    value = "x" if kind == "text" else 7
    z[0, 0] = value
    empty = "" if kind == "text" else 0
    assert (z[0, 0], z[1, 1]) == (value, empty)
    lenient = z.with_config({"read_missing_chunks": True})
    assert lenient[7, 7] == empty
    if chunk != (8, 8):
        with pytest.raises(ChunkNotFoundError):
            z[...]
    if kind == "shards":
        assert z[3, 3] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_chunk_is_no_error_to_what_changes_the_length(kind: str) -> None:
    options = {"dtype": "i4", **KINDS[kind]}
    config = {"read_missing_chunks": False}
    z = zarr.create_array({}, shape=(6, 8), config=config, **options)
    value: Any = "x" if kind == "text" else 7
    rows: Any = np.full((3, 8), value, z.dtype)
    assert z.append(rows) == (9, 8)
    assert np.all(z[8:9] == value)
    z.resize(7, 5)
    with z.writer() as writer:
        writer.append(rows[:, :5])
    assert z.shape == (10, 5)
    assert np.all(z[7:] == value)
    z.resize(10, 20)
    with pytest.raises(ChunkNotFoundError):
        z[:, 16:]


def test_the_setting_for_missing_chunks_holds_for_what_is_opened_under_it() -> None:
    store: dict[str, bytes] = {}
    zarr.create_array(store, shape=4)
    with zarr.config.set({"array.read_missing_chunks": False}):
        strict = zarr.open_array(store)
    with pytest.raises(ChunkNotFoundError):
        strict[:]
    assert zarr.open_array(store)[:].tolist() == [0, 0, 0, 0]
    assert (
        zarr.open(store, config={"read_missing_chunks": False}).config.read_missing_chunks is False
    )


def test_only_the_settings_that_a_config_names_are_taken_from_it() -> None:
    with zarr.config.set({"array.write_empty_chunks": True}):
        assert zarr.create_array({}, shape=4, config={"order": "C"}).config.write_empty_chunks
        assert zarr.open_array({}, "w", shape=4, config={"order": "C"}).config.write_empty_chunks
    both = {"write_empty_chunks": False}
    assert zarr.create(4, write_empty_chunks=True, config=both).config.write_empty_chunks
    assert not zarr.create(4, config=both).config.write_empty_chunks
    with pytest.raises(TypeError, match="did you mean 'write_empty_chunks'"):
        zarr.create(4, config={"write_empty_chunk": True})


def test_pickles_are_read_where_the_setting_of_zarr_python_says_so() -> None:
    import numcodecs

    store: dict[str, bytes] = {}
    z = zarr.create(
        2, dtype=object, object_codec=numcodecs.Pickle(), store=store, allow_pickle=True
    )
    z[:] = [{"a": 1}, None]
    with pytest.raises(zarr.errors.PickleCodecDisabledError, match="allow_pickle=True"):
        zarr.open_array(store)[:]
    with zarr.config.set({"array.allow_unsafe_pickle_decode": True}):
        assert zarr.open_array(store)[:].tolist() == [{"a": 1}, None]


def test_words_of_both_generations_for_masks_and_shapes() -> None:
    z = zarr.array(np.arange(6).reshape(2, 3))
    mask = np.array([[True, False, True], [False, False, True]])
    for found in (
        z.get_mask_selection(mask),
        z.get_mask_selection(mask=mask, prototype=None),
        z.get_mask_selection(selection=mask),
    ):
        assert found.tolist() == [0, 2, 5]
    z.set_mask_selection(mask=mask, value=9)
    assert z[...].tolist() == [[9, 1, 9], [3, 4, 9]]
    for wrong in ({}, {"mask": mask, "selection": mask}):
        with pytest.raises(TypeError, match="give a mask"):
            z.get_mask_selection(**wrong)
    with pytest.raises(TypeError, match="needs a value"):
        z.set_mask_selection(mask)
    z.resize(new_shape=(1, 2))
    assert z.shape == (1, 2)
    with pytest.raises(TypeError, match="not both"):
        z.resize(1, 2, new_shape=(1, 2))


def test_reports_and_logging_are_there_and_cost_nothing_before(capsys: Any) -> None:
    zarr.print_debug_info()
    printed = capsys.readouterr().out
    assert f"zarrix: {zarr.__version__}" in printed
    assert "numpy: " in printed
    program = (
        "import sys, zarrix as zarr, logging\n"
        "print('asyncio' in sys.modules, 'importlib.metadata' in sys.modules)\n"
        "zarr.set_log_level('INFO')\n"
        "zarr.set_format('%(levelname)s %(message)s')\n"
        "logging.getLogger('zarrix').info('hello')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False False\n"
    assert done.stderr == "INFO hello\n"
