"""What one request may take. The front end is told these numbers, and keeps to them."""

from __future__ import annotations

__all__ = [
    "MOST_ATTRIBUTE_BYTES",
    "MOST_CELLS",
    "MOST_CHUNKS",
    "MOST_CONNECTIONS",
    "MOST_DECODED_BYTES",
    "MOST_ELEMENTS",
    "MOST_MEMBERS",
    "MOST_TEXT",
    "PUBLIC",
]

MOST_ELEMENTS = 4 * 2**20
"""Elements of one tile."""

MOST_DECODED_BYTES = 256 * 2**20
"""Bytes of the chunks that one request decodes."""

MOST_CELLS = 10_000
"""Elements that are printed as text."""

MOST_CHUNKS = 2**20
"""Chunks of which one request says whether they are stored."""

MOST_MEMBERS = 2_000
"""Members of a group in one answer."""

MOST_TEXT = 4096
"""Characters of a parameter."""

MOST_ATTRIBUTE_BYTES = 256 * 2**10
MOST_CONNECTIONS = 32

PUBLIC = {
    "elements": MOST_ELEMENTS,
    "cells": MOST_CELLS,
    "chunks": MOST_CHUNKS,
    "members": MOST_MEMBERS,
    "overview_bytes": MOST_DECODED_BYTES,
    "connections": MOST_CONNECTIONS,
}
