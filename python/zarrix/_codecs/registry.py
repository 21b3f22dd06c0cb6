"""Registering codecs of numcodecs, and finding codecs and their classes by name.

`register_codec` takes codecs of numcodecs, with ``encode`` and ``decode`` on buffers. Both formats
find them through the registry of numcodecs; the name in v3 is ``numcodecs.<id>``.
"""

from __future__ import annotations

from typing import Any

from zarrix._codecs import numcodecs_classes
from zarrix._codecs.classes import CODEC_CLASSES, codec_from_dict
from zarrix._codecs.kinds import UserCodec
from zarrix._codecs.table import BY_NAME

__all__ = ["get_codec", "get_codec_class", "register_codec"]


def register_codec(key: str, codec_cls: type[Any], *, qualname: str | None = None) -> None:
    """Make a codec class of your own available under the name ``key``.

    Parameters
    ----------
    key : str
        The id of a numcodecs class, without ``numcodecs.`` or with it; otherwise the name in v3.
    codec_cls : type
        A numcodecs class, with ``encode``, ``decode``, ``get_config`` and ``from_config``; or a
        subclass of `zarrix.abc.codec.BytesBytesCodec`, ``ArrayBytesCodec`` or ``ArrayArrayCodec``,
        as for zarr-python 3.
    qualname : str, optional
        Accepted for zarr-python; there is one class for an id.

    Raises
    ------
    AttributeError
        ``key`` is not a str.

    Examples
    --------
    >>> import numcodecs, zarrix as zarr
    >>> class Reversed(numcodecs.abc.Codec):
    ...     codec_id = "reversed"
    ...
    ...     def encode(self, buf):
    ...         return bytes(buf)[::-1]
    ...
    ...     def decode(self, buf, out=None):
    ...         return numcodecs.compat.ndarray_copy(bytes(buf)[::-1], out)
    >>> zarr.registry.register_codec("reversed", Reversed)
    >>> z = zarr.array([1, 2, 3], compressor=Reversed())
    >>> z[:]
    array([1, 2, 3])
    """
    if isinstance(codec_cls, type) and issubclass(codec_cls, UserCodec):
        # Import time: few programs have a codec of their own.
        from zarrix._codecs.user_codecs import register

        register(key, codec_cls)
        return
    # Import time: numcodecs takes longer than NumPy.
    import numcodecs  # type: ignore[import-untyped, unused-ignore]

    numcodecs.register_codec(codec_cls, codec_id=key.removeprefix("numcodecs."))


def get_codec(config: dict[str, Any]) -> Any:
    """The codec object that the document of a v3 codec describes.

    Parameters
    ----------
    config : mapping
        With ``name`` and, where it has one, ``configuration``.

    Returns
    -------
    Codec
        One of `zarrix.codecs`, or an object with the same methods for other names.

    Raises
    ------
    KeyError
        ``config`` has no name.

    Examples
    --------
    >>> from zarrix.registry import get_codec
    >>> get_codec({"name": "gzip", "configuration": {"level": 1}})
    GzipCodec(level=1)
    """
    return codec_from_dict(config)


def get_codec_class(key: str, reload_config: bool = False) -> type[Any]:
    """The class of the codec that v3 calls ``key``.

    Parameters
    ----------
    key : str
        As in the document, such as ``"blosc"`` or ``"numcodecs.delta"``.
    reload_config : bool
        Accepted for zarr-python; it has no effect.

    Returns
    -------
    type

    Raises
    ------
    KeyError
        There is no class for that name.

    Examples
    --------
    >>> from zarrix.registry import get_codec_class
    >>> get_codec_class("zstd").__name__, get_codec_class("numcodecs.delta").__name__
    ('ZstdCodec', 'Delta')
    """
    if key in CODEC_CLASSES:
        return CODEC_CLASSES[key]
    row = BY_NAME.get(key) if key.startswith("numcodecs.") else None
    if row is not None and row.numcodecs_cls:
        found: type[Any] = getattr(numcodecs_classes, row.numcodecs_cls)
        return found
    # Import time: few programs have a codec of their own.
    from zarrix._codecs.user_codecs import find

    own = find(key)
    if own is not None:
        return own
    raise KeyError(key)


for _function in (register_codec, get_codec, get_codec_class):
    _function.__module__ = "zarrix.registry"
