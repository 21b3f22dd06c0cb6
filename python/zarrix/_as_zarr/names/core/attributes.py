"""Names of ``zarr.core.attributes``."""

from __future__ import annotations

from abc import ABCMeta
from typing import Any

from zarrix._nodes import attributes

__all__ = ["Attributes"]


class _OfNode(ABCMeta):
    """The class of `Attributes`, which are made of a node, and not of a store and a key."""

    def __call__(cls, obj: Any) -> Any:
        return obj.attrs

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, attributes.Attributes)


class Attributes(attributes.Attributes, metaclass=_OfNode):
    """The attributes of an array or group: ``Attributes(node)`` is ``node.attrs``."""
