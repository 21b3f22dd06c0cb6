"""Sources of an append: opened, with what tells whether they change while they are read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zarrix._errors import (
    AppendError,
    ConversionError,
    PathNotFoundError,
    SourceChangedError,
)
from zarrix._hierarchy.group import Group
from zarrix._hierarchy.open import open as open_node
from zarrix._hierarchy.subset import Subset, subset_by_label
from zarrix._labels._key import Manner
from zarrix._nodes.member import location_of
from zarrix._stores.local import LocalStore
from zarrix._stores.overlap import Named
from zarrix._stores.path import is_url
from zarrix._stores.redaction import public_url
from zarrix.convert._download import download, file_in
from zarrix.convert._file_store import FileStore, open_file
from zarrix.convert._formats import format_of
from zarrix.convert._matching import is_pattern, matching
from zarrix.convert._source import identity_of
from zarrix.ingest._single import expanded, is_single
from zarrix.ingest._variables import Labelled, Variable, labelled, part_of, variables_of

__all__ = ["Source", "open_sources"]

Check = Callable[[], None]


@dataclass
class Source:
    """An open source.

    Attributes
    ----------
    name : str
        For messages.
    variables : dict
    attributes : mapping
        Of the group.
    labels : Labelled
    check : function
        Raises `SourceChangedError` if it has changed since before it was opened.
    named : tuple or str
        As `refuse_overlap` takes it; None for one that is not stored.
    group : Group or None
        That it is, if it is one.
    single : mapping or None
        The variables as they are in a source of one label, which do not have the dimension.
    """

    name: str
    variables: dict[str, Variable]
    attributes: Mapping[str, Any]
    labels: Labelled
    check: Check
    named: Named | None = None
    group: Group | None = None
    single: Mapping[str, Variable] | None = None

    @classmethod
    def of(
        cls,
        name: str,
        variables: dict[str, Variable],
        attributes: Mapping[str, Any],
        along: str,
        check: Check,
    ) -> Source:
        """A source; where the coordinate is one label, its variables get the dimension."""
        single = variables if is_single(variables, along) else None
        if single is not None:
            variables = expanded(single, attributes, along)
        labels = labelled(variables, along, name)
        return cls(name, variables, attributes, labels, check, single=single)

    def fit(self, stored: Mapping[str, Variable], along: str) -> None:
        """Give the dimension to those variables of a source of one label that have it there."""
        if self.single is not None:
            self.variables = expanded(self.single, self.attributes, along, stored)

    @property
    def is_file(self) -> bool:
        """Whether it is a file of another format, whose chunks and codecs are not kept."""
        return self.group is not None and isinstance(self.group.store, FileStore)


def open_sources(
    sources: Any,
    along: str,
    names: Sequence[str] | None,
    storage_options: Mapping[str, Any] | None,
    folder: str,
    sel: Mapping[str, Any] | None = None,
) -> list[Source]:
    """Open all sources, or what ``sel`` selects of each; URLs are downloaded below ``folder``.

    Raises
    ------
    AppendError
        One is an array, or has no coordinate.
    FileNotFoundError
        A path is not there, or a pattern matches nothing.
    """
    found = []
    for number, one in enumerate(_listed(sources, storage_options)):
        if isinstance(one, Source):
            found.append(one)
            continue
        # What tells a change is taken before anything is read.
        group, name, check = _opened(one, os.path.join(folder, str(number)), storage_options)
        found.append(_source(group, name, check, along, names, sel))
    if not found:
        raise AppendError("there is no source to append")
    return found


def _listed(sources: Any, storage_options: Mapping[str, Any] | None) -> Iterator[Any]:
    several = isinstance(sources, Sequence) and not isinstance(sources, str)
    for one in sources if several else [sources]:
        path = os.fspath(one) if isinstance(one, str | os.PathLike) else None
        if path is None or not is_pattern(path):
            yield one
            continue
        names = matching(path, storage_options, AppendError)
        if not names:
            raise FileNotFoundError(2, "no file matches", public_url(path))
        yield from names


def _opened(
    source: Any, folder: str, storage_options: Mapping[str, Any] | None
) -> tuple[Any, str, Check | None]:
    """A node, its name, and what tells whether it has changed, if that is not its store."""
    if not isinstance(source, str | os.PathLike):
        return source, repr(source), None
    path = os.fspath(source)
    name = public_url(path)
    if not is_url(path):
        check = _unchanged(path, name)
        return _group(path), name, check
    file = file_in(path)
    if file is None:
        return open_node(path, mode="r", storage_options=storage_options), name, None
    os.makedirs(folder)
    try:
        local, _ = download(file[0], folder, storage_options)
        return open_file(local, file[1] or None), name, _unchanged(local, name)
    except (PathNotFoundError, ConversionError, SourceChangedError) as error:
        # A hierarchy of Zarr may have such a name, and web servers answer for folders, too.
        try:
            return open_node(path, mode="r", storage_options=storage_options), name, None
        except PathNotFoundError:
            raise error from None


def _source(
    node: Any,
    name: str,
    check: Check | None,
    along: str,
    names: Sequence[str] | None,
    sel: Mapping[str, Any] | None,
) -> Source:
    group = node._group if isinstance(node, Subset) else node
    if not isinstance(group, Group):
        raise AppendError(f"{name} is not a group: its arrays and their coordinate are appended")
    location = location_of(group)
    named: Named = (location.store, location.path)
    check = _same_values(location.store, location.path, name) if check is None else check
    chosen = None if names is None else [*names, along]
    variables = variables_of(group, name, chosen=chosen)
    if isinstance(node, Subset):
        variables = part_of(variables, node)
    if sel:
        # A range of one who does not know which way the labels of a file go.
        if isinstance(node, Subset):
            raise AppendError(f"{name} is a part already: select all of it at once")
        variables = part_of(variables, subset_by_label(group, sel, Manner(turns=True), None))
    found = Source.of(name, variables, group.attrs.asdict(), along, check)
    found.named, found.group = named, group
    return found


def _group(path: str) -> Any:
    if os.path.isdir(path):
        return open_node(path, mode="r")
    head, inside = path, ""
    while not os.path.lexists(head) and os.path.dirname(head) not in ("", head):
        head, name = os.path.split(head)
        inside = f"{name}/{inside}" if inside else name
    if not os.path.lexists(head):
        raise PathNotFoundError(f"{path} does not exist")
    if format_of(head) is not None:
        return open_file(head, inside or None)
    return open_node(head, mode="r", path=inside or None)


def _unchanged(path: str, name: str) -> Check:
    """A check of a file or a folder, and what there was before it was opened."""
    while not os.path.lexists(path) and os.path.dirname(path) not in ("", path):
        path = os.path.dirname(path)
    try:
        before = identity_of(path)
    except OSError:
        raise PathNotFoundError(f"{name} does not exist") from None

    def check() -> None:
        try:
            is_same = identity_of(path) == before
        except OSError:
            is_same = False
        if not is_same:
            _changed(name)

    return check


def _same_values(store: Any, path: str, name: str) -> Check:
    """A check of the values of a store; a web server without a listing cannot tell."""
    if isinstance(store, LocalStore):
        return _unchanged(store.dir_path(path), name)

    def listed() -> str:
        digest = hashlib.sha256()
        for page in store.list_pages(path) if store.is_listable() else ():
            digest.update("".join(f"{one.key}\0{one.size}\0{one.tag}\n" for one in page).encode())
        return digest.hexdigest()

    before = listed()

    def check() -> None:
        if listed() != before:
            _changed(name)

    return check


def _changed(name: str) -> None:
    raise SourceChangedError(
        f"{name} has changed while it was read; nothing was appended: make the call again"
    )
