"""Members of a group that cannot be opened do not hide the others.

The metadata of a member may be damaged, name a codec that is not installed, or need pickles.
Listings contain the other members, and warn of this one by name. Trees show it. Opening it is an
error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from zarrix._errors import BrokenMemberWarning, ZarrixError
from zarrix._runtime.caller import warn_caller

__all__ = ["CANNOT_OPEN", "BrokenMember", "warn_of", "warn_of_strangers"]

CANNOT_OPEN = (ZarrixError, PermissionError, IsADirectoryError, ImportError)
"""Errors of opening one member that are caused by that member, and not by the server."""

_MOST_CHARACTERS = 160


class BrokenMember:
    """A member that cannot be opened, as trees show it.

    Parameters
    ----------
    name : str
        Path with a leading slash.
    reason : Exception
        The error from opening it.
    """

    def __init__(self, name: str, reason: Exception) -> None:
        self.name = name
        self.reason = reason

    @property
    def label(self) -> str:
        """Its name and the reason why it cannot be opened, on one line."""
        text = " ".join(str(self.reason).split())
        if len(text) > _MOST_CHARACTERS:
            text = f"{text[: _MOST_CHARACTERS - 3]}..."
        return f"{self.name.rpartition('/')[2]} (cannot be opened: {text})"


def warn_of_strangers(names: Iterable[str], known: Collection[str]) -> None:
    """Warn, as zarr-python 3 does and in its words, of names in a group that are not nodes."""
    for name in names:
        if name not in known:
            warn_caller(
                f"Object at {name} is not recognized as a component of a Zarr hierarchy.",
                UserWarning,
            )


def warn_of(name: str, reason: Exception) -> None:
    """Warn, at the caller's line, of a member that is left out."""
    warn_caller(
        f"the member {name!r} cannot be opened and is left out: {reason}", BrokenMemberWarning
    )
