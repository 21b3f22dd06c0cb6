"""`accelerate`: the methods of ``zarr.Array`` that read and write selections call the engine.

Objects stay those of zarr-python. A method that the engine does not serve, for an array, a
selection, a value, a buffer or a store, is the original one, and so is every error.
"""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

from zarrix._runtime.threads import in_pool
from zarrix.interop import _keys as keys
from zarrix.interop._bound import bound_to
from zarrix.interop._calls import DECLINED, read_box, write_box
from zarrix.interop._pool import threads
from zarrix.interop._selections import KINDS, plain_buffers, read_key, write_key
from zarrix.interop._versions import answers, is_known, refuse_old

__all__ = ["accelerate"]

_lock = threading.Lock()
_ASYNC_KINDS = ("orthogonal", "mask", "coordinate")
# The original methods, by class and name; empty while nothing is replaced.
_originals: dict[tuple[type, str], Any] = {}


class _Acceleration:
    """What `accelerate` returns: as a context manager it undoes the call at the end.

    Attributes
    ----------
    was_on : bool
        Whether methods were replaced before the call.
    """

    def __init__(self, was_on: bool) -> None:
        self.was_on = was_on

    def __enter__(self) -> _Acceleration:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        accelerate(self.was_on)

    def __repr__(self) -> str:
        return f"<zarr.Array is {'' if _originals else 'not '}accelerated by zarrix>"


def accelerate(on: bool = True) -> _Acceleration:
    """Let the engine read and write the selections of ``zarr.Array``, of zarr-python 3.

    Arrays, groups, stores and errors stay those of zarr-python, and so do the values, shapes and
    kinds of results. What the engine does not serve falls back to the original method: stores
    and codecs of a user, buffers that are not NumPy's, fields of structured data types, and
    values that broadcast. Calling it twice is the same as calling it once.

    Writers in threads and processes that are all accelerated, or use zarrix, lose no update of a
    chunk. zarr-python's own writers take no locks: where one of them writes into the same chunk at
    the same time, updates can be lost, as between two of its own.

    Parameters
    ----------
    on : bool
        False restores the original methods.

    Returns
    -------
    context manager
        It undoes the call at the end of its block.

    Raises
    ------
    ImportError
        zarr-python 3 is not installed.
    RuntimeError
        The installed zarr-python is older than 3.4, or gives other results than that, or
        ``zarr`` is zarrix itself, by ``zarrix.as_zarr``. Nothing was replaced.

    Examples
    --------
    With zarr-python 3 installed::

        import zarr, zarrix.interop
        zarrix.interop.accelerate()
        zarr.open_array("data.zarr")[0:100]

        with zarrix.interop.accelerate():
            ...

    >>> import zarrix.interop
    >>> zarrix.interop.accelerate(False)
    <zarr.Array is not accelerated by zarrix>
    """
    with _lock:
        was_on = bool(_originals)
        if on and not was_on:
            _install()
        elif not on:
            _restore()
    return _Acceleration(was_on)


def _install() -> None:
    module = _zarr_array_module()
    refuse_old()
    if is_known():
        _replace(module)
        return
    expected = answers()
    _replace(module)
    if answers() != expected:
        _restore()
        raise RuntimeError(
            "accelerate() does not know this version of zarr-python, whose selections return other "
            "results; nothing was replaced"
        )


def _replace(module: Any) -> None:
    wraps = {
        module.Array: {
            "__getitem__": _getitem,
            "__setitem__": _setitem,
            **{f"get_{kind}_selection": _getter(kind) for kind in KINDS},
            **{f"set_{kind}_selection": _setter(kind) for kind in KINDS},
        },
        module.AsyncArray: {
            "getitem": _async_getter("basic"),
            "setitem": _async_setter,
            **{f"get_{kind}_selection": _async_getter(kind) for kind in _ASYNC_KINDS},
        },
    }
    for kind, methods in wraps.items():
        for name in methods:
            if not callable(getattr(kind, name, None)):
                raise RuntimeError(
                    f"accelerate() does not know this version of zarr-python: "
                    f"{kind.__name__} has no method {name}; nothing was replaced"
                )
    is_plain = plain_buffers()
    for kind, methods in wraps.items():
        for name, wrap in methods.items():
            original = kind.__dict__[name]
            _originals[kind, name] = original
            setattr(kind, name, functools.wraps(original)(wrap(original, is_plain)))


