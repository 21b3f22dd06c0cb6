"""Packs of golden files: tar archives that are the same bytes for the same files."""

import io
import tarfile
from pathlib import Path


def pack(path: Path, files: dict[str, bytes]) -> None:
    """Write ``files``, by name, without times or owners."""
    with tarfile.open(path, "w:xz", preset=9, format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size = len(files[name])
            archive.addfile(entry, io.BytesIO(files[name]))
    print(f"{path.name}: {len(files)} files, {path.stat().st_size} bytes")
