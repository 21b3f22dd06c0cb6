"""The route ``node``: everything about an array or a group that needs no chunk."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from typing import Any

from zarrix._array.access import metadata_of
from zarrix._metadata.chunk_grid import AxisGrid
from zarrix._nodes import nodes
from zarrix.viewer._answers import Answer, fits, json_answer
from zarrix.viewer._axes import dims_of, units_of
from zarrix.viewer._badges import badges_of
from zarrix.viewer._codec_words import codec_words
from zarrix.viewer._decoded import convention_of, unit_of
from zarrix.viewer._guess import Guess, guess
from zarrix.viewer._limits import MOST_ATTRIBUTE_BYTES
from zarrix.viewer._ome import channels_of
from zarrix.viewer._parameters import Parameters
from zarrix.viewer._pyramid import first_array, levels_of
from zarrix.viewer._roots import Roots, is_array
from zarrix.viewer._text import dtype_text, exact
from zarrix.viewer._tile_types import components_of, tile_type

__all__ = ["document_of", "node"]

# The most chunk lengths that an answer lists.
_MOST_LENGTHS = 20_000
_MOST_FIELDS = 1000


def node(roots: Roots, parameters: Parameters) -> Answer:
    """The node at a path, with its metadata as it is stored now."""
    return json_answer(document_of(roots, parameters.text("path"), anew=True))


def document_of(roots: Roots, path: str, *, anew: bool = False) -> dict[str, Any]:
    """The node at a path as JSON has it."""
    found = roots.find(path, anew=anew)
    if found is None:
        names = list(roots.roots)
        return {"path": "", "name": "", "kind": "group", "members": len(names), "badges": [],
                "attributes": {}, "attributes_truncated": False, "multiscale": None,
                "first": first_array(roots, "")}  # fmt: skip
    attributes = found.attrs.asdict()
    is_large = not fits(attributes, MOST_ATTRIBUTE_BYTES)
    both = {
        "path": path,
        "name": path.rpartition("/")[2] or roots.name_of(path),
        "zarr_format": found.zarr_format,
        "attributes": {} if is_large else attributes,
        "attributes_truncated": is_large,
        "badges": badges_of(found),
    }
    if is_array(found):
        return {**both, **_array(roots, path, found)}
    levels = levels_of(roots, path, None)
    # One listing; a remote store is not asked for a count.
    members = None if roots.is_remote(path) else len(roots.names(path))
    multiscale = {"levels": levels} if levels else None
    return {**both, "kind": "group", "members": members, "multiscale": multiscale,
            "first": first_array(roots, path)}  # fmt: skip


def _array(roots: Roots, path: str, array: Any) -> dict[str, Any]:
    parent = roots.parent(path)
    dims = dims_of(array, parent)
    guessed = guess(path or roots.name_of(path), array.shape, array.dtype, dims)
    channels = channels_of({} if parent is None else parent.attrs.asdict())
    if channels and guessed.axes.get("c") is not None:
        guessed = _with_channels(guessed, len(channels), array.shape)
    is_decoded = convention_of(array) is not None
    if is_decoded:
        # Black and white of bytes are not those of what they mean.
        guessed = dataclasses.replace(guessed, range=None)
    metadata = metadata_of(array)
    sharded = metadata.shard_codec is not None
    return {
        "kind": "array",
        "shape": array.shape,
        "dtype": dtype_text(array.dtype),
        "dims": dims,
        "units": units_of(array, parent),
        "decodes": is_decoded,
        "unit": unit_of(array),
        "tile": tile_type(array.dtype),
        "components": components_of(array.dtype),
        "fields": _fields(array.dtype),
        "chunks": _lengths(metadata.inner_grid, array.shape),
        "shards": _lengths(metadata.grid, array.shape) if sharded else None,
        "grid": _counts(metadata.inner_grid, array.shape),
        "codecs": codec_words(metadata),
        "fill_value": None if array.fill_value is None else exact(array.fill_value),
        "order": array.order,
        "nbytes": array.nbytes,
        "store": type(array.store).__name__,
        "remote": roots.is_remote(path),
        "guess": {**guessed.document(), "channels": channels},
        "kinds": guessed.kinds,
        "levels": levels_of(roots, path, array),
        "etag": hashlib.blake2b(nodes.array_document(metadata), digest_size=8).hexdigest(),
    }


def _with_channels(guessed: Guess, count: int, shape: Sequence[int]) -> Guess:
    """The guess for an image whose channels are described: all of these."""
    if count != shape[guessed.axes["c"]] or "channels" not in guessed.kinds:
        return guessed
    kinds = ["channels", *(kind for kind in guessed.kinds if kind != "channels")]
    reason = f"{count} channels that omero describes"
    return dataclasses.replace(guessed, kind="channels", range=None, kinds=kinds, reason=reason)


def _fields(dtype: Any) -> list[dict[str, Any]] | None:
    if not dtype.names:
        return None
    found = []
    for name in dtype.names[:_MOST_FIELDS]:
        base, shape = dtype[name].base, dtype[name].shape
        tile = tile_type(base)
        found.append({"name": name, "dtype": dtype_text(base), "tile": tile, "shape": shape})
    return found


def _counts(grid: Sequence[AxisGrid], shape: Sequence[int]) -> list[int]:
    return [axis.count(size) for axis, size in zip(grid, shape, strict=True)]


def _lengths(grid: Sequence[AxisGrid], shape: Sequence[int]) -> list[Any]:
    """The length of chunks along each axis; all lengths if they differ."""
    if all(axis.even for axis in grid):
        return [axis.even for axis in grid]
    counts = _counts(grid, shape)
    if sum(counts) > _MOST_LENGTHS:
        return [max(axis.lengths) for axis in grid]
    return [list(axis.sizes(size)) for axis, size in zip(grid, shape, strict=True)]
