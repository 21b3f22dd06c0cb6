"""What the system refuses, and what files and names are up to.

Files that cannot grow, folders that cannot be written, media that are read-only, a folder that
vanishes under its reader; then keys, names, separators, links and pickles from files of others.
Each is a number of things that went wrong, of which there are to be none.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import pickle
import resource
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.reliability.children import call, nobody
from tests.reliability.figures import Figure
from tests.reliability.libraries import Library

_LENGTH = 1 << 18
BAD_KEYS = (
    "",
    "..",
    "../x",
    "a/../../x",
    "a/..",
    "./a",
    "/etc/passwd",
    "a//b",
    "a/",
    "a\\..\\b",
    "a\0b",
    "a.partial",
    "a.partial/b",
)


def run(library: Library, folder: Path, scale: float) -> list[Figure]:
    """One figure for each kind of failure."""
    figures = []
    for name, experiment in EXPERIMENTS.items():
        place = folder / experiment.__name__.strip("_")
        place.mkdir()
        place.chmod(0o777)
        folder.chmod(0o755)
        outcome = call(lambda e=experiment, p=place: e(p), limit_s=60)
        if outcome.answer == "skipped":
            continue
        wrong = outcome.answer if outcome.ended == "ok" else [outcome.ended]
        if wrong:
            import sys

            print(name, wrong, file=sys.stderr)
        figures.append(Figure(name, len(wrong), "= 0"))
    return figures


def _array(folder: Path, **keywords: Any) -> Any:
    import zarrix as zarr

    keywords = {"shape": _LENGTH, "chunks": _LENGTH // 4, "dtype": "<i4", **keywords}
    array = zarr.open_array(folder / "x", mode="w", compressor=None, **keywords)
    array[:] = 1
    return array


def _refused(work: Callable[[], Any], codes: tuple[int, ...]) -> str | None:
    """What is wrong with how a call fails; None where it fails as it should."""
    try:
        work()
    except OSError as error:
        if error.errno not in codes:
            return f"errno {error.errno}: {error}"
        return None if error.filename else f"no file is named: {error}"
    return "nothing was raised"


def _strays(folder: Path) -> list[str]:
    return [f"stray {path.name}" for path in folder.rglob("*.partial")]


def _faults(*found: str | None) -> list[str]:
    return [one for one in found if one]


def _check(right: bool, sentence: str) -> str | None:
    return None if right else sentence


def _file_too_large(folder: Path) -> list[str]:
    array = _array(folder)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
    fault = _refused(lambda: array.__setitem__(slice(10, 50), 2), (errno.EFBIG,))
    partly = _refused(lambda: array.__setitem__(slice(None), 3), (errno.EFBIG,))
    attribute = _refused(lambda: array.attrs.update(a="x" * 2000), (errno.EFBIG,))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    kept = _check(bool((array[:] == 1).all()), "the old values are gone")
    array[:] = 4
    works = _check(bool((array[:] == 4).all()), "the handle is broken")
    return _faults(fault, partly, attribute, kept, works) + _strays(folder)


def _no_space(folder: Path) -> list[str] | str:
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        return "skipped"
    try:
        array = _array(folder)
        fault = _refused(lambda: _array(folder / "more", shape=_LENGTH * 4), (errno.ENOSPC,))
        kept = _check(bool((array[:] == 1).all()), "the old values are gone")
        return _faults(fault, kept) + _strays(folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)


def _read_only_medium(folder: Path) -> list[str] | str:
    mount = ["mount", "-t", "tmpfs", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        return "skipped"
    import zarrix as zarr

    try:
        array = _array(folder)
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        return _faults(
            _refused(lambda: array.__setitem__(3, 2), (errno.EROFS,)),
            _refused(lambda: array.__setitem__(slice(None), 2), (errno.EROFS,)),
            _refused(lambda: array.attrs.update(a=1), (errno.EROFS,)),
            _refused(lambda: array.append(np.ones(5, "<i4")), (errno.EROFS,)),
            _check(bool((array[:] == 1).all()), "other values"),
            _check(zarr.open(folder / "x", mode="r")[0] == 1, "cannot be opened"),
        )
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)


def _permission_denied(folder: Path) -> list[str]:
    import zarrix as zarr

    array = _array(folder)
    array.attrs["a"] = 1
    # Modules imported on first use may be in a folder that other users cannot read.
    array.append(np.zeros(1, "<i4"))
    array.resize(array.shape[0] - 1)
    zarr.open(folder / "x", mode="r")
    (folder / "x" / "3").chmod(0)
    (folder / "x").chmod(0o555)
    nobody()
    codes = (errno.EACCES, errno.EPERM)
    return _faults(
        _refused(lambda: array.__setitem__(3, 2), codes),
        _refused(lambda: array.__setitem__(slice(None), 2), codes),
        _refused(lambda: array.attrs.update(a=2), codes),
        _refused(lambda: array.append(np.ones(5, "<i4")), codes),
        # A chunk that may not be read is not a missing chunk.
        _refused(lambda: array[-1], codes),
        _check(bool((array[: _LENGTH // 4] == 1).all()), "other values"),
        _check(zarr.open(folder / "x", mode="r").attrs["a"] == 1, "attributes"),
    ) + _strays(folder)


def _deleted_under_a_reader(folder: Path) -> list[str]:
    """While files are deleted one by one, what is left; a clean error once the array is gone."""
    return _gone_under_a_reader(folder, shutil.rmtree, {0, 1})


def _moved_under_a_reader(folder: Path) -> list[str]:
    """Whole values or a clean error at every moment, never the fill value."""
    return _gone_under_a_reader(folder, lambda place: place.rename(place.parent / "moved"), {1})


def _gone_under_a_reader(
    folder: Path, remove: Callable[[Path], Any], allowed: set[int]
) -> list[str]:
    import zarrix as zarr

    found: set[str] = set()
    for _ in range(20):
        shutil.rmtree(folder / "moved", ignore_errors=True)
        array = _array(folder)
        stop = threading.Event()

        def read(array: Any = array, stop: threading.Event = stop) -> None:
            while not stop.is_set():
                try:
                    values = np.unique(array[:])
                except (OSError, zarr.errors.ZarrixError):
                    continue
                if not set(values.tolist()) <= allowed:
                    found.add(f"values {values[:5]}")

        threads = [threading.Thread(target=read) for _ in range(2)]
        for thread in threads:
            thread.start()
        remove(folder / "x")
        stop.set()
        for thread in threads:
            thread.join()
        with contextlib.suppress(zarr.errors.ArrayNotFoundError):
            found.add(f"values {array[:5]} of what is gone")
        try:
            zarr.open(folder / "x", mode="r")
            found.add("it still opens")
        except FileNotFoundError:
            pass
    return sorted(found)


def _hostile_keys(folder: Path) -> list[str]:
    """Every method of every kind of store, with keys that climb or collide."""
    import zarrix as zarr

    outside = folder / "outside"
    outside.write_bytes(b"secret")
    stores = [
        zarr.DirectoryStore(folder / "root"),
        zarr.NestedDirectoryStore(folder / "root"),
        zarr.MemoryStore(),
        zarr.KVStore({}),
    ]
    faults = []
    for store in stores:
        store["ok"] = b"1"
        engine = store._engine
        for key in BAD_KEYS:
            calls: dict[str, Callable[[], Any]] = {
                "get": lambda k=key, e=engine: e.get(k),
                "put": lambda k=key, e=engine: e.put(k, b"2"),
                "delete": lambda k=key, e=engine: e.delete(k),
                "size": lambda k=key, e=engine: e.size(k),
                "update": lambda k=key, e=engine: e.update(k, lambda old: b"2"),
                "rename from": lambda k=key, e=engine: e.move_node(k, "b", [".zarray"]),
                "rename to": lambda k=key, e=engine: e.move_node("ok", k, []),
            }
            if key:
                calls["list"] = lambda k=key, e=engine: e.list_prefix(k)
                calls["list names"] = lambda k=key, e=engine: e.list_dir(k)
                calls["delete below"] = lambda k=key, e=engine: e.delete_prefix(k)
                calls["delete node"] = lambda k=key, e=engine: e.delete_node(k, [".zarray"])
                calls["set"] = lambda k=key, s=store: s.__setitem__(k, b"2")
            for name, work in calls.items():
                try:
                    work()
                except zarr.errors.InvalidKeyError:
                    continue
                except Exception as error:
                    faults.append(f"{type(store).__name__} {name} {key!r}: {error!r}")
                else:
                    faults.append(f"{type(store).__name__} {name} {key!r} was taken")
        if list(store) != ["ok"]:
            faults.append(f"{type(store).__name__} holds {list(store)}")
    if outside.read_bytes() != b"secret" or sorted(os.listdir(folder)) != ["outside", "root"]:
        faults.append("something outside was touched")
    return faults


def _hostile_names(folder: Path) -> list[str]:
    """Names of nodes, and separators in documents."""
    import zarrix as zarr

    root = zarr.open_group(folder / "root", mode="w")
    faults = []
    for name in ("..", "../x", "a/../../x", "a\0b", "x.partial", "a/x.partial"):
        for what, work in (
            ("group", lambda n=name: root.create_group(n)),
            ("array", lambda n=name: root.zeros(n, shape=3)),
            ("open", lambda n=name: root[n]),
            ("delete", lambda n=name: root.__delitem__(n)),
        ):
            try:
                work()
            except (ValueError, KeyError):
                continue
            faults.append(f"{what} {name!r} was taken")
    if sorted(os.listdir(folder)) != ["root"]:
        faults.append(f"made {sorted(os.listdir(folder))}")
    faults += [f"{name!r} was made" for name in root]
    root.zeros("b", shape=(4, 4), chunks=(2, 2))
    document = folder / "root" / "b" / ".zarray"
    for separator in ("/../../../x", "..", "", "\\", "//"):
        members = json.loads(document.read_text())
        members["dimension_separator"] = separator
        text = json.dumps(members)
        (folder / "bad").mkdir(exist_ok=True)
        (folder / "bad" / ".zarray").write_text(text)
        try:
            zarr.open(folder / "bad", mode="r+")[:] = 1
        except zarr.errors.MetadataError:
            continue
        faults.append(f"separator {separator!r} was taken")
    return faults


def _links(folder: Path) -> list[str]:
    """Reads follow links; writes replace and deletions remove them; loops are listed once."""
    import zarrix as zarr

    array = _array(folder)
    outside = folder / "outside"
    outside.mkdir()
    (outside / "0").write_bytes((folder / "x" / "0").read_bytes())
    link = folder / "x" / "0"
    link.unlink()
    link.symlink_to(outside / "0")
    before = (outside / "0").read_bytes()
    faults = _faults(_check(bool((array[:10] == 1).all()), "a linked chunk does not read"))
    array[0] = 7
    array[: _LENGTH // 4] = 9
    if link.is_symlink() or (outside / "0").read_bytes() != before:
        faults.append("a write went through a link")
    partial = folder / "x" / "1.partial"
    partial.symlink_to(outside / "0")
    array[_LENGTH // 4 + 1] = 3
    if (outside / "0").read_bytes() != before:
        faults.append("a write went through a linked leftover")
    root = zarr.open_group(folder / "root", mode="w")
    root.create_group("g")
    (folder / "root" / "g" / "far").symlink_to(outside, target_is_directory=True)
    (folder / "root" / "g" / "loop").symlink_to(folder / "root", target_is_directory=True)
    if len(root.store._engine.list_prefix("")) > 20:
        faults.append("a loop is listed more than once")
    del root["g"]
    root.create_group("h")
    (folder / "root" / "h" / "far").symlink_to(outside, target_is_directory=True)
    zarr.open_group(folder / "root", mode="w")
    if not (outside / "0").exists() or (outside / "0").read_bytes() != before:
        faults.append("a deletion went through a link")
    return faults


class _Bomb:
    """Leaves a file behind if it is ever unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = str(file)

    def __reduce__(self) -> Any:
        return (open, (self.file, "w"))


