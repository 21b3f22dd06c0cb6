"""What differs on a Python without a GIL."""

import sys
import sysconfig

import pytest

WITHOUT_GIL = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

MEMORY = 2 if WITHOUT_GIL else 1
"""How much more memory is allowed: without a GIL, Python frees objects later and keeps memory."""

forks_beside_threads = pytest.mark.skipif(
    WITHOUT_GIL and sys.version_info < (3, 14),
    reason="a child of free-threaded Python 3.13 may wait forever for a dict that a thread used",
)
