"""A plugin of pytest: `accelerate` for all tests of a run, ``-p accelerated``."""

import zarrix.interop

zarrix.interop.accelerate()
