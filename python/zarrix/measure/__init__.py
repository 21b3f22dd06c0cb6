"""Measurements on the user's own data: how fast it reads, and which layout or format is faster.

A door: it uses arrays and the converters, and nothing depends on it.
"""

from zarrix.measure._access import Access
from zarrix.measure._advise import Advice, Trial, advise
from zarrix.measure._bench import Bench, bench
from zarrix.measure._compare import Comparison, FormatRow, compare
from zarrix.measure._lint import Finding, lint
from zarrix.measure._suggest import Suggestion, suggest

__all__ = [
    "Access",
    "Advice",
    "Bench",
    "Comparison",
    "Finding",
    "FormatRow",
    "Suggestion",
    "Trial",
    "advise",
    "bench",
    "compare",
    "lint",
    "suggest",
]
