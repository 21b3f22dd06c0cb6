"""The projects whose own tests run on zarrix: what is installed, what runs, and what may fail."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "envs"

_TEST = ("pytest==9.2.0", "pytest-timeout==2.4.0", "pytest-xdist==3.8.0", "hypothesis==6.170.15")
_ZARR = ("zarr==3.4.2", "numcodecs[crc32c]==0.17.1")
_XARRAY = (
    *("xarray==2026.9.0", "dask[array,dataframe,distributed]==2026.8.0", "numpy==2.5.5"),
    *("fsspec==2026.9.0", "pytest-asyncio==1.5.0", "scipy", "cftime", "netCDF4", "pooch"),
)

# What is measured against: the same tests with zarr-python, or with zarrix in its place.
WAYS: dict[str, tuple[str, ...]] = {
    "zarr-python": ("-m", "pytest"),
    "as_zarr": ("-m", "zarrix.as_zarr", "-m", "pytest", "-p", "zarrix.testing.as_zarr"),
}

_COUNTED = "it counts the calls of a method of AsyncGroup that only zarr-python makes"
_CODECS = "it expects zarr-python's default codecs; zarrix has 2.18's, and in v3 a checksum"


@dataclass(frozen=True)
class Suite:
    """The tests of a project.

    Attributes
    ----------
    packages : tuple of str
        What its environment has, besides pytest and zarr-python.
    sdist : str
        The source distribution that has the tests; empty if they are in the wheel.
    arguments : tuple of str
        Of pytest.
    least : float
        The part of the tests which zarr-python passes that has to pass.
    listed : dict of str to str
        Tests that fail, by a part of their names, and the reason.
    """

    packages: tuple[str, ...]
    arguments: tuple[str, ...]
    sdist: str = ""
    least: float = 0.98
    listed: dict[str, str] = field(default_factory=dict)
    pythons: tuple[int, ...] = (12, 13, 14)

    @property
    def installed(self) -> tuple[str, ...]:
        """All that its environment has."""
        return (*self.packages, *_ZARR, *_TEST)


_WHEEL = ("-o", "addopts=", "-o", "asyncio_mode=auto", "--pyargs", "-k", "Zarr")
SUITES: dict[str, Suite] = {
    "xarray": Suite(
        _XARRAY,
        (*_WHEEL, "xarray.tests.test_backends", "xarray.tests.test_backends_datatree"),
        listed={"test_avoid_excess_metadata_calls": _COUNTED},
    ),
    "dask": Suite(
        _XARRAY,
        ("-o", "addopts=", "--pyargs", "-k", "zarr", "dask.array.tests.test_array_core"),
        least=1.0,
    ),
    "anndata": Suite(
        (
            *("anndata[dask,lazy]==0.13.4", "scikit-learn", "scanpy", "loompy", "joblib"),
            *("boltons", "filelock", "openpyxl", "pyarrow", "pytest-mock", "awkward", "h5py"),
        ),
        (
            *("-k", "zarr", "tests/test_io_elementwise.py", "tests/test_readwrite.py"),
            "tests/test_backed_sparse.py",
        ),
        sdist="anndata==0.13.4",
        listed={
            "test_lazy_array_cache": "it counts requests for each key; zarrix makes others",
            "test_read_zarr_zip_path_suggests_store": "zarrix opens the path of an archive",
        },
    ),
    "ome-zarr": Suite(
        ("ome-zarr==0.21.0",),
        ("tests",),
        sdist="ome-zarr==0.21.0",
        least=0.95,
        listed={"test_default_compression": _CODECS},
    ),
    "spatialdata": Suite(
        ("spatialdata==0.8.0", "pytest-mock"),
        ("-o", "addopts=", "tests/io"),
        sdist="spatialdata==0.8.0",
        least=0.95,
        listed={
            "test_can_read_sdata_with_reconsolidation": "a local node that consolidated metadata "
            "lacks is read from its own document, with a warning",
            "test_overwrite_fails_onto_non_zarr_file": "it matches the text of an error",
        },
    ),
}
