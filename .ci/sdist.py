"""Compare the source distribution with what git has: nothing is missing, and nothing is added.

    pip install "maturin>=1.9,<2"
    python .ci/sdist.py

What is left out serves only the repository: workflows, issue templates and the fuzz targets, which
are a workspace of their own.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import build_backend

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = (".github/", "fuzz/", ".gitignore")
ADDED = {"PKG-INFO"}


def contents() -> set[str]:
    """Build the source distribution, and return the paths in it below its folder."""
    with tempfile.TemporaryDirectory() as folder:
        name = build_backend.build_sdist(folder)
        with tarfile.open(Path(folder, name)) as archive:
            return {member.name.split("/", 1)[1] for member in archive if not member.isdir()}


def main() -> int:
    os.chdir(ROOT)
    tracked = subprocess.check_output(["git", "ls-files", "-z"], text=True).split("\0")
    expected = {path for path in tracked if path and not path.startswith(LEFT_OUT)} | ADDED
    found = contents()
    wrong = [f"missing: {path}" for path in sorted(expected - found)]
    wrong += [f"not in git: {path}" for path in sorted(found - expected)]
    print(*wrong, sep="\n")
    print(f"{len(found)} files in the source distribution, {len(wrong)} findings")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
