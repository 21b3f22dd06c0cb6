"""Names of ``zarr.core.metadata`` that zarrix has elsewhere."""

__all__: list[str] = []
