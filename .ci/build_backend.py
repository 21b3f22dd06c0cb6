"""maturin, with the paths of this machine left out of what is built.

Rust and C compilers write the paths of their sources into messages, and the wheel would show the
builder's home. cargo's own way (``trim-paths``) is not stable, and its configuration takes no
variables. What is set for these compilers already stays: RUSTFLAGS replaces ours.
"""

import os
from pathlib import Path

from maturin import *  # noqa: F403

_CARGO = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
_ROOT = Path(__file__).resolve().parents[1]


def shorten(path: Path, name: str) -> None:
    """Write `name` for `path` into what is built from here on. The last one that fits is taken."""
    # A path with a space cannot be in such a list.
    if " " not in str(path):
        _add("CARGO_BUILD_RUSTFLAGS", f"--remap-path-prefix={path}={name}")
        _add("CFLAGS", f"-ffile-prefix-map={path}={name}")


def _add(variable: str, flag: str) -> None:
    os.environ[variable] = " ".join(filter(None, [os.environ.get(variable), flag]))


shorten(_ROOT, "zarrix")
shorten(_CARGO, "cargo")
shorten(_CARGO / "registry" / "src", "crates")
