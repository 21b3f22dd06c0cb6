"""Documents that are longer than ``config.max_document_bytes``, read piece by piece.

The document of a root has the metadata of a whole hierarchy, so that its length says nothing about
what is kept of it. It is read in windows, and its entries are parsed one after the other: the limit
is that of one entry, of the members of the root itself, and of what is kept in all. Equal documents
are kept once.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Self

from zarrix._errors import JSONDecodeError, MetadataError
from zarrix._metadata.json import json_dumps
from zarrix._runtime.config import config
from zarrix._stores.base import Store
from zarrix._stores.keys import COMMIT_MEMBER, ZARR_JSON, ZMETADATA, key_of
from zarrix._stores.labels import place

__all__ = [
    "Entries",
    "consolidated_entries",
    "entries_of",
    "is_long",
    "parts_of",
    "tag_of",
    "without_entries",
]

Entries = Iterator[tuple[Any, Any, str]]
"""The parts of a document, as from `_Reader.parts`."""
_Window = Callable[[int, int], "bytes | None"]

_WINDOW = 4 << 20
# A key and its place in a dictionary have so many bytes beyond the characters of the key.
_ENTRY_BYTES = 160
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_ATTEMPTS = 3


class _ReplacedError(Exception):
    """The value was replaced while it was read."""


def parts_of(document: bytes, is_v3: bool, label: str) -> Entries:
    """The parts of a document in memory."""
    return _Reader.of_bytes(document, is_v3, label).parts()


def is_long(document: bytes) -> bool:
    """Whether a document is longer than may be parsed at once."""
    return len(document) > config.max_document_bytes


def without_entries(store: Store, key: str, document: bytes) -> bytes:
    """A document as it is, or a long one of v3 without the metadata of other nodes.

    Raises
    ------
    MetadataError
        It is not JSON, or what is left of it has more than ``config.max_document_bytes``.
    """
    if not is_long(document) or key.rpartition("/")[2] != ZARR_JSON:
        return document
    own: dict[str, Any] = {}
    for path, value in _settled(store, key, keep=False):
        if len(path) == 1:
            own[path[0]] = value
    return json_dumps(own, sort_keys=False)


def consolidated_entries(store: Store, key: str) -> tuple[dict[str, Any] | None, Any]:
    """The documents in long consolidated metadata, by key relative to its group, encoded, and the
    id of the last commit; None if it has none.

    Raises
    ------
    MetadataError
        It is not JSON, or has more than ``config.max_document_bytes`` of different documents.
    """
    is_v3 = key.rpartition("/")[2] != ZMETADATA
    own: dict[tuple[str, ...], Any] = {}
    found: dict[str, Any] = {}
    for path, value in _settled(store, key, keep=True):
        if isinstance(path, tuple):
            own[path] = value
        else:
            found[key_of(path, ZARR_JSON) if is_v3 else path] = value
    if not found:
        return None, None
    if is_v3:
        root = {path[0]: value for path, value in own.items() if len(path) == 1}
        found[ZARR_JSON] = json_dumps(root, sort_keys=False)
    commit = own.get(("consolidated_metadata", COMMIT_MEMBER) if is_v3 else (COMMIT_MEMBER,))
    return found, commit.get("id") if isinstance(commit, dict) else None


def entries_of(store: Store, key: str, use: Callable[[Entries], bool]) -> str | None:
    """Call ``use`` with the parts of one version of a document of any length; its length and tag.

    It is called again if the value was replaced meanwhile.

    Returns
    -------
    str or None
        None if nothing is stored, or ``use`` has returned False.

    Raises
    ------
    MetadataError
        It is not JSON, one of its parts has more than ``config.max_document_bytes``, or the store
        has no tags.
    """
    for _ in range(_ATTEMPTS):
        before = store._engine.head(store.engine_path(key))
        if before is None:
            return None
        if not before[1]:
            raise MetadataError(f"{place(store, key)}: the store does not tell versions of values")
        try:
            is_used = use(_Reader(store, key).parts())
        except _ReplacedError:
            continue
        if store._engine.head(store.engine_path(key)) == before:
            return tag_of(before) if is_used else None
    raise _replaced(store, key)


def tag_of(head: tuple[int, str]) -> str:
    """What tells one version of a document from the others."""
    return f"{head[0]}:{head[1]}"


def _replaced(store: Store, key: str) -> MetadataError:
    return MetadataError(f"{place(store, key)}: it was replaced again and again while it was read")


def _settled(store: Store, key: str, keep: bool) -> list[tuple[Any, Any]]:
    """Members and entries of one version of the value; without ``keep``, members only."""
    for _ in range(_ATTEMPTS):
        before = store._engine.head(store.engine_path(key))
        try:
            found = [*_kept(_Reader(store, key), keep)]
        except _ReplacedError:
            continue
        if store._engine.head(store.engine_path(key)) == before:
            return found
    raise _replaced(store, key)


def _kept(reader: _Reader, keep: bool) -> Iterator[tuple[Any, Any]]:
    """The parts of a document whose memory is within the limit; entries are encoded."""
    most, used = config.max_document_bytes, 0
    known: dict[bytes, bytes] = {}
    for path, value, text in reader.parts():
        if isinstance(path, tuple):
            used += len(text)
        elif not keep or value is None:
            continue
        else:
            if isinstance(value, dict):
                value.pop("consolidated_metadata", None)
            encoded = json.dumps(value, separators=(",", ":")).encode()
            used += len(path) + _ENTRY_BYTES + (0 if encoded in known else len(encoded))
            value = known.setdefault(encoded, encoded)
        if used > most:
            raise MetadataError(
                f"{reader.label}: what it has beside equal documents has more than {most} bytes, "
                "which is config.max_document_bytes (ZARRIX_MAX_DOCUMENT_BYTES); raise the limit "
                "if this is intended, or open with use_consolidated=False"
            )
        yield path, value


class _Reader:
    """A value of a store as JSON text, of which a window is in memory."""

    def __init__(self, store: Store, key: str) -> None:
        get, at = store._engine.get_slice, store.engine_path(key)
        is_v3 = key.rpartition("/")[2] != ZMETADATA
        self._begin(lambda begin, end: get(at, begin, end), is_v3, place(store, key))

    def _begin(self, get: _Window, is_v3: bool, label: str) -> None:
        self.label, self._get, self._is_v3 = label, get, is_v3
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        # The windows come from one version if the value has the same length each time.
        self._offset, self._text, self._at, self._is_end = 0, "", 0, False

    @classmethod
    def of_bytes(cls, document: bytes, is_v3: bool, label: str) -> Self:
        """The reader of a document in memory."""
        new = cls.__new__(cls)
        new._begin(lambda begin, end: document[begin:end], is_v3, label)
        return new

    def parts(self) -> Iterator[tuple[Any, Any, str]]:
        """Members of the root as ``((name,), value, text)``, those beside the entries with two
        names, and entries as ``(path, value, text)``.
        """
        to_entries = ("consolidated_metadata", "metadata") if self._is_v3 else ("metadata",)
        yield from self._members(to_entries)
        self._space()
        if self._at < len(self._text):
            raise self._wrong("text after the end")

    def _members(self, to_entries: tuple[str, ...]) -> Iterator[tuple[Any, Any, str]]:
        for name in self._names():
            if to_entries[0] != name or self._next() != "{":
                value, text = self._value()
                yield (name,), value, text
            elif len(to_entries) > 1:
                for path, value, text in self._members(to_entries[1:]):
                    yield (name, *path) if isinstance(path, tuple) else path, value, text
            else:
                for path in self._names():
                    value, text = self._value()
                    yield path, value, text

    def _names(self) -> Iterator[str]:
        """The names of an object, each when its value is next."""
        self._expect("{")
        if self._next() == "}":
            self._at += 1
            return
        while True:
            name, _ = self._value()
            if not isinstance(name, str):
                raise self._wrong("a name is not a text")
            self._expect(":")
            yield name
            mark = self._next()
            self._at += 1
            if mark == "}":
                return
            if mark != ",":
                raise self._wrong("expected ',' or '}'")

    def _value(self) -> tuple[Any, str]:
        """The next value, and its text."""
        self._space()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except RecursionError:
                raise MetadataError(f"{self.label}: the JSON is nested too deep") from None
            except ValueError as error:
                # Perhaps only its end is not there yet.
                if not self._more():
                    raise JSONDecodeError(
                        f"{self.label}: not JSON ({error})", self._text[:100], 0
                    ) from None
                continue
            # A number at the end of the window may go on.
            if end < len(self._text) or not self._more():
                text, self._at = self._text[self._at : end], end
                return value, text

    def _next(self) -> str:
        self._space()
        return self._text[self._at : self._at + 1]

    def _expect(self, mark: str) -> None:
        if self._next() != mark:
            raise self._wrong(f"expected {mark!r}")
        self._at += 1

    def _space(self) -> None:
        while True:
            found = _SPACE.match(self._text, self._at)
            self._at = self._at if found is None else found.end()
            if self._at < len(self._text) or not self._more():
                return

    def _more(self) -> bool:
        """Read more behind what is not used yet, as much again; whether there was more."""
        if self._is_end:
            return False
        self._text, self._at = self._text[self._at :], 0
        if len(self._text) > config.max_document_bytes:
            raise MetadataError(
                f"{self.label}: one value has more than {config.max_document_bytes} bytes, which "
                "is config.max_document_bytes (ZARRIX_MAX_DOCUMENT_BYTES); raise the limit if this "
                "is intended"
            )
        wanted = max(_WINDOW, len(self._text))
        window = self._get(self._offset, self._offset + wanted)
        if window is None:
            raise _ReplacedError
        self._offset += len(window)
        self._is_end = len(window) < wanted
        try:
            self._text += self._decode(window, self._is_end)
        except UnicodeDecodeError as error:
            raise JSONDecodeError(f"{self.label}: not JSON ({error})", "", 0) from None
        return bool(window)

    def _wrong(self, what: str) -> JSONDecodeError:
        near = self._text[self._at : self._at + 20]
        return JSONDecodeError(f"{self.label}: not JSON ({what}, not {near!r})", near, 0)
