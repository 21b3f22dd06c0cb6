"""Names of ``zarr.storage._zip``."""

from typing import Literal

from zarrix._stores.zip import ZipStore

__all__ = ["ZipStore", "ZipStoreAccessModeLiteral"]

ZipStoreAccessModeLiteral = Literal["r", "w", "a", "x"]
