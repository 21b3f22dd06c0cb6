"""Codecs of a stored array in a form that is valid for a new array.

Options that only an encoder uses may have any value in a stored document
(`zarrix._codecs.encoder_options`). A copy of the array has values that every encoder accepts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from zarrix import _engine
from zarrix._codecs.bound import UINT8
from zarrix._codecs.encoder_options import encodable, takes
from zarrix._codecs.native import bind_numcodecs

__all__ = ["encodable_config", "encodable_document", "for_a_new_array"]

Config = Mapping[str, Any]


def for_a_new_array(codec: Any) -> Any:
    """Return ``codec`` if an encoder accepts its options, otherwise the closest codec.

    Parameters
    ----------
    codec : codec of numcodecs, codec of `zarrix.codecs`, list or tuple of them, or None
        A value of `Array.compressor`, `filters`, `compressors` or `serializer`.
    """
    if isinstance(codec, list | tuple):
        return type(codec)(for_a_new_array(one) for one in codec)
    if hasattr(codec, "get_config"):
        config = codec.get_config()
        found = encodable_config(config)
        return codec if found == config else found
    if hasattr(codec, "to_dict"):
        document = codec.to_dict()
        found = encodable_document(document)
        return codec if found == document else found
    return codec


def encodable_config(config: Config) -> dict[str, Any]:
    """A v2 configuration with valid encoder options."""
    # Types, too: 1, 1.0 and True are equal, and are different values in a document.
    items = tuple((name, type(value), value) for name, value in config.items())
    try:
        hash(items)
    except TypeError:
        return _encodable_config(config)
    return dict(_known_encodable_config(items))


@lru_cache(maxsize=256)
def _known_encodable_config(items: tuple[tuple[str, type, Any], ...]) -> dict[str, Any]:
    """The same, which the native codecs alone decide; arrays of a group often have one codec."""
    return _encodable_config({name: value for name, _, value in items})


def _encodable_config(config: Config) -> dict[str, Any]:
    taken = takes(lambda one: bind_numcodecs(one, UINT8, None, "codec", new=True))
    return _with_options_that_are(taken, str(config["id"]), config)


def encodable_document(codec: Config) -> dict[str, Any]:
    """A v3 codec document with valid encoder options, also inside shards."""
    name, given = codec["name"], codec.get("configuration")
    if not isinstance(given, Mapping):
        return dict(codec)
    if name == "sharding_indexed":
        inner = {
            key: [encodable_document(one) for one in value]
            for key, value in given.items()
            if key in ("codecs", "index_codecs") and isinstance(value, list)
        }
        return {**codec, "configuration": {**given, **inner}}
    if name.startswith("numcodecs."):
        found = encodable_config({"id": name.removeprefix("numcodecs."), **given})
        return {**codec, "configuration": {k: v for k, v in found.items() if k != "id"}}

    def taken(one: dict[str, Any]) -> bool:
        if name == "gzip" and one.get("level") == -1:
            return False  # which is a level in v2 only
        return _engine.codec_fault(name, json.dumps(one), 1) is None

    return {**codec, "configuration": _with_options_that_are(taken, name, given)}


def _with_options_that_are(taken: Any, name: str, given: Config) -> dict[str, Any]:
    found = None if taken(dict(given)) else encodable(name, given, taken)
    return dict(given) if found is None else found
