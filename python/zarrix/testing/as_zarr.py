"""The pytest plugin that runs the tests of a project that imports ``zarr`` on zarrix.

    pytest -p zarrix.testing.as_zarr

It installs the alias as soon as pytest knows the plugin, before it imports a test or another
plugin. Importing this module alone installs nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["pytest_addoption", "pytest_report_header"]

# The alias stands above this room, and is named by its text, as in `zarrix._nodes.on_demand`.
_ALIAS = "zarrix.as_zarr"


def pytest_addoption(parser: Any) -> None:
    """Install the alias: pytest calls this hook first, when it registers the plugin.

    Parameters
    ----------
    parser : pytest.Parser

    Raises
    ------
    RuntimeError
        zarr-python itself is already imported.

    Examples
    --------
    >>> from zarrix.testing.as_zarr import pytest_addoption  # pytest -p zarrix.testing.as_zarr
    """
    importlib.import_module(_ALIAS)


def pytest_report_header() -> str:
    """The line of pytest's header that says which package runs as ``zarr``.

    Returns
    -------
    str

    Examples
    --------
    >>> from zarrix.testing.as_zarr import pytest_report_header
    >>> pytest_report_header().startswith("zarr: zarrix ")
    True
    """
    version = importlib.import_module("zarrix").__version__
    return f"zarr: zarrix {version}, by zarrix.testing.as_zarr"
