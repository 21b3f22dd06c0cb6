"""Codecs of images: the names and configurations of imagecodecs and of the registry of extensions.

A chunk is one picture. Its shape, without axes of length 1, is ``(height, width)`` or ``(height,
width, channels)``, as in imagecodecs. The engine has the configurations that mean the defaults of
libjpeg; others are left to imagecodecs, which is called in Python.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from zarrix._codecs.bound import UINT8, Bound, Config, DType
from zarrix._runtime.dialect import DIALECT

__all__ = [
    "ImageBinding",
    "chain_end",
    "drafted",
    "is_image",
    "jpeg",
    "jpeg_draft",
    "lossy_codec",
    "png",
    "spelled",
    "webp",
]

ImageBinding = Callable[[Config, DType, "tuple[int, ...]", bool], Bound]
"""Takes a configuration, the dtype and the shape of the input, and whether the array is new."""

_SUBSAMPLINGS = {
    (1, 1): "444",
    (2, 1): "422",
    (2, 2): "420",
    (1, 2): "440",
    (4, 1): "411",
}
# Numbers and names of libjpeg.
_SPACES = {1: "gray", 2: "rgb", 3: "ycbcr", "GRAYSCALE": "gray", "RGB": "rgb", "YCBCR": "ycbcr"}
_OF_LIBJPEG: Config = {
    "bitspersample": (None, 8),
    "smoothing": (None, False, 0),
    "lossless": (None, False, 0),
    "predictor": (None, 0),
    "fancyupsampling": (None, True),
}
_NAMES = frozenset({"imagecodecs_jpeg", "jpeg", "imagecodecs_png", "imagecodecs_webp"})
_QUALITY = 90
_UINT16 = np.dtype("<u2")
# The longest side of a picture.
_PNG_LEVEL, _WEBP_QUALITY = 6, 75
_OF_JPEG, _OF_PNG, _OF_WEBP = 65500, 1 << 24, 16383


def is_image(name: str) -> bool:
    """Whether a codec of this name makes a picture of a chunk."""
    return name.removeprefix("numcodecs.") in _NAMES


def lossy_codec(codecs: Iterable[Config]) -> str | None:
    """The name of a codec of a chain, or of the chunks of a shard, that changes what it encodes
    again; None if there is none.
    """
    for codec in codecs:
        if is_image(codec["name"]):
            return str(codec["name"]) if _is_lossy(codec) else None
        inner = codec.get("configuration", {}).get("codecs")
        if codec["name"] == "sharding_indexed" and isinstance(inner, list):
            return lossy_codec(inner)
    return None


def _is_lossy(codec: Config) -> bool:
    name = codec["name"].removeprefix("numcodecs.")
    if name == "imagecodecs_webp":
        return codec.get("configuration", {}).get("lossless") is False
    return bool(name != "imagecodecs_png")


def spelled(text: str) -> dict[str, Any] | None:
    """The configuration that a short text means: ``"jpeg:90"``, ``"png"``, ``"webp"``, which is
    lossless, and ``"webp:90"``, which is not; None for other texts.

    Raises
    ------
    ValueError
        What follows the name is not a quality.

    Examples
    --------
    >>> spelled("jpeg:95")
    {'id': 'imagecodecs_jpeg', 'level': 95, 'subsampling': '420'}
    >>> spelled("jpeg:100:444")["subsampling"]
    '444'
    """
    name, *given = text.split(":")
    if name in ("png", "webp"):
        return _spelled_lossless(text, name, given)
    if name != "jpeg":
        return None
    level, subsampling, *more = [*given, *(str(_QUALITY), "420")[len(given) :]]
    if more or not level.isdecimal() or int(level) > 100 or subsampling not in _texts():
        raise ValueError(
            f"{text!r} is not 'jpeg:QUALITY' or 'jpeg:QUALITY:SUBSAMPLING', with a quality from 0 "
            f"to 100 and a subsampling of {', '.join(_texts())}"
        )
    return {"id": "imagecodecs_jpeg", "level": int(level), "subsampling": subsampling}


def _spelled_lossless(text: str, name: str, values: list[str]) -> dict[str, Any]:
    most = 9 if name == "png" else 100
    if len(values) > 1 or not all(one.isdecimal() and int(one) <= most for one in values):
        what = "LEVEL', with a level from 0 to 9" if name == "png" else (
            "QUALITY', with a quality from 0 to 100"
        )  # fmt: skip
        raise ValueError(f"{text!r} is not '{name}' or '{name}:{what}")
    level = {"level": int(values[0])} if values else {}
    if name == "png":
        return {"id": "imagecodecs_png", **level}
    return {"id": "imagecodecs_webp", "lossless": not values, **level}


def chain_end(serializer: str) -> list[dict[str, Any]]:
    """The codecs on bytes that follow a serializer by default: a checksum after a picture, in which
    damage would otherwise be other pixels. PNG has checksums of its own. Other chunks have one in
    their zstd frame, except under `zarrix.as_zarr`: zarr-python's have none.
    """
    if serializer.removeprefix("numcodecs.") == "imagecodecs_png":
        return []
    if is_image(serializer):
        return [{"name": "crc32c"}]
    return [{"name": "zstd", "configuration": {"level": 0, "checksum": not DIALECT.is_zarr3}}]


def drafted(config: Config) -> dict[str, Any]:
    """The configuration of the draft ``jpeg`` of the registry for one of imagecodecs."""
    factors = next(key for key, text in _SUBSAMPLINGS.items() if text == config["subsampling"])
    return {
        "quality": config["level"],
        "encoded_color_space": "ycbcr",
        "subsampling": [list(factors), [1, 1], [1, 1]],
    }


def jpeg(config: Config, dtype: DType, shape: tuple[int, ...], new: bool) -> Bound:
    """The binding of ``imagecodecs_jpeg``."""
    given = {key: value for key, value in config.items() if value is not None}
    native = dtype == UINT8 and all(
        given.pop(key, None) in usual for key, usual in _OF_LIBJPEG.items()
    )
    smaller = given.pop("reduced", None)
    picture = _picture(shape, given.pop("squeeze", None), (1, 3), _OF_JPEG)
    if smaller and picture:
        # A view of smaller pictures, whose streams have the size in the configuration.
        picture.update(zip(("reduction", "height", "width"), smaller, strict=True))
    subsampling = _subsampling(given.pop("subsampling", "420"))
    spaces = _spaces(given)
    if new:
        _check(dtype, shape, picture, given.get("level", 95), subsampling)
    if not native or picture is None or subsampling is None or spaces is None:
        return Bound(None)
    level = given.pop("level", 95)
    bound: dict[str, Any] = {
        **picture,
        **spaces,
        # As imagecodecs, which limits it.
        "quality": min(max(int(level), 0), 100),
        "subsampling": subsampling,
        "optimize": bool(given.pop("optimize", False)),
        **{key: _bytes(given.pop(key)) for key in ("tables", "header") if key in given},
    }
    return Bound(None if given else bound, name="zarrix.jpeg")


def jpeg_draft(config: Config, dtype: DType, shape: tuple[int, ...], new: bool) -> Bound:
    """The binding of ``jpeg`` in the registry of extensions, whose chunks have no axes to leave
    out.
    """
    space = config.get("encoded_color_space", "ycbcr")
    factors = config.get("subsampling", [[1, 1]])
    found: dict[str, Any] = {"level": config.get("quality", 95), "subsampling": None}
    found["reduced"] = config.get("reduced")
    if space not in ("ycbcr", "rgb", "grayscale"):
        raise ValueError(
            f"has 'encoded_color_space' = {space!r}; allowed are ycbcr, rgb, grayscale"
        )
    if isinstance(factors, list) and factors and isinstance(factors[0], list):
        found["subsampling"] = _SUBSAMPLINGS.get(tuple(factors[0]))
    if found["subsampling"] is None:
        raise ValueError(f"has 'subsampling' = {factors!r}, not pairs of factors of components")
    if space == "rgb":
        found["colorspace_jpeg"] = "RGB"
    _check(dtype, shape, _picture(shape, False, (1, 3), _OF_JPEG), found["level"], "444")
    return jpeg({**found, "squeeze": False}, dtype, shape, new)


def png(config: Config, dtype: DType, shape: tuple[int, ...], new: bool) -> Bound:
    """The binding of ``imagecodecs_png``."""
    given = {key: value for key, value in config.items() if value is not None}
    picture = _picture(shape, given.pop("squeeze", None), (1, 2, 3, 4), _OF_PNG)
    level = given.pop("level", -1)
    for hint in ("strategy", "filter"):
        given.pop(hint, None)
    if new:
        if dtype not in (UINT8, _UINT16):
            raise ValueError(f"is for elements of uint8 and little-endian uint16, not of {dtype}")
        _check_picture(shape, picture, "(height, width) or (height, width, 2 to 4)")
        _check_number("level", level, -1, 9)
    if dtype not in (UINT8, _UINT16) or picture is None or given:
        return Bound(None)
    level = min(int(level), 9)
    bound = {**picture, "sample": dtype.itemsize, "level": level if level >= 0 else _PNG_LEVEL}
    return Bound(bound, name="zarrix.png")


def webp(config: Config, dtype: DType, shape: tuple[int, ...], new: bool) -> Bound:
    """The binding of ``imagecodecs_webp``, which is lossless unless ``lossless`` is false."""
    given = {key: value for key, value in config.items() if value is not None}
    picture = _picture(shape, given.pop("squeeze", None), (3, 4), _OF_WEBP)
    level, method = given.pop("level", -1), given.pop("method", 4)
    lossless, alpha = given.pop("lossless", True), given.pop("hasalpha", True)
    given.pop("numthreads", None)
    is_first = given.pop("index", 0) == 0
    if new:
        if dtype != UINT8:
            raise ValueError(f"is for elements of uint8, not of {dtype}")
        _check_picture(shape, picture, "(height, width, 3 or 4)")
        _check_number("level", level, -1, 100)
        _check_number("method", method, 0, 6)
    if dtype != UINT8 or picture is None or given or not is_first:
        return Bound(None)
    bound: dict[str, Any] = {
        **picture,
        "lossless": bool(lossless),
        # The effort of a lossless stream, which other programs set to 75, too.
        "quality": _WEBP_QUALITY if lossless or level < 0 else min(int(level), 100),
        "method": min(max(int(method), 0), 6),
        "drops_alpha": not alpha,
    }
    return Bound(bound, name="zarrix.webp")


def _texts() -> list[str]:
    return list(_SUBSAMPLINGS.values())


def _picture(
    shape: tuple[int, ...], squeeze: Any, channels: tuple[int, ...], longest: int
) -> dict[str, int] | None:
    """Height, width and channels of a chunk; None if it is not a picture."""
    if squeeze is None:
        shape = tuple(length for length in shape if length != 1)
        shape = (1,) * (2 - len(shape)) + shape
    elif squeeze:
        if not isinstance(squeeze, (list, tuple)) or len(squeeze) != len(shape):
            return None
        shape = tuple(n for n, drop in zip(shape, squeeze, strict=True) if not drop)
    if len(shape) == 2:
        shape = (*shape, 1)
    if len(shape) != 3 or shape[2] not in channels or not all(0 < n <= longest for n in shape):
        return None
    return dict(zip(("height", "width", "channels"), shape, strict=True))


def _subsampling(value: Any) -> str | None:
    if isinstance(value, (list, tuple)):
        return _SUBSAMPLINGS.get(tuple(value))
    return value if value in _texts() else None


def _spaces(options: dict[str, Any]) -> dict[str, str] | None:
    """The color spaces of the stream and of the chunk; None if the engine lacks one."""
    found = {}
    for key, name in (("colorspace_jpeg", "stored_space"), ("colorspace_data", "space")):
        value = options.pop(key, None)
        if value is None:
            continue
        space = _SPACES.get(value.upper() if isinstance(value, str) else value)
        if space is None:
            return None
        found[name] = space
    return found


def _bytes(text: Any) -> list[int]:
    """Bytes of a configuration, which are base64 in documents."""
    if isinstance(text, bytes):
        return list(text)
    try:
        return list(base64.b64decode(text, validate=True))
    except (binascii.Error, TypeError, ValueError):
        raise ValueError("has tables or a header that is not base64") from None


def _check(
    dtype: DType, shape: tuple[int, ...], picture: Mapping[str, int] | None, level: Any, sub: Any
) -> None:
    if dtype != UINT8:
        raise ValueError(f"is for elements of uint8, not of {dtype}")
    _check_picture(shape, picture, "(height, width) or (height, width, 3)")
    _check_number("quality", level, 0, 100)
    if sub is None:
        raise ValueError(f"has a subsampling that is not one of {', '.join(_texts())}")


def _check_picture(shape: tuple[int, ...], picture: Mapping[str, int] | None, shapes: str) -> None:
    if picture is None:
        raise ValueError(
            f"is for chunks that are one picture, {shapes}, with any axes of length 1, not of "
            f"{shape}; pass such chunks=, and put the channels last"
        )


def _check_number(name: str, value: Any, lowest: int, highest: int) -> None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not lowest <= value <= highest:
        raise ValueError(f"has the {name} {value!r}; allowed are {lowest} to {highest}")
