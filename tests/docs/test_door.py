"""Other rooms use an array and a group through their public names and through one door each.

The door of arrays is `zarrix._array.access`, that of groups the functions of
`zarrix._hierarchy.state`, and that of both `zarrix._nodes.member`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
import zarrix as zarr
from zarrix._array.snapshot import ArraySnapshot
from zarrix._hierarchy.state import GroupState
from zarrix._nodes.member import Member

PACKAGE = Path(zarr.__file__).parent
GROUP = {name for name in dir(GroupState) if name.startswith("_") and not name.startswith("__")}
GROUP |= {"_first_attributes", "_location", "_options", "_zarr_format"}
ARRAY = {name for name in dir(zarr.Array) if name.startswith("_") and not name.startswith("__")}
# Other classes have attributes of these names, and this test does not know types.
OTHERS = {"_node", "_open", "_options", "_stores", "_token"}


def private_uses(path: Path, names: set[str]) -> Iterator[str]:
    """Places that take one of the attributes of anything but ``self`` and ``cls``."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr in names:
            if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
                continue
            yield f"{path.relative_to(PACKAGE)}:{node.lineno} {ast.unparse(node)}"


@pytest.mark.parametrize(
    ("names", "rooms"),
    [
        (ARRAY - GROUP, ["_array"]),
        (GROUP - ARRAY, ["_hierarchy"]),
        (ARRAY & GROUP, ["_array", "_hierarchy", "_nodes"]),
    ],
    ids=["arrays", "groups", "both"],
)
def test_private_attributes_of_nodes_stay_in_their_rooms(names: set[str], rooms: list[str]) -> None:
    names = names - OTHERS
    assert len(names) >= 3
    found = [
        use
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] not in rooms
        for use in private_uses(path, names)
    ]
    assert found == []


def test_an_array_has_location_options_and_one_snapshot() -> None:
    """All that changes of an array is in values that are replaced by one assignment."""
    slots = {name for kind in zarr.Array.__mro__ for name in getattr(kind, "__slots__", ())}
    # Nothing of zarrix is in the dict, which only lets a program change the class.
    expected = {
        "__dict__",
        "__weakref__",
        "_adopted",
        "_attrs",
        "_location",
        "_options",
        "_snapshot",
    }
    assert slots == expected
    z = zarr.zeros(3)
    z[:] = 1
    z.resize(4)
    assert vars(z) == {}
    assert issubclass(zarr.Group, Member)


def test_nothing_assigns_to_a_snapshot() -> None:
    """It is not frozen, which would take time; so this looks for what would change one."""
    fields = set(ArraySnapshot.__slots__)
    changes = [
        f"{path.relative_to(PACKAGE)}:{node.lineno} {ast.unparse(node)}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr in fields
        and not isinstance(node.ctx, ast.Load)
        and "snapshot" in ast.unparse(node.value)
    ]
    assert changes == []
