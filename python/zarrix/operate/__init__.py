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

# Users and pickles find them here.
for _public in (Comparison, Difference, Problem, Repair, Verification):
    _public.__module__ = "zarrix.operate"
diff.__module__ = digests.__module__ = repair.__module__ = verify.__module__ = "zarrix.operate"
