"""`Pipeline`: a codec pipeline of zarr-python 3. Importing this imports zarr-python.

It is found by its name in zarr-python's settings, so that a program needs no other line. When
zarr-python calls the pipeline, it has divided a selection by chunks, which is most of the time of a
small read; `zarrix.interop.accelerate` avoids that.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

__all__ = ["Pipeline"]

if TYPE_CHECKING:

    class Base:
        """The used part of zarr-python's pipeline, which the type checker does not see."""

        async def read(self, batch_info: Any, out: Any, drop_axes: Any = ()) -> Any: ...
        async def write(self, batch_info: Any, value: Any, drop_axes: Any = ()) -> None: ...
else:
    from zarr.core import codec_pipeline as _theirs

    # Versions before 3.4 have one pipeline only.
    Base = getattr(_theirs, "FusedCodecPipeline", _theirs.BatchedCodecPipeline)

_ARRAY = "_zarrix_array"
_NO_AXES: tuple[int, ...] = ()


class Pipeline(Base):
    """The engine as the codec pipeline of zarr-python 3, for programs that cannot be changed.

    The environment variable ``ZARR_CODEC_PIPELINE__PATH=zarrix.interop.Pipeline`` selects it. Each
    read and write of a selection is one call of the engine. What the engine does not serve is done
    by zarr-python's own pipeline (``FusedCodecPipeline``): stores and codecs of a user, buffers
    that are not NumPy's, chunks of several shapes, and ``read_missing_chunks=False``.

    Raises
    ------
    ImportError
        On import: zarr-python 3 is not installed.

    References
    ----------
    zarr-python 3, ``zarr.abc.codec.CodecPipeline``.
    """

    @classmethod
    def from_array_metadata_and_store(cls, array_metadata: Any, store: Any) -> Self:
        """The pipeline of an array, which knows the array's metadata and store."""
        # Import time: zarr-python imports this module in every program, as an entry point.
        from zarrix.interop._planned import PlannedArray

        create = importlib.import_module("zarr.core.array").create_codec_pipeline
        new: Self = create(array_metadata)
        if type(new) is cls:
            new.__dict__[_ARRAY] = PlannedArray(array_metadata, store)
        return new

    async def read(
        self, batch_info: Iterable[Any], out: Any, drop_axes: tuple[int, ...] = _NO_AXES
    ) -> Any:
        """Fill ``out`` with the elements of the chunks that zarr-python planned."""
        batch = list(batch_info)
        array = self.__dict__.get(_ARRAY)
        if array is not None and await array.read(batch, out, drop_axes):
            # Which chunks are missing is asked for only with read_missing_chunks=False.
            return ({"status": "present"},) * len(batch)
        return await super().read(batch, out, drop_axes)

    async def write(
        self, batch_info: Iterable[Any], value: Any, drop_axes: tuple[int, ...] = _NO_AXES
    ) -> None:
        """Store ``value`` in the chunks that zarr-python planned."""
        batch = list(batch_info)
        array = self.__dict__.get(_ARRAY)
        if array is None or not await array.write(batch, value, drop_axes):
            await super().write(batch, value, drop_axes)


Pipeline.__module__ = "zarrix.interop"
importlib.import_module("zarr.registry").register_pipeline(Pipeline)
