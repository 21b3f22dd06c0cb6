"""Virtual arrays: many arrays and files as one array or group, without a copy.

A virtual array is a list of pieces. It is read like any other array; `save` stores the list.
"""

from zarrix.virtual._concat import concat, stack
from zarrix.virtual._edit import Piece, Pieces, Problem, edit, pieces, refresh, verify
from zarrix.virtual._join import join
from zarrix.virtual._mosaic import mosaic
from zarrix.virtual._open import open, save  # noqa: A004
from zarrix.virtual._references import references

__all__ = [
    "Piece",
    "Pieces",
    "Problem",
    "concat",
    "edit",
    "join",
    "mosaic",
    "open",
    "pieces",
    "references",
    "refresh",
    "save",
    "stack",
    "verify",
]

for _public in (Piece, Pieces, Problem):
    _public.__module__ = "zarrix.virtual"
