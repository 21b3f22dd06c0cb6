"""Values that a source has packed otherwise, as the destination packs them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zarrix._errors import AppendError
from zarrix.convert._cf import FILL
from zarrix.ingest._variables import Variable

__all__ = ["repacked"]

_PACKING = ("scale_factor", "add_offset", FILL, "missing_value", "_Unsigned")


class _Packing(NamedTuple):
    """How numbers are stored: as ``(number - offset) / scale``, or as they are.

    Attributes
    ----------
    dtype : dtype
        Of what is stored.
    scale, offset : float
    fills : tuple
        Stored values that stand for missing ones; the first is written.
    is_unsigned : bool
    """

    dtype: np.dtype[Any]
    scale: float
    offset: float
    fills: tuple[Any, ...]
    is_unsigned: bool

    @classmethod
    def of(cls, variable: Variable, owner: str) -> _Packing:
        """The packing that the attributes of a variable say."""
        told = variable.attributes

        def number(key: str, default: float) -> float:
            value = told.get(key, default)
            value = value[0] if isinstance(value, list) and len(value) == 1 else value
            if isinstance(value, bool) or not isinstance(value, int | float | np.number):
                raise AppendError(f"{variable.name}.{key} of {owner} is {value!r}, not a number")
            return float(value)

        fills: list[Any] = []
        for key in (FILL, "missing_value"):
            value = told.get(key, [])
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, int | float | np.number) and not isinstance(one, bool):
                    with np.errstate(all="ignore"):
                        fills.append(np.asarray(one).astype(variable.dtype)[()])
        is_unsigned = variable.dtype.kind == "i" and str(told.get("_Unsigned")).lower() == "true"
        scale, offset = number("scale_factor", 1.0), number("add_offset", 0.0)
        if not (np.isfinite(scale) and np.isfinite(offset) and scale):
            raise AppendError(
                f"{variable.name} of {owner} has the scale_factor {scale} and the add_offset "
                f"{offset}, which pack no values"
            )
        return cls(variable.dtype, scale, offset, tuple(fills), is_unsigned)

    @property
    def is_plain(self) -> bool:
        """Whether stored values are the numbers themselves."""
        return (self.scale, self.offset) == (1.0, 0.0)

    def _numbers(self, stored: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return stored.view(stored.dtype.str.replace("i", "u")) if self.is_unsigned else stored

    def missing(self, stored: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Which stored values stand for missing ones."""
        found = np.isnan(stored) if stored.dtype.kind == "f" else np.zeros(stored.shape, bool)
        for fill in self.fills:
            found |= stored == fill
        return found

    def decoded(self, stored: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The numbers that stored values stand for; float64 unless they are stored as they are."""
        numbers = self._numbers(stored)
        return numbers if self.is_plain else numbers.astype("f8") * self.scale + self.offset

    def encoded(
        self, numbers: npt.NDArray[Any], missing: npt.NDArray[np.bool_], owner: str
    ) -> npt.NDArray[Any]:
        """The stored values of numbers.

        Raises
        ------
        AppendError
            One has none: it is beyond the range, would be read as missing, or is not a
            whole number.
        """
        kept = np.where(missing, numbers.dtype.type(0), numbers)
        exact = kept if self.is_plain else (kept.astype("f8") - self.offset) / self.scale
        if self.dtype.kind == "f":
            with np.errstate(over="ignore"):
                found = exact.astype(self.dtype)
            fits = np.isfinite(found) | ~np.isfinite(exact)
        else:
            number_type = np.dtype(
                self.dtype.str.replace("i", "u") if self.is_unsigned else self.dtype
            )
            whole = exact if exact.dtype.kind in "iu" else np.rint(exact)
            limits = np.iinfo(number_type)
            fits = (whole >= limits.min) & (whole <= limits.max)
            fits &= (whole == exact) | (not self.is_plain)
            found = np.where(fits, whole, 0).astype(number_type).view(self.dtype)
        fits &= ~self.missing(found)
        if missing.any():
            if not self.fills and self.dtype.kind != "f":
                raise AppendError(
                    f"{owner} has missing values, for which the destination has no _FillValue"
                )
            found[missing] = self.fills[0] if self.fills else np.nan
        wrong = ~(fits | missing)
        if wrong.any():
            raise AppendError(
                f"{owner} has the value {numbers[wrong].flat[0]}, which the destination cannot "
                f"hold in {self.dtype} with scale_factor {self.scale:g} and add_offset "
                f"{self.offset:g}; write it anew with a packing that has room"
            )
        return found


def repacked(
    variables: Mapping[str, Variable], stored: Mapping[str, Variable], along: str, owner: str
) -> dict[str, Variable]:
    """The variables of a source, those with the dimension packed as the destination packs them.

    Parameters
    ----------
    variables, stored : mapping of str to Variable
        Of the source, and of the destination.
    along : str
        The dimension, whose coordinate is left as it is.
    owner : str
        The source, for messages.
    """
    found = dict(variables)
    for name, mine in variables.items():
        theirs = stored.get(name)
        if theirs is None or name == along or mine.axis(along) is None:
            continue
        kinds = mine.dtype.kind + theirs.dtype.kind
        if {*kinds} <= {*"iuf"} and _packing_differs(mine, theirs):
            found[name] = _repacked(mine, theirs, owner)
    return found


def _packing_differs(mine: Variable, theirs: Variable) -> bool:
    told = [{key: one.attributes.get(key) for key in _PACKING} for one in (mine, theirs)]
    return mine.dtype != theirs.dtype or repr(told[0]) != repr(told[1])


def _repacked(mine: Variable, theirs: Variable, owner: str) -> Variable:
    before, after = _Packing.of(mine, owner), _Packing.of(theirs, "the destination")
    named = f"{mine.name!r} of {owner}"

    def read(region: tuple[slice, ...]) -> Any:
        values = np.asarray(mine.read(region))
        return after.encoded(before.decoded(values), before.missing(values), named)

    attributes = {key: one for key, one in mine.attributes.items() if key not in _PACKING}
    attributes |= {key: one for key, one in theirs.attributes.items() if key in _PACKING}
    return mine._replace(dtype=theirs.dtype, attributes=attributes, read=read)