def _restore() -> None:
    while _originals:
        (kind, name), original = _originals.popitem()
        setattr(kind, name, original)


def _zarr_array_module() -> Any:
    try:
        module = importlib.import_module("zarr.core.array")
    except ImportError:
        raise ImportError(
            "zarrix.interop.accelerate() is for zarr-python 3, which is not installed: "
            "pip install 'zarr>=3'"
        ) from None
    if module.Array.__module__.partition(".")[0] != "zarr":
        raise RuntimeError(
            "zarrix.as_zarr is installed: zarr is zarrix itself, which needs no accelerate()"
        )
    return module


# The methods


def _getitem(original: Any, is_plain: Callable[[Any], bool]) -> Any:
    array_type = _zarr_array_module().Array

    def getitem(self: Any, selection: Any) -> Any:
        # A subclass may have methods of its own for the kinds of selections.
        if type(self) is array_type and is_plain(None):
            bound = bound_to(self._async_array)
            if bound is not None:
                found = read_box(bound, keys.basic(selection, bound.shape))
                if found is not DECLINED:
                    if found.shape or (bound.shape and not keys.is_scalar_key(selection)):
                        return found
                    return found[()]
        return original(self, selection)

    return getitem


def _setitem(original: Any, is_plain: Callable[[Any], bool]) -> Any:
    array_type = _zarr_array_module().Array

    def setitem(self: Any, selection: Any, value: Any) -> None:
        if type(self) is array_type and is_plain(None):
            bound = bound_to(self._async_array)
            if bound is not None:
                box = keys.basic(selection, bound.shape)
                if write_box(bound, box, value) is not DECLINED:
                    return
        original(self, selection, value)

    return setitem


def _getter(kind: str) -> Callable[[Any, Any], Any]:
    def wrap(original: Any, is_plain: Callable[[Any], bool]) -> Any:
        def get(
            self: Any,
            selection: Any = Ellipsis,
            *,
            out: Any = None,
            prototype: Any = None,
            fields: Any = None,
        ) -> Any:
            found = read_key(self._async_array, kind, selection, out, fields, is_plain(prototype))
            if found is not DECLINED:
                return found
            return original(self, selection, out=out, prototype=prototype, fields=fields)

        return get

    return wrap


def _setter(kind: str) -> Callable[[Any, Any], Any]:
    def wrap(original: Any, is_plain: Callable[[Any], bool]) -> Any:
        def set_(
            self: Any, selection: Any, value: Any, *, fields: Any = None, prototype: Any = None
        ) -> None:
            plain = is_plain(prototype)
            if write_key(self._async_array, kind, selection, value, fields, plain) is DECLINED:
                original(self, selection, value, fields=fields, prototype=prototype)

        return set_

    return wrap


def _async_getter(kind: str) -> Callable[[Any, Any], Any]:
    def wrap(original: Any, is_plain: Callable[[Any], bool]) -> Any:
        async def get(self: Any, selection: Any, *, prototype: Any = None, **options: Any) -> Any:
            out, fields = options.get("out"), options.get("fields")
            plain = is_plain(prototype)
            found = await in_pool(threads(), read_key, self, kind, selection, out, fields, plain)
            if found is not DECLINED:
                return found
            return await original(self, selection, prototype=prototype, **options)

        return get

    return wrap


def _async_setter(original: Any, is_plain: Callable[[Any], bool]) -> Any:
    async def setitem(self: Any, selection: Any, value: Any, prototype: Any = None) -> None:
        plain = is_plain(prototype)
        found = await in_pool(threads(), write_key, self, "basic", selection, value, None, plain)
        if found is DECLINED:
            await original(self, selection, value, prototype=prototype)

    return setitem
