"""The text of a stored codec, as numcodecs prints it, mostly without importing numcodecs.

A report that prints a compressor would otherwise spend more time on that import than on the rest.
"""

from __future__ import annotations

from zarrix._codecs.bound import Config
from zarrix._codecs.encodable import encodable_config
from zarrix._codecs.numcodecs import shown_codec
from zarrix._errors import BadCompressorError

__all__ = ["codec_text"]

_SHUFFLES = {-1: "AUTOSHUFFLE", 0: "NOSHUFFLE", 1: "SHUFFLE", 2: "BITSHUFFLE"}
# By codec: the name of its class, and the options that its text has.
_TEXTS = {
    "blosc": ("Blosc", ("cname", "clevel", "shuffle", "blocksize")),
    "bz2": ("BZ2", ("level",)),
    "gzip": ("GZip", ("level",)),
    "lz4": ("LZ4", ("acceleration",)),
    "zlib": ("Zlib", ("level",)),
    "zstd": ("Zstd", ("level",)),
}


def codec_text(config: Config | None, label: str) -> str:
    """The text of a codec of a v2 document; ``label`` is for the error if it is not known."""
    if config is None:
        return "None"
    if config.get("id") not in _TEXTS:
        return repr(shown_codec(config, label))
    try:
        config = encodable_config(config)
    except BadCompressorError:
        return repr(shown_codec(config, label))
    name, options = _TEXTS[config["id"]]
    given = {key: value for key, value in config.items() if key != "id"}
    if name == "Zstd" and given.get("checksum") is False:
        del given["checksum"]
    shuffle = given.get("shuffle")
    types = {key: str if key == "cname" else int for key in options}
    plain = all(type(given.get(key)) is kind for key, kind in types.items())
    if set(given) != set(options) or not plain or shuffle not in (None, *_SHUFFLES):
        return repr(shown_codec(config, label))
    shown = {key: repr(given[key]) for key in options}
    if shuffle is not None:
        shown["shuffle"] = _SHUFFLES[shuffle]
    return f"{name}({', '.join(f'{key}={text}' for key, text in shown.items())})"
