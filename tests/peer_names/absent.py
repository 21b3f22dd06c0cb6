"""Which public names of zarr-python are not here, and why: the one list.

A pattern is a whole name, or has wildcards: all names that it matches are absent. Members of a
class or module that is absent are not listed again.
"""

_CODEC_CLASSES = "codecs of one's own are numcodecs classes; the engine has no chain in Python"
_CHAINS = "a codec describes; the engine encodes and decodes, and whole chunks"
_BUFFERS = "reads fill NumPy arrays or any writable buffer given as out="
_GPU = "results are in the memory of the CPU"
_INTERNAL = "a part of how zarr-python works inside, which no array or group is needed for"
_MADE_BY_US = "objects are opened or created; none is made from parts"
_CONFIG = "settings of zarr-python's parts, which do not exist here"
_DRAFT = "of the draft of v3"
_N5 = "blocks of N5 are read as v3 by the codec n5_default"
_RESIZED = "arrays are resized, and attributes set, by their own methods"

ABSENT: dict[str, dict[str, str]] = {
    "2.18.7": {
        "zarr.N5*Store": _N5,
        "zarr.n5.*": _N5,
        "zarr.*ABSStore.account_* zarr.*ABSStore.container": "URLs az:// are opened by the engine",
        "zarr.*Store.keylist": "list(store) is the same",
        "zarr.storage.BaseStore": "the base of stores is zarr.storage.Store",
        "zarr.storage.ConsolidatedMetadataStore": "open_consolidated gives the group",
        "zarr.storage.migrate_1to2 zarr.meta_v1.*": "format 1 is not read",
        "zarr.errors.err_too_many_indices": "ArrayIndexError is raised where it is met",
        "zarr.indexing.*Indexer zarr.indexing.*Projection": "selections are resolved in the engine",
        "zarr.indexing.Order zarr.indexing.PartialChunkIterator zarr.indexing.bounds*": _INTERNAL,
        "zarr.indexing.check_no_multi_fields zarr.indexing.check_selection_length": _INTERNAL,
        "zarr.indexing.ensure_tuple zarr.indexing.is_basic_selection": _INTERNAL,
        "zarr.indexing.is_bool_array zarr.indexing.is_cont* zarr.indexing.is_coord*": _INTERNAL,
        "zarr.indexing.is_integer_* zarr.indexing.is_mask* zarr.indexing.is_p*": _INTERNAL,
        "zarr.indexing.ix_ zarr.indexing.make_* zarr.indexing.normalize_*": _INTERNAL,
        "zarr.indexing.oindex* zarr.indexing.replace_lists zarr.indexing.slice_*": _INTERNAL,
        "zarr.indexing.wraparound_*": _INTERNAL,
        "zarr.meta.Metadata3 zarr.meta.get_extended_dtype_info": _DRAFT,
        "zarr.types.MetaArray": _BUFFERS,
        "zarr.util.ConstantMap zarr.util.NoLock zarr.util.NumberEncoder": _INTERNAL,
        "zarr.util.*PartialReadBuffer* zarr.util.TreeNode zarr.util.TreeTraversal": _INTERNAL,
        "zarr.util.tree_*": _INTERNAL,
        "zarr.util.all_equal zarr.util.check_array_shape zarr.util.ensure_*": _INTERNAL,
        "zarr.util.flatten zarr.util.info_* zarr.util.is_valid_* zarr.util.retry_call": _INTERNAL,
        "zarr.version.__version__ zarr.version.version_tuple": "zarr.__version__",
    },
    "3.4.2": {
        "zarr.AsyncGroup.from_dict zarr.core.group.AsyncGroup.from_dict": _MADE_BY_US,
        "zarr.abc.codec.CodecPipeline zarr.core.BatchedCodecPipeline.*code": _CHAINS,
        "zarr.core.BatchedCodecPipeline.compute_* zarr.core.BatchedCodecPipeline.evolve_*": _CHAINS,
        "zarr.core.BatchedCodecPipeline.from_array_*": _CHAINS,
        "zarr.core.BatchedCodecPipeline.*_batch": _CHAINS,
        "zarr.core.BatchedCodecPipeline.read zarr.core.BatchedCodecPipeline.write": _CHAINS,
        "zarr.core.BatchedCodecPipeline.validate": _CHAINS,
        "zarr.core.BatchedCodecPipeline.supports_*": _CHAINS,
        "zarr.*.ShardingCodec.*_partial zarr.*.ShardingCodec.codec_pipeline": _CHAINS,
        "zarr.abc.codec.*.*code_partial": _CHAINS,
        "zarr.codecs.numcodecs.*.codec_name": _CHAINS,
        "zarr.*.NDBuffer.byteorder": _BUFFERS,
        "zarr.buffer.gpu zarr.storage.GpuMemoryStore zarr.core.config.Config.enable_gpu": _GPU,
        "zarr.*.BloscShuffle.from_int": "BloscShuffle(name)",
        "zarr.config:codecs.* zarr.config:codec_pipeline.max_workers": _CONFIG,
        "zarr.config:array.target_shard_size_bytes": "None, as in zarr-python",
        "zarr.core.group.ImplicitGroupMarker": _INTERNAL,
        "zarr.core.metadata.*.get_chunk_spec": _RESIZED,
        "zarr.core.metadata.*.sharding_codec": (
            "metadata.codecs has the codec, and codec.codecs the inner ones"
        ),
        "zarr.dtype.*.code_point_bytes zarr.dtype.*.has_multi_byte_fields": "NumPy's dtype says it",
        "zarr.experimental.Chunk*": "parts of zarr-python that are not stable",
        "zarr.registry.Registry zarr.registry.register_*buffer": _BUFFERS,
        "zarr.registry.register_pipeline zarr.registry.register_chunk_key_encoding": _CODEC_CLASSES,
        "zarr.storage.LoggingStore.log": _INTERNAL,
    },
}
"""By version; names of 3.4.2 are absent from `zarrix` and from `zarrix.as_zarr`."""

