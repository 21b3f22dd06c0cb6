"""The public names, where they are found, and what importing the package costs."""

import importlib
import inspect
import os
import subprocess
import sys

import pytest
import zarrix as zarr


def words(text: str) -> list[str]:
    return text.split()


V2_TOP_LEVEL = words(
    """
    Array Group array copy copy_all copy_store create empty empty_like full full_like group load
    ones ones_like open open_array open_group open_like save save_array save_group tree zeros
    zeros_like CopyError DictStore DirectoryStore KVStore MemoryStore MetadataError
    NestedDirectoryStore ProcessSynchronizer TempStore ThreadSynchronizer ZipStore codec_registry
    get_codec register_codec Adler32 AsType BZ2 Base64 BitRound Blosc CRC32 Categorize Delta
    FixedScaleOffset Fletcher32 GZip JSON JenkinsLookup3 LZ4 LZMA PackBits Pickle Quantize
    Shuffle VLenArray VLenBytes VLenUTF8 Zlib Zstd attrs blosc codecs convenience core creation
    errors hierarchy indexing meta storage sync util __version__
    """
)

V3_TOP_LEVEL = words(
    """
    abc api codecs config consolidate_metadata create_array create_group create_hierarchy dtype
    from_array migrate open_consolidated registry
    """
)

V3_MODULES = {
    "codecs": words(
        """
        BloscCname BloscCodec BloscShuffle BytesCodec CastValue Crc32cCodec Endian GzipCodec
        ScaleOffset ShardingCodec ShardingCodecIndexLocation TransposeCodec VLenBytesCodec
        VLenUTF8Codec ZstdCodec
        """
    ),
    "codecs.numcodecs": words(
        """
        Adler32 AsType BZ2 BitRound Blosc CRC32 CRC32C Delta FixedScaleOffset Fletcher32 GZip
        JenkinsLookup3 LZ4 LZMA PCodec PackBits Quantize Shuffle ZFPY Zlib Zstd
        """
    ),
    "dtype": ["Bool", "DateTime64", "Float32", "Int8", "Struct", "ZDType", "parse_dtype"],
    "storage": ["LocalStore", "MemoryStore", "StorePath", "ZipStore"],
    "errors": ["BaseZarrError", "MetadataValidationError", "NodeNotFoundError", "ZarrUserWarning"],
    "registry": ["get_codec_class", "register_codec"],
    "abc.store": ["Store"],
    "abc.codec": ["Codec"],
    "api.synchronous": ["create_array", "open", "open_group", "zeros_like"],
    "core.group": ["ConsolidatedMetadata", "GroupMetadata"],
    "core.metadata": ["ArrayV2Metadata", "ArrayV3Metadata"],
}

V2_MODULES = {
    "core": ["Array"],
    "creation": ["array", "create", "empty", "full_like", "open_array", "open_like", "zeros"],
    "convenience": ["copy", "copy_all", "copy_store", "load", "open", "save", "save_group", "tree"],
    "hierarchy": ["Group", "group", "open_group"],
    "attrs": ["Attributes"],
    "storage": ["DirectoryStore", "contains_array", "init_array", "rmdir", "default_compressor"],
    "sync": ["ProcessSynchronizer", "ThreadSynchronizer"],
    "errors": ["ArrayNotFoundError", "ContainsGroupError", "ReadOnlyError"],
    "codecs": ["Blosc", "Delta", "Zstd"],
    "util": ["guess_chunks", "normalize_storage_path"],
}

ARRAY_MEMBERS = words(
    """
    compressors config info_complete metadata read_chunk_sizes serializer shards store_path
    update_attributes with_config write_chunk_sizes zarr_format
    append astype attrs basename cdata_shape chunk_store chunks compressor digest dtype
    fill_value filters get_basic_selection hexdigest info info_items initialized is_view islice
    itemsize meta_array name nbytes nbytes_stored nchunks nchunks_initialized ndim order path
    read_only resize set_basic_selection shape size store synchronizer view write_empty_chunks
    """
)

GROUP_MEMBERS = words(
    """
    array_values create_array create_hierarchy from_store get_array get_group group_values
    info_complete members metadata nmembers open require_array store_path update_attributes
    array array_keys arrays attrs basename chunk_store clear create create_dataset create_group
    create_groups empty empty_like full full_like get group_keys groups info info_items items
    keys meta_array move name ones ones_like path pop popitem read_only require_dataset
    require_group require_groups setdefault store synchronizer tree update values visit
    visititems visitkeys visitvalues zeros zeros_like
    """
)


