"""Files beside those of a user: complete or not there, and never written through a link."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import zarrix
from zarrix._runtime.new_files import whole_file

PACKAGE = Path(zarrix.__file__).parent
# Each place in the package that makes, renames or removes files beside `whole_file`, and why.
REASONS = {
    "_as_zarr/names/metadata/migrate_v3.py": "opens a path in a store, by a mode of zarr-python",
    "_hierarchy/ledger.py": "the folder of ledgers in the user's cache, for this user only",
    "_stores/remote/sources/aws_sso.py": "a temporary file in the folder of the login's tokens",
    "commits/_lock.py": "the intent, which is the lock: a link of its name is refused",
    "commits/_replacing.py": "a folder beside the one that is replaced, with random bits",
    "commits/_spaces.py": "removes empty folders of old chunks",
    "convert/_download.py": "a new file in the temporary folder of the call",
    "convert/_downloads.py": "temporary folders with random bits, and their removal",
    "ingest/_sources.py": "a folder in the temporary folder of the call",
    "versions/_restore.py": "a hierarchy that is gone, from a folder beside it with random bits",
    "versions/_snapshot.py": "the folder of versions, and one in it with random bits",
    "cli/_verbs/rm.py": "removes the link that the user named",
    "convert/_video.py": "inside the folder that only this export enters",
    "jobs/_running/folder.py": "opens the arrays of a job",
    "_hierarchy/replacing.py": "a folder beside the one that is replaced, with random bits",
    "_hierarchy/copy_log.py": "a log of a name that the user gave: it is read while it grows",
    "_nodes/index_build.py": "sorted runs in a temporary folder of the call",
    "_runtime/new_files.py": "the functions that the others use",
    "_stores/database/dbm.py": "a lock in the database's own folder, which the user named",
    "_stores/local.py": "a temporary folder with random bits, and its removal",
    "_stores/synchronizer.py": "locks in the folder that the user named for them",
    "cli/_demo/contenders.py": "data of other libraries in the folder of a demo, which is marked",
    "cli/_demo/folder.py": "the folder of a demo: marked, locked, never that of another program",
    "cli/_man.py": "makes the folder that the user named",
    "cli/_output.py": "opens the null device after its reader has closed it",
    "cli/_verbs/export.py": "a temporary folder for standard output",
    "cli/_verbs/mv.py": "renames what the user named",
    "convert/_export_job.py": "the second file, inside the folder that only this export enters",
    "convert/_images.py": "a folder inside the folder that only this export enters",
    "convert/_npz.py": "inside the folder that only this export enters; a temporary file",
    "convert/_safetensors.py": "inside the folder that only this export enters",
    "convert/_tar.py": "inside the folder that only this export enters",
    "convert/_text.py": "inside the folder that only this export enters",
    "convert/_unfinished.py": "that folder: made with random bits, and removed",
    "jobs/_running/job.py": "a file that the user named",
    "measure/_compare.py": "files in a temporary folder",
    "ml/_loading/damage.py": "a log of a name that the user gave, which many processes append to",
    "ml/_staging/folder.py": "the folder of a stage: marked, locked, of this user, never a link",
    "_stores/zip.py": "moves the archive of the user's to the path that the user named",
    "storage.py": "removes what zarr 2's function of that name was told to remove",
    "viewer/_browser.py": "a file in a temporary folder, made with O_EXCL",
}
NAMES = {
    "makedirs", "mkdir", "removedirs", "rmtree", "touch", "write_bytes", "write_text", "copyfile",
    "copytree", "symlink_to",
}  # fmt: skip
CHANGES = {
    "link", "makedirs", "mkdir", "remove", "removedirs", "rename", "renames", "replace", "rmdir",
    "symlink", "unlink",
}  # fmt: skip


def makes_files(tree: ast.AST) -> Iterator[ast.Call]:
    """Calls that make, rename or remove files, or open them to write."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        of_os = isinstance(called, ast.Attribute) and getattr(called.value, "id", "") == "os"
        modes = [one.value for one in [*node.args, *(k.value for k in node.keywords)]
                 if isinstance(one, ast.Constant) and isinstance(one.value, str)]  # fmt: skip
        writes = any(set(mode) <= set("rwaxbt+") and set(mode) & set("wax+") for mode in modes)
        text = ast.dump(node)
        opens = name == "open" and writes and not of_os and not name_of_zarr(called)
        creates = name == "open" and of_os and ("O_CREAT" in text or "O_WRONLY" in text)
        changes = name in CHANGES if of_os else name in NAMES
        if opens or creates or changes:
            yield node


def name_of_zarr(called: ast.expr) -> bool:
    """Whether it is `zarrix.open`, or that of its rooms, of which ``mode="w"`` is another one."""
    return isinstance(called, ast.Attribute) and getattr(called.value, "id", "") in (
        "zarr", "zarrix", "dbm", "lmdb", "asynchronous", "_open",
    )  # fmt: skip


def test_every_place_that_makes_files_has_a_reason() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for _ in makes_files(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found - {*REASONS} == set(), "use zarrix._runtime.new_files.whole_file, or say why not"
    assert {*REASONS} == found


def fail(target: Path, overwrite: bool) -> None:
    with whole_file(target, overwrite=overwrite) as file:
        file.write(b"half")
        raise RuntimeError


def late(target: Path) -> None:
    with whole_file(target, overwrite=False) as file:
        file.write(b"mine")
        target.write_bytes(b"theirs")


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_file_is_complete_or_as_it_was(overwrite: bool, tmp_path: Path) -> None:
    target = tmp_path / "x"
    with pytest.raises(RuntimeError):
        fail(target, overwrite)
    assert os.listdir(tmp_path) == []
    with whole_file(target, overwrite=overwrite) as file:
        file.write(b"one")
        assert not target.exists()
    assert target.read_bytes() == b"one"
    if overwrite:
        with whole_file(target) as file:
            file.write(b"two")
    else:
        with pytest.raises(FileExistsError), whole_file(target, overwrite=False):
            pass
    assert target.read_bytes() == (b"two" if overwrite else b"one")
    assert os.listdir(tmp_path) == ["x"]


def test_a_name_that_is_taken_meanwhile_stays(tmp_path: Path) -> None:
    with pytest.raises(FileExistsError):
        late(tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == b"theirs"
    assert os.listdir(tmp_path) == ["x"]


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"untouched")
    (tmp_path / "x").symlink_to("secret")
    with whole_file(tmp_path / "x") as file:
        file.write(b"new")
    assert (tmp_path / "secret").read_bytes() == b"untouched"
    assert not (tmp_path / "x").is_symlink()


def test_a_pipe_and_a_device_are_written_to_as_they_are(tmp_path: Path) -> None:
    with whole_file(os.devnull) as file:
        file.write(b"gone")
    assert not Path(os.devnull).is_file()


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(FileNotFoundError, match="x needs this folder"),
        whole_file(tmp_path / "no/x"),
    ):
        pass
