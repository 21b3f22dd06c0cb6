"""The base of v3 codecs as objects: a name and a configuration.

The engine encodes and decodes; `zarrix._codecs.classes` has a class for each codec that users name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from zarrix._codecs.table import REGISTERED
from zarrix._errors import MetadataError

__all__ = ["Codec", "Document", "OtherCodec", "in_range", "one_of"]

Document = dict[str, Any]


@dataclass(frozen=True)
class Codec:
    """A v3 codec: the `name` and `configuration` of its document.

    References
    ----------
    Zarr v3 core specification, "Codecs".

    Examples
    --------
    >>> from zarrix.codecs import GzipCodec
    >>> codec = GzipCodec(level=1)
    >>> codec.name, codec.configuration
    ('gzip', {'level': 1})
    """

    name: ClassVar[str] = ""

    @property
    def configuration(self) -> dict[str, Any]:
        """The ``"configuration"`` of the document."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {key: _plain(value) for key, value in values.items() if value is not None}

    def to_dict(self) -> Document:
        """The codec's document: ``{"name": ..., "configuration": {...}}``.

        Returns
        -------
        dict
            Without ``configuration`` where the codec needs none.

        Examples
        --------
        >>> from zarrix.codecs import Crc32cCodec, TransposeCodec
        >>> TransposeCodec(order=(1, 0)).to_dict(), Crc32cCodec().to_dict()
        ({'name': 'transpose', 'configuration': {'order': [1, 0]}}, {'name': 'crc32c'})
        """
        configuration = self.configuration
        return {"name": self.name, "configuration": configuration}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Any:
        """The codec that a document describes.

        Parameters
        ----------
        data : mapping
            With ``configuration``, where the codec has one.

        Returns
        -------
        Codec

        Raises
        ------
        TypeError
            The configuration has a name that this codec does not have.
        MetadataError
            A value is not allowed.

        Examples
        --------
        >>> from zarrix.codecs import ZstdCodec
        >>> ZstdCodec.from_dict({"name": "zstd", "configuration": {"level": 3}})
        ZstdCodec(level=3, checksum=False)
        """
        return cls(**data.get("configuration", {}))


def _plain(value: Any) -> Any:
    if isinstance(value, Codec):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    # The value of an enumeration of zarr-python is the text in documents.
    return getattr(value, "value", value) if not isinstance(value, (str, int)) else value


def one_of(codec: Codec, name: str, allowed: tuple[Any, ...]) -> None:
    """Raise an error unless an argument is one of some values; enumerations become their values."""
    value = getattr(codec, name)
    text = getattr(value, "value", value)
    if text not in allowed:
        listed = ", ".join(repr(one) for one in allowed)
        raise MetadataError(f"{type(codec).__name__}: {name}={value!r}; allowed: {listed}")
    object.__setattr__(codec, name, text)


def in_range(codec: Codec, name: str) -> None:
    """Raise an error unless an argument is a whole number within the limits of the option."""
    value, limits = getattr(codec, name), REGISTERED[codec.name].options[name]
    assert limits is not None
    least, most = limits
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise MetadataError(
            f"{type(codec).__name__}: {name}={value!r}; allowed: whole numbers from {least} to "
            f"{most}"
        )


@dataclass(frozen=True, repr=False)
class OtherCodec(Codec):
    """Any other codec, by the name and configuration of its document."""

    document: Mapping[str, Any]

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name in the document."""
        return str(self.document["name"])

    @property
    def configuration(self) -> dict[str, Any]:
        """The ``"configuration"`` of the document."""
        return dict(self.document.get("configuration", {}))

    def to_dict(self) -> Document:
        return dict(self.document)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> OtherCodec:
        return cls(dict(data))

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        values = "".join(f", {key}={value!r}" for key, value in self.configuration.items())
        return f"Codec({self.name!r}{values})"


# Pickles name a class by its module: a public one, which does not move.
Codec.__module__ = OtherCodec.__module__ = "zarrix.codecs"
