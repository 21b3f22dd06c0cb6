"""Names of ``zarr.core.dtype.npy``, which are in the modules below it."""

__all__: list[str] = []
