"""Names of ``zarr.experimental``."""

__all__: list[str] = []
