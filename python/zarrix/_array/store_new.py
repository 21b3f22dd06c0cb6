"""The one way in which every function creates an array, after its arguments became metadata.

The array object is made first, from the document that will be stored: what could not be opened
again, or what the engine does not support, is an error before anything in the store changes. Then
the document is stored, and the data. Nothing that was just written is read back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zarrix._array.array import Array
from zarrix._array.options import ArrayOptions
from zarrix._array.source import safe_source
from zarrix._metadata.array import ArrayMetadata
from zarrix._nodes import nodes
from zarrix._nodes.attributes import require_json
from zarrix._nodes.location import Location
from zarrix._nodes.new import new_node

__all__ = ["store_new"]


def store_new(
    location: Location,
    metadata: ArrayMetadata,
    options: ArrayOptions,
    *,
    overwrite: bool,
    attributes: Mapping[str, Any] | None = None,
    data: Any = None,
) -> Array:
    """Store a new array, and its data if there are any; after a failure neither is there.

    Parameters
    ----------
    location : Location
    metadata : ArrayMetadata
        Valid already.
    options : ArrayOptions
        Of the array that is returned; with ``read_only``, it is when its data are stored.
    overwrite : bool
        Replace an existing node.
    attributes : mapping, optional
        In v3 they are also part of ``metadata``.
    data : array-like, optional
        Of the shape of the array.
    """
    require_json(attributes)
    document = nodes.array_document(metadata)
    if location.zarr_format != metadata.zarr_format:
        location = location.at(location.path, metadata.zarr_format)
    node = nodes.Node(metadata.zarr_format, "array", document)
    z = Array._at(location, node, options._replace(read_only=False))
    if data is not None and overwrite:
        data = safe_source(data, location)
    with new_node(location, metadata, document, overwrite=overwrite, attributes=attributes):
        if data is not None:
            # Import time: few arrays are filled from another one.
            from zarrix._array.sparse import fill_from

            fill_from(z, data)
    if options.read_only:
        z.read_only = True
    return z
