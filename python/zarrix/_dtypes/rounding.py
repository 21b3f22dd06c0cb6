"""Floating-point numbers with zeros for their last bits, which compress better.

Nothing here runs unless a user names the largest error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

__all__ = ["check_max_error", "kept_values", "rounded", "rounds"]

# Elements that are computed at once: their 8 bytes each stay in a processor's cache.
_BLOCK = 32 * 1024


def check_max_error(max_error: Any) -> float | None:
    """The number that a user passed as ``max_error=``.

    Raises
    ------
    ValueError
        It is not a positive number.
    """
    if max_error is None:
        return None
    is_number = isinstance(max_error, int | float) and not isinstance(max_error, bool)
    if not is_number or not 0 < max_error < math.inf:
        raise ValueError(f"max_error={max_error!r} is not a number above 0")
    return float(max_error)


def rounds(dtype: Any) -> bool:
    """Whether elements are rounded: floating-point numbers of up to 8 bytes, and complex ones."""
    if not isinstance(dtype, np.dtype):
        return False
    return dtype.kind in "fc" and dtype.itemsize <= (8 if dtype.kind == "f" else 16)


def kept_values(fill_value: Any, attributes: Any) -> list[float]:
    """Values that mean "missing", which stay as they are: the fill value, and those of CF."""
    found = [fill_value, *(attributes.get(name) for name in ("_FillValue", "missing_value"))]
    flat = (one for value in found if value is not None for one in np.ravel(value))
    return [float(one) for one in flat if isinstance(one, int | float | np.number)
            and not isinstance(one, np.complexfloating)]  # fmt: skip


def rounded(values: Any, max_error: float, kept: Iterable[float] = ()) -> tuple[Any, float]:
    """Values rounded to multiples of a power of two, and the largest error.

    Every element is within ``max_error`` of the given one; infinities, NaN with their payloads, and
    elements equal to one of ``kept`` are the given ones. Elements of other dtypes are not changed.

    Examples
    --------
    >>> import numpy as np
    >>> values, error = rounded(np.array([0.1, 0.26, np.inf]), 0.1)
    >>> values, round(error, 3)
    (array([0.125, 0.25 ,   inf]), 0.025)
    """
    values = np.asarray(values)
    # The distance between two results: an element is at most half of it away.
    _, exponent = math.frexp(max_error)
    step = math.ldexp(1.0, min(1023, exponent))
    if not rounds(values.dtype) or step == 0 or not values.size:
        return values, 0.0
    out = np.array(values, order="C")
    part = out.dtype if out.dtype.kind == "f" else np.dtype(f"f{out.dtype.itemsize // 2}")
    part = part.newbyteorder(out.dtype.byteorder)
    flat = out.reshape(-1).view(part)
    # Larger elements have no bits below the step.
    most = math.ldexp(step, min(1023 - exponent, np.finfo(part).nmant + 1))
    missing = [part.type(one) for one in kept if math.isfinite(one)]
    largest = 0.0
    for start in range(0, flat.size, _BLOCK):
        block = flat[start : start + _BLOCK]
        exact = block.astype("f8")
        with np.errstate(all="ignore"):
            changed = np.abs(exact) < most
            for one in missing:
                changed &= block != one
            near = np.rint(exact / step) * step
            differences = np.abs(near - exact)[changed]
        block[changed] = near[changed]
        largest = max(largest, float(differences.max(initial=0.0)))
    return out, largest
