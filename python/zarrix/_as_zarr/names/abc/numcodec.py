"""Names of ``zarr.abc.numcodec``."""

from typing import Any, Protocol, runtime_checkable

__all__ = ["Numcodec"]


@runtime_checkable
class Numcodec(Protocol):
    """A codec with the methods of numcodecs."""

    codec_id: str

    def encode(self, buf: Any) -> Any:
        """The encoded bytes."""

    def decode(self, buf: Any, out: Any = None) -> Any:
        """The decoded bytes."""

    def get_config(self) -> Any:
        """The configuration."""

    @classmethod
    def from_config(cls, config: Any) -> Any:
        """The codec of a configuration."""
