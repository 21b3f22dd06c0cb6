"""Names of ``zarr.storage`` that zarrix has elsewhere."""

__all__: list[str] = []
