"""The address of a running viewer is shown to the user alone.

It has the token, and every user of a machine can see the command lines of all processes. So the
browser is given a file that only this user can read, which leads to the address.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import socket
import tempfile
import webbrowser
from collections.abc import Iterator
from html import escape
from pathlib import Path

__all__ = ["has_browser", "redirect_file", "tunnel"]


@contextlib.contextmanager
def redirect_file(address: str) -> Iterator[Path]:
    """A page that leads to the address, which only this user can read; removed at the end."""
    folder = os.environ.get("XDG_RUNTIME_DIR")
    if not folder or not os.access(folder, os.W_OK):
        folder = None
    # Both are made with the permissions of this user alone.
    with tempfile.TemporaryDirectory(prefix="zarrix-view-", dir=folder) as made:
        path = Path(made) / "open.html"
        text = (
            '<!doctype html><meta charset="utf-8">'
            f'<meta http-equiv="refresh" content="0; url={escape(address)}">'
            f'<title>zarrix</title><a href="{escape(address)}">Open the viewer</a>\n'
        )
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
        yield path


def has_browser() -> bool:
    """Whether there is a browser that has a screen."""
    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return False
    # Browsers of a terminal would take it from this program.
    return not isinstance(found, webbrowser.GenericBrowser) or isinstance(
        found, webbrowser.BackgroundBrowser
    )


def tunnel(port: int) -> str:
    """The command that leads a port of another machine to this one."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "USER"
    return f"ssh -L {port}:127.0.0.1:{port} {user}@{socket.gethostname()}"
