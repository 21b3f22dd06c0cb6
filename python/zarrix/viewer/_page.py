"""A view as one HTML file that needs no server: the front end, and the values of small arrays.

The file has the answers of the routes that say what is there, and the values of each array as one
tile. The front end cuts its tiles out of them (`viewer/src/exported.ts`). What is beyond the limit
is named in the file and to the caller.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
from dataclasses import dataclass
from html import escape
from typing import Any

from zarrix._errors import ZarrixError
from zarrix._nodes.broken import BrokenMember
from zarrix._stores.keys import key_of
from zarrix.viewer._cost import item_bytes
from zarrix.viewer._decoded import convention_of
from zarrix.viewer._limits import MOST_ELEMENTS
from zarrix.viewer._roots import Roots, is_array
from zarrix.viewer._routes import answer
from zarrix.viewer._static import static_file
from zarrix.viewer._tile_types import tile_type

__all__ = ["MOST_BYTES", "Exported", "page_of"]

MOST_BYTES = 16 * 2**20
"""Decoded bytes of the arrays in one file, if nothing else is said."""

_MOST_NODES = 200
_MOST_LISTED = 500
_ASKED = ("node", "coordinates", "related", "stored")


@dataclass(frozen=True)
class Exported:
    """A page, and what it has.

    Attributes
    ----------
    html : str
    arrays : list of str
        Paths of the arrays whose values are in the page.
    left_out : list of str
        Paths of those that are not, because the page would be too large or they have no numbers.
    """

    html: str
    arrays: list[str]
    left_out: list[str]


def page_of(roots: Roots, most_bytes: int = MOST_BYTES) -> Exported:
    """The nodes below all roots as one page.

    Raises
    ------
    ZarrixError
        No array fits.
    """
    answers: dict[str, Any] = {}
    tiles: dict[str, Any] = {}
    hello = json.loads(bytes(answer(roots, "hello", {}).body))
    groups, arrays = _nodes(roots)
    # That which is shown first comes first, so that it is not what is left out.
    arrays.sort(key=lambda path: path != hello["first"])
    kept, left_out, left = [], [], most_bytes
    for path in arrays:
        array = roots.array(path)
        size = math.prod(array.shape)
        forms = _forms(array)
        needed = size * item_bytes(array) * len(forms)
        if size > MOST_ELEMENTS or needed > left or not _tiles(roots, path, forms, tiles):
            left_out.append(path)
            continue
        left -= needed
        kept.append(path)
    if not kept:
        raise ZarrixError(f"no array is small enough for a page of {most_bytes >> 10} KiB")
    for path in (*groups, *kept):
        for route in ("node",) if path in groups else _ASKED:
            _record(roots, route, {"path": path}, answers)
        if path in groups:
            given = {"path": path, "offset": "0", "limit": str(_MOST_LISTED)}
            _record(roots, "tree", given, answers)
    hello["left_out"] = left_out[:_MOST_LISTED]
    hello["first"] = kept[0] if hello["first"] not in kept else hello["first"]
    answers["hello"] = hello
    return Exported(_document(hello["title"], answers, tiles), kept, left_out)


def _nodes(roots: Roots) -> tuple[list[str], list[str]]:
    """The paths of the groups and the arrays below all roots, as many as a page has."""
    groups: list[str] = []
    arrays: list[str] = []
    waiting = [""]
    while waiting and len(groups) + len(arrays) < _MOST_NODES:
        path = waiting.pop(0)
        if roots.find(path) is not None and is_array(roots.find(path)):
            arrays.append(path)
            continue
        groups.append(path)
        for name, member in roots.members(path, _MOST_NODES):
            if not isinstance(member, BrokenMember):
                waiting.append(key_of(path, name))
    return groups, arrays


def _forms(array: Any) -> list[str]:
    """How the values of an array are asked for: as they are stored, as labels, as CF means them."""
    found = ["raw"]
    if array.dtype.kind in "iu" and array.ndim > 1:
        found.append("label")
    if convention_of(array) is not None:
        found.append("cf")
    return found


def _tiles(roots: Roots, path: str, forms: list[str], tiles: dict[str, Any]) -> bool:
    """Add the values of an array; whether it has numbers and they were read."""
    if tile_type(roots.array(path).dtype) is None:
        return False
    for form in forms:
        found = answer(roots, "tile", {"path": path, "as": form})
        if found.status != 200:
            return False
        packed = gzip.compress(bytes(found.body), 6, mtime=0)
        headers = {k: v for k, v in found.headers.items() if k.startswith("x-zarrix")}
        tiles[f"{form} {path}"] = {"headers": headers, "body": base64.b64encode(packed).decode()}
    return True


def _record(roots: Roots, route: str, asked: dict[str, str], answers: dict[str, Any]) -> None:
    """Add the answer of a route, if it is one."""
    found = answer(roots, route, asked)
    if found.status == 200:
        answers[f"{route} {asked['path']}"] = json.loads(bytes(found.body))


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _document(title: str, answers: dict[str, Any], tiles: dict[str, Any]) -> str:
    """The HTML: no script but the front end's runs, and nothing is fetched."""
    script = bytes(static_file("view.js").body).decode().replace("</script", "<\\/script")
    style = bytes(static_file("view.css").body).decode().replace("</style", "<\\/style")
    # In a script of data, only "<" could end it.
    data = json.dumps({"answers": answers, "tiles": tiles}, separators=(",", ":"))
    data = data.replace("<", "\\u003c")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        '<div id="zarrix-viewer" class="zarrix-viewer"></div>\n'
        f'<script type="application/json" id="zarrix-data">{data}</script>\n'
        f'<script type="module">{script}</script>\n</body>\n</html>\n'
    )
