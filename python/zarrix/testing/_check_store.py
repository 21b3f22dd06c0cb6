"""The conformance suite of stores, for authors and users of other stores.

Every store of this package passes the engine's suite on every server that it was tested with
(docs/stores.md, "What ran where"). Here it runs on anything that is accepted as a store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from zarrix import _engine
from zarrix._errors import ReadOnlyError
from zarrix._stores.base import Store
from zarrix._stores.open import as_store

__all__ = ["check_store"]

_HELD = {"a": b"1", "c/d": b"22", "c/e/f": b"", "c/e/g": b"4444", "c0": b"behind c/"}


def check_store(store: Any, twin: Any = None, *, holds: Mapping[str, bytes] | None = None) -> None:
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
        _check_mapping(first, second)
        _engine.check_store(first._engine, second._engine)
        return
    if holds is None and not first.is_listable():
        raise ValueError(f"{first!r} cannot be listed: say what it holds with holds=")
    held = dict(first.items()) if holds is None else dict(holds)
    names = {first.engine_path(key): value for key, value in held.items()}
    _engine.check_reading(first._engine, second._engine, names, first.is_listable())
    _check_refusals(first, next(iter(held), "a"))
    for key, value in held.items():
        _equal(f"value of {key!r}", first[key], value)


def _equal(what: str, found: object, expected: object) -> None:
    if found != expected:
        raise AssertionError(f"{what}: found {found!r}, expected {expected!r}")


def _check_mapping(store: Store, twin: Store) -> None:
    """Checks of methods that programs and groups call, in addition to those that the engine
    calls.
    """
    for key, value in _HELD.items():
        store[key] = value
    _equal("items", dict(twin.items()), _HELD)
    _equal("len", len(store), len(_HELD))
    _equal("whether c/d, c, x are keys", [key in store for key in ("c/d", "c", "x")], [True, 0, 0])
    _equal("getitems", store.getitems(["a", "x", "c/d"]), {"a": b"1", "c/d": b"22"})
    _equal("listdir", (store.listdir(), store.listdir("c")), (["a", "c", "c0"], ["d", "e"]))
    _equal("child_names", (store.child_names(""), store.child_names("c")), (["c"], ["e"]))
    _equal("getsize of a, c/e, x", [store.getsize(key) for key in ("a", "c/e", "x")], [1, 4, 0])
    store.rename("c/e", "moved")
    store.rmdir("c")
    _equal("keys after rename and rmdir", sorted(twin), ["a", "c0", "moved/f", "moved/g"])
    _equal("update_value", store.update_value("a", lambda old: (old or b"") + b"2"), b"12")
    _equal("pop", (store.pop("a"), store.pop("a", None)), (b"12", None))
    store.clear()
    _equal("keys at the end", list(twin), [])


def _check_refusals(store: Store, key: str) -> None:
    """Check that changes of a read-only store are errors."""
    changes: dict[str, Callable[[], object]] = {
        "setting a value": lambda: store.__setitem__(key, b""),
        "deleting a value": lambda: store.__delitem__(key),
        "update_value": lambda: store.update_value(key, lambda old: b""),
        "rmdir": store.rmdir,
        "rename": lambda: store.rename(key, "moved"),
    }
    for name, change in changes.items():
        try:
            change()
        except ReadOnlyError:
            continue
        raise AssertionError(f"{name} is not refused, although the store is read-only")
