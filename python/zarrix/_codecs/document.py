"""The document of a codec, with the attributes of its object."""

from __future__ import annotations

from typing import Any

__all__ = ["CodecDocument"]


class CodecDocument(dict[str, Any]):
    """The document of a codec in `ArrayMetadata.codecs`, with the attributes of the codec object.

    Everything in this package reads the document; zarr-python has the object there. Therefore
    `isinstance` with a class of codecs is true as well.
    """

    @property  # type: ignore[misc]  # It answers isinstance, and is never set.
    def __class__(self) -> Any:
        # Import time: reading an array needs no codec objects.
        from zarrix._codecs.classes import codec_from_dict

        return type(codec_from_dict(self))

    # Pickling asks for the class.
    def __reduce_ex__(self, protocol: Any) -> Any:
        return CodecDocument, (dict(self),)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        # Import time: reading an array needs no codec objects.
        from zarrix._codecs.classes import codec_from_dict

        return getattr(codec_from_dict(self), name)

    def __eq__(self, other: object) -> bool:
        """Whether ``other`` is the same document, or the object of the same codec."""
        if not isinstance(other, dict):
            # Import time, as above.
            from zarrix._codecs.codec import Codec

            if not isinstance(other, Codec):
                return False
            other = other.to_dict()
        return dict.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        # A dict has a method of its own for this.
        return not self == other


CodecDocument.__module__ = "zarrix.codecs"
