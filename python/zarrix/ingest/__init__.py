"""Appends by the value of a coordinate, which can be repeated and come in any order. A door."""

from zarrix.ingest._append import append
from zarrix.ingest._appended import Appended

__all__ = ["Appended", "append"]

# Users and pickles find them here.
for _public in (Appended, append):
    _public.__module__ = "zarrix.ingest"
del _public
