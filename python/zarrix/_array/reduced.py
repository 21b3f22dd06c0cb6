"""The metadata of smaller pictures, which the codec of the chunks decodes in that size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from zarrix._metadata import v2, v3
from zarrix._metadata.array import ArrayMetadata

__all__ = ["has_reduced", "metadata_of_reduced"]

_FACTORS = (2, 4, 8)
_JPEG = ("imagecodecs_jpeg", "jpeg")


def has_reduced(metadata: ArrayMetadata) -> bool:
    """Whether the chunks are JPEG pictures, which are decoded in smaller sizes, too.

    Those of a view that is smaller already are not decoded in a third size.
    """
    codecs = _codecs_of_pictures(metadata)
    return (
        len(codecs) == 1
        and codecs[0]["name"].removeprefix("numcodecs.") in _JPEG
        and "reduced" not in codecs[0].get("configuration", {})
    )


def metadata_of_reduced(metadata: ArrayMetadata, factor: int) -> ArrayMetadata:
    """``metadata`` with the axes of the picture divided by ``factor``.

    Raises
    ------
    ValueError
        The factor is not 2, 4 or 8, the codec of the chunks has one size only, or smaller chunks
        would not lie beside each other.
    """
    if factor not in _FACTORS:
        raise ValueError(f"reduced({factor!r}): the factor is 2, 4 or 8")
    lengths = tuple(axis.even or 0 for axis in metadata.inner_grid)
    axes = [axis for axis, length in enumerate(lengths) if length != 1][:2]
    if not has_reduced(metadata) or len(axes) < 2 or 0 in lengths:
        raise ValueError(_why_one_size(metadata, lengths, factor))
    _check_multiples(metadata, lengths, axes, factor)

    def smaller(shape: Sequence[int]) -> list[int]:
        return [-(-n // factor) if axis in axes else n for axis, n in enumerate(shape)]

    reduced = {"reduced": [factor, *(lengths[axis] for axis in axes)]}
    if metadata.zarr_format == 2:
        return v2.new_array(
            shape=tuple(smaller(metadata.shape)),
            chunks=tuple(smaller(lengths)),
            dtype=metadata.dtype,
            compressor={**(metadata.compressor_config or {}), **reduced},
            fill_value=metadata.fill_value,
            order=metadata.order,
            filters=metadata.filter_configs,
            dimension_separator=metadata.dimension_separator,
            label="reduced()",
        )
    chunks = smaller(metadata.chunk_shape)
    document = {
        **metadata.extra,
        "shape": smaller(metadata.shape),
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
        "codecs": [_reduced(codec, reduced, smaller) for codec in metadata.extra["codecs"]],
    }
    return v3.parse_array(document, label="reduced()")


def _why_one_size(metadata: ArrayMetadata, lengths: Sequence[int], factor: int) -> str:
    codecs = _codecs_of_pictures(metadata)
    if any("reduced" in codec.get("configuration", {}) for codec in codecs):
        return (
            f"{metadata.where}: reduced({factor}) of a view of reduced(): ask the array itself for "
            "the smaller size"
        )
    if 0 in lengths:
        return f"{metadata.where}: reduced({factor}) is for chunks of one length along each axis"
    names = ", ".join(codec["name"] for codec in codecs) or "no codec"
    return (
        f"{metadata.where}: reduced() is for chunks that are JPEG pictures, and these are "
        f"{lengths} by {names}; zarr.jobs.downsample makes a smaller copy of any array"
    )


def _check_multiples(
    metadata: ArrayMetadata, lengths: Sequence[int], axes: Sequence[int], factor: int
) -> None:
    for axis in axes:
        if lengths[axis] % factor and metadata.shape[axis] > lengths[axis]:
            raise ValueError(
                f"{metadata.where}: reduced({factor}) needs chunks whose lengths are multiples of "
                f"{factor}, and axis {axis} has chunks of {lengths[axis]}; zarr.jobs.downsample "
                "makes a smaller copy of any array"
            )


def _codecs_of_pictures(metadata: ArrayMetadata) -> list[Any]:
    """The codecs of an inner chunk, without checksums."""
    codecs: Any = metadata.codecs
    while len(codecs) == 1 and codecs[0]["name"] == "sharding_indexed":
        codecs = codecs[0]["configuration"]["codecs"]
    return [codec for codec in codecs if codec["name"] not in ("crc32c", "bytes")]


def _reduced(codec: Any, reduced: Mapping[str, Any], smaller: Any) -> Any:
    """A codec of a document, or the codecs inside of a shard, of the smaller chunks."""
    if isinstance(codec, str) or codec["name"] == "crc32c":
        return codec
    configuration = dict(codec.get("configuration", {}))
    if codec["name"] == "sharding_indexed":
        configuration["chunk_shape"] = smaller(configuration["chunk_shape"])
        configuration["codecs"] = [
            _reduced(one, reduced, smaller) for one in configuration["codecs"]
        ]
    else:
        configuration |= reduced
    return {**codec, "configuration": configuration}
