"""Versions of a hierarchy: states that are kept under a name beside it."""

from zarrix.versions._catalogue import Version
from zarrix.versions._check import VersionCheck
from zarrix.versions._diff import VersionDiff
from zarrix.versions._restore import Restored
from zarrix.versions._snapshot import snapshot
from zarrix.versions._versions import Versions

__all__ = ["Restored", "Version", "VersionCheck", "VersionDiff", "Versions", "snapshot"]

# Users and pickles find them here.
for _public in (Restored, Version, VersionCheck, VersionDiff, Versions, snapshot):
    _public.__module__ = "zarrix.versions"
del _public
