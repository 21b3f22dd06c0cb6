"""Names of ``zarr.api`` that zarrix has elsewhere."""

__all__: list[str] = []
