"""Shards in a codec chain: what their chunks are, and which codecs move into them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from zarrix._codecs.table import ELEMENTWISE
from zarrix._errors import MetadataError, shorten

__all__ = ["inner_shape", "into_shards", "shard_of", "transpositions_first"]

Config = Mapping[str, Any]


def shard_of(codecs: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Configuration of the shards, if their inner chunks can be read alone."""
    for codec in codecs:
        if codec["name"] == "sharding_indexed":
            configuration: Mapping[str, Any] = codec.get("configuration", {})
            return configuration
        if codec["name"] != "transpose" and codec["name"] not in ELEMENTWISE:
            break
    return None


def inner_shape(
    configuration: Mapping[str, Any], shard: tuple[int, ...], label: str
) -> tuple[int, ...]:
    """The shape of the inner chunks of a shard, with axes in stored order."""
    shape = configuration.get("chunk_shape")
    if not isinstance(shape, list | tuple) or any(type(n) is not int or n < 1 for n in shape):
        raise MetadataError(
            f"{label}: sharding_indexed has the 'chunk_shape' {shorten(shape)}; expected a list of "
            "whole numbers of at least 1"
        )
    if len(shape) != len(shard) or any(n % m for n, m in zip(shard, shape, strict=True)):
        raise MetadataError(
            f"{label}: sharding_indexed has the 'chunk_shape' {[*shape]}, which does not divide "
            f"the shard {list(shard)}"
        )
    return tuple(shape)


def transpositions_first(codecs: list[Config]) -> list[Config]:
    """The same chain, with transpositions moved before elementwise codecs."""
    first = 0
    ordered = list(codecs)
    for position, codec in enumerate(codecs):
        if codec["name"] == "transpose":
            ordered.insert(first, ordered.pop(position))
            first += 1
        elif codec["name"] not in ELEMENTWISE:
            break
    return ordered


def into_shards(codecs: list[Config]) -> list[Config]:
    """The same chain, with elementwise codecs moved into the shard that follows them.

    Then inner chunks can be read and written alone; the stored bytes are the same.
    """
    names = [one["name"] for one in codecs]
    if "sharding_indexed" not in names:
        return codecs
    place = names.index("sharding_indexed")
    first = next(i for i, name in enumerate(names) if name != "transpose")
    configuration = codecs[place].get("configuration", {})
    inner = configuration.get("codecs")
    if not isinstance(inner, list) or not ELEMENTWISE.issuperset(names[first:place]):
        return codecs
    inside = {**configuration, "codecs": [*codecs[first:place], *inner]}
    shard = {"name": "sharding_indexed", "configuration": inside}
    return [*codecs[:first], shard, *codecs[place + 1 :]]
