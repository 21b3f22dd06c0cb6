"""Names for the completion of a shell: files, and the nodes inside hierarchies and files.

``zarrix __complete WORD`` prints one candidate a line. One level is listed, without NumPy for
folders, and no server is asked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from zarrix._stores.keys import NODE_DOCUMENTS, ZARR_JSON, ZARRAY
from zarrix._stores.path import is_url

__all__ = ["complete"]

_MOST = 1000


def complete(words: Sequence[str]) -> int:
    """Print the candidates for the last of the words; nothing is an error here."""
    word = words[-1] if words else ""
    try:
        found = sorted(_candidates(word))[:_MOST]
    # A shell must not show an error in the middle of a line, for any kind of file.
    except Exception:
        found = []
    for one in found:
        # A line break in a name would make two candidates of it.
        if one.isprintable():
            print(one)
    return 0


def _candidates(word: str) -> Iterator[str]:
    if is_url(word):
        return
    head, slash, begin = word.rpartition("/")
    folder = head or ("/" if slash else ".")
    names = _in_folder(folder, begin) if os.path.isdir(folder) else _in_file(folder)
    yield from (f"{head}{slash}{name}" for name in names if name.startswith(begin))


def _in_folder(folder: str, begin: str) -> Iterator[str]:
    """Files and folders; in a hierarchy, its members without chunks and documents."""
    inside = _kind(folder)
    if inside == "array":
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") and not begin.startswith("."):
                continue
            is_folder = entry.is_dir()
            kind = _kind(entry.path) if is_folder else ""
            if inside and not kind:
                continue
            yield f"{entry.name}/" if is_folder and kind != "array" else entry.name


def _kind(folder: str) -> str:
    """``"array"`` or ``"group"``, or empty for a folder that is not a node."""
    for name in NODE_DOCUMENTS:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            if name == ZARR_JSON:
                with open(path, "rb") as file:
                    return "array" if b'"array"' in file.read(2**20) else "group"
            return "array" if name == ZARRAY else "group"
    return ""


def _in_file(path: str) -> Iterator[str]:
    """The members of a group in an archive or a file of another format."""
    # Import time: most words are in folders.
    from zarrix.cli._path import open_path

    node = open_path(path)
    if not hasattr(node, "shape"):
        for name, member in node.members():
            yield name if hasattr(member, "shape") else f"{name}/"
