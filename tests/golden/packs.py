"""Packs of golden files: tar archives that are the same bytes for the same files."""

import hashlib
import io
import lzma
import tarfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path


def pack(path: Path, files: Mapping[str, bytes]) -> None:
    """Write ``files``, by name, without times or owners."""
    with tarfile.open(path, "w:xz", preset=9, format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size = len(files[name])
            archive.addfile(entry, io.BytesIO(files[name]))
    print(f"{path.name}: {len(files)} files, {path.stat().st_size} bytes")


@cache
def _members(path: Path) -> dict[str, bytes]:
    """The files of a pack, by name; two modules of tests ask for each."""
    plain = lzma.decompress(path.read_bytes())
    with tarfile.open(fileobj=io.BytesIO(plain)) as archive:
        return {
            entry.name: plain[entry.offset_data : entry.offset_data + entry.size]
            for entry in archive
        }


def unpack(path: Path, depth: int = 1) -> dict[str, dict[str, bytes]]:
    """The files of a pack, by case and key; names of cases have ``depth`` parts."""
    found: dict[str, dict[str, bytes]] = {}
    for name, content in _members(path).items():
        parts = name.split("/")
        case, key = "/".join(parts[:depth]), "/".join(parts[depth:])
        found.setdefault(case, {})[key] = content
    return found


def place(files: Mapping[str, bytes], root: Path) -> None:
    """Write files, by key, below a folder."""
    for key, value in files.items():
        path = root / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(value)


def stored_files(root: Path) -> dict[str, bytes]:
    """All files below a folder, by key."""
    found = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def digest(files: Mapping[str, bytes]) -> str:
    """What is the same for the same keys and bytes only."""
    total = hashlib.sha256()
    for key, value in sorted(files.items()):
        total.update(f"{key}\0{len(value)}\0".encode() + value)
    return total.hexdigest()
