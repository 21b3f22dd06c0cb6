"""The filters of HDF5 as codecs of Zarr v2."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Filters"]

_BLOSC = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
_NAMES = {
    4: "szip", 5: "nbit", 6: "scaleoffset", 32000: "lzf", 32004: "lz4 (a framing of its own)",
    32008: "bitshuffle", 32013: "zfp", 32026: "blosc2",
}  # fmt: skip


@dataclass
class Filters:
    """The pipeline of a dataset.

    Attributes
    ----------
    codecs : list of dict
        The configuration of each filter as a codec of numcodecs, in the order of encoding.
    unknown : str
        Why the chunks cannot be kept; empty if all filters are codecs.
    """

    codecs: list[dict[str, Any]] = field(default_factory=list)
    unknown: str = ""

    @classmethod
    def of(cls, dataset: Any) -> Filters:
        """The pipeline of a dataset of h5py."""
        properties = dataset.id.get_create_plist()
        made = cls()
        nbytes = math.prod(dataset.chunks or ()) * dataset.dtype.itemsize
        for index in range(properties.get_nfilters()):
            code, _, values, _ = properties.get_filter(index)
            codec = _codec(code, values, dataset.dtype.itemsize)
            if codec is None:
                name = _NAMES.get(code, str(code))
                made.unknown = f"its filter {name} is not a codec of Zarr"
                return made
            if codec["id"] == "shuffle" and nbytes % max(1, codec["elementsize"]):
                made.unknown = "it shuffles chunks that are not whole elements"
                return made
            # A checksum is part of what later filters get.
            nbytes += 4 * (codec["id"] == "fletcher32")
            made.codecs.append(codec)
        return made

    def split(self) -> tuple[list[dict[str, Any]] | None, dict[str, Any] | None]:
        """The filters and the compressor of v2."""
        if self.codecs and self.codecs[-1]["id"] in ("zlib", "blosc", "zstd", "bz2"):
            return self.codecs[:-1] or None, self.codecs[-1]
        return self.codecs or None, None


def _codec(code: int, values: Any, itemsize: int) -> dict[str, Any] | None:
    match code:
        case 1:
            return {"id": "zlib", "level": int(values[0]) if values else 1}
        case 2:
            return {"id": "shuffle", "elementsize": int(values[0]) if values else itemsize}
        case 3:
            return {"id": "fletcher32"}
        case 307:
            return {"id": "bz2", "level": int(values[0]) if values else 9}
        case 32015:
            return {"id": "zstd", "level": int(values[0]) if values else 3}
        case 32001:
            level, shuffle, name = (*values[4:7], *(5, 1, 0)[max(0, len(values) - 4) :])[:3]
            if name >= len(_BLOSC):
                return None
            return {
                "id": "blosc", "cname": _BLOSC[name], "clevel": int(level),
                "shuffle": int(shuffle), "blocksize": 0,
            }  # fmt: skip
    return None
