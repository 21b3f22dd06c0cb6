"""Making asynchronous counterparts of classes and functions.

A counterpart is not a second implementation: every coroutine is the synchronous call in a thread of
the event loop's executor, where the engine works without the GIL. `zarrix._runtime.threads`
describes cancellation.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from types import GenericAlias
from typing import Any, ClassVar, TypeVar

from zarrix._runtime.threads import in_thread

__all__ = [
    "COUNTERPARTS",
    "Counterpart",
    "add_awaited",
    "add_iterated",
    "as_async",
    "as_sync",
    "awaitable",
    "iterate",
    "words",
]

T = TypeVar("T")


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


COUNTERPARTS: dict[type[Any], Callable[[Any], Any]] = {}
"""The asynchronous counterpart of each class; `zarrix._hierarchy.asynchronous` fills it."""


def as_async(value: Any) -> Any:
    """``value``, with an asynchronous counterpart for every array or group."""
    if isinstance(value, tuple):
        return tuple(as_async(one) for one in value)
    for kind, counterpart in COUNTERPARTS.items():
        if isinstance(value, kind):
            return counterpart(value)
    return value


def as_sync(value: Any) -> Any:
    """``value``, or the array or group behind an asynchronous counterpart."""
    return value._sync if isinstance(value, Counterpart) else value


def awaitable(function: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
    """A coroutine function that calls ``function`` in another thread."""

    @functools.wraps(function)
    async def awaited(*args: Any, **kwargs: Any) -> Any:
        plain = [as_sync(one) for one in args]
        named = {name: as_sync(one) for name, one in kwargs.items()}
        return as_async(await in_thread(function, *plain, **named))

    return awaited


async def iterate(function: Callable[[], Iterable[T]]) -> AsyncIterator[T]:
    """The result of ``function``, computed in another thread."""
    for one in await in_thread(lambda: list(function())):
        yield one


class Counterpart:
    """An asynchronous counterpart: it has the properties of the array or group behind it."""

    __slots__ = ("_sync",)
    _sync: Any
    # Properties that need no request to the store.
    _seen: frozenset[str] = frozenset()
    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)

    def __getattr__(self, name: str) -> Any:
        if name in self._seen:
            return as_async(getattr(self._sync, name))
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._seen})

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and bool(self._sync == other._sync)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._sync!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # Not as state, because an empty group is false, and older pickle protocols leave out false
        # states.
        return type(self), (self._sync,)


def add_awaited(cls: type[Counterpart], source: type[Any], names: str) -> None:
    """Give a counterpart the methods of its source, as coroutines."""
    for name in words(names):
        function = awaitable(getattr(source, name))

        def method(self: Any, *args: Any, _function: Any = function, **kwargs: Any) -> Any:
            return _function(self, *args, **kwargs)

        setattr(cls, name, functools.update_wrapper(method, function))


def add_iterated(cls: type[Counterpart], source: type[Any], names: str) -> None:
    """Give a counterpart the methods of its source that iterate, as asynchronous iterators."""
    for name in words(names):
        function = getattr(source, name)

        async def method(
            self: Any, *args: Any, _function: Any = function, **kwargs: Any
        ) -> AsyncIterator[Any]:
            async for one in iterate(lambda: _function(self._sync, *args, **kwargs)):
                yield as_async(one)

        setattr(cls, name, functools.update_wrapper(method, function))
