"""The document of a codec, with the attributes of its object."""

from __future__ import annotations

from typing import Any

__all__ = ["CodecDocument"]


class CodecDocument(dict[str, Any]):
    """The document of a codec in `ArrayMetadata.codecs`, with the attributes of the codec object.

    Everything in this package reads the document; zarr-python has the object there.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        # Import time: reading an array needs no codec objects.
        from zarrix._codecs.classes import codec_from_dict

        return getattr(codec_from_dict(self), name)


CodecDocument.__module__ = "zarrix.codecs"
