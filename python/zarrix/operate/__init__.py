"""Maintenance of stored data: verify it, rename what is broken, compare two hierarchies.

A leaf room: it uses arrays, groups and stores, and no other room depends on it.
"""

from zarrix.operate._diff import Comparison, Difference, diff
from zarrix.operate._digests import digests
from zarrix.operate._repair import Repair, repair
from zarrix.operate._verify import Problem, Verification, verify

__all__ = [
    "Comparison",
    "Difference",
    "Problem",
    "Repair",
    "Verification",
    "diff",
    "digests",
    "repair",
    "verify",
]