def _pickles(folder: Path) -> list[str]:
    """A pickle in every place of the chain, with numcodecs' own guard taken away."""
    import zarrix as zarr

    os.environ["NUMCODECS_ALLOW_UNSAFE_PICKLE_DECODE"] = "1"
    mark = folder / "executed"
    faults = []
    chains: tuple[tuple[Any, Any], ...] = (
        ({"id": "pickle"}, None),
        (None, [{"id": "pickle"}]),
        (None, [{"id": "zlib"}, {"id": "pickle"}]),
        (None, [{"id": "pickle"}, {"id": "pickle"}]),
        ({"id": "zlib"}, [{"id": "pickle", "protocol": 2}]),
    )
    for dtype in ("|O", "<i8", "|u1"):
        for number, (compressor, filters) in enumerate(chains):
            place = folder / f"{dtype.strip('|<')}{number}"
            place.mkdir()
            members = {
                "zarr_format": 2,
                "shape": [4],
                "chunks": [4],
                "dtype": dtype,
                "fill_value": None,
                "order": "C",
                "filters": filters,
                "compressor": compressor,
            }
            (place / ".zarray").write_text(json.dumps(members))
            (place / "0").write_bytes(pickle.dumps(_Bomb(mark)))
            try:
                zarr.open(place, mode="r")[:]
            except Exception as error:
                if not isinstance(error, (zarr.errors.ZarrixError, ValueError, TypeError)):
                    faults.append(f"{members}: {error!r}")
            else:
                faults.append(f"{members} was read")
    return faults + ["code was executed"] * mark.exists()


