"""Settings: typed, from the environment, and put back after a ``with`` block."""

import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import zarrix as zarr
from zarrix import _engine
from zarrix._array.access import options_of
from zarrix._errors import MetadataError
from zarrix._runtime import config as _config
from zarrix._runtime import zarr_settings
from zarrix._runtime.config import Config, config
from zarrix.convert._downloads import downloads


def test_a_setting_holds_inside_the_block_and_not_after():
    before = config.threads
    with config(threads=before + 3, durability="fsync") as inside:
        assert inside is config
        assert _engine.threads() == before + 3
        assert config.durability == "fsync"
    assert _engine.threads() == before
    assert config.durability == "process"


def test_a_reset_gives_back_what_the_engine_keeps():
    before = config.to_dict()
    config(threads=before["threads"] + 3, concurrent_requests=7, chunk_cache_bytes=2**20)
    config.reset()
    assert config.to_dict() == before


@pytest.mark.parametrize("name", ["chunk_cache_bytes", "result_cache_bytes"])
def test_a_limit_beyond_all_memory_is_the_largest(name):
    with config(**{name: 10**30}):
        assert getattr(config, name) == sys.maxsize


def test_a_call_without_a_block_sets_for_good():
    config(default_zarr_format=3)
    assert config.default_zarr_format == 3
    config.default_zarr_format = None
    assert config.default_zarr_format is None


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"treads": 2}, TypeError, "config has no setting 'treads'; did you mean 'threads'?"),
        ({"threads": 0}, ValueError, "threads must be at least 1, not 0"),
        ({"threads": 1.5}, TypeError, "threads must be a whole number, not 1.5"),
        ({"threads": True}, TypeError, "threads must be a whole number"),
        ({"durability": "power"}, ValueError, "'process' or 'fsync', not 'power'"),
        ({"default_zarr_format": 1}, ValueError, "must be 2, 3 or None, not 1"),
        ({"max_chunk_bytes": 0}, ValueError, "max_chunk_bytes must be at least 1"),
    ],
)
def test_a_wrong_setting_changes_nothing(settings, error, words):
    before = repr(config)
    with pytest.raises(error) as caught:
        config(**{"max_chunk_bytes": 5, **settings})
    assert words in str(caught.value)
    assert repr(config) == before


def test_the_environment_sets_what_the_process_starts_with(monkeypatch):
    monkeypatch.setenv("ZARRIX_DEFAULT_ZARR_FORMAT", "3")
    monkeypatch.setenv("ZARRIX_DURABILITY", "fsync")
    monkeypatch.setenv("ZARRIX_MAX_CHUNK_BYTES", "1000")
    try:
        fresh = Config()
    finally:
        # The engine has one limit, which the newest settings have changed.
        config.set(max_chunk_bytes=config.max_chunk_bytes)
    assert (fresh.default_zarr_format, fresh.durability, fresh.max_chunk_bytes) == (
        3,
        "fsync",
        1000,
    )


