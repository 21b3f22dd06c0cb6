"""Where zarr-python 2.18 and 3.4.2 differ, and a call could mean either: which one it means.

It means 2.18 in zarrix itself, and 3.4.2 while zarrix runs under the name ``zarr``.
"""

from __future__ import annotations

__all__ = ["DIALECT", "Dialect"]


class Dialect:
    """What `zarrix.as_zarr` switches for the process.

    Attributes
    ----------
    is_zarr3 : bool
    """

    __slots__ = ("is_zarr3",)

    def __init__(self) -> None:
        self.is_zarr3 = False


DIALECT = Dialect()
