"""Looking after what is stored: verify it, set aside what is broken, compare two of it.

A leaf room: it uses arrays, groups and stores, and nothing else knows that it exists.
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
