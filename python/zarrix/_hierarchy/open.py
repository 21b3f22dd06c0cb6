"""Functions that open arrays and groups, consolidate metadata, and show a tree.

``zarr.convenience`` of zarr 2.18, with ``group`` and ``open_group`` of ``zarr.hierarchy``.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from zarrix._array.array import Array
from zarrix._array.keywords import OpenGroupKeywords, OpenKeywords, OpenLikeKeywords
from zarrix._array.open_array import OPEN_KEYWORDS, open_array
from zarrix._errors import PathNotFoundError
from zarrix._hierarchy.create_groups import create_nodes
from zarrix._hierarchy.group import Group
from zarrix._hierarchy.state import GroupOptions
from zarrix._metadata.literals import Durability, Format, Mode
from zarrix._nodes import nodes as _nodes
from zarrix._nodes.attributes import require_json
from zarrix._nodes.consolidate import consolidate
from zarrix._nodes.existing import existing, mode_at, require, through_consolidated
from zarrix._nodes.location import Found, Location, in_memory
from zarrix._nodes.new import group_metadata, new_node
from zarrix._runtime.dialect import DIALECT
from zarrix._runtime.signatures import takes
from zarrix._stores.keys import ZMETADATA
from zarrix._stores.open import as_store

if TYPE_CHECKING:
    from zarrix._display.tree import TreeViewer

__all__ = [
    "consolidate_metadata",
    "create_group",
    "create_hierarchy",
    "group",
    "open",
    "open_consolidated",
    "open_group",
    "tree",
]


@overload
def open(
    store: Any = None,
    mode: Mode | None = "a",
    *,
    shape: int | Sequence[int],
    zarr_version: Format | None = None,
    zarr_format: Format | None = None,
    path: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    version: str | None = None,
    **kwargs: Unpack[OpenLikeKeywords],
) -> Array: ...
@overload
def open(
    store: Any = None,
    mode: Mode | None = "a",
    *,
    zarr_version: Format | None = None,
    zarr_format: Format | None = None,
    path: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    version: str | None = None,
    **kwargs: Unpack[OpenKeywords],
) -> Array | Group: ...
@takes(OpenKeywords, like=open_array)
def open(
    store: Any = None,
    mode: Mode | None = "a",
    *,
    zarr_version: Format | None = None,
    zarr_format: Format | None = None,
    path: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    version: str | None = None,
    **kwargs: Any,
) -> Array | Group:
    """Open an array or group, by file mode.

    A new node is an array if ``shape=`` is passed, otherwise a group.

    Parameters
    ----------
    store : Store, mapping, str or Path, optional
        A path may lead into a hierarchy: ``open("x.zarr/group/array")``. A new store in memory when
        omitted.
    mode : {'r', 'r+', 'a', 'w', 'w-', 'x'}, optional
        ``'r'`` reads, ``'r+'`` reads and writes, and the node must exist; ``'a'`` creates it if it
        does not; ``'w'`` replaces an existing node; ``'w-'`` and ``'x'`` raise an error if a node
        exists.
    zarr_version, zarr_format : {2, 3}, optional
        The format to open, and to create; new nodes are v2 by default.
    path : str, optional
        Path in the store.
    storage_options : dict, optional
        For stores named by a URL.
    version : str, optional
        The name of a version that `zarrix.snapshot` has made; it is opened read-only.
    **kwargs
        As for `open_array` or `open_group`.

    Returns
    -------
    Array or Group

    Raises
    ------
    PathNotFoundError
        ``'r'`` or ``'r+'``, and the node does not exist (also a ``FileNotFoundError``).
    ValueError
        ``'w'``, and the path has files that are not part of the Zarr format.

    Examples
    --------
    >>> import zarrix as zarr
    >>> store = zarr.TempStore()
    >>> zarr.open(store, mode="w", shape=100, dtype="i4")
    <zarrix.core.Array (100,) int32>
    >>> zarr.open(store.path, mode="r")
    <zarrix.core.Array (100,) int32 read-only>
    """
    mode = mode_at(mode, version)
    location = Location.of(
        in_memory() if store is None else store,
        path,
        zarr_version,
        zarr_format,
        chunk_store=kwargs.get("chunk_store"),
        storage_options=storage_options,
        durability=kwargs.get("durability"),
        version=version,
    )
    if kwargs.get("shape") is not None and mode not in ("r", "r+"):
        return open_array(location, mode, **kwargs)
    if mode in ("w", "w-", "x"):
        return _open_group(location, mode, kwargs)
    node = location.find()
    if node is not None and node.kind == "array":
        return open_array(Found(location, node), mode, **kwargs)
    if mode == "a" or node is not None:
        return _open_group(location, mode, kwargs, node)
    other = _nodes.in_other_format(location.store, location.path, location.zarr_format)
    raise PathNotFoundError(f"neither an array nor a group at {location.describe()}{other}")


def _open_group(
    location: Location, mode: Mode, kwargs: dict[str, Any], node: _nodes.Node | None = None
) -> Group:
    for name in kwargs:
        if name in OPEN_KEYWORDS and name not in _GROUP_KEYWORDS:
            raise TypeError(
                f"open() opens a group here, which does not accept {name}=; pass shape= for an "
                "array"
            )
    store = location if node is None else Found(location, node)
    return open_group(store, mode, **kwargs)


@takes()
def open_group(
    store: Any = None,
    mode: Mode | None = "a",
    cache_attrs: bool = True,
    synchronizer: Any = None,
    path: str | None = None,
    chunk_store: Any = None,
    storage_options: Mapping[str, Any] | None = None,
    *,
    zarr_version: Format | None = None,
    zarr_format: Format | None = None,
    meta_array: Any = None,
    attributes: Mapping[str, Any] | None = None,
    use_consolidated: bool | str | None = None,
    durability: Durability | None = None,
    version: str | None = None,
) -> Group:
    """Open or create a group, by file mode; a new group is v2 by default.

    Parameters
    ----------
    store : Store, mapping, str or Path, optional
        A new store in memory when omitted.
    mode : {'r', 'r+', 'a', 'w', 'w-', 'x'}, optional
        As for `open`.
    cache_attrs : bool
        False reads attributes again before every use.
    synchronizer : mapping of key to lock, optional
        Held during writes in addition to the engine's own locks.
    path : str, optional
        Path in the store.
    chunk_store : Store, mapping, str or Path, optional
        The store of the chunks, if it is not ``store``.
    storage_options : dict, optional
        For stores named by a URL.
    zarr_version, zarr_format : {2, 3}, optional
        The format to open, and to create.
    meta_array : ndarray, optional
    attributes : mapping, optional
        Of the group, if it is created.
    use_consolidated : bool or str, optional
        True reads metadata from the consolidated metadata, which must exist; a str is its key in
        v2. With False, ``metadata.consolidated_metadata`` is None. None reads it only under
        `zarrix.as_zarr`, if it is there.
    durability : {'process', 'fsync'}, optional
        What a finished write, here and in all members, survives: the end of this process, or also a
        loss of power. When omitted, ``zarrix.config.durability`` applies.
    version : str, optional
        The name of a version that `zarrix.snapshot` has made; it is opened read-only.

    Returns
    -------
    Group

    Raises
    ------
    GroupNotFoundError
        ``'r'`` or ``'r+'``, and the group does not exist (also a ``FileNotFoundError``).
    ContainsArrayError
        The path is an array.

    Examples
    --------
    >>> import zarrix as zarr
    >>> root = zarr.open_group("data.zarr", mode="w", attributes={"site": "Kiel"})
    >>> z = root.zeros("temperature/hourly", shape=24, dtype="f4")
    >>> zarr.open_group("data.zarr", mode="r", path="temperature")
    <zarrix.hierarchy.Group '/temperature' read-only>
    """
    mode = mode_at(mode, version)
    location = Location.of(
        store,
        path,
        zarr_version,
        zarr_format,
        chunk_store=chunk_store,
        storage_options=storage_options,
        chunk_options=storage_options,
        durability=durability,
        version=version,
    )
    node = existing(location, mode, "group", store.node if type(store) is Found else None)
    if node is None:
        location = location.choose_format(2)
        _create_group(location, mode == "w", attributes)
        node = require(location, "group")
    elif use_consolidated or (use_consolidated is None and DIALECT.is_zarr3):
        location = through_consolidated(location, node, use_consolidated)
    options = GroupOptions(
        read_only=mode == "r",
        cache_attrs=cache_attrs,
        synchronizer=synchronizer,
        meta_array=meta_array,
        shows_consolidated=use_consolidated is not False,
    )
    return Group._at(location, node, options)


@takes()
def consolidate_metadata(
    store: Any,
    metadata_key: str | None = ZMETADATA,
    *,
    path: str | None = "",
    zarr_format: Format | None = None,
) -> Group:
    """Write the metadata of all arrays and groups of a hierarchy into one document.

    From then on, every change through zarrix updates it.

    Parameters
    ----------
    store : Store, mapping, str or Path
    metadata_key : str
        Key of the document in v2; in v3 it is a part of the group's ``zarr.json``.
    path : str, optional
        Of the group whose members are consolidated; the root when omitted.
    zarr_format : {2, 3}, optional
        The format of the node; either when omitted.

    Returns
    -------
    Group
        Opened through the consolidated metadata.

    Raises
    ------
    GroupNotFoundError
        The group does not exist.

    Examples
    --------
    >>> import zarrix as zarr
    >>> store = zarr.MemoryStore()
    >>> zarr.group(store).create_dataset("a/b", shape=3).attrs["unit"] = "mm"
    >>> root = zarr.consolidate_metadata(store)
    >>> root["a/b"].attrs["unit"], ".zmetadata" in store
    ('mm', True)
    """
    location = Location.of(store, path, None, zarr_format)
    node = require(location, "group")
    # Its metadata is checked before it is changed.
    Group._at(location, node)
    key = metadata_key or ZMETADATA
    consolidate(location.store, location.path, node.zarr_format, key)
    # Import time: only consolidated metadata needs it.
    from zarrix._nodes.consolidated_store import open_store

    through = open_store(location.store, location.path, node.zarr_format, key)
    return Group(through, location.path, zarr_version=node.zarr_format)


@takes(OpenGroupKeywords, like=open_group)
def open_consolidated(
    store: Any,
    metadata_key: str = ZMETADATA,
    mode: Literal["r", "r+"] = "r+",
    use_consolidated: Literal[True] = True,
    **kwargs: Unpack[OpenGroupKeywords],
) -> Group:
    """Open a group, and read the metadata of all its members from one document.

    Parameters
    ----------
    store : Store, mapping, str or Path
    metadata_key : str
        Key of the document in v2.
    mode : {'r', 'r+'}
        Changes update the consolidated metadata.
    use_consolidated : bool
        Accepted for zarr-python 3; True.
    **kwargs
        As for `open_group`.

    Returns
    -------
    Group

    Raises
    ------
    PathNotFoundError
        There is no consolidated metadata (also a ``KeyError`` and a ``ValueError``).

    Examples
    --------
    >>> import zarrix as zarr
    >>> root = zarr.open_group("data.zarr", mode="w")
    >>> z = root.zeros("a/b", shape=3)
    >>> root = zarr.consolidate_metadata("data.zarr")
    >>> list(zarr.open_consolidated("data.zarr")["a"].array_keys())
    ['b']
    """
    if mode not in ("r", "r+"):
        raise ValueError(f"mode is 'r' or 'r+', not {mode!r}: the metadata must already exist")
    if use_consolidated is not True:
        # The class of error of each generation.
        raise (TypeError if DIALECT.is_zarr3 else ValueError)(
            f"use_consolidated is True here, not {use_consolidated!r}; open_group() takes False"
        )
    options: dict[str, Any] = {**kwargs}
    store_options = options.pop("storage_options", None)
    names = ("path", "zarr_version", "zarr_format")
    version = options.pop("version", None)
    mode = "r" if version is not None else mode
    at = (options.get(name) for name in names)
    location = Location.of(store, *at, storage_options=store_options, version=version)
    # Import time: only consolidated metadata needs it.
    from zarrix._nodes.consolidated_store import open_store

    through = open_store(location.store, location.path, location.zarr_format, metadata_key)
    return open_group(through, mode, **options)


def _create_group(
    location: Location, overwrite: bool, attributes: Mapping[str, Any] | None
) -> None:
    require_json(attributes)
    new = group_metadata(location.zarr_format, attributes)
    with new_node(location, new, overwrite=overwrite, attributes=attributes):
        pass


@takes()
def create_group(
    store: Any = None,
    *,
    path: str | None = None,
    zarr_format: Format | None = None,
    overwrite: bool = False,
    attributes: Mapping[str, Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    durability: Durability | None = None,
) -> Group:
    """Create a group; it is v3, unless ``zarr_format`` or its parent group has another format.

    Parameters
    ----------
    store : Store, mapping, str or Path, optional
        A new store in memory when omitted.
    path : str, optional
        Where in the store; missing parent groups are created.
    zarr_format : {3, 2}, optional
    overwrite : bool
        Replace an existing node. Files that are not part of the Zarr format are never deleted.
    attributes : mapping, optional
    storage_options : dict, optional
        For stores named by a URL.
    durability : {'process', 'fsync'}, optional
        As for `open_group`.

    Returns
    -------
    Group

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        A node exists at the path, and ``overwrite`` is false.

    Examples
    --------
    >>> import zarrix as zarr
    >>> root = zarr.create_group(attributes={"unit": "mm"})
    >>> root.zarr_format, root.attrs["unit"]
    (3, 'mm')
    """
    location = Location.of(
        store, path, None, zarr_format, storage_options=storage_options, durability=durability
    ).choose_format(3)
    _create_group(location, overwrite, attributes)
    return Group._at(location, require(location, "group"))


@takes()
def create_hierarchy(
    *, store: Any, nodes: Mapping[str, Any], overwrite: bool = False
) -> Iterator[tuple[str, Any]]:
    """Create arrays and groups from their metadata; all of it is checked before anything is stored.

    Parameters
    ----------
    store : Store, mapping, str or Path
    nodes : mapping of str to metadata
        By path, ``""`` for the root: documents as dicts, or metadata objects of arrays and groups.
        Missing groups in between are created.
    overwrite : bool
        Replace an existing node.

    Returns
    -------
    iterator of (str, Array or Group)
        The path as in ``nodes``, and the object; all exist when the call returns.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        A node exists at one of the paths, and ``overwrite`` is false.
    MetadataError
        One of ``nodes`` does not describe an array or group.
    ValueError
        The nodes have different formats.

    Examples
    --------
    >>> import zarrix as zarr
    >>> group = {"zarr_format": 3, "node_type": "group", "attributes": {"unit": "mm"}}
    >>> dict(zarr.create_hierarchy(store=None, nodes={"": group, "a/b": group}))
    {'': <zarrix.hierarchy.Group '/'>, 'a/b': <zarrix.hierarchy.Group '/a/b'>}
    """
    made = create_nodes(as_store(store), nodes, None, overwrite)
    opened = [(open_array if one.node.kind == "array" else open_group)(one, "r+") for one in made]
    return iter(list(zip(nodes, opened, strict=True)))


@takes()
def group(
    store: Any = None,
    overwrite: bool = False,
    chunk_store: Any = None,
    cache_attrs: bool = True,
    synchronizer: Any = None,
    path: str | None = None,
    *,
    zarr_version: Format | None = None,
    zarr_format: Format | None = None,
    meta_array: Any = None,
    attributes: Mapping[str, Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    use_consolidated: bool | str | None = None,
    durability: Durability | None = None,
) -> Group:
    """The group at a path in a store, created if it does not exist.

    Parameters
    ----------
    store : Store, mapping, str or Path, optional
        A new store in memory when omitted.
    overwrite : bool
        Replace an existing node. Files that are not part of the Zarr format are never deleted.
    chunk_store : Store, mapping, str or Path, optional
        As for `open_group`, and so are all below.
    cache_attrs : bool
    synchronizer : mapping of key to lock, optional
    path : str, optional
    zarr_version, zarr_format : {2, 3}, optional
    meta_array : ndarray, optional
    attributes : mapping, optional
    storage_options : dict, optional
    use_consolidated : bool or str, optional
    durability : {'process', 'fsync'}, optional

    Returns
    -------
    Group

    Raises
    ------
    ContainsArrayError
        The path is an array, and ``overwrite`` is false.

    Examples
    --------
    >>> import zarrix as zarr
    >>> store = zarr.MemoryStore()
    >>> root = zarr.group(store, attributes={"site": "Kiel"})
    >>> zarr.group(store).attrs["site"]  # the same group
    'Kiel'
    >>> list(zarr.group(store, overwrite=True).attrs)
    []
    """
    return open_group(
        store,
        "w" if overwrite else "a",
        cache_attrs=cache_attrs,
        synchronizer=synchronizer,
        path=path,
        chunk_store=chunk_store,
        zarr_version=zarr_version,
        zarr_format=zarr_format,
        meta_array=meta_array,
        attributes=attributes,
        storage_options=storage_options,
        use_consolidated=use_consolidated,
        durability=durability,
    )


def tree(grp: Any, expand: bool | int = False, level: int | None = None) -> TreeViewer:
    """A hierarchy of zarrix, zarr-python or h5py, drawn as a tree.

    Parameters
    ----------
    grp : Group, group of zarr-python or h5py; or Store, mapping, str or Path
        What `open` takes is opened for reading.
    expand : bool or int
        How many levels are open in the HTML form; True for all.
    level : int, optional
        How deep to go; all the way when omitted.

    Returns
    -------
    TreeViewer
        Prints as text; notebooks show it as HTML.

    Raises
    ------
    PathNotFoundError
        Nothing is there (also a ``FileNotFoundError``).
    AttributeError
        On display, if ``grp`` is not a group.

    Examples
    --------
    >>> import zarrix as zarr
    >>> root = zarr.group()
    >>> z = root.zeros("a/b", shape=3)
    >>> zarr.tree(root, level=1)
    /
     └── a
    """
    found = grp if hasattr(grp, "attrs") else open(grp, mode="r")
    # Import time: few programs draw a tree.
    from zarrix._display.tree import TreeViewer

    return TreeViewer(found, expand=expand, level=level)


_GROUP_KEYWORDS = frozenset((*inspect.signature(open_group).parameters, "shape"))


for _function in (consolidate_metadata, open, open_consolidated, tree):
    # The public module that exports them.
    _function.__module__ = "zarrix.convenience"
