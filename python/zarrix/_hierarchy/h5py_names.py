"""Methods of h5py's groups that have an equivalent here.

A group has these only if it has no member of that name, because members of a group are also
attributes. Every other name of h5py's files and groups is an error that says what to write instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from zarrix._array.h5py_names import COMMON_ADVICE, flush, group_at

if TYPE_CHECKING:
    from zarrix._hierarchy.group import Group

__all__ = ["GROUP_ADVICE", "h5py_attribute"]


def _parent(group: Any) -> Group:
    return group_at(group, group.path.rpartition("/")[0])


def _copier(group: Any) -> Callable[..., None]:
    def copy(
        source: Any,
        dest: Any,
        name: str | None = None,
        shallow: bool = False,
        without_attrs: bool = False,
    ) -> None:
        """Copy a member, or another array or group, as h5py's ``Group.copy`` does.

        Parameters
        ----------
        source : str, array or group
            A name is that of a member.
        dest : str or group
            The name of the copy in this group, or the group to copy into.
        name : str, optional
            Name of the copy if ``dest`` is a group; that of ``source`` when omitted.
        shallow, without_attrs : bool
            As in `zarrix.copy`.
        """
        # Imported when called: few programs copy.
        from zarrix._hierarchy.copy import copy as copy_to

        found = group[source] if isinstance(source, str) else source
        if isinstance(dest, str):
            dest, name = group, dest
        copy_to(found, dest, name, shallow=shallow, without_attrs=without_attrs)

    return copy


# Each takes the group and gives the value of the attribute.
_ATTRIBUTES: dict[str, Callable[[Any], Any]] = {
    "parent": _parent,
    "file": lambda group: group_at(group, ""),
    "close": lambda group: group.store.close,
    "flush": lambda group: lambda: flush(group._stores()),
    "copy": _copier,
}


def h5py_attribute(group: Any, name: str) -> Any:
    """The value of an attribute of h5py's groups; None if it has no meaning here."""
    found = _ATTRIBUTES.get(name)
    return None if found is None else found(group)


GROUP_ADVICE = {
    **COMMON_ADVICE,
    "create_virtual_dataset": "virtual datasets are not supported",
    "create_dataset_like": "use zeros_like(name, data) and its kin",
    "build_virtual_dataset": "virtual datasets are not supported",
    "visititems_links": "links are not supported; use visititems()",
    "visit_links": "links are not supported; use visit()",
    "filename": "use store.path",
    "mode": "use read_only",
    "driver": "use store",
    "swmr_mode": "leave it out: arrays can always be read while they are written",
    "libver": "use zarr_format",
    "userblock_size": "a user block is not supported",
}
"""Names of h5py's files and groups that groups here do not have, and what to write instead."""
