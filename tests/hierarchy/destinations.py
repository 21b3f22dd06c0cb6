"""Every public function, method and verb that has a destination, as a call of source and path.

Each call gets a source and a destination, which may be hostile to each other; both are paths or
URLs. `test_destinations.py` compares what they leave.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import zarrix as zarr
from zarrix import convert, jobs
from zarrix.cli import main

VALUES = np.arange(12).reshape(3, 4)
GROUP = {2: {"zarr_format": 2}, 3: {"zarr_format": 3, "node_type": "group"}}
# A file of another format; a name that chunks may have, so that replacing an array could remove it.
FILE = "9.9"


class Row(NamedTuple):
    """One call.

    Attributes
    ----------
    call : function of source and dest
    found : function of dest
        What the destination has after a success, to compare with VALUES; None for a call that only
        removes, or that makes something without data, which it then checks by itself.
    of_file : bool
        The source is a file of another format, in the folder of the source.
    takes_source : bool
        The source is moved.
    removes_all : bool
        A call of stores, below nodes: it removes all that is named, files of others among it.
    """

    call: Callable[[str, str], Any]
    found: Callable[[str], Any] | None = None
    of_file: bool = False
    takes_source: bool = False
    removes_all: bool = False


def opened(path: str) -> Any:
    return zarr.open(path, mode="r")


def is_array(path: str) -> Any:
    return isinstance(opened(path), zarr.Array)


def group_of(path: str) -> tuple[Any, str]:
    above, _, name = path.rpartition("/")
    return zarr.open_group(above, mode="r+"), name


def member(name: str) -> Callable[[str], Any]:
    return lambda path: opened(path)[name][...]


def whole(path: str) -> Any:
    return opened(path)[...]


def first(path: str) -> Any:
    return opened(path)[0]


def inside(path: str, name: str) -> str:
    return f"{path.removeprefix('file://')}/{name}"


# Functions


def copy(source: str, dest: str) -> None:
    group, name = group_of(dest)
    zarr.copy(zarr.open(source), group, name=name, if_exists="replace")


def copy_all(source: str, dest: str) -> None:
    """The group of the source, as in `cp -r`, into the group of the destination."""
    above, _ = group_of(source)
    # A group is there before the copy; elsewhere one that is made would be left by an error.
    into = zarr.open_group(dest, mode="a" if dest == "new.zarr" else "r+")
    zarr.copy_all(above, into, if_exists="replace")


def identity(block: Any) -> Any:
    return block


def with_source(function: Callable[..., Any], **options: Any) -> Callable[[str, str], Any]:
    return lambda source, dest: function(zarr.open(source), dest, **options)


def with_path(function: Callable[..., Any], **options: Any) -> Callable[[str, str], Any]:
    return lambda source, dest: function(source, dest, **options)


def build_index(source: str, dest: str) -> None:
    with zarr.TempStore() as store:
        zarr.open_group(store, mode="w")["a"] = VALUES
        zarr.consolidate_metadata(store)
        zarr.build_index(store, index=dest)


def is_index(path: str) -> Any:
    return sorted(opened(path)) == ["blocks", "groups"]


def creates(function: Callable[..., Any], *args: Any, **options: Any) -> Callable[[str, str], Any]:
    return lambda source, dest: function(*args, store=dest, overwrite=True, **options)


def like(function: Callable[..., Any]) -> Callable[[str, str], Any]:
    return lambda source, dest: function(zarr.open(source), store=dest, overwrite=True)


def into_store(function: Callable[..., Any]) -> Callable[[str, str], Any]:
    """A function of a store and a path in it: the store is the folder above."""

    def call(source: str, dest: str) -> Any:
        above, _, name = dest.rpartition("/")
        return function(zarr.DirectoryStore(above.removeprefix("file://")), name)

    return call


def xarray_to_zarr(source: str, dest: str) -> None:
    xarray, _ = pytest.importorskip("xarray"), pytest.importorskip("dask.array")
    import zarrix.xarray

    data = xarray.DataArray(zarr.dask.from_array(source), dims=("y", "x"), name="v")
    zarrix.xarray.to_zarr(data.to_dataset(), dest, "w")


def dask_to_zarr(source: str, dest: str) -> None:
    pytest.importorskip("dask.array")
    import zarrix.dask

    zarrix.dask.to_zarr(zarrix.dask.from_array(source), dest, overwrite=True)


def dask_store(source: str, dest: str) -> None:
    pytest.importorskip("dask.array")
    import zarrix.dask

    zarrix.dask.store(zarrix.dask.from_array(source), zarr.open_array(dest, mode="r+"))


def moved(source: str, dest: str) -> None:
    """A member to another path of its hierarchy, whose names are those below the root."""
    root, _, old = source.partition("/")
    new_root, _, new = dest.removeprefix("file://").rpartition(".zarr/")
    if not old or not new_root:
        raise ValueError("only what is in one hierarchy can be moved")
    if os.path.realpath(f"{new_root}.zarr") != os.path.realpath(root):
        raise ValueError("only what is in one hierarchy can be moved")
    zarr.open_group(root, mode="r+").move(old, new)


def store_renamed(function: Callable[[Any, str, str], Any]) -> Callable[[str, str], Any]:
    def call(source: str, dest: str) -> None:
        root, _, old = source.partition("/")
        _, _, new = dest.removeprefix("file://").rpartition(".zarr/")
        if not old or not new:
            raise ValueError("only what is in one store can be renamed")
        function(zarr.DirectoryStore(root), old, new)

    return call


def job_saved(source: str, dest: str) -> None:
    jobs.copy(source, "elsewhere.zarr", run=False, resume="journal").save(inside(dest, "job.json"))


FUNCTIONS: dict[str, Row] = {
    "copy": Row(copy, whole),
    "copy_all": Row(copy_all, member("b")),
    "copy_store": Row(with_path(zarr.copy_store, if_exists="replace"), whole),
    "sync_store": Row(with_path(zarr.sync_store, delete=True), whole),
    "build_index": Row(build_index, is_index),
    "save": Row(lambda source, dest: zarr.save(dest, zarr.open(source)), whole),
    "save_array": Row(lambda source, dest: zarr.save_array(dest, zarr.open(source)), whole),
    "save_group": Row(lambda source, dest: zarr.save_group(dest, v=zarr.open(source)), member("v")),
    "array": Row(lambda s, d: zarr.array(zarr.open(s), store=d, overwrite=True), whole),
    "from_array": Row(lambda s, d: zarr.from_array(d, data=zarr.open(s), overwrite=True), whole),
    "create_array": Row(
        lambda s, d: zarr.create_array(d, data=zarr.open(s), overwrite=True), whole
    ),
    "create": Row(creates(zarr.create, 3), is_array),
    "empty": Row(creates(zarr.empty, 3), is_array),
    "ones": Row(creates(zarr.ones, 3), is_array),
    "zeros": Row(creates(zarr.zeros, 3), is_array),
    "full": Row(creates(zarr.full, 3, 5), is_array),
    "empty_like": Row(like(zarr.empty_like), is_array),
    "ones_like": Row(like(zarr.ones_like), is_array),
    "zeros_like": Row(like(zarr.zeros_like), is_array),
    "full_like": Row(
        lambda s, d: zarr.full_like(zarr.open(s), fill_value=5, store=d, overwrite=True), is_array
    ),
    "open": Row(lambda source, dest: zarr.open(dest, mode="w", shape=3), is_array),
    "open_array": Row(lambda source, dest: zarr.open_array(dest, mode="w", shape=3), is_array),
    "open_like": Row(
        lambda source, dest: zarr.open_like(zarr.open(source), dest, mode="w"), is_array
    ),
    "open_group": Row(lambda source, dest: zarr.open_group(dest, mode="w")),
    "group": Row(creates(zarr.group)),
    "create_group": Row(creates(zarr.create_group)),
    "create_hierarchy": Row(
        lambda source, dest: list(
            zarr.create_hierarchy(store=dest, nodes={"": GROUP[2]}, overwrite=True)
        )
    ),
    "consolidate_metadata": Row(lambda source, dest: zarr.consolidate_metadata(dest)),
    "migrate": Row(lambda source, dest: zarr.migrate(dest)),
    "jobs.copy": Row(with_path(jobs.copy, overwrite=True), whole),
    "jobs.rechunk": Row(with_path(jobs.rechunk, chunks=(2, 2), overwrite=True), whole),
    "jobs.map_chunks": Row(
        lambda source, dest: jobs.map_chunks(identity, source, dest=dest, overwrite=True), whole
    ),
    "jobs.stack": Row(
        lambda s, d: jobs.stack([s], d, reader="zarr", new_axis=True, overwrite=True), first
    ),
    "jobs.statistics": Row(
        lambda source, dest: jobs.statistics(source, axis=0, dest=dest, overwrite=True)
    ),
    "jobs.pyramid": Row(with_path(jobs.pyramid, levels=2, overwrite=True), member("0")),
    "import_": Row(with_path(convert.import_, format="npy", overwrite=True), whole, of_file=True),
    "virtual": Row(
        lambda source, dest: convert.virtual(
            source, inside(dest, "new.json"), format="npy", overwrite=True
        ),
        lambda dest: whole(inside(dest, "new.json")),
        of_file=True,
    ),
    "export": Row(
        with_path(convert.export, format="npy", overwrite=True),
        lambda dest: np.load(dest.removeprefix("file://")),
    ),
    "export into a folder": Row(
        lambda source, dest: convert.export(source, inside(dest, "new.npy"), overwrite=True),
        lambda dest: np.load(inside(dest, "new.npy")),
    ),
    "xarray.to_zarr": Row(xarray_to_zarr, member("v")),
    "dask.to_zarr": Row(dask_to_zarr, whole),
    "dask.store": Row(dask_store, whole),
    "storage.init_array": Row(
        lambda source, dest: zarr.storage.init_array(
            zarr.DirectoryStore(dest.removeprefix("file://")), shape=3, overwrite=True
        ),
        is_array,
    ),
    "storage.init_group": Row(
        lambda source, dest: zarr.storage.init_group(
            zarr.DirectoryStore(dest.removeprefix("file://")), overwrite=True
        )
    ),
    "storage.rename": Row(store_renamed(zarr.storage.rename), takes_source=True),
    "storage.rmdir": Row(into_store(zarr.storage.rmdir), removes_all=True),
    "DirectoryStore.rename": Row(
        store_renamed(lambda store, old, new: store.rename(old, new)), takes_source=True
    ),
    "DirectoryStore.rmdir": Row(
        into_store(lambda store, name: store.rmdir(name)), removes_all=True
    ),
    "DirectoryStore.move": Row(
        lambda source, dest: asyncio.run(
            zarr.storage.LocalStore(source).move(dest.removeprefix("file://"))
        ),
        takes_source=True,
    ),
    "Group.move": Row(moved, takes_source=True),
    "Job.save": Row(job_saved),
}

# Verbs


def verb(*arguments: str) -> Callable[[str, str], Any]:
    """The verb with these arguments, in which S and D stand for source and destination."""

    def call(source: str, dest: str) -> None:
        given = [{"S": source, "D": dest}.get(one, one) for one in arguments]
        code = main([one.replace("D/", f"{dest}/") for one in given])
        if code:
            raise RuntimeError(f"exit code {code}")

    return call


LOADED: dict[str, Row] = {
    "cp": Row(verb("cp", "-f", "S", "D"), whole),
    "sync": Row(verb("sync", "S", "D"), whole),
    "mv": Row(verb("mv", "S", "D"), whole, takes_source=True),
    "rm": Row(verb("rm", "-r", "D")),
    "rechunk": Row(verb("rechunk", "-f", "--chunks", "2,2", "S", "D"), whole),
    "pyramid": Row(verb("pyramid", "-f", "--levels", "2", "S", "D"), member("0")),
    "stack": Row(verb("stack", "-f", "--new-axis", "--reader", "zarr", "S", "D"), first),
    "map": Row(verb("map", "-f", "hierarchy.destinations:identity", "S", "D"), whole),
    "import": Row(verb("import", "-f", "--from", "npy", "S", "D"), whole, of_file=True),
    "export": Row(
        verb("export", "-f", "--to", "npy", "S", "D"),
        lambda dest: np.load(dest.removeprefix("file://")),
    ),
    "migrate": Row(verb("migrate", "D")),
    "consolidate": Row(verb("consolidate", "D")),
    "repair": Row(verb("repair", "D")),
    "show": Row(verb("show", "S", "--png", "D")),
    "attrs": Row(verb("attrs", "D", "--set", "new=1")),
}

# What has no row, and why.
READS = "reads only, or returns what it reads"
ABOVE = "the group is the destination, and tests/nodes/test_arrays_above.py has a row for it"
WITHOUT: dict[str, str] = {
    **dict.fromkeys(
        """
        load open_consolidated open_file storage.contains_array storage.contains_group
        storage.getsize storage.listdir
        storage.normalize_store_arg dask.from_array digests verify diff open_indexed
        """.split(),  # noqa: SIM905
        READS,
    ),
    **dict.fromkeys(
        """
        info ls tree cat stats plan verify digest diff doctor formats bench advise suggest compare
        help completion view serve trace
        """.split(),  # noqa: SIM905
        READS,
    ),
    **dict.fromkeys(
        """
        Group.array Group.create Group.create_array Group.create_dataset Group.create_group
        Group.empty Group.empty_like Group.full Group.full_like Group.ones Group.ones_like
        Group.require_array Group.require_dataset Group.require_group Group.zeros Group.zeros_like
        """.split(),  # noqa: SIM905
        ABOVE,
    ),
    "repair": "renames what is broken, and has no data of its own; the verb has a row",
    "snapshot": "makes a folder of its own beside the hierarchy, and takes a free name only",
    "versions": "deletes the versions that are named, and tests/versions has what stays",
    "recover": "removes the keys that an intent names; tests/commits kills it at each step",
    "append": "adds rows by labels and overwrites no node; tests/ingest has what it refuses",
    "virtual": "writes lists and replaces no other file; tests/virtual/test_target.py has the rest",
    "restore": "one commit that takes a version's content; tests/versions has what stays",
    "sweep": "removes the chunks that a commit has replaced, which tests/commits compares",
    "storage.init_store": "`storage.init_array` under its first name",
    "testing.check_store": "gets an empty store of its own",
    "storage.atexit_rmglob": "removes what it is asked to remove, as in zarr 2.18",
    "storage.atexit_rmtree": "removes what it is asked to remove, as in zarr 2.18",
    "Group.from_store": "`open_group`",
    "Group.open": "`open_group`",
    "Array.create": "`create`",
    "Array.open": "`open_array`",
    "Job.load": READS,
    "demo": "has a folder of its own, which tests/cli/test_demo.py fills with files of others",
}


def files_of(path: str) -> None:
    """A file of another format beside the chunks of an array."""
    with open(Path(path) / FILE, "wb") as file:
        np.save(file, VALUES)


__all__ = ["FILE", "FUNCTIONS", "LOADED", "VALUES", "WITHOUT", "Row", "files_of"]
