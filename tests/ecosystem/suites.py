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


@dataclass(frozen=True)
class Suite:
    """The tests of a project.

    Attributes
    ----------
    packages : tuple of str
        What its environment has, besides pytest and zarr-python.
    zarr : tuple of str
        The zarr-python that it is compared with.
    sdist : str
        The source distribution that has the tests; empty if they are in the wheel.
    removed : str
        A folder of that without compiled modules, which would hide what is installed.
    arguments : tuple of str
        Of pytest.
    least : float
        The part of the tests which zarr-python passes that has to pass.
    tests : int
        How many at least have to pass with zarr-python, so that the comparison says something.
    ways : tuple of str
        How it runs with zarrix.
    variables : dict of str to str
        Of the environment of its processes.
    own : str
        A file of tests beside this one, where a project releases none.
    open : int
        How many failures at most have no reason in listed.toml yet.
    pythons : tuple of int
        Minor versions of Python that its environment may have.
    """

    packages: tuple[str, ...]
    arguments: tuple[str, ...]
    sdist: str = ""
    removed: str = ""
    least: float = 0.98
    tests: int = 30
    zarr: tuple[str, ...] = _ZARR
    ways: tuple[str, ...] = ("as_zarr", "accelerate", "pipeline")
    variables: dict[str, str] = field(default_factory=dict)
    own: str = ""
    open: int = 0
    pythons: tuple[int, ...] = (12, 13, 14)

    @property
    def installed(self) -> tuple[str, ...]:
        """All that its environment has."""
        return (*self.packages, *self.zarr, *_TEST)


