"""The files of the front end: a fixed table. No path of a request reaches the file system."""

from __future__ import annotations

from importlib.resources import files

from zarrix.viewer._answers import Answer, Refused

__all__ = ["FILES", "static_file"]

FILES = {
    "": ("index.html", "text/html; charset=utf-8"),
    "index.html": ("index.html", "text/html; charset=utf-8"),
    "view.js": ("view.js", "text/javascript; charset=utf-8"),
    "view.css": ("view.css", "text/css; charset=utf-8"),
    "icon.svg": ("icon.svg", "image/svg+xml"),
    "licenses.txt": ("licenses.txt", "text/plain; charset=utf-8"),
}


def static_file(name: str) -> Answer:
    """The file of this name.

    Raises
    ------
    Refused
        The table does not have it, or the front end is not there.
    """
    if name not in FILES:
        raise Refused(404, "there is no such file")
    file, kind = FILES[name]
    found = files("zarrix.viewer").joinpath("static", file)
    if not found.is_file():
        raise Refused(404, f"this copy of zarrix was built without {file}")
    return Answer(found.read_bytes(), 200, {"content-type": kind, "cache-control": "no-cache"})
