"""Names of ``zarr.core`` that zarrix has elsewhere."""

__all__: list[str] = []
