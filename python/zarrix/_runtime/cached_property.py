"""An attribute that is computed when it is first asked for, without a lock.

`functools.cached_property` of Python 3.11 computes under one lock for all instances, and a child
that is forked while another thread computes finds it locked for ever. Here threads that ask at the
same time may each compute; all get the value that was stored first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

__all__ = ["cached_property"]

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801
    """Decorates a method without arguments, whose result becomes an attribute of the instance.

    Like `functools.cached_property`, without its lock: see the module.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> T | cached_property[T]:
        if instance is None:
            return self
        computed = self._compute(instance)
        value: T = instance.__dict__.setdefault(self._name, computed)
        return value
