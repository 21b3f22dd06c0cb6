"""Whether two paths have values in common: asked before anything is replaced, moved or removed.

Everything that writes to a destination asks `refuse_overlap` before its first change, so that no
call destroys what it reads. `relation` is for callers that tell the cases apart. Both take what
names values: a path in a store, a file, or a URL.

What is compared is where the values are (`zarrix._stores.sites`), by names and never by the start
of a text: ``data2`` is not below ``data``. The comparison understands links, mounts, wrappers,
archives and databases in files, and several clients of one server. Two servers of different names,
and two mappings of unknown classes, count as apart: only a request could tell otherwise, and
refusing them would forbid every copy from one to another. Links *below* the paths are not followed:
a deletion removes a link, and not what it leads to.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Literal

from zarrix._engine import versions_of
from zarrix._errors import OverlapError
from zarrix._stores.foreign_sites import of_object
from zarrix._stores.labels import describe
from zarrix._stores.redaction import public_url
from zarrix._stores.registry import opener
from zarrix._stores.sites import Site, folder_of, of_file

__all__ = ["Named", "Relation", "refuse_overlap", "relation"]

Relation = Literal["apart", "same", "inside", "around"]

Named = tuple[Any, ...] | str | os.PathLike[str]
"""What has values: ``(store, path)`` or ``(store, path, chunk_store)``, where the chunk store may
be None; or the path or URL of a file."""


def relation(store: Any, path: str, other_store: Any, other_path: str = "") -> Relation:
    """How the values at ``path`` of ``store`` lie to those at ``other_path`` of ``other_store``.

    Parameters
    ----------
    store, other_store : Store, str or Path
        A str or Path is the path or URL of a file or folder, and not opened as a store.
    path, other_path : str
        Below the store; ``""`` is all of it.

    Returns
    -------
    {"apart", "same", "inside", "around"}
        ``"inside"``: the first lies in the second. ``"around"``: the second lies in the first.

    Examples
    --------
    >>> import zarrix as zarr
    >>> outer, inner = zarr.DirectoryStore("data"), zarr.DirectoryStore("data/a")
    >>> relation(inner, "b", outer, ""), relation(outer, "", inner, "b")
    ('inside', 'around')
    >>> relation(inner, "b", outer, "a/b"), relation(outer, "a", outer, "a2")
    ('same', 'apart')
    >>> relation("data/a/out.npy", "", outer, "a")
    'inside'
    """
    return _relation([*_sites(store, path)], [*_sites(other_store, other_path)])


def refuse_overlap(
    doing: str,
    written: Named,
    kept: Iterable[Named],
    *,
    allowed: Iterable[Relation] = (),
    plain: Collection[str] = (),
) -> None:
    """Raise an error if a destination overlaps what has to stay.

    To call before the first change. A source that is only read, and never removed, may lie around
    a destination if ``allowed`` says so: then ``allowed=["inside"]``.

    Parameters
    ----------
    doing : str
        What the caller does, for the message: ``"copy"``, ``"export"``.
    written : tuple, str or Path
        What is written, replaced or removed, with all below it: ``(store, path)``,
        ``(store, path, chunk_store)``, or the path or URL of a file.
    kept : iterable of the same
        What has to stay: the sources.
    allowed : iterable of str
        Relations of ``written`` to each of ``kept`` that are allowed, besides ``"apart"``.
    plain : collection of str
        Those of ``kept`` that the caller knows to be regular files, and not symbolic links.

    Raises
    ------
    OverlapError
        They overlap. The message names both.

    Examples
    --------
    >>> import zarrix as zarr
    >>> store = zarr.DirectoryStore("data")
    >>> refuse_overlap("copy", (store, "copies/a"), [(store, "a")])
    >>> refuse_overlap("copy", (store, ""), [(zarr.DirectoryStore("data/a"), "b")])
    Traceback (most recent call last):
        ...
    zarrix.errors.OverlapError: cannot copy: the destination '...data' contains the source ...
    """
    accepted = {"apart", *allowed}
    sites = [*_all_sites(written)]
    for one in _near(sites, kept, plain):
        found = _relation(sites, [*_all_sites(one)])
        if found not in accepted:
            raise OverlapError(
                f"cannot {doing}: the destination {_told(written)} {_VERBS[found]} the source "
                f"{_told(one)}; choose another destination"
            )


def _near(
    sites: Sequence[Site], sources: Iterable[Named], plain: Collection[str]
) -> Iterator[Named]:
    """The sources that can overlap: many files are compared by their folders first."""
    every = [*sources]
    files = [one for one in every if isinstance(one, str) and os.path.isabs(one)]
    if len(files) < _MANY:
        yield from every
        return
    names_in: dict[str, frozenset[str] | None] = {}
    asked = [one for one in files if one not in plain]
    found = zip(asked, versions_of(asked, follows=False), strict=True)
    regular = {one for one, version in found if version is not None and version[3]}
    for one in every:
        if isinstance(one, str) and (one in plain or one in regular):
            folder, _, name = one.rpartition(os.sep)
            if folder not in names_in:
                names_in[folder] = _names_towards(sites, folder or os.sep)
            names = names_in[folder]
            if names is not None and (not names or name.casefold() not in names):
                continue
        yield one


def _names_towards(sites: Sequence[Site], folder: str) -> frozenset[str] | None:
    """The names in a folder that lead to what is written, in lower case; None if others may."""
    path = folder_of([*sites])
    if path is not None and os.path.isfile(path):
        # Another name of a file that exists may be anywhere.
        return None
    others = of_file(folder)
    if _relation(sites, others) == "apart":
        return frozenset()
    above = others[0].names
    below = [one.names[len(above) :] for one in sites if one.names[: len(above)] == above]
    if len(below) < len(sites) or not all(below):
        return None
    return frozenset(names[0].casefold() for names in below)


# So many files are looked at folder by folder.
_MANY = 16
_VERBS = {"same": "is", "inside": "is inside", "around": "contains"}


def _relation(sites: Sequence[Site], others: Sequence[Site]) -> Relation:
    inside = any(_leads_into(one, other) for one in sites for other in others)
    around = any(_leads_into(other, one) for one in sites for other in others)
    if inside and around:
        return "same"
    return "inside" if inside else "around" if around else "apart"


def _leads_into(site: Site, other: Site) -> bool:
    return not other.is_link and site.is_in(other)


def _all_sites(named: Named) -> Iterator[Site]:
    """The sites of what is named, and of its chunks."""
    if isinstance(named, str | os.PathLike):
        yield from _sites(named, "")
        return
    store, path, *chunk_stores = named
    for one in (store, *chunk_stores):
        if one is not None:
            yield from _sites(one, path)


def _sites(store: Any, path: str) -> Iterable[Site]:
    if isinstance(store, str | os.PathLike):
        return _of_address(os.fsdecode(store), path)
    sites: Iterable[Site] = (
        store._sites(path) if hasattr(store, "_sites") else of_object(store, path)
    )
    return sites


def _of_address(address: str, path: str) -> Iterable[Site]:
    """The sites of a path or URL of a file or folder, which is not opened as a store."""
    scheme, found, rest = address.partition("://")
    if not found or scheme in ("file", "local"):
        return of_file(os.path.join(rest if found else address, path))
    # The store of the folder: a URL of a file may end as an archive does.
    folder, _, name = address.rstrip("/").rpartition("/")
    if folder.endswith(":/") or scheme == "memory":
        folder, name = address.rstrip("/"), ""
    for row in (f"{scheme}://", "://"):
        opens = opener(row)
        store = None if opens is None else opens(folder, None)
        if store is not None:
            return store._sites("/".join(part for part in (name, path) if part))
    raise AssertionError("the last row opens every URL, or raises the reason why it cannot")


def _told(named: Named) -> str:
    if isinstance(named, str | os.PathLike):
        return repr(public_url(os.fsdecode(named)))
    return describe(named[0], named[1])
