"""Names of ``zarr.metadata.migrate_v3``: documents of v3 beside those of v2, or without them.

The chunks stay as they are. `zarrix.migrate` compares what both documents read, and finishes what
a killed process began.
"""

from __future__ import annotations

from typing import Any, Literal

from zarrix._as_zarr.names.core.sync import sync
from zarrix._hierarchy.open import open as open_node
from zarrix._metadata.group import GroupMetadata
from zarrix._metadata.translate import parsed, to_3
from zarrix._stores.keys import ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, ZMETADATA, keys_of
from zarrix._stores.path import StorePath

__all__ = ["migrate_to_v3", "migrate_v2_to_v3", "remove_metadata"]

_NODES = {2: (ZARRAY, ZGROUP), 3: (ZARR_JSON,)}
_DOCUMENTS = {2: (ZARRAY, ZATTRS, ZGROUP, ZMETADATA), 3: (ZARR_JSON,)}


def migrate_v2_to_v3(*, input_store: Any, output_store: Any = None, dry_run: bool = False) -> None:
    """Write a document of v3 for each node of a hierarchy of v2.

    Parameters
    ----------
    input_store : Store
    output_store : Store, optional
        An empty one that gets the documents; ``input_store`` when omitted.
    dry_run : bool
        Convert, and write nothing.

    Raises
    ------
    TypeError, NotImplementedError, ValueError
        As `migrate_to_v3`.
    """
    node = open_node(input_store, mode="r+")
    place = node.store_path
    if output_store is not None:
        place = sync(StorePath.open(output_store, path="", mode="w-"))
    migrate_to_v3(node, place, dry_run=dry_run)


def migrate_to_v3(zarr_v2: Any, output_path: StorePath, dry_run: bool = False) -> None:
    """Write a document of v3 for a node of v2 and the nodes below it.

    Raises
    ------
    TypeError
        The node is of v3.
    NotImplementedError
        The group has consolidated metadata.
    ValueError
        There is a document of v3.
    """
    if zarr_v2.metadata.zarr_format != 2:
        raise TypeError("Only arrays / groups with zarr v2 metadata can be converted")
    if not isinstance(zarr_v2.metadata, GroupMetadata):
        sync(_save(_convert_array_metadata(zarr_v2.metadata), output_path, dry_run))
        return
    if zarr_v2.metadata.consolidated_metadata is not None:
        raise NotImplementedError("Migration of consolidated metadata isn't supported.")
    for name in zarr_v2:
        migrate_to_v3(zarr_v2[name], output_path / name, dry_run=dry_run)
    made = GroupMetadata(zarr_format=3, attributes=dict(zarr_v2.metadata.attributes))
    sync(_save(made, output_path, dry_run))


async def _save(metadata: Any, node: StorePath, dry_run: bool) -> None:
    target = node / ZARR_JSON
    if await target.exists():
        raise ValueError(f"{ZARR_JSON} already exists at {target}")
    document = metadata.to_buffer_dict()[ZARR_JSON]
    if not dry_run:
        await target.set_if_not_exists(document)


# A private name that VirtualiZarr imports.
def _convert_array_metadata(metadata_v2: Any) -> Any:
    return parsed(to_3(metadata_v2), 3)


async def remove_metadata(
    store: Any, zarr_format: Literal[2, 3], force: bool = False, dry_run: bool = False
) -> None:
    """Delete the documents of one format.

    Parameters
    ----------
    store : Store
    zarr_format : 2 or 3
    force : bool
        Delete also those of nodes that have no document of the other format.
    dry_run : bool
        Look, and delete nothing.

    Raises
    ------
    ValueError
        A node has no document of the other format, or the store deletes nothing.
    """
    if not store.supports_deletes:
        raise ValueError("Store must support deletes to remove metadata")
    root = await StorePath.open(store, path="", mode="r+")
    keys = [key async for key in store.list()]
    found = [key for key in keys if key.rpartition("/")[2] in _DOCUMENTS[zarr_format]]
    other = 5 - zarr_format
    for key in found:
        above = key.rpartition("/")[0]
        names = keys_of(above, _NODES[other])
        if not force and not any(name in keys for name in names):
            raise ValueError(
                f"Cannot remove v{zarr_format} metadata at {root / key} - no v{other} metadata "
                "exists. To delete anyway, use the 'force' option."
            )
    for key in found if not dry_run else ():
        await (root / key).delete()
