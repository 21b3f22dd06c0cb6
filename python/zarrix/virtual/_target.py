"""The file that a list, or references, are written to: never a piece, and never another file."""

from __future__ import annotations

from typing import Literal

from zarrix._errors import VirtualError
from zarrix._stores.overlap import refuse_overlap
from zarrix.virtual._store import VirtualStore

__all__ = ["require_free"]

# How such a file begins, without blanks.
_BEGINS = {
    "a list of pieces": b'{"zarrix_virtual":',
    "a file of references": b'{"version":1,"refs":',
}
_HEAD_BYTES = 200


def require_free(
    store: VirtualStore, target: str, kind: Literal["a list of pieces", "a file of references"]
) -> None:
    """Raise an error if a file must not be written, or not be replaced.

    Raises
    ------
    OverlapError
        It is a piece, or is inside of one.
    VirtualError
        It exists, and is of another kind.
    """
    # A store of these pieces that has no file of its own, as a list may replace itself.
    pieces = VirtualStore({}, {}, store.opener)
    refuse_overlap(f"write {kind}", target, [(pieces, "")])
    try:
        with open(target, "rb") as file:
            head = file.read(_HEAD_BYTES)
    except FileNotFoundError:
        return
    if not b"".join(head.split()).startswith(_BEGINS[kind]):
        raise VirtualError(f"{target} is not {kind}, and is not replaced; choose another file")
