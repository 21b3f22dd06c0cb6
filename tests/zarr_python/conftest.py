"""Collected where tests/interop runs them: beside the zarr-python and plugins that they are for."""

import os

if "ZARRIX_TEST_SERVERS" not in os.environ:
    collect_ignore_glob = ["*.py"]
