"""Names of ``zarr.abc`` that zarrix has elsewhere."""

__all__: list[str] = []
