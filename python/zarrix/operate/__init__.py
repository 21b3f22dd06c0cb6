"""Maintenance of stored data: verify it, rename what is broken, compare and sync hierarchies.

A leaf room: it uses arrays, groups and stores, and no other room depends on it.
"""

from zarrix._hierarchy.sync_run import SyncCounts
from zarrix._hierarchy.sync_store import sync_store
from zarrix.operate._diff import Comparison, Difference, diff
from zarrix.operate._digests import digests
from zarrix.operate._repair import Repair, repair
from zarrix.operate._verify import Problem, Verification, verify

__all__ = [
    "Comparison",
    "Difference",
    "Problem",
    "Repair",
    "SyncCounts",
    "Verification",
    "diff",
    "digests",
    "repair",
    "sync_store",
    "verify",
]

# Users and pickles find them here.
for _public in (Comparison, Difference, Problem, Repair, SyncCounts, Verification):
    _public.__module__ = "zarrix.operate"
for _function in (diff, digests, repair, sync_store, verify):
    _function.__module__ = "zarrix.operate"
