"""Codecs bound to their input: native, or called in Python.

A codec's binding translates its configuration. Then the engine says whether it accepts the result.
Configurations of numcodecs that it does not accept (casts to text, arithmetic with complex numbers)
are left to numcodecs.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from zarrix import _engine
from zarrix._codecs.bound import Bound, Config, DType
from zarrix._codecs.encoder_options import DecodeOnly, decodes_with, encodable, takes
from zarrix._codecs.objects import OBJECT_CODECS
from zarrix._codecs.table import BY_ID, BY_NAME, REGISTERED
from zarrix._errors import MetadataError, shorten

__all__ = ["bind_image", "bind_numcodecs", "bind_registered", "dtype_after"]


def bind_registered(
    name: str, configuration: Config, dtype: DType, size: int | None, label: str
) -> Bound:
    """A registered codec that needs to know its input, bound to it.

    Raises
    ------
    MetadataError
        The configuration is invalid.
    """
    bind = REGISTERED[name].bind
    assert bind is not None
    try:
        return bind(configuration, dtype, size)
    except (KeyError, TypeError, ValueError) as error:
        reason = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise MetadataError(
            f"{label}: codec {name!r} has the configuration {shorten(dict(configuration))}, and "
            f"{reason}"
        ) from None


def bind_image(
    name: str, configuration: Config, dtype: DType, shape: tuple[int, ...], label: str, *, new: bool
) -> Bound:
    """A codec of images, bound to a chunk of ``shape``; without a configuration if the engine does
    not accept it.

    Raises
    ------
    MetadataError
        The configuration is invalid, or the chunk of a new array is not a picture.
    """
    bind = BY_NAME[name].bind_image
    assert bind is not None
    try:
        return bind(configuration, dtype, shape, new)
    except (KeyError, TypeError, ValueError) as error:
        raise MetadataError(
            f"{label}: codec {name!r} has the configuration {shorten(dict(configuration))}, and "
            f"{error}"
        ) from None


def bind_numcodecs(
    config: dict[str, Any], dtype: DType, size: int | None, label: str, *, new: bool = False
) -> Bound:
    """A codec of numcodecs bound to elements of ``dtype`` and a chunk of ``size`` bytes.

    Parameters
    ----------
    config : dict
        With the codec's ``"id"``.
    dtype, size
        Of its input; a size of None depends on the data.
    label : str
        Position in the document, for messages.
    new : bool
        Whether options that only an encoder uses are checked, too.

    Raises
    ------
    MetadataError
        The configuration is invalid, or the codec is for objects.
    """

    def bind(given: dict[str, Any]) -> Bound:
        return _bound(given, dtype, size, label)

    if new:
        return bind(config)
    codec_id = config["id"]
    try:
        found = bind(config)
    except MetadataError as error:
        given = encodable(codec_id, config, takes(bind))
        if given is not None:
            return bind(given)
        options = decodes_with(codec_id)
        if options is None:
            raise
        return _decoding(bind({**config, **options}), config, dtype, str(error))
    if codec_id == "pcodec" and found.configuration is None:
        # The options do not change the format: the engine can decode chunks that it could not
        # encode.
        given = encodable(codec_id, config, lambda one: bind(one).configuration is not None)
        return found if given is None else bind(given)
    return found


def _decoding(bound: Bound, config: Config, dtype: DType, reason: str) -> Bound:
    """A lossy codec without the options that its encoder needs."""
    stored = bound.dtype

    def decode(encoded: Any) -> Any:
        return np.frombuffer(encoded, stored).astype(dtype, copy=False)

    bound.configuration = None
    bound.codec = DecodeOnly(config["id"], decode, reason)
    return bound


def _bound(config: dict[str, Any], dtype: DType, size: int | None, label: str) -> Bound:
    codec_id = config["id"]
    if codec_id in OBJECT_CODECS and codec_id != "categorize":
        raise MetadataError(
            f"{label}: codec {codec_id!r} is for variable-length elements; it is allowed only "
            "as the first filter of an array with dtype object"
        )
    row = BY_ID.get(codec_id)
    bind = None if row is None else row.bind_numcodecs
    try:
        bound = Bound(None) if bind is None else bind(config, dtype, size)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        reason = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise MetadataError(
            f"{label}: codec {codec_id!r} has the configuration {config!r}, which {reason}"
        ) from None
    if row is None or bound.configuration is None:
        return bound
    bound.name = row.native or f"numcodecs.{codec_id}"
    fault = _engine.codec_fault(bound.name, json.dumps(bound.configuration), dtype.itemsize)
    if fault is not None and row.left_to_numcodecs:
        bound.configuration = None
    elif fault is not None:
        raise MetadataError(f"{label}: {fault}")
    return bound


def dtype_after(codec: Config, dtype: DType) -> DType:
    """The elements that an array-to-array codec produces."""
    name, configuration = codec["name"], codec.get("configuration", {})
    row = REGISTERED.get(name)
    if row is not None and row.bind is not None:
        return bind_registered(name, configuration, dtype, None, "filters").dtype
    if row is not None and not row.codec_id:
        return dtype
    if name not in BY_NAME and not name.startswith("numcodecs."):
        # Import time: a registered codec of a user.
        from zarrix._codecs.user_codecs import result_dtype

        return result_dtype(dict(codec), dtype)
    config = {**configuration, "id": name.removeprefix("numcodecs.")}
    return bind_numcodecs(config, dtype, None, "filters").dtype
