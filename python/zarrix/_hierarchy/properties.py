"""Properties of a group: its name, format, metadata, attributes and report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from zarrix._hierarchy.state import GroupState
from zarrix._metadata.group import GroupMetadata
from zarrix._metadata.literals import Format
from zarrix._nodes.on_demand import on_demand
from zarrix._runtime.dialect import DIALECT
from zarrix._runtime.signatures import completable
from zarrix._stores.path import StorePath

if TYPE_CHECKING:
    # Optional package: xarray.
    from xarray import Dataset

    from zarrix._display.info import InfoReporter
    from zarrix._display.tree import TreeViewer
    from zarrix.viewer._widget import Widget

__all__ = ["GroupProperties"]


@completable
class GroupProperties(GroupState):
    """The properties of groups, and the methods that describe them."""

    @property
    def basename(self) -> str:
        """Last part of the name; empty for the root."""
        return self._location.path.split("/")[-1]

    @property
    def read_only(self) -> bool:
        """Whether the group and all its members are read-only."""
        return self._options.read_only

    @property
    def zarr_format(self) -> Format:
        """The Zarr format of the group: 2 or 3."""
        return self._zarr_format

    @property
    def metadata(self) -> GroupMetadata:
        """The stored metadata of the group, read again; the same object while they are the same."""
        found, last = self._read_metadata(), self._last_metadata
        if last != [found] or last[0].consolidated_metadata or found.consolidated_metadata:
            last[:] = [found]
        return last[0]

    def _read_metadata(self) -> GroupMetadata:
        found = self._parse_metadata(None)
        if self._zarr_format == 2:
            found = replace(found, attributes=self._attrs.asdict())
        if not self._options.shows_consolidated:
            return replace(found, consolidated_metadata=None)
        # Import time: few programs ask for the metadata.
        from zarrix._nodes.consolidated_store import view

        store, path, _, _ = self._location
        shown = view(store, path, found, self._options.opened_from or "")
        return replace(found, consolidated_metadata=shown)

    @property
    def store_path(self) -> StorePath:
        """The store, and the path in it."""
        return StorePath(self._location.store._user_store, self._location.path)

    @property
    def async_group(self) -> Any:
        """The same group with coroutine methods: an `AsyncGroup`."""
        return on_demand("AsyncGroup")(self)

    _async_group = async_group

    def update_attributes(self, new_attributes: Mapping[str, Any]) -> Self:
        """Set several attributes in one step, and keep the others.

        Parameters
        ----------
        new_attributes : mapping of str to JSON value

        Returns
        -------
        Group
            This one.

        Raises
        ------
        ReadOnlyError
            The group is read-only.
        TypeError
            JSON cannot express a value; nothing is changed.

        Examples
        --------
        >>> import zarrix as zarr
        >>> group = zarr.create_group(attributes={"a": 1})
        >>> dict(group.update_attributes({"b": 2}).attrs)
        {'a': 1, 'b': 2}
        """
        self._attrs.update(new_attributes)
        return self

    async def update_attributes_async(self, new_attributes: Mapping[str, Any]) -> Self:
        """`update_attributes`, for code that awaits it.

        Under `zarrix.as_zarr` the new attributes replace all others, as in zarr-python 3.

        Parameters
        ----------
        new_attributes : mapping of str to JSON value

        Returns
        -------
        Group
            This one.

        Raises
        ------
        ReadOnlyError
            The group is read-only.
        TypeError
            JSON cannot express a value; nothing is changed.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> group = asyncio.run(zarr.create_group().update_attributes_async({"b": 2}))
        >>> group.attrs["b"]
        2
        """
        if DIALECT.is_zarr3:
            self._attrs.put(dict(new_attributes))
            return self
        return self.update_attributes(new_attributes)

    @property
    def info(self) -> InfoReporter:
        """A report about the members of the group; prints as a table."""
        # Import time: few programs print it.
        from zarrix._display.info import InfoReporter

        return InfoReporter(self)

    def info_items(self) -> list[tuple[str, Any]]:
        """The rows of `info`.

        Returns
        -------
        list of tuple of (str, object)

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> z = root.zeros("a", shape=3)
        >>> dict(root.info_items())["No. arrays"]
        1
        """
        # Import time: few programs print it.
        from zarrix._display.info import group_items

        return group_items(self)

    def info_complete(self) -> Any:
        """The same as `info`, with all members below counted, and not only those of this group.

        Returns
        -------
        InfoReporter

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.create_group()
        >>> z = root.zeros("a/b", shape=3)
        >>> print(root.info_complete())
        Name        : /
        Type        : zarrix.hierarchy.Group
        Zarr format : 3
        Read-only   : False
        Store type  : zarrix.storage.MemoryStore
        No. members : 2
        No. arrays  : 1
        No. groups  : 1
        Groups      : a
        """
        # Import time: few programs print it.
        from zarrix._display.info import InfoReporter

        return InfoReporter(self, deep=True)

    def tree(
        self,
        expand: bool | int | None = False,
        level: int | None = None,
        *,
        max_nodes: int | None = None,
        plain: bool = False,
    ) -> TreeViewer:
        """The hierarchy, drawn as a tree.

        Parameters
        ----------
        expand : bool or int
            How many levels are open in the HTML form; True for all.
        level : int, optional
            How deep to go.
        max_nodes : int, optional
            How many arrays and groups the text shows; all by default.
        plain : bool
            Accepted for zarr-python 3; the text has no colours.

        Returns
        -------
        TreeViewer
            Prints as text; notebooks show it as HTML.

        Raises
        ------
        TypeError
            On display, if ``level`` or ``max_nodes`` is not an int.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> z = root.zeros("raw/2024", shape=3, dtype="i2")
        >>> z = root.zeros("raw/2025", shape=5, dtype="i2")
        >>> root.tree()
        /
         └── raw
             ├── 2024 (3,) int16
             └── 2025 (5,) int16
        >>> root.tree(level=1)
        /
         └── raw
        """
        # Import time: few programs draw a tree.
        from zarrix._display.tree import TreeViewer

        return TreeViewer(self, expand=expand, level=level, max_nodes=max_nodes)

    def to_xarray(self, *, chunks: Any = None, **options: Any) -> Dataset:
        """The arrays of the group as a dataset, whose elements are read when they are used.

        `xarray.open_datatree` with ``engine="zarrix"`` also has the groups below.

        Parameters
        ----------
        chunks : mapping, int or "auto", optional
            Blocks of dask, as in `xarray.open_dataset`; no dask when omitted.
        **options
            As for `xarray.open_dataset`: ``drop_variables``, ``decode_times``, ...

        Returns
        -------
        xarray.Dataset

        Raises
        ------
        ImportError
            xarray is not installed.
        KeyError
            An array does not name its dimensions.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.create_group()
        >>> z = root.create_array("a", data=[1, 2, 3], dimension_names=["x"])
        >>> root.to_xarray()["a"].dims
        ('x',)
        """
        found: Dataset = on_demand("dataset")(self, chunks=chunks, **options)
        return found

    def viewer(self) -> Widget:
        """The group in a notebook, as a widget: pictures, values, chunks, statistics.

        It has the front end of ``zarrix view`` and needs no server. The region that was outlined
        last is the widget's ``selection``, and its values are ``region``.

        Returns
        -------
        zarrix.viewer.Widget

        Raises
        ------
        ImportError
            anywidget is not installed: ``pip install "zarrix[notebook]"``.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> widget = root.viewer()
        >>> widget.selection is None
        True
        """
        found: Widget = on_demand("widget_of")(self)
        return found

    def _repr_html_(self) -> str:
        # Imported when called: only notebooks show HTML.
        from zarrix._display.html import group_html

        return group_html(self)
