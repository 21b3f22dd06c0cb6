"""What becomes of NaN in the samples of a batch: counted, filled, masked, refused or rejected."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zarrix._errors import suggestion

__all__ = ["KEEP", "NanRule", "nan_rule", "settle_nan"]

_KINDS = ("keep", "raise", "fill", "mask", "reject")


class NanRule(NamedTuple):
    """One of "keep", "raise", "fill", "mask" and "reject", and the number that some have."""

    kind: str
    value: float

    @property
    def counts(self) -> bool:
        """Whether the NaN of each sample are counted after it was read."""
        return self.kind in ("raise", "mask", "reject")


KEEP = NanRule("keep", 0.0)


def nan_rule(nan: Any) -> NanRule:
    """The rule that ``Field(nan=)`` means.

    Examples
    --------
    >>> nan_rule(-1), nan_rule("reject:0.1"), nan_rule("mask")[0]
    (NanRule(kind='fill', value=-1.0), NanRule(kind='reject', value=0.1), 'mask')
    """
    if nan is None:
        return KEEP
    if not isinstance(nan, str):
        return NanRule("fill", float(nan))
    kind, colon, text = nan.partition(":")
    if kind not in _KINDS or bool(colon) != (kind in ("fill", "reject")):
        raise ValueError(
            f"nan={nan!r}; it is a number, or one of 'keep', 'raise', 'mask', 'fill:NUMBER' and "
            f"'reject:SHARE'{suggestion(kind, _KINDS)}"
        )
    try:
        value = float(text) if colon else 0.0
    except ValueError:
        raise ValueError(f"nan={nan!r}: {text!r} is not a number") from None
    if kind == "reject" and not 0 <= value < 1:
        raise ValueError(f"nan={nan!r}: the share is at least 0, and below 1")
    return NanRule(kind, value)


def settle_nan(rules: dict[str, NanRule], batch: Any) -> npt.NDArray[np.bool_]:
    """Apply the rules of fields that count to a batch that was read; which samples are rejected.

    ``batch["nan"]`` becomes the largest share of NaN that a field of each sample has. NaN of a
    field with "mask" become 0, and ``batch[f"{name}_nan"]`` says where they were.
    """
    count = len(batch["item"])
    shares = np.zeros(count, np.float32)
    rejected = np.zeros(count, np.bool_)
    for name, rule in rules.items():
        values = batch[name]
        is_nan = _is_nan(values)
        share = is_nan.reshape(count, -1).mean(axis=1, dtype=np.float32)
        if rule.kind == "raise" and share.any():
            row = int(np.argmax(share > 0))
            raise ValueError(
                f"field {name!r} of item {int(batch['item'][row])} has NaN, and nan='raise'; "
                f"{share[row]:.1%} of its values"
            )
        if rule.kind == "mask":
            values[is_nan] = 0
            batch[f"{name}_nan"] = is_nan
        if rule.kind == "reject":
            rejected |= share > rule.value
        np.maximum(shares, share, out=shares)
    batch["nan"] = shares
    return rejected


def _is_nan(values: Any) -> Any:
    if values.dtype == np.uint16:  # bfloat16, as the bits that NumPy has no type for.
        return (values & 0x7FFF) > 0x7F80
    if values.dtype == np.float16:  # NumPy's own test converts each to single precision.
        return (values.view(np.uint16) & 0x7FFF) > 0x7C00
    return np.isnan(values)
