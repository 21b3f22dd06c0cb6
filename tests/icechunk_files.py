"""The golden Icechunk repositories, and their files as an attacker changes them."""

from __future__ import annotations

import importlib.util
import struct
import zipfile
from pathlib import Path
from typing import Any

from numcodecs import zstd

GOLDEN = Path(__file__).parent / "golden" / "icechunk"
NAMES = ["v1", "v1-by-2", "v2"]
HEADER = 39


def _contents() -> Any:
    spec = importlib.util.spec_from_file_location("icechunk_contents", GOLDEN / "contents.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


contents = _contents()


def files(name: str) -> dict[str, bytes]:
    """The files of a repository, which are a store, too."""
    with zipfile.ZipFile(GOLDEN / f"{name}.zip") as archive:
        return {one: archive.read(one) for one in archive.namelist()}


def unpacked(name: str, folder: Path) -> Path:
    """A repository as a folder."""
    with zipfile.ZipFile(GOLDEN / f"{name}.zip") as archive:
        archive.extractall(folder / name)
    return folder / name


def plain(file: bytes) -> bytes:
    """The file without compression, as the format allows it."""
    return file[: HEADER - 1] + b"\0" + bytes(zstd.decompress(file[HEADER:]))


def document(kind: int, flatbuffer: bytes, version: int = 2) -> bytes:
    """A file of a repository, which begins with its header."""
    header = "ICE🧊CHUNK".encode() + b"zarrix".ljust(24)
    return header + struct.pack("3B", version, kind, 0) + flatbuffer
