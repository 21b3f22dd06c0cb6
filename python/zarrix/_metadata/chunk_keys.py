"""Chunk key encodings, from v3 documents and from users.

``default`` and ``v2`` are those of the specification. ``suffix``, from the registry of extensions,
appends a suffix such as ``.tiff`` to the keys of another encoding. A suffix is valid only if a
store accepts every resulting key; this is checked here once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from zarrix._errors import MetadataError
from zarrix._metadata.checks import extension, wrong

__all__ = ["KeyEncoding", "key_encoding_document", "parse_key_encoding"]

_KEY = "chunk_key_encoding"
_BASES = ("base_encoding", "base-encoding")
_MOST_NESTED = 8


class KeyEncoding(NamedTuple):
    """The function from chunk coordinates to keys.

    Attributes
    ----------
    name : {"default", "v2"}
    separator : {"/", "."}
    suffix : str
        The suffix of every key.
    """

    name: str
    separator: str
    suffix: str = ""


def parse_key_encoding(encoding: Any, label: str) -> KeyEncoding:
    """The encoding in a document.

    Raises
    ------
    MetadataError
        It is unknown, or its keys could not be stored.
    """
    suffix = ""
    for _ in range(_MOST_NESTED):
        name, configuration = extension(encoding, _KEY, label)
        if name == "suffix":
            added = configuration.get("suffix")
            _check_suffix(added, label)
            suffix = f"{added}{suffix}"
            # The example in the specification has the second spelling.
            base = next((key for key in _BASES if key in configuration), _BASES[0])
            encoding = configuration.get(base)
            continue
        if name not in ("default", "v2"):
            raise wrong(label, _KEY, name, "'default', 'v2' and 'suffix'")
        separator = configuration.get("separator", "/" if name == "default" else ".")
        if separator not in ("/", "."):
            raise wrong(label, f"{_KEY}.configuration.separator", separator, "'/' or '.'")
        return KeyEncoding(name, separator, suffix)
    raise wrong(label, _KEY, "suffix", f"at most {_MOST_NESTED} suffixes of each other")


def _check_suffix(suffix: Any, label: str) -> None:
    key = f"{_KEY}.configuration.suffix"
    if not isinstance(suffix, str):
        raise wrong(label, key, suffix, "a string")
    # The suffix follows the digits of a key, so that only its first and last parts matter.
    parts = f"0{suffix}".split("/")
    if "\0" in suffix or any(part in ("", ".", "..") for part in parts):
        raise wrong(label, key, suffix, "an end of a key without empty parts, '.', '..' or NUL")
    if any(part.endswith(".partial") for part in parts):
        raise wrong(label, key, suffix, "an end other than '.partial', the end of partial files")


def key_encoding_document(encoding: Any) -> dict[str, Any]:
    """The document of a chunk key encoding in any form that users pass.

    Parameters
    ----------
    encoding : mapping, str, (name, separator), object with ``to_dict``, or None
    """
    if hasattr(encoding, "to_dict"):
        encoding = encoding.to_dict()
    if encoding is None:
        encoding = {"name": "default"}
    elif isinstance(encoding, str):
        encoding = {"name": encoding}
    elif isinstance(encoding, tuple) and len(encoding) == 2:
        encoding = {"name": encoding[0], "separator": encoding[1]}
    if not isinstance(encoding, Mapping) or not isinstance(encoding.get("name"), str):
        raise MetadataError(
            f"chunk_key_encoding={encoding!r}; expected for example "
            "{'name': 'default', 'separator': '/'}"
        )
    name = encoding["name"]
    given = dict(encoding.get("configuration") or {})
    if "separator" in encoding:
        given["separator"] = encoding["separator"]
    if name == "suffix":
        base = next((given.pop(key) for key in _BASES if key in given), None)
        given["base_encoding"] = key_encoding_document(base)
    else:
        given.setdefault("separator", "." if name == "v2" else "/")
    return {"name": name, "configuration": given}
