"""Pictures in a terminal: two pixels a character, the kitty graphics protocol, or plain text."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from zarrix.ml._loading.preview import Preview

__all__ = ["blocks", "kitty", "png", "protocol", "ramp"]

# Darkest first, in a dark terminal.
_RAMP = " .:-=+*#%@"
_KITTY_BYTES = 4096


def protocol(environment: Mapping[str, str] = os.environ) -> str:
    """The best way to draw that the terminal says it has: "kitty" or "blocks".

    Examples
    --------
    >>> protocol({"TERM": "xterm-kitty"}), protocol({"TERM": "xterm-256color"})
    ('kitty', 'blocks')
    """
    program = environment.get("TERM_PROGRAM", "").lower()
    term = environment.get("TERM", "")
    if "kitty" in term or "ghostty" in term or program in ("wezterm", "ghostty"):
        return "kitty"
    return "blocks"


def png(image: Any) -> bytes:
    """The picture as a PNG file."""
    return Preview(np.ascontiguousarray(image), [])._repr_png_()


def blocks(image: Any) -> str:
    """The picture with two pixels in a character, by colours of 24 bits."""
    if len(image) % 2:
        image = np.concatenate([image, np.zeros_like(image[:1])])
    lines = []
    for upper, lower in zip(image[::2].tolist(), image[1::2].tolist(), strict=True):
        cells = [
            f"\x1b[38;2;{a[0]};{a[1]};{a[2]}m\x1b[48;2;{b[0]};{b[1]};{b[2]}m▀"
            for a, b in zip(upper, lower, strict=True)
        ]
        lines.append("".join(cells) + "\x1b[0m")
    return "\n".join(lines)


def kitty(image: Any) -> str:
    """The picture in the graphics protocol of kitty."""
    text = base64.b64encode(png(image)).decode("ascii")
    parts = [text[at : at + _KITTY_BYTES] for at in range(0, len(text), _KITTY_BYTES)]
    found = []
    for number, part in enumerate(parts):
        first = "a=T,f=100," if number == 0 else ""
        found.append(f"\x1b_G{first}m={int(number + 1 < len(parts))};{part}\x1b\\")
    return "".join(found)


def ramp(image: Any) -> str:
    """The brightness as characters; every second row is left out, as characters are tall."""
    bright = image[::2].astype("f8") @ (0.299, 0.587, 0.114)
    at = (bright * (len(_RAMP) - 1) / 255 + 0.5).astype(int)
    return "\n".join("".join(_RAMP[one] for one in row).rstrip() for row in at)