_PARTS = "for programs that write stores and codecs for zarr-python"
_TYPES = "for annotations"
_MODULES = "zarr.codecs has all codecs"

ONLY_AS_ZARR: dict[str, str] = {
    "zarr.abc.buffer.* zarr.buffer.cpu* zarr.buffer.default_buffer_prototype": _PARTS,
    "zarr.abc.codec.BaseCodec zarr.abc.codec.*Mixin zarr.abc.codec.SupportsSyncCodec": _PARTS,
    "zarr.abc.codec.CodecInput zarr.abc.codec.CodecOutput zarr.abc.codec.GetResult": _TYPES,
    "zarr.abc.metadata.* zarr.abc.numcodec.*": _PARTS,
    "zarr.abc.store.*Getter zarr.abc.store.*Setter zarr.abc.store.Supports*": _PARTS,
    "zarr.abc.store.set_or_delete": _PARTS,
    "zarr.codecs.SubchunkWriteOrder": _TYPES,
    "zarr.codecs.blosc.* zarr.codecs.bytes.* zarr.codecs.cast_value.*": _MODULES,
    "zarr.codecs.crc32c_.* zarr.codecs.gzip.* zarr.codecs.scale_offset.*": _MODULES,
    "zarr.codecs.sharding.* zarr.codecs.transpose.* zarr.codecs.vlen_utf8.*": _MODULES,
    "zarr.codecs.zstd.*": _MODULES,
    "zarr.core.BatchedCodecPipeline zarr.core.Buffer zarr.core.NDBuffer": _PARTS,
    "zarr.core.config.BadConfigError zarr.core.config.Config zarr.core.config.parse_*": _PARTS,
    "zarr.core.group.AsyncGroup zarr.core.group.create_* zarr.core.group.get_node": (
        "zarr.api.asynchronous"
    ),
    "zarr.core.group.parse_*": _INTERNAL,
    "zarr.core.metadata.*.shards zarr.core.metadata.ArrayV3Metadata.chunks": (
        "array.chunks and array.shards; metadata.chunk_grid is the grid that is stored"
    ),
    "zarr.core.metadata.ArrayV3Metadata.inner_codecs": "the codecs of a sharding codec",
    "zarr.core.metadata.*Dict zarr.core.metadata.*JSON_V3": _TYPES,
    "zarr.dtype.*JSON_V? zarr.dtype.DTypeSpec_V2": _TYPES,
    "zarr.dtype.check_dtype_spec*": _INTERNAL,
    "zarr.dtype.data_type_registry": "zarr.dtype.parse_dtype",
    "zarr.experimental.*": "zarr.storage.CacheStore",
    "zarr.metadata.migrate_v3.*": "zarrix.migrate, which also compares what both formats read",
    "zarr.registry.get_buffer_class zarr.registry.get_chunk_key_encoding_class": _PARTS,
    "zarr.registry.get_ndbuffer_class zarr.registry.get_pipeline_class": _PARTS,
    "zarr.types.DType*": _TYPES,
}
"""Names of 3.4.2 that are there after ``import zarrix.as_zarr``, and that ``zarrix`` lacks."""

OTHER_PARAMETERS: dict[str, str] = {
    "zarr.Array zarr.Group zarr.AsyncArray": _MADE_BY_US,
    "zarr.core.group.Group zarr.core.group.GroupMetadata": _MADE_BY_US,
    "zarr.core.config.Config": _MADE_BY_US,
    "zarr.*Group.get": "2.18 calls what is looked for item",
    "zarr.core.*Metadata.from_dict": "a document is that of the root",
    "zarr.codecs.*Codec.compute_encoded_size": "by place: the parameters have other names",
    "zarr.codecs.ScaleOffset.compute_encoded_size": "by place: the parameters have other names",
    "zarr.codecs.*.ScaleOffset.compute_encoded_size": "by place: the parameters have other names",
    "zarr.storage.*Store.set": "a part of a value is written by update_value",
    "zarr.*.getsize": "2.18 gives the size of all that is below a path",
    "zarr.indexing.* zarr.util.*": "by place: the parameters have other names",
    "zarr.meta.*": "by place: the parameters have other names",
    "zarr.storage.atexit_* zarr.storage.normalize_store_arg": _INTERNAL,
}
"""Functions that lack a parameter of zarr-python's, of the same patterns."""

ATTRIBUTES: dict[str, str] = {
    "zarr.config.enable_gpu": _GPU,
    "zarr.config.pprint": "print(zarr.config)",
    "zarr.config.defaults": "zarr.config.reset() puts them back",
}
"""Attributes of objects, which the records of names do not have."""


def patterns(table: dict[str, str]) -> list[str]:
    """The patterns of a table, whose keys may have several."""
    return [pattern for key in table for pattern in key.split()]


def lines() -> list[str]:
    """The rows of the table "What is absent" of docs/migration.md."""
    rows = [row for version in ABSENT.values() for row in version.items()]
    rows += ATTRIBUTES.items()
    rows += [(key, f"with `zarrix.as_zarr`: {reason}") for key, reason in ONLY_AS_ZARR.items()]
    return [f"| {', '.join(f'`{one}`' for one in key.split())} | {why} |" for key, why in rows]
