"""Where a file of another format may be made: not among the chunks of an array."""

from __future__ import annotations

import os
from pathlib import Path

from zarrix._errors import ContainsArrayError
from zarrix._nodes.folders_above import array_around

__all__ = ["refuse_below_array"]


def refuse_below_array(target: Path) -> None:
    """Raise an error if a file, or folder, lies in the folder of an array.

    Raises
    ------
    ContainsArrayError
    """
    real = os.path.join(os.path.realpath(target.parent), target.name)
    found = array_around(real)
    if found is not None:
        raise ContainsArrayError(
            f"{found!r} is an array, and {target} would lie among its chunks; choose another "
            "destination"
        )
