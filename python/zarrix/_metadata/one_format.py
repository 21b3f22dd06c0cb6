"""The metadata of arrays of one format, as classes for ``isinstance`` and `from_dict`."""

from __future__ import annotations

import copy
from typing import Any

from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.chunk_parts import as_document

__all__ = ["ArrayV2Metadata", "ArrayV3Metadata"]


class _OfOneFormat(type):
    """The class of the two classes below: an instance is metadata of their format."""

    _is_of: int

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, ArrayMetadata) and instance.zarr_format == cls._is_of

    # Members of a document have names.
    def __call__(cls, **members: Any) -> Any:
        document = {"zarr_format": cls._is_of, **as_document(members)}
        found = cls.from_dict(document)  # type: ignore[attr-defined]  # Of the classes below.
        given = members.get("data_type")
        if hasattr(given, "to_native_dtype"):
            # It may have a byte order, which a document of v3 gives to a codec.
            found = copy.copy(found)
            vars(found)["_given_data_type"] = given
        return found


class ArrayV2Metadata(ArrayMetadata, metaclass=_OfOneFormat):
    """The metadata of arrays of v2, as ``isinstance`` and `from_dict` see it.

    Parameters
    ----------
    **members
        Those of the document, except its format.

    Raises
    ------
    MetadataError
        They do not describe an array.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix.core.metadata import ArrayV2Metadata
    >>> isinstance(zarr.zeros(3).metadata, ArrayV2Metadata)
    True
    """

    _is_of = 2


class ArrayV3Metadata(ArrayMetadata, metaclass=_OfOneFormat):
    """The metadata of arrays of v3, as ``isinstance`` and `from_dict` see it.

    Parameters
    ----------
    **members
        Those of the document, except its format.

    Raises
    ------
    MetadataError
        They do not describe an array.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix.core.metadata import ArrayV3Metadata
    >>> isinstance(zarr.zeros(3).metadata, ArrayV3Metadata)
    False
    """

    _is_of = 3


# Pickles name a class by its module: a public one, which does not move.
for _class in (ArrayV2Metadata, ArrayV3Metadata):
    _class.__module__ = "zarrix.core.metadata"