@pytest.mark.parametrize("name", V3_TOP_LEVEL)
def test_a_name_of_zarr_3_is_at_the_top_level(name: str) -> None:
    assert getattr(zarr, name) is not None


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module, names in V3_MODULES.items() for name in names]
)
def test_a_name_of_zarr_3_is_in_its_module(module: str, name: str) -> None:
    assert getattr(importlib.import_module(f"zarrix.{module}"), name) is not None


@pytest.mark.parametrize("name", V2_TOP_LEVEL)
def test_a_name_of_zarr_2_is_at_the_top_level(name: str) -> None:
    assert getattr(zarr, name) is not None


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module, names in V2_MODULES.items() for name in names]
)
def test_a_name_of_zarr_2_is_in_its_module(module: str, name: str) -> None:
    assert hasattr(importlib.import_module(f"zarrix.{module}"), name)


@pytest.mark.parametrize("name", ARRAY_MEMBERS)
def test_arrays_have_the_members_of_zarr_2(name: str) -> None:
    assert inspect.getattr_static(zarr.Array, name).__doc__


@pytest.mark.parametrize("name", GROUP_MEMBERS)
def test_groups_have_the_members_of_zarr_2(name: str) -> None:
    assert inspect.getattr_static(zarr.Group, name) is not None


def test_every_exported_name_exists_and_says_that_it_is_public() -> None:
    assert len(set(zarr.__all__)) == len(zarr.__all__)
    for name in zarr.__all__:
        module = getattr(getattr(zarr, name), "__module__", "zarrix")
        is_private = module.rpartition(".")[2].startswith("_")
        assert not is_private or name in ("CancelToken", "config"), (name, module)


def test_dir_shows_one_way_for_each_act() -> None:
    shown = [name for name in dir(zarr) if not name.startswith("__")]
    assert len(shown) <= 80
    assert {"read_many", "verify", "diff", "import_", "export", "advise", "compare"} <= set(shown)
    assert {"Blosc", "KVStore", "convenience", "set_format", "Migration"}.isdisjoint(shown)
    assert all(getattr(zarr, name) is not None for name in shown)


def test_a_star_imports_what_zarr_2_has_there() -> None:
    found: dict[str, object] = {}
    exec("from zarrix import *", found)
    modules = {"attrs", "codecs", "convenience", "core", "creation", "errors", "hierarchy"}
    modules |= {"indexing", "meta", "storage", "sync", "util"}
    assert set(V2_TOP_LEVEL) - modules - found.keys() == set()


def test_classes_print_where_zarr_2_has_them() -> None:
    assert str(zarr.Array) == "<class 'zarrix.core.Array'>"
    assert str(zarr.Group) == "<class 'zarrix.hierarchy.Group'>"
    assert str(type(zarr.zeros(3).attrs)) == "<class 'zarrix.attrs.Attributes'>"
    assert zarr.open.__module__ == "zarrix.convenience"
    assert zarr.zeros.__module__ == "zarrix.creation"


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'Blosk'"):
        zarr.Blosk  # noqa: B018


def modules_of(program: str) -> set[str]:
    """What a Python that ran the program has imported."""
    program += "\nimport sys\nprint(*sys.modules)"
    # Variables of the tests, such as ZARRIX_SERVERS, would be named in a warning with a suggestion.
    environment = {name: v for name, v in os.environ.items() if not name.startswith("ZARRIX_")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    return set(done.stdout.split())


def test_importing_the_package_imports_nothing_else() -> None:
    names = modules_of("import zarrix")
    assert "numpy" not in names
    assert {name for name in names if name.startswith("zarrix")} == {
        *(
            "zarrix",
            "zarrix._runtime",
            "zarrix._runtime.config",
            "zarrix._runtime.former_modules",
            "zarrix._engine",
            "zarrix._errors",
            "zarrix._runtime.memory",
            "zarrix._runtime.setting_values",
            "zarrix._runtime.zarr_settings",
        )
    }


def test_reading_and_writing_import_only_what_they_need() -> None:
    names = modules_of(
        "import tempfile, zarrix as zarr, numpy as np\n"
        "path = tempfile.mkdtemp()\n"
        "zarr.save(path + '/x.zarr', np.arange(10))\n"
        "assert zarr.load(path + '/x.zarr')[3] == 3\n"
    )
    assert "zarrix.core" not in names
    for name in (
        "numcodecs",
        "asyncio",
        "difflib",
        "zarrix._codecs.classes",
        "zarrix.operate._migrate",
    ):
        assert name not in names
