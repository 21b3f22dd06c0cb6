"""What is at the destination of a copy of stored values: other nodes, and values to compare."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from zarrix._errors import CopyError
from zarrix._nodes import nodes
from zarrix._stores.base import Store
from zarrix._stores.keys import is_document

__all__ = ["other_values", "refuse_mixing"]

_Pair = tuple[str, str]


def refuse_mixing(source: Store, dest: Store, pairs: Iterable[_Pair]) -> None:
    """Raise an error if a copied node would share its path with one of another kind or format, or
    lie below an array or a group of another format.

    Raises
    ------
    CopyError, ContainsArrayError, ValueError
    """
    folders = {
        target.rpartition("/")[0]: key.rpartition("/")[0]
        for key, target in pairs
        if is_document(key)
    }
    if not folders:
        return
    found = nodes.find_all(dest, folders)
    copied = nodes.find_all(source, folders.values())
    for target, key in folders.items():
        old, new = found[target], copied[key]
        if old is None or new is None:
            continue
        if (old.kind, old.zarr_format) != (new.kind, new.zarr_format):
            raise CopyError(
                f"{nodes.describe(dest, target)} is a v{old.zarr_format} {old.kind}, and "
                f"{nodes.describe(source, key)} a v{new.zarr_format} {new.kind}, which would be "
                "mixed; delete the old one first, or choose another path"
            )
    first = min(folders, key=lambda path: path.count("/") + bool(path))
    node = copied[folders[first]]
    if node is not None:
        nodes.missing_parents(dest, first, node.zarr_format)


def other_values(source: Store, dest: Store, pairs: Iterable[_Pair], workers: int) -> list[str]:
    """Those target keys of ``pairs``, all of which are stored, that have other values than the
    keys they are copied from.

    Values of one length are read: a copy has times and tags of its own, which tell nothing about
    what it was made from.
    """

    def is_other(pair: _Pair) -> bool:
        key, target = source.engine_path(pair[0]), dest.engine_path(pair[1])
        sizes = source._engine.size(key), dest._engine.size(target)
        return sizes[0] != sizes[1] or source._engine.get(key) != dest._engine.get(target)

    listed = list(pairs)
    with ThreadPoolExecutor(workers) as threads:
        answers = [*threads.map(is_other, listed)]
    return [target for (_, target), other in zip(listed, answers, strict=True) if other]
