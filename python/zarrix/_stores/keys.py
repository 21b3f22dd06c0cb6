"""Names of metadata documents, and the keys of values below a path.

No other file of the package writes these names; `tests/stores/test_keys.py` checks that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = [
    "ARRAY_DOCUMENT",
    "ATTRIBUTES_DOCUMENT",
    "COMMIT_INTENT",
    "COMMIT_MEMBER",
    "CONSOLIDATED_DOCUMENT",
    "DOCUMENTS",
    "DOCUMENTS_OF_A_NODE",
    "DOCUMENT_PATTERN",
    "GROUP_DOCUMENT",
    "INDEX_SUFFIX",
    "JOB_FOLDER",
    "JOB_MARK",
    "NODE_DOCUMENTS",
    "VERSIONS_SUFFIX",
    "ZARRAY",
    "ZARR_JSON",
    "ZATTRS",
    "ZGROUP",
    "ZMETADATA",
    "document_of",
    "is_document",
    "is_litter",
    "key_of",
]

ZARRAY = ".zarray"
ZGROUP = ".zgroup"
ZATTRS = ".zattrs"
ZMETADATA = ".zmetadata"
ZARR_JSON = "zarr.json"

# Names of the documents by format: metadata of an array, of a group, attributes, and consolidated
# metadata.
ARRAY_DOCUMENT = {2: ZARRAY, 3: ZARR_JSON}
GROUP_DOCUMENT = {2: ZGROUP, 3: ZARR_JSON}
ATTRIBUTES_DOCUMENT = {2: ZATTRS, 3: ZARR_JSON}
CONSOLIDATED_DOCUMENT = {2: ZMETADATA, 3: ZARR_JSON}
# All documents that one node can have, except consolidated metadata.
DOCUMENTS_OF_A_NODE = {2: (ZGROUP, ZARRAY, ZATTRS), 3: (ZARR_JSON,)}

# Beside an array's document: the id of the job that has made the array.
JOB_MARK = ".zarrix-done"
# Where an unfinished job keeps its document, its journal and its intermediates.
JOB_FOLDER = ".zarrix-job"

# In the root of a hierarchy: what a commit is about to do, and the lock of commits.
COMMIT_INTENT = ".zarrix-commit.json"
# The member of consolidated metadata that tells which commit wrote it.
COMMIT_MEMBER = "zarrix_commit"
# After the name of a hierarchy: the folder of its versions, beside it.
VERSIONS_SUFFIX = ".versions"
# After the name of a hierarchy: the group that is the index of its metadata, beside it.
INDEX_SUFFIX = ".index"

# A node exists if one of these is stored.
NODE_DOCUMENTS = (ZARRAY, ZGROUP, ZARR_JSON)
DOCUMENTS = frozenset((ZARRAY, ZGROUP, ZATTRS, ZMETADATA, ZARR_JSON))
# The same, as alternatives of a regular expression.
DOCUMENT_PATTERN = "|".join(map(re.escape, sorted(DOCUMENTS)))


_LITTER = re.compile(r"\.DS_Store|Thumbs\.db|desktop\.ini|\._.*|\.nfs[0-9a-f]+")


def is_litter(name: str) -> bool:
    """Whether systems put files of this name beside those of users."""
    return _LITTER.fullmatch(name) is not None


def is_document(key: str) -> bool:
    """Whether the value of ``key`` is a metadata document."""
    return key.rpartition("/")[2] in DOCUMENTS


def document_of(kind: str, zarr_format: int) -> str:
    """The name of the metadata of a node, which is an "array" or a "group"."""
    return (ARRAY_DOCUMENT if kind == "array" else GROUP_DOCUMENT)[zarr_format]


def keys_of(path: str, names: Iterable[str]) -> list[str]:
    """The keys of several names at ``path``, as from `key_of`."""
    return [f"{path}/{name}" for name in names] if path else [*names]


def key_of(path: str, name: str) -> str:
    """The key of ``name`` at ``path``, which is ``""`` for the root.

    Examples
    --------
    >>> key_of("a/b", "0.0"), key_of("", "0.0")
    ('a/b/0.0', '0.0')
    """
    return f"{path}/{name}" if path else name