def _foreign_folders(folder: Path) -> list[str]:
    """A folder with anything that is not Zarr's is never emptied."""
    import zarrix as zarr

    (folder / "home").mkdir()
    (folder / "home" / "thesis.txt").write_text("years")
    (folder / "home" / "deep").mkdir()
    (folder / "home" / "deep" / "0.0").write_text("like a chunk")
    faults = []
    for name, work in (
        ("open_group", lambda: zarr.open_group(folder / "home", mode="w")),
        ("open_array", lambda: zarr.open_array(folder / "home", mode="w", shape=3)),
        ("open", lambda: zarr.open(folder / "home", mode="w")),
        ("save", lambda: zarr.save(folder / "home", np.ones(3))),
        ("group", lambda: zarr.group(folder / "home", overwrite=True)),
    ):
        try:
            work()
        except ValueError:
            continue
        faults.append(f"{name} emptied a foreign folder")
    kept = (folder / "home" / "thesis.txt").exists() and (folder / "home/deep/0.0").exists()
    return faults + ["files are gone"] * (not kept)


EXPERIMENTS: dict[str, Callable[[Path], Any]] = {
    "a file may not grow (EFBIG)": _file_too_large,
    "no space on the device (ENOSPC)": _no_space,
    "permission denied": _permission_denied,
    "a medium that is read-only": _read_only_medium,
    "a folder deleted under its readers": _deleted_under_a_reader,
    "a folder moved away under its readers": _moved_under_a_reader,
    "hostile keys, all methods of all stores": _hostile_keys,
    "hostile names and separators": _hostile_names,
    "links": _links,
    "pickles in every place of the chain": _pickles,
    "folders that are not Zarr's": _foreign_folders,
}
