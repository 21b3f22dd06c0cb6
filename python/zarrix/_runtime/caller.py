"""Warnings that point at the line of the user's program that caused them."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings

__all__ = ["warn_caller"]

_SKIPPED = (os.path.dirname(os.path.dirname(__file__)), contextlib.__file__)


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line outside of this package, however deep the call is."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_SKIPPED):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level + 1)
