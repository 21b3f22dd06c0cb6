"""The picture that a widget leaves in a notebook that is exported, where no kernel answers it."""

from __future__ import annotations

import base64
import json

from zarrix._errors import ZarrixError
from zarrix.viewer._answers import Refused
from zarrix.viewer._picture import picture_of
from zarrix.viewer._roots import Roots
from zarrix.viewer._routes import answer
from zarrix.viewer._terminal import png

__all__ = ["still_of"]

_SIZE = (360, 640)


def still_of(roots: Roots, path: str) -> str | None:
    """A PNG of the first plane of an array in base64; None if it has none or is not read.

    A group has the picture of the array that its viewer shows first.
    """
    if not path:
        first = json.loads(bytes(answer(roots, "hello", {}).body))["first"]
        if first is None:
            return None
        path = first
    try:
        found = picture_of(roots.array(path), path, size=_SIZE)
    except (Refused, ZarrixError, OSError):
        # The widget itself says what is wrong; a cell must not fail because of its picture.
        return None
    return base64.b64encode(png(found.image)).decode()
