"""Which public names of zarr-python are not here, by patterns of their whole names, and why."""

_ASYNC_STORES = "stores are mappings of keys to bytes, which have the awaited methods beside them"
_CODEC_CLASSES = "codecs of one's own are numcodecs classes; the engine has no chain in Python"
_AROUND = "a mapping of one's own around a store, with a cache say, is taken as a store"
_BUFFERS = "reads fill NumPy arrays or any writable buffer given as out="
_INTERNAL = "a part of how zarr-python works inside, which no array or group is needed for"
_MADE_BY_US = "objects are opened or created; none is made from parts"
_DOCUMENTS = "types of JSON documents, for checkers of types only"

ABSENT: dict[str, dict[str, str]] = {
    "2.18.7": {
        "zarr.N5*Store": "blocks of N5 are read as v3 by the codec n5_default",
        "zarr.storage.BaseStore": "the base of stores is zarr.storage.Store",
        "zarr.storage.ConsolidatedMetadataStore": "open_consolidated gives the group",
        "zarr.storage.migrate_1to2": "format 1 is not read",
        "zarr.storage.ZipStore.keylist": "list(store) is the same",
        "zarr.errors.err_too_many_indices": "ArrayIndexError is raised where it is met",
        "zarr.indexing.*": "selections are resolved in the engine",
        "zarr.meta.Metadata3": "of the draft of v3",
        "zarr.meta.get_extended_dtype_info": "of the draft of v3",
        "zarr.util.*": _INTERNAL,
    },
    "3.4.2": {
        "zarr.AsyncGroup.from_dict": _MADE_BY_US,
        "zarr.abc.buffer.*": _BUFFERS,
        "zarr.buffer.*": _BUFFERS,
        "zarr.abc.codec.*": _CODEC_CLASSES,
        "zarr.abc.metadata.*": _INTERNAL,
        "zarr.abc.numcodec.*": _CODEC_CLASSES,
        "zarr.abc.store.*": "the base class and the requests are there, the rest is types",
        "zarr.codecs.SubchunkWriteOrder": "inner chunks are stored in C order",
        "zarr.config:*": "set() remembers it, and it has no effect",
        "zarr.core.config.*": "zarr.config is the one object",
        "zarr.core.group.AsyncGroup": "zarr.AsyncGroup",
        "zarr.core.group.*": _INTERNAL,
        "zarr.core.metadata.*": "ArrayMetadata describes arrays of both formats",
        "zarr.dtype.*JSON_V?": _DOCUMENTS,
        "zarr.dtype.DTypeSpec_V2": _DOCUMENTS,
        "zarr.dtype.check_dtype_spec*": _INTERNAL,
        "zarr.dtype.data_type_registry": "data types are those that are registered for v3",
        "zarr.types.*": _DOCUMENTS,
        "zarr.experimental.cache_store.*": _AROUND,
        "zarr.metadata.migrate_v3.*": "zarr.migrate, which goes both ways and removes what is old",
        "zarr.registry.*": "codecs are all that is registered, in numcodecs",
        "zarr.storage.GpuMemoryStore": _BUFFERS,
        "zarr.storage.ManagedMemoryStore": "MemoryStore",
        "zarr.storage.*Store.*": _ASYNC_STORES,
        "zarr.storage.StorePath.*": _ASYNC_STORES,
    },
}

OTHER_PARAMETERS: dict[str, str] = {
    "zarr.Array": _MADE_BY_US,
    "zarr.Group": _MADE_BY_US,
    "zarr.AsyncArray": _MADE_BY_US,
    "zarr.AsyncGroup": _MADE_BY_US,
    "zarr.Group.get": "2.18 calls what is looked for item",
    "zarr.core.group.ConsolidatedMetadata.from_dict": "it is the root's",
    "zarr.storage.*.get": _ASYNC_STORES,
    "zarr.storage.MemoryStore.set": "a part of a value is written by update_value",
    "zarr.storage.*.getsize": "2.18 gives the size of all that is below a path",
}
"""Functions that lack a parameter of zarr-python's, of the same patterns."""

MODULES: dict[str, str] = {
    "zarr.n5": "blocks of N5 are read as v3 by the codec n5_default; no N5Store",
    "zarr.abc.buffer": _BUFFERS,
    "zarr.abc.metadata": _INTERNAL,
    "zarr.abc.numcodec": _CODEC_CLASSES,
    "zarr.buffer": _BUFFERS,
    "zarr.core.buffer": f"{_BUFFERS}; zarrix.as_zarr has it",
    "zarr.core.chunk_grids": "chunks= takes a shape or lists; metadata.chunk_grid shows it",
    "zarr.core.dtype": "zarr.dtype",
    "zarr.core.indexing": "selections are resolved in the engine",
    "zarr.core.metadata.v3": "zarr.core.metadata",
    "zarr.core.sync": "nothing is awaited inside; zarrix.as_zarr has it",
    "zarr.experimental": _AROUND,
    "zarr.metadata": "zarr.migrate, which goes both ways and removes what is old",
    "zarr._storage": "zarr.storage.Store is the base of stores",
}
"""Modules of either version that are not here, and why."""


ATTRIBUTES: dict[str, str] = {
    "zarr.config.enable_gpu": _BUFFERS,
    "zarr.config.pprint": "print(zarr.config)",
    "zarr.config.defaults": "zarr.config.reset() puts them back",
}
"""Attributes of objects, which the records of names do not have."""


def lines() -> list[str]:
    """The rows of the table "What is absent" of docs/migration.md."""
    rows = [(f"module `{name}`", reason) for name, reason in MODULES.items()]
    for version in ABSENT.values():
        rows += [(f"`{name}`", reason) for name, reason in version.items()]
    rows += [(f"`{name}`", reason) for name, reason in ATTRIBUTES.items()]
    return [f"| {name.replace('|', '')} | {reason} |" for name, reason in dict(rows).items()]
