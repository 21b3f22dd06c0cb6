"""Files of digests, as ``zarrix verify --write-digests`` writes them."""

from __future__ import annotations

import json
from pathlib import Path

from zarrix.cli._failures import UsageError

__all__ = ["read_digests"]


def read_digests(file: Path) -> dict[str, str]:
    """The digests in a file.

    Raises
    ------
    UsageError
        It has none.
    """
    try:
        found = json.loads(file.read_bytes())
    except ValueError as error:
        raise UsageError(f"{file} is not a file of digests: it is not JSON, {error}") from None
    if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
        raise UsageError(
            f"{file} is not a file of digests: 'zarrix verify --write-digests' writes a JSON "
            "object of a text for each key"
        )
    return found
