"""What is promised for whom under the alias."""

from __future__ import annotations

__all__ = ["REFUSED", "TIERS"]

TIERS: dict[str, dict[str, str]] = {
    "gated by the project's own tests": {
        "xarray": "open_zarr, to_zarr, open_datatree, load_async; v2 and v3",
        "dask": "from_zarr, to_zarr, distributed workers with --preload zarrix.as_zarr",
        "anndata": "read_zarr, write_zarr, read_lazy, backed sparse matrices",
        "ome-zarr": "reader and writer, OME-Zarr 0.4 and 0.5",
        "spatialdata": "read_zarr, write",
        "napari": "the built-in reader",
        "xbatcher": "through xarray",
        "cubed": "arrays in Zarr, indexing, rechunk",
        "rechunker": "its programs use the names of zarr 2",
    },
    "gated by tests of zarrix": {
        "bioio": "the reader and the writer of bioio-ome-zarr",
    },
    "imports and reads": {
        "icechunk, obstore": "their stores",
        "kerchunk": "readers of references, not writers",
        "tifffile": "aszarr=True",
        "virtualizarr": "reading from a ManifestStore",
    },
}
"""By promise: the projects, and what of each."""

REFUSED: dict[str, str] = {
    "zarr.testing": "it is taken from an installed zarr-python: pip install zarr==3.4.2",
    "zarr.core.chunk_utils": "codec chains run in the engine",
    "zarr.experimental": "parts of zarr-python that are not stable",
    "zarr.n5": "zarrix reads blocks of N5 with the codec n5_default",
}
"""By module of zarr-python: why it is absent."""
