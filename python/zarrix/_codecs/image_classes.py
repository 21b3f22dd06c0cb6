"""The classes of codecs of images, which users see in `zarrix.codecs`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from zarrix._codecs.codec import in_range, one_of
from zarrix._codecs.kinds import ArrayBytesCodec
from zarrix._codecs.table import REGISTERED

__all__ = ["JpegCodec", "PngCodec", "WebpCodec"]


class _PictureCodec(ArrayBytesCodec):
    """One picture for each chunk, by a codec of imagecodecs."""

    def __post_init__(self) -> None:
        for option, limits in REGISTERED[self.name].options.items():
            if limits is not None and getattr(self, option) is not None:
                in_range(self, option)


@dataclass(frozen=True, kw_only=True)
class JpegCodec(_PictureCodec):
    """Each chunk is one JPEG picture: gray, or red, green and blue, in elements of uint8.

    JPEG is lossy. Values are those of libjpeg-turbo, which Pillow and imagecodecs have, too. A
    chunk has the shape ``(height, width)`` or ``(height, width, 3)`` and any axes of length 1. The
    codec is that of imagecodecs. ``compressor="jpeg:90"`` is short for it.

    Parameters
    ----------
    level : int
        The quality, from 0 to 100.
    subsampling : {"420", "422", "440", "411", "444"}
        How many samples color has: in ``"420"``, one for four pixels.
    optimize : bool, optional
        Compute tables for each chunk: a few percent smaller, and slower to write.

    Raises
    ------
    MetadataError
        A value is not allowed.

    See Also
    --------
    zarrix.config : ``lossy_writes`` says what a write of a part of a chunk does.

    References
    ----------
    ITU-T T.81; codec ``imagecodecs_jpeg`` of imagecodecs.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix.codecs import JpegCodec
    >>> frames = np.zeros((2, 64, 64, 3), "u1")
    >>> z = zarr.create_array({}, data=frames, chunks=(1, 64, 64, 3), serializer=JpegCodec())
    >>> z.serializer
    JpegCodec(level=90, subsampling='420', optimize=None)
    """

    name: ClassVar[str] = "imagecodecs_jpeg"
    level: int = 90
    subsampling: str = "420"
    optimize: bool | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self, "subsampling", ("420", "422", "440", "411", "444"))


@dataclass(frozen=True, kw_only=True)
class PngCodec(_PictureCodec):
    """Each chunk is one PNG picture, without loss: 1 to 4 channels of uint8 or uint16.

    A chunk has the shape ``(height, width)`` or ``(height, width, channels)`` and any axes of
    length 1. PNG has checksums of its own. The codec is that of imagecodecs. ``compressor="png"``
    is short for it, and ``"png:9"`` has a level.

    Parameters
    ----------
    level : int, optional
        From 0, which does not compress, to 9; by default 6.

    Raises
    ------
    MetadataError
        The level is not allowed.

    See Also
    --------
    WebpCodec : smaller, for RGB of uint8.

    References
    ----------
    ISO/IEC 15948; codec ``imagecodecs_png`` of imagecodecs.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix.codecs import PngCodec
    >>> masks = np.zeros((2, 64, 64), "u2")
    >>> z = zarr.create_array({}, data=masks, chunks=(1, 64, 64), serializer=PngCodec())
    >>> z.serializer, z.compressors
    (PngCodec(level=None), ())
    """

    name: ClassVar[str] = "imagecodecs_png"
    level: int | None = None


@dataclass(frozen=True, kw_only=True)
class WebpCodec(_PictureCodec):
    """Each chunk is one WebP picture: RGB, or RGB and alpha, in elements of uint8.

    Without loss it is smaller than PNG. A chunk has the shape ``(height, width, 3)`` or ``(height,
    width, 4)`` and any axes of length 1. The codec is that of imagecodecs. ``compressor="webp"`` is
    short for the lossless one, and ``"webp:90"`` for a lossy one with its quality.

    Parameters
    ----------
    lossless : bool
    level : int, optional
        The quality of a lossy picture, from 0 to 100; by default 75.
    method : int, optional
        From 0, fast, to 6, small; by default 4.
    hasalpha : bool, optional
        Whether other programs give pixels their alpha where it is opaque everywhere. Chunks with 4
        channels need True to be read with imagecodecs.

    Raises
    ------
    MetadataError
        A value is not allowed.

    See Also
    --------
    JpegCodec : faster to decode, and parts of a chunk cost less.

    References
    ----------
    RFC 9649; codec ``imagecodecs_webp`` of imagecodecs.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix.codecs import WebpCodec
    >>> frames = np.zeros((2, 64, 64, 3), "u1")
    >>> z = zarr.create_array({}, data=frames, chunks=(1, 64, 64, 3), serializer=WebpCodec())
    >>> z.serializer
    WebpCodec(lossless=True, level=None, method=None, hasalpha=None)
    """

    name: ClassVar[str] = "imagecodecs_webp"
    lossless: bool = True
    level: int | None = None
    method: int | None = None
    hasalpha: bool | None = None
