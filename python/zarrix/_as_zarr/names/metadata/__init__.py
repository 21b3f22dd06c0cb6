"""Names of ``zarr.metadata``, which has only modules."""

__all__: list[str] = []
