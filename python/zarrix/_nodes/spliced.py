"""Changes of consolidated metadata that is longer than ``config.max_document_bytes``.

Its entries are never parsed all at once. The change is made to a short document, in which one entry
stands for all others; then the text of those that stay is put back in its place. What is in memory
is the text of the old document and of the new one, which is about a tenth of parsed entries.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from zarrix._errors import MetadataError
from zarrix._metadata.consolidated import encode
from zarrix._metadata.literals import Format
from zarrix._nodes.long_documents import is_long, parts_of
from zarrix._runtime.config import config
from zarrix._stores.keys import ZARR_JSON, ZGROUP

__all__ = ["LongDocument", "most_spliced", "shortened"]

# A change has the text of a document of this many limits in memory.
_LIMITS = 16


def most_spliced() -> int:
    """The length of the longest document that is changed."""
    return _LIMITS * config.max_document_bytes


class LongDocument:
    """A long document and its short form.

    Parameters
    ----------
    document : bytes
    zarr_format : {2, 3}
    label : str

    Attributes
    ----------
    short : bytes
        The document in which one entry stands for all others.

    Raises
    ------
    MetadataError
        It is not JSON, or has more than 16 times ``config.max_document_bytes``.
    """

    def __init__(self, document: bytes, zarr_format: Format, label: str) -> None:
        if len(document) > most_spliced():
            raise MetadataError(
                f"{label}: more than {most_spliced()} bytes, {_LIMITS} times "
                "config.max_document_bytes (ZARRIX_MAX_DOCUMENT_BYTES); raise the limit if this "
                "is intended"
            )
        self._document, self._is_v3, self._label = document, zarr_format == 3, label
        # No node has this name.
        self._name = f"__{os.urandom(16).hex()}"
        self._key = f"{self._name}/{ZARR_JSON if self._is_v3 else ZGROUP}"
        self.short = self._shortened()

    def _shortened(self) -> bytes:
        own: dict[str, Any] = {}
        one: dict[str, Any] = {self._name if self._is_v3 else self._key: {}}
        for path, value, _ in parts_of(self._document, self._is_v3, self._label):
            if isinstance(path, tuple) and len(path) == 1:
                own[path[0]] = value
            elif self._is_v3:
                inline = own.setdefault("consolidated_metadata", {"metadata": one})
                if isinstance(path, tuple):
                    inline[path[1]] = value
        return json.dumps(own if self._is_v3 else {**own, "metadata": one}).encode()

    def spliced(self, short: bytes, is_replaced: Callable[[str], bool]) -> bytes:
        """A changed short document, with the entries of the long one that are not replaced.

        Parameters
        ----------
        short : bytes
        is_replaced : callable
            Called with the key of each entry.
        """
        mark = f'"{self._name if self._is_v3 else self._key}": {{}}'.encode()
        before, found, after = short.partition(mark)
        if not found:
            return short
        whole, start = bytearray(before), len(before)
        for path, _, text in parts_of(self._document, self._is_v3, self._label):
            if isinstance(path, tuple) or is_replaced(
                f"{path}/{ZARR_JSON}" if self._is_v3 else path
            ):
                continue
            if len(whole) > start:
                whole += b",\n"
            whole += f"{json.dumps(path)}: {text}".encode()
        if len(whole) == start:
            return encode(short, {}, 3 if self._is_v3 else 2, self._label)
        whole += after
        return bytes(whole)


def shortened(
    document: bytes | None, zarr_format: Format, label: str
) -> tuple[bytes | None, LongDocument | None]:
    """A document that may be parsed at once, and the long one that it stands for, if it does."""
    if document is None or not is_long(document):
        return document, None
    long = LongDocument(document, zarr_format, label)
    return long.short, long
