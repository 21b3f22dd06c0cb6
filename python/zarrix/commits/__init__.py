"""Changes of several nodes of one hierarchy that become visible together, or not at all."""

from __future__ import annotations

from zarrix.commits._commit import commit
from zarrix.commits._recover import Recovered, recover
from zarrix.commits._replacing import replacing
from zarrix.commits._sweep import sweep

__all__ = ["Recovered", "commit", "recover", "replacing", "sweep"]

# Users and pickles find them here.
for _public in (Recovered, commit, recover, replacing, sweep):
    _public.__module__ = "zarrix.commits"
del _public
