"""Optional packages: a test that meets the absence of one is skipped, and says which."""

import contextlib
import importlib.util
import re
from collections.abc import Iterator

import pytest

# Those without wheels for some Python that the suite runs on.
PACKAGES = ("boto3", "dask", "h5py", "lmdb", "moto", "netCDF4", "xarray", "zfpy")
ABSENT = tuple(name for name in PACKAGES if importlib.util.find_spec(name) is None)


def skip_where_absent(said: str) -> None:
    """Skip the test if an error in this text asks for a package that is not installed."""
    for name in ABSENT:
        if re.search(rf"\b(?:No module named '|packages? ){name}\b", said):
            pytest.skip(f"{name} is not installed")


@contextlib.contextmanager
def skipped_where_absent() -> Iterator[None]:
    """Skip the test if what runs inside asks for a package that is not installed."""
    try:
        yield
    except ImportError as error:
        skip_where_absent(str(error))
        raise