def test_the_number_of_threads_comes_from_the_environment():
    done = subprocess.run(
        [sys.executable, "-c", "from zarrix._runtime.config import config; print(config.threads)"],
        env={**os.environ, "ZARRIX_THREADS": "5"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "5\n"


def test_a_wrong_value_in_the_environment_is_named(monkeypatch):
    monkeypatch.setenv("ZARRIX_DURABILITY", "perhaps")
    with pytest.raises(ValueError, match=r"^environment variable ZARRIX_DURABILITY='perhaps': "):
        Config()


@pytest.fixture(params=["memory", "local", "stored", "deflated"])
def written(request, tmp_path):
    """Opens a store, all of one kind, that has an array with attributes of 5000 letters."""
    memory = zarr.MemoryStore()
    methods = {"stored": zipfile.ZIP_STORED, "deflated": zipfile.ZIP_DEFLATED}

    def open_store(mode):
        if request.param == "memory":
            return memory
        if request.param == "local":
            return zarr.DirectoryStore(tmp_path / "x.zarr")
        return zarr.ZipStore(tmp_path / "x.zip", mode=mode, compression=methods[request.param])

    with open_store("w") as store:
        array = zarr.open_group(store, mode="w").create_dataset("a", shape=3, dtype="i4")
        array.attrs["text"] = "x" * 5000
    return open_store


def test_a_document_that_is_too_long_is_refused_by_the_name_of_the_limit(written):
    with config(max_document_bytes=5000):
        with written("r") as store, pytest.raises(MetadataError, match=r"zattrs.+document_byt"):
            zarr.open_group(store, mode="r")["a"].attrs.asdict()
        with written("a") as store, pytest.raises(MetadataError, match=r"zattrs.+document_byt"):
            zarr.open_group(store, mode="r+")["a"].attrs["more"] = 1
    with written("r") as store:
        assert zarr.open_group(store, mode="r")["a"].attrs.asdict() == {"text": "x" * 5000}


def test_a_member_whose_document_is_too_long_is_no_reason_to_read_all_of_it(written):
    with written("a") as store:
        store["a/.zarray"] += b" " * 5000
    with (
        config(max_document_bytes=5000),
        written("r") as store,
    ):
        group = zarr.open_group(store, mode="r")
        with pytest.raises(MetadataError, match=r"a/\.zarray.*document_bytes"):
            group["a"]
        with pytest.warns(UserWarning, match=r"a/\.zarray.*document_bytes"):
            assert list(group.arrays()) == []


@pytest.mark.parametrize(
    ("settings", "suggested"),
    [
        ({"thread": 4}, "threads"),
        ({"array__oder": "F"}, "array.order"),
        ({"async__concurency": 4}, "async.concurrency"),
        ({"no_such_thing_at_all": 4}, None),
    ],
)
def test_a_name_that_no_library_has_cannot_be_set(settings, suggested):
    before = config.to_dict()
    with pytest.raises(TypeError, match="config has no setting") as caught:
        config.set({"json_indent": 4}, **settings)
    assert (f"did you mean {suggested!r}" in str(caught.value)) is (suggested is not None)
    assert config.to_dict() == before


def test_a_name_that_no_library_has_cannot_be_asked_for():
    with pytest.raises(KeyError, match=r"no setting 'thread'; did you mean 'threads'"):
        config.get("thread")
    assert config.get("thread", 7) == 7
    assert config.get("codec_pipeline.path", None) == (
        "zarr.core.codec_pipeline.BatchedCodecPipeline"
    )
    assert config.get("codec_pipeline.name") is None


def test_settings_of_zarr_python_are_remembered_nested_or_not():
    nested = {"array": {"order": "C", "write_empty_chunks": True}, "codecs": {"gzip": "a.Gzip"}}
    with pytest.warns(UserWarning, match=r"has no effect in zarrix") as told:
        restoring = config.set(nested, codec_pipeline__path="zarrs.ZarrsCodecPipeline")
    assert {str(one.message).split("'")[1] for one in told} == {
        "codecs.gzip",
        "codec_pipeline.path",
    }
    with restoring:
        assert config.get("array.order") == "C"
        assert config.write_empty_chunks is True
        assert config.get("codecs.gzip") == "a.Gzip"
        assert config.get("codec_pipeline.path") == "zarrs.ZarrsCodecPipeline"
    assert config.get("array.order") == "C"


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        ("ZARRIX_THREAD", "ZARRIX_THREAD is ignored; did you mean 'ZARRIX_THREADS'?"),
        ("ZARRIX_DURABLITY", "did you mean 'ZARRIX_DURABILITY'?"),
        ("ZARRIX_OF_ANOTHER_PROGRAM", ""),
    ],
)
def test_a_misspelt_environment_variable_is_warned_of(variable, said):
    done = subprocess.run(
        [sys.executable, "-c", "import zarrix; zarrix.config.reset()"],
        env={**os.environ, variable: "3"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said in done.stderr
    assert done.stderr.count("UserWarning") == (1 if said else 0)


def _outcome(call):
    try:
        return str(type(call()))
    except Exception as error:
        return type(error).__name__


def _part_of_a_picture():
    z = zarr.create_array(
        {}, shape=(8, 8), chunks=(8, 8), dtype="u1", compressors="jpeg:90", fill_value=9
    )
    z[0, 0] = 1


TEXT = zarr.array(["abcdef"], dtype=str).store
GROUP = {".zgroup": b'{"zarr_format":2}'}


# For each setting of ours: another value, and what differs then.
def _download():
    downloads.forget(downloads.reserve("https://example.org/x.npy", "/x.npy", 3))


EFFECTS = {
    "threads": (1, lambda: _engine.threads()),
    "concurrent_requests": (3, lambda: _engine.concurrent_requests()),
    "chunk_cache_bytes": (4096, lambda: _engine.chunk_cache_bytes()),
    "result_cache_bytes": (4096, lambda: _engine.result_cache_bytes()),
    "default_zarr_format": (3, lambda: zarr.zeros(1).zarr_format),
    "durability": ("fsync", lambda: zarr.MemoryStore().syncs),
    "write_empty_chunks": (False, lambda: len(zarr.array([0]).store)),
    "read_missing_chunks": (False, lambda: zarr.zeros(1, zarr_format=3).config.read_missing_chunks),
    "lossy_writes": ("reencode", lambda: _outcome(_part_of_a_picture)),
    "allow_pickle": (True, lambda: options_of(zarr.zeros(1)).allow_pickle),
    "max_chunk_bytes": (10, lambda: _outcome(lambda: zarr.zeros(100, chunks=100))),
    "max_variable_chunk_bytes": (2, lambda: _outcome(lambda: zarr.open(TEXT)[:])),
    "max_document_bytes": (2, lambda: _outcome(lambda: zarr.open(GROUP))),
    "max_download_bytes": (2, lambda: _outcome(_download)),
}


def test_every_setting_that_is_accepted_has_an_effect_or_says_so():
    assert EFFECTS.keys() == _config._VARIABLES.keys()
    for name, (value, observed) in EFFECTS.items():
        before = observed()
        with config(**{name: value}):
            assert observed() != before, name
        assert observed() == before, name
    for theirs, ours in zarr_settings.OUR_NAMES.items():
        value = EFFECTS[ours][0]
        with config.set({theirs: value}):
            assert getattr(config, ours) == value
    for name, (fixed, instead) in zarr_settings.FIXED.items():
        before = config.to_dict()
        with pytest.raises(ValueError, match=f"{name}.*{instead[:10]}"):
            config.set({name: "another"})
        assert config.to_dict() == before
        with config.set({name: fixed}):
            assert config.get(name) == fixed
    parts = [f"{one}x" if one[-1] in "._" else one for one in zarr_settings.OF_PARTS]
    for name in [*zarr_settings.WITHOUT_EFFECT, *parts]:
        with pytest.warns(UserWarning, match=f"{name}.*has no effect"):
            config.set({name: "another"}).__exit__(None, None, None)


def test_the_order_of_zarr_python_is_that_of_new_and_opened_arrays():
    values = np.arange(12).reshape(3, 4)
    store = {}
    zarr.create_array(store, name="c", data=values, zarr_format=3)
    with config.set({"array.order": "F"}):
        opened = zarr.open_array(store, path="c")
        new_2 = zarr.create_array({}, shape=(3, 4), dtype="i8", zarr_format=2)
        old_2 = zarr.zeros((3, 4), zarr_format=2)
        c_order = zarr.create_array({}, shape=(3, 4), dtype="i8", zarr_format=2, order="C")
    assert opened[:].flags["F_CONTIGUOUS"]
    np.testing.assert_array_equal(opened[:], values)
    assert (new_2.order, old_2.order, c_order.order) == ("F", "F", "C")
    assert zarr.open_array(store, path="c")[:].flags["C_CONTIGUOUS"]
    assert config.get("array.order") == "C"


def test_an_order_that_is_neither_c_nor_f_is_refused():
    with pytest.raises(ValueError, match=r"array\.order.*'C' or 'F'"):
        config.set({"array.order": "K"})
    assert config.get("array.order") == "C"


def test_the_size_of_automatic_shards_is_that_of_zarr_python():
    # As anndata: around the creation of each array.
    def shards(**arguments):
        shape, chunks = (4000, 4000), (100, 100)
        made = zarr.create_array({}, shape=shape, chunks=chunks, dtype="f4", **arguments)
        return made.shards

    before = shards(shards="auto")
    with config.set({"array.target_shard_size_bytes": 1 << 20}):
        assert shards(shards="auto") == (400, 400)
        assert shards(shards=(200, 200)) == (200, 200)
        assert shards(shards=None) is None
        assert config.get("array.target_shard_size_bytes") == 1 << 20
    assert shards(shards="auto") == before == shards(shards="64 MiB")
    with pytest.raises(ValueError, match=r"array\.target_shard_size_bytes=-1"):
        config.set({"array.target_shard_size_bytes": -1})


def test_info_complete_counts_all_members():
    for zarr_format in (2, 3):
        root = zarr.group(zarr_format=zarr_format)
        root["a"] = [1]
        root["g/h/b"] = [1]
        for group, counts in ((root, (4, 2, 2)), (root["g"], (2, 1, 1))):
            rows = dict(group.info_complete().items)
            assert tuple(rows[f"No. {one}"] for one in ("members", "arrays", "groups")) == counts
        assert dict(root.info.items)["No. members"] == 2


@pytest.mark.parametrize(
    "name",
    ["array.v2_default_filters.string", "array.v3_default_compressors", "array.v3_default_x.y"],
)
def test_codecs_of_new_arrays_are_not_a_setting_as_in_zarr_python(name):
    with pytest.raises(ValueError, match=f"{name}.*where the array is created"):
        config.set({name: "another"})
    with pytest.raises(KeyError, match=name):
        config.get(name)
