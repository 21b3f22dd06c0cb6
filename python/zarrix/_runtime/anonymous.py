"""Memory that processes share, in files without a name: nothing is left when all have ended."""

from __future__ import annotations

import os
import socket
import tempfile

__all__ = ["CAN_SEND_DESCRIPTORS", "anonymous_file"]

CAN_SEND_DESCRIPTORS = hasattr(socket, "send_fds")
"""Whether a process can give another one its files."""


def anonymous_file(purpose: str, size: int) -> int:
    """A descriptor of a new file of so many bytes, all zero, which only descriptors reach."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create(f"zarrix-{purpose}", os.MFD_CLOEXEC)
    else:
        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    os.ftruncate(fd, size)
    return fd