# zarr-python's own tests of arrays, groups and codecs.
_ARRAYS = (
    *("test_array.py", "test_indexing.py", "test_group.py", "test_api.py", "test_api"),
    *("test_codecs", "test_v2.py", "test_sync.py", "test_buffer.py", "test_config.py"),
    *("test_codec_pipeline.py", "test_codec_pipeline_suite.py", "test_fused_pipeline.py"),
    *("test_unified_chunk_grid.py", "test_resize.py", "test_attributes.py", "test_experimental"),
    *("test_pipeline_parity.py", "test_fastpath_equivalence.py", "test_chunk_grids.py"),
    *("test_info.py", "test_codec_entrypoints.py", "test_regression", "test_zarr.py"),
)
_ZARRS_OWN = (
    *("zarr==3.4.2", "numpy==2.5.5", "fsspec==2026.9.0", "obstore==0.12.1"),
    *("packaging==26.3", "tomlkit==0.15.1", "numpydoc==1.11.0", "pytest-asyncio==1.5.0"),
    *("pytest-benchmark==5.3.0", "hatchling", "hatch-vcs"),
)
_ICECHUNKS = tuple(
    f"icechunk-python/tests/{name}.py"
    for name in (
        *("test_zarr/test_store/test_core", "test_zarr/test_store/test_icechunk_store"),
        *("test_zarr/test_array", "test_zarr/test_group", "test_store", "test_xarray"),
        *("test_array_chunk_iterator", "test_shift", "test_reindex", "test_conflicts"),
        *("test_timetravel", "test_dask_array", "test_stats", "test_inspect"),
    )
)
_WHEEL = ("-o", "addopts=", "-o", "asyncio_mode=auto", "--pyargs", "-k", "Zarr")
SUITES: dict[str, Suite] = {
    "xarray": Suite(
        _XARRAY,
        (*_WHEEL, "xarray.tests.test_backends", "xarray.tests.test_backends_datatree"),
        ways=("as_zarr", "accelerate", "pipeline", "engine"),
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
    ),
    "ome-zarr": Suite(
        ("ome-zarr==0.21.0",),
        ("tests",),
        sdist="ome-zarr==0.21.0",
        least=0.95,
    ),
    "spatialdata": Suite(
        ("spatialdata==0.8.0", "pytest-mock"),
        ("-o", "addopts=", "tests/io"),
        sdist="spatialdata==0.8.0",
        least=0.95,
    ),
    "zarr": Suite(
        _ZARRS_OWN,
        ("-n", "2", "-o", "addopts=", "-o", "filterwarnings=", *(f"tests/{f}" for f in _ARRAYS)),
        sdist="zarr==3.4.2",
        # Each test that passes without is one that has to pass, or is listed.
        least=0.99,
        tests=8000,
        ways=("accelerate", "pipeline"),
    ),
    # All of zarr-python's own tests under the alias. Most that fail use its private names or expect
    # the words of its errors; listed.toml has a cause for each.
    "zarr-own": Suite(
        _ZARRS_OWN,
        (
            *("-n", "2", "-o", "addopts=", "-o", "filterwarnings=", "tests"),
            "--ignore=tests/benchmarks",
        ),
        sdist="zarr==3.4.2",
        least=0.86,
        tests=9500,
        ways=("collected",),
        open=10,
    ),
    "cubed": Suite(
        (
            *("cubed[diagnostics]==0.28.0", "dask[array]==2026.8.0", "dill", "pytest-mock"),
            "obstore==0.12.1",
        ),
        (
            *("-o", "addopts=", "cubed/tests/storage", "cubed/tests/primitive"),
            *("cubed/tests/test_core.py", "cubed/tests/test_indexing.py"),
            *("cubed/tests/test_rechunk.py", "cubed/tests/test_store.py"),
        ),
        sdist="cubed==0.28.0",
        least=0.95,
        ways=("as_zarr", "accelerate"),
    ),
    # A program for zarr 2: with zarr-python 3 its tests cannot be imported.
    "rechunker": Suite(
        (
            *("rechunker==0.5.4", "dask[array,diagnostics]==2026.8.0", "xarray==2026.9.0"),
            *("numpy<2.4", "fsspec"),
        ),
        ("-o", "addopts=", "tests"),
        sdist="rechunker==0.5.4",
        zarr=("zarr==2.18.7", "numcodecs==0.15.1"),
        least=0.95,
        ways=("as_zarr",),
    ),
    # The other generation's own tests: zarrix itself has its names, without the alias.
    "zarr2": Suite(
        ("zarr==2.18.7", "numpy<2.4", "fsspec==2026.9.0", "lmdb==3.0.0", "msgpack", "h5py"),
        ("-n", "2", "-o", "addopts=", "-o", "filterwarnings=", "zarr/tests"),
        sdist="zarr==2.18.7",
        zarr=("zarr==2.18.7", "numcodecs==0.15.1"),
        # 2113 of 2672 pass. A quarter of the others need N5 stores, and most look into zarr or
        # expect an error for what zarrix does; listed.toml has each.
        least=0.79,
        tests=2500,
        ways=("as_zarr2",),
        pythons=(11,),
    ),
    "xbatcher": Suite(
        ("xbatcher==0.4.0", "xarray==2026.9.0", "dask[array,distributed]==2026.8.0"),
        ("-o", "addopts=", "xbatcher/tests/test_generators.py", "xbatcher/tests/test_accessors.py"),
        sdist="xbatcher==0.4.0",
        least=1.0,
        ways=("as_zarr", "accelerate"),
    ),
    # Its tests are not released: those that are beside this file stand for them.
    "bioio": Suite(
        ("bioio==3.6.0", "bioio-ome-zarr==3.8.1", "bioio-base==3.5.0", "dask[array]==2026.8.0"),
        ("-o", "addopts=", "test_bioio_images.py"),
        own="bioio_images.py",
        least=1.0,
        tests=16,
        ways=("as_zarr", "accelerate"),
    ),
    "napari": Suite(
        ("napari==0.9.2", "dask[array]", "imageio", "tifffile", "lxml", "npe2"),
        ("-o", "addopts=", "src/napari_builtins/_tests/test_io.py"),
        sdist="napari==0.9.2",
        least=1.0,
        ways=("as_zarr", "accelerate"),
    ),
    # Its tests against zindi, which is not released, skip themselves; those of pools of processes
    # take minutes.
    "hdmf-zarr": Suite(
        ("hdmf-zarr==0.14.0", "pynwb", "hdf5plugin", "scipy", "python-dateutil", "tqdm", "fsspec"),
        ("-o", "addopts=", "tests/unit", "--ignore=tests/unit/test_parallel_write.py"),
        sdist="hdmf-zarr==0.14.0",
        least=0.99,
        tests=500,
        ways=("as_zarr", "accelerate"),
    ),
    "mudata": Suite(
        ("mudata[io]==0.4.1", "fast-array-utils", "jsonschema", "packaging", "referencing"),
        ("-o", "addopts=", "tests"),
        sdist="mudata==0.4.1",
        least=1.0,
        ways=("as_zarr",),
    ),
    # Its tests that compare with bcftools need that program, and skip themselves without it.
    "vcztools": Suite(
        (
            *("vcztools==0.2.0", "bio2zarr", "cyvcf2", "icechunk==2.3.0", "obstore==0.12.1"),
            *("msprime", "tskit>=1", "xarray==2026.9.0", "setuptools", "azure-storage-blob"),
        ),
        ("-o", "addopts=", "tests"),
        sdist="vcztools==0.2.0",
        removed="vcztools",
        least=0.99,
        tests=500,
        ways=("as_zarr", "accelerate"),
    ),
    "virtualizarr": Suite(
        (
            *("virtualizarr==2.8.0", "icechunk==2.3.0", "h5py", "h5netcdf", "hdf5plugin"),
            *("imagecodecs", "imagecodecs-numcodecs==2024.6.1", "fastparquet", "pandas"),
            *("netCDF4", "kerchunk", "astropy", "dask==2026.8.0", "pooch", "scipy", "s3fs"),
            *("pytest-asyncio==1.5.0", "arro3-core", "pytest-cov"),
        ),
        ("-o", "addopts=", "virtualizarr/tests"),
        sdist="virtualizarr==2.8.0",
        least=0.99,
        tests=300,
        ways=("as_zarr", "accelerate"),
    ),
    # Without its tests of services of S3, of many random steps, and of what has no arrays.
    "icechunk": Suite(
        (
            *("icechunk==2.3.0", "boto3", "boto3-stubs[s3]", "dask[array,distributed]==2026.8.0"),
            *("xarray==2026.9.0", "pytest-asyncio==1.5.0", "termcolor", "rich", "flatbuffers"),
            *("zstandard", "pytest-reportlog", "pandas", "scipy", "cftime", "pooch"),
        ),
        ("-o", "addopts=", "-o", "asyncio_mode=auto", "-k", "not minio and not s3", *_ICECHUNKS),
        sdist="icechunk==2.3.0",
        least=0.99,
        tests=100,
        ways=("as_zarr", "accelerate"),
    ),
    "tifffile": Suite(
        (
            *("tifffile==2026.11.8", "imagecodecs", "fsspec==2026.9.0", "kerchunk", "lxml"),
            *("xarray==2026.9.0", "dask[array]==2026.8.0", "requests", "aiohttp"),
        ),
        ("-o", "addopts=", "-k", "zarr or fsspec", "tests"),
        sdist="tifffile==2026.11.8",
        least=0.99,
        tests=20,
        ways=("as_zarr", "accelerate"),
    ),
    "ome-writers": Suite(
        ("ome-writers[tensorstore,zarr-python,zarrs-python]==0.3.2", "yaozarrs[io]", "useq-schema"),
        ("-o", "addopts=", "tests"),
        sdist="ome-writers==0.3.2",
        least=0.99,
        tests=100,
        ways=("as_zarr", "accelerate"),
    ),
    "yaozarrs": Suite(
        ("yaozarrs[storage,write-tensorstore,write-zarrs]==0.3.4", "ome-zarr"),
        ("-o", "addopts=", "tests"),
        sdist="yaozarrs==0.3.4",
        least=0.99,
        tests=100,
        ways=("as_zarr", "accelerate"),
    ),
    "zarr-checksum": Suite(
        ("zarr-checksum==0.4.7", "boto3", "faker", "minio"),
        ("-o", "addopts=", "zarr_checksum/tests"),
        sdist="zarr-checksum==0.4.7",
        least=0.99,
        tests=8,
        ways=("as_zarr", "accelerate"),
    ),
}
_NO_TESTS = "its source distribution has no tests"
LEFT_OUT: dict[str, str] = {
    "kerchunk 0.2.10": f"{_NO_TESTS}; that of 0.2.6 has files for tests, and none of the tests",
    "bio2zarr 0.2.1": f"{_NO_TESTS}, nor has that of 0.1.6",
    "sgkit 0.10.0": _NO_TESTS,
    **dict.fromkeys(("ome-zarr-models 1.8.1", "titiler-xarray 2.4.0"), _NO_TESTS),
    **dict.fromkeys(("intake 2.0.9", "xpublish 0.5.2", "lazyslide 0.13.0"), _NO_TESTS),
    "pydantic-zarr 0.10.0": "zarr-python 3.4.2 cannot import its tests",
    "ngff-zarr 0.50.0": "all of its tests need ITK",
}
"""Projects that have no suite here, and why."""
