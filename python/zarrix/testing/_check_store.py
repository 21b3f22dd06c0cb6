"""The conformance suite of stores, for authors and users of other stores.

Every store of this package passes the engine's suite on every server that it was tested with
(docs/stores.md, "What ran where"). Here it runs on anything that is accepted as a store.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zarrix import _engine
from zarrix._runtime import event_loop
from zarrix._stores.base import Store
from zarrix._stores.open import as_store
from zarrix.testing._check_nodes import check_nodes, check_refusals, check_values, equal

__all__ = ["check_store"]

_HELD = {"a": b"1", "c/d": b"22", "c/e/f": b"", "c/e/g": b"4444", "c0": b"behind c/"}


def check_store(
    store: Any,
    twin: Any = None,
    *,
    holds: Mapping[str, bytes] | None = None,
    only_nodes: bool = False,
) -> None:
    """Make all calls that arrays and groups make of a store, and raise if an answer is wrong.

    A store that passes keeps the promises of this package: a missing value is not an error, values
    are complete while other threads replace them, no update is lost among the threads of this
    process, listings are complete, and keys that would leave the store are refused. The check makes
    some thousand calls from several threads, and fewer if the store is slow. A read-only store is
    only read, and has to refuse changes.

    Parameters
    ----------
    store : Store, mapping, zarr.abc.store.Store, str or Path
        Anything that is accepted as a store. It has to be empty unless it is read-only, and is
        empty afterwards.
    twin : optional
        A second handle on the same values, as another part of a program creates it. What both
        have to share, such as locks, is checked across them.
    holds : mapping of str to bytes, optional
        The content of a read-only store; what it lists when omitted.
    only_nodes : bool
        The store takes the keys of Zarr hierarchies only, as Icechunk does: it is checked by
        creating, reading and deleting arrays and groups of v3. A group may be left at the root.

    Raises
    ------
    AssertionError
        The store fails a check; the message has the check's name, the expected and the actual
        value.
    ValueError
        The store is not empty, and its values would be deleted; or it cannot be listed, and
        ``holds`` is missing.

    Examples
    --------
    >>> from zarrix.testing import check_store
    >>> check_store({})
    >>> class Forgetful(dict):
    ...     def __setitem__(self, key, value):
    ...         super().__setitem__(key, value[:1000])
    >>> check_store(Forgetful())
    Traceback (most recent call last):
        ...
    AssertionError: ...: a stored value is read back, whole and by ranges: value: found [0, 7, ...
    """
    first = as_store(store)
    second = first if twin is None else as_store(twin)
    if first.is_writeable() and first.is_erasable():
        if next(iter(first), None) is not None:
            raise ValueError(f"{first!r} holds something, and all in it would be deleted")
        if only_nodes:
            check_nodes(first, second)
            return
        _check_mapping(first, second)
        _engine.check_store(first._engine, second._engine)
        return
    if holds is None and not first.is_listable():
        raise ValueError(f"{first!r} cannot be listed: say what it holds with holds=")
    held = dict(first.items()) if holds is None else dict(holds)
    if only_nodes:
        # A store whose content was given may refuse to list all of it.
        for one in (first, second):
            check_values(one, held, lists=holds is None)
    else:
        names = {first.engine_path(key): value for key, value in held.items()}
        _engine.check_reading(first._engine, second._engine, names, first.is_listable())
    check_refusals(first, next(iter(held), "a"))
    for key, value in held.items():
        equal(f"value of {key!r}", first[key], value)


def _check_mapping(store: Store, twin: Store) -> None:
    """Checks of methods that programs and groups call, in addition to those that the engine
    calls.
    """
    for key, value in _HELD.items():
        store[key] = value
    equal("items", dict(twin.items()), _HELD)
    equal("len", len(store), len(_HELD))
    equal("whether c/d, c, x are keys", [key in store for key in ("c/d", "c", "x")], [True, 0, 0])
    equal("getitems", store.getitems(["a", "x", "c/d"]), {"a": b"1", "c/d": b"22"})
    equal("listdir", (store.listdir(), store.listdir("c")), (["a", "c", "c0"], ["d", "e"]))
    equal("child_names", (store.child_names(""), store.child_names("c")), (["c"], ["e"]))
    equal("getsize of a, c/e, x", [store.getsize(key) for key in ("a", "c/e", "x")], [1, 4, 0])
    store.rename("c/e", "moved")
    store.rmdir("c")
    equal("keys after rename and rmdir", sorted(twin), ["a", "c0", "moved/f", "moved/g"])
    equal("update_value", store.update_value("a", lambda old: (old or b"") + b"2"), b"12")
    equal("pop", (store.pop("a"), store.pop("a", None)), (b"12", None))
    cleared = store.clear()
    if cleared is not None:
        # Under `zarrix.as_zarr`.
        event_loop.run(cleared)
    equal("keys at the end", list(twin), [])
