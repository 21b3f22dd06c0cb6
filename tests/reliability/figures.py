"""What an experiment answers with: figures, each with the bar that it is held against."""

from __future__ import annotations

import operator
from dataclasses import asdict, dataclass
from typing import Any

_BARS = {
    "=": operator.eq,
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
}


@dataclass(frozen=True)
class Figure:
    """One number that was measured.

    Attributes
    ----------
    what : str
        The sentence that it completes: "elements lost of 12800".
    value : int or float
    bar : str
        ``"= 0"``, ``"<= 16"``; empty where a figure is only told.
    unit : str
    """

    what: str
    value: float
    bar: str = ""
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.value:g} {self.unit}".rstrip()

    @property
    def reached(self) -> bool:
        """Whether the figure is what the bar asks for."""
        if not self.bar:
            return True
        relation, limit = self.bar.split()
        return bool(_BARS[relation](self.value, float(limit)))

    def as_json(self) -> dict[str, Any]:
        """Its members, with ``reached``."""
        return {**asdict(self), "reached": self.reached}
