"""Migration of a hierarchy between the formats: new metadata documents, the same chunks.

Nothing is touched before every array is known to be expressible in the other format, and before a
stored chunk of each has been read equal by both descriptions. Then the new documents are written
beside the old ones, where nobody looks for them as long as the root is what it was; one document of
the root decides. Only then are the old documents removed. Killed at any point, the hierarchy is
whole in one of the formats, and the same call completes or repeats the migration.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from zarrix import _nodes
from zarrix._chain import split_chain, stored_order
from zarrix._chain_documents import numcodecs_config
from zarrix._codecs import codec_config
from zarrix._consolidate import consolidate
from zarrix._data_types import data_type_of, encode_fill, same_bytes
from zarrix._dtypes import encode_dtype, encode_fill_value
from zarrix._errors import GroupNotFoundError, MetadataError, ZarrixError
from zarrix._metadata import ArrayMetadata, GroupMetadata, v2, v3
from zarrix._stores import Store, as_store
from zarrix.util import json_dumps, json_loads, normalize_storage_path

__all__ = ["Migration", "migrate"]

_DIMENSIONS = "_ARRAY_DIMENSIONS"
_NAMES = {2: (".zgroup", ".zarray", ".zattrs"), 3: ("zarr.json",)}


@dataclass(frozen=True)
class Migration:
    """What a migration does, or would do.

    Attributes
    ----------
    to : 2 or 3
    arrays, groups : tuple of str
        Paths of the nodes that get new documents.
    obstacles : mapping of str to str
        By path, why an array cannot be described in the other format; while there are any, nothing
        is migrated.
    done : bool
        Whether it was carried out.
    """

    to: int
    arrays: tuple[str, ...]
    groups: tuple[str, ...]
    obstacles: Mapping[str, str]
    done: bool

    def __str__(self) -> str:
        verb = "migrated" if self.done else "would migrate"
        lines = [
            f"{verb} {len(self.arrays)} arrays and {len(self.groups)} groups to format {self.to}"
        ]
        lines += [f"  array /{path}" for path in self.arrays]
        lines += [f"  group /{path}" for path in self.groups]
        lines += [f"  cannot: /{path}: {reason}" for path, reason in self.obstacles.items()]
        return "\n".join(lines)


def migrate(
    store: Any, to: Literal[2, 3] = 3, *, path: str | None = None, dry_run: bool = False
) -> Migration:
    """Change the format of a hierarchy; chunks stay as they are.

    It happens as a whole or not at all. Nobody may change metadata meanwhile; who reads or writes
    chunks is not disturbed.

    Parameters
    ----------
    store : Store, mapping, str or Path
    to : {3, 2}
    path : str, optional
        Of an array or group that is not inside a group; the root when omitted. One that has the
        format already is left as it is, but for what a killed migration left behind.
    dry_run : bool
        Change nothing, and say what would change and what stands in the way.

    Returns
    -------
    Migration

    Raises
    ------
    MetadataError
        An array cannot be described in the other format; all such arrays are named.
    GroupNotFoundError
        Nothing is there.

    Examples
    --------
    >>> import zarrix as zarr
    >>> store = zarr.MemoryStore()
    >>> zarr.group(store).create_dataset("a", data=[1, 2, 3]).attrs["unit"] = "mm"
    >>> print(zarr.migrate(store, to=3))
    migrated 1 arrays and 1 groups to format 3
      array /a
      group /
    >>> zarr.open(store)["a"].zarr_format, zarr.open(store)["a"][:]
    (3, array([1, 2, 3]))
    """
    if to not in (2, 3):
        raise ValueError(f"to is 2 or 3, not {to!r}")
    opened = as_store(store)
    root = normalize_storage_path(path)
    current = _nodes.find(opened, root)
    if current is None:
        raise GroupNotFoundError(f"nothing to migrate at {_nodes.describe(opened, root)}")
    if _nodes.has_group(opened, root.rpartition("/")[0]) and root:
        raise ValueError(f"{root!r} is inside a group; a hierarchy is migrated as a whole")
    if current.zarr_format == to:
        if not dry_run:
            _clean(opened, root, to)
        return Migration(to, (), (), {}, done=not dry_run)
    found = dict(_walk(opened, root, 5 - to))
    plan = {node: _plan(opened, node, metadata, to) for node, metadata in found.items()}
    obstacles = {node: one for node, one in plan.items() if isinstance(one, str)}
    kinds = {node: isinstance(one, ArrayMetadata) for node, one in found.items()}
    report = Migration(
        to,
        tuple(node for node, is_array in kinds.items() if is_array),
        tuple(node for node, is_array in kinds.items() if not is_array),
        obstacles,
        done=False,
    )
    if dry_run:
        return report
    if obstacles:
        raise MetadataError(f"nothing was migrated: {report}")
    documents = {node: one for node, one in plan.items() if isinstance(one, dict)}
    _carry_out(opened, root, documents, to, found)
    return replace(report, done=True)


def _walk(
    store: Store, path: str, zarr_format: int
) -> Iterator[tuple[str, ArrayMetadata | GroupMetadata]]:
    """The nodes at and below ``path``, parents first, with their attributes."""
    node = _nodes.find(store, path, zarr_format)
    if node is None:
        return
    yield path, _read(store, path, node.kind, zarr_format)
    if node.kind == "group":
        for name in store.child_names(path):
            yield from _walk(store, _nodes.key_of(path, name), zarr_format)


def _read(store: Store, path: str, kind: str, zarr_format: int) -> ArrayMetadata | GroupMetadata:
    if zarr_format == 3:
        key = _nodes.key_of(path, "zarr.json")
        parse = v3.parse_array if kind == "array" else v3.parse_group
        return parse(store[key], _nodes.place(store, key))
    attributes = v2.parse_attributes(store.get(_nodes.key_of(path, ".zattrs"), b"{}"))
    key = _nodes.key_of(path, f".z{kind}")
    where = _nodes.place(store, key)
    if kind == "group":
        return replace(v2.parse_group(store[key], where), attributes=attributes)
    separator = store._dimension_separator
    array = v2.parse_array(store[key], where, default_separator=separator)
    return replace(array, zattrs=attributes)


# One node


def _plan(
    store: Store, path: str, metadata: ArrayMetadata | GroupMetadata, to: int
) -> dict[str, bytes] | str:
    """The new documents of a node by name, or why there are none."""
    if isinstance(metadata, GroupMetadata):
        known = {"attributes", "zarr_format", "node_type", "consolidated_metadata"}
        unknown = sorted(set(metadata.extra) - known)
        if unknown:
            return f"its document has the key {unknown[0]!r}, which format {to} does not"
        if to == 3:
            return {"zarr.json": v3.group_document(v3.new_group(metadata.attributes))}
        return {".zgroup": v2.group_document(), **_zattrs(metadata.attributes)}
    try:
        documents = _to_3(metadata) if to == 3 else _to_2(metadata)
        new = _parsed(documents, to)
        fill = metadata.fill_value
        if fill is not None and not _same_fill(fill, new.fill_value, metadata.dtype):
            return f"format {to} cannot spell its fill value, {fill!r}, to the bit"
        _check_equal(store, path, metadata, new)
    except (ZarrixError, ValueError, TypeError) as error:
        return str(error)
    return documents


def _same_fill(old: Any, new: Any, dtype: np.dtype[Any]) -> bool:
    native = dtype.newbyteorder("=")
    return new is not None and same_bytes(np.array(old, dtype).astype(native), new, native)


def _parsed(documents: Mapping[str, bytes], to: int) -> ArrayMetadata:
    if to == 3:
        return v3.parse_array(documents["zarr.json"], "the new zarr.json")
    return v2.parse_array(documents[".zarray"], "the new .zarray")


def _zattrs(attributes: Mapping[str, Any]) -> dict[str, bytes]:
    return {".zattrs": v2.attributes_document(attributes)} if attributes else {}


def _to_3(array: ArrayMetadata) -> dict[str, bytes]:
    unknown = sorted(array.extra)
    if unknown:
        raise MetadataError(f"its document has the key {unknown[0]!r}, which format 3 does not")
    attributes = array.attributes
    names = attributes.get(_DIMENSIONS)
    named = isinstance(names, list) and len(names) == len(array.shape)
    dtype, chain = array.dtype, []
    if array.order == "F" and len(array.shape) > 1:
        axes = list(reversed(range(len(array.shape))))
        chain.append({"name": "transpose", "configuration": {"order": axes}})
    for config in array.filters or ():
        codec, dtype = _filter_of_3(config, dtype)
        chain.append(codec)
    if array.compressor is not None:
        chain.append(_packer_of_3(array.compressor, array.dtype if not array.filters else dtype))
    arrays, middle, binary = split_chain(chain)
    if middle or chain != [*arrays, *binary]:
        raise MetadataError("a filter on elements follows one on bytes, which format 3 forbids")
    native = array.dtype.newbyteorder("=")
    fill: Any = np.zeros((), array.dtype)
    if array.fill_value is not None:
        fill = np.array(array.fill_value, array.dtype)
    document: dict[str, Any] = {
        "shape": list(array.shape),
        "data_type": data_type_of(native),
        "chunk_grid": {
            "name": "regular",
            "configuration": {"chunk_shape": [max(n, 1) for n in array.chunk_shape]},
        },
        "chunk_key_encoding": {
            "name": "v2",
            "configuration": {"separator": array.dimension_separator},
        },
        "fill_value": encode_fill(fill.astype(native)[()], native),
        "codecs": [*arrays, _bytes_codec(dtype), *binary],
        "attributes": attributes,
    }
    if named:
        # What xarray keeps in an attribute in format 2, the document has a place for.
        del attributes[_DIMENSIONS]
        document["dimension_names"] = names
    document.update(zarr_format=3, node_type="array", storage_transformers=[])
    return {"zarr.json": json_dumps(document, indent=2, sort_keys=False)}


def _bytes_codec(dtype: np.dtype[Any]) -> dict[str, Any]:
    orders = set(_orders(dtype))
    if len(orders) > 1:
        raise MetadataError(f"dtype {dtype} has fields in both byte orders")
    if not orders:
        return {"name": "bytes"}
    return {"name": "bytes", "configuration": {"endian": orders.pop()}}


def _orders(dtype: np.dtype[Any]) -> Iterator[str]:
    if dtype.names is not None:
        for name in dtype.names:
            yield from _orders(dtype[name])
    elif dtype.byteorder != "|":
        yield "big" if dtype.str[0] == ">" else "little"


def _filter_of_3(
    config: Mapping[str, Any], dtype: np.dtype[Any]
) -> tuple[dict[str, Any], np.dtype[Any]]:
    """A filter of format 2 as a codec of format 3, and the dtype that it gives."""
    given = {key: value for key, value in config.items() if key != "id"}
    after = dtype
    for key in ("dtype", "astype", "encode_dtype", "decode_dtype"):
        if given.get(key) is not None:
            after = np.dtype(given[key]) if key in ("dtype", "astype", "encode_dtype") else after
            given[key] = np.dtype(given[key]).newbyteorder("=").str
    codec = {"name": f"numcodecs.{config['id']}", "configuration": given}
    if split_chain([codec])[0]:
        return codec, np.dtype("u1") if config["id"] == "packbits" else after
    return codec, dtype


def _packer_of_3(config: Mapping[str, Any], dtype: np.dtype[Any]) -> dict[str, Any]:
    given = {key: value for key, value in config.items() if key != "id"}
    if config["id"] == "blosc":
        shuffle = given.get("shuffle", 1)
        if shuffle == -1:
            shuffle = 2 if dtype.itemsize == 1 else 1
        given["shuffle"] = ("noshuffle", "shuffle", "bitshuffle")[shuffle]
        return {"name": "blosc", "configuration": {"typesize": dtype.itemsize, **given}}
    if config["id"] in ("zstd", "gzip"):
        usual = {"level": 0, "checksum": False} if config["id"] == "zstd" else {"level": 1}
        return {"name": config["id"], "configuration": {**usual, **given}}
    return {"name": f"numcodecs.{config['id']}", "configuration": given}


def _to_2(array: ArrayMetadata) -> dict[str, bytes]:
    if any(not axis.even for axis in array.grid):
        raise MetadataError(
            "its chunks have several shapes, which format 2 does not have; rewrite it with "
            "from_array(zarr_format=2, chunks=...)"
        )
    if array.key_suffix:
        raise MetadataError(f"its chunk keys end with {array.key_suffix!r}, and in format 2 do not")
    if array.key_encoding[0] != "v2":
        raise MetadataError(
            "its chunk keys begin with 'c', which format 2 does not have; rewrite it with "
            "from_array(zarr_format=2)"
        )
    known = {"shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs"}
    known |= {"attributes", "zarr_format", "node_type", "storage_transformers", "dimension_names"}
    unknown = sorted(set(array.extra) - known)
    if unknown:
        raise MetadataError(f"its document has the key {unknown[0]!r}, which format 2 does not")
    arrays, middle, binary = split_chain(dict(codec) for codec in array.codecs)
    if middle[0]["name"] != "bytes":
        raise MetadataError(f"format 2 has no {middle[0]['name']!r}")
    axes = len(array.shape)
    order = stored_order(array.codecs, axes, array.where)
    orders = {tuple(range(axes)): "C", tuple(reversed(range(axes))): "F"}
    if order not in orders:
        raise MetadataError(f"format 2 stores axes in C or F order, not in the order {order}")
    chain = [codec for codec in arrays if codec["name"] != "transpose"]
    if any(codec["name"] != "transpose" for codec in arrays[: len(arrays) - len(chain)]):
        raise MetadataError("a transposition follows a filter, which format 2 does not have")
    big = middle[0].get("configuration", {}).get("endian") == "big"
    if big and chain:
        raise MetadataError("filters of elements that are stored in big-endian order")
    dtype = array.dtype.newbyteorder(">") if big else array.dtype
    configs = [_config_of_2(codec) for codec in (*chain, *binary)]
    compressor = configs.pop() if binary else None
    attributes = array.attributes
    if array.dimension_names is not None:
        attributes[_DIMENSIONS] = list(array.dimension_names)
    members = {
        "zarr_format": 2,
        "shape": array.shape,
        "chunks": array.chunk_shape,
        "dtype": encode_dtype(dtype),
        "compressor": compressor,
        "fill_value": encode_fill_value(array.fill_value, array.dtype),
        "order": orders[order],
        "filters": configs or None,
        "dimension_separator": array.dimension_separator,
    }
    return {".zarray": json_dumps(members), **_zattrs(attributes)}


def _config_of_2(codec: Mapping[str, Any]) -> dict[str, Any]:
    config = numcodecs_config(codec)
    if config is None:
        raise MetadataError(f"format 2 has no codec {codec['name']!r}")
    return codec_config(config, "codec")


def _check_equal(store: Store, path: str, old: ArrayMetadata, new: ArrayMetadata) -> None:
    """One stored chunk has the same elements by both descriptions."""
    shape = tuple(max(n, 1) for n in old.chunk_shape)
    sides = []
    for metadata in (old, new):
        io = metadata.engine_array(store._engine, store.engine_path(path))
        stored = io.stored_chunks()
        chunk: Any = np.empty(shape, metadata.dtype)
        if stored:
            io.read_chunk(stored[0][1], chunk)
        sides.append((len(stored), chunk.astype(metadata.dtype.newbyteorder("=")).tobytes()))
    if not math.prod(old.shape) or not sides[0][0]:
        return
    if sides[0] != sides[1]:
        raise MetadataError("a stored chunk reads differently by the new description")


# All of them


def _carry_out(
    store: Store,
    root: str,
    documents: dict[str, dict[str, bytes]],
    to: int,
    found: Mapping[str, Any],
) -> None:
    consolidated = [
        path
        for path, metadata in found.items()
        if isinstance(metadata, GroupMetadata) and _is_consolidated(store, path, 5 - to)
    ]
    before = _snapshot(store, documents, 5 - to)
    for path in reversed(documents):
        if to == 2 and path == root:
            continue
        for name, document in documents[path].items():
            store[_nodes.key_of(path, name)] = document
    if _snapshot(store, documents, 5 - to) != before:
        for path in documents:
            for name in documents[path]:
                store.update_value(_nodes.key_of(path, name), lambda _: None)
        raise MetadataError("metadata changed during the migration; nothing was migrated")
    if to == 2:
        # Attributes first: with the root's other document the hierarchy is one of format 2.
        for name in sorted(documents[root], reverse=True, key=lambda name: name == ".zattrs"):
            store[_nodes.key_of(root, name)] = documents[root][name]
    # The root's first: from then on all other programs see the new format, too.
    kind = "group" if isinstance(found[root], GroupMetadata) else "array"
    decides = f".z{kind}" if to == 3 else "zarr.json"
    store.update_value(_nodes.key_of(root, decides), lambda _: None)
    _clean(store, root, to)
    for path in consolidated:
        consolidate(store, path, to, ".zmetadata")


def _clean(store: Store, root: str, to: int) -> None:
    """Remove the old documents that a killed migration left."""
    for path, _ in _walk(store, root, to):
        for name in (*_NAMES[5 - to], *((".zmetadata",) if to == 3 else ())):
            store.update_value(_nodes.key_of(path, name), lambda _: None)


def _is_consolidated(store: Store, path: str, zarr_format: int) -> bool:
    if zarr_format == 2:
        return _nodes.key_of(path, ".zmetadata") in store
    members = json_loads(store[_nodes.key_of(path, "zarr.json")])
    return members.get("consolidated_metadata") is not None


def _snapshot(store: Store, paths: Any, zarr_format: int) -> dict[str, bytes | None]:
    keys = [_nodes.key_of(path, name) for path in paths for name in _NAMES[zarr_format]]
    return {key: store.get(key) for key in keys}


Migration.__module__ = migrate.__module__ = "zarrix"
