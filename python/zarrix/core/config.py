"""Public name of ``zarr.core.config``: the settings of this process."""

from zarrix._runtime.config import config

__all__ = ["config"]
