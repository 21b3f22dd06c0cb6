"""Names of ``zarr.codecs`` that zarrix has elsewhere."""

__all__: list[str] = []
