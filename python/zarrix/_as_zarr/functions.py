"""Functions that differ for programs of zarr-python 3 in what they raise and warn of."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from zarrix._errors import GroupNotFoundError, PathNotFoundError
from zarrix._hierarchy import open as _open

__all__ = ["consolidate_metadata", "open"]


@functools.wraps(_open.open)
def open(*args: Any, **kwargs: Any) -> Any:
    """`zarrix.open`; a missing node is a missing group, as in zarr-python 3."""
    try:
        return _open.open(*args, **kwargs)
    except PathNotFoundError as error:
        if type(error) is not PathNotFoundError:
            raise
        raise GroupNotFoundError(*error.args) from None


@functools.wraps(_open.consolidate_metadata)
def consolidate_metadata(*args: Any, **kwargs: Any) -> Any:
    """`zarrix.consolidate_metadata`, which warns of what the specification of v3 does not have."""
    group = _open.consolidate_metadata(*args, **kwargs)
    if group.zarr_format == 3:
        warnings.warn(
            # zarr-python's text, by which programs filter the warning.
            f"Consolidated metadata is currently not part in the Zarr format {group.zarr_format} "
            "specification. It may not be supported by other zarr implementations and may "
            "change in the future.",
            category=UserWarning,
            stacklevel=2,
        )
    return group
