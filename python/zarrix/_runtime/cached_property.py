"""An attribute that is computed on first access, without a lock.

`functools.cached_property` of Python 3.11 computes under one lock for all instances. A child that
is forked while another thread computes finds the lock held forever. Here several threads may
compute the value at the same time; all of them get the value that was stored first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

__all__ = ["cached_property"]

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801
    """Decorate a method without arguments; its result becomes an attribute of the instance.

    It is like `functools.cached_property`, without the lock: see the module.
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
